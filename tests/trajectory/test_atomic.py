"""The file survives being killed after any write: every prefix of the writes leaves whole frames."""

from __future__ import annotations

import errno
import io
import math
import re
import subprocess
import sys
import tracemalloc
from unittest import mock

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import triangular
from support.checks import content, differences

from rigidgrains import History, Simulation, Trajectory, TrajectoryWriter, resume
from rigidgrains.trajectory import atomic, spill, store
from rigidgrains.trajectory.atomic import AtomicFile, heal
from rigidgrains.trajectory.entry import Entry, unpack
from rigidgrains.trajectory.errors import TrajectoryError, WriteError
from rigidgrains.trajectory.repair import repair
from rigidgrains.trajectory.series import Cloud
from rigidgrains.trajectory.texts import get_text


class Disk:
    """Records every change of the files that are opened from now on, once it watches.

    So they can be replayed up to any point; or it fails at one of them.
    """

    def __init__(self, monkeypatch) -> None:
        self.changes: list[tuple[str, int, bytes]] = []
        self.watches, self.fails_at = False, math.inf
        disk = self

        class Watched(io.FileIO):
            def write(self, data):
                disk.note("write", self.tell(), bytes(data))
                return super().write(data)

            def truncate(self, size=None):
                disk.note("truncate", size)
                return super().truncate(size)

        monkeypatch.setattr(atomic.io, "FileIO", Watched)

    def note(self, kind: str, place: int, data: bytes = b"") -> None:
        if self.watches:
            if kind == "write" and len(self.changes) >= self.fails_at:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.changes.append((kind, place, data))

    def replay(self, start: bytes, count: int) -> bytes:
        """The content of the file after so many changes."""
        content = bytearray(start)
        for kind, place, data in self.changes[:count]:
            if kind == "truncate":
                content = content[:place].ljust(place, b"\0")
            else:
                content = content.ljust(place + len(data), b"\0")
                content[place : place + len(data)] = data
        return bytes(content)


# When frames go to their places: each at once, when two of them are in the log, all when the writer is done.
PLACED = {"at once": (0.0, 0), "two by two": (1e9, 6000), "at the end": (1e9, 1 << 22)}


@pytest.fixture(params=PLACED)
def placed(request, monkeypatch):
    seconds, logged = PLACED[request.param]
    monkeypatch.setattr("rigidgrains.trajectory.writer.SECONDS", seconds)
    monkeypatch.setattr("rigidgrains.trajectory.writer.LOGGED", logged)
    return request.param


@pytest.mark.parametrize("stride", [31, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_after_any_write_a_file_has_whole_frames_and_all_that_were_reported(
    tmp_path, monkeypatch, placed, stride
):
    simulation = Simulation(triangular(3, 4, mu=0.3, g=10.0), dt=1e-3)
    history = History()
    writer = TrajectoryWriter(tmp_path / "run.vtkhdf", history=history)
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        writer.start(simulation, 3)
    start = (tmp_path / "run.vtkhdf").read_bytes()
    positions, reported = [simulation.bodies.position.copy()], []
    disk.watches = True
    for _ in range(2 if placed == "at once" else 4):
        simulation.step()
        history.look(simulation)
        writer.look(simulation)
        positions.append(simulation.bodies.position.copy())
        reported.append(len(disk.changes))
    if placed != "at once":
        assert reported[0] == 1  # a frame in the log is one write
        assert (reported[-1] > 4) == (placed == "two by two")
    writer.finish(simulation)  # a checkpoint, and the file is closed
    torn = tmp_path / "torn.vtkhdf"
    few = 0 if stride == 1 else min(8, len(disk.changes))
    for count in (*range(few), *range(few, len(disk.changes) + 1, stride)):
        torn.write_bytes(disk.replay(start, count))
        with Trajectory(torn) as trajectory:
            least = 1 + sum(count >= done for done in reported)
            assert least <= len(trajectory) <= least + 1
            for frame in trajectory:
                assert np.array_equal(frame.position, positions[frame.index])
            assert trajectory.history["step"].tolist() == [*range(1, len(trajectory))] or len(trajectory) == 1
        store.settle(torn)
        with h5py.File(torn) as plain:  # any HDF5 reader is content with what was healed
            assert plain["VTKHDF/Steps"].attrs["NSteps"] >= least


@pytest.mark.parametrize("fails_at", [0, 1, 5, 40, 90])
def test_a_full_disk_is_told_and_earlier_frames_stay(tmp_path, monkeypatch, placed, fails_at):
    simulation = Simulation(triangular(3, 4, mu=0.3, g=10.0), dt=1e-3)
    path = tmp_path / "run.vtkhdf"
    writer = TrajectoryWriter(path)
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        writer.start(simulation, 3)
    simulation.step()
    writer.look(simulation)
    disk.watches, disk.fails_at = True, fails_at
    simulation.observe(writer.look)
    with pytest.raises(WriteError, match="No space left on device; what was written before is intact"):
        simulation.run(steps=100)
    frames = simulation.steps
    writer.finish(simulation)
    with Trajectory(path) as trajectory:
        assert frames <= len(trajectory) <= frames + 1  # the last one was sealed, or was not
        assert trajectory.steps.tolist() == [*range(len(trajectory))]


def test_a_commit_that_fails_behind_its_seal_is_finished_by_the_next_reader(tmp_path, monkeypatch):
    """Half of the patches are in their places: without the journal, which has its seal, the file would be torn."""
    path = tmp_path / "file"
    path.write_bytes(b"." * 100)
    file = AtomicFile(path, writable=True)
    for place, data in ((10, b"one"), (50, b"two")):
        file.seek(place)
        file.write(data)

    def apply_half(to, patches):
        spill.put(to, patches[0][1], patches[0][0])
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_apply", apply_half)
        with pytest.raises(OSError, match="Input/output error"):
            file.commit()
    file.abandon()
    file.close()
    with io.FileIO(path, "r+") as left:
        assert heal(left)
    expected = bytearray(b"." * 100)
    expected[10:13], expected[50:53] = b"one", b"two"
    assert path.read_bytes() == bytes(expected)


def test_a_journal_is_applied_in_memory_where_the_file_cannot_be_written(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        file["x"] = np.arange(4)
    before = path.read_bytes()
    end = len(before)
    path.write_bytes(before + b"".join(atomic.journal([(3, b"abc"), (end - 2, b"yz")], end)))
    view = AtomicFile(path, writable=False)
    content = bytearray(before)
    content[3:6], content[end - 2 :] = b"abc", b"yz"
    assert view.read() == bytes(content)
    view.close()
    assert path.read_bytes()[:end] == before


def test_a_broken_journal_is_no_journal(tmp_path):
    path = tmp_path / "file"
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        file["x"] = np.arange(4)
    before = path.read_bytes()
    journal = bytearray(b"".join(atomic.journal([(3, b"abc")], len(before))))
    journal[17] ^= 1  # within the patch
    for left in (bytes(journal), bytes(journal[:-1]), b"loose bytes"):
        path.write_bytes(before + left)
        with io.FileIO(path, "r+") as file:
            assert heal(file)
        assert path.read_bytes() == before


def test_one_writer_at_a_time(tmp_path):
    simulation = Simulation(triangular(2, 2), dt=1e-3)
    writer = TrajectoryWriter(tmp_path / "run.vtkhdf")
    writer.start(simulation, 1)
    code = (
        "import sys\nfrom pathlib import Path\nfrom rigidgrains.trajectory.store import open_to_append\n"
        "try: open_to_append(Path(sys.argv[1]))\nexcept ValueError as problem: print(problem)"
    )
    told = subprocess.run([sys.executable, "-c", code, writer.path], capture_output=True, text=True, check=True).stdout
    writer.finish(simulation)
    assert "another run is writing this file" in told


@given(st.lists(st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=20)), max_size=30), st.integers(1, 80))
@pytest.mark.parametrize("large", [6, spill.LARGE])
@settings(max_examples=200, deadline=None)
def test_reads_see_writes_and_a_commit_changes_no_byte(tmp_path_factory, large, writes, protected):
    """Against a plain bytearray; large patches wait on the disk, in pieces."""
    with mock.patch.object(spill, "LARGE", large), mock.patch.object(spill, "PIECE", 4):
        change_and_commit(tmp_path_factory, writes, protected)


def change_and_commit(tmp_path_factory, writes, protected):
    path = tmp_path_factory.mktemp("atomic") / "file"
    expected = bytearray(b"." * protected)
    path.write_bytes(expected)
    file = AtomicFile(path, writable=True)
    for place, data in writes:
        file.seek(place)
        file.write(data)
        expected = expected.ljust(place + len(data), b"\0")
        expected[place : place + len(data)] = data
    file.seek(0)
    assert file.read() == bytes(expected)
    assert path.read_bytes()[:protected] == b"." * protected
    file.commit()
    file.close()
    assert path.read_bytes() == bytes(expected)


def test_large_changes_take_no_memory(tmp_path):
    """Of a file of 40 MB all bytes are changed, and it takes a few pieces to do so."""
    path, size = tmp_path / "file", 40_000_000
    path.write_bytes(bytes(size))
    new, file = np.random.default_rng(1).integers(256, size=size, dtype=np.uint8), AtomicFile(path, writable=True)
    tracemalloc.start()
    for part in np.split(new, 4):
        file.write(part)
    file.commit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    file.close()
    assert peak < 4 * spill.PIECE
    assert path.read_bytes() == new.tobytes()
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_another_kind_of_file_is_left_alone(tmp_path):
    (tmp_path / "notes.vtkhdf").write_text("not HDF5 at all, but long enough to look at")
    with pytest.raises(TrajectoryError, match="no trajectory"):
        Trajectory(tmp_path / "notes.vtkhdf")
    assert (tmp_path / "notes.vtkhdf").read_text().startswith("not HDF5")


def test_a_file_that_cannot_be_begun_leaves_nothing(tmp_path, monkeypatch):
    simulation = Simulation(triangular(2, 2), dt=1e-3)
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        disk.watches, disk.fails_at = True, 10
        writer = TrajectoryWriter(tmp_path / "run.vtkhdf")
        with pytest.raises(WriteError, match="No space left on device; the file could not be begun, and nothing was"):
            writer.start(simulation, 1)
    assert list(tmp_path.iterdir()) == []


# Frames that are logged


def logged(folder, monkeypatch):
    """A run that was killed when five frames were in its log: the file, and the positions of all six."""
    monkeypatch.setattr("rigidgrains.trajectory.writer.SECONDS", 1e9)
    simulation, history = Simulation(triangular(3, 4, mu=0.3, g=10.0), dt=1e-3), History()
    writer = TrajectoryWriter(folder / "living.vtkhdf", history=history)
    writer.start(simulation, 5)
    positions = [simulation.bodies.position.copy()]
    for _ in range(5):
        simulation.step()
        history.look(simulation)
        writer.look(simulation)
        positions.append(simulation.bodies.position.copy())
    (folder / "run.vtkhdf").write_bytes((folder / "living.vtkhdf").read_bytes())
    writer.finish(simulation)
    return folder / "run.vtkhdf", positions


def test_logged_frames_are_read_and_nothing_is_written(tmp_path, monkeypatch):
    """Other programs see the frames that are in their places."""
    path, positions = logged(tmp_path, monkeypatch)
    before = path.read_bytes()
    with Trajectory(path) as trajectory:
        assert np.array_equal(trajectory.array("position"), positions)
        assert trajectory.history["step"].tolist() == [1, 2, 3, 4, 5]
        assert trajectory[-1].contacts.force.any()
    with h5py.File(path) as plain:
        assert plain["VTKHDF/Steps"].attrs["NSteps"] == 1
    assert path.read_bytes() == before


def test_logged_frames_are_in_their_places_after_a_restart_and_a_repair(tmp_path, monkeypatch):
    """As in the file of a run that was not killed."""
    path, positions = logged(tmp_path, monkeypatch)
    mended = repair(path).path
    simulation, history = resume(path), History()
    writer = TrajectoryWriter(path, resume=True, history=history)
    simulation.observe(history)
    simulation.observe(writer)
    simulation.run(steps=5)
    assert writer.differing == 0
    for file in (mended, path):
        with h5py.File(file) as plain:
            assert plain["VTKHDF/Steps"].attrs["NSteps"] == 6
            assert np.array_equal(plain["VTKHDF/Points"][:].reshape(6, -1, 3), positions)
            assert plain["history/step"][:].tolist() == [1, 2, 3, 4, 5]
    assert not differences(content(path), content(tmp_path / "living.vtkhdf"))


@pytest.mark.parametrize("place", [3, 20, 60, 4000])
def test_a_log_ends_where_it_is_broken(tmp_path, monkeypatch, place):
    path, positions = logged(tmp_path, monkeypatch)
    damaged = bytearray(path.read_bytes())
    third = [match.start() for match in re.finditer(re.escape(atomic.LOG), damaged)][2]
    damaged[third + place] ^= 1
    path.write_bytes(damaged)
    with Trajectory(path) as trajectory:
        assert np.array_equal(trajectory.array("position"), positions[:3])
    store.settle(path)
    assert len(Trajectory(path)) == 3


def test_a_text_that_is_kept_between_frames_loses_none(tmp_path, monkeypatch):
    """It goes to the place where the log would begin."""
    monkeypatch.setattr("rigidgrains.trajectory.writer.SECONDS", 1e9)
    simulation, path = Simulation(triangular(3, 4), dt=1e-3), tmp_path / "run.vtkhdf"
    writer = TrajectoryWriter(path)
    writer.start(simulation, 6)
    for step in range(1, 7):
        if step in (2, 5):
            writer.keep("note", "x" * 1000 * step)
        simulation.step()
        writer.look(simulation)
        assert Trajectory(path).steps.tolist() == [*range(step + 1)]
    writer.finish(simulation)
    with h5py.File(path) as plain:
        assert get_text(plain["texts"], "note") == "x" * 5000


def test_what_no_number_is_in_a_log_is_refused(tmp_path):
    entry = Entry({"VTKHDF": Cloud(0.0, np.zeros((2, 3)), scalars={"step": 1.0})}, "[]")
    assert unpack(entry.pack()).clouds["VTKHDF"].scalars == {"step": 1.0}
    with pytest.raises(TypeError, match="no array of numbers"):
        unpack(entry.pack().replace(b'"<f8"', b'"|O8"'))
