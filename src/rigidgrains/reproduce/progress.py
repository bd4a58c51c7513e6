"""Targets on the terminal: a bar while they run, a table when they are done."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..observe.bar import Bar
from .base import Target, Tick
from .page import expected, measured, tolerance
from .run import Done, check_names, reproduce


def run_with_progress(names: list[str], output: Path, *, quick: bool, force: bool, out: Console) -> bool:
    """Run the targets, print their rows; True if all pass."""
    targets = check_names(names)
    with ExitStack() as bars:

        def watch(target: Target) -> Tick:
            bars.close()  # that of the target before
            return bars.enter_context(Bar(f"{target.name:<20}")).tell

        finished = reproduce(targets, output, quick=quick, force=force, watch=watch)
    for done in finished:
        out.print(_table(done))
    passed = sum(done.result.passed for done in finished)
    out.print(
        f"{passed} of {len(finished)} targets pass; figures and rows in [bold]{escape(str(output / 'index.html'))}[/]"
    )
    return passed == len(finished)


def _table(done: Done) -> Table:
    title = f"\n[bold]{done.target.name}[/]: {done.target.title} ({done.seconds:.0f} s)"
    table = Table(title=title, title_justify="left", title_style="", box=None, pad_edge=False, expand=True)
    table.add_column("quantity", ratio=1)
    for heading in ("paper", "measured", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in (row.as_dict() for row in done.result.rows):
        verdict = "[green]pass[/]" if row["verdict"] == "pass" else "[bold red]fail[/]"
        allowed = f" ± {tolerance(row)}" if row["rule"] == "equal" else ""
        table.add_row(row["quantity"], f"{expected(row)}{allowed}", measured(row), verdict)
    return table
