"""Whether grains are at rest: by the speed that contact forces could give them, so that no scale has to be chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..model.bodies import Bodies
from ..model.columns import R_N, S, V
from ..model.deforming import strain_rate

if TYPE_CHECKING:
    from ..contacts.contacts import Contacts

QUASI_STATIC = 1e-3  # inertial number below which flow is quasi-static (GDR MiDi, Eur. Phys. J. E 14, 341 (2004))


def inertial_number(bodies: Bodies, contacts: Contacts) -> float:
    """v t_i/d of the fastest body, t_i the inertial time; infinite where no contact carries a force.

    Grains count that carry a force or are pulled by one, with the speed of their surface by spin, and so do pistons and
    the strain rate of a cell times d. Grains that float in a cage without gravity do not, nor those that move as
    prescribed.
    """
    time = inertial_time(bodies, contacts)
    if not math.isfinite(time):
        return math.inf
    n, motion = bodies.count, bodies.motion
    counts = np.zeros(len(motion), np.bool_)
    pressed = contacts.pairs[contacts.forces[:, R_N] > 0.0]
    counts[pressed[pressed < n]] = True
    counts[:n] |= bool(bodies.gravity.any()) or len(bodies.applied_force) > 0
    for guide in bodies.guides:
        counts[guide.rows(bodies)] = False
    counts[n : n + len(bodies.walls)] = [wall.guided for wall in bodies.walls]
    some = motion[counts]
    speeds = np.linalg.norm(some[:, V], axis=1), np.linalg.norm(some[:, S], axis=1)
    fastest = max(float(speed.max(initial=0.0)) for speed in speeds)
    diameter = 2.0 * bodies.mean_radius
    return max(fastest, strain_rate(bodies) * diameter) * time / diameter


def inertial_time(bodies: Bodies, contacts: Contacts) -> float:
    """s, sqrt(m d/F) with the mean normal force of contacts: F moves a grain by its diameter d in about that time."""
    forces = contacts.forces[:, R_N]
    forces = forces[forces > 0.0]
    if not len(forces):
        return math.inf
    return math.sqrt(float(bodies.mass.mean()) * 2.0 * bodies.mean_radius / float(forces.mean()))
