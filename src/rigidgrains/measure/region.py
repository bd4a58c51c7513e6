"""Where grains are measured: a box parallel to the axes, or the hull that walls and a periodic cell make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from ..model.cell import Cell
from ..model.shapes import Cylinder, Plane, Plate
from ..model.walls import Wall
from .cut_shapes import extents
from .images import bounds, cell_of
from .state import Array, Frame, double, of, some

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

PARALLEL = 1e-9  # sine of the angle below which two directions are parallel


@dataclass(frozen=True)
class Box:
    """A box parallel to the axes: its lowest and highest corner (m), as many numbers as there are dimensions."""

    lower: Sequence[float] | Array
    upper: Sequence[float] | Array

    def __post_init__(self) -> None:
        try:
            low, high = double(self.lower), double(self.upper)
        except (TypeError, ValueError):
            low = high = np.zeros(0)
        if low.ndim != 1 or low.shape != high.shape or low.size not in (2, 3):
            raise ValueError(f"a box has two corners of 2 or 3 numbers each, not {self.lower} and {self.upper}")
        if not np.all(low < high):
            raise ValueError(
                f"lower = {low.tolist()} must lie below upper = {high.tolist()} along each axis; swap them"
            )

    @classmethod
    def of(cls, given: Any) -> Box:
        """A box, or one of its two corners."""
        if isinstance(given, Box):
            return given
        try:
            lower, upper = given
        except (TypeError, ValueError):
            raise ValueError(f"{given!r} is no box; give Box(lower, upper), or its two corners") from None
        return cls(lower, upper)

    @property
    def size(self) -> Array:
        """(d,) m"""
        return double(self.upper) - double(self.lower)

    @property
    def volume(self) -> float:
        """m^3; m^2 in 2D"""
        return float(np.prod(self.size))

    def corners(self, dimension: int) -> tuple[Array, Array]:
        """Both corners with three components; in 2D there is no bound along z."""
        if len(self.lower) != dimension:
            raise ValueError(f"a box with corners of {len(self.lower)} numbers cannot cut {dimension}D grains")
        low, high = np.full(3, -math.inf), np.full(3, math.inf)
        low[:dimension], high[:dimension] = self.lower, self.upper
        return low, high

    def part(self, axis: int, low: float, high: float) -> Box:
        """The same box with other bounds along one axis."""
        lower, upper = double(self.lower).copy(), double(self.upper).copy()
        lower[axis], upper[axis] = low, high
        return Box(lower, upper)


def enclosure(source: Frame | Simulation) -> Box:
    """The smallest box with the grains in it, moved out to plane walls that stand square to an axis.

    An open side is closed by the outermost grain. Along periodic directions it is the box that stands for the cell:
    from its origin, with the diagonal of its vectors as edges.
    """
    frame = some(of(source))
    d = frame.dimension
    position, radius = double(frame.position), double(frame.radius)[:, None]
    below, above = (-radius, radius) if frame.catalogue is None else extents(frame)
    lower, upper = (position + below).min(axis=0)[:d], (position + above).max(axis=0)[:d]
    walls: list[dict[int, float]] = [{}, {}]
    for plane in _planes(frame.walls):
        axis = int(np.argmax(np.abs(plane.normal)))
        if abs(plane.normal[axis]) < 1.0 - PARALLEL:
            continue
        at, below = float(plane.point[axis]), plane.normal[axis] > 0.0
        known = walls[0 if below else 1]
        known[axis] = max(known.get(axis, at), at) if below else min(known.get(axis, at), at)
    for corner, known in zip((lower, upper), walls):
        for axis, at in known.items():
            corner[axis] = at
    low, high = bounds(frame)
    return Box(np.where(np.isfinite(low[:d]), low[:d], lower), np.where(np.isfinite(high[:d]), high[:d], upper))


def hull_volume(source: Frame | Simulation) -> float:
    """Volume (m^3; m^2 in 2D) within the walls: convex between planes, or in a drum, with planes across its axis in 3D.

    A periodic cell ends at its faces; one with images in all directions has the volume of its vectors. Plates are thin
    and take nothing away. ValueError if a side is left open, or if a rod stands inside.
    """
    frame = of(source)
    cell = cell_of(frame)
    if cell is not None and cell.periodic[: frame.dimension].all():
        return cell.volume
    planes = _planes(frame.walls) + _faces(cell)
    tubes = [wall.shape for wall in frame.walls if isinstance(wall.shape, Cylinder)]
    known = all(isinstance(wall.shape, (Plane, Plate, Cylinder)) for wall in frame.walls)
    solid = any(not tube.inside for tube in tubes)
    if not known or solid or len(tubes) > 1 or (tubes and frame.dimension == 2 and planes):
        raise ValueError(f"the volume among walls {_names(frame)} has no simple formula; give volume or box")
    if not tubes:
        return _between(frame, planes)
    (tube,) = tubes
    if frame.dimension == 2:
        return math.pi * float(tube.radius) ** 2
    if not all(np.linalg.norm(np.cross(plane.normal, tube.axis)) < PARALLEL for plane in planes):
        raise ValueError(f"planes among walls {_names(frame)} cut the tube at a slant; give volume or box")
    low = [float(plane.point @ tube.axis) for plane in planes if plane.normal @ tube.axis > 0.0]
    high = [float(plane.point @ tube.axis) for plane in planes if plane.normal @ tube.axis < 0.0]
    if not low or not high:
        raise _open(frame)
    return math.pi * float(tube.radius) ** 2 * (min(high) - max(low))


def _between(frame: Frame, planes: list[Plane]) -> float:
    """Volume of the intersection of half-spaces; the middle of the grains lies within."""
    d = frame.dimension
    if len(planes) <= d:
        raise _open(frame)
    middle = _middle(some(frame))
    scale = float(np.ptp(double(frame.position), axis=0).max() + double(frame.radius).max())
    normal = np.array([plane.normal[:d] for plane in planes])
    away = np.array([plane.point[:d] for plane in planes]) - middle
    # -n (x - p) <= 0, in units of the extent of the grains
    half = np.column_stack([-normal, np.einsum("ij,ij->i", normal, away) / scale])
    if not np.all(half[:, -1] < 0.0):
        raise ValueError(f"the middle of the grains lies outside of walls {_names(frame)}; give volume or box")
    # bounded if and only if the dual points n/b surround the origin
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            corners = HalfspaceIntersection(half, np.zeros(d))
        bounded = bool(np.all(corners.dual_equations[:, -1] < -1e-12))
    except QhullError:
        bounded = False
    if not bounded:
        raise _open(frame)
    return float(ConvexHull(corners.intersections).volume) * scale**d


def _planes(walls: list[Wall]) -> list[Plane]:
    return [wall.shape for wall in walls if isinstance(wall.shape, Plane)]


def _faces(cell: Cell | None) -> list[Plane]:
    """Planes that look inwards from both ends of each periodic direction."""
    if cell is None:
        return []
    square = np.linalg.inv(cell.vectors).T
    faces = []
    for axis in np.flatnonzero(cell.periodic):
        normal = square[axis] / np.linalg.norm(square[axis])
        faces += [Plane(cell.origin, normal), Plane(cell.origin + cell.vectors[axis], -normal)]
    return faces


def _middle(frame: Frame) -> Array:
    """(d,) m, of the grains; along periodic directions that of the cell."""
    at, cell = double(frame.position), cell_of(frame)
    if cell is None:
        return np.asarray(at[:, : frame.dimension].mean(axis=0))
    share = np.where(cell.periodic, 0.5, cell.fractions(at).mean(axis=0))
    return np.asarray((cell.origin + share @ cell.vectors)[: frame.dimension])


def _names(frame: Frame) -> str:
    return ", ".join(repr(wall.name) for wall in frame.walls) or "(none)"


def _open(frame: Frame) -> ValueError:
    return ValueError(
        f"walls {_names(frame)} leave a side open, so there is no volume within; "
        "give one, or a box such as measure.enclosure(state)"
    )
