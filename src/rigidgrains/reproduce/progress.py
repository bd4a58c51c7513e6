"""Targets on the terminal: a bar while they run, a table when they are done."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .base import Target, Tick
from .page import expected, measured, tolerance
from .run import Done, check_names, reproduce


def run_with_progress(names: list[str], output: Path, *, quick: bool, out: Console) -> bool:
    """Run the targets, print their rows; True if all pass."""
    targets = check_names(names)
    bar = Progress(
        TextColumn("{task.description:<20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(),
        console=Console(stderr=True),
    )  # fmt: skip

    def watch(target: Target) -> Tick:
        task = bar.add_task(target.name, total=1.0)
        return lambda share: bar.update(task, completed=share)

    with bar:
        finished = reproduce(targets, output, quick=quick, watch=watch)
    out.print(_table(finished))
    passed = sum(done.result.passed for done in finished)
    out.print(f"{passed} of {len(finished)} targets pass; figures and rows in [bold]{output / 'index.html'}[/]")
    return passed == len(finished)


def _table(finished: list[Done]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("target", "quantity"):
        table.add_column(heading)
    for heading in ("paper", "measured", "tolerance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for done in finished:
        for k, row in enumerate(record := [row.as_dict() for row in done.result.rows]):
            verdict = "[green]pass[/]" if row["verdict"] == "pass" else "[bold red]fail[/]"
            name = done.target.name if k == 0 else ""
            table.add_row(name, row["quantity"], expected(row), measured(row), tolerance(row), verdict,
                          end_section=k == len(record) - 1)  # fmt: skip
    return table
