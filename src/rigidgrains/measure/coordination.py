"""Coordination number of the backbone: grains that carry nothing are taken out one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.compiled import kernel
from .state import Frame, Mask, double, links, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

# Contacts below which a grain cannot be held, by dimension: (without friction, with friction).
LEAST = {2: (3, 2), 3: (4, 2)}


@dataclass(frozen=True)
class Coordination:
    """Contacts per grain; a contact of two grains counts for both, one at a wall for its grain.

    z            : of the backbone, walls counted
    z_grains     : of the backbone, contacts between grains alone
    z_all        : of all grains, rattlers and walls counted
    rattlers     : share of grains that are not in the backbone
    backbone     : (n,) True for grains that are
    contacts     : force-carrying contacts in the backbone, walls counted
    """

    z: float
    z_grains: float
    z_all: float
    rattlers: float
    backbone: Mask
    contacts: int


def coordination(source: Frame | Simulation, *, least: int | None = None, share: float = 0.0) -> Coordination:
    """Coordination number with rattlers removed recursively: their contacts go with them, until none is left.

    least : a grain with fewer force-carrying contacts is a rattler. Default without friction: 3 in 2D, 4 in 3D. With
            friction: 2, which can hold a grain if the line between both contacts lies in both friction cones and no
            other force acts; under gravity two contacts may also hold it from below, as an arch.
    share : normal forces below this share of the mean one carry nothing, which is for forces that have not settled

    A contact with a wall holds a grain as well as any other. Without any backbone z is 0.
    """
    frame = of(source)
    n = len(frame)
    if least is None:
        least = LEAST[frame.dimension][1 if np.any(double(frame.friction) > 0.0) else 0]
    found = links(frame, least=share)
    backbone = np.ones(n, dtype=np.bool_)
    order = np.concatenate([found.i, found.j])
    start = np.searchsorted(np.sort(order, kind="stable"), np.arange(n + 1))
    partner = np.concatenate([found.j, found.i])[np.argsort(order, kind="stable")]
    _peel(start, partner, least, backbone)
    holds = np.append(backbone, np.ones(len(frame.walls), dtype=np.bool_))
    kept = found.some(holds[found.i] & holds[found.j])
    at_walls, between = int(kept.at_wall.sum()), int((~kept.at_wall).sum())
    grains = max(int(backbone.sum()), 1)
    all_ends = 2 * len(found) - int(found.at_wall.sum())
    return Coordination(
        z=(2 * between + at_walls) / grains,
        z_grains=2 * between / grains,
        z_all=all_ends / n,
        rattlers=1.0 - int(backbone.sum()) / n,
        backbone=backbone,
        contacts=len(kept),
    )


@kernel
def _peel(start, partner, least, backbone):
    """Take out grains with too few contacts; each that goes may leave its partners with too few."""
    n = backbone.size
    number, waiting, count = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for i in range(n):
        number[i] = start[i + 1] - start[i]
        if number[i] < least:
            backbone[i] = False
            waiting[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = waiting[count]
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            if j < n and backbone[j]:
                number[j] -= 1
                if number[j] < least:
                    backbone[j] = False
                    waiting[count] = j
                    count += 1
