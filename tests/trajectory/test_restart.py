"""A run that is killed and resumed is the run that was never stopped, to the bit."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from support.builders import triangular
from support.checks import content, differences
from support.scenes import drum

import rigidgrains as rg
from rigidgrains import certificate
from rigidgrains.app.runner import resume_run, run_scene
from rigidgrains.solve.names import KINDS, words_of
from rigidgrains.trajectory.checkpoint import decode
from rigidgrains.trajectory.errors import TrajectoryError
from rigidgrains.trajectory.texts import put_text

SCENE = """
dimension = 2
gravity = [0, -9.81]
[[grains]]
count = 120
radius = [0.8e-3, 1.2e-3]
region = [[0, 0], [0.02, 0.04]]
[[box]]
lower = [0, 0]
upper = [0.02, 0.05]
open = ["top"]
[[piston]]
name = "lid"
point = [0, 0.05]
normal = [0, -1]
mass = 0.2
load = 3.0
[run]
dt = 2e-4
steps = 300
seed = 3
[output]
every = 7
frame_every = 10
picture = false
plot = false
"""


@pytest.mark.parametrize("order", ["random", "random_blocks", "symmetric", "random_sequential"])
@pytest.mark.parametrize("world", ["piston", "drum"])
def test_in_memory_the_resumed_run_is_the_same(tmp_path, world, order):
    """Interrupted after any number of steps: positions, forces, random numbers, lists."""
    solver = {"solver": rg.Sweeps(order=order, criterion=rg.LocalCriterion(1e-3))}
    make = (
        (lambda: rg.Simulation(triangular(5, 6, mu=0.3, g=10.0), dt=2e-2, **solver))
        if world == "piston"
        else lambda: drum(**solver)
    )
    straight = make()
    straight.run(steps=60)
    path = tmp_path / "run.vtkhdf"
    stopped = make()
    stopped.observe(rg.TrajectoryWriter(path), every=10)
    stopped.run(steps=23)
    for steps in (1, 20, 16):
        resumed = rg.resume(path)
        resumed.observe(rg.TrajectoryWriter(path, resume=True), every=10)
        resumed.run(steps=steps)
    assert resumed.steps == straight.steps == 60
    assert resumed.time == straight.time
    for name in ("position", "motion", "orientation"):
        assert np.array_equal(getattr(resumed.bodies, name), getattr(straight.bodies, name)), name
    assert np.array_equal(resumed.contacts.forces, straight.contacts.forces)
    assert np.array_equal(resumed.neighbours.pairs.partner, straight.neighbours.pairs.partner)
    assert resumed.rng.bit_generator.state == straight.rng.bit_generator.state
    assert resumed.neighbours.builds == straight.neighbours.builds
    ours, theirs = resumed.report().as_dict(), straight.report().as_dict()
    cost = {"seconds": 0, "compile_seconds": 0}
    assert {**ours, **cost} == {**theirs, **cost}
    assert rg.Trajectory(path).steps.tolist() == [0, 10, 20, 23, 24, 30, 40, 44, 50, 60]


def test_a_changed_time_step_is_remembered(tmp_path):
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(3, 4, g=10.0), dt=1e-2)
    simulation.step()
    simulation.dt = 3e-3
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    resumed = rg.resume(path)
    assert (resumed.dt, resumed.time) == (3e-3, simulation.time)


def test_a_stop_condition_remembers_how_long_it_was_quiet(tmp_path):
    def watched(simulation):
        return simulation.observe(rg.StopWhenStatic(1e-3, looks=10))

    def still():
        return rg.Simulation(triangular(3, 4), dt=1e-2)

    straight = watched(still())
    straight.run(steps=100)
    path = tmp_path / "run.vtkhdf"
    stopped = watched(still())
    stopped.observe(rg.TrajectoryWriter(path))
    stopped.run(steps=4)
    resumed = watched(rg.resume(path))
    resumed.run(steps=100)
    assert resumed.steps == straight.steps < 100


def killed(tmp_path, after: float, *words: str) -> None:
    """Start or resume a run and kill it so many seconds after it has begun to write, wherever it is."""
    file = tmp_path / "torn" / "scene.vtkhdf"
    before = file.stat().st_mtime_ns if file.exists() else 0
    process = subprocess.Popen([sys.executable, "-m", "rigidgrains", *words], cwd=tmp_path)
    deadline = time.monotonic() + 120.0
    while process.poll() is None and time.monotonic() < deadline:
        if file.exists() and file.stat().st_mtime_ns != before:
            break
        time.sleep(0.001)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    assert process.wait() in (0, -signal.SIGKILL)


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_random_moments_and_resumed_nothing_differs(tmp_path, kills):
    """SIGKILL, during steps and writes alike; frames are written at almost every step."""
    (tmp_path / "scene.toml").write_text(SCENE.replace("frame_every = 10", "frame_every = 2"))
    straight = run_scene(tmp_path / "scene.toml", output=tmp_path / "straight", progress=False, checkpoint_every=5)
    lengths = random.Random(kills)
    killed(tmp_path, 0.0, "run", "scene.toml", "-q", "-o", "torn", "--checkpoint-every", "5")
    torn = tmp_path / "torn" / "scene.vtkhdf"
    frames = 0
    for _ in range(kills - 1):
        with rg.Trajectory(torn) as trajectory:
            assert len(trajectory) >= frames, "a frame was lost"
            frames = len(trajectory)
        killed(tmp_path, lengths.uniform(0.0, 0.2), "resume", "torn/scene.vtkhdf", "-q")
    outcome = resume_run(torn, progress=False)
    assert outcome.differing == 0
    assert outcome.report.steps == 300
    assert differences(content(straight.trajectory), content(torn)) == []


@pytest.mark.parametrize("at", [33, 40, 42])
def test_interrupted_and_resumed_nothing_differs(tmp_path, monkeypatch, at):
    """The state of the interruption is a frame while it is the last; a run that goes on takes it out.

    Frames are due at every 10th step, rows at every 7th: 33 is neither, 40 a frame, 42 a row.
    """
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE)
    straight = run_scene(scene, output=tmp_path / "straight", steps=80, progress=False).trajectory
    step = rg.Simulation.step

    def press(self):
        step(self)
        if self.steps == at:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(rg.Simulation, "step", press)
        outcome = run_scene(scene, output=tmp_path / "torn", steps=80, progress=False)
    assert outcome.report.stopped == "interrupted"
    with rg.Trajectory(outcome.trajectory) as trajectory:
        assert trajectory.steps[-1] == outcome.report.steps == at
        assert certificate.check(trajectory[-1]).passed
    with monkeypatch.context() as patch:  # killed before its next checkpoint: the results beside it are still its own
        patch.setattr(rg.Simulation, "step", lambda self: os._exit(0) if self.steps > 62 else step(self))
        if (child := os.fork()) == 0:
            try:
                resume_run(outcome.trajectory, progress=False)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    resume_run(outcome.trajectory, progress=False)
    assert differences(content(straight), content(outcome.trajectory)) == []
    assert rg.Trajectory(outcome.trajectory).steps.tolist() == [*range(0, 81, 10)]


def test_a_measurement_has_no_row_of_an_interruption(tmp_path):
    path, record = tmp_path / "run.vtkhdf", rg.Measure(top=lambda frame: frame.position[:, 1].max())
    simulation = rg.Simulation(triangular(3, 4, g=10.0), dt=1e-2)
    simulation.observe(record, every=5)
    simulation.observe(rg.TrajectoryWriter(path), every=5)
    simulation.observe(lambda now: os.kill(os.getpid(), signal.SIGINT), every=7)
    with pytest.raises(KeyboardInterrupt):
        simulation.run(steps=20)
    resumed, record = rg.resume(path), rg.Measure(top=lambda frame: frame.position[:, 1].max())
    resumed.observe(record, every=5)
    resumed.run(steps=13)
    assert record["step"].tolist() == [5, 10, 15, 20]


def test_resume_goes_on_to_a_new_end(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    path = run_scene(tmp_path / "scene.toml", steps=40, output=tmp_path / "short", progress=False).trajectory
    outcome = resume_run(path, steps=30, progress=False)
    assert outcome.report.steps == 70
    straight = run_scene(tmp_path / "scene.toml", steps=70, output=tmp_path / "long", progress=False)
    ours, theirs = rg.Trajectory(path)[-1], rg.Trajectory(straight.trajectory)[-1]
    assert np.array_equal(ours.position, theirs.position)
    assert np.array_equal(ours.contacts.force, theirs.contacts.force)
    assert resume_run(path, progress=False).finished == []  # it had come to its end


def make_old(path) -> None:
    """Take from a file what was not there before cells, functions of time, streams and checksums of arrays, and tell
    its time and gaps as then."""
    lacks = ("grains", "entered", "left", "mass_left", "removed_part", "slack", "wall_load", "wall_spin")
    with h5py.File(path, "r+") as file:
        series = file["VTKHDF"]
        for group in (file["history"], *(series[name] for name in ("FieldData", "Steps/FieldDataOffsets"))):
            for name in lacks:
                group.pop(name, None)
        for name in lacks:
            series["Steps/FieldDataSizes"].pop(name, None)
        series["FieldData"].create_dataset(
            "floor", data=np.zeros(series["FieldData/step"].shape), maxshape=(None,), chunks=(256,)
        )
        for part in ("FieldDataOffsets", "FieldDataSizes"):
            series[f"Steps/{part}/floor"] = series[f"Steps/{part}/step"]
        kept = file["checkpoint"]
        words = json.loads(bytes(kept["text"][()]).decode())
        words["clock"] = [words["clock"][name] for name in ("dt", "steps", "begun", "since")]
        for name in ("auto", "gravity", "stage"):
            del words[name]
        for name in ("contact_image", "id", "pair_image", "wall_load", "wall_spin"):
            del kept[name]
        wider = {
            "pair_start": kept["pair_start"][()].astype(np.int64),
            "motion_before": np.hstack([kept["motion_before"], kept["motion"][:, 6:]]),
        }
        for name, array in wider.items():
            del kept[name]
            kept[name] = array
        put_text(kept, "text", json.dumps(words))
        del file["frames/array_checksum"]
        for thing in (kept, kept["text"], file["history"], *file["texts"].values(), *file["walls"].values()):
            del thing.attrs["checksum"]


def test_files_of_earlier_versions_go_on(tmp_path):
    """They lack columns and arrays that came later: the run that goes on is the same, and what they have is written."""
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE)
    run_scene(scene, output=tmp_path / "a", steps=80, progress=False)
    run_scene(scene, output=tmp_path / "b", steps=40, progress=False)
    straight, old = tmp_path / "a" / "scene.vtkhdf", tmp_path / "b" / "scene.vtkhdf"
    make_old(old)
    assert certificate.check(rg.Trajectory(old)[-1]).passed
    resume_run(old, steps=40, progress=False)
    with rg.Trajectory(straight) as one, rg.Trajectory(old) as other:
        assert one.steps.tolist() == other.steps.tolist()
        assert one[-1].position.tobytes() == other[-1].position.tobytes()
        assert one[-1].contacts.force.tobytes() == other[-1].contacts.force.tobytes()
        assert "entered" not in other.history
        for name, column in other.history.items():
            assert column[-1].tobytes() == one.history[name][-1].tobytes(), name
        assert certificate.check(other[-1]).passed
        assert other.figures("floor").tolist() == [0.0] * len(other)


def test_other_figures_than_before_are_noticed(tmp_path):
    """A frame after the checkpoint that does not come out again."""
    (tmp_path / "scene.toml").write_text(SCENE)
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(rg.load_scene(tmp_path / "scene.toml"))
    writer = rg.TrajectoryWriter(path)
    simulation.observe(writer, every=2)
    simulation.run(steps=2)
    resumed = rg.resume(path)
    writer = rg.TrajectoryWriter(path, resume=True)
    resumed.observe(writer, every=2)
    resumed.observe(lambda now: None)
    writer.start(resumed, 4)
    for _ in range(2):
        resumed.step()
    writer.look(resumed)
    path = shutil.copyfile(path, tmp_path / "killed.vtkhdf")  # as if killed: a frame, but no checkpoint
    again = rg.resume(path)
    again.bodies.velocity[0, 0] += 1e-9
    writer = rg.TrajectoryWriter(path, resume=True)
    again.observe(writer, every=2)
    again.run(steps=2)
    assert writer.differing == 1


def test_a_solver_of_ones_own_must_be_given_again(tmp_path):
    class Patient(rg.LocalCriterion):
        pass

    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2, solver=rg.Sweeps(criterion=Patient()))
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    with pytest.raises(TrajectoryError, match="pass the solver to resume"):
        rg.resume(path)
    assert rg.resume(path, solver=rg.Sweeps()).steps == 2


def test_files_without_a_way_back(tmp_path):
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
    writer = rg.TrajectoryWriter(path)
    writer.start(simulation, 1)
    assert rg.resume(path).steps == 0  # from the very first frame on
    writer.finish(simulation)
    with pytest.raises(TrajectoryError, match="was written by a program; resume it there"):
        resume_run(path)


@pytest.mark.parametrize(
    "words",
    [
        {"class": "sweeps.Sweeps", "news": 1},
        {"class": "sweeps.News"},
        {"class": "news.News"},
        {"name": "sweeps", "version": 1, "news": 1},
        {"name": "news", "version": 1},
        {"name": "sweeps", "version": 2},
        {"name": "sweeps", "version": 1, "order": {"name": "local", "version": 1}},
        {"version": 1},
    ],
)
def test_solvers_of_later_versions_are_refused(words):
    """A setting, a name or a version that is not known here: one line with a remedy."""
    with pytest.raises(TrajectoryError, match="update rigidgrains, or pass a solver"):
        decode(words)


SOLVERS = [
    rg.Sweeps(order=rg.Ordered(axis="-y"), criterion=rg.GlobalCriterion(1e-4), gap=0.3, slack=0.01),
    rg.Sweeps(order=rg.RandomBlocks(block=7), criterion=rg.FixedSweeps(12)),
    rg.Sweeps(rigidity=2.5),
    rg.AcceleratedSweeps(accuracy="fast", max_sweeps=70),
    rg.AcceleratedSweeps(accuracy="exact", fallback=7),
    rg.SecondOrder(warm=3),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_solver_is_kept_by_names(solver):
    """No place in the program is written down; what was written by places is understood."""
    words = words_of(solver)
    assert "rigidgrains" not in json.dumps(words)
    assert words_of(decode(json.loads(json.dumps(words)))) == words
    by_place = json.loads(json.dumps(words))
    for part, kind in ((by_place, "method"), (by_place["order"], "order"), (by_place["criterion"], "criterion")):
        name = KINDS[kind][part.pop("name")].__name__
        del part["version"]
        part["class"] = f"some.where.{name}"
    assert words_of(decode(by_place)) == words


def test_a_run_goes_on_from_a_step_that_lent_rows_to_a_turning_wall(tmp_path):
    """Each contact of such a wall has a row of motion; those of the first contact came within the step."""
    path = tmp_path / "run.vtkhdf"
    scene = rg.Scene(dimension=2, gravity=(0, -10), run={"dt": 1e-3})
    scene.add_grains(positions=[(1, 0.5)], radius=0.5)
    scene.add_plane("ramp", point=(0, 0), normal=(0, 1), rotation=0.1)
    simulation = rg.Simulation(scene).observe(rg.TrajectoryWriter(path), every=100)
    simulation.run(steps=1)
    assert len(simulation.motion_before) < len(simulation.bodies.motion)
    resumed = rg.resume(path)
    for run in (simulation, resumed):
        run.step()
    assert simulation.bodies.motion.tobytes() == resumed.bodies.motion.tobytes()
