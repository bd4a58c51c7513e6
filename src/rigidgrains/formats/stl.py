"""STL, binary: the surfaces of all grains as triangles, for CAD programs, meshers and printers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.version import __version__
from .errors import FormatError
from .surfaces import placed_surfaces

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

HEADER = 80  # bytes
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def write(job: Job) -> None:
    """A folder with a file for each frame, or the file of one frame; in m, single precision."""
    for frame in job.frames():
        only_solids(job, frame)
        save(frame, job.inside(f"grains-{frame.index:06d}.stl") if job.folder else job.main)


def only_solids(job: Job, frame: Frame) -> None:
    """Refuse flat grains, which have no volume."""
    if frame.dimension == 2:
        raise FormatError(job.target, "flat grains have no solid surface; export 2D as vtu or gsd")


def save(frame: Frame, path: Path) -> None:
    """Triangles of all grains, grain after grain; each grain is closed."""
    count = 0
    with path.open("wb") as file:
        file.write(f"rigidgrains {__version__}, m".encode().ljust(HEADER) + bytes(4))
        for grains in placed_surfaces(frame):
            corners = grains.points[:, np.asarray(grains.cells)].reshape(-1, 3, 3)
            across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            rows = np.zeros(len(corners), TRIANGLE)
            rows["normal"] = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
            rows["corners"] = corners
            file.write(rows.tobytes())
            count += len(rows)
        file.seek(HEADER)
        file.write(np.uint32(count).astype("<u4").tobytes())
