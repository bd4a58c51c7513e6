"""The reproduce command: verdicts, files, page and exit codes, on targets made for the test."""

from __future__ import annotations

import json
import math
from functools import partial
from types import SimpleNamespace

import pytest
from support.commands import called

from rigidgrains.files.outputs import OutputError
from rigidgrains.reproduce import TARGETS, run
from rigidgrains.reproduce.base import Result, Row, Target, new_figure


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        (Row("a", 1.0, 1.05, tolerance=0.1), True),
        (Row("a", 1.0, 1.2, tolerance=0.1), False),
        (Row("a", 1.0, math.nan, tolerance=0.1), False),
        (Row("a", 1.0, 2.0, rule="above"), True),
        (Row("a", 1.0, 1.0, rule="above"), False),
        (Row("a", 1.0, math.nan, rule="above"), False),
        (Row("a", 1.0, 0.5, rule="below"), True),
        (Row("a", 1.0, math.nan, rule="below"), False),
    ],
)
def test_verdicts(row, passed):
    assert row.passed is passed
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["verdict"] == ("pass" if passed else "fail")


@pytest.fixture
def fake(monkeypatch):
    """Two targets, the second of which breaks off when told to."""
    broken = SimpleNamespace(value=False)

    def module(name, package):
        def work(quick, tick):
            if name == ".second" and broken.value:
                raise KeyboardInterrupt
            figure, axes = new_figure()
            axes.plot([0, 1], [0, 1])
            tick(0.5)
            row = Row("size <of> it", 1.0, 1.0 if name == ".first" else 3.0, tolerance=0.1)
            return Result([row], figure, ["seen"], {} if name == ".first" else {"detail": figure})

        return SimpleNamespace(run=work)

    monkeypatch.setattr(run, "import_module", module)
    return broken


FIRST, SECOND = Target("first", "The first", "first"), Target("second", "The second", "second", ("detail",))


def test_files_of_a_run(fake, tmp_path):
    shares = []
    done = run.reproduce([FIRST, SECOND], tmp_path / "out", quick=True, watch=lambda target: shares.append)
    assert [d.result.passed for d in done] == [True, False]
    assert shares == [0.5, 1.0, 0.5, 1.0]
    figures = {f"{name}.{ending}" for name in ("first", "second", "second-detail") for ending in ("png", "svg")}
    names = {*figures, "results.json", "index.html"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == names
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [target["passed"] for target in record["targets"]] == [True, False]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "size &lt;of&gt; it" in page
    assert page.count("data:image/png;base64,") == 3
    assert "1 of 2 targets pass" in page


def test_a_figure_that_is_not_ours_is_left_alone(fake, tmp_path):
    """Also where an earlier run made the other figures of its target."""
    run.reproduce([FIRST], tmp_path, quick=True)
    (tmp_path / "second-detail.svg").write_text("mine")
    with pytest.raises(OutputError, match="second-detail"):
        run.reproduce([FIRST, SECOND], tmp_path, quick=True)
    run.reproduce([FIRST, SECOND], tmp_path, quick=True, force=True)
    run.reproduce([FIRST, SECOND], tmp_path, quick=True)
    assert (tmp_path / "second-detail.svg").read_text() != "mine"


def test_an_interruption_keeps_what_is_done(fake, tmp_path):
    fake.value = True
    with pytest.raises(KeyboardInterrupt):
        run.reproduce([FIRST, SECOND], tmp_path, quick=True)
    assert [t["target"] for t in json.loads((tmp_path / "results.json").read_text())["targets"]] == ["first"]


def test_unknown_targets_are_named():
    with pytest.raises(ValueError, match=r"'tides'; known are graphs"):
        run.check_names(["graphs", "tides"])
    assert [target.name for target in run.check_names(["oscillation", "graphs"])] == ["graphs", "oscillation"]


def test_the_command(tmp_path):
    call = partial(called, tmp_path, "reproduce")
    told = call("--list").stdout
    assert all(name in told for name in TARGETS)
    assert "tides" in call("tides", check=2).stderr
    assert "graphs" in call("graphs", "--quick", "-o", "out").stdout
    assert (tmp_path / "out" / "graphs.svg").exists()
