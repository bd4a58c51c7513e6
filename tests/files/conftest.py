"""A scene to run, and a run that was made, for the tests of outputs."""

from __future__ import annotations

import pytest
from support.scenes import SCENE

from rigidgrains.app.runner import run_scene
from rigidgrains.simulation.columns import figures
from rigidgrains.trajectory.reader import Trajectory


@pytest.fixture
def sketches(monkeypatch):
    """Pictures that a run makes at its end are a line of text: here it matters which there are, and of what state."""

    def packing(simulation, path, **_):
        path.write_text(f"{figures(simulation)}")

    def history(trajectory: Trajectory, path):
        path.write_text(f"{trajectory.figures('kinetic_energy')}")

    monkeypatch.setattr("rigidgrains.view.packing.draw_packing", packing)
    monkeypatch.setattr("rigidgrains.view.series.draw_history", history)


@pytest.fixture
def scene(tmp_path, monkeypatch, sketches):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of 50 steps in the folder s."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "s.toml").write_text(SCENE)
    run_scene(folder / "s.toml", output=folder / "s", progress=False)
    return folder / "s"
