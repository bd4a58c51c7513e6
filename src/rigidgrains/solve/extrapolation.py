"""Extrapolation after Nesterov: forces and velocities, and the sums that judge a sweep; loops over rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime import threads
from ..runtime.compiled import kernel
from ..runtime.simd import WIDTH, lanes_of, lanes_with, sum_of
from ..runtime.threads import in_parts, total

Array = NDArray[np.float64]


def extrapolate(beta: float, now: Array, last: Array, start: Array | None = None) -> None:
    """Extrapolate rows by beta times their last step, and remember from where and, if asked, to where."""
    loop, what = (_extrapolate, (now, last)) if start is None else (_extrapolate_to, (now, last, start))
    if len(now) <= threads.PART or threads.get_threads() == 1:
        loop(0, len(now), beta, *what)
    else:
        in_parts(lambda first, end: loop(first, end, beta, *what), len(now))


@kernel
def _extrapolate(first, end, beta, now, last):
    """Some of the rows; masses stay what they are. In slices loops count from zero, and vectors can be made of them."""
    x, before = now[first:end].reshape(-1), last[first:end].reshape(-1)
    for k in range(len(x)):
        y = x[k] + beta * (x[k] - before[k])
        before[k] = x[k]
        x[k] = y


@kernel
def _extrapolate_to(first, end, beta, now, last, start):
    """The same, and where they were extrapolated to."""
    x, before, begin = now[first:end].reshape(-1), last[first:end].reshape(-1), start[first:end].reshape(-1)
    for k in range(len(x)):
        y = x[k] + beta * (x[k] - before[k])
        before[k] = x[k]
        x[k] = begin[k] = y


def judge(forces: Array, last_forces: Array, start: Array, weight: Array) -> tuple[float, float, float, float]:
    """The change by the sweep along the step that forces have taken; squares of the change, the step and the forces.

    weight : like forces, 1/m_n and 1/m_t. A sweep changes a force by m times its gradient, so these are products of
             gradients with steps, whatever the masses.
    """
    if len(forces) <= threads.PART or threads.get_threads() == 1:
        alone: tuple[float, float, float, float] = judge_parts(threads.PART, forces, last_forces, start, weight)
        return alone
    found: tuple[float, float, float, float] = total(
        in_parts(lambda first, end: judge_some(first, end, forces, last_forces, start, weight), len(forces))
    )
    return found


@kernel
def judge_some(first, end, forces, last_forces, start, weight):
    """The sums over some contacts: lane by lane, then what is left over number by number."""
    forces, last_forces = forces[first:end].reshape(-1), last_forces[first:end].reshape(-1)
    start, weight = start[first:end].reshape(-1), weight[first:end].reshape(-1)
    lanes = len(forces) - len(forces) % WIDTH
    along, change, step, square = 0.0, 0.0, 0.0, 0.0
    for k in range(lanes, len(forces)):
        r, w = forces[k], weight[k]
        d, s = r - start[k], r - last_forces[k]
        along, change, step, square = along + w * d * s, change + w * d * d, step + w * s * s, square + w * r * r
    nothing = lanes_with(0.0)
    alongs, changes, steps, squares = nothing, nothing, nothing, nothing
    for k in range(0, lanes, WIDTH):
        r, w = lanes_of(forces, k), lanes_of(weight, k)
        d, s = r - lanes_of(start, k), r - lanes_of(last_forces, k)
        alongs, changes, steps, squares = (
            alongs + w * d * s,
            changes + w * d * d,
            steps + w * s * s,
            squares + w * r * r,
        )
    return along + sum_of(alongs), change + sum_of(changes), step + sum_of(steps), square + sum_of(squares)


@kernel
def judge_parts(part, forces, last_forces, start, weight):
    """The sums over all, part by part, as threads would add them."""
    along, change, step, square = 0.0, 0.0, 0.0, 0.0
    for first in range(0, len(forces), part):
        a, c, s, q = judge_some(first, min(first + part, len(forces)), forces, last_forces, start, weight)
        along, change, step, square = along + a, change + c, step + s, square + q
    return along, change, step, square
