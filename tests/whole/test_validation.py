"""The long validations run, small, and their quick systems agree with what is published as far as their size allows."""

from __future__ import annotations

import importlib
import json
import math
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

FOLDER = ROOT / "validation"


@pytest.mark.parametrize(
    "name",
    [
        "arches", "dice", "haff", "levels", "packing", "pentagons", "rheology", "shapes", "silo", "slow_flow",
        "solver_statistics", "spherocylinders",
    ],
)  # fmt: skip
def test_options_are_told(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        program(monkeypatch, name, "--help")
    assert end.value.code == 0
    assert "--quick" in capsys.readouterr().out


# What a run is made of, and what it finds, as the programs have it.
TASKS: dict[str, Callable[[Any], tuple[list[dict[str, Any]], Iterable[str]]]] = {
    "pentagons": lambda own: ([{"kind": k, "rate": rate} for rate in own.RATES for k in own.KINDS], own.FIGURES),
    "dice": lambda own: ([{"solid": solid} for solid in own.PUBLISHED], own.STATES),
    "spherocylinders": lambda own: ([{"ratio": r, "patience": own.PATIENCE} for r in own.RATIOS], ["phi"]),
}


@pytest.mark.parametrize("name", TASKS)
def test_runs_that_are_kept_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Two seeds in a file that has them all: nothing is computed, the table has means and standard errors."""
    monkeypatch.syspath_prepend(str(FOLDER))
    tasks, figures = TASKS[name](own := importlib.import_module(name))
    runs = [
        task | {"grains": 7, "seed": seed} | dict.fromkeys(figures, 0.5 + 0.25 * seed)
        for task in tasks for seed in (1, 2)
    ]  # fmt: skip
    kept = tmp_path / "runs"
    kept.write_text("".join(json.dumps(run) + "\n" for run in runs))
    monkeypatch.setattr(sys, "argv", [name, "--grains", "7", "--seeds", "2", "--processes", "1", "--runs", str(kept)])
    own.main()
    assert capsys.readouterr().out.count(own.spread(0.875, 0.125)) == len(tasks) * len(list(figures))
    assert len(kept.read_text().splitlines()) == len(runs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "within"), [("haff", 0.05), ("packing", 0.03)])
def test_small_systems_are_near(tmp_path: Path, name: str, within: float) -> None:
    subprocess.run([sys.executable, FOLDER / f"{name}.py", "--quick", "--json", tmp_path / "all.json"], check=True)
    rows = json.loads((tmp_path / "all.json").read_text())
    assert rows
    for row in rows:
        assert row["value"] == pytest.approx(row["expected"], rel=within), row["what"]


@pytest.mark.slow
def test_a_silo_does_not_know_how_full_it_is(tmp_path: Path) -> None:
    """A short run: rates are good to a tenth, k to one diameter."""
    subprocess.run([sys.executable, FOLDER / "silo.py", "--quick", "--json", tmp_path / "all.json"], check=True)
    full, straight, k = (row["value"] for row in json.loads((tmp_path / "all.json").read_text()))
    assert full == pytest.approx(1.0, abs=0.15)
    assert straight == pytest.approx(1.0, abs=0.05)
    assert 0.5 < k < 3.0


def test_levels_start_from_the_same_packing_and_keep_their_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a short time both levels still tell nearly the same; a second call runs nothing."""
    rows = levels(monkeypatch, tmp_path, "--quick", "--scenes", "shear,drum,slow")
    kept = (tmp_path / "runs").read_text()
    assert len(kept.splitlines()) == 3 * 2 * 2
    assert {(row["scene"], row["figure"]): row["difference"] for row in rows}["drum", "angle"] == pytest.approx(
        0, abs=1
    )
    assert levels(monkeypatch, tmp_path, "--quick", "--scenes", "shear,drum,slow") == rows
    assert (tmp_path / "runs").read_text() == kept


@pytest.mark.parametrize(
    ("balanced", "verdict"),
    [((10.1, 10.1), "within"), ((10.1, 10.3), "not decided"), ((10.4, 10.4), "MISSES"), ((9.6, 9.6), "MISSES")],
)
def test_levels_are_judged_by_the_interval_of_their_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, balanced: tuple[float, float], verdict: str
) -> None:
    """Two seeds: Student's t of one degree of freedom is tan(0.475 pi) = 12.7 standard errors."""
    runs = [
        {"scene": "silo", "seed": 501 + k, "level": level, "quick": True, "figures": {"rate": rate}}
        for level, rates in (("balanced", balanced), ("exact", (10.0, 10.0)))
        for k, rate in enumerate(rates)
    ]
    (tmp_path / "runs").write_text("".join(json.dumps(run) + "\n" for run in runs))
    (row,) = levels(monkeypatch, tmp_path, "--quick", "--scenes", "silo")
    one, two = (10.0 * (rate - 10.0) for rate in balanced)  # %
    assert row["verdict"] == verdict
    assert row["difference"] == pytest.approx(0.5 * (one + two))
    assert row["half_width"] == pytest.approx(math.tan(0.475 * math.pi) * 0.5 * abs(one - two), abs=1e-9)


def levels(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> list[dict[str, Any]]:
    """The table of levels.py, its runs kept in the folder."""
    program(monkeypatch, "levels", *words, "--runs", folder / "runs", "--json", folder / "all.json")
    return json.loads((folder / "all.json").read_text())


def program(monkeypatch: pytest.MonkeyPatch, name: str, *words: object) -> None:
    """A validation run as a program, in this process: one of its own takes seconds to start."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, words)])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
