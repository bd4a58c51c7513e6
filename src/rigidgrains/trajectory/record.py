"""What a frame holds: grains, contacts, walls and figures of the step that was just taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import PER_CONTACT, PER_GRAIN, grain_arrays, grains_in_frames
from ..model.bodies import Bodies, S
from ..model.cell import IMAGES
from ..model.columns import GAP, INV_MASS, MU, N_X, R_N, R_X, V
from ..runtime.compiled import kernel
from ..simulation import figures as measure
from ..simulation.columns import figures
from ..simulation.sorting import by_id
from . import cell_table, law_table, wall_table
from .series import Cloud

if TYPE_CHECKING:
    from ..shapes.catalogue import Catalogue
    from ..simulation.simulation import Simulation

Array = NDArray[Any]

ASKED = ("asked_momentum", "asked_power", "asked_residual", "asked_contact", "asked_overlap")
OPEN, STICKING, SLIDING = 0, 1, 2
SLIDES = 1.0 - 1e-9  # of mu R_n: a tangential force from which a contact slides


def clouds(simulation: Simulation) -> dict[str, Cloud]:
    """The whole present state in double precision, by the groups of a file."""
    return {
        "VTKHDF": grains(simulation, precision=float, full=True),
        "contacts": contacts(simulation, precision=float),
    }


def grains(
    simulation: Simulation,
    *,
    precision: type,
    full: bool,
    fields: Sequence[str] | None = None,
    known: dict[str, float] | None = None,
) -> Cloud:
    """The grains of a frame, with walls and figures.

    precision : float or np.float32, of arrays over grains
    full      : with the velocities before the step, which a certificate needs
    fields    : arrays to choose beside the basic ones and scalars of the user, see model/arrays.py; None for all
    known     : the figures of this step, if somebody has them already
    """
    bodies, contacts, before = simulation.bodies, simulation.contacts, simulation.motion_before
    n, walls = bodies.count, slice(bodies.count, bodies.count + len(bodies.walls))
    whole = simulation.whole
    scalars = (known or figures(simulation)) | {"whole": float(whole)} | asked(simulation)
    load: Array = np.zeros(n, precision)
    number = np.zeros(n, np.int32)
    if whole:
        load = measure.loads(bodies, contacts).astype(precision, copy=False)
        _count_contacts(contacts.pairs, contacts.forces, number)
    velocity, velocity_before = cell_table.velocities(simulation)
    arrays: dict[str, Array] = {
        "velocity": velocity,
        "spin": _spins(bodies, bodies.motion, precision),
        "load": load,
        "contact_number": number,
        "external_force": _whole(bodies.external_force, n),
        "group": group_numbers(bodies),
    }
    if full:
        arrays |= {
            "velocity_before": velocity_before,
            "spin_before": _spins(bodies, before, precision, before=simulation.whole),
        }
        if bodies.flows:
            arrays |= {"peculiar_velocity": bodies.velocity, "peculiar_velocity_before": before[:n, V]}
    if bodies.springs:
        arrays["spring_force"] = _whole(bodies.pull, n)
    if bodies.guides:
        arrays["guided"] = (bodies.motion[:n, INV_MASS] == 0.0).astype(np.uint8)
    if len(bodies.external_torque):
        arrays["external_torque"] = bodies.external_torque
    declared = grains_in_frames()
    arrays |= {
        column.name: column.of(bodies) for column in grain_arrays() if column.name in declared and column.where(bodies)
    }
    arrays = {name: array for name, array in arrays.items() if is_chosen(name, fields, bodies.catalogue)}
    cloud = Cloud(
        simulation.time,
        arrays.pop("position"),
        data={name: array for name, array in arrays.items() if declared[name].frames == "every"},
        once={name: array for name, array in arrays.items() if declared[name].frames == "once"}
        | {name: bodies.scalars[:, k] for k, name in enumerate(bodies.scalar_names)},
        precision=precision,
        scalars=scalars,
        tables=wall_table.placement(bodies.walls)
        | {
            "wall_velocity": bodies.motion[walls, V],
            "wall_velocity_before": before[walls, V],
            "wall_force": measure.forces_on_walls(bodies, contacts) if whole else np.zeros((len(bodies.walls), 3)),
        },
        tables_once={"gravity": bodies.gravity[None], "friction": bodies.friction}
        | law_table.tables(bodies.laws)
        | cell_table.tables(bodies)
        | cell_table.motion(bodies, before),
    )
    order = by_id(bodies)
    if order is not None:
        cloud.points = cloud.points[order]
        for arrays in (cloud.data, cloud.once):
            arrays |= {name: array[order] for name, array in arrays.items()}
    return cloud


def is_chosen(name: str, fields: Sequence[str] | None, catalogue: Catalogue | None) -> bool:
    """Whether frames have an array where only some are chosen: basic ones, scalars of the user, and the orientations of
    grains that are not round always."""
    if fields is None or name in fields or name not in PER_GRAIN:
        return True
    return PER_GRAIN[name].basic or (name == "orientation" and catalogue is not None)


def group_numbers(bodies: Bodies) -> NDArray[np.int32]:
    """(n,) number of the group of each grain, -1 of none."""
    number = np.full(bodies.count, -1, np.int32)
    for k, rows in enumerate(bodies.groups.values()):
        number[rows] = k
    return number


def asked(simulation: Simulation) -> dict[str, float]:
    """What the step was asked; inf where it was not: see `SolveReport`. Slack in m."""
    last = simulation.last_solve
    return {
        "removed_part": last.removed,
        "slack": last.slack * float(simulation.bodies.radius.mean()) if last.slack else 0.0,
        "still": float(last.still),
        "carried": float(last.carried),
        **{name: getattr(last, name) for name in ASKED},
    }


def contacts(simulation: Simulation, *, precision: type) -> Cloud:
    """The candidates of the step with their forces; a wall w is body n + w, whatever element of it is touched."""
    bodies, rows = simulation.bodies, simulation.contacts
    count = rows.count if simulation.whole else 0
    pair = rows.pairs[:count].copy()
    for w, touching in enumerate(rows.wall_rows if count else []):
        pair[touching, 1] = bodies.count + w
    vectors: Array = np.empty((3, count, 3), precision)
    gap: Array = np.empty(count, precision)
    (point, normal, force), status = vectors, np.empty(count, np.uint8)
    _record(
        pair, rows.geometry[:count], rows.forces[:count], bodies.position, bodies.radius, point, normal, force, gap,
        status,
    )  # fmt: skip
    if rows.lever is not None:
        point[:] = bodies.position[pair[:, 0]] + rows.lever[:count] + (0.5 * rows.gap[:count])[:, None] * normal
    order = by_id(bodies)
    if order is not None:
        place = np.arange(bodies.count + len(bodies.walls), dtype=np.int32)
        place[order] = np.arange(bodies.count)
        pair = place[pair]
    data = {"pair": pair, "normal": normal, "gap": gap, "force": force, "status": status}
    if bodies.cell is not None:
        data["image"] = IMAGES[rows.image[:count]].astype(np.int8)
    if rows.feature is not None:
        data["feature"] = rows.feature[:count]
        data["to_close"] = rows.to_close[:count].astype(precision)  # the gap, less what turning sides would close
    if count and rows.attraction is not None:
        force[:] = rows.force
    if bodies.laws:
        data |= {name: array.astype(precision, copy=False) for name, array in rows.law_columns(bodies, count).items()}
    for column in PER_CONTACT.values():
        if column.frames != "never":
            data[column.name] = getattr(rows, column.place)[:count]
    return Cloud(simulation.time, point, data=data)


def _spins(bodies: Bodies, motion: Array, precision: type, *, before: bool = False) -> Array:
    """Of rows with s; s/r of round grains is rounded at once."""
    if bodies.catalogue is not None:
        return bodies.spins_of(motion, before=before).astype(precision, copy=False)
    rows = motion[: bodies.count, S]
    return np.divide(rows, bodies.radius[:, None], out=np.empty(rows.shape, precision), casting="same_kind")


def _whole(forces: Array, n: int) -> Array:
    """Zeros where there are none."""
    return forces if len(forces) else np.broadcast_to(0.0, (n, 3))


@kernel
def _count_contacts(pairs, forces, number):
    """Force-carrying contacts of each grain; walls are beyond the end."""
    for c in range(len(pairs)):
        if forces[c, R_N] > 0.0:
            number[pairs[c, 0]] += 1
            if pairs[c, 1] < number.size:
                number[pairs[c, 1]] += 1


@kernel
def _record(pair, geometry, forces, position, radius, point, normal, force, gap, status):
    """Contact point, normal, force on body 1, gap and status of each candidate."""
    for c in range(len(pair)):
        i = pair[c, 0]
        reach = radius[i] + 0.5 * geometry[c, GAP]
        r_n, r_tt = forces[c, R_N], 0.0
        for k in range(3):
            n, r_t = geometry[c, N_X + k], forces[c, R_X + k]
            normal[c, k], point[c, k], force[c, k] = n, position[i, k] + reach * n, r_n * n + r_t
            r_tt += r_t**2
        gap[c] = geometry[c, GAP]
        limit = SLIDES * geometry[c, MU] * r_n
        status[c] = OPEN if not r_n > 0.0 else SLIDING if r_tt >= limit * limit else STICKING
