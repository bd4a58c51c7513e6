"""The table of the paper's demands is in step with the code: places, names, tests and targets that it names exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support import ROOT

from rigidgrains.reproduce import TARGETS

TEXT = (ROOT / "docs" / "reproduce" / "checklist.md").read_text(encoding="utf-8")
ITEMS = {
    int(cells[0]): cells[1:]
    for line in TEXT.splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split("|")])[0].isdigit()
}


def defined(path: Path) -> set[str]:
    """Names of all functions and classes of a file, also within classes."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)}


def test_every_item_is_there_once():
    assert list(ITEMS) == list(range(1, 72))
    assert len(re.findall(r"^\| \d+ \|", TEXT, re.M)) == 71
    assert all(len(cells) == 3 and all(cells) for cells in ITEMS.values())


@pytest.mark.parametrize("item", sorted(ITEMS))
def test_what_an_item_names_exists(item):
    """Files, the functions or classes in them, tests that pytest would collect, and targets of `reproduce`."""
    _, where, shown = ITEMS[item]
    places = re.findall(r"`(src/[\w/]+\.py)`(?:: ((?:`\w+`(?:, )?)+))?", where)
    assert places or item == 71
    for path, names in places:
        assert (ROOT / path).is_file(), path
        missing = set(re.findall(r"\w+", names)) - defined(ROOT / path)
        assert not missing, (path, missing)
    tests = re.findall(r"`pytest (tests/[\w/]+\.py)::(test_\w+)`", shown)
    targets = re.findall(r"`rigidgrains reproduce ([\w-]+)`", shown)
    assert tests or targets
    assert len(tests) + len(targets) == shown.count("`") // 2  # nothing was written another way
    for path, name in tests:
        assert (ROOT / path).is_file(), path
        assert name in defined(ROOT / path), (path, name)
    assert set(targets) <= set(TARGETS)


def test_what_is_not_asked_for_is_named_among_the_limits():
    """Item 71: deformable bodies."""
    assert "deform" in (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
