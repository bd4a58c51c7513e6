"""Wavefront OBJ: the surface of each grain as an object of its own, for Blender and other 3D programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.version import __version__
from .stl import only_solids
from .surfaces import placed_surfaces, shapes_of

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job


def write(job: Job) -> None:
    """A folder with a file for each frame, or the file of one frame; in m."""
    for frame in job.frames():
        only_solids(job, frame)
        save(frame, job.inside(f"grains-{frame.index:06d}.obj") if job.folder else job.main)


def save(frame: Frame, path: Path) -> None:
    """Object `grain-ID` of each grain, in the group of its shape."""
    names = ("sphere",) if frame.catalogue is None else frame.catalogue.names
    number, first = shapes_of(frame)[1], 1
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# rigidgrains {__version__}, t = {frame.time!r} s, m\n")
        for grains in placed_surfaces(frame):
            cells = np.asarray(grains.cells)
            for row, points in zip(grains.rows, grains.points):
                file.write(f"o grain-{frame.id[row]}\ng {'_'.join(names[number[row]].split())}\n")
                file.write("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in points.tolist()))
                file.write("".join(f"f {a} {b} {c}\n" for a, b, c in (cells + first).tolist()))
                first += len(points)
