"""Tests mirror the rooms of the package, and share what they share through `support` alone."""

from __future__ import annotations

import ast

from support import ROOT, TESTS

PACKAGE = ROOT / "src" / "rigidgrains"
OTHERS = {"bits", "mutation", "support", "whole"}
FILES = sorted(path for path in TESTS.rglob("*.py") if "mutation" not in path.parts)


def test_folders_are_rooms():
    """Folders within them are rooms within rooms; loose files belong to loose modules."""
    for folder in (path for path in TESTS.rglob("*/") if path.is_dir() and any(path.glob("test_*.py"))):
        place = folder.relative_to(TESTS)
        assert place.parts[:1] == () or place.parts[0] in OTHERS or (PACKAGE / place).is_dir(), place
    for file in TESTS.glob("test_*.py"):
        assert (PACKAGE / file.name.removeprefix("test_")).is_file(), file.name


def test_no_test_imports_another():
    found = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
                parts = {part for name in names for part in name.split(".")}
                other = any(part.startswith("test_") for part in parts) or parts & {"conftest", "tests"}
                if other or (isinstance(node, ast.ImportFrom) and node.level):  # tests are no packages
                    found[str(path.relative_to(TESTS))] = names
    assert not found


def test_files_are_short():
    lines = {str(path.relative_to(TESTS)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert not {name: count for name, count in lines.items() if count > 400}
