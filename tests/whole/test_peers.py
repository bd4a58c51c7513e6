"""The races: the task is what it says, its judge is right, and who is absent is named."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

PEERS = ROOT / "benchmarks" / "peers"


def load(name):
    spec = importlib.util.spec_from_file_location(name, PEERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_column_is_the_one_stated():
    """1000 spheres, radii in [0.4, 0.6], box 8 wide, T = 4 sqrt(H0); nothing overlaps at the start."""
    column = load("column").Column(1000)
    assert column.width == pytest.approx(8.0)
    assert column.time == pytest.approx(4.0 * np.sqrt(column.height))
    assert 0.4 <= column.radius.min() < 0.42
    assert 0.58 < column.radius.max() <= 0.6
    assert column.judge(column.position)["contacts"] == 0
    assert column.position[:, 2].max() < column.height


def test_the_judge_sees_overlaps_energy_and_imbalance():
    column = load("column").Column(1000)
    position = column.position.copy()
    position[0, 2] = column.radius[0] - 0.01  # into the floor
    left = column.judge(position, np.full((1000, 3), (0.0, 0.0, 2.0)), np.full((1000, 3), (3.0, 0.0, 4.0)))
    assert left["contacts"] == 1
    assert left["mean_overlap"] == pytest.approx(0.02)
    assert left["energy"] == pytest.approx(2.0)
    assert left["imbalance"] == pytest.approx(5.0)


@pytest.mark.parametrize("script", ["column_bullet.py", "column_mujoco.py", "bullet_updates.py"])
def test_absent_peers_are_named(script):
    """Workers need a package that is not there: they say so, and how to get it."""
    done = subprocess.run([sys.executable, "-S", PEERS / script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "absent" in done.stdout
    assert "pip install" in done.stdout
