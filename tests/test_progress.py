"""The bar that one watches while waiting."""

from __future__ import annotations

import re

import pytest
from builders import chain

from rigidgrains.observe.progress import Progress
from rigidgrains.simulation import Simulation
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps


def test_the_bar_tells_time_sweeps_speed_and_what_remains(capsys, monkeypatch):
    """Speeds belong together: updates per step are sweeps times contacts."""
    monkeypatch.setenv("COLUMNS", "200")
    simulation = Simulation(chain(9), dt=0.01, solver=Sweeps(criterion=FixedSweeps(7)))
    simulation.observe(Progress())
    simulation.run(steps=4)
    told = capsys.readouterr().err
    assert "t = 0.04 s" in told
    assert "4/4" in told
    assert "7 sweeps, 9 candidates" in told
    assert "0:00:00" in told
    steps, updates = re.findall(r"([\d.e+]+) steps/s, ([\d.e+-]+) M updates/s", told)[-1]
    assert float(updates) * 1e6 / float(steps) == pytest.approx(7 * 9, rel=0.02)
