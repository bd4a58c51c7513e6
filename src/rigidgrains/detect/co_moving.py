"""Co-moving frames: grains that move together keep their lists, however fast they move.

Space is cut into blocks, and each block has a frame that goes along with its grains. What counts for a list is how far
grains have come in their frames, and how far the frames of adjacent blocks have come apart. Blocks that are not
adjacent are a side apart, which is more than their grains can bridge; a grain that could has a skin for all of it.

All bounds are convex in time: where they hold at both ends of a step they hold within it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V_X, V_Y, V_Z, X, Y, Z
from ..model.vectors import difference
from ..runtime.barrier import meet, share
from ..runtime.compiled import allocating, kernel
from ..runtime.memory import Workspace
from ..runtime.threads import spread, together, worth
from .grid import corners

Array = NDArray[np.float64]
Index = NDArray[np.int32]

BLOCK = 3.0  # mean diameters: the least side of a block beyond what two grains need
FAST = 3.0  # times the mean square speed: a grain beyond does not count for the motion of a block
BLOW = 2.0  # times what a block may be slowed down: how far some of its grains may come


@dataclass
class Shift:
    """How far frames come within a step.

    path  : (blocks, 3) m, since lists were made, until the end of the step
    start : (blocks, 3) m, until its beginning
    apart : (blocks,) m, half of the most that an adjacent block has come away; span : m, the most for any two blocks
    """

    path: Array
    start: Array
    apart: Array
    span: float


@dataclass
class Frames:
    """The blocks and who is in them.

    block : (n,) of each grain; -1 - block for those whose motion does not count
    shape : (3,) blocks along each axis; side : m
    bridge : m, what two grains need to touch: the largest diameter, and the reach of laws
    work  : where memory is taken from; of two frames with the same one only the later is good
    """

    block: Index
    shape: NDArray[np.int64]
    side: float
    bridge: float
    work: Workspace = field(default_factory=Workspace, repr=False)
    _sorted: tuple[Index, Index, NDArray[np.bool_]] | None = field(default=None, init=False, repr=False)
    _room: tuple[Array, Array, Array] | None = field(default=None, init=False, repr=False)

    @classmethod
    def still(cls, grains: int, work: Workspace | None = None) -> Frames:
        """One frame for all that does not move."""
        work = Workspace() if work is None else work
        block = work.take("block", grains, kind=np.int32)
        block.fill(-1)
        return cls(block, np.ones(3, np.int64), math.inf, 0.0, work)

    @classmethod
    def of(cls, bodies: Bodies, dt: float, work: Workspace) -> Frames:
        """Blocks for grains as they move now; in a periodic cell, where adjacent is another matter, one at rest.

        Grains whose velocity differs from the mean by more than FAST mean squares do not count. Blocks are no more than
        grains, however far these have flown.
        """
        n, position, motion = bodies.count, bodies.position, bodies.motion
        if bodies.cell is not None or not n:
            return cls.still(n, work)
        block, shape = work.take("block", n, kind=np.int32), np.empty(3, np.int64)
        lower, upper = corners(position)
        mean, square = mean_motion(n, motion)
        bridge = 2.0 * float(bodies.bound.max()) + bodies.reach
        side = cut(lower, upper, bridge + max(2.0 * BLOCK * bodies.mean_radius, 8.0 * dt * math.sqrt(square)), n, shape)
        what = position, motion, lower, side, shape, mean, FAST**2 * square, block
        spread(place, n, *what, weight=2)
        return cls(block, shape, side, bridge, work)

    @property
    def blocks(self) -> int:
        return int(self.shape.prod())

    @property
    def room(self) -> tuple[Array, Array, Array]:
        """Where `shift_frames` writes `start`, `path` and `apart`."""
        if self._room is None:
            blocks, work = self.blocks, self.work
            self._room = work.take("start", blocks, 3), work.take("path", blocks, 3), work.take("apart", blocks)
        return self._room

    def shift(self, position: Array, motion: Array, reference: Array, dt: float) -> Shift:
        """Where frames go in this step: as the grains that count do on average, of all blocks where one has none."""
        what = *self.leaders, self.shape, position, motion, reference, dt, *self.room
        span = together(shift_frames, worth(len(self.block) + 32 * self.blocks), *what)
        start, path, apart = self.room
        return Shift(path, start, apart, span)

    @property
    def leaders(self) -> tuple[Index, Index, NDArray[np.bool_]]:
        """The grains that count, block after block, see `sort_leaders`; found when they are first asked for."""
        if self._sorted is None:
            blocks = self.blocks
            first = self.work.take("first leader", blocks + 2, kind=np.int32)
            leader = self.work.take("leader", len(self.block), kind=np.int32)
            others = self.work.take("others", blocks, kind=np.bool_)
            sort_leaders(self.block, first, leader, others)
            self._sorted = first, leader, others
        return self._sorted

    def bridged(self, span: float) -> float:
        """m, how far a grain may come in its frame without meeting one of a block that is not adjacent."""
        return 0.5 * (self.side - self.bridge - span)


@allocating
def mean_motion(n, motion):
    """Mean velocity of the grains, and the mean square of what each differs from it."""
    mean, square = np.zeros(3), 0.0
    for i in range(n):
        for a in range(3):
            mean[a] += motion[i, a]
    for a in range(3):
        mean[a] /= n
    for i in range(n):
        for a in range(3):
            square += (motion[i, a] - mean[a]) ** 2 / n
    return mean, square


@kernel
def cut(lower, upper, side, n, shape):
    """Cut a box into no more than n blocks; returns their side, at least the given one."""
    blocks = n + 1.0
    while blocks > n:
        blocks = 1.0
        for a in range(3):
            blocks *= math.floor((upper[a] - lower[a]) / side) + 1.0
        side *= 1.25 if blocks > n else 1.0
    for a in range(3):
        shape[a] = np.int64((upper[a] - lower[a]) / side) + 1
    return side


@kernel
def place(begin, end, position, motion, lower, side, shape, mean, fast, block):
    """Find the blocks of some grains."""
    for i in range(begin, end):
        at = np.int64(0)
        for a in (Z, Y, X):
            at = at * shape[a] + min(np.int64((position[i, a] - lower[a]) / side), shape[a] - 1)
        x, y, z = motion[i, V_X] - mean[X], motion[i, V_Y] - mean[Y], motion[i, V_Z] - mean[Z]
        block[i] = at if x * x + y * y + z * z <= fast else -1 - at


@kernel
def sort_leaders(block, first, leader, others):
    """Sort the grains that count by block: leader[first[b]:first[b + 1]]; others tells where there are some besides."""
    for b in range(first.size):
        first[b] = 0
    for b in range(others.size):
        others[b] = False
    for i in range(block.size):
        if block[i] < 0:
            others[-1 - block[i]] = True
        else:
            first[block[i] + 2] += 1
    for b in range(2, first.size):
        first[b] += first[b - 1]
    for i in range(block.size):
        if block[i] >= 0:
            leader[first[block[i] + 1]] = i
            first[block[i] + 1] += 1


@kernel
def shift_frames(
    thread, threads, meeting, first, leader, others, shape, position, motion, reference, dt, start, path, apart
):  # fmt: skip
    """Where frames go in a step, see `Shift`; returns the most that any two have come apart (m)."""
    begin, end = share(0, len(path), thread, threads)
    apart[begin:end] = 0.0
    follow(begin, end, first, leader, position, motion, reference, dt, start, path)
    meet(meeting, threads)
    if thread == 0:
        settle(first, others, start, path)
    meet(meeting, threads)
    span = most_apart(start, path)
    if span > 0.0:
        part_ways(begin, end, start, path, shape, apart)
    meet(meeting, threads)
    return span


@kernel
def follow(begin, end, first, leader, position, motion, reference, dt, start, path):
    """Sum of the displacements in some blocks at the beginning and at the end of a step."""
    for b in range(begin, end):
        s_x, s_y, s_z, p_x, p_y, p_z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(first[b], first[b + 1]):
            i = leader[k]
            x, y, z = difference(position, i, reference, i)
            s_x, s_y, s_z = s_x + x, s_y + y, s_z + z
            x, y, z = x + dt * motion[i, V_X], y + dt * motion[i, V_Y], z + dt * motion[i, V_Z]
            p_x, p_y, p_z = p_x + x, p_y + y, p_z + z
        start[b, X], start[b, Y], start[b, Z] = s_x, s_y, s_z
        path[b, X], path[b, Y], path[b, Z] = p_x, p_y, p_z


@kernel
def settle(first, others, start, path):
    """Turn sums into means, NaN for a block without grains; all stays as it is where nobody counts."""
    blocks = len(start)
    count = np.float64(first[blocks])
    if count == 0.0:
        return
    for way in (start, path):
        for a in range(3):
            everyone = 0.0
            for b in range(blocks):
                everyone += way[b, a]
            everyone /= count
            for b in range(blocks):
                if first[b + 1] > first[b]:
                    way[b, a] /= np.float64(first[b + 1] - first[b])
                else:
                    way[b, a] = everyone if others[b] else np.nan


@kernel
def most_apart(start, path):
    """The most that any two blocks have come apart (m)."""
    span = 0.0
    for way in (start, path):
        square = 0.0
        for a in range(3):
            least, most = np.inf, -np.inf
            for b in range(len(way)):
                if not math.isnan(way[b, a]):
                    least, most = min(least, way[b, a]), max(most, way[b, a])
            square += (most - least) ** 2 if most > least else 0.0
        span = max(span, math.sqrt(square))
    return span


@kernel
def part_ways(begin, end, start, path, shape, apart):
    """Raise `apart` of some blocks to half of the most that an adjacent one has come away."""
    for b in range(begin, end):
        if math.isnan(path[b, X]):
            continue
        x, y, z = b % shape[X], b // shape[X] % shape[Y], b // (shape[X] * shape[Y])
        for way in (start, path):
            for k in range(max(z - 1, 0), min(z + 2, shape[Z])):
                for j in range(max(y - 1, 0), min(y + 2, shape[Y])):
                    for i in range(max(x - 1, 0), min(x + 2, shape[X])):
                        other = i + shape[X] * (j + shape[Y] * k)
                        d_x, d_y, d_z = difference(way, other, way, b)
                        away = d_x**2 + d_y**2 + d_z**2
                        if away > 4.0 * apart[b] ** 2:
                            apart[b] = 0.5 * math.sqrt(away)


@kernel
def leaves_skin(begin, end, block, position, motion, reference, skin, dt, start, path, apart, span, bridged):
    """True when some grain, of some of them, may leave its skin within this step."""
    for i in range(begin, end):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        x, y, z = difference(position, i, reference, i)
        before = (x - start[b, X]) ** 2 + (y - start[b, Y]) ** 2 + (z - start[b, Z]) ** 2
        x, y, z = x + dt * motion[i, V_X], y + dt * motion[i, V_Y], z + dt * motion[i, V_Z]
        after = (x - path[b, X]) ** 2 + (y - path[b, Y]) ** 2 + (z - path[b, Z]) ** 2
        own = math.sqrt(max(before, after))
        if not own + (apart[b] if own <= bridged else span) <= skin[i]:
            return True
    return False


@kernel
def set_skin(begin, end, block, motion, path, apart, blow, span, bridged, least, widest, ahead, dt, skin):
    """A skin that lasts a few steps at the present speed of each grain in its frame, and one step after a blow."""
    for i in range(begin, end):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        x, y, z = dt * motion[i, V_X] - path[b, X], dt * motion[i, V_Y] - path[b, Y], dt * motion[i, V_Z] - path[b, Z]
        own = math.sqrt(x * x + y * y + z * z)
        step = own + (apart[b] if own <= bridged else span)
        skin[i] = max(least, 1.1 * step, min(ahead * step, widest), own + BLOW * blow[b])
