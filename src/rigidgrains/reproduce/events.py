"""The event-driven method, an exact reference: free flight from one collision to the next, restitution e, no friction.

It is the method of choice for a dilute gas. In a dense inelastic cluster infinitely many collisions crowd into a finite
time, and it cannot pass that moment: inelastic collapse. Grains are alike, of diameter and mass 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEEP = 1e-120  # relative velocities at which a collapse in a row need not be followed further, before they underflow


@dataclass(frozen=True)
class Flight:
    """What happened.

    times  : (c,) s, of the collisions; those of a collapse crowd towards a finite time
    energy : (c + 1,) kinetic energy before the first and after each collision
    pairs  : (c, 2) who collided; in a row with a wall 0 is the wall
    ended  : True when no collision was left before the end; False when the count ran into its limit or velocities died
    """

    times: Array
    energy: Array
    pairs: NDArray[np.int64]
    ended: bool


def column(gaps: Array, speeds: Array, e: float, *, wall: bool, gravity: float = 0.0, most: int = 1000) -> Flight:
    """Grains in a row, described by the gaps between neighbours, so that a collapse can be followed to any depth.

    gaps    : with a wall (n,), the first one between wall and grain 0; without (n - 1,)
    speeds  : (n,) velocities; the wall lies at the low end
    gravity : towards the wall
    """
    gap = np.array(gaps, dtype=float)
    v = np.array([0.0, *speeds] if wall else speeds, dtype=float)  # the wall is grain 0 of infinite mass
    rate, pull = np.diff(v), np.zeros(len(gap))
    if wall:
        pull[0] = -gravity
    time, log = 0.0, _Log(v)
    while len(log.times) < most:
        wait = [_fall(g, w, a) for g, w, a in zip(gap, rate, pull)]
        k = int(np.argmin(wait))
        if not wait[k] < math.inf:
            return log.flight(ended=True)
        gap += wait[k] * (rate + 0.5 * wait[k] * pull)
        rate += wait[k] * pull
        gap[k] = 0.0
        v[1 if wall else 0 :] -= gravity * wait[k]
        kick = -(1.0 + e) * rate[k]  # by which the pair's relative velocity changes
        heavy = wall and k == 0
        below, above = (0.0, kick) if heavy else (-0.5 * kick, 0.5 * kick)
        v[k] += below
        v[k + 1] += above
        rate[k] *= -e
        if k > 0:
            rate[k - 1] += below
        if k + 1 < len(rate):
            rate[k + 1] -= above
        time += wait[k]
        log.add(time, k, k + 1, v)
        if 0.0 < np.abs(rate).max() < DEEP:
            break
    return log.flight(ended=False)


def disks(position: Array, velocity: Array, e: float, *, until: float, most: int = 10_000) -> Flight:
    """Smooth disks in free space; position and velocity (n, 2) are moved to the end in place."""
    n = len(position)
    wait = np.full((n, n), math.inf)  # absolute time of the next collision of each pair
    last = np.full(n, -1)  # with whom each disk collided last
    now, log = 0.0, _Log(velocity)
    for i in range(n):
        _foresee(i, now, position, velocity, last, wait)
    while len(log.times) < most:
        i, j = divmod(int(np.argmin(wait)), n)
        ahead = min(float(wait[i, j]), until)
        position += (ahead - now) * velocity
        now = ahead
        if wait[i, j] >= until:
            return log.flight(ended=True)
        normal = position[j] - position[i]
        normal /= np.linalg.norm(normal)
        approach = (velocity[j] - velocity[i]) @ normal
        push = 0.5 * (1.0 + e) * approach * normal
        velocity[i] += push
        velocity[j] -= push
        last[i], last[j] = j, i
        _foresee(i, now, position, velocity, last, wait)
        _foresee(j, now, position, velocity, last, wait)
        log.add(now, i, j, velocity)
    return log.flight(ended=False)


class _Log:
    """Collisions as they come."""

    def __init__(self, velocity: Array) -> None:
        self.times: list[float] = []
        self.pairs: list[tuple[int, int]] = []
        self.energy = [0.5 * float((velocity * velocity).sum())]

    def add(self, time: float, i: int, j: int, velocity: Array) -> None:
        self.times.append(time)
        self.pairs.append((min(i, j), max(i, j)))
        self.energy.append(0.5 * float((velocity * velocity).sum()))

    def flight(self, *, ended: bool) -> Flight:
        return Flight(np.array(self.times), np.array(self.energy), np.array(self.pairs).reshape(-1, 2), ended)


def _fall(gap: float, rate: float, pull: float) -> float:
    """Time until a gap closes: gap + rate t + pull t^2/2 = 0, in the form that does not cancel."""
    if gap == 0.0 and rate >= 0.0:
        return -2.0 * rate / pull if pull < 0.0 and rate > 0.0 else math.inf
    root = rate * rate - 2.0 * pull * gap
    speed = math.sqrt(root) - rate if root >= 0.0 else 0.0
    return 2.0 * gap / speed if speed > 0.0 else math.inf


def _foresee(i: int, now: float, position: Array, velocity: Array, last: NDArray[np.int64], wait: Array) -> None:
    """Times at which disk i meets each other one. A pair that has just collided cannot meet before one is deflected."""
    x, v = position - position[i], velocity - velocity[i]
    b = (x * v).sum(axis=1)
    speed = (v * v).sum(axis=1)
    apart = np.maximum((x * x).sum(axis=1) - 1.0, 0.0)
    root = b * b - speed * apart
    meets = (b < 0.0) & (root >= 0.0)
    meets[i] = False
    meets[(last == i) & (np.arange(len(last)) == last[i])] = False
    times = np.full(len(b), math.inf)
    times[meets] = now + apart[meets] / (np.sqrt(root[meets]) - b[meets])
    wait[i, :] = times
    wait[:, i] = times
