"""Shapes as a file tells them: are cores convex, and are volume, centre and moments of inertia those of the parts?

Sharp parts are cut into simplices, exactly. Rounded ones are replaced by the hull of balls of many points, clumps by
points spread evenly over their box: what is found for them is known to a per cent, which is what can be asserted.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from ..shapes.core import Part, Shape
from .state import State
from .verdict import Check, worst_of

Array = NDArray[np.float64]

FLAT = 1e-8  # of the size: vertices beyond a face by less lie in it
ROUND = {2: 1000, 3: 800}  # points on a ball
POINTS = 15  # 2 to this power points over a clump
UNIT = {2: np.pi, 3: 4.0 / 3.0 * np.pi}  # volume of the round grain of radius 1
KNOWN = {2: 1e-4, 3: 0.02}  # of the moments, that polygons for arcs and balls may miss
SPREAD = 0.01  # and points for clumps


def check(state: State) -> Check:
    """Convex cores; unit volume, centre at the origin, principal axes, moments of inertia."""
    grains = state.shapes
    assert grains is not None
    names, shapes = grains.catalogue.names, grains.catalogue.shapes
    miss, told = [], []
    for name, shape in zip(names, shapes):
        off, what = _miss(_Key(shape))
        miss.append(off)
        told.append(f"shape '{name}': {what}")
    return worst_of("shapes", np.array(miss), 1.0, "what is known of them", told.__getitem__)


class _Key:
    """A shape by its numbers: the frames of a file have a catalogue each."""

    def __init__(self, shape: Shape) -> None:
        numbers = [np.append(part.vertices.ravel(), part.rounding) for part in shape.parts]
        numbers += [np.append(part.normals.ravel(), [v for loop in part.faces for v in loop]) for part in shape.parts]
        self.shape, self.bytes = shape, b"".join(a.tobytes() for a in [*numbers, shape.inertia, np.array(shape.volume)])

    def __hash__(self) -> int:
        return hash(self.bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.bytes == self.bytes


@lru_cache(maxsize=256)
def _miss(key: _Key) -> tuple[float, str]:
    """The largest error over what is known, and which it is."""
    shape = key.shape
    d = shape.dimension
    size = max(float(np.linalg.norm(part.vertices, axis=1).max()) + part.rounding for part in shape.parts)
    found = {"a core that is not convex": max(_bulge(part) for part in shape.parts) / (FLAT * size)}
    rounded = max(part.rounding for part in shape.parts) / size
    known = 1e-9 + (KNOWN[d] * rounded if len(shape.parts) == 1 else SPREAD)
    options = [_moments(_points(shape.parts[0], d), d)] if len(shape.parts) == 1 else _of_clump(shape)
    errors: list[dict[str, float]] = []
    for volume, first, second in options:
        centre = first / volume
        inertia = np.trace(second) * np.eye(3) - second
        asked = np.diag(shape.inertia) * volume / shape.volume
        if d == 2:
            inertia, asked = inertia[2:, 2:], asked[2:, 2:]
        errors.append(
            {
                "its volume": abs(volume - UNIT[d]) / UNIT[d] / known,
                "its centre of mass": float(np.linalg.norm(centre)) / size / known,
                "its moments of inertia": float(np.abs(inertia - asked).max() / np.abs(asked).max()) / known,
            }
        )
    best: dict[str, float] = min(errors, key=_largest)
    found |= best
    worst = max(found, key=lambda name: found[name])
    return float(found[worst]), worst


def _bulge(part: Part) -> float:
    """m, how far a vertex is beyond a face, or a vertex of a face off its plane."""
    far = 0.0
    for loop, normal in zip(part.faces, part.normals):
        height = (part.vertices - part.vertices[loop[0]]) @ normal
        far = max(far, float(height.max()), float(np.abs(height[list(loop)]).max()), abs(float(normal @ normal) - 1.0))
    return far


def _points(part: Part, dimension: int) -> Array:
    """(k, d) m, whose hull is the part: its vertices, each with a ball of points around it."""
    core = part.vertices[:, :dimension]
    if part.rounding == 0.0:
        return core
    count = ROUND[dimension]
    turn = np.arange(count) + 0.5
    if dimension == 2:
        angle = 2.0 * np.pi * turn / count
        ball = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:  # along a spiral
        z, angle = 1.0 - 2.0 * turn / count, np.pi * (1.0 + 5.0**0.5) * turn
        rho = np.sqrt(1.0 - z * z)
        ball = np.stack([rho * np.cos(angle), rho * np.sin(angle), z], axis=1)
    return np.asarray((core[:, None] + part.rounding * ball).reshape(-1, dimension))


def _moments(points: Array, dimension: int) -> tuple[float, Array, Array]:
    """Integrals of 1, x and x x^T over the hull of points, by simplices from its middle."""
    hull = ConvexHull(points)
    middle = points[hull.vertices].mean(axis=0)
    corners = points[hull.simplices] - middle
    content = np.abs(np.linalg.det(corners)) / (2.0 if dimension == 2 else 6.0)
    k, total = dimension + 1, corners.sum(axis=1)
    volume, first = float(content.sum()), (content[:, None] * total).sum(axis=0) / k
    outer = np.einsum("sva,svb->sab", corners, corners) + total[:, :, None] * total[:, None, :]
    second = (content[:, None, None] * outer).sum(axis=0) / (k * (k + 1))
    mixed = np.outer(first, middle)
    second = second + mixed + mixed.T + volume * np.outer(middle, middle)
    first = first + volume * middle
    whole, tensor = np.zeros(3), np.zeros((3, 3))
    whole[:dimension], tensor[:dimension, :dimension] = first, second
    return volume, whole, tensor


def _of_clump(shape: Shape) -> list[tuple[float, Array, Array]]:
    """The same of several parts, space that they have in common counted once, and as often as there are parts."""
    from scipy.stats import qmc  # half a second to load, for shapes of several parts alone

    d = shape.dimension
    low = np.min([(part.vertices - part.rounding).min(axis=0) for part in shape.parts], axis=0)[:d]
    high = np.max([(part.vertices + part.rounding).max(axis=0) for part in shape.parts], axis=0)[:d]
    points = qmc.scale(qmc.Sobol(d, scramble=False).random_base2(POINTS), low, high)
    inside = np.stack([_inside(part, points, d) for part in shape.parts])
    each = float(np.prod(high - low)) / len(points)
    at = np.zeros((len(points), 3))
    at[:, :d] = points
    found = []
    for weight in (inside.any(axis=0).astype(float), inside.sum(axis=0).astype(float)):
        found.append((each * float(weight.sum()), each * weight @ at, each * (at * weight[:, None]).T @ at))
    return found


def _inside(part: Part, points: Array, dimension: int) -> NDArray[np.bool_]:
    """(k,) whether points lie in a part."""
    if len(part.vertices) == 1:
        away = points - part.vertices[0, :dimension]
        return np.asarray((away**2).sum(axis=1) <= part.rounding**2)
    equations = ConvexHull(_points(part, dimension)).equations
    within = np.ones(len(points), np.bool_)
    for rows in np.array_split(equations, max(1, len(equations) // 64)):
        within &= (points @ rows[:, :-1].T + rows[:, -1] <= 0.0).all(axis=1)
    return within


def _largest(errors: dict[str, float]) -> float:
    return max(errors.values())
