"""Narrow phase of grains of any shape: contact points in place of pairs; the counterpart of candidates.py.

A pair of grains meets at all corners of its contact polygon, two in 2D, and each is a contact. Every listed pair is
looked at within a reach m0 + 2 dt (A + turning): what is nearer is a row. So a pair whose points come no farther than
that within the step cannot have been missed, and only others are looked at again after the solve, where the new
velocities would take them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V
from ..model.turning import turned_by, turning
from ..model.vectors import difference
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts
from ..shapes.placed import make_workspace
from .candidates import BLOW, MARGIN, UNSEEN, relative_speed
from .flat_points import find_flat_points, place_sides
from .neighbours import Neighbours
from .point_colours import by_colour
from .point_columns import FOUND, FOUND_GAP
from .solid_points import find_solid_points, place_centres
from .wall_points import WallPoints, near_wall

Array = NDArray[np.float64]
Index = NDArray[np.int32]
Tables = tuple[Index, NDArray[np.int8], Array, NDArray[np.int64]]  # pairs, images, found, features

PART = 256  # grains in a part of the search
POINTS = 2  # points of a pair to expect
NO_SIZES = np.zeros(0, np.int64)


@dataclass
class Reach:
    """How far the search looks: margin + ahead (max A + turning of both).

    speed : (n,) m/s, A, of each grain relative to its neighbours; turn : (n,) m/s, of its farthest point by turning
    margin : m; ahead : s
    """

    speed: Array
    turn: Array
    margin: float
    ahead: float

    def of(self, grains: Index) -> Array:
        """(m,) m, of grains near something that does not turn."""
        return self.margin + self.ahead * (self.speed[grains] + self.turn[grains])


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
    margin = MARGIN * float(bodies.radius.min()) + bodies.reach
    reach = Reach(fast, turning(bodies, bodies.motion), margin, BLOW * dt)
    lists = neighbours.pairs
    pairs, image, found, feature = _search(
        bodies, lists.start, lists.partner, lists.image, bodies.position, bodies.orientation, reach
    )
    walls = [points.some(points.gap + points.sink < reach.of(points.owner)) for points in near]
    candidates = PointCandidates(pairs, image, found, feature, walls, near, reach, neighbours.builds, coloured)
    if coloured:
        order, candidates.sizes, candidates.numbers = by_colour(bodies.count, pairs, image)
        candidates.pairs, candidates.image = pairs[order], image[order]
        candidates.found, candidates.feature = found[order], feature[order]
    return candidates


def missed_pairs(bodies: Bodies, neighbours: Neighbours, dt: float, candidates: PointCandidates) -> Array | None:
    """Speeds (n,) after the solve, if some point that has no row would overlap by then; None if all is well."""
    neighbours.widen(bodies, dt)
    spin, least, reach = bodies.spin, UNSEEN * float(bodies.radius.min()), candidates.reach
    near = candidates.near
    if candidates.builds != neighbours.builds:
        near = [near_wall(bodies, w, listed.grains, spin, dt) for w, listed in enumerate(neighbours.walls)]
    turn = turning(bodies, bodies.motion)
    if not (
        _meets_wall(bodies, near, spin, reach, dt, least) or _meets(bodies, neighbours, reach, turn, spin, dt, least)
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
    still = np.zeros(bodies.count)
    partner, at = listed[:, 1].astype(np.int32), listed[:, 2].astype(np.int8)
    now, images, found, features = _search(
        bodies, start, partner, at, bodies.position, bodies.orientation, Reach(still, still, 0.0, 0.0)
    )
    names = zip(now[:, 0].tolist(), now[:, 1].tolist(), images.tolist(), features.tolist())
    gaps = dict(zip(names, found[:, FOUND_GAP].tolist()))
    asked = zip(pairs[:, 0].tolist(), pairs[:, 1].tolist(), image.tolist(), feature.tolist())
    return np.array([min(gaps.get(key, 0.0), 0.0) for key in asked])


def _search(
    bodies: Bodies,
    start: Index,
    partner: Index,
    image: NDArray[np.int8],
    position: Array,
    orientation: Array,
    reach: Reach,
) -> Tables:
    """Points of listed pairs, in list order, of grains at these places."""
    assert bodies.catalogue is not None
    n, table, shape, scale = bodies.count, bodies.catalogue.table, bodies.shape, bodies.radius
    flat = bodies.dimension == 2
    parts = np.diff(table.part_start)
    rows = np.diff(table.vertex_start[table.part_start]) + parts if flat else parts
    first = np.concatenate([[0], np.cumsum(rows[shape])])
    placed = np.empty((first[-1], 4 if flat else 3))
    place = place_sides if flat else place_centres
    in_parts(lambda b, e: place(b, e, table, shape, scale, orientation, first, placed), n, weight=16)
    what: tuple[Any, ...] = (
        start, partner, image, bodies.shifts, position, scale, shape, reach.speed, reach.turn, reach.margin,
        reach.ahead, table,
    )  # fmt: skip

    def find(begin: int, end: int) -> Tables:
        own: tuple[Any, ...] = (placed, first) if flat else (orientation, placed, first, make_workspace(table))
        room = POINTS * int(start[end] - start[begin]) + 8
        while True:
            tables = (
                np.empty((room, 2), np.int32),
                np.empty(room, np.int8),
                np.empty((room, FOUND)),
                np.empty(room, np.int64),
            )
            count = (find_flat_points if flat else find_solid_points)(begin, end, *what, *own, *tables)
            if count <= room:
                return tables[0][:count], tables[1][:count], tables[2][:count], tables[3][:count]
            room = count

    found = in_parts(find, n, part=PART) if n > PART else [find(0, n)]
    if len(found) == 1:
        return found[0]
    pairs, images, places, features = zip(*found)
    return np.concatenate(pairs), np.concatenate(images), np.concatenate(places), np.concatenate(features)


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
    still, some = np.zeros(bodies.count), picked[:total]
    _, _, found, _ = _search(
        bodies, count, lists.partner[some], lists.image[some], position, orientation, Reach(still, still, 0.0, 0.0)
    )
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
    in_parts(lambda begin, end: relative_speed(begin, end, *what), bodies.count, weight=4)
    speed = np.sqrt(square)
    for points in near:
        np.maximum.at(speed, points.owner, np.abs(points.towards(bodies, spin)))
    return np.asarray(speed)


@kernel
def pick_doubtful(start, partner, motion, speed, turn, margin, ahead, turns, dt, count, picked):
    """List the pairs that may come farther within the step than was looked; count[i + 1] ends row i. Their number."""
    total = 0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            x, y, z = difference(motion, j, motion, i)
            way = dt * (np.sqrt(x * x + y * y + z * z) + turns[i] + turns[j])
            if way > margin + ahead * (max(speed[i], speed[j]) + (turn[i] + turn[j])):
                picked[total] = k
                total += 1
        count[i + 1] = total
    return total
