"""The force network of a frame: from centre to centre, or from a centre to a wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trajectory.frame import Frame

Array = NDArray[Any]


@dataclass(frozen=True)
class Network:
    """Contacts that carry a force.

    start, end : (m, 3) m; force : (m,) N; status : (m,) 1 sticking, 2 sliding; at_wall : (m,) True where a wall ends it
    """

    start: Array
    end: Array
    force: Array
    status: Array
    at_wall: Array


def network(frame: Frame) -> Network:
    """The lines of a frame; raises ValueError when its file has no contacts."""
    if not frame.has_contacts:
        raise ValueError("there are no forces to draw: this file was written without contacts; run again with contacts")
    contacts, count = frame.contacts, len(frame)
    if not len(contacts):
        return Network(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.uint8), np.zeros(0, bool))
    carrying = contacts.normal_force > 0.0
    first, second = contacts.pair[carrying].T
    start = frame.position[first]
    touch = start + frame.radius[first, None] * contacts.normal[carrying]
    among_grains = second < count
    end = np.where(among_grains[:, None], frame.position[np.where(among_grains, second, 0)], touch)
    force = np.linalg.norm(contacts.force[carrying], axis=1)
    return Network(start, end, force, contacts.status[carrying], ~among_grains)


def strong_force(frames: Sequence[Frame]) -> float:
    """The force (N) that is drawn at full width: only one in two hundred of these frames is stronger."""
    forces = np.concatenate([network(frame).force for frame in frames])
    return float(np.quantile(forces, 0.995)) if len(forces) else 1.0
