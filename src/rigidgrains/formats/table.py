"""The table of formats: what each is called, how its files look, and which room writes and reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import FormatError

ATOMS = re.compile(rb"^\s*\d+\s+atoms\s*$", re.MULTILINE)
HEAD = 1024  # bytes by which a file is recognised
HDF5, GSD = b"\x89HDF\r\n\x1a\n", b"\xdf\x65" * 4


@dataclass(frozen=True)
class Format:
    """A format; its room `module` has `write` (if `suffix`) and `read` (if `recognise`).

    suffix    : of the file to write; empty where nothing is written
    folder    : all frames make a folder, one frame makes one file; single : a file holds one frame, the last by default
    recognise : tells from the name and the first bytes whether a file is of this format
    """

    name: str
    about: str
    suffix: str = ""
    folder: bool = False
    single: bool = False
    recognise: Callable[[Path, bytes], bool] | None = None

    @property
    def room(self) -> Any:
        return import_module(f".{self.name.replace('-', '_')}", __package__)


def _is_lammps_data(path: Path, head: bytes) -> bool:
    return ATOMS.search(head) is not None and b"xlo xhi" in head


def _is_extxyz(path: Path, head: bytes) -> bool:
    return head.split(b"\n", 1)[0].strip().isdigit()


def _is_csv(path: Path, head: bytes) -> bool:
    named = b"radius" in head.lower() or b"diameter" in head.lower()
    return path.suffix.lower() in (".csv", ".tsv") or (named and b"\0" not in head)


# In the order in which files are recognised.
FORMATS = {
    known.name: known
    for known in (
        Format("vtkhdf", "trajectory of rigidgrains", "-thin.vtkhdf", recognise=lambda _, head: head.startswith(HDF5)),
        Format("gsd", "GSD of HOOMD-blue", ".gsd", recognise=lambda path, head: head.startswith(GSD)),
        Format("lammps", "LAMMPS dump", ".dump", recognise=lambda path, head: head.lstrip().startswith(b"ITEM:")),
        Format("lammps-data", "LAMMPS data file", ".data", single=True, recognise=_is_lammps_data),
        Format("extxyz", "extended XYZ", ".extxyz", recognise=_is_extxyz),
        Format("vtu", "VTK unstructured grid", ".vtu", folder=True),
        Format("stl", "STL surfaces", ".stl", folder=True),
        Format("obj", "Wavefront OBJ surfaces", ".obj", folder=True),
        Format("csv", "comma-separated values", ".csv", folder=True, recognise=_is_csv),
    )
}
EXPORTS = [name for name, known in FORMATS.items() if known.suffix]


def to_write(name: str, path: Path) -> Format:
    """The format of this name; `path` is what should have been exported."""
    if name not in EXPORTS:
        near = get_close_matches(name, EXPORTS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise FormatError(path, f"format {name!r} is unknown; {hint}known are {', '.join(EXPORTS)}")
    return FORMATS[name]


def to_read(path: Path) -> Format:
    """The format of a file, by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise FormatError(path, "no such file; check the name and the folder") from None
    except OSError as problem:
        if path.is_dir():
            raise FormatError(path, "this is a folder; give the path of a file in it") from None
        raise FormatError(path, f"cannot be opened: {problem.strerror}; check its permissions") from None
    for known in FORMATS.values():
        if known.recognise is not None and known.recognise(path, head):
            return known
    names = ", ".join(known.about for known in FORMATS.values() if known.recognise is not None)
    raise FormatError(path, f"no state of grains can be read from it; known are {names}")
