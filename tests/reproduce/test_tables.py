"""Tables of rows on the pages of `reproduce` are those of the committed results of full runs."""

from __future__ import annotations

import importlib.util
import json

import pytest
from support import ROOT

from rigidgrains.reproduce import TARGETS

PAGES = ROOT / "docs" / "reproduce"
spec = importlib.util.spec_from_file_location("tables", PAGES / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)
RESULTS = {result["target"]: result for result in json.loads(tables.RECORD.read_text(encoding="utf-8"))["targets"]}


@pytest.mark.parametrize("name", TARGETS)
def test_the_table_of_a_page_is_that_of_the_results(name):
    """A full run, with every row passed; the page is what `tables.py` would write."""
    result = RESULTS[name]
    assert not result["quick"]
    assert [row["quantity"] for row in result["rows"] if row["verdict"] != "pass"] == []
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert tables.with_table(page, result) == page


def test_a_changed_number_is_noticed():
    """What the comparison rests on: another number makes another page."""
    name, result = next(iter(RESULTS.items()))
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    other = json.loads(json.dumps(result))
    other["rows"][0]["measured"] = 12345.0
    assert tables.with_table(page, other) != page


def test_results_of_several_folders_are_merged(tmp_path):
    """Those of folders replace what is here, in the order of the paper; a quick run is refused."""
    first, second = list(TARGETS)[:2]
    for name, quick in ((second, False), (first, False)):
        (tmp_path / name).mkdir()
        record = {"targets": [{"target": name, "quick": quick, "rows": [], "seconds": 1.0, "mark": "new"}]}
        (tmp_path / name / "results.json").write_text(json.dumps(record))
    merged = tables.merged([tmp_path / second, tmp_path / first])["targets"]
    assert [result["target"] for result in merged][:2] == [first, second]
    assert all(result["mark"] == "new" and "seconds" not in result for result in merged[:2])
    record["targets"][0]["quick"] = True
    (tmp_path / first / "results.json").write_text(json.dumps(record))
    with pytest.raises(SystemExit, match="quick run"):
        tables.merged([tmp_path / first])
