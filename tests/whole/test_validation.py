"""The long validations run, small, and their quick systems agree with what is published as far as their size allows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

FOLDER = ROOT / "validation"


@pytest.mark.parametrize("name", ["haff", "packing", "rheology", "silo", "solver_statistics"])
def test_options_are_told(name: str) -> None:
    told = subprocess.run([sys.executable, FOLDER / f"{name}.py", "--help"], capture_output=True, text=True)
    assert told.returncode == 0
    assert "--quick" in told.stdout


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
