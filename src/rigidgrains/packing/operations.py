"""Operations as words of a command line, in the order given: `--cut x=0:0.1 --mirror x --glue other.vtkhdf@top`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..scene.errors import suggestion
from .errors import PackingError
from .packing import Packing

Words = dict[str, str]
Do = Callable[[Packing], Packing]


@dataclass(frozen=True)
class Operation:
    """One word: how its argument is written, "" for none; what it does, as help says it; and how it is read.

    read : from the argument to what is done to a packing; raises ValueError with what the argument should be
    """

    argument: str
    about: str
    read: Callable[[str], Do]


def apply(packing: Packing, words: Sequence[str]) -> Packing:
    """All operations, one after the other; every mistake in the words is told before the first is applied."""
    for one in read_operations(words):
        packing = one(packing)
    return packing


def read_operations(words: Sequence[str], known_wrong: Sequence[str] = ()) -> list[Do]:
    """What the words ask for; raises PackingError with all mistakes, after those that are known already."""
    found: list[Do] = []
    wrong = list(known_wrong)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        word, equals, given = word.partition("=") if word.startswith("--") else (word, "", "")
        name = word.removeprefix("--")
        if not word.startswith("--") or name not in OPERATIONS:
            known = [f"--{key}" for key in OPERATIONS]
            wrong.append(f"{word!r} is no operation{suggestion(word, known) or '; known are ' + ', '.join(known)}")
            while rest and not rest[0].startswith("--"):  # its argument is not blamed too
                rest.pop(0)
            continue
        operation = OPERATIONS[name]
        if operation.argument and not equals:
            if not rest or rest[0].startswith("--"):
                wrong.append(f"--{name} needs {operation.argument}")
                continue
            given = rest.pop(0)
        try:
            found.append(operation.read(given))
        except ValueError as problem:
            wrong.append(f"--{name} {given}: {problem}")
    if wrong:
        raise PackingError(
            wrong[0] if len(wrong) == 1 else "\n".join([f"{len(wrong)} mistakes", *(f"  {w}" for w in wrong)])
        )
    return found


def read_cut(text: str) -> Do:
    low: list[float | None] = [None] * 3
    high: list[float | None] = [None] * 3
    for axis, bounds in _by_axis(text).items():
        below, colon, above = bounds.partition(":")
        if not colon:
            raise ValueError(f"{axis}={bounds} has no colon; give LOWER:UPPER in m, one of them may be left out")
        least, most = (_number(end) if end else None for end in (below, above))
        if least is not None and most is not None and not least < most:
            raise ValueError(f"{axis}={bounds} holds nothing; the first number must lie below the second")
        low["xyz".index(axis)], high["xyz".index(axis)] = least, most

    def cut(packing: Packing) -> Packing:
        d = packing.dimension
        if any(end is not None for end in (*low[d:], *high[d:])):
            raise PackingError(f"--cut {text}: z has no meaning in 2D; remove it")
        return packing.cut((low[:d], high[:d]))

    return cut


def read_mirror(text: str) -> Do:
    axis, _, at = text.partition("=")
    place = _number(at) if at else 0.0
    if axis not in ("x", "y", "z"):
        raise ValueError("give an axis, x, y or z, or x=0.05 for a mirror there (m)")
    return lambda packing: packing.mirror(axis, at=place)


def read_move(text: str) -> Do:
    way = [0.0] * 3
    for axis, number in _by_axis(text).items():
        way["xyz".index(axis)] = _number(number)

    def move(packing: Packing) -> Packing:
        if any(way[packing.dimension :]):
            raise PackingError(f"--move {text}: z has no meaning in 2D; remove it")
        return packing.move(way[: packing.dimension])

    return move


def read_scale(text: str) -> Do:
    factor = _number(text)
    if not factor > 0.0:
        raise ValueError("give a positive number")
    return lambda packing: packing.scale(factor)


def read_replicate(text: str) -> Do:
    try:
        copies = [int(number) for number in text.replace("x", ",").split(",")]
    except ValueError:
        copies = []
    if len(copies) not in (2, 3) or min(copies) < 1:
        raise ValueError("give whole numbers of copies, 2,1 in 2D or 2,1,1 in 3D")
    return lambda packing: packing.replicate(*copies)


def read_glue(text: str) -> Do:
    file, at, side = text.partition("@")
    if not file or (at and not side):
        raise ValueError("give a file, or FILE@top to put it to a side")
    return lambda packing: packing.glue(Packing(Path(file)), side=side or None)


def read_thin(text: str) -> Do:
    share, _, rest = text.partition(",")
    words = _words(rest, {"of": _name, "seed": _whole}) if rest else {}
    part = _number(share)
    if not 0.0 <= part <= 1.0:
        raise ValueError("give a share from 0 to 1")
    return lambda packing: packing.thin(part, **words)


def read_swap(text: str) -> Do:
    kinds: dict[str, Callable[[str], Any]] = {
        "of": _name,
        "material": _name,
        "density": _positive,
        "group": _name,
        "share": _number,
        "seed": _whole,
    }
    words = _words(text, kinds)
    return lambda packing: packing.swap(**words)


OPERATIONS: dict[str, Operation] = {
    "cut": Operation("x=LOWER:UPPER,y=...", "the grains in a box (m); either end may be left out", read_cut),
    "select": Operation("NAME", "the grains of a group or material", lambda name: lambda p: p.select(name)),
    "remove": Operation("NAME", "all grains but those of a group or material", lambda name: lambda p: p.remove(name)),
    "thin": Operation("SHARE", "without a share of the grains, at random; 0.2,of=NAME,seed=1", read_thin),
    "mirror": Operation("AXIS", "the mirror image across x = 0; x=0.05 for a mirror there", read_mirror),
    "move": Operation("x=WAY,y=WAY", "everything elsewhere (m)", read_move),
    "scale": Operation("FACTOR", "all lengths times a factor", read_scale),
    "replicate": Operation("NX,NY,NZ", "copies of a periodic packing side by side", read_replicate),
    "glue": Operation("FILE", "the grains of another file; FILE@top puts it to that side", read_glue),
    "swap": Operation(
        "of=NAME,material=NAME", "other material=, density=, group= for a group, or for a share=, at random", read_swap
    ),
    "no-walls": Operation("", "without walls", lambda _: lambda p: p.without_walls()),
    "no-forces": Operation("", "without forces", lambda _: lambda p: p.without_forces()),
}


def _by_axis(text: str) -> Words:
    words = _pairs(text)
    for axis in words:
        if axis not in ("x", "y", "z"):
            raise ValueError(f"{axis!r} is no axis; give x, y or z")
    return words


def _words(text: str, kinds: dict[str, Callable[[str], Any]]) -> dict[str, Any]:
    words = {}
    for key, value in _pairs(text).items():
        if key not in kinds:
            raise ValueError(f"{key!r} is unknown; known are {', '.join(kinds)}")
        words[key] = kinds[key](value)
    return words


def _pairs(text: str) -> Words:
    words: Words = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is no KEY=VALUE")
        words[key.strip()] = value.strip()
    return words


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise ValueError(f"{text!r} is no number")
    return number


def _positive(text: str) -> float:
    number = _number(text)
    if not number > 0.0:
        raise ValueError(f"{text!r} must be greater than zero")
    return number


def _name(text: str) -> str:
    if not text:
        raise ValueError("there is no name after the '='")
    return text


def _whole(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"{text!r} is no whole number")
    return int(text)
