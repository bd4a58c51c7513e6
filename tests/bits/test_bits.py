"""The comparison of two revisions, bits/run.py: what it takes for equal, and what it says of the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from rigidgrains import load_scene

HERE = Path(__file__).parent


@pytest.fixture
def bits(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    for name in ("run", "scenes"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import run

    return run


def kept(**changed):
    """Two steps of a run, as the worker keeps them."""
    first = {"force": np.array([[1.0, 0.0, 0.0]]), "sweeps": np.array(3), "velocity": np.array([[0.1, 0.2, 0.3]])}
    steps = {f"00000{k}/{name}": value.copy() for k in (1, 2) for name, value in first.items()}
    return steps | changed


def test_the_same_bits_are_equal(bits):
    verdict, told = bits.compare(kept(), kept())
    assert verdict == bits.EQUAL
    assert "2 steps, up to 1 forces, 6 sweeps" in told


def test_the_last_bit_of_one_number_is_told_with_step_and_array(bits):
    other = np.array([[0.1, np.nextafter(0.2, 1.0), 0.3]])
    verdict, told = bits.compare(kept(), kept(**{"000002/velocity": other}))
    assert verdict == bits.DIFFERS
    assert told.startswith("step 2: velocity, 1 of 3 numbers")


def test_a_zero_of_the_other_sign_differs_and_nan_equals_itself(bits):
    assert bits.difference(np.array([0.0]), np.array([-0.0])).startswith("1 of 1")
    assert bits.difference(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == ""


def test_whole_numbers_may_be_of_another_length(bits):
    assert bits.difference(np.array([1, 2], np.int32), np.array([1, 2], np.int64)) == ""
    assert bits.difference(np.zeros(2, np.float32), np.zeros(2)) == "float32 before, float64 after"


def test_what_one_side_lacks_is_left_out_but_not_a_step_or_an_error(bits):
    less = {key: value for key, value in kept().items() if not key.endswith("velocity")}
    assert bits.compare(less, kept())[0] == bits.EQUAL
    shorter = {key: value for key, value in kept().items() if key.startswith("000001")}
    assert bits.compare(kept(), shorter)[0] == bits.DIFFERS
    assert bits.compare(kept(), kept(**{"000003/error": np.array("CellError")}))[0] == bits.DIFFERS


def test_scenes_that_are_refused(bits):
    """Before alone: it could not know them. Now alone: that has changed. By both: nothing was shown."""
    refused = {"refused": np.array("SceneError: no")}
    assert bits.compare(refused, kept())[0] == bits.UNKNOWN
    assert bits.compare(kept(), refused)[0] == bits.DIFFERS
    assert bits.compare(refused, refused)[0] == bits.FAILED


def test_scenes_of_its_own_are_scenes(bits, tmp_path):
    for name, text in bits.inline().items():
        (tmp_path / "scene.toml").write_text(text, encoding="utf-8")
        assert load_scene(tmp_path / "scene.toml", to_run=True, ends=True).run.dt, name


def test_a_revision_that_is_none(bits, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "no-such-revision"])
    monkeypatch.setattr(bits, "copy_files", lambda: Path("."))
    assert bits.main() == 2
    assert "'no-such-revision' is no revision" in capsys.readouterr().err
