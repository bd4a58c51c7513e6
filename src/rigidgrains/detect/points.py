"""Narrow phase of grains of any shape: contact points in place of pairs; the counterpart of candidates.py.

A pair of grains meets at all corners of its contact polygon, two in 2D, and each is a contact. Every listed pair is
looked at within a reach m0 + 2 dt (A + turning): what is nearer is a row. So a pair whose points come no farther than
that within the step cannot have been missed, and only others are looked at again after the solve, where the new
velocities would take them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V
from ..model.turning import turned_by, turning
from ..model.vectors import difference
from ..runtime.compiled import kernel
from ..runtime.threads import spread
from .candidates import BLOW, MARGIN, UNSEEN, relative_speed
from .facet_points import facet_points, facet_speeds, missed_facet, sided_grains
from .neighbours import Neighbours
from .point_colours import by_colour
from .point_columns import FOUND_GAP
from .search import Placed, Reach, matched, search
from .wall_points import WallPoints, near_wall

Array = NDArray[np.float64]
Index = NDArray[np.int32]

NO_SIZES = np.zeros(0, np.int64)


@dataclass
class PointCandidates:
    """Contact points of a step, in the order of their rows.

    pairs : (p, 2) grains; image : (p,) code of the image of the second; found : (p, 9) see point_columns.py
    feature : (p,) what tells points of a pair apart
    walls : points near each wall; near : all vertices of listed grains; builds : number of the lists
    sizes : rows of each colour in turn; numbers : colours for one colour of pairs; coloured : whether there are any
    """

    pairs: Index
    image: NDArray[np.int8]
    found: Array
    feature: NDArray[np.int64]
    walls: list[WallPoints]
    near: list[WallPoints]
    reach: Reach
    builds: int
    coloured: bool
    sizes: NDArray[np.int64] = field(default_factory=lambda: NO_SIZES)
    numbers: int = 1

    @property
    def count(self) -> int:
        return len(self.pairs) + sum(len(wall.owner) for wall in self.walls)


def find_candidates(
    bodies: Bodies, neighbours: Neighbours, dt: float, speed: Array | None = None, *, coloured: bool = False
) -> PointCandidates:
    """Contact points of this step.

    speed    : (n,) m/s, least values of A, for grains that are known to become faster
    coloured : rows of grain pairs colour after colour, not in list order
    """
    spin = bodies.spin
    near = [near_wall(bodies, w, listed.grains, spin, dt) for w, listed in enumerate(neighbours.walls)]
    fast = _relative_speeds(bodies, neighbours, near, spin)
    if speed is not None:
        np.maximum(fast, speed, out=fast)
    margin = MARGIN * bodies.radii.least + bodies.reach
    reach = Reach(fast, turning(bodies, bodies.motion), margin, BLOW * dt)
    lists = neighbours.pairs
    pairs, image, found, feature = search(Placed.of(bodies), lists.start, lists.partner, lists.image, reach)
    walls = [
        points.some(points.gap + points.sink < reach.of(points.owner)).joined(
            facet_points(bodies, w, neighbours.walls[w].grains, spin, dt, reach)
        )
        for w, points in enumerate(near)
    ]
    candidates = PointCandidates(pairs, image, found, feature, walls, near, reach, neighbours.builds, coloured)
    if coloured:
        order, candidates.sizes, candidates.numbers = by_colour(bodies.count, pairs, image)
        candidates.pairs, candidates.image = pairs[order], image[order]
        candidates.found, candidates.feature = found[order], feature[order]
    return candidates


def missed_pairs(bodies: Bodies, neighbours: Neighbours, dt: float, candidates: PointCandidates) -> Array | None:
    """Speeds (n,) after the solve, if some point that has no row would overlap by then; None if all is well."""
    neighbours.widen(bodies, dt)
    spin, least, reach = bodies.spin, UNSEEN * bodies.radii.least, candidates.reach
    near = candidates.near
    if candidates.builds != neighbours.builds:
        near = [near_wall(bodies, w, listed.grains, spin, dt) for w, listed in enumerate(neighbours.walls)]
    turn = turning(bodies, bodies.motion)
    if not (
        _meets_wall(bodies, near, spin, reach, dt, least)
        or any(
            missed_facet(bodies, w, listed.grains, reach, turn, spin, dt, least)
            for w, listed in enumerate(neighbours.walls)
        )
        or _meets(bodies, neighbours, reach, turn, spin, dt, least)
    ):
        return None
    return _relative_speeds(bodies, neighbours, near, spin) + turn


def present_gaps(bodies: Bodies, pairs: Index, image: NDArray[np.int8], feature: NDArray[np.int64]) -> Array:
    """(p,) m, gaps of contact points of grains where these are now; 0 for those that have gone or do not overlap."""
    if not len(pairs):
        return np.zeros(0)
    keys = np.stack([pairs[:, 0], pairs[:, 1], image], axis=1).astype(np.int64)
    listed = np.unique(keys, axis=0)
    start = np.searchsorted(listed[:, 0], np.arange(bodies.count + 1)).astype(np.int32)
    partner, at = listed[:, 1].astype(np.int32), listed[:, 2].astype(np.int8)
    now, images, found, features = search(Placed.of(bodies), start, partner, at, Reach.none(bodies.count))
    names = *now.T.astype(np.int64), images.astype(np.int64), features
    return matched(names, np.minimum(found[:, FOUND_GAP], 0.0), (*keys.T, feature))


def _meets(
    bodies: Bodies, neighbours: Neighbours, reach: Reach, turn: Array, spin: Array, dt: float, least: float
) -> bool:
    """Whether points of listed pairs that were out of reach overlap after the step."""
    lists = neighbours.pairs
    count = np.zeros(bodies.count + 1, np.int32)
    picked = np.empty(len(lists.partner), np.int32)
    what = lists.start, lists.partner, bodies.motion, reach.speed, reach.turn, reach.margin, reach.ahead, turn, dt
    total = pick_doubtful(*what, count, picked)
    if not total:
        return False
    position = bodies.position + dt * bodies.velocity
    orientation = turned_by(bodies, dt * spin)
    some, ahead = picked[:total], Placed.of(bodies).moved(position, orientation)
    _, _, found, _ = search(ahead, count, lists.partner[some], lists.image[some], Reach.none(bodies.count))
    return bool((found[:, FOUND_GAP] < -least).any())


def _meets_wall(bodies: Bodies, near: list[WallPoints], spin: Array, reach: Reach, dt: float, least: float) -> bool:
    """Whether vertices that were out of reach of a wall overlap with it after the step, Eq. (gap-change)."""
    for w, points in enumerate(near):
        if bodies.walls[w].guided:
            points.velocity = np.broadcast_to(bodies.motion[bodies.count + w, V], points.normal.shape)
        out = points.gap + points.sink >= reach.of(points.owner)
        if out.any() and bool((points.gap + points.sink - dt * points.towards(bodies, spin) < -least)[out].any()):
            return True
    return False


def _relative_speeds(bodies: Bodies, neighbours: Neighbours, near: list[WallPoints], spin: Array) -> Array:
    """A_i: the largest speed of the centre of grain i relative to any listed neighbour, and of its points to a wall."""
    square, lists = np.zeros(bodies.count), neighbours.pairs
    what = lists.start, lists.partner, bodies.motion, square
    spread(relative_speed, bodies.count, *what, weight=4)
    speed = np.sqrt(square)
    for points in near:
        np.maximum.at(speed, points.owner, np.abs(points.towards(bodies, spin)))
    for w, listed in enumerate(neighbours.walls):
        grains = sided_grains(bodies, w, listed.grains)
        if len(grains):
            speed[grains] = np.maximum(speed[grains], facet_speeds(bodies, w, grains))
    return np.asarray(speed)


@kernel
def pick_doubtful(start, partner, motion, speed, turn, margin, ahead, turns, dt, count, picked):
    """List the pairs that may come farther within the step than was looked; count[i + 1] ends row i. Their number."""
    total = 0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            x, y, z = difference(motion, j, motion, i)
            way = dt * (math.sqrt(x * x + y * y + z * z) + turns[i] + turns[j])
            if way > margin + ahead * (max(speed[i], speed[j]) + (turn[i] + turn[j])):
                picked[total] = k
                total += 1
        count[i + 1] = total
    return total
