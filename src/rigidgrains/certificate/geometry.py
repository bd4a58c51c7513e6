"""Is the list of contacts sound, are normals and gaps those of the positions, do walls move as they are driven?"""

from __future__ import annotations

import numpy as np

from ..model.coefficients import COEFFICIENTS
from . import images, points, surfaces
from .links import Links
from .state import Array, State, guided, length, size
from .verdict import Check, counted, worst_of

GRAINS = ("position", "orientation", "velocity", "spin", "radius", "mass", "external_force", "load")
WALLS = ("gravity", "wall_velocity", "wall_velocity_before", "wall_force")
UNIT = 1e-9  # a direction that has been turned many times


def soundness(state: State) -> Check:
    """Every number finite, masses, radii and time step positive."""
    frame, faults, named = state.frame, [], _arrays(state)
    for name, array in named.items():
        bad = ~np.isfinite(array)
        if bad.any():
            row = int(np.flatnonzero(bad.reshape(len(array), -1).any(axis=1))[0])
            faults.append(f"{name} of row {row} is {array[row]}")
    for name in ("radius", "mass"):
        if not (named[name] > 0.0).all():
            i = int(np.argmin(named[name]))
            faults.append(f"{name} of {state.grain(i)} is {named[name][i]:g}, not positive")
    if state.shapes is not None and (strange := state.shapes.named != state.shapes.shape).any():
        i = int(np.argmax(strange))
        faults.append(f"{state.grain(i)} has shape {state.shapes.named[i]}, and there are {len(state.shapes.parts)}")
    if state.cell is not None and not np.linalg.det(state.cell) > 0.0:
        faults.append(f"the cell {state.cell.tolist()} has no volume")
    if not state.dt > 0.0:
        faults.append(f"dt is {state.dt:g}, not positive")
    if np.isnan(frame.friction).any() or (frame.friction < 0.0).any():
        faults.append("a coefficient of friction is negative or not a number")
    return counted("state", faults)


def directions(state: State) -> Check:
    """Quaternions and directions of walls of unit length, disks in their plane."""
    frame, faults = state.frame, []
    if frame.dimension == 3:
        faults += _off_unit(state, np.abs(length(np.asarray(frame.orientation, dtype=float)) - 1.0))
    else:
        faults += _out_of_plane(_arrays(state))
    for w, wall in enumerate(state.walls):
        if any(not abs(size(side) - 1.0) <= UNIT for side in surfaces.directions(wall)):
            faults.append(f"a direction of {state.wall(w)} is not of unit length")
    return counted("directions", faults)


def contact_list(state: State) -> Check:
    """Bodies that exist, and each pair once through each image; of other shapes each point once, by its name."""
    pair, n, bodies = state.frame.contacts.pair, state.n, state.n + len(state.walls)
    strange = (pair < 0).any(axis=1) | (pair[:, 0] >= n) | (pair[:, 1] >= bodies) | (pair[:, 0] == pair[:, 1])
    faults = [
        f"contact {c} names bodies {pair[c].tolist()} of {n} grains and {bodies - n} walls"
        for c in np.flatnonzero(strange)
    ]
    faults += images.faults(state)
    if not faults and state.shapes is not None:
        faults = points.unknown_names(state)
    if not faults:
        listed = images.keys(pair, state.frame.contacts.image, bodies)[:, None]
        if state.shapes is not None:
            listed = points.keys(state)
        order = np.lexsort(listed.T)
        twice = order[1:][(listed[order][1:] == listed[order][:-1]).all(axis=1)]
        faults = [f"{state.contact(int(c))} is listed twice" for c in twice]
    return counted("contact list", faults + _beyond_tables(state))


def _beyond_tables(state: State) -> list[str]:
    """Materials for which friction, or the coefficient of a law, has no row; a single coefficient is for all."""
    named = np.append(state.frame.material, [wall.material for wall in state.walls]).astype(np.int64)
    stored = [one.stored for one in COEFFICIENTS if one.law]
    tables = {"friction": state.frame.friction} | {name: state.frame.law(name) for name in stored}
    least, most = int(named.min(initial=0)), int(named.max(initial=0))
    return [
        f"material {least if least < 0 else most} has no row in the {len(table)} of {name}"
        for name, table in tables.items()
        if table is not None and (least < 0 or (most >= min(table.shape) and (table.size > 1 or name == "friction")))
    ]


def geometry(links: Links) -> Check:
    """Stored normal, gap and point of contact against those of the positions at the beginning of the step."""
    state, contacts = links.state, links.state.frame.contacts
    gap, normal, lever = np.empty(len(links)), np.empty((len(links), 3)), np.empty(len(links))
    some = links.between_grains
    i, j = links.i[some], links.j[some]
    apart = state.start[j] + links.shift_before[some] - state.start[i]
    distance = length(apart)
    gap[some], lever[some] = distance - state.radius[i] - state.radius[j], distance
    normal[some] = apart / np.where(distance > 0.0, distance, 1.0)[:, None]
    for w, some in links.at_wall:
        i = links.i[some]
        gap[some], normal[some], lever[some] = surfaces.gaps(state.walls_before[w], state.start[i], state.radius[i])
    reach = (state.radius[links.i] + 0.5 * links.gap)[:, None]
    point = length(contacts.point - state.position[links.i] - reach * links.normal)
    turned = length(normal - links.normal) * lever
    miss = np.maximum(np.maximum(np.abs(gap - links.gap), turned), point)
    scale = state.coordinate[links.i] + state.coordinate[links.j]

    def place(c: int) -> str:
        return (
            f"{state.contact(c)}: gap {links.gap[c]:.9g} m, from positions {gap[c]:.9g} m; "
            f"normal turned by {size(normal[c] - links.normal[c]):.2g}; point off by {point[c]:.2g} m"
        )

    return worst_of("geometry", miss / scale, state.rounding, "the coordinates", place)


def walls(state: State) -> Check:
    """Driven walls move as their drive says, pistons along their normal."""
    miss, told = [], []
    begin = state.frame.time - state.dt
    for w, wall in enumerate(state.walls):
        velocity, drive = state.wall_velocity[w], wall.drive
        if guided(wall):
            along = surfaces.directions(wall)[0]
            miss.append(size(velocity - (velocity @ along) * along) / _or_one(size(velocity)))
            told.append(f"{state.wall(w)} moves at {velocity} m/s, not along its normal {along}")
            continue
        angle = 2.0 * np.pi * drive.frequency
        swing = np.sin(angle * (begin + state.dt) + drive.phase) - np.sin(angle * begin + drive.phase)
        asked = drive.velocity + drive.amplitude * (swing / state.dt)
        reach = size(drive.amplitude) * (1.0 + abs(angle * begin) + abs(drive.phase)) / state.dt
        try:
            if drive.path is not None:
                ends = [np.array([x.value(t) for x in drive.path]) for t in (begin, begin + state.dt)]
                asked = asked + (ends[1] - ends[0]) / state.dt
                reach += (size(ends[0]) + size(ends[1])) / state.dt
            if drive.speed is not None:
                asked = asked + np.array([v.mean(begin, state.dt) for v in drive.speed])
        except ValueError:  # a function that the file could not keep
            continue
        miss.append(size(velocity - asked) / _or_one(size(asked) + reach))
        told.append(f"{state.wall(w)} moves at {velocity} m/s where its drive says {asked} m/s")
    return worst_of(
        "walls",
        np.array(miss),
        state.rounding if not state.single else 1e-11,
        "the speed of the drive",
        told.__getitem__,
    )


def _arrays(state: State) -> dict[str, Array]:
    """Everything that is measured, by name."""
    frame = state.frame
    named: dict[str, Array] = {name: getattr(frame, name) for name in (*GRAINS, *WALLS)}
    if (before := frame.column("orientation_before")) is not None:
        named["orientation_before"] = before
    if state.cell is not None and state.cell_origin is not None:
        named |= {"cell": state.cell, "cell_origin": state.cell_origin, "cell_rate": state.flow.rate}
    if frame.external_torque is not None:
        named["external_torque"] = frame.external_torque
    if frame.has_contacts:
        named |= {name: getattr(frame, name) for name in ("velocity_before", "spin_before")}
        named |= {f"contact {name}": getattr(frame.contacts, name) for name in ("point", "normal", "gap", "force")}
    return named


def _or_one(number: float) -> float:
    return number if number > 0.0 else 1.0


def _off_unit(state: State, miss: Array) -> list[str]:
    tolerance = max(UNIT, state.rounding)
    return [
        f"the quaternion of {state.grain(int(i))} is off unit length by {miss[i]:.2g}"
        for i in np.flatnonzero(~(miss <= tolerance))
    ]


def _out_of_plane(named: dict[str, Array]) -> list[str]:
    """What a disk must not have: z of vectors, x and y of spins and torques."""
    faults = []
    for name, array in named.items():
        if array.ndim != 2 or name in ("position", "contact point", "cell"):
            continue
        bad = array[:, :2] if name.startswith(("spin", "external_torque")) else array[:, 2:]
        if bad.any():
            faults.append(f"{name} of row {int(np.flatnonzero(bad.any(axis=1))[0])} leaves the plane of the disks")
    return faults
