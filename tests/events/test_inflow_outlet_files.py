"""Files of runs in which grains and walls come and go: every command reads them, however many grains a frame has."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.app.runner import run_scene
from rigidgrains.certificate.check import check, check_file
from rigidgrains.formats.export import export
from rigidgrains.formats.state import read_state
from rigidgrains.trajectory import store
from rigidgrains.trajectory.repair import repair

SCENE = """
title = "a silo runs empty, and is filled again"
dimension = 2
gravity = [0, -9.81]
friction = 0.4
[[grains]]
count = 40
radius = [1.5e-3, 2.2e-3]
region = [[0, 0.002], [0.05, 0.03]]
[[plane]]
name = "left"
point = [0, 0]
normal = [1, 0]
[[plane]]
name = "gate"
point = [0.025, 0]
normal = [0, 1]
size = 0.05
until = 0.05
[[inflow]]
name = "rain"
radius = 2e-3
rate = 200
since = 0.25
region = [[0.002, 0.04], [0.048, 0.06]]
[[outlet]]
name = "drain"
point = [0, -0.03]
normal = [0, 1]
[run]
dt = 5e-4
until = 0.3
[solver]
accuracy = "exact"
[output]
frame_every = 20
"""


@pytest.fixture(scope="module")
def flow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flow")
    (folder / "flow.toml").write_text(SCENE)
    return run_scene(folder / "flow.toml", output=folder / "out", progress=False).trajectory


def test_frames_have_their_own_number_of_grains(flow):
    with rg.Trajectory(flow) as trajectory:
        numbers = [len(frame) for frame in trajectory]
        assert numbers[0] == 40
        assert 0 in numbers
        assert numbers[-1] == 9  # due by the beginning of the last step, 0.2995 s: 200/s from 0.25 s on
        assert [len(frame.walls) for frame in trajectory][:7] == [2, 2, 2, 2, 2, 2, 1]
        assert trajectory.history["left"][-1] == 40
        assert np.array_equal(trajectory[-1].id, np.arange(40, 49))
        with pytest.raises(rg.TrajectoryError, match="not the same length in all frames"):
            trajectory.array("position")
    assert (flow.parent / "packing.png").exists()
    assert (flow.parent / "history.png").exists()


def test_every_frame_is_certified(flow):
    certificates = list(check_file(flow))
    assert len(certificates) == 31
    assert not any(certificate.failed for certificate in certificates)


def test_vtk_reads_frames_of_any_size(flow):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(flow))
    reader.UpdateInformation()
    with rg.Trajectory(flow) as trajectory:
        assert reader.GetNumberOfSteps() == len(trajectory)
        for step, frame in enumerate(trajectory):
            reader.SetStep(step)
            reader.Update()
            found = reader.GetOutputDataObject(0)
            assert found.GetNumberOfPoints() == len(frame)
            for name in ("id", "radius", "mass", "velocity") if len(frame) else ():
                assert np.array_equal(vtk_to_numpy(found.GetPointData().GetArray(name)), getattr(frame, name)), name


@pytest.mark.parametrize("form", ["lammps", "extxyz", "csv", "vtu", "gsd"])
def test_every_format_is_written_and_the_last_frame_read_again(flow, form, tmp_path):
    if form == "gsd":
        pytest.importorskip("gsd")
    made = export(flow, form, tmp_path / "made")
    with rg.Trajectory(flow) as trajectory:
        height = np.sort(trajectory[-1].position[:, 1])
    if form in ("lammps", "extxyz", "gsd"):
        state = read_state(made if made.is_file() else next(made.iterdir()), "last")
        np.testing.assert_allclose(state.radius, np.full(9, 2e-3), rtol=1e-6)
        np.testing.assert_allclose(np.sort(state.position[:, 1]), height, atol=1e-6)


def test_pictures_pages_and_plots_are_made(flow, tmp_path):
    with rg.Trajectory(flow) as trajectory:
        rg.write_page(trajectory, tmp_path / "flow.html")
        rg.draw_plots(trajectory, tmp_path / "plots.png")
        for frame in (trajectory[0], trajectory[15], trajectory[-1]):
            rg.draw_packing(frame, tmp_path / f"{frame.index}.png")
        assert len(trajectory[15]) == 0
    assert len(list(tmp_path.iterdir())) == 5


def test_a_repaired_file_has_all_frames(flow, tmp_path):
    mended = repair(flow, tmp_path / "mended.vtkhdf")
    assert mended.frames == 31
    with rg.Trajectory(flow) as one, rg.Trajectory(tmp_path / "mended.vtkhdf") as other:
        for a, b in zip(one, other):
            assert np.array_equal(a.id, b.id)
            assert np.array_equal(a.radius, b.radius)
            assert np.array_equal(a.position, b.position)
    assert store.contacts_link(tmp_path / "mended.vtkhdf").exists()


def test_frames_have_torques_also_when_none_is_left(tmp_path):
    """All that are twisted leave, and others come in; a force with torques cannot begin in the middle of a file."""
    scene = rg.Scene(dimension=2, gravity=(0, -10.0), run={"dt": 1e-2, "seed": 1})
    scene.add_grains(name="twisted", positions=[(0, 0.05)], radius=1e-2)
    scene.add_force(grains="twisted", force=(1e-3, 0), torque=1e-6)
    scene.add_outlet("drain", point=(0, 0), normal=(0, 1))
    scene.add_inflow("rain", radius=1e-2, rate=50, total=2, region=((0, 0.2), (1, 0.4)), since=0.2)
    rg.Simulation(scene).observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=3).run(until=0.3)
    with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
        assert sorted({len(frame) for frame in trajectory}) == [0, 1, 2]
        assert not any(check(frame).violated for frame in trajectory)
    scene = rg.Scene(dimension=2, run={"dt": 1e-2})
    scene.add_grains(positions=[(0, 0)], radius=1e-2)
    simulation = rg.Simulation(scene).observe(rg.TrajectoryWriter(tmp_path / "late.vtkhdf"), every=3)
    simulation.run(steps=6)
    simulation.add_force(lambda mass: (np.zeros((1, 2)), np.ones(1)), name="motor")
    with pytest.raises(rg.TrajectoryError, match="begun without torques on grains; add the force before the first run"):
        simulation.run(steps=6)
