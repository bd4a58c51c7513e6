"""Narrow phase of grains of any shape: contact points in place of pairs; the counterpart of candidates.py.

A pair of grains meets at all corners of its contact polygon, two in 2D, and each is a contact. Every listed pair is
looked at within a reach m0 + 2 dt (A + turning): what is nearer is a row. So a pair whose points come no farther than
that within the step cannot have been missed, and only others are looked at again after the solve, where the new
velocities would take them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.turning import spin_matrices, spins_and_turning, turned_by
from ..model.vectors import difference
from ..runtime.compiled import allocating, kernel
from ..runtime.threads import spread
from .candidates import BLOW, MARGIN, UNSEEN, relative_speed
from .facet_points import facet_points, facet_speeds, missed_facet, sided_grains
from .neighbours import Neighbours
from .point_colours import by_colour
from .point_columns import FOUND_GAP, FOUND_X
from .search import Placed, Reach, search
from .wall_point_loops import meets_wall, raise_towards
from .wall_points import WallPoints, by_number, choose, near_walls

Array = NDArray[np.float64]
Index = NDArray[np.int32]

NO_SIZES = np.zeros(0, np.int64)


@dataclass
class PointCandidates:
    """Contact points of a step, in the order of their rows.

    pairs : (p, 2) grains; image : (p,) code of the image of the second; found : (p, 9) see point_columns.py
    feature : (p,) what tells points of a pair apart
    walls : points at walls; near : all vertices of listed grains; builds : number of the lists
    matrices : (n, 3, 3) 1/m, B of each grain; spin : (n, 3) rad/s, with free velocities
    sizes : rows of each colour in turn, of pairs; numbers : colours for one colour of pairs; wall_sizes : (walls, k)
    rows of each colour of each wall; coloured : whether there are any
    """

    pairs: Index
    image: NDArray[np.int8]
    found: Array
    feature: NDArray[np.int64]
    walls: WallPoints
    near: WallPoints
    reach: Reach
    builds: int
    matrices: Array
    spin: Array
    coloured: bool
    sizes: NDArray[np.int64] = field(default_factory=lambda: NO_SIZES)
    numbers: int = 1
    wall_sizes: NDArray[np.int64] = field(default_factory=lambda: NO_SIZES)

    @property
    def count(self) -> int:
        return len(self.pairs) + len(self.walls.owner)


def find_candidates(
    bodies: Bodies, neighbours: Neighbours, dt: float, speed: Array | None = None, *, coloured: bool = False
) -> PointCandidates:
    """Contact points of this step.

    speed    : (n,) m/s, least values of A, for grains that are known to become faster
    coloured : rows of grain pairs colour after colour, not in list order
    """
    matrices = spin_matrices(bodies)
    spin, turn = spins_and_turning(bodies, bodies.motion, matrices)
    near = near_walls(bodies, neighbours, spin, dt)
    fast = _relative_speeds(bodies, neighbours, near, spin)
    if speed is not None:
        np.maximum(fast, speed, out=fast)
    reach = Reach(fast, turn, MARGIN * bodies.radii.least + bodies.reach, BLOW * dt)
    lists = neighbours.pairs
    points = search(Placed.of(bodies), lists.start, lists.partner, lists.image, reach)
    walls = choose(near, reach)
    if jutting := bodies.wall_table.jutting:
        facets = [facet_points(bodies, w, neighbours.walls[w].grains, spin, dt, reach) for w in jutting]
        of_wall = dict(zip(jutting, facets))
        walls = walls.joined([of_wall.get(w) for w in range(len(bodies.walls))])
    if not coloured:
        return PointCandidates(*points, walls, near, reach, neighbours.builds, matrices, spin, coloured)
    points, sizes, numbers = by_colour(bodies.count, points)
    walls, wall_sizes = by_number(walls)
    return PointCandidates(
        *points, walls, near, reach, neighbours.builds, matrices, spin, coloured, sizes, numbers, wall_sizes
    )


def missed_pairs(bodies: Bodies, neighbours: Neighbours, dt: float, candidates: PointCandidates) -> Array | None:
    """Speeds (n,) after the solve, if some point that has no row would overlap by then; None if all is well."""
    neighbours.widen(bodies, dt)
    least, reach, near, lists = UNSEEN * bodies.radii.least, candidates.reach, candidates.near, neighbours.walls
    jutting = bodies.wall_table.jutting
    spin, turn = spins_and_turning(bodies, bodies.motion, candidates.matrices)
    if candidates.builds != neighbours.builds:
        near = near_walls(bodies, neighbours, spin, dt)
    if not (
        _meets_wall(bodies, near, spin, reach, dt, least)
        or any(missed_facet(bodies, w, lists[w].grains, reach, turn, spin, dt, least) for w in jutting)
        or _meets(bodies, neighbours, reach, turn, spin, dt, least)
    ):
        return None
    return _relative_speeds(bodies, neighbours, near, spin) + turn


def present_gaps(bodies: Bodies, points: tuple[Any, ...]) -> Array:
    """(p,) m, gaps of contact points of grains where these are now; 0 for those that have gone or do not overlap.

    points : pairs, image and feature as above, and levers (p, 3) m; an overlap at a point that is not among them is
             that of the point of the pair next to it
    """
    return _gaps_of(Placed.of(bodies), points)


def gaps_ahead(bodies: Bodies, orientation: Array, dt: float, points: tuple[Any, ...]) -> Array:
    """The same where the present velocities take the grains within the step; orientation : of all of them by then."""
    return _gaps_of(Placed.of(bodies).moved(bodies.position + dt * bodies.velocity, orientation), points)


def _placed_ahead(bodies: Bodies, spin: Array, dt: float) -> Placed:
    return Placed.of(bodies).moved(bodies.position + dt * bodies.velocity, turned_by(bodies, dt * spin))


def _gaps_of(placed: Placed, points: tuple[Any, ...]) -> Array:
    """(p,) m, overlaps of shapes in space at the points of their pairs."""
    pairs, image, feature, lever = points
    n, count, gap = len(placed.position), len(pairs), np.zeros(len(pairs))
    start, partner, at = np.empty(n + 1, np.int32), np.empty(count, np.int32), np.empty(count, np.int8)
    rows, order = np.empty(n + 1, np.int64), np.empty(count, np.int64)
    listed = list_pairs(n, pairs, image, rows, order, start, partner, at)
    found = search(placed, start, partner[:listed], at[:listed], Reach.none(n))
    hand_to_points(pairs, image, feature, lever, rows, order, *found, gap)
    return gap


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
    some, ahead = picked[:total], _placed_ahead(bodies, spin, dt)
    _, _, found, _ = search(ahead, count, lists.partner[some], lists.image[some], Reach.none(bodies.count))
    return bool((found[:, FOUND_GAP] < -least).any())


def _meets_wall(bodies: Bodies, near: WallPoints, spin: Array, reach: Reach, dt: float, least: float) -> bool:
    """Whether vertices that were out of reach of a wall overlap with it after the step."""
    guided, walls = bodies.wall_table.guided, bodies.motion[bodies.count :]
    what = near.start, near.owner, near.rows, guided, walls, bodies.motion, spin, reach.speed, reach.turn
    return bool(meets_wall(*what, reach.margin, reach.ahead, dt, least))


def _relative_speeds(bodies: Bodies, neighbours: Neighbours, near: WallPoints, spin: Array) -> Array:
    """A_i: the largest speed of the centre of grain i relative to any listed neighbour, and of its points to a wall."""
    speed, lists = np.zeros(bodies.count), neighbours.pairs
    what = lists.start, lists.partner, bodies.motion, speed
    spread(relative_speed, bodies.count, *what, weight=4)
    raise_towards(near.owner, near.rows, bodies.motion, spin, speed)
    for w in bodies.wall_table.jutting:
        grains = sided_grains(bodies, w, neighbours.walls[w].grains)
        if len(grains):
            speed[grains] = np.maximum(speed[grains], facet_speeds(bodies, w, grains))
    return speed


@allocating
def list_pairs(grains, pairs, image, rows, order, start, partner, at):
    """Pairs of points, in any order, as lists of partners of each grain, each of them once; how many there are.

    rows, order : take where the points of grain i are, order[rows[i]:rows[i + 1]]
    """
    for i in range(grains + 1):
        rows[i] = 0
    for p in range(len(pairs)):
        rows[pairs[p, 0] + 1] += 1
    for i in range(grains):
        rows[i + 1] += rows[i]
    place, count = rows[:grains].copy(), 0
    for p in range(len(pairs)):
        order[place[pairs[p, 0]]] = p
        place[pairs[p, 0]] += 1
    start[0] = 0
    for i in range(grains):
        for k in range(rows[i], rows[i + 1]):
            p, known = order[k], False
            for m in range(start[i], count):
                known = known or (partner[m] == pairs[p, 1] and at[m] == image[p])
            if not known:
                partner[count], at[count] = pairs[p, 1], image[p]
                count += 1
        start[i + 1] = count
    return count


@kernel
def hand_to_points(pairs, image, feature, lever, rows, order, pair, images, found, features, gap):
    """Overlaps that were found, for the points of these names, else for the nearest one of their pair.

    lever : (p, 3) m, of the points that are asked for
    """
    for q in range(len(pair)):
        i, best, nearest = pair[q, 0], -1, np.inf
        for k in range(rows[i], rows[i + 1]):
            p = order[k]
            if pairs[p, 1] != pair[q, 1] or image[p] != images[q]:
                continue
            square = 0.0 if feature[p] == features[q] else 1e-300
            if square > 0.0:
                for a in range(3):
                    square += (lever[p, a] - found[q, FOUND_X + a]) ** 2
            if square < nearest:
                best, nearest = p, square
        if best >= 0:
            gap[best] = min(gap[best], found[q, FOUND_GAP])


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
