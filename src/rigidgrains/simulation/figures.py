"""Measurements on the present state: energy, overlap, loads, forces on walls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..detect.facet_points import present_facet_gaps
from ..detect.point_columns import WITHIN
from ..detect.points import present_gaps
from ..detect.wall_points import balls_of
from ..model.bodies import Bodies
from ..model.columns import GAP, INV_MASS, INV_SPIN, R_N, R_T, S_X, S_Y, S_Z, V_X, V_Y, V_Z, X, Y, Z
from ..model.vectors import to_image
from ..runtime.compiled import kernel
from ..runtime.threads import spread, total

if TYPE_CHECKING:
    from ..contacts.contacts import Contacts

Array = NDArray[np.float64]


def kinetic_energy(bodies: Bodies) -> float:
    """Translation and rotation of all grains and guided pistons (J)."""
    energy = float(_kinetic_energy(bodies.motion[: bodies.count + len(bodies.walls)]))
    for guide in bodies.guides:
        energy += guide.energy(bodies)
    return energy


def spring_energy(bodies: Bodies, time: float) -> float:
    """Of all springs (J)."""
    return sum(spring.energy(bodies, time) for spring in bodies.springs)


def potential_energy(bodies: Bodies) -> float:
    """Of grains in the field of gravity and under constant forces, and of pistons under gravity and load (J).

    It is zero at the origin, and falls as bodies give way to those forces. Torques have no potential energy.
    """
    position = bodies.unwrapped
    energy = float(_height_energy(position, bodies.mass, bodies.gravity))
    if len(bodies.force):
        energy -= float((bodies.force * position).sum())
    for wall in bodies.walls:
        if wall.guided:
            along = wall.mass * float(bodies.gravity @ wall.normal) + wall.load
            energy -= along * float(wall.shape.point @ wall.normal)
    return energy


def overlaps(bodies: Bodies, contacts: Contacts) -> Array:
    """max(-g, 0) of each force-carrying contact at the present positions (m)."""
    gap = np.empty(contacts.count)
    pairs = contacts.wall_rows[0].start if contacts.wall_rows else contacts.count
    if contacts.feature is not None:
        _shape_gaps(bodies, contacts, pairs, gap)
        return gap[: _keep_overlaps(contacts.forces, gap)]
    _pair_gaps(contacts.pairs[:pairs], contacts.image, bodies.shifts, bodies.position, bodies.radius, gap)
    for rows, wall in zip(contacts.wall_rows, bodies.walls):
        gap[rows], _ = wall.shape.gaps(contacts.pairs[rows, 0].copy(), bodies.position, bodies.radius)
    return gap[: _keep_overlaps(contacts.forces, gap)]


def _shape_gaps(bodies: Bodies, contacts: Contacts, pairs: int, gap: Array) -> None:
    """Gaps of grains of any shape at the present positions, 0 where they are open."""
    feature, lever = contacts.feature, contacts.lever
    assert feature is not None
    assert lever is not None
    gap[:pairs] = present_gaps(bodies, (contacts.pairs[:pairs], contacts.image[:pairs], feature[:pairs], lever[:pairs]))
    if not contacts.wall_rows:
        return
    facet = feature[pairs:] >= WITHIN
    grains = np.where(facet, 0, contacts.pairs[pairs:, 0]).astype(np.int32)
    balls = balls_of(bodies, grains)  # all vertices of the grain of each row, and which of these it is
    each = (balls.first + np.where(facet, 0, feature[pairs:])).astype(np.int32)
    for w, (rows, wall) in enumerate(zip(contacts.wall_rows, bodies.walls)):
        here = slice(rows.start - pairs, rows.stop - pairs)
        gap[rows], _ = wall.shape.gaps(each[here], balls.place, balls.radius)
        at = np.arange(rows.start, rows.stop)[facet[here]]
        if len(at):
            gap[at] = present_facet_gaps(bodies, w, contacts.pairs[at, 0], feature[at])


def wall_forces(bodies: Bodies, contacts: Contacts) -> dict[str, list[float]]:
    """Force of the grains on each wall (N), as many components as the scene has dimensions."""
    force = forces_on_walls(bodies, contacts)[: len(contacts.wall_rows), : bodies.dimension]
    return {wall.name: on.tolist() for wall, on in zip(bodies.walls, force)}


def forces_on_walls(bodies: Bodies, contacts: Contacts) -> Array:
    """(walls, 3) N, force of the grains on each wall; zero before the first step."""
    out = np.zeros((len(bodies.walls), 3))
    for w, rows in enumerate(contacts.wall_rows):
        r_n, r_t = contacts.normal_force[rows], contacts.forces[rows, R_T]
        out[w] = (r_n[:, None] * contacts.normal[rows] + r_t).sum(axis=0)
    return out


def forces_on_all_walls(bodies: Bodies, contacts: Contacts) -> Array:
    """(walls, 3) N, the same for all walls of the scene; zero for those that are not there."""
    force = forces_on_walls(bodies, contacts)
    if not bodies.scheduled:
        return force
    out = np.zeros((len(bodies.all_walls), 3))
    rows = {id(wall): row for wall, row in zip(bodies.walls, force)}
    for w, wall in enumerate(bodies.all_walls):
        out[w] = rows.get(id(wall), 0.0)
    return out


def returned_energy(contacts: Contacts, part: float, slack: float) -> float:
    """J, that contacts give as a step removes a part of their overlaps beyond the slack (m): R_n times the way."""
    return float(total(spread(_returned, contacts.count, contacts.geometry, contacts.forces, part, slack)))


def cell_figures(bodies: Bodies, contacts: Contacts) -> dict[str, float]:
    """Volume of the periodic cell (m^3, m^2 in 2D), packing fraction, pressure and shear stress xy (Pa, N/m in 2D).

    Nothing without a cell. Stresses are those of contacts and of peculiar motion, compression positive; the pressure is
    the mean over the periodic directions.
    """
    cell = bodies.cell
    if cell is None:
        return {}
    grains = np.pi * bodies.radius**2 if bodies.dimension == 2 else 4.0 / 3.0 * np.pi * bodies.radius**3
    between = slice(0, contacts.wall_rows[0].start if contacts.wall_rows else contacts.count)
    force, velocity = contacts.force[between], bodies.velocity
    if bodies.catalogue is None:
        apart = bodies.radius[contacts.pairs[between]].sum(axis=1) + contacts.gap[between]
        branch = apart[:, None] * contacts.normal[between]
    else:
        i, j = contacts.pairs[between].T
        branch = bodies.position[j] - bodies.position[i] + bodies.shifts[contacts.image[between]]
    moment = (force * branch).sum(axis=0) + (bodies.mass[:, None] * velocity**2).sum(axis=0)
    shear = force[:, X] @ branch[:, Y] + bodies.mass @ (velocity[:, X] * velocity[:, Y])
    return {
        "dimension": bodies.dimension,
        "volume": cell.volume,
        "packing_fraction": float(grains.sum()) / cell.volume,
        "pressure": float(moment[cell.periodic].mean()) / cell.volume,
        "shear_stress": float(shear) / cell.volume,
        **{f"stress_{axis}{axis}": float(moment[k]) / cell.volume for k, axis in enumerate("xyz")},
    }


def loads(bodies: Bodies, contacts: Contacts) -> Array:
    """Sum of the normal forces on each grain (n,) in N."""
    load = np.zeros(bodies.count)
    _add_loads(contacts.pairs, contacts.normal_force, load)
    return load


@kernel
def _returned(first, last, geometry, forces, part, slack):
    """Sum of R_n times the part of the overlap that goes, of some contacts."""
    energy = 0.0
    for c in range(first, last):
        energy -= forces[c, R_N] * part * min(geometry[c, GAP] + slack, 0.0)
    return energy


@kernel
def _height_energy(position, mass, gravity):
    """Sum of -m g . x."""
    energy = 0.0
    for i in range(mass.size):
        energy -= mass[i] * (position[i, X] * gravity[X] + position[i, Y] * gravity[Y] + position[i, Z] * gravity[Z])
    return energy


@kernel
def _kinetic_energy(motion):
    """Sum of m v^2/2 + I w^2/2, with I w^2 = s^2 / (r^2/I)."""
    energy = 0.0
    for i in range(motion.shape[0]):
        if motion[i, INV_MASS] > 0.0:
            energy += (motion[i, V_X] ** 2 + motion[i, V_Y] ** 2 + motion[i, V_Z] ** 2) / motion[i, INV_MASS]
        if motion[i, INV_SPIN] > 0.0:
            energy += (motion[i, S_X] ** 2 + motion[i, S_Y] ** 2 + motion[i, S_Z] ** 2) / motion[i, INV_SPIN]
    return 0.5 * energy


@kernel
def _pair_gaps(pairs, image, shifts, position, radius, gap):
    """Gaps of grain pairs at the present positions."""
    for c in range(len(pairs)):
        i, j, at = pairs[c, 0], pairs[c, 1], image[c]
        x, y, z = to_image(position, i, j, shifts, at)
        gap[c] = math.sqrt(x * x + y * y + z * z) - radius[i] - radius[j]


@kernel
def _keep_overlaps(forces, gap):
    """Turn the gaps of contacts that carry a force into overlaps, one after another; returns how many there are."""
    count = 0
    for c in range(len(forces)):
        if forces[c, R_N] > 0.0:
            gap[count] = max(-gap[c], 0.0)
            count += 1
    return count


@kernel
def _add_loads(pairs, r_n, load):
    """Add each normal force to both grains; walls are beyond the end of `load`."""
    for c in range(len(pairs)):
        load[pairs[c, 0]] += r_n[c]
        if pairs[c, 1] < load.size:
            load[pairs[c, 1]] += r_n[c]
