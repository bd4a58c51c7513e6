"""What all commands share: the application, exit codes, how rows and refusals are printed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn
from unicodedata import category

from cyclopts import App, Parameter, Token
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..runtime.version import __version__
from ..solve.aliases import Renamed

BAD_INPUT, FAILED, INTERRUPTED = 2, 3, 130

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # characters that would command the terminal, or hide or turn text


class Terminal(Console):
    """Shows such characters as text: titles, names and paths come from files, and files from anywhere."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def visible(text: str) -> str:
    """The text with control characters written out, lines apart."""
    if text.isprintable():
        return text
    hidden = {one for one in text if one != "\n" and category(one) in UNSEEN}
    return "".join(one.encode("unicode_escape").decode() if one in hidden else one for one in text)


out, err = Terminal(highlight=False), Terminal(stderr=True, highlight=False)
app = App(
    name="rigidgrains",
    version=__version__,
    help="Contact dynamics for dense granular media: perfectly rigid grains, exact Signorini and Coulomb conditions.",
    console=out,
    error_console=err,
)

app.register_install_completion_command(
    help="Complete commands and options in your shell: bash, zsh, fish or PowerShell."
)


def whole(kind: object, tokens: Sequence[Token]) -> int:
    """A whole number: 2.5 steps are a mistake, not two."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value} is not a whole number") from None


# Kinds of options that recur.
Whole = Annotated[int | None, Parameter(converter=whole)]
Switch = Annotated[bool, Parameter(negative=())]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())]
Dashed = Annotated[str, Parameter(allow_leading_hyphen=True)]  # "-1", the last frame, is no option
Threads = Annotated[int | None, Parameter(converter=whole)]
Changes = Annotated[list[str] | None, Parameter(name="--set", negative=())]
OutputPath = Annotated[Path | None, Parameter(name=["--output", "-o"])]


def use_threads(number: int | None) -> None:
    """So many threads for this command, if a number is given."""
    from ..runtime.threads import ThreadsError, get_threads, set_threads

    try:
        if number is not None:
            set_threads(number)
        get_threads()
    except ThreadsError as problem:
        refuse(f"--{problem}" if number is not None else str(problem))


def frame_number(word: str, *words: str) -> Any:
    """The number of a frame, counted from 0 (-1 is the last), or one of the words that are allowed."""
    if word in words:
        return word
    try:
        return int(word)
    except ValueError:
        refuse(f"--frame {word} is no frame; give a number or {' or '.join(words)}")


def print_rows(rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in rows:
        table.add_row(
            Text(visible(name.strip())),
            Text(visible(text.strip()), style="yellow" if name.strip() == "warning" else ""),
        )
    out.print(table)


def plain(text: object) -> str:
    """As it stands: brackets are no markup, and control characters are shown."""
    from rich.markup import escape

    return escape(visible(str(text)))


def as_options(message: str) -> str:
    """What is said to those who call from Python, in the words of the command line."""
    return message.replace("force=True", "--force")


@contextmanager
def notices() -> Iterator[None]:
    """Earlier names that are used meanwhile are told in one line each, on stderr."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **rest: Any) -> None:
        if issubclass(category, Renamed):
            err.print(f"[yellow]notice[/] {plain(message)}", soft_wrap=True)
        else:
            others(message, category, *where, **rest)

    with warnings.catch_warnings():
        others, warnings.showwarning = warnings.showwarning, show
        yield


def fail(message: str) -> NoReturn:
    """A run that could not be finished."""
    err.print(f"[bold red]failed[/] {plain(as_options(message))}", soft_wrap=True)
    sys.exit(FAILED)


@contextmanager
def one_line() -> Iterator[None]:
    """What the user can mend is told in one line."""
    try:
        yield
    except (ValueError, ImportError) as problem:
        refuse(str(problem))
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(INTERRUPTED)


def refuse(message: str) -> NoReturn:
    """Bad input: say what, which value and the remedy, without a traceback."""
    err.print(f"[bold red]error[/] {plain(as_options(message))}", soft_wrap=True)
    sys.exit(BAD_INPUT)
