"""Builders of shapes: polygons, boxes, capsules, solids, clumps, hulls of files, several parts.

Lengths are those of a drawing. With size = "equal volume" the shape is scaled to the volume (in 2D the area) of the
round grain of radius 1, with "as drawn" it is left alone. A rounding is added outside of the drawn vertices.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .core import FLAT, SOLID, Array, Part, Shape
from .hull import check_rounding, make_part
from .mesh_file import read_vertices
from .solids import platonic
from .union import moments_of

EQUAL_VOLUME, AS_DRAWN = "equal volume", "as drawn"
UNIT = {FLAT: math.pi, SOLID: 4.0 / 3.0 * math.pi}  # area or volume of the round grain of radius 1
SINGLE = 1e-6  # files in single precision: corners this share of the extent off a plane lie in it
TOUCH = 1e-6  # of the extent: parts closer than this touch
ALIGNED = 1e-9  # of the inertia: below this axes of the drawing are principal
ALIGNED_UNION = 1e-5  # the same where quadrature is at work


def make_shape(parts: Sequence[Part], *, dimension: int, size: str = EQUAL_VOLUME, mass: str = "union") -> Shape:
    """The rigid body of some parts, in its own frame.

    mass : "union": space that parts have in common counts once; "parts": each part counts whole
    """
    if not parts:
        raise ValueError("a shape without parts has no volume; give one part at least")
    if size not in (EQUAL_VOLUME, AS_DRAWN):
        raise ValueError(f'size = "{size}" is unknown; give "{EQUAL_VOLUME}" or "{AS_DRAWN}"')
    check_connected(parts)
    moments = moments_of(parts, dimension, mass)
    if not moments.volume > 0.0:
        raise ValueError(f"the volume of the shape is {moments.volume}; give vertices farther apart or a rounding")
    centre, tensor = moments.inertia(dimension)
    axes = principal_axes(tensor, ALIGNED if len(parts) == 1 or mass == "parts" else ALIGNED_UNION)
    scale = 1.0 if size == AS_DRAWN else (UNIT[dimension] / moments.volume) ** (1.0 / dimension)
    return Shape(
        dimension,
        tuple(part.moved(centre, axes, scale) for part in parts),
        scale**dimension * moments.volume,
        scale ** (dimension + 2) * np.einsum("ai,ij,aj->a", axes, tensor, axes),
        centre,
        axes,
        scale,
    )


def polygon(sides: int, *, rounding: float = 0.0, size: str = EQUAL_VOLUME) -> Shape:
    """A regular polygon, drawn in the unit circle with a vertex on the y axis."""
    return vertices(polygon_corners(sides), rounding=rounding, size=size)


def polygon_corners(sides: int) -> Array:
    """Corners (sides, 2) of a regular polygon in the unit circle."""
    if sides < 3:
        raise ValueError(f"a polygon of {sides} sides has no area; give 3 or more")
    angle = 0.5 * math.pi + 2.0 * math.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def vertices(points: Any, *, rounding: float = 0.0, size: str = EQUAL_VOLUME) -> Shape:
    """A convex polygon, vertices (k, 2) counterclockwise, or the hull of points (k, 3)."""
    dimension = FLAT if all(np.size(row) == FLAT for row in points) else SOLID
    return make_shape([make_part(points, dimension=dimension, rounding=rounding)], dimension=dimension, size=size)


def box(lengths: Sequence[float], *, rounding: float = 0.0, size: str = EQUAL_VOLUME) -> Shape:
    """A rectangle or cuboid by the lengths of its sides."""
    return vertices(box_corners(lengths), rounding=rounding, size=size)


def box_corners(lengths: Sequence[float] | Array) -> Array:
    """Corners (4, 2) or (8, 3) of a rectangle or cuboid about the origin."""
    sides = np.array(lengths, float)
    if sides.shape not in {(2,), (3,)} or not ((sides > 0.0) & (sides < math.inf)).all():
        raise ValueError(f"box = {lengths!r} has no volume; give two or three positive lengths")
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=len(sides))))
    if len(sides) == FLAT:
        corners = corners[[0, 2, 3, 1]]
    return np.asarray(sides * corners)


def capsule(ratio: float, *, dimension: int, size: str = EQUAL_VOLUME) -> Shape:
    """All points within 1/2 of a segment along x: length over width is `ratio`, 1 is round."""
    if not 1.0 <= ratio < math.inf:
        raise ValueError(f"capsule = {ratio} is no length over width; give 1 (round) or more")
    half = 0.5 * (ratio - 1.0) * np.eye(dimension)[0]
    core = [-half, half] if ratio > 1.0 else [half]
    return make_shape([make_part(core, dimension=dimension, rounding=0.5)], dimension=dimension, size=size)


def solid(name: str, *, rounding: float = 0.0, size: str = EQUAL_VOLUME) -> Shape:
    """A Platonic solid, drawn in the unit sphere: tetrahedron, cube, octahedron, dodecahedron or icosahedron."""
    return vertices(platonic(name), rounding=rounding, size=size)


def clump(centres: Any, radii: Any, *, size: str = EQUAL_VOLUME, mass: str = "union") -> Shape:
    """Disks or spheres that move as one; centres (k, 2) or (k, 3), radii (k,) or one for all."""
    places = np.array(centres, float)
    if places.ndim != 2 or places.shape[1] not in (FLAT, SOLID):
        raise ValueError(f"centres have shape {places.shape}; give one row of 2 or 3 numbers for each disk or sphere")
    dimension = places.shape[1]
    try:
        every = np.broadcast_to(np.asarray(radii, float), len(places))
    except ValueError:
        raise ValueError(
            f"{np.size(radii)} radii for {len(places)} centres; give one for each, or one for all"
        ) from None
    parts = [make_part([place], dimension=dimension, rounding=float(r)) for place, r in zip(places, every)]
    return make_shape(parts, dimension=dimension, size=size, mass=mass)


def several(
    cores: Sequence[Any],
    *,
    dimension: int,
    rounding: float | Sequence[float] = 0.0,
    size: str = EQUAL_VOLUME,
    mass: str = "union",
) -> Shape:
    """Convex parts that move as one: the vertices of each, and one rounding for all or one for each."""
    every = list(np.broadcast_to(np.asarray(rounding, float), len(cores)))
    parts = [make_part(core, dimension=dimension, rounding=float(r)) for core, r in zip(cores, every)]
    return make_shape(parts, dimension=dimension, size=size, mass=mass)


def hull_of_file(path: str | os.PathLike[str], *, rounding: float = 0.0, size: str = EQUAL_VOLUME) -> Shape:
    """The convex hull of the surface in an STL or OBJ file."""
    check_rounding(rounding)
    points = read_vertices(path)
    try:
        part = make_part(points, dimension=SOLID, rounding=rounding, coplanar=SINGLE)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    return make_shape([part], dimension=SOLID, size=size)


def principal_axes(tensor: Array, aligned: float) -> Array:
    """Right-handed principal axes in rows; those of the drawing where they are principal already."""
    aside = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if aside <= aligned * np.trace(tensor):
        return np.eye(3)
    axes = np.linalg.eigh(tensor)[1].T
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes = axes * np.sign(largest)  # a sign of their own: the same points, the same axes
    axes[2] *= np.sign(np.linalg.det(axes))
    return np.ascontiguousarray(axes)


def check_connected(parts: Sequence[Part]) -> None:
    """Refuse parts that do not hold together."""
    reached, waiting = {0}, [0]
    while waiting:
        i = waiting.pop()
        for j in set(range(len(parts))) - reached:
            if touching(parts[i], parts[j]):
                reached.add(j)
                waiting.append(j)
    if len(reached) < len(parts):
        lost = min(set(range(len(parts))) - reached)
        raise ValueError(f"part {lost} does not touch part 0, nor a part that does; move it closer or enlarge it")


def touching(part: Part, other: Part) -> bool:
    """Whether two parts touch or overlap: the distance of their cores by non-negative least squares."""
    from scipy.optimize import nnls

    a, b = part.vertices, other.vertices
    origin, extent = a.mean(axis=0), float(np.ptp(np.vstack([a, b]), axis=0).max()) + part.rounding + other.rounding
    a, b, heavy = (a - origin) / extent, (b - origin) / extent, 1e4
    ones = np.block([[np.ones(len(a)), np.zeros(len(b))], [np.zeros(len(a)), np.ones(len(b))]])
    weights, _ = nnls(np.vstack([np.hstack([a.T, -b.T]), heavy * ones]), np.concatenate([np.zeros(3), [heavy, heavy]]))
    to_a, to_b = weights[: len(a)], weights[len(a) :]
    apart = np.linalg.norm(to_a @ a / to_a.sum() - to_b @ b / to_b.sum())
    return bool(apart <= (part.rounding + other.rounding) / extent + TOUCH)
