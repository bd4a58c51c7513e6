"""The part of grains of any shape inside a box parallel to the axes.

A grain that is whole inside or outside counts with its volume or not at all, exactly. One that is cut: a convex sharp
part exactly, as the hull of its vertices inside and of where its edges cross the faces of the box. Roundings are balls
of many points there, and what is found is scaled to the volume of the grain, so that slabs add up to it: in 2D to 1e-5
of the grain, in 3D to 1e-3. Clumps are points spread evenly over them, to 1e-3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..shapes.build import UNIT
from ..shapes.core import Part, Shape
from .state import Array, Frame, Index, double, grain_volume
from .turning import axes

BALL = {2: 720, 3: 162}  # points on a rounded vertex
SPREAD = 12  # 2 to this power points over the box of a clump


def extents(frame: Frame) -> tuple[Array, Array]:
    """(n, 3) and (n, 3) m, how far each grain reaches below and above its centre along the axes."""
    assert frame.catalogue is not None
    assert frame.shape is not None
    turned, scale = axes(frame), double(frame.radius)
    low, high = np.full((len(frame), 3), np.inf), np.full((len(frame), 3), -np.inf)
    for s, shape in enumerate(frame.catalogue.shapes):
        some = np.flatnonzero(frame.shape == s)
        for part in shape.parts:
            at = part.vertices @ np.swapaxes(turned[some], 1, 2)
            low[some] = np.minimum(low[some], at.min(axis=1) - part.rounding)
            high[some] = np.maximum(high[some], at.max(axis=1) + part.rounding)
    return scale[:, None] * low, scale[:, None] * high


def shapes_in_box(frame: Frame, owner: Index, position: Array, lower: Array, upper: Array) -> Array:
    """(m,) m^3 (m^2 in 2D), of grains `owner` (m,), or images of them, with their centres at positions (m, 3) m."""
    assert frame.catalogue is not None
    assert frame.shape is not None
    d, whole, turned = frame.dimension, grain_volume(frame)[owner], axes(frame)
    below, above = extents(frame)
    low, high = (position + below[owner])[:, :d], (position + above[owner])[:, :d]
    inside = ((low >= lower[:d]) & (high <= upper[:d])).all(axis=1)
    outside = ((high <= lower[:d]) | (low >= upper[:d])).any(axis=1)
    out = np.where(inside, whole, 0.0)
    for k in np.flatnonzero(~inside & ~outside):
        i, r = owner[k], float(frame.radius[owner[k]])
        shape = frame.catalogue.shapes[frame.shape[i]]
        bounds = (lower - position[k])[:d] / r, (upper - position[k])[:d] / r
        out[k] = whole[k] * _share(shape, turned[i][:d, :d], *bounds)
    return out


def _share(shape: Shape, turned: Array, low: Array, high: Array) -> float:
    """Of a shape at the origin, turned like this, that lies between two corners (d,)."""
    d = shape.dimension
    if len(shape.parts) > 1:
        points = _even_points(shape) @ turned.T
        return float(((points >= low) & (points <= high)).all(axis=1).mean())
    points, volume = _outline(shape)
    corners = points @ turned.T
    for axis in range(d):
        for sign, bound in ((1.0, high[axis]), (-1.0, -low[axis])):
            height = bound - sign * corners[:, axis]
            if (height >= 0.0).all():
                continue
            corners = _cut(corners, height)
            if len(corners) <= d:
                return 0.0
    return _volume(corners) / volume


def _cut(points: Array, height: Array) -> Array:
    """Corners of a convex body where it is above a plane; height : (k,) of its corners (k, d) above it."""
    try:
        hull = ConvexHull(points)
    except QhullError:  # flat: nothing is left
        return points[:0]
    d = points.shape[1]
    ends = [hull.simplices[:, [a, b]] for a in range(d) for b in range(a + 1, d)]
    v, w = np.unique(np.sort(np.concatenate(ends), axis=1), axis=0).T
    cross = height[v] * height[w] < 0.0
    v, w = v[cross], w[cross]
    share = (height[v] / (height[v] - height[w]))[:, None]
    kept = hull.vertices[height[hull.vertices] >= 0.0]
    return np.concatenate([points[kept], points[v] + share * (points[w] - points[v])])


def _volume(points: Array) -> float:
    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0


@lru_cache(maxsize=256)
def _outline(shape: Shape) -> tuple[Array, float]:
    """(k, d) corners of a convex shape, its rounding in many, and the volume of their hull."""
    d = shape.dimension
    (part,) = shape.parts
    points = part.vertices[:, :d]
    if part.rounding > 0.0:
        points = (points[:, None] + part.rounding * _ball(d)).reshape(-1, d)
    hull = ConvexHull(points)
    return points[hull.vertices], float(hull.volume)


@lru_cache(maxsize=2)
def _ball(dimension: int) -> Array:
    """(k, d) corners of a polygon or polyhedron with the volume of the unit circle or ball."""
    turn = np.arange(BALL[dimension]) + 0.5
    if dimension == 2:
        angle = 2.0 * np.pi * turn / len(turn)
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        z, angle = 1.0 - 2.0 * turn / len(turn), np.pi * (1.0 + 5.0**0.5) * turn  # along a spiral
        rho = np.sqrt(1.0 - z * z)
        points = np.stack([rho * np.cos(angle), rho * np.sin(angle), z], axis=1)
    return np.asarray(points * (UNIT[dimension] / ConvexHull(points).volume) ** (1.0 / dimension))


@lru_cache(maxsize=256)
def _even_points(shape: Shape) -> Array:
    """(k, d) points spread evenly over a shape of several parts."""
    from scipy.stats import qmc  # half a second to load, for shapes of several parts alone

    d = shape.dimension
    low = np.min([part.vertices.min(axis=0) - part.rounding for part in shape.parts], axis=0)[:d]
    high = np.max([part.vertices.max(axis=0) + part.rounding for part in shape.parts], axis=0)[:d]
    points = qmc.scale(qmc.Sobol(d, scramble=False).random_base2(SPREAD), low, high)
    return np.asarray(points[np.any([_within(part, points, d) for part in shape.parts], axis=0)])


def _within(part: Part, points: Array, dimension: int) -> Array:
    """(k,) True for points in a part."""
    away = points[:, None] - part.vertices[:, :dimension]
    near = ((away * away).sum(axis=2) <= part.rounding**2).any(axis=1)
    if len(part.vertices) == 1:
        return np.asarray(near)
    corners = part.vertices[:, :dimension]
    if part.rounding > 0.0:
        corners = (corners[:, None] + part.rounding * _ball(dimension)).reshape(-1, dimension)
    planes = ConvexHull(corners).equations
    return np.asarray((points @ planes[:, :-1].T + planes[:, -1] <= 0.0).all(axis=1) | near)
