"""The checksum of a frame in its file: are the arrays those that were written?"""

from __future__ import annotations

from ..trajectory.checksums import FRAMES, of_frame
from ..trajectory.errors import reading
from ..trajectory.reader import Trajectory
from ..trajectory.series import Series
from .verdict import Check, counted


def check_sum(trajectory: Trajectory, index: int) -> Check:
    """The stored checksum against the arrays as they are read."""
    file = trajectory._file
    with reading(trajectory.path):
        clouds = {name: Series(file[name]).cloud(index) for name in ("VTKHDF", "contacts") if name in file}
        stored, found = int(file[FRAMES][index]), of_frame(file, clouds)
    told = f"stored {stored:08x}, the arrays of the frame give {found:08x}: they are not those that were written"
    return counted("checksum", [told] if found != stored else [])
