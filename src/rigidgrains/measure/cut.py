"""Exact volume of a disk or sphere inside a box parallel to the axes, whatever faces, edges and corners cut it.

Other shapes are in cut_shapes.py.

A box is a sum with signs over its corners: each corner (a, b, c) cuts off the part x > a, y > b, z > c. For positive
a, b, c that part of a unit sphere has volume (S - a A_a - b A_b - c A_c)/3, as a sum of cones from the centre: A_a is
the area of the face x = a (a disk cut by two lines), and S that of the curved face, which the theorem of Gauss and
Bonnet gives from the three arcs and three angles around it. Negative numbers are reflected. There is no quadrature and
no tolerance; the error is rounding, below 1e-14 r^3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.compiled import kernel
from .cut_shapes import shapes_in_box
from .images import Images, bounds, cell_of, images
from .region import Box
from .state import Array, Frame, double, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


def volumes_inside(source: Frame | Simulation, box: Box) -> Array:
    """(n,) m^3 (m^2 in 2D), the part of each grain that lies in a box, exact for round grains and for sharp convex
    ones, see cut_shapes.py for others; in a periodic cell that of all images."""
    frame = of(source)
    found, volume = parts_inside(frame, *box.corners(frame.dimension))
    return np.bincount(found.owner, volume, len(frame)).astype(float)


def parts_in_slab(frame: Frame, axis: int, low: float, high: float) -> tuple[Images, Array]:
    """Images and their part (m,) m^3 (m^2 in 2D) between two planes square to an axis: spherical caps, and in a
    periodic cell what is in the box that stands for it."""
    lower, upper = bounds(frame)
    lower[axis], upper[axis] = low, high
    return parts_inside(frame, lower, upper)


def parts_inside(frame: Frame, lower: Array, upper: Array) -> tuple[Images, Array]:
    """Images that reach into a box, and their part (m,) m^3 (m^2 in 2D) in it; grains themselves without a cell."""
    position, radius = double(frame.position), double(frame.radius)
    reach = radius if frame.catalogue is None else radius * frame.catalogue.bound[frame.shape]
    found = images(position, cell_of(frame), lower, upper, reach)
    position, radius = position[found.owner] + found.shift, radius[found.owner]
    out = np.empty(len(radius))
    law = disks_in_box if frame.dimension == 2 else spheres_in_box
    if frame.catalogue is None:
        law(position, radius, lower, upper, out)
        return found, out
    is_round = frame.catalogue.round[frame.shape][found.owner]
    even, other = np.flatnonzero(is_round), np.flatnonzero(~is_round)
    part = np.empty(len(even))
    law(position[even], radius[even], lower, upper, part)
    out[even], out[other] = part, shapes_in_box(frame, found.owner[other], position[other], lower, upper)
    return found, out


@kernel
def spheres_in_box(position, radius, lower, upper, out):
    """Volume of each sphere inside one box."""
    for i in range(radius.size):
        out[i] = sphere_in_box(position[i], radius[i], lower, upper)


@kernel
def disks_in_box(position, radius, lower, upper, out):
    """Area of each disk inside one rectangle."""
    for i in range(radius.size):
        out[i] = disk_in_box(position[i], radius[i], lower, upper)


@kernel
def sphere_in_box(centre, r, lower, upper):
    """Sum over the corners, with the sphere at the origin and its radius as unit."""
    x0, x1 = (lower[0] - centre[0]) / r, (upper[0] - centre[0]) / r
    y0, y1 = (lower[1] - centre[1]) / r, (upper[1] - centre[1]) / r
    z0, z1 = (lower[2] - centre[2]) / r, (upper[2] - centre[2]) / r
    if max(x0, y0, z0) >= 1.0 or min(x1, y1, z1) <= -1.0:
        return 0.0
    if max(x0, y0, z0) <= -1.0 and min(x1, y1, z1) >= 1.0:
        return 4.0 / 3.0 * math.pi * r**3
    if max(x0 * x0, x1 * x1) + max(y0 * y0, y1 * y1) + max(z0 * z0, z1 * z1) <= 1.0:
        return (x1 - x0) * (y1 - y0) * (z1 - z0) * r**3  # the box lies in the sphere
    volume = _corner(x0, y0, z0) - _corner(x1, y0, z0)
    volume -= _corner(x0, y1, z0) - _corner(x1, y1, z0)
    volume -= _corner(x0, y0, z1) - _corner(x1, y0, z1)
    volume += _corner(x0, y1, z1) - _corner(x1, y1, z1)
    return max(volume, 0.0) * r**3


@kernel
def disk_in_box(centre, r, lower, upper):
    """The same in the plane."""
    x0, x1 = (lower[0] - centre[0]) / r, (upper[0] - centre[0]) / r
    y0, y1 = (lower[1] - centre[1]) / r, (upper[1] - centre[1]) / r
    if max(x0, y0) >= 1.0 or min(x1, y1) <= -1.0:
        return 0.0
    if max(x0, y0) <= -1.0 and min(x1, y1) >= 1.0:
        return math.pi * r**2
    if max(x0 * x0, x1 * x1) + max(y0 * y0, y1 * y1) <= 1.0:
        return (x1 - x0) * (y1 - y0) * r**2
    area = _quadrant(x0, y0) - _quadrant(x1, y0) - _quadrant(x0, y1) + _quadrant(x1, y1)
    return max(area, 0.0) * r**2


@kernel
def _corner(a, b, c):
    """Volume of the unit sphere in x > a, y > b, z > c; what is beyond a negative bound is the rest of the edge."""
    volume = _positive_corner(abs(a), abs(b), abs(c))
    if a < 0.0:
        volume = _edge(abs(b), abs(c)) - volume
    if b < 0.0:
        volume = _edge(a, abs(c)) - volume
    if c < 0.0:
        volume = _edge(a, b) - volume
    return volume


@kernel
def _edge(a, b):
    """Volume of the unit sphere in x > a, y > b."""
    volume = 2.0 * _positive_corner(abs(a), abs(b), 0.0)
    if a < 0.0:
        volume = _cap(abs(b)) - volume
    if b < 0.0:
        volume = _cap(a) - volume
    return volume


@kernel
def _cap(a):
    """Volume of the unit sphere in x > a."""
    h = min(max(1.0 - a, 0.0), 2.0)
    return math.pi * h * h * (1.0 - h / 3.0)


@kernel
def _positive_corner(a, b, c):
    """The same for a, b, c >= 0: cones from the centre over a curved triangle, less those over three faces."""
    if not a * a + b * b + c * c < 1.0:
        return 0.0
    # the corner on the edge x = a, y = b has z = w_ab, and so on; interior angles there
    w_ab, w_bc, w_ca = math.sqrt(1.0 - a * a - b * b), math.sqrt(1.0 - b * b - c * c), math.sqrt(1.0 - c * c - a * a)
    angles = math.atan2(w_ab, a * b) + math.atan2(w_bc, b * c) + math.atan2(w_ca, c * a)
    # angles of the arcs in the planes x = a, y = b, z = c
    arc_a = math.atan2(w_ab, b) - math.atan2(c, w_ca)
    arc_b = math.atan2(w_bc, c) - math.atan2(a, w_ab)
    arc_c = math.atan2(w_ca, a) - math.atan2(b, w_bc)
    curved = angles - math.pi - a * arc_a - b * arc_b - c * arc_c
    face_a = 0.5 * ((1.0 - a * a) * arc_a - b * (w_ab - c) - c * (w_ca - b))
    face_b = 0.5 * ((1.0 - b * b) * arc_b - c * (w_bc - a) - a * (w_ab - c))
    face_c = 0.5 * ((1.0 - c * c) * arc_c - a * (w_ca - b) - b * (w_bc - a))
    return (curved - a * face_a - b * face_b - c * face_c) / 3.0


@kernel
def _quadrant(a, b):
    """Area of the unit disk in x > a, y > b."""
    area = 0.0
    p, q = abs(a), abs(b)
    if p * p + q * q < 1.0:
        w_p, w_q = math.sqrt(1.0 - p * p), math.sqrt(1.0 - q * q)
        area = 0.5 * (math.atan2(w_p, p) - math.atan2(q, w_q) - p * (w_p - q) - q * (w_q - p))
    if a < 0.0:
        area = _segment(q) - area
    if b < 0.0:
        area = _segment(a) - area
    return area


@kernel
def _segment(a):
    """Area of the unit disk in x > a."""
    a = min(max(a, -1.0), 1.0)
    w = math.sqrt((1.0 - a) * (1.0 + a))
    return math.atan2(w, a) - a * w
