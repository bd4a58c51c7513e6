"""The glossary: tables that are whole, words that exist here, links that lead somewhere."""

from __future__ import annotations

import re

import pytest
from support import ROOT

from rigidgrains.scene.settings import Run, Solver

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| here", "| word"))
]


def test_rows_have_a_cell_for_everybody():
    lengths = {len(row) for row in ROWS}
    assert lengths == {3, 5}
    assert all(row[0] and len(row) in lengths for row in ROWS)


def test_no_word_is_explained_twice():
    words = [row[0] for row in ROWS]
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize(
    "key", ["associated", "fallback", "sleep", "accuracy", "sort", "dt", "order", "criterion", "method"]
)
def test_keys_of_scenes_that_it_names_are_keys(key):
    here = " ".join(row[0] for row in ROWS if len(row) == 5) + " ".join(row[1] for row in ROWS if len(row) == 3)
    assert re.search(rf"`{key}[` ]", here)
    assert key in {**Solver.model_fields, **Run.model_fields}


def test_pages_lead_to_it_and_it_leads_on():
    for name in ("README.md", "docs/method.md"):
        assert "glossary.md)" in (ROOT / name).read_text(encoding="utf-8")
    headings = {heading.lower() for heading in re.findall(r"^## (.*)$", TEXT, re.M)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= headings
