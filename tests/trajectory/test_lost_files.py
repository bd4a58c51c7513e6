"""A file that is deleted, moved, replaced or overwritten under a living run is noticed, and the state is saved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from support.builders import triangular
from support.commands import rigidgrains

import rigidgrains as rg
from rigidgrains.trajectory import lock, store
from rigidgrains.trajectory.errors import Mismatch, TrajectoryError, WriteError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved")

APPEND = (
    "import sys\nfrom pathlib import Path\nfrom rigidgrains.trajectory.store import open_to_append\n"
    "try: kept = open_to_append(Path(sys.argv[1])); print('opened')\nexcept ValueError as problem: print(problem)"
)


def simulate():
    return rg.Simulation(triangular(3, 4, mu=0.3, g=10.0), dt=1e-3)


def append(path) -> str:
    """What another process is told that wants to write to a file."""
    return subprocess.run([sys.executable, "-c", APPEND, path], capture_output=True, text=True, check=True).stdout


def delete(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("elsewhere.vtkhdf"))


def move_folder(path):
    path.parent.rename(path.parent.with_name("other"))


def remove_folder(path):
    shutil.rmtree(path.parent)


def renew_folder(path):
    shutil.rmtree(path.parent)
    path.parent.mkdir()


def replace(path):
    """As an editor, a sync program or a copy by another name does."""
    shutil.copy(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)


def overwrite(path):
    """In place, as cp does: the same file, another content."""
    path.write_bytes(b"something else" * 100_000)


def overwrite_with_another_run(path):
    other = path.with_name("other.vtkhdf")
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(other))
    simulation.run(steps=40)
    path.write_bytes(other.read_bytes())
    other.unlink()


INTACT = {
    delete: ("was deleted while", "folder/run-rescued.vtkhdf"),
    move: ("was moved to", "folder/elsewhere.vtkhdf"),
    move_folder: ("was moved to", "other/run.vtkhdf"),
    remove_folder: ("was deleted with its folder", "run-rescued.vtkhdf"),
    renew_folder: ("was deleted while", "folder/run-rescued.vtkhdf"),
    replace: ("was replaced by another one", "folder/run-rescued.vtkhdf"),
}


def lose(tmp_path, deed, *, at=7, every=2):
    """A run whose file is lost after a step; the error, the simulation and its writer."""
    path = tmp_path / "folder" / "run.vtkhdf"
    path.parent.mkdir()
    simulation, history = simulate(), rg.History()
    simulation.observe(history)
    writer = rg.TrajectoryWriter(path, history=history)
    simulation.observe(writer, every=every)
    simulation.observe(lambda now: deed(path) if now.steps == at else None)
    with pytest.raises(WriteError) as told:
        simulation.run(steps=20)
    return told.value, simulation, writer


@pytest.mark.parametrize("deed", INTACT, ids=lambda deed: deed.__name__)
def test_a_lost_file_ends_the_run_and_all_is_saved(tmp_path, deed):
    """At the next frame after the deed: all frames are kept, and the run goes on from there to the same bits."""
    error, simulation, _ = lose(tmp_path, deed)
    says, name = INTACT[deed]
    saved = tmp_path / name
    assert simulation.steps == 8  # the first frame after the deed
    assert error.filename == str(tmp_path / "folder" / "run.vtkhdf")
    assert says in error.strerror
    assert f"all frames and the state at t = 0.008 s are in {saved}: rigidgrains resume {saved}" in error.strerror
    with rg.Trajectory(saved) as trajectory:
        assert trajectory.steps.tolist() == [0, 2, 4, 6, 8]
        assert trajectory.history["step"].tolist() == [*range(1, 9)]
    resumed, straight = rg.resume(saved), simulate()
    straight.run(steps=20)
    resumed.run(steps=12)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)


@pytest.mark.parametrize("deed", [overwrite, overwrite_with_another_run])
def test_a_file_that_was_overwritten_is_left_to_whoever_did_it(tmp_path, deed):
    """Its frames are gone, the state is not; not a byte of the other content is touched."""
    left = {}

    def overwrite_and_look(path):
        deed(path)
        left[path] = path.read_bytes()

    error, simulation, _ = lose(tmp_path, overwrite_and_look)
    saved = tmp_path / "folder" / "run-rescued.vtkhdf"
    assert "was overwritten while the run was writing it" in error.strerror
    assert f"earlier frames are lost; it is in {saved}" in error.strerror
    for path, content in left.items():
        assert path.read_bytes() == content
    assert rg.Trajectory(saved).steps.tolist() == [8]
    assert rg.Trajectory(saved).history["step"].tolist() == [*range(1, 9)]
    assert np.array_equal(rg.resume(saved).bodies.motion, simulation.bodies.motion)


def test_a_file_lost_before_the_last_frame_is_noticed_too(tmp_path):
    """No frame is due any more: it is noticed when the run ends."""
    error, simulation, _ = lose(tmp_path, delete, at=20, every=100)
    assert simulation.steps == 20
    assert rg.resume(tmp_path / "folder" / "run-rescued.vtkhdf").steps == 20
    assert "was deleted" in error.strerror


def test_the_same_simulation_goes_on_in_the_file_that_was_saved(tmp_path):
    _, simulation, writer = lose(tmp_path, delete)
    simulation.run(steps=2)
    assert rg.Trajectory(writer.path).steps.tolist() == [0, 2, 4, 6, 8, 10]


def test_a_second_rescue_gets_a_name_of_its_own(tmp_path):
    (tmp_path / "folder").mkdir()
    taken = tmp_path / "folder" / "run-rescued.vtkhdf"
    taken.write_text("mine")
    (tmp_path / "folder").rename(tmp_path / "kept")

    def put_back(path):
        path.unlink()
        shutil.copy(tmp_path / "kept" / taken.name, taken)

    error, *_ = lose(tmp_path, put_back)
    assert "run-rescued-2.vtkhdf" in error.strerror
    assert taken.read_text() == "mine"


def test_what_cannot_be_saved_anywhere_is_told(tmp_path, monkeypatch):
    def refuse(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rigidgrains.trajectory.atomic.AtomicFile.copy", refuse)
    error, *_ = lose(tmp_path, delete)
    assert "the state at t = 0.008 s could not be saved: No space left on device" in error.strerror


def test_a_working_folder_that_changes_is_no_loss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    simulation = simulate()
    simulation.observe(rg.TrajectoryWriter("run.vtkhdf"), every=2)
    simulation.observe(lambda now: os.chdir(tmp_path / "elsewhere"))
    simulation.run(steps=6)
    assert rg.Trajectory(tmp_path / "run.vtkhdf").steps.tolist() == [0, 2, 4, 6]


def test_a_second_name_is_no_loss(tmp_path):
    simulation, path = simulate(), tmp_path / "run.vtkhdf"
    simulation.observe(rg.TrajectoryWriter(path), every=2)
    simulation.observe(lambda now: os.link(path, tmp_path / "hard.vtkhdf") if now.steps == 3 else None)
    simulation.run(steps=6)
    assert len(rg.Trajectory(path)) == 4


# One writer at a time


@pytest.mark.skipif(lock.OFD_SETLK is None, reason="no locks of open files")
def test_a_reader_in_the_writing_process_does_not_drop_the_lock(tmp_path):
    """Closing any descriptor of the file drops locks of the POSIX kind, and another process could write."""
    path, simulation = tmp_path / "run.vtkhdf", simulate()
    writer = rg.TrajectoryWriter(path)
    writer.start(simulation, 1)
    rg.Trajectory(path).close()
    with open(path, "rb"):
        pass
    told = append(path)
    assert "another run is writing this file" in told
    assert f"process {os.getpid()}" in told
    writer.finish(simulation)
    assert append(path) == "opened\n"


@pytest.mark.skipif(lock.OFD_SETLK is None, reason="no locks of open files")
def test_a_second_writer_in_the_same_process_is_refused(tmp_path):
    path, simulation = tmp_path / "run.vtkhdf", simulate()
    writer = rg.TrajectoryWriter(path)
    writer.start(simulation, 1)
    for options in ({"resume": True}, {"force": True}):
        with pytest.raises(rg.TrajectoryError, match="another run is writing this file"):
            rg.TrajectoryWriter(path, **options)
    with pytest.raises(rg.TrajectoryError, match="another run is writing this file"):
        store.open_to_append(path)
    writer.finish(simulation)
    rg.TrajectoryWriter(path, force=True)


def test_without_locks_of_open_files_a_second_writer_is_noticed(tmp_path, monkeypatch):
    """POSIX locks are dropped by a reader; the writer takes its lock again, or learns that another has it."""
    monkeypatch.setattr(lock, "OFD_SETLK", None)
    path, simulation = tmp_path / "run.vtkhdf", simulate()
    writer = rg.TrajectoryWriter(path)
    writer.start(simulation, 3)
    rg.Trajectory(path).close()
    simulation.step()
    writer.look(simulation)
    assert "another run is writing this file" in append(path)
    rg.Trajectory(path).close()
    other = subprocess.Popen(
        [sys.executable, "-c", APPEND + "\nsys.stdout.flush(); sys.stdin.read()", path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout.readline() == "opened\n"
    simulation.step()
    with pytest.raises(WriteError, match=r"another run has begun to write this file.* is saved"):
        writer.look(simulation)
    other.communicate("")
    writer.finish(simulation)
    assert rg.resume(tmp_path / "run-rescued.vtkhdf").steps == 2


def test_viewers_with_hdf5s_own_locks_read_along(tmp_path):
    import h5py

    path, simulation = tmp_path / "run.vtkhdf", simulate()
    writer = rg.TrajectoryWriter(path)
    writer.start(simulation, 1)
    with h5py.File(path, "r", locking=True) as file:
        assert file["VTKHDF/Steps"].attrs["NSteps"] == 1
    simulation.step()
    writer.look(simulation)
    writer.finish(simulation)


# The command


SCENE = """
dimension = 2
gravity = [0, -9.81]
[[grains]]
count = 30
radius = 1e-3
region = [[0, 0], [0.02, 0.04]]
[[plane]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[run]
dt = 1e-4
steps = 100000000
[output]
frame_every = 1
"""


@pytest.fixture
def living(tmp_path):
    """A run that goes on until it is stopped."""
    (tmp_path / "scene.toml").write_text(SCENE)
    process = subprocess.Popen(
        [sys.executable, "-m", "rigidgrains", "run", "scene.toml", "-q"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (tmp_path / "scene" / "scene.vtkhdf").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield process
    process.kill()
    process.communicate()


def test_a_living_run_is_not_replaced_and_notices_that_it_is_deleted(tmp_path, living):
    """Forced or resumed from elsewhere: exit code 2, and nothing of it is touched. Deleted: exit code 3."""
    for words in (("run", "scene.toml", "-o", "scene", "--force"), ("resume", "scene/scene.vtkhdf")):
        told = rigidgrains(tmp_path, *words)
        assert "another run is writing this file" in told
        assert len(told.splitlines()) == 1
    assert (tmp_path / "scene" / "scene.toml").exists()
    assert living.poll() is None
    shutil.rmtree(tmp_path / "scene")
    _, told = living.communicate(timeout=60)
    assert living.returncode == 3, told
    assert "was deleted with its folder" in told
    assert f"rigidgrains resume {tmp_path / 'scene-rescued.vtkhdf'}" in told
    assert len(told.splitlines()) == 1
    assert rg.resume(tmp_path / "scene-rescued.vtkhdf").steps > 0


@pytest.mark.parametrize(
    ("failures", "locked", "says"),
    [(30, True, ""), (30, False, "is damaged"), (10**6, True, "another run is writing this file")],
)
def test_a_file_that_is_written_is_not_called_damaged(tmp_path, monkeypatch, failures, locked, says):
    """A reader that meets its writer at every look tries longer; where there is no writer, the file is damaged."""
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    looks, whole = [], store.open_whole

    def restless(path, **how):
        looks.append(path)
        if len(looks) <= failures:
            raise Mismatch("its index tells of 2 frames, its times tell of 3")
        return whole(path, **how)

    monkeypatch.setattr(store, "open_whole", restless)
    monkeypatch.setattr(store, "PAUSE", 0.0)
    with open(path, "r+b", buffering=0) as writer:
        if locked:
            lock.lock(writer, path)
        if says:
            with pytest.raises(TrajectoryError, match=says):
                rg.Trajectory(path)
        else:
            assert len(rg.Trajectory(path)) == 3
