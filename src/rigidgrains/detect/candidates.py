"""Narrow phase: which neighbours are candidates for contact in this step.

A pair is a candidate if its gap is below m0 + 2 dt max(A_0, A_1), where A_i is the largest speed of body i relative to
any of its neighbours. The margin follows the local motion: a fixed one lets pairs close unseen within a step. Twice the
speed, since a blow from both sides makes grains faster than they were before. A blow may still reach, through a chain
of contacts, a pair whose neighbours were all at rest; `missed_pairs` finds such pairs from the velocities after the
solve, and the step is solved again with the speeds it has shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import L, X, Y, Z
from ..model.deforming import strain_rate
from ..model.vectors import difference, to_image
from ..runtime.barrier import meet, raise_to, share
from ..runtime.compiled import kernel, part
from ..runtime.threads import spread, together, worth
from .colours import COLOURS, NO_TILES
from .near_walls import NearWalls, WallCandidates, choose, meets_unseen, near_walls, raise_approach, with_motion
from .neighbours import Neighbours
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
    tile  : grains in a tile
    """

    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    count: int
    tiles: NDArray[np.int64] = field(default_factory=lambda: NO_TILES)
    tile: int = 0

    def number(self, listed: PairList, origin: Index) -> None:
        """Give each candidate its row: by colour, and in list order within each. The pair remembers it.

        origin : (c, 2) takes, in its first column, the row that each had in the previous step, -1 for none
        """
        what = PART, self.first.copy(), listed.start, listed.colour, listed.last, origin
        spread(number_pairs, len(listed.start) - 1, *what, weight=4, part=PART)


@dataclass
class Candidates:
    """Candidates among the listed pairs and near walls.

    near : all grains listed near walls, with the lists of build number `builds`
    coloured : whether rows of grain pairs stand colour after colour, not in list order
    """

    pairs: PairCandidates
    walls: WallCandidates
    near: NearWalls
    builds: int = 0
    coloured: bool = False

    @property
    def count(self) -> int:
        return self.pairs.count + self.walls.count

    def near_now(self, bodies: Bodies, neighbours: Neighbours, dt: float) -> NearWalls:
        """The same after the solve: gaps are as they were, unless lists are new; so are walls, unless forces move some.

        Grains glide on at other velocities, which counts where a wall bends.
        """
        if self.builds != neighbours.builds:
            return near_walls(bodies, neighbours, dt)
        walls = bodies.wall_table
        if not walls.pistons and not walls.bending:
            return self.near
        return with_motion(self.near, bodies, dt)


def find_candidates(
    bodies: Bodies, neighbours: Neighbours, dt: float, speed: Array | None = None, *, coloured: int = 0
) -> Candidates:
    """Candidates of this step; those near walls have their rows, pairs of grains get them by `PairCandidates.number`.

    speed    : (n,) m/s, least values of A, for grains that are known to become faster
    coloured : tables of forces that sweeps by colours go through, rows of grain pairs stand colour after colour then;
               0 for rows in list order
    """
    near = near_walls(bodies, neighbours, dt)
    margin = MARGIN * bodies.radii.least + bodies.reach
    pairs, speed = _pick_pairs(bodies, neighbours, near, dt, speed, margin, coloured)
    walls = choose(near, neighbours.walls, speed, margin, BLOW * dt, pairs.count)
    return Candidates(pairs, walls, near, neighbours.builds, coloured > 0)


def _pick_pairs(
    bodies: Bodies, neighbours: Neighbours, near: NearWalls, dt: float, speed: Array | None, margin: float,
    coloured: int,
) -> tuple[PairCandidates, Array]:  # fmt: skip
    """Choose among the listed pairs, by colours if rows are to stand in these; and the speeds A (n,) of grains.

    speed : least values, to be written over
    """
    pairs, colours = neighbours.pairs, COLOURS + 1 if coloured else 1
    tile = rows_in_tile(bodies.count, coloured) if coloured else 0
    colour = pairs.painted(tile, bodies.id, neighbours.work)
    parts, sizes, tiles = np.zeros((-(-bodies.count // PART), colours), np.int64), np.empty(colours, np.int64), NO_TILES
    first, what = np.empty_like(parts), _speeds(bodies, neighbours, near, dt, speed)
    chosen = pairs.image, bodies.shifts, bodies.position, margin, BLOW * dt, PART, colour, parts, first, sizes
    count = together(pick_pairs, worth(4 * bodies.count), *what, *chosen)
    if 0 < tile < bodies.count:
        tiles = np.vstack([first[:: TILE // PART], first[-1] + parts[-1]])
    return PairCandidates(first, sizes, count, tiles, tile), what[-1]


def missed_pairs(bodies: Bodies, neighbours: Neighbours, dt: float, candidates: Candidates) -> Array | None:
    """Speeds A (n,) after the solve, if some pair that is no candidate would overlap by then; None if all is well.

    The lists themselves may be too short for the new motion: they are made anew first if a body has left its skin.
    """
    neighbours.widen(bodies, dt)
    pairs, least = neighbours.pairs, UNSEEN * bodies.radii.least
    near = candidates.near_now(bodies, neighbours, dt)
    unseen = meets_unseen(
        near.grains, near.gap, near.sink, near.normal, near.velocity, near.last, bodies.motion, dt, least
    )
    position, shifts = bodies.position, bodies.shifts
    if bodies.flows:  # where the flow alone will take them
        ahead = np.eye(3) + dt * bodies.flow[:, L].T
        position, shifts = position @ ahead, shifts @ ahead
    what = (
        pairs.start, pairs.partner, pairs.image, shifts, pairs.last, position, bodies.radius, bodies.motion, dt, least,
    )  # fmt: skip
    unseen = unseen or any(spread(closes_unseen, bodies.count, *what, weight=4))
    if not unseen:
        return None
    given = _speeds(bodies, neighbours, near, dt)
    together(find_speeds, worth(4 * bodies.count), *given)
    return given[-1]


def _speeds(
    bodies: Bodies, neighbours: Neighbours, near: NearWalls, dt: float, speed: Array | None = None
) -> tuple[Any, ...]:
    """What `find_speeds` takes, the speeds last; speed : least values of them, to be written over."""
    if speed is None:
        speed = neighbours.work.borrow("of each grain", bodies.count)
        speed.fill(0.0)
    rate = strain_rate(bodies) if bodies.flows else 0.0
    return (
        near.grains, near.normal, near.velocity, neighbours.pairs.start, neighbours.pairs.partner, bodies.motion,
        bodies.radius, bodies.reach, rate, dt, speed,
    )  # fmt: skip


@kernel
def find_speeds(
    thread, threads, meeting, grains, normal, velocity, start, partner, motion, radius, reach, rate, dt, speed
):
    """A_i: the largest speed of grain i relative to any listed neighbour, and towards or away from a wall.

    A flow of this rate adds |L| d between centres at a distance d, which is at most twice the larger radius for grains
    that touch.
    """
    first, last = share(0, len(speed), thread, threads)
    if thread == 0:
        raise_approach(grains, normal, velocity, motion, speed)
    meet(meeting, threads)
    for i in range(first, last):
        speed[i] *= speed[i]
    meet(meeting, threads)
    relative_speed(first, last, start, partner, motion, speed)
    meet(meeting, threads)
    for i in range(first, last):
        speed[i] = (math.sqrt(speed[i]) + rate * (2.0 * radius[i] + reach)) / (1.0 - dt * rate)


@kernel
def pick_pairs(
    thread, threads, meeting, grains, normal, velocity, start, partner, motion, radius, reach, rate, dt, speed, image,
    shifts, position, margin, ahead, part, colour, parts, first, sizes,
):  # fmt: skip
    """Mark the candidates among the listed pairs; where those of each part of the list begin in each colour.

    parts : (parts, colours) numbers of candidates, 0 at first; returns how many there are, on the first thread
    """
    find_speeds(
        thread, threads, meeting, grains, normal, velocity, start, partner, motion, radius, reach, rate, dt, speed
    )
    meet(meeting, threads)
    begin, end = share(0, len(parts), thread, threads)
    for at in range(begin, end):
        choose_pairs(
            at * part, min((at + 1) * part, len(speed)), start, partner, image, shifts, position, radius, speed, margin,
            ahead, colour, parts[at],
        )  # fmt: skip
    meet(meeting, threads)
    return begin_rows(parts, first, sizes) if thread == 0 else 0


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


@part
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


@part
def begin_rows(parts, first, sizes):
    """Where the candidates of each part of the list begin in each colour, colour after colour; how many there are."""
    row = 0
    for k in range(parts.shape[1]):
        begun = row
        for at in range(parts.shape[0]):
            first[at, k] = row
            row += parts[at, k]
        sizes[k] = row - begun
    return row


@kernel
def number_pairs(begin, end, part, first, start, colour, last, origin):
    """Rows of the candidates among the pairs of some grains, from `first` on in each colour; what they were before.

    first : (parts, colours), counted up
    """
    at_part = begin // part
    for k in range(start[begin], start[end]):
        own = colour[k]
        if own >= 0:
            origin[first[at_part, own], 0] = last[k]
            last[k] = first[at_part, own]
            first[at_part, own] += 1
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
