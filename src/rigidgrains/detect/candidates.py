"""Narrow phase: which neighbours are candidates for contact in this step.

A pair is a candidate if its gap is below m0 + 2 dt max(A_0, A_1), where A_i is the largest speed of body i relative to
any of its neighbours. The margin follows the local motion: a fixed one lets pairs close unseen within a step. Twice the
speed, since a blow from both sides makes grains faster than they were before. A blow may still reach, through a chain
of contacts, a pair whose neighbours were all at rest; `missed_pairs` finds such pairs from the velocities after the
solve, and the step is solved again with the speeds it has shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import L, V, X, Y, Z
from ..model.deforming import strain_rate
from ..model.vectors import difference, to_image
from ..runtime.barrier import raise_to
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts
from .colours import COLOURS, NO_TILES
from .neighbours import Neighbours, WallList
from .pairs import PART, TILE, PairList, rows_in_tile

Array = NDArray[np.float64]
Index = NDArray[np.int32]

MARGIN = 1e-3  # m0 over the smallest radius
BLOW = 2.0  # times A: what a blow may do within a step
UNSEEN = 1e-6  # of the smallest radius: an overlap that may go unseen


@dataclass
class PairCandidates:
    """Candidates among the listed pairs.

    first : (parts, colours) where the rows of each part of the list begin in a colour
    sizes : rows of each colour in turn; count : of all
    tiles : (tiles + 1, colours) where the rows of each tile begin in a colour, if there are tiles, see colours.py
    """

    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    count: int
    tiles: NDArray[np.int64] = field(default_factory=lambda: NO_TILES)

    def number(self, listed: PairList, origin: Index) -> None:
        """Give each candidate its row: by colour, and in list order within each. The pair remembers it.

        origin : (c, 2) takes, in its first column, the row that each had in the previous step, -1 for none
        """
        what = listed.start, listed.colour, listed.last, origin
        in_parts(
            lambda begin, end: number_pairs(begin, end, self.first[begin // PART].copy(), *what),
            len(listed.start) - 1,
            weight=4,
            part=PART,
        )


@dataclass
class WallCandidates:
    """Grains near one wall: gap (m,), normal (m, 3), surface velocity (m, 3) or (1, 3), previous contact row (m,).

    sink : (m,) m, <= 0, how much each would sink into the wall within the step by gliding straight along it, see `sink`
    """

    grains: Index
    gap: Array
    normal: Array
    last: Index
    sink: Array
    velocity: Array

    def approach(self, bodies: Bodies) -> Array:
        """Speed of each grain towards the surface (m/s)."""
        speed = np.empty(len(self.grains))
        approach(self.grains, self.normal, self.velocity, bodies.motion, speed)
        return speed


@dataclass
class Candidates:
    """Candidates among the listed pairs and near each wall.

    near : all grains listed near each wall, with the lists of build number `builds`
    coloured : whether rows of grain pairs stand colour after colour, not in list order
    """

    pairs: PairCandidates
    walls: list[WallCandidates]
    near: list[WallCandidates] = field(default_factory=list)
    builds: int = 0
    coloured: bool = False

    @property
    def count(self) -> int:
        return self.pairs.count + sum(len(wall.grains) for wall in self.walls)

    def near_now(self, bodies: Bodies, neighbours: Neighbours, dt: float) -> list[WallCandidates]:
        """The same after the solve: gaps are as they were, unless lists are new or a wall gives way or bends."""
        kept = self.near if self.builds == neighbours.builds else [None] * len(neighbours.walls)
        return [
            _near_wall(bodies, w, listed, dt) if before is None or wall.guided or wall.bends else before
            for w, (wall, listed, before) in enumerate(zip(bodies.walls, neighbours.walls, kept))
        ]


def find_candidates(
    bodies: Bodies, neighbours: Neighbours, dt: float, speed: Array | None = None, *, coloured: bool = False
) -> Candidates:
    """Candidates of this step; those near walls have their rows, pairs of grains get them by `PairCandidates.number`.

    speed    : (n,) m/s, least values of A, for grains that are known to become faster
    coloured : rows of grain pairs colour after colour, not in list order
    """
    near = [_near_wall(bodies, w, listed, dt) for w, listed in enumerate(neighbours.walls)]
    speed = _relative_speeds(bodies, neighbours, near, dt, speed)
    margin = MARGIN * bodies.radius.min() + bodies.reach
    colour = neighbours.pairs.painted(coloured, neighbours.work)
    pairs = _pick_pairs(bodies, neighbours.pairs, speed, margin, BLOW * dt, colour, COLOURS + 1 if coloured else 1)
    candidates = Candidates(pairs, [], near, neighbours.builds, coloured)
    count = pairs.count
    for wall, listed in zip(near, neighbours.walls):
        keep, grains, gap, normal, last, sunk = choose_near(
            wall.grains, wall.gap, wall.normal, wall.last, wall.sink, speed, margin, BLOW * dt, count, listed.last
        )
        velocity = wall.velocity if len(wall.velocity) == 1 else wall.velocity[keep]
        candidates.walls.append(WallCandidates(grains, gap, normal, last, sunk, velocity))
        count += len(keep)
    return candidates


def _pick_pairs(
    bodies: Bodies,
    pairs: PairList,
    speed: Array,
    margin: float,
    ahead: float,
    colour: NDArray[np.int8],
    colours: int,
) -> PairCandidates:
    """Choose among the listed pairs, and count the candidates of each colour in each part of the list.

    ahead : s, time for which the speed is to be reckoned with; colour : of each listed pair, one of so many
    """
    what = (
        pairs.start, pairs.partner, pairs.image, bodies.shifts, bodies.position, bodies.radius, speed, margin, ahead,
        colour,
    )  # fmt: skip

    def pick(begin: int, end: int) -> NDArray[np.int64]:
        counts = np.zeros(colours, np.int64)
        choose_pairs(begin, end, *what, counts)
        return counts

    parts = np.array(in_parts(pick, bodies.count, weight=4, part=PART))
    sizes, tiles = parts.sum(axis=0), NO_TILES
    first = (np.cumsum(parts.T).reshape(parts.T.shape) - parts.T).T.copy()
    if colours > 1 and rows_in_tile(bodies.count) < bodies.count:
        tiles = np.vstack([first[:: TILE // PART], first[-1] + parts[-1]])
    return PairCandidates(first, sizes, int(sizes.sum()), tiles)


def missed_pairs(bodies: Bodies, neighbours: Neighbours, dt: float, candidates: Candidates) -> Array | None:
    """Speeds A (n,) after the solve, if some pair that is no candidate would overlap by then; None if all is well.

    The lists themselves may be too short for the new motion: they are made anew first if a body has left its skin.
    """
    neighbours.widen(bodies, dt)
    pairs, least = neighbours.pairs, UNSEEN * bodies.radius.min()
    near = candidates.near_now(bodies, neighbours, dt)
    unseen = any(
        meets_unseen(
            wall.grains, wall.gap, wall.sink, wall.normal, wall.velocity, listed.last, bodies.motion, dt, least
        )
        for wall, listed in zip(near, neighbours.walls)
    )
    position, shifts = bodies.position, bodies.shifts
    if bodies.flows:  # where the flow alone will take them
        ahead = np.eye(3) + dt * bodies.flow[:, L].T
        position, shifts = position @ ahead, shifts @ ahead
    what = (
        pairs.start, pairs.partner, pairs.image, shifts, pairs.last, position, bodies.radius, bodies.motion, dt, least,
    )  # fmt: skip
    unseen = unseen or any(in_parts(lambda begin, end: closes_unseen(begin, end, *what), bodies.count, weight=4))
    if not unseen:
        return None
    return _relative_speeds(bodies, neighbours, near, dt)


def _near_wall(bodies: Bodies, w: int, listed: WallList, dt: float) -> WallCandidates:
    """Gap, normal and surface velocity for all grains listed near a wall."""
    wall = bodies.walls[w]
    grains = listed.grains
    gap, normal = wall.shape.gaps(grains, bodies.position, bodies.radius)
    velocity = bodies.motion[bodies.count + w : bodies.count + w + 1, V].copy()
    if wall.drive.rotates:
        points = bodies.position[grains] + (bodies.radius[grains] + gap)[:, None] * normal
        velocity = wall.surface_velocity(velocity[0], points)
    near = WallCandidates(grains, gap, normal, listed.last.copy(), np.zeros(len(grains)), velocity)
    if wall.bends and len(grains):
        near.sink = sink(bodies, w, near, dt)
    return near


def sink(bodies: Bodies, w: int, near: WallCandidates, dt: float) -> Array:
    """How much a grain that glides along a concave or turning wall would sink into it within the step (m), <= 0.

    Normals are fixed within a step. On a drum the chord of each step ends beyond the circle, and with g_pos that would
    never be taken back: the gap to be closed is smaller by as much.
    """
    ahead = bodies.walls[w].ahead(bodies.motion[bodies.count + w, V], dt)
    glide = bodies.motion[near.grains, V] - near.approach(bodies)[:, None] * near.normal
    there = bodies.position[near.grains] + dt * glide
    each = np.arange(len(near.grains), dtype=np.int32)
    gap, _ = ahead.shape.gaps(each, there, bodies.radius[near.grains])
    return np.minimum(gap - near.gap, 0.0)


def _relative_speeds(
    bodies: Bodies, neighbours: Neighbours, near: list[WallCandidates], dt: float, speed: Array | None = None
) -> Array:
    """A_i: the largest speed of grain i relative to any listed neighbour, and towards or away from a wall.

    speed : least values, to be written over.
    A flow adds |L| d between centres at a distance d, which is at most twice the larger radius for grains that touch.
    """
    if speed is None:
        speed = neighbours.work.take("of each grain", bodies.count)
        speed.fill(0.0)
    for wall in near:  # a wall lists each grain once
        raise_approach(wall.grains, wall.normal, wall.velocity, bodies.motion, speed)
    square = np.square(speed, out=speed)
    what = neighbours.pairs.start, neighbours.pairs.partner, bodies.motion, square
    in_parts(lambda begin, end: relative_speed(begin, end, *what), bodies.count, weight=4)
    speed = np.sqrt(square, out=square)
    if bodies.flows:
        rate = strain_rate(bodies)
        speed = (speed + rate * (2.0 * bodies.radius + bodies.reach)) / (1.0 - dt * rate)
    return speed


@kernel
def _towards(k, i, normal, velocity, motion):
    """Speed of the k-th listed grain, which is i, towards a surface, whose velocity is one for all or one for each."""
    at = k if len(velocity) > 1 else 0
    x, y, z = difference(motion, i, velocity, at)
    return x * normal[k, X] + y * normal[k, Y] + z * normal[k, Z]


@kernel
def approach(grains, normal, velocity, motion, speed):
    """Speed of each listed grain towards a surface."""
    for k in range(grains.size):
        speed[k] = _towards(k, grains[k], normal, velocity, motion)


@kernel
def raise_approach(grains, normal, velocity, motion, speed):
    """Raise A_i of each listed grain to its speed towards or away from a surface."""
    for k in range(grains.size):
        i = grains[k]
        speed[i] = max(speed[i], abs(_towards(k, i, normal, velocity, motion)))


@kernel
def choose_near(grains, gap, normal, last, sink, speed, margin, ahead, first, row):
    """Number the candidates among the grains near a wall, from row `first` on; returns which they are, and theirs."""
    keep, count = np.empty(grains.size, np.int32), 0
    for k in range(grains.size):
        row[k] = -1
        if gap[k] + sink[k] < margin + ahead * speed[grains[k]]:
            keep[count], row[k] = k, first + count
            count += 1
    keep = keep[:count]
    return keep, grains[keep], gap[keep], normal[keep], last[keep], sink[keep]


@kernel
def meets_unseen(grains, gap, sink, normal, velocity, row, motion, dt, least):
    """True when some grain near a wall without a contact row overlaps with it after this step."""
    for k in range(grains.size):
        if row[k] < 0:
            v_n = -_towards(k, grains[k], normal, velocity, motion)
            if gap[k] + sink[k] + dt * v_n < -least:  # Eq. (gap-change)
                return True
    return False


@kernel
def relative_speed(begin, end, start, partner, motion, square):
    """Raise A_i^2 to the largest relative speed, squared, of any listed neighbour, for the pairs of some grains."""
    for i in range(begin, end):
        top = 0.0
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            x, y, z = difference(motion, j, motion, i)
            u = x * x + y * y + z * z
            top = max(top, u)
            if u > square[j]:  # grain j may belong to another thread
                raise_to(square, j, u)
        if top > square[i]:
            raise_to(square, i, top)


@kernel
def choose_pairs(begin, end, start, partner, image, shifts, position, radius, speed, margin, ahead, colour, counts):
    """Mark the candidates among the pairs of some grains by the sign of their colours, and count those of each."""
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            j, at = partner[k], image[k]
            x, y, z = to_image(position, i, j, shifts, at)
            near = radius[i] + radius[j] + margin + ahead * max(speed[i], speed[j])
            own = colour[k] if colour[k] >= 0 else -1 - colour[k]
            if x * x + y * y + z * z < near * near:
                colour[k] = own
                counts[own] += 1
            else:
                colour[k] = -1 - own


@kernel
def number_pairs(begin, end, first, start, colour, last, origin):
    """Rows of the candidates among the pairs of some grains, from `first` on in each colour; what they were before."""
    for k in range(start[begin], start[end]):
        own = colour[k]
        if own >= 0:
            origin[first[own], 0] = last[k]
            last[k] = first[own]
            first[own] += 1
        else:
            last[k] = -1


@kernel
def closes_unseen(begin, end, start, partner, image, shifts, row, position, radius, motion, dt, least):
    """True when some listed pair without a contact row overlaps after this step."""
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            if row[k] >= 0:
                continue
            j, at = partner[k], image[k]
            u_x, u_y, u_z = difference(motion, j, motion, i)
            # Eq. (dx)
            x = position[j, X] - position[i, X] + dt * u_x + shifts[at, X]
            y = position[j, Y] - position[i, Y] + dt * u_y + shifts[at, Y]
            z = position[j, Z] - position[i, Z] + dt * u_z + shifts[at, Z]
            near = radius[i] + radius[j] - least
            if x * x + y * y + z * z < near * near:
                return True
    return False
