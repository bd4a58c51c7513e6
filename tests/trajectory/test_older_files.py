"""Files that earlier versions have made: they open with the numbers that are in them, pass checks and are resumed."""

from __future__ import annotations

import lzma
from pathlib import Path

import h5py
import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate
from rigidgrains.app.runner import resume_run

OLDER = sorted((Path(__file__).parent / "older").glob("*.vtkhdf.xz"))


@pytest.mark.parametrize("packed", OLDER, ids=[path.name.removesuffix(".vtkhdf.xz") for path in OLDER])
def test_a_file_of_an_earlier_version_is_read_and_resumed(packed, tmp_path):
    path = tmp_path / "run.vtkhdf"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    before = _stored(path)
    with rg.Trajectory(path) as run:
        assert f"-{run.version}.vtkhdf" in packed.name
        assert [round(frame.step) for frame in run] == [0, 10, 20, 30, 40]
        for frame, points in zip(run, before, strict=True):
            np.testing.assert_array_equal(frame.position, points)
            assert not certificate.check(frame).violated
    resume_run(path, steps=10, progress=False)
    with rg.Trajectory(path) as run:
        assert run[-1].step == 50
        assert not certificate.check(run[-1]).violated
    for points, again in zip(before, _stored(path)):
        np.testing.assert_array_equal(points, again)


def _stored(path: Path) -> list[np.ndarray]:
    """Positions frame by frame, as any reader of VTKHDF finds them."""
    with h5py.File(path) as file:
        first = file["VTKHDF/Steps/PointOffsets"][()]
        count = file["VTKHDF/NumberOfPoints"][()]
        points = file["VTKHDF/Points"][()]
    return [points[a : a + n] for a, n in zip(first, count)]


def test_there_is_a_file_of_the_first_version():
    assert {"disks-0.1.0.vtkhdf.xz", "shapes-0.1.0.vtkhdf.xz"} <= {path.name for path in OLDER}
