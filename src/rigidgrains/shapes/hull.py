"""Convex cores from points: polygons in 2D, hulls with whole faces in 3D; what is degenerate is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .core import FLAT, SOLID, Array, Edge, Loop, Part

THIN = 1e-9  # thinner than this share of the extent is degenerate
COPLANAR = 1e-9  # corners this share of the extent off a plane lie in it; files in single precision need more


def make_part(points: object, *, dimension: int, rounding: float = 0.0, coplanar: float = COPLANAR) -> Part:
    """The part with the given vertices: one is a point, two a segment, more a polygon or the hull of a solid.

    points   : (k, 2) or (k, 3) m; in 2D counterclockwise
    rounding : m
    coplanar : share of the extent within which corners count as in one plane
    """
    vertices = as_points(points, dimension)
    check_rounding(rounding)
    apart = 1.0 if len(vertices) == 1 else _extent(vertices)
    if not apart > 0.0:
        raise ValueError(f"all {len(vertices)} vertices are {vertices[0].tolist()}; give each point once")
    if len(vertices) <= 2:
        if rounding == 0.0:
            name = "a point" if len(vertices) == 1 else "a segment"
            raise ValueError(f"{name} with rounding 0 has no volume; give a rounding above 0, or more vertices")
        return _thin_part(vertices, rounding, dimension)
    if dimension == FLAT:
        return _polygon(vertices, rounding)
    if len(vertices) == 3:
        raise ValueError("3 vertices make no solid; give 1 (sphere), 2 (capsule), or 4 and more that are not coplanar")
    return _hull(vertices, rounding, coplanar)


def as_points(points: object, dimension: int) -> Array:
    """Vertices (k, 3) from numbers a user gave, z = 0 in 2D."""
    try:
        given = np.array(points, float)
    except (TypeError, ValueError):
        raise ValueError(f"vertices = {points!r} are no points; give rows of {dimension} numbers") from None
    if given.ndim != 2 or given.shape[0] == 0 or given.shape[1] not in {dimension, SOLID}:
        raise ValueError(f"vertices have shape {given.shape}; give one row of {dimension} numbers for each vertex")
    if not np.isfinite(given).all():
        bad = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
        raise ValueError(f"vertex {bad} is {given[bad].tolist()}; give finite numbers")
    if dimension == FLAT and given.shape[1] == SOLID and given[:, 2].any():
        raise ValueError("a vertex of a 2D shape has z other than 0; leave z out")
    vertices = np.zeros((len(given), 3))
    vertices[:, : given.shape[1]] = given
    return vertices


def check_rounding(rounding: float) -> None:
    if not 0.0 <= rounding < math.inf:
        raise ValueError(f"rounding = {rounding} is no radius; give 0 (sharp) or a positive length")


def outward(vertices: Array, loop: Loop) -> Array:
    """Unit normal of a loop: of a side in 2D, in 3D the mean over the polygon (Newell)."""
    if len(loop) == 2:
        along = vertices[loop[1]] - vertices[loop[0]]
        normal = np.array([along[1], -along[0], 0.0])
    else:
        corner = vertices[list(loop)] - vertices[loop[0]]
        normal = np.cross(corner, np.roll(corner, -1, axis=0)).sum(axis=0)
    return np.asarray(normal / np.linalg.norm(normal))


def _extent(vertices: Array) -> float:
    return float(np.ptp(vertices, axis=0).max())


def _thin_part(vertices: Array, rounding: float, dimension: int) -> Part:
    """A point or a segment; in 2D a segment has two sides, in 3D one edge."""
    faces: tuple[Loop, ...] = ((0, 1), (1, 0)) if len(vertices) == 2 and dimension == FLAT else ()
    edges: tuple[Edge, ...] = ((0, 1, -1, -1),) if len(vertices) == 2 and dimension == SOLID else ()
    return Part(vertices, float(rounding), faces, _normals(vertices, faces), edges)


def _normals(vertices: Array, faces: Sequence[Loop]) -> Array:
    return np.array([outward(vertices, loop) for loop in faces]).reshape(-1, 3)


def _polygon(vertices: Array, rounding: float) -> Part:
    """A convex polygon, counterclockwise; corners of no angle are left out."""
    extent = _extent(vertices)
    vertices = vertices[_lengths(vertices) > THIN * extent]
    sides = np.roll(vertices, -1, axis=0) - vertices
    turn = _turns(np.roll(sides, 1, axis=0), sides)
    area = 0.5 * float(_cross(vertices - vertices[0], np.roll(vertices, -1, axis=0) - vertices[0]).sum())
    if len(vertices) < 3 or (abs(area) <= THIN * extent**2 and np.abs(np.sin(turn)).max() <= THIN):
        raise ValueError(f"the {len(vertices)} vertices of a polygon lie on one line; give three that do not, or two")
    rounds = float(turn.sum()) / (2.0 * math.pi)
    if round(rounds) == -1 and (turn < THIN).all():
        raise ValueError("the vertices of a polygon run clockwise; give them in the opposite order")
    if (turn < -THIN).any() or round(rounds) != 1:
        crossing = crossing_sides(vertices)
        if crossing is not None:
            raise ValueError(f"sides {crossing[0]} and {crossing[1]} of a polygon cross; order the vertices around it")
        bad = int(np.argmin(turn * np.sign(rounds)))
        raise ValueError(
            f"the polygon is not convex at vertex {bad}, {vertices[bad, :2].tolist()}; split it into convex `parts`"
        )
    vertices = np.ascontiguousarray(vertices[turn > THIN])
    faces = tuple((k, (k + 1) % len(vertices)) for k in range(len(vertices)))
    return Part(vertices, float(rounding), faces, _normals(vertices, faces), ())


def crossing_sides(vertices: Array) -> tuple[int, int] | None:
    """The first two sides of a closed line in the plane that cross, or none."""
    count = len(vertices)
    ends = np.roll(vertices, -1, axis=0)
    for i in range(count):
        for j in range(i + 2, count - (i == 0)):
            along, other = ends[i] - vertices[i], ends[j] - vertices[j]
            apart_i = _cross(along, vertices[j] - vertices[i]) * _cross(along, ends[j] - vertices[i])
            apart_j = _cross(other, vertices[i] - vertices[j]) * _cross(other, ends[i] - vertices[j])
            if apart_i <= 0.0 and apart_j <= 0.0:
                return i, j
    return None


def _lengths(vertices: Array) -> Array:
    return np.linalg.norm(np.roll(vertices, -1, axis=0) - vertices, axis=1)


def _cross(a: Array, b: Array) -> Array:
    """The z component of a x b."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _turns(before: Array, after: Array) -> Array:
    """Angles from one side to the next, between -pi and pi."""
    return np.arctan2(_cross(before, after), (before * after).sum(axis=1))


def _hull(points: Array, rounding: float, coplanar: float) -> Part:
    """The convex hull with whole faces: triangles in one plane are merged, corners of no angle left out."""
    from scipy.spatial import ConvexHull, QhullError

    extent = _extent(points)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if spread[2] <= THIN * spread[0]:
        what = "on one line" if spread[1] <= THIN * spread[0] else "in one plane"
        raise ValueError(f"the {len(points)} vertices of a solid lie {what}; give four that do not")
    try:
        hull = ConvexHull(points)
    except QhullError:
        raise ValueError(
            f"no hull of the {len(points)} vertices was found: nearly flat; give points farther apart"
        ) from None
    triangles = _orient(hull.simplices, hull.equations[:, :3], points)
    loops = None
    for tolerance in (coplanar, 0.0):  # where merging leaves no closed surface, triangles stay as they are
        loops = _merge(points, triangles, hull.neighbors, tolerance * extent)
        if loops is not None:
            break
    assert loops is not None
    kept = sorted({v for loop in loops for v in loop})
    number = {v: k for k, v in enumerate(kept)}
    vertices = np.ascontiguousarray(points[kept])
    faces = tuple(sorted(_from_lowest(tuple(number[v] for v in loop)) for loop in loops))
    return Part(vertices, float(rounding), faces, _normals(vertices, faces), _edges(faces))


def _orient(triangles: np.ndarray, normals: Array, points: Array) -> np.ndarray:
    """Triangles counterclockwise seen from outside."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inside_out = (np.cross(b - a, c - a) * normals).sum(axis=1) < 0.0
    return np.where(inside_out[:, None], triangles[:, ::-1], triangles)


def _merge(points: Array, triangles: np.ndarray, neighbours: np.ndarray, near: float) -> list[Loop] | None:
    """Loops of the faces made of adjacent triangles within `near` (m) of one plane; None where they do not close."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    size = np.linalg.norm(across, axis=1)
    face = np.full(len(triangles), -1)
    groups: list[list[int]] = []
    for seed in np.argsort(-size, kind="stable"):  # large triangles know their plane best
        if face[seed] >= 0:
            continue
        normal, group, waiting = across[seed] / max(size[seed], 1e-300), [], [int(seed)]
        face[seed] = len(groups)
        while waiting:
            t = waiting.pop()
            group.append(t)
            for other in neighbours[t]:
                off = np.abs((points[triangles[other]] - points[triangles[seed, 0]]) @ normal).max()
                if face[other] < 0 and off <= near and across[other] @ normal >= 0.0:
                    face[other] = len(groups)
                    waiting.append(int(other))
        groups.append(group)
    rings = [_boundary(triangles[group]) for group in groups]
    if any(ring is None for ring in rings):
        return None
    met: dict[int, int] = {}  # how many faces meet at a vertex: at a corner at least three
    for ring in rings:
        for v in ring or ():
            met[v] = met.get(v, 0) + 1
    loops = [tuple(v for v in ring or () if met[v] >= 3) for ring in rings]
    if min(map(len, loops)) < 3 or not _closed(loops):
        return None
    return loops


def _boundary(triangles: np.ndarray) -> Loop | None:
    """The one loop around adjacent triangles; None where there are several."""
    inner = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    after = {v: w for v, w in inner if (w, v) not in inner}
    loop = [next(iter(after))]
    while (v := after[loop[-1]]) != loop[0] and len(loop) <= len(after):
        loop.append(v)
    return tuple(loop) if len(loop) == len(after) == sum((w, v) not in inner for v, w in inner) else None


def _closed(loops: Sequence[Loop]) -> bool:
    """Whether each edge belongs to two faces, once in each direction."""
    directed = [(loop[k - 1], loop[k]) for loop in loops for k in range(len(loop))]
    return len(set(directed)) == len(directed) and {(w, v) for v, w in directed} == set(directed)


def _from_lowest(loop: Loop) -> Loop:
    """The same loop, begun at its lowest number."""
    start = loop.index(min(loop))
    return loop[start:] + loop[:start]


def _edges(faces: Sequence[Loop]) -> tuple[Edge, ...]:
    of_face = {(loop[k - 1], loop[k]): f for f, loop in enumerate(faces) for k in range(len(loop))}
    return tuple((v, w, f, of_face[w, v]) for (v, w), f in sorted(of_face.items()) if v < w)
