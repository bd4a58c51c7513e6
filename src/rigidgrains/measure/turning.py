"""How grains turn: moments of inertia, angular momenta and orientations of disks, spheres and other shapes."""

from __future__ import annotations

import numpy as np

from ..shapes.catalogue import Catalogue
from ..shapes.core import Part
from ..shapes.mass import part_moments
from .state import Array, Frame, double

SHARE = {2: 0.5, 3: 0.4}  # I/(m r^2) of a disk and of a sphere


def moments_of_inertia(frame: Frame) -> Array:
    """(n, 3) kg m^2, about the principal axes of each grain; in 2D all that about z."""
    scale = double(frame.mass) * double(frame.radius) ** 2
    if frame.catalogue is None or frame.shape is None:
        return np.repeat(SHARE[frame.dimension] * scale[:, None], 3, axis=1)
    return np.asarray(scale[:, None] * frame.catalogue.gyration[frame.shape] ** 2)


def axes(frame: Frame, *, before: bool = False) -> Array:
    """(n, 3, 3) axes of each grain's shape in space, in columns; `before` : at the beginning of the step."""
    turned = double(frame.orientation)
    if frame.dimension == 2:
        angle = turned - frame.dt * double(frame.spin)[:, 2] if before and frame.whole else turned
        c, s, out = np.cos(angle), np.sin(angle), np.zeros((len(frame), 3, 3))
        out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1], out[:, 2, 2] = c, -s, s, c, 1.0
        return out
    earlier = frame.column("orientation_before") if before else None
    w, x, y, z = (turned if earlier is None else double(earlier)).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def angular_momentum(frame: Frame, spin: Array, *, before: bool = False) -> Array:
    """(n, 3) kg m^2/s, L = I w of spins (n, 3) rad/s at the orientations of the frame, or those before the step."""
    return _times(moments_of_inertia(frame), frame, spin, before)


def solved_spin(frame: Frame) -> Array:
    """(n, 3) rad/s, with which the last step was solved: that of L after the step at the orientation before it."""
    spin = double(frame.spin)
    if frame.catalogue is None or frame.dimension == 2:
        return spin
    return _times(1.0 / moments_of_inertia(frame), frame, angular_momentum(frame, spin), True)


def long_axes(catalogue: Catalogue) -> tuple[Array, Array]:
    """(shapes, 3) axis along which each shape is longest, that of its largest second moment, in its own frame, and
    (shapes,) how much longer: the largest second moment over the next one."""
    found, ratio = [], []
    for shape in catalogue.shapes:
        if shape.dimension == 2:
            moments = _flat_moments(shape.parts)
        else:
            moments = np.diag(0.5 * shape.inertia.sum() - shape.inertia)  # x x^T from the moments of inertia
        values, vectors = np.linalg.eigh(moments)
        found.append(np.append(vectors[:, -1], np.zeros(3 - len(values))))
        ratio.append(values[-1] / values[-2])
    return np.array(found), np.array(ratio)


def _flat_moments(parts: tuple[Part, ...]) -> Array:
    """(2, 2) second moments of a flat shape about its centre, by its parts; space in common counts twice."""
    return np.sum([part_moments(part, 2).second for part in parts], axis=0)[:2, :2]


def _times(factor: Array, frame: Frame, vectors: Array, before: bool) -> Array:
    """(n, 3), components along the axes of each grain times factors (n, 3)."""
    if frame.catalogue is None or frame.dimension == 2:
        return factor * vectors
    turned = axes(frame, before=before)
    return np.asarray(np.einsum("nab,nb,ncb,nc->na", turned, factor, turned, vectors, optimize=True))
