"""Imports go one way: a room uses what stands below it, never what stands above or beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support import ROOT

import rigidgrains

PACKAGE = Path(rigidgrains.__file__).parent

# From the bottom to the top; rooms of one line do not know each other.
LAYERS = [
    {"runtime", "files", "theory"},
    {"shapes"},
    {"model"},
    {"detect"},
    {"laws"},
    {"contacts"},
    {"solve"},
    {"events"},
    {"simulation"},
    {"observe"},
    {"trajectory"},
    {"measure", "certificate", "fclib"},
    {"formats", "view"},
    {"scene"},
    {"packing"},
    {"soft_dem"},
    {"laboratory", "reproduce"},
    {"app", "gallery"},
    {"study"},
    {"cli"},
    {"__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

# What a notebook shows of an object is asked of the object itself, and drawn by the room of pictures.
SHOWN = {(room, "view") for room in ("simulation", "observe", "trajectory", "measure")}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a module imports from, at its head, in functions and for types alike; "" is the front door."""
    package = path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1]
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = [*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else [])]
            names = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            rooms |= {name if name in RANK else "" for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rigidgrains":
            rooms.add("")
        elif isinstance(node, ast.Import):
            rooms |= {"" for alias in node.names if alias.name.split(".")[0] == "rigidgrains"}
    return rooms - {room_of(path)}


def test_every_room_stands_in_a_layer():
    assert {room_of(path) for path in modules()} == set(RANK)


@pytest.mark.parametrize("room", sorted(RANK))
def test_imports_go_down(room):
    """No module of a room imports one from a layer above or from a room beside it, nor the front door."""
    up = [
        f"{path.relative_to(PACKAGE)} imports {other or 'the front door'}"
        for path in modules()
        if room_of(path) == room
        for other in sorted(imported_rooms(path))
        if other == ""
        or (RANK[other] >= RANK[room] and not ((room, other) in SHOWN and "notebook" in path.read_text()))
    ]
    assert not up, "\n".join(up)


def test_few_modules_stand_alone():
    """Besides the front door and `python -m`, at most five."""
    assert len([path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]) <= 5


def test_the_drawing_shows_the_layers():
    """ARCHITECTURE.md draws the same layers, from the bottom to the top."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = text.split("```layers\n")[1].split("```")[0]
    rows = [set(line.split("#")[0].replace("·", " ").split()) for line in block.strip().splitlines()]
    assert rows[::-1] == [{room for room in layer if room != "__main__"} for layer in LAYERS if layer != {"__main__"}]
