"""Anisotropies of contact orientation, normal and tangential force after Rothenburg and Bathurst, by moments.

With the angle theta to the major direction, in 2D
    E = (1 + a_c cos 2 theta)/(2 pi),      f_n = f (1 + a_n cos 2 theta),       f_t = -f a_t sin 2 theta,
and in 3D, alike all around the direction,
    E = (1 + a_c (3 cos^2 theta - 1))/(4 pi),  f_n = f (1 + a_n (3 cos^2 theta - 1)),  f_t = -f a_t sin 2 theta,
f_t counted towards larger theta. The moments <n n>, <f_n n n> and <f_t t n> are solved for the three numbers exactly,
products included; for other distributions they are the parts with this symmetry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .fabric import mean_dyad
from .links import links
from .shown import Shown
from .state import Array, Frame, double, dyads, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Anisotropy(Shown):
    """a_c, a_n, a_t : of orientation, normal and tangential force, positive along `direction`

    mean_force : N, f above; direction : (d,) unit vector
    """

    a_c: float
    a_n: float
    a_t: float
    mean_force: float
    direction: Array

    @property
    def deviator_over_pressure(self) -> float:
        """What they make of the stress to first order: (a_c + a_n + a_t)/2 in 2D, with (s_1 - s_2)/(s_1 + s_2);
        2/5 (a_c + a_n + a_t) in 3D, with (s_1 - s_3)/(s_1 + s_2 + s_3) for s_2 = s_3."""
        return (0.5 if len(self.direction) == 2 else 0.4) * (self.a_c + self.a_n + self.a_t)


def anisotropy(source: Frame | Simulation, *, walls: bool = False, along: Any = None) -> Anisotropy:
    """Anisotropies along a direction, by default the major principal one of the moment <R n>.

    walls : count contacts at walls too; along : (d,) direction, if it is known
    """
    frame = of(source)
    d, found = frame.dimension, links(frame, walls=walls).joined()
    c = max(len(found), 1)
    normal_part = dyads(found.r_n[:, None] * found.normal, found.normal, d) / c
    sideways = dyads(found.r_t, found.normal, d) / c
    force = normal_part + sideways
    e = np.linalg.eigh(0.5 * (force + force.T))[1][:, -1] if along is None else _unit(double(along), d)
    trace = float(np.trace(normal_part))
    if trace == 0.0:
        return Anisotropy(0.0, 0.0, 0.0, 0.0, e)
    # D picks a moment's difference between this direction and the others: e e less the mean of the rest
    rest = np.eye(d) - np.outer(e, e)
    pick = np.outer(e, e) - rest / (d - 1)
    a_c = float((pick * mean_dyad(found.normal, d)).sum())
    both = float((pick * normal_part).sum()) / trace
    shear = float((pick * sideways).sum())
    if d == 2:  # <cos^2> = 1/2, <cos^3> = 0
        a_c, both = 2.0 * a_c, 2.0 * both
        a_n = (both - a_c) / (1.0 - 0.5 * both * a_c)
        mean = trace / (1.0 + 0.5 * a_c * a_n)
        return Anisotropy(a_c, a_n, 2.0 * shear / mean, mean, e)
    # with p = 3 cos^2 - 1: <p^2> = 4/5, <p^3> = 16/35, <sin^2 2 theta> = 8/15, <p sin^2 2 theta> = 16/105
    a_c, both = 2.5 * a_c, 2.5 * both
    a_n = (both - a_c) / (1.0 + 4.0 / 7.0 * a_c - 0.8 * both * a_c)
    mean = trace / (1.0 + 0.8 * a_c * a_n)
    return Anisotropy(a_c, a_n, 2.5 * shear / mean / (1.0 + 2.0 / 7.0 * a_c), mean, e)


def _unit(vector: Array, dimension: int) -> Array:
    length = float(np.linalg.norm(vector))
    if vector.shape != (dimension,) or not length > 0.0:
        raise ValueError(f"along = {vector.tolist()} is no direction; give {dimension} numbers that are not all zero")
    return vector / length
