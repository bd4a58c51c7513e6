"""The history of a periodic cell: volume, packing fraction, pressure and shear stress, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.view.series import draw_history


def sheared() -> rg.Simulation:
    scene = rg.Scene(dimension=2, friction=0.4)
    scene.set_cell(lower=[0, 0], upper=[0.1, 0.1], rate={"xy": 5.0})
    scene.add_grains(count=110, radius=[4e-3, 5e-3], placement="dense")
    return rg.Simulation(scene, dt=1e-3, solver=rg.AcceleratedSweeps())


def observed(simulation, path, **rest):
    history = rg.History()
    simulation.observe(history).observe(rg.TrajectoryWriter(path, history=history, **rest), every=10)
    return history


def test_what_is_recorded_is_what_the_measurements_say(tmp_path):
    """Of contacts and peculiar motion, by the functions of `measure`; the volume is kept in simple shear."""
    path = tmp_path / "shear.vtkhdf"
    simulation = sheared()
    observed(simulation, path)
    simulation.run(steps=60)
    with rg.Trajectory(path) as trajectory:
        history, frames = trajectory.history, trajectory[1:]
        assert history["volume"] == pytest.approx(np.full(60, 0.01), rel=1e-12)
        assert history["packing_fraction"][-1] == pytest.approx(measure.packing_fraction(frames[-1]), rel=1e-9)
        stress = [measure.stress(frame) for frame in frames]
        rows = frames[0].step - 1, frames[-1].step - 1
        assert [frame.figures["pressure"] for frame in frames] == history["pressure"][9::10].tolist()
        assert history["pressure"][rows[0] :: 10] == pytest.approx([one.pressure for one in stress], rel=1e-9)
        shear = [one.total[1, 0] for one in stress]
        assert history["shear_stress"][rows[0] :: 10] == pytest.approx(shear, rel=1e-9)
        assert min(shear) < 0.0
        labels = {axes.get_ylabel() for axes in draw_history(trajectory).axes}
        assert "packing fraction of the cell" in labels


def test_a_resumed_run_records_the_same(tmp_path):
    straight, torn = tmp_path / "straight.vtkhdf", tmp_path / "torn.vtkhdf"
    simulation = sheared()
    observed(simulation, straight)
    simulation.run(steps=30)
    simulation = sheared()
    observed(simulation, torn)
    simulation.run(steps=13)
    simulation = rg.resume(torn)
    history = observed(simulation, torn, resume=True)
    simulation.run(steps=17)
    with rg.Trajectory(straight) as one, rg.Trajectory(torn) as other:
        for name in ("pressure", "shear_stress", "packing_fraction"):
            assert history[name].tobytes() == other.history[name].tobytes() == one.history[name].tobytes()


def test_without_a_cell_nothing_is_added(tmp_path):
    scene = rg.Scene(dimension=2)
    scene.add_grains(positions=[[0, 0], [1, 0]], radius=0.5)
    simulation, path = rg.Simulation(scene, dt=1e-3), tmp_path / "open.vtkhdf"
    history = observed(simulation, path)
    simulation.run(steps=3)
    assert "pressure" not in history.names
    with rg.Trajectory(path) as trajectory:
        assert "pressure" not in trajectory.history
        assert "pressure" not in trajectory.names
        assert "packing fraction of the cell" not in {axes.get_ylabel() for axes in draw_history(trajectory).axes}
