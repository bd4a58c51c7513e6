"""The map and the notes of decisions: every file they name exists, every page of decisions is listed."""

from __future__ import annotations

import re

import pytest
from support import ROOT

FOLDER = ROOT / "docs" / "decisions"
PAGES = [ROOT / "ARCHITECTURE.md", *sorted(FOLDER.glob("*.md"))]
PLACES = [ROOT, ROOT / "src" / "rigidgrains"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page):
    named = re.findall(r"`([\w/.-]+/[\w-]+\.(?:py|md|toml))`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not any((place / name).is_file() for place in PLACES)] == []


def test_the_map_stays_small():
    assert (ROOT / "ARCHITECTURE.md").stat().st_size < 7000


def test_every_page_of_decisions_is_listed():
    listed = re.findall(r"^\| \[\w+\]\((\w+\.md)\)", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(page.name for page in FOLDER.glob("*.md") if page.name != "README.md")
