"""What walls that move feel and do: force, displacement, torque and power, for the columns of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import LEVER, Q, V
from ..model.shapes import Plane
from ..model.walls import Wall

if TYPE_CHECKING:
    from ..contacts.contacts import Contacts

Array = NDArray[np.float64]


def moving_walls(bodies: Bodies) -> list[Wall]:
    """Walls that move at some time: pistons, driven walls, and those that a stage moves."""
    moved = {} if bodies.events is None else bodies.events.moved_walls()
    return [wall for wall in bodies.all_walls if wall.guided or wall.drive.moves or any(
        control.drive is not None for control in moved.get(wall.name, [])
    )]  # fmt: skip


def turning_walls(bodies: Bodies) -> list[Wall]:
    """Walls that rotate at some time."""
    moved = {} if bodies.events is None else bodies.events.moved_walls()
    return [wall for wall in bodies.all_walls if wall.drive.turns or any(
        control.drive is not None and control.drive.turns for control in moved.get(wall.name, [])
    )]  # fmt: skip


def wall_columns(bodies: Bodies) -> dict[str, str]:
    """Names and units: NAME.force and NAME.displacement of planes, NAME.power, NAME.torque of walls that rotate."""
    names: dict[str, str] = {}
    turning = turning_walls(bodies)
    for wall in moving_walls(bodies):
        own = column_name(wall)
        if isinstance(wall.shape, Plane):
            names |= {f"{own}.force": "N"} | ({} if wall.start is None else {f"{own}.displacement": "m"})
        if any(wall is one for one in turning):
            names |= {f"{own}.torque{axis}": "N m" for axis in _axes(bodies)}
        names[f"{own}.power"] = "W"
    return names


def column_name(wall: Wall) -> str:
    """Name of a wall in columns; files keep '/' for folders."""
    return wall.name.replace("/", "_")


def wall_figures(bodies: Bodies, contacts: Contacts, dt: float) -> dict[str, float]:
    """Values of these columns in the last step; zero for walls that are not there.

    force : N, with which grains press on a plane along its normal; displacement : m, along the normal, since the start
    torque : N m, of the grains on the wall, about its centre of rotation; power : W, of the wall on the grains
    """
    out = dict.fromkeys(wall_columns(bodies), 0.0)
    rows = {id(wall): row for row, wall in enumerate(bodies.walls)}
    for wall in moving_walls(bodies):
        own, row = column_name(wall), rows.get(id(wall))
        if f"{own}.displacement" in out:
            out[f"{own}.displacement"] = wall.displacement
        if row is None or row >= len(contacts.wall_rows):
            continue
        force, torque = load_on(bodies, contacts, row, dt)
        velocity = bodies.motion[bodies.count + row, V]
        out[f"{own}.power"] = -float(force @ velocity + torque @ wall.drive.spin)
        if f"{own}.force" in out:
            out[f"{own}.force"] = -float(force @ wall.normal)
        for axis, k in _axes(bodies).items():
            if (name := f"{own}.torque{axis}") in out:
                out[name] = float(torque[k])
    return out


def load_on(bodies: Bodies, contacts: Contacts, row: int, dt: float) -> tuple[Array, Array]:
    """(3,) N and (3,) N m, force of the grains on a wall and their torque about its centre, as the step found them."""
    some, wall, n = contacts.wall_rows[row], bodies.walls[row], bodies.count
    grains, force = contacts.pairs[some, 0], contacts.force[some]
    velocity = bodies.motion[n + row, V]
    centre = (wall.shape.point if wall.drive.about is None else wall.drive.about) - dt * velocity
    lever = bodies.position[grains] - dt * bodies.motion[grains, V] - centre  # as the step began
    gap = contacts.gap[some][:, None]
    if contacts.lever is None:
        lever = lever + (bodies.radius[grains][:, None] + gap) * contacts.normal[some]
    else:
        lever = lever + contacts.lever[some] + gap * contacts.normal[some]
    torque = np.cross(lever, force).sum(axis=0)
    if contacts.extra is not None and contacts.forces.shape[1] > Q.start:  # rolling friction
        torque = torque + (contacts.extra[some][:, [LEVER]] * contacts.forces[some, Q]).sum(axis=0)
    return force.sum(axis=0), torque


def _axes(bodies: Bodies) -> dict[str, int]:
    """What follows the name of a torque, and its component."""
    return {"": 2} if bodies.dimension == 2 else {"_x": 0, "_y": 1, "_z": 2}
