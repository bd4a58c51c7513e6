"""What Windows refuses: renaming and deleting open files, and POSIX locks. A stand-in refuses here what it would."""

from __future__ import annotations

import io
import os

import pytest
from support.builders import triangular
from support.commands import called
from support.refusing import refuse_open_files

import rigidgrains as rg
from rigidgrains.files import windows
from rigidgrains.study import alone
from rigidgrains.trajectory import atomic, lock
from rigidgrains.trajectory.errors import TrajectoryError

fcntl = pytest.importorskip("fcntl", reason="the stand-in is made of POSIX locks")
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the stand-in looks into /proc")


class System:
    """LockFileEx: the byte belongs to the handle that locked it, until that is closed."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, file: int, flags: int, place: windows.Overlapped) -> int:
        assert flags == windows.EXCLUSIVE | windows.AT_ONCE
        assert place.offset == 0
        assert place.offset_high << 32 == windows.BYTE
        self.calls += 1
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return windows.TAKEN[0]
        return 0


@pytest.fixture
def system(monkeypatch):
    """Windows, as far as files go."""
    stand_in = System()
    monkeypatch.setattr(windows, "system", lambda: stand_in)
    for module in (lock, alone):
        monkeypatch.setattr(module, "fcntl", None)
    return stand_in


def test_a_run_is_written_resumed_repaired_and_exported(tmp_path, monkeypatch, system):
    """Refused is only what a new file is renamed for the first time; it is closed then."""
    refused = refuse_open_files(monkeypatch)
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=3)
    rg.resume(path).run(steps=3)
    rg.Trajectory(path).close()
    for words in (
        ("repair", path),
        ("export", path, "--to", "csv"),
        ("export", path, "--to", "extxyz"),
        ("render", path),
        ("view", path, "--no-open"),
    ):
        called(tmp_path, *words)
    assert refused == ["replace run.vtkhdf.part", "replace run-repaired.vtkhdf.part"]
    assert len(rg.Trajectory(path)) == len(rg.Trajectory(tmp_path / "run-repaired.vtkhdf")) == 4


def test_a_name_that_a_reader_has_open_is_told(tmp_path, monkeypatch):
    """Windows does not replace it: the run fails in one line, and nothing is lost."""
    path = tmp_path / "run.vtkhdf"
    path.write_bytes(b"an earlier one")
    with open(path, "rb"):
        refuse_open_files(monkeypatch)
        simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
        simulation.observe(rg.TrajectoryWriter(path, force=True))
        with pytest.raises(OSError, match="nothing was written"):
            simulation.run(steps=1)
    assert path.read_bytes() == b"an earlier one"


def test_one_writer_at_a_time(tmp_path, system):
    path = tmp_path / "file"
    path.write_bytes(b"")
    with io.FileIO(path, "r+") as first:
        lock.lock(first, path)
        lock.lock(first, path)
        assert system.calls == 1  # Windows would refuse a second lock also to its owner
        with io.FileIO(path, "r+") as second, pytest.raises(TrajectoryError, match="another run is writing"):
            lock.lock(second, path)
        assert lock.is_locked(path)
    assert not lock.is_locked(path)


def test_one_worker_at_a_time(tmp_path, system):
    with alone.alone(tmp_path, wait=0.0) as first, alone.alone(tmp_path, wait=0.0) as second:
        assert first
        assert not second
    with alone.alone(tmp_path, wait=0.0) as again:
        assert again


def test_who_takes_the_file_while_it_is_renamed_keeps_it(tmp_path, monkeypatch, system):
    """Between closing and opening anybody may come."""
    path = tmp_path / "run.vtkhdf"
    file = atomic.AtomicFile(tmp_path / "part", writable=True, content=b"ours")
    refuse_open_files(monkeypatch)
    replace = os.replace

    def meanwhile(*paths):
        replace(*paths)
        monkeypatch.setattr(os, "replace", replace)
        (tmp_path / "theirs").write_bytes(b"theirs")
        replace(tmp_path / "theirs", path)

    monkeypatch.setattr(os, "replace", meanwhile)
    with pytest.raises(OSError, match="another run"):
        file.rename(path)
    assert path.read_bytes() == b"theirs"
