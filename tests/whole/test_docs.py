"""The code of the pages runs as it stands, block after block; what they claim is asserted in them."""

from __future__ import annotations

import re
import sys
import types

import pytest
from support import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize(
    ("name", "least"), [("observers", 3), ("criteria", 3), ("own_laws", 3), ("study", 2), ("stages", 1), ("forces", 4)]
)
def test_the_code_of_a_page_runs(name, least, tmp_path, monkeypatch):
    """All blocks of a page share their names, in a folder of their own."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    blocks = [
        (text[: match.start()].count("\n") + 1, match[1]) for match in re.finditer(r"```python\n(.*?)```", text, re.S)
    ]
    assert len(blocks) >= least
    page = types.ModuleType(f"page_{name}")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    monkeypatch.chdir(tmp_path)
    for line, code in blocks:
        exec(compile("\n" * line + code, f"docs/{name}.md", "exec"), page.__dict__)
