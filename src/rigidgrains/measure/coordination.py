"""Coordination number of the backbone: grains that carry nothing are taken out one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.compiled import allocating
from .kinds import Only, select
from .links import Links, links
from .shown import Shown
from .state import Frame, Mask, double, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

# Contacts below which a grain cannot be held, by dimension: (without friction, with friction).
LEAST = {2: (3, 2), 3: (4, 2)}
# The same for points of grains of other shapes, which can be turned as well.
LEAST_POINTS = {2: (3, 2), 3: (6, 3)}


@dataclass(frozen=True)
class Coordination(Shown):
    """Contacts per grain; a contact of two grains counts for both, one at a wall for its grain.

    Surfaces of other shapes that touch at several points, side on side or face on face, are one contact.

    z            : of the backbone, walls counted
    z_grains     : of the backbone, contacts between grains alone
    z_all        : of all grains, rattlers and walls counted
    rattlers     : share of grains that are not in the backbone
    backbone     : (n,) True for grains that are
    contacts     : force-carrying contacts in the backbone, walls counted
    z_points     : as z, but every point counts
    """

    z: float
    z_grains: float
    z_all: float
    rattlers: float
    backbone: Mask
    contacts: int
    z_points: float


def coordination(
    source: Frame | Simulation, *, least: int | None = None, share: float = 0.0, only: Only = None
) -> Coordination:
    """Coordination number with rattlers removed recursively: their contacts go with them, until none is left.

    least : a grain with fewer force-carrying contacts is a rattler. Default without friction: 3 in 2D, 4 in 3D. With
            friction: 2, which can hold a grain if the line between both contacts lies in both friction cones and no
            other force acts; under gravity two contacts may also hold it from below, as an arch. Of other shapes
            points are counted, and the default in 3D is 6, with friction 3.
    share : normal forces below this share of the mean one carry nothing, which is for forces that have not settled
    only  : numbers of these grains, see `select`, by their contacts with all others; `backbone` is that of all

    A contact with a wall holds a grain as well as any other. Without any backbone z is 0.
    """
    frame = of(source)
    n = len(frame)
    if least is None:
        table = LEAST if frame.catalogue is None else LEAST_POINTS
        least = table[frame.dimension][1 if np.any(double(frame.friction) > 0.0) else 0]
    found = links(frame, least=share)
    backbone = np.ones(n, dtype=np.bool_)
    order = np.concatenate([found.i, found.j])
    start = np.searchsorted(np.sort(order, kind="stable"), np.arange(n + 1))
    partner = np.concatenate([found.j, found.i])[np.argsort(order, kind="stable")]
    _peel(start, partner, least, backbone)
    holds = np.append(backbone, np.ones(len(frame.walls), dtype=np.bool_))
    kept = found.some(holds[found.i] & holds[found.j])
    some = select(frame, only)
    by_points, kept, everyone = _ends(kept, some), kept.joined(), found.joined()
    between = kept.some(~kept.at_wall)
    counted, grains = max(int(some.sum()), 1), max(int(backbone[some].sum()), 1)
    return Coordination(
        z=_ends(kept, some) / grains,
        z_grains=_ends(between, some) / grains,
        z_all=_ends(everyone, some) / counted,
        rattlers=1.0 - int(backbone[some].sum()) / counted,
        backbone=backbone,
        contacts=int((some[kept.i] | np.append(some, np.zeros(len(frame.walls), np.bool_))[kept.j]).sum()),
        z_points=by_points / grains,
    )


@dataclass(frozen=True)
class ContactKinds(Shown):
    """How surfaces of grains touch; contacts that carry a force, between grains.

    contacts : how many; points : how many points they have
    side     : share of contacts with two points or more: side on side in 2D; in 3D edges on faces, faces on faces
    face     : share of those with three points or more, face on face; none in 2D
    carried  : share of the sum of normal forces that contacts with two points or more carry
    """

    contacts: int
    points: int
    side: float
    face: float
    carried: float


def contact_kinds(source: Frame | Simulation, *, walls: bool = False) -> ContactKinds:
    """Shares of contacts at a point, along a side and on a face; walls : with contacts at walls, which are sides."""
    found = links(of(source), walls=walls).joined()
    count, total = max(len(found), 1), float(found.r_n.sum())
    side = found.points >= 2
    return ContactKinds(
        contacts=len(found),
        points=int(found.points.sum()),
        side=float(side.sum()) / count,
        face=float((found.points >= 3).sum()) / count,
        carried=float(found.r_n[side].sum()) / total if total else 0.0,
    )


def _ends(found: Links, some: Mask) -> int:
    """Contacts counted at each of their grains that is meant."""
    return int(some[found.i].sum() + some[found.j[~found.at_wall]].sum())


@allocating
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
