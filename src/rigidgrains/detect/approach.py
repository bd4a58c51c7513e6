"""How frames and their grains come towards walls: which grains a wall lists, and how long that lasts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import X, Y, Z
from ..model.shapes import Shape
from ..runtime.compiled import allocating, kernel
from ..runtime.threads import in_parts, spread

Array = NDArray[np.float64]
Index = NDArray[np.int32]


def all_gaps(shape: Shape, bodies: Bodies, gap: Array) -> None:
    """Gaps between all grains and a wall (m); normals are known for one part at a time, and not kept."""

    def fill(begin: int, end: int) -> None:
        gap[begin:end] = some_gaps(shape, bodies, begin, end)

    in_parts(fill, bodies.count, weight=4)


def least_gap(shape: Shape, bodies: Bodies) -> float:
    """m, between a wall and the nearest grain."""
    return min(in_parts(lambda begin, end: float(some_gaps(shape, bodies, begin, end).min()), bodies.count, weight=4))


def some_gaps(shape: Shape, bodies: Bodies, begin: int, end: int) -> Array:
    """Gaps between some grains and a wall (m)."""
    some = np.arange(end - begin, dtype=np.int32)
    return shape.gaps(some, bodies.position[begin:end], bodies.bound[begin:end])[0]


def foresee(block: Index, gap: Array, ahead: float, step: Array, blow: Array) -> None:
    """Raise what a block may be slowed down to its step towards a wall that it will meet."""
    spread(_foresee, len(block), block, gap, ahead, step, blow)


@kernel
def _foresee(begin, end, block, gap, ahead, step, blow):
    """The same for some grains; threads may raise one block, but all to the same value."""
    for i in range(begin, end):
        b = block[i] if block[i] >= 0 else -1 - block[i]
        if blow[b] < step[b] and gap[i] < ahead * step[b]:
            blow[b] = step[b]


@allocating
def list_near(gap, skin, more, block, ahead, clear, near):
    """List grains that may reach a wall within some steps `clear` of their frames, which becomes what others have left.

    near : (n,) takes their numbers; returns how many there are
    """
    count, farther = 0, np.empty(clear.size)
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
    return count


@kernel
def _towards(path, b, normals, flat, w):
    """How far a frame comes towards a wall; in whatever direction it goes if that is not a plane."""
    if flat[w]:
        return -(path[b, X] * normals[w, X] + path[b, Y] * normals[w, Y] + path[b, Z] * normals[w, Z])
    return math.sqrt(path[b, X] ** 2 + path[b, Y] ** 2 + path[b, Z] ** 2)


@kernel
def approach(path, normals, flat, step):
    """How far frames come towards each wall, 0 for those that go away from it."""
    for w in range(len(flat)):
        for b in range(len(path)):
            step[w, b] = max(_towards(path, b, normals, flat, w), 0.0)


@kernel
def bumps(start, path, normals, flat, clear):
    """True when a frame has come so close to a wall that a grain that is not listed could touch it."""
    for w in range(len(flat)):
        for b in range(len(path)):
            ends = max(_towards(start, b, normals, flat, w), _towards(path, b, normals, flat, w))
            if ends > clear[w, b]:  # not where there are no grains
                return True
    return False
