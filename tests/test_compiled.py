"""Kernels that were compiled from older sources are forgotten, those of the present ones kept."""

import os

import pytest

from rigidgrains import compiled


@pytest.mark.parametrize("beside", [True, False])
def test_only_kernels_older_than_any_source_are_dropped(beside, tmp_path, monkeypatch):
    package, cache = tmp_path / "package", tmp_path / "cache"
    room = package / "room"
    folder = room / "__pycache__" if beside else cache / "room_0123"
    room.mkdir(parents=True)
    folder.mkdir(parents=True)
    monkeypatch.setattr(compiled, "_HERE", package)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    monkeypatch.setattr(compiled, "_user_cache", lambda: None)
    for path, time in [
        (package / "early.py", 100),
        (room / "late.py", 200),
        (folder / "stale.nbi", 150),
        (folder / "fresh.nbi", 250),
    ]:
        path.touch()
        os.utime(path, (time, time))
    compiled._forget_stale_kernels()
    assert sorted(path.name for path in folder.iterdir()) == ["fresh.nbi"]
