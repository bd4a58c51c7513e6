"""The checksum of a frame in its file: are the arrays those that were written?"""

from __future__ import annotations

from ..trajectory.reader import Trajectory
from ..trajectory.series import Series
from ..trajectory.writer import checksum
from .verdict import Check, counted


def check_sum(trajectory: Trajectory, index: int) -> Check:
    """The stored checksum against the arrays as they are read."""
    file = trajectory._file
    clouds = {name: Series(file[name]).cloud(index) for name in ("VTKHDF", "contacts") if name in file}
    stored, found = int(file["frames/checksum"][index]), checksum(clouds)
    told = f"stored {stored:08x}, the arrays of the frame give {found:08x}: they are not those that were written"
    return counted("checksum", [told] if found != stored else [])
