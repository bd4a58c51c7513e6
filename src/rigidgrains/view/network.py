"""The force network of a frame: from centre to centre, or from a centre to a wall; through a face in two halves.

Between grains of other shapes than disks and spheres a line runs through the contact point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trajectory.frame import Frame
from .images import home

Array = NDArray[Any]


@dataclass(frozen=True)
class Network:
    """Contacts that carry a force.

    start, end : (m, 3) m; force : (m,) N; status : (m,) 1 sticking, 2 sliding; at_wall : (m,) True where a wall ends it
    via        : (m, 3) m, where a line bends; None where all of them are straight
    """

    start: Array
    end: Array
    force: Array
    status: Array
    at_wall: Array
    via: Array | None = None


def network(frame: Frame) -> Network:
    """The lines of a frame; raises ValueError when its file has no contacts."""
    if not frame.has_contacts:
        raise ValueError("there are no forces to draw: this file was written without contacts; run again with contacts")
    contacts, count = frame.contacts, len(frame)
    if not len(contacts):
        return Network(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.uint8), np.zeros(0, bool))
    carrying = contacts.normal_force > 0.0
    if frame.catalogue is not None:
        return _through_points(frame, carrying)
    first, second = contacts.pair[carrying].T
    position = home(frame)
    start = position[first]
    touch = start + frame.radius[first, None] * contacts.normal[carrying]
    among_grains = second < count
    end = np.where(among_grains[:, None], position[np.where(among_grains, second, 0)], touch)
    force, status = np.linalg.norm(contacts.force[carrying], axis=1), contacts.status[carrying]
    if frame.cell is None:
        return Network(start, end, force, status, ~among_grains)
    reach = frame.radius[first] + np.where(among_grains, frame.radius[np.where(among_grains, second, 0)], 0.0)
    way = reach[:, None] * contacts.normal[carrying]
    through = np.flatnonzero(among_grains & (np.linalg.norm(end - start - way, axis=1) > 0.5 * reach))
    halves = 0.5 * way[through]
    rest = np.setdiff1d(np.arange(len(start)), through)
    rows = np.concatenate([rest, through, through])
    return Network(
        np.concatenate([start[rest], start[through], end[through]]),
        np.concatenate([end[rest], start[through] + halves, end[through] - halves]),
        force[rows],
        status[rows],
        ~among_grains[rows],
    )


def _through_points(frame: Frame, carrying: Array) -> Network:
    """From centre to contact point to centre; through a face of the cell as two lines that end at the point."""
    contacts, position = frame.contacts, home(frame)
    first, second = contacts.pair[carrying].T
    way = contacts.point[carrying] - frame.position[first]
    force, status = np.linalg.norm(contacts.force[carrying], axis=1), contacts.status[carrying]
    among_grains = second < len(frame)
    start, point = position[first], position[first] + way
    end = point.copy()
    grain, some = second[among_grains], np.flatnonzero(among_grains)
    back = contacts.point[carrying][some] - frame.position[grain]  # from the centre of body 1 to the point
    if frame.cell is not None and contacts.image is not None:
        back = back - contacts.image[carrying][some] @ frame.cell
    end[some] = position[grain]
    via = np.where(among_grains[:, None], point, 0.5 * (start + point))
    if frame.cell is None:
        return Network(start, end, force, status, ~among_grains, via)
    size = np.linalg.norm(way[some], axis=1) + np.linalg.norm(back, axis=1)
    through = np.linalg.norm(position[grain] + back - point[some], axis=1) > 1e-3 * size
    rest = np.setdiff1d(np.arange(len(start)), some[through])
    rows = np.concatenate([rest, some[through], some[through]])
    other, to = position[grain[through]], back[through]
    return Network(
        np.concatenate([start[rest], start[some[through]], other]),
        np.concatenate([end[rest], point[some[through]], other + to]),
        force[rows],
        status[rows],
        ~among_grains[rows],
        np.concatenate([via[rest], start[some[through]] + 0.5 * way[some[through]], other + 0.5 * to]),
    )


def strong_force(frames: Sequence[Frame]) -> float:
    """The force (N) that is drawn at full width: only one in two hundred of these frames is stronger."""
    forces = np.concatenate([network(frame).force for frame in frames])
    return float(np.quantile(forces, 0.995)) if len(forces) else 1.0
