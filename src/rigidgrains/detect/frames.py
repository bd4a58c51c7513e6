"""Frames: grains that move together keep their lists, however fast they move.

Space is cut into blocks, and each block has a frame that goes along with its grains. What counts for a list is how far
grains have come in their frames, and how far the frames of adjacent blocks have come apart. Blocks that are not
adjacent are a side apart, which is more than their grains can bridge; a grain that could has a skin for all of it.

All bounds are convex in time: where they hold at both ends of a step they hold within it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bodies import Bodies
from ..compiled import kernel
from ..threads import in_parts

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
    """

    block: Index
    shape: NDArray[np.int64]
    side: float
    bridge: float

    @classmethod
    def still(cls, grains: int) -> Frames:
        """One frame for all that does not move."""
        return cls(np.full(grains, -1, np.int32), np.ones(3, np.int64), math.inf, 0.0)

    @classmethod
    def of(cls, bodies: Bodies, dt: float) -> Frames:
        """Blocks for grains as they move now; in a periodic cell, where adjacent is another matter, one at rest."""
        if bodies.cell is not None or not bodies.count:
            return cls.still(bodies.count)
        block, shape = np.empty(bodies.count, np.int32), np.empty(3, np.int64)
        bridge = 2.0 * float(bodies.radius.max()) + bodies.reach
        side = place(
            bodies.position, bodies.motion, bridge, 2.0 * BLOCK * bodies.mean_radius, 8.0 * dt, FAST**2, shape, block
        )
        return cls(block, shape, side, bridge)

    def shift(self, position: Array, motion: Array, reference: Array, dt: float) -> Shift:
        """Where frames go in this step: as the grains that count do on average, of all blocks where one has none."""
        blocks = int(self.shape.prod())
        start, path = np.empty((blocks, 3)), np.empty((blocks, 3))
        settled = follow(self.block, position, motion, reference, dt, start, path)
        if settled:  # nobody leads
            return Shift(path, start, np.zeros(blocks), 0.0)
        apart = np.zeros(blocks)
        span = max(part_ways(start, self.shape, apart), part_ways(path, self.shape, apart))
        return Shift(path, start, apart, span)

    def bridged(self, shift: Shift) -> float:
        """m, how far a grain may come in its frame without meeting one of a block that is not adjacent."""
        return 0.5 * (self.side - self.bridge - shift.span)

    def left(self, shift: Shift, position: Array, motion: Array, reference: Array, skin: Array, dt: float) -> bool:
        """True when some grain may leave its skin within this step."""
        what = (
            self.block, position, motion, reference, skin, dt, shift.start, shift.path, shift.apart, shift.span,
            self.bridged(shift),
        )  # fmt: skip
        return any(in_parts(lambda begin, end: leaves_skin(begin, end, *what), len(skin), weight=2))


@kernel
def place(position, motion, bridge, least, ahead, fast, shape, block):  # type: ignore[no-untyped-def]
    """Find the block of each grain; returns the side of a block.

    Grains whose velocity differs from the mean by more than `fast` mean squares do not count. Blocks are no more than
    grains, however far these have flown.
    """
    n = block.size
    lower, upper = position[0].copy(), position[0].copy()
    mean, square = np.zeros(3), 0.0
    for i in range(n):
        for a in range(3):
            lower[a], upper[a] = min(lower[a], position[i, a]), max(upper[a], position[i, a])
            mean[a] += motion[i, a]
    mean /= n
    for i in range(n):
        for a in range(3):
            square += (motion[i, a] - mean[a]) ** 2 / n
    side = bridge + max(least, ahead * np.sqrt(square))
    while np.prod(np.floor((upper - lower) / side) + 1.0) > n:
        side *= 1.25
    for a in range(3):
        shape[a] = np.int64((upper[a] - lower[a]) / side) + 1
    for i in range(n):
        at = np.int64(0)
        for a in (2, 1, 0):
            at = at * shape[a] + min(np.int64((position[i, a] - lower[a]) / side), shape[a] - 1)
        x, y, z = motion[i, 0] - mean[0], motion[i, 1] - mean[1], motion[i, 2] - mean[2]
        block[i] = at if x * x + y * y + z * z <= fast * square else -1 - at
    return side


@kernel
def follow(block, position, motion, reference, dt, start, path):  # type: ignore[no-untyped-def]
    """Mean displacement of each block at the beginning and at the end of a step; NaN without grains.

    Returns whether nobody counts, and all stays where it is.
    """
    blocks = len(start)
    leading, members = np.zeros(blocks), np.zeros(blocks)
    start[:], path[:] = 0.0, 0.0
    for i in range(block.size):
        b = block[i]
        if b < 0:
            members[-1 - b] += 1.0
            continue
        leading[b] += 1.0
        for a in range(3):
            x = position[i, a] - reference[i, a]
            start[b, a] += x
            path[b, a] += x + dt * motion[i, a]
    count = leading.sum()
    if count == 0.0:
        return True
    for a in range(3):
        all_start, all_path = start[:, a].sum() / count, path[:, a].sum() / count
        for b in range(blocks):
            if leading[b] > 0.0:
                start[b, a] /= leading[b]
                path[b, a] /= leading[b]
            else:
                start[b, a] = all_start if members[b] > 0.0 else np.nan
                path[b, a] = all_path if members[b] > 0.0 else np.nan
    return False


@kernel
def part_ways(path, shape, apart):  # type: ignore[no-untyped-def]
    """Raise `apart` to half of the most that an adjacent block has come away; returns the most of any two."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for b in range(len(path)):
        if np.isnan(path[b, 0]):
            continue
        for a in range(3):
            lower[a], upper[a] = min(lower[a], path[b, a]), max(upper[a], path[b, a])
        x, y, z = b % shape[0], b // shape[0] % shape[1], b // (shape[0] * shape[1])
        for k in range(max(z - 1, 0), min(z + 2, shape[2])):
            for j in range(max(y - 1, 0), min(y + 2, shape[1])):
                for i in range(max(x - 1, 0), min(x + 2, shape[0])):
                    other = i + shape[0] * (j + shape[1] * k)
                    away = (
                        (path[other, 0] - path[b, 0]) ** 2
                        + (path[other, 1] - path[b, 1]) ** 2
                        + (path[other, 2] - path[b, 2]) ** 2
                    )
                    if away > 4.0 * apart[b] ** 2:
                        apart[b] = 0.5 * np.sqrt(away)
    return np.sqrt(((upper - lower) ** 2).sum())


@kernel
def leaves_skin(  # type: ignore[no-untyped-def]
    begin, end, block, position, motion, reference, skin, dt, start, path, apart, span, bridged
):
    """True when some grain, of some of them, may leave its skin within this step."""
    for i in range(begin, end):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        x = position[i, 0] - reference[i, 0]
        y = position[i, 1] - reference[i, 1]
        z = position[i, 2] - reference[i, 2]
        before = (x - start[b, 0]) ** 2 + (y - start[b, 1]) ** 2 + (z - start[b, 2]) ** 2
        x, y, z = x + dt * motion[i, 0], y + dt * motion[i, 1], z + dt * motion[i, 2]
        after = (x - path[b, 0]) ** 2 + (y - path[b, 1]) ** 2 + (z - path[b, 2]) ** 2
        own = np.sqrt(max(before, after))
        if not own + (apart[b] if own <= bridged else span) <= skin[i]:
            return True
    return False


@kernel
def set_skin(  # type: ignore[no-untyped-def]
    begin, end, block, motion, path, apart, blow, span, bridged, least, widest, ahead, dt, skin
):
    """A skin that lasts a few steps at the present speed of each grain in its frame, and one step after a blow."""
    for i in range(begin, end):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        x, y, z = dt * motion[i, 0] - path[b, 0], dt * motion[i, 1] - path[b, 1], dt * motion[i, 2] - path[b, 2]
        own = np.sqrt(x * x + y * y + z * z)
        step = own + (apart[b] if own <= bridged else span)
        skin[i] = max(least, 1.1 * step, min(ahead * step, widest), own + BLOW * blow[b])


@kernel
def foresee(block, gap, ahead, step, blow):  # type: ignore[no-untyped-def]
    """Raise what a block may be slowed down to its step towards a wall that it will meet."""
    for i in range(block.size):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        if blow[b] < step[b] and gap[i] < ahead * step[b]:
            blow[b] = step[b]


@kernel
def list_near(gap, skin, more, block, ahead, clear):  # type: ignore[no-untyped-def]
    """Grains that may reach a wall within some steps `clear` of their frames; it becomes what the others have left."""
    near, count, farther = np.empty(gap.size, np.int32), 0, np.empty(clear.size)
    for b in range(clear.size):
        farther[b] = np.inf
    for i in range(gap.size):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        away = gap[i] - skin[i] - more
        if away > ahead * clear[b]:
            farther[b] = min(farther[b], away)
        else:
            near[count] = i
            count += 1
    for b in range(clear.size):
        clear[b] = farther[b]
    return near[:count].copy()


@kernel
def _towards(path, b, normals, flat, w):  # type: ignore[no-untyped-def]
    """How far a frame comes towards a wall; in whatever direction it goes if that is not a plane."""
    if flat[w]:
        return -(path[b, 0] * normals[w, 0] + path[b, 1] * normals[w, 1] + path[b, 2] * normals[w, 2])
    return np.sqrt(path[b, 0] ** 2 + path[b, 1] ** 2 + path[b, 2] ** 2)


@kernel
def approach(path, normals, flat, step):  # type: ignore[no-untyped-def]
    """How far frames come towards each wall, 0 for those that go away from it."""
    for w in range(len(flat)):
        for b in range(len(path)):
            step[w, b] = max(_towards(path, b, normals, flat, w), 0.0)


@kernel
def bumps(start, path, normals, flat, clear):  # type: ignore[no-untyped-def]
    """True when a frame has come so close to a wall that a grain that is not listed could touch it."""
    for w in range(len(flat)):
        for b in range(len(path)):
            ends = max(_towards(start, b, normals, flat, w), _towards(path, b, normals, flat, w))
            if ends > clear[w, b]:  # not where there are no grains
                return True
    return False
