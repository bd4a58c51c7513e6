"""Radical (Laguerre) Voronoi cells of disks and spheres, with walls and periodic cells; needs pyvoro2.

Planes through the points of equal tangent length separate neighbours, so that each cell holds its whole grain whatever
the sizes (Gellatly and Finney 1982). Walls cut by mirror images of the grains behind them: exactly at planes, at the
tangent plane of each grain in a drum. Across open sides cells end at the box of the grains.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.shapes import Cylinder, Plane
from .images import cell_of, home
from .region import enclosure
from .shown import Shown
from .state import Array, Frame, Index, Mask, double, grain_volume, of, some

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

FAR = 8.0  # mean radii: images and mirror images that are tried first
ROUNDS = 12
SHELLS = 3  # of images of a periodic cell, at most
SKIN = 1.5  # mean radii between the outermost point and the box of the library


@dataclass(frozen=True)
class VoronoiCells(Shown):
    """volume : (n,) m^3 (m^2 in 2D) of each cell; neighbours : (n,) number of grains whose cells it touches
    fraction : (n,) local packing fraction, volume of the grain over that of its cell
    open     : (n,) True where a cell ends at a side without wall, so that its volume is that of a box"""

    volume: Array
    neighbours: Index
    fraction: Array
    open: Mask


def voronoi(source: Frame | Simulation) -> VoronoiCells:
    """The radical Voronoi cell of each grain: its volume, neighbours and local packing fraction.

    Volumes add up to that of the periodic cell, or of the convex room between plane walls and the box of the grains.
    Plates, rods and funnels do not cut. Disks and spheres alone.
    """
    frame = of(source)
    if frame.catalogue is not None and not frame.catalogue.round[frame.shape].all():
        raise ValueError("radical Voronoi cells are those of disks and spheres; these grains have other shapes")
    room, far = _Room(some(frame)), FAR
    found = room.compute(far)
    for _ in range(ROUNDS):
        needed = room.reach(found)
        if needed <= far:
            break
        far = 1.01 * needed
        found = room.compute(far)
    fraction = grain_volume(frame) / found.volume
    return VoronoiCells(found.volume, found.neighbours, fraction, found.open)


@dataclass
class _Found:
    """corners : of each cell, in mean radii"""

    volume: Array
    neighbours: Index
    open: Mask
    corners: list[Array]


class _Room:
    """What bounds the cells, in mean radii: faces by points and normals that look inwards, drums, a periodic cell."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.d = frame, frame.dimension
        self.unit = float(double(frame.radius).mean())
        self.at, self.radius = home(frame) / self.unit, double(frame.radius) / self.unit
        self.cell = cell_of(frame)
        periodic = np.zeros(3, np.bool_) if self.cell is None else self.cell.periodic
        planes = [wall.shape for wall in frame.walls if isinstance(wall.shape, Plane)]
        self.drums = [wall.shape for wall in frame.walls if isinstance(wall.shape, Cylinder) and wall.shape.inside]
        points, normals = [plane.point for plane in planes], [plane.normal for plane in planes]
        box, closed = enclosure(frame), len(planes)
        corners = ((1.0, double(box.lower)), (-1.0, double(box.upper)))
        bounded = periodic[: self.d].copy()
        for drum in self.drums:  # across its axis the drum is the boundary
            bounded |= np.abs(drum.axis[: self.d]) < 1.0 - 1e-9
        for axis in np.flatnonzero(~bounded):
            for sign, corner in corners:
                normal, point = np.zeros(3), np.zeros(3)
                normal[axis], point[axis] = sign, float(corner[axis])
                walled = any(
                    plane.normal @ normal > 1.0 - 1e-9 and abs((plane.point - point) @ normal) < 1e-9 * self.unit
                    for plane in planes
                )
                if not walled:
                    points.append(point)
                    normals.append(normal)
        self.point = np.array(points).reshape(-1, 3) / self.unit
        self.normal = np.array(normals).reshape(-1, 3)
        self.closed = closed  # faces up to here are walls

    def compute(self, far: float) -> _Found:
        """Cells with images within `far` mean radii."""
        n = len(self.at)
        at, owner = self.at, np.arange(n)
        if self.cell is not None:
            at, owner = self._images(far)
        points, radii, faces = [at], [self.radius[owner]], [np.full(len(at), -1)]
        for face, (point, normal) in enumerate(zip(self.point, self.normal)):
            height = (at - point) @ normal
            near = np.abs(height) < far
            points.append(at[near] - 2.0 * height[near, None] * normal)
            radii.append(self.radius[owner[near]])
            faces.append(np.full(int(near.sum()), face))
        for drum in self.drums:
            gap, normal = drum.gaps(np.arange(len(at), dtype=np.int32), at * self.unit, self.radius[owner] * self.unit)
            away = gap / self.unit + self.radius[owner]
            near = (away > 0.0) & (away < far)
            points.append(at[near] + 2.0 * away[near, None] * normal[near])
            radii.append(self.radius[owner[near]])
            faces.append(np.full(int(near.sum()), 0 if self.closed else -2))
        return self._read(np.concatenate(points), np.concatenate(radii), np.concatenate(faces), n, len(at))

    def _images(self, far: float) -> tuple[Array, Index]:
        """Grains, then their images within `far` of the box that stands for the cell."""
        assert self.cell is not None
        cell, d = self.cell, self.d
        most = [SHELLS if has else 0 for has in cell.periodic]
        steps = np.array([way for way in product(*(range(-m, m + 1) for m in most)) if any(way)])
        low = cell.origin / self.unit - far
        high = (cell.origin + np.diag(cell.vectors)) / self.unit + far
        points, owners = [self.at], [np.arange(len(self.at))]
        flat = np.flatnonzero(cell.periodic[:d])
        for shift in steps @ cell.vectors / self.unit:
            there = self.at + shift
            some = ((there >= low) & (there <= high))[:, flat].all(axis=1)
            points.append(there[some])
            owners.append(np.flatnonzero(some))
        return np.concatenate(points), np.concatenate(owners)

    def _read(self, points: Array, radii: Array, faces: Index, n: int, own: int) -> _Found:
        """What the library says of the first n cells; points up to `own` are grains and their images."""
        lower, upper = points.min(axis=0) - SKIN, points.max(axis=0) + SKIN
        cells = _cells(points[:, : self.d], radii, list(zip(lower[: self.d], upper[: self.d])), n)
        volume, neighbours = np.full(n, np.nan), np.zeros(n, np.int64)
        open_, corners = np.zeros(n, np.bool_), [np.zeros((0, self.d))] * n
        open_faces = np.append(faces >= self.closed, False)
        for cell in cells:
            i = int(cell["id"])
            if i >= n:
                continue
            sides = cell["faces" if self.d == 3 else "edges"]
            met = np.array([side["adjacent_cell"] for side in sides], np.int64)
            volume[i] = cell["volume" if self.d == 3 else "area"] * self.unit**self.d
            neighbours[i] = int(((met >= 0) & (met < own)).sum())
            open_[i] = open_faces[np.maximum(met, -1)].any() if len(met) else False
            corners[i] = np.asarray(cell["vertices"])
        return _Found(volume, neighbours, open_, corners)

    def reach(self, found: _Found) -> float:
        """Mean radii, within which all points must be there that could cut a corner off some cell.

        A point p_j cuts the corner x of the cell of p_i if |x - p_j|^2 - r_j^2 < |x - p_i|^2 - r_i^2.
        """
        most, top = 0.0, float(self.radius.max()) ** 2
        for at, radius, corners in zip(self.at, self.radius, found.corners):
            if len(corners):
                far = float(((corners - at[: self.d]) ** 2).sum(axis=1).max())
                most = max(most, far**0.5 + max(far + top - radius**2, 0.0) ** 0.5)
        return most


def _cells(points: Array, radii: Array, box: list[Any], n: int) -> Any:
    """Cells of the library, as dictionaries; some points may have none."""
    try:
        import pyvoro2
        import pyvoro2.planar
    except ImportError:
        raise ImportError("Voronoi cells need pyvoro2; pip install 'rigidgrains[voronoi]'") from None
    weights = radii**2
    if points.shape[1] == 3:
        return pyvoro2.compute(
            points, domain=pyvoro2.Box(box), mode="power", weights=weights, return_adjacency=False, output="cells"
        )
    return pyvoro2.planar.compute(
        points, domain=pyvoro2.planar.Box(box), mode="power", weights=weights, return_adjacency=False, output="cells"
    )
