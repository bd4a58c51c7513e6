"""Passivity: contact forces that a step ends with give no energy, however early its sweeps ended.

The work of contact forces over a step is dt times the sum of R . V, with V at its end: forces act along the way that
bodies really go. V is relative, so that what driven walls and moving boundaries do through their contacts is not in it.
At a solution R_n V_n = -R_n gap/dt and R_t . V_t = -mu R_n |V_t|: no work is positive unless overlaps are removed
(gap < 0) or contacts rebound. Forces between two sweeps may be too strong: heavy bodies on light ones bounce off them.

All forces of a cluster, times s, make V a linear function of s and stay within their cones. With

    a = sum of R . V_free + R_n gap/dt,   b = sum of R . (V - V_free) > 0

the factor s = -a/b leaves a work of -s R_n gap, no more than the removal of overlaps explains. It also makes the dual
energy s a + s^2 b/2 least: of all multiples of these forces it is the one closest to the solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..detect.clusters import join, root_of
from ..model.columns import (
    A0_X,
    A0_Y,
    A1_X,
    A1_Y,
    A_0,
    A_1,
    A_ONE,
    A_ZERO,
    BRANCH,
    FLAT_LEVERS,
    INV_MASS,
    INV_SPIN,
    L_X,
    L_Y,
    L_Z,
    M_N,
    N_X,
    N_Y,
    N_Z,
    Q_X,
    R_N,
    R_X,
    R_Y,
    R_Z,
    S_X,
    S_Y,
    S_Z,
    TO_CLOSE,
    U_X,
    V_X,
    V_Y,
    V_Z,
    W_X,
    X,
    Y,
    Z,
)  # fmt: skip
from ..runtime.barrier import meet, share
from ..runtime.compiled import inlined, kernel, part
from ..runtime.memory import copy_rows
from ..runtime.threads import part_of, spread, together, worth
from .criteria import StateCriterion, Verdict, check_verdict
from .kernels.factory import apply_forces

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of the terms: work that is none
WEIGHT = 16  # of a contact in sums, as for `spread`
FEW = 4096  # contacts of a cluster on average, if each part of a loop is to have sums of its own
WORK, TO_REACH, ALLOWED, FREE = range(4)  # columns of the sums over a cluster (W); FREE: R . V_free


def make_passive(problem: ContactProblem) -> float:
    """Weaken the forces of each cluster that gives energy; returns the smallest factor, 1 where none does.

    Velocities of the problem must belong to its forces, and do so afterwards.
    """
    gives, cluster, sums = _powers(problem)
    return _weaken_clusters(problem, cluster, sums) if gives else 1.0


def _powers(problem: ContactProblem) -> tuple[bool, NDArray[np.int32], Array]:
    """Whether a cluster gives energy; clusters of the bodies, and (parts, clusters, 4) sums over the contacts of each.

    The first part has those of all, where there are more. Many clusters are small: then there is one.
    """
    p, whole = problem, problem.branch is not None and bool(problem.flow.any())  # a cell that deforms joins all
    cluster = p.work.take("cluster", len(p.motion), kind=np.int32)
    count = together(_find_clusters, worth(4 * p.count), whole, p.pairs, p.motion, cluster)
    size = part_of(p.count, WEIGHT) if count <= p.count // FEW else p.count
    parts = -(-p.count // size)
    sums = p.work.take("powers", parts * count, 4).reshape(parts, count, 4)
    gives = together(_add_up_all, min(worth(WEIGHT * p.count), parts), size, cluster, *_terms(p), sums)
    return gives, cluster, sums


def _weaken_clusters(problem: ContactProblem, cluster: NDArray[np.int32], sums: Array) -> float:
    """Make the forces of clusters that give energy weaker; returns the smallest factor."""
    p = problem
    _without_forces(p)
    size = -(-p.count // len(sums))
    spread(_add_up_work, p.count, size, cluster, *_terms(p), sums, weight=WEIGHT, part=size)
    _merge(sums, FREE, FREE + 1)
    least = _find_shares(sums)
    spread(_weaken, p.count, cluster, p.pairs, sums, p.forces)
    apply_forces(p)
    return float(least)


def _without_forces(problem: ContactProblem) -> None:
    """Take the contact forces out of the velocities."""
    problem.forces[:] *= -1.0
    apply_forces(problem)
    problem.forces[:] *= -1.0


@dataclass(frozen=True)
class Passive:
    """A state criterion that is met only by forces that give no energy; where they would, it makes them weaker.

    Laws beyond plain friction have energies of their own, and are not asked. Forces that do not meet the criterion when
    they are weaker stay as they were: sweeps go on from there.
    """

    criterion: StateCriterion

    def judge(self, problem: ContactProblem) -> Verdict:
        p, verdict = problem, check_verdict(self.criterion.judge(problem), self.criterion)
        if not verdict.met or p.extra is not None:
            return verdict
        gives, cluster, sums = _powers(p)
        if not gives:
            return verdict
        forces = p.forces.copy()  # few steps need it: it is not kept
        if _weaken_clusters(p, cluster, sums) == 1.0:
            return verdict
        verdict = self.criterion.judge(p)
        if not verdict.met:
            _without_forces(p)
            copy_rows(forces, p.forces)
            apply_forces(p)
        return verdict


def _terms(problem: ContactProblem) -> tuple[object, ...]:
    """What powers are made of."""
    p = problem
    return p.pairs, p.geometry, p.motion, p.forces, p.branch, p.flow, p.extra, p.levers, p.dt


@kernel
def _find_clusters(thread, threads, meeting, whole, pairs, motion, cluster):
    """Clusters of the bodies, all in one or what contacts hold together, see `_number`; how many have contacts.

    Each body is on its own at first. On the first thread; others return nothing that counts.
    """
    first, last = share(0, len(cluster), thread, threads)
    begin, end = share(0, len(pairs), thread, threads)
    for i in range(first, last):
        cluster[i] = 0 if whole else i
    meet(meeting, threads)
    if not whole:
        _join(begin, end, pairs, motion, cluster)
        meet(meeting, threads)
        _flatten(first, last, cluster)
        meet(meeting, threads)
    _mark(begin, end, pairs, cluster)
    meet(meeting, threads)
    return _number(cluster) if thread == 0 else 0


@part
def _join(first, last, pairs, motion, cluster):
    """Join what hangs together by some contacts of bodies that forces move; roots are the lowest numbers."""
    for c in range(first, last):
        i, j = pairs[c, 0], pairs[c, 1]
        if motion[j, INV_MASS] != 0.0 or motion[j, INV_SPIN] != 0.0:
            join(cluster, i, j)


@part
def _flatten(first, last, cluster):
    """Let some bodies know their roots."""
    for i in range(first, last):
        cluster[i] = root_of(cluster, i)


@part
def _mark(first, last, pairs, cluster):
    """Mark clusters that have some contacts: their roots hold -1."""
    for c in range(first, last):
        root = cluster[pairs[c, 0]]
        if root >= 0 and cluster[root] >= 0:
            cluster[root] = -1


@part
def _number(cluster):
    """Give clusters that have contacts numbers; returns how many there are. Only these need sums: in packings few.

    A root holds -1 - its number, other bodies hold their root.
    """
    count = 0
    for i in range(len(cluster)):
        if cluster[i] < 0:
            cluster[i] = -1 - count
            count += 1
    return count


@inlined
def _cluster_of(cluster, i):
    """The number of the cluster of a body."""
    return -1 - (cluster[cluster[i]] if cluster[i] >= 0 else cluster[i])


@part
def _power(c, pairs, geometry, motion, forces, branch, flow, extra, levers):
    """R . V (W) with Eq. (contact-veloc), the flow of a cell that deforms, and the same of torques; |V|."""
    i, j = pairs[c, 0], pairs[c, 1]
    n0, n1, n2 = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
    v0, v1, v2 = motion[j, V_X] - motion[i, V_X], motion[j, V_Y] - motion[i, V_Y], motion[j, V_Z] - motion[i, V_Z]
    if levers is None:
        s0, s1, s2 = motion[i, S_X] + motion[j, S_X], motion[i, S_Y] + motion[j, S_Y], motion[i, S_Z] + motion[j, S_Z]
        v0, v1, v2 = v0 - (s1 * n2 - s2 * n1), v1 - (s2 * n0 - s0 * n2), v2 - (s0 * n1 - s1 * n0)
    elif levers.shape[1] == FLAT_LEVERS:
        v0 += levers[c, A1_X] * motion[j, S_Z] - levers[c, A0_X] * motion[i, S_Z]
        v1 += levers[c, A1_Y] * motion[j, S_Z] - levers[c, A0_Y] * motion[i, S_Z]
    else:
        for a in range(3):
            v0 += levers[c, A_ONE + a] * motion[j, S_X + a] - levers[c, A_ZERO + a] * motion[i, S_X + a]
            v1 += levers[c, A_ONE + 3 + a] * motion[j, S_X + a] - levers[c, A_ZERO + 3 + a] * motion[i, S_X + a]
            v2 += levers[c, A_ONE + 6 + a] * motion[j, S_X + a] - levers[c, A_ZERO + 6 + a] * motion[i, S_X + a]
    if branch is not None:
        b = branch[c, BRANCH]
        v0 += b * (flow[X, L_X] * n0 + flow[X, L_Y] * n1 + flow[X, L_Z] * n2)
        v1 += b * (flow[Y, L_X] * n0 + flow[Y, L_Y] * n1 + flow[Y, L_Z] * n2)
        v2 += b * (flow[Z, L_X] * n0 + flow[Z, L_Y] * n1 + flow[Z, L_Z] * n2)
    normal = forces[c, R_N]
    power = (
        (normal * n0 + forces[c, R_X]) * v0 + (normal * n1 + forces[c, R_Y]) * v1 + (normal * n2 + forces[c, R_Z]) * v2
    )
    if extra is not None:
        for a in range(3):
            spin = extra[c, A_1] * motion[j, S_X + a] - extra[c, A_0] * motion[i, S_X + a] + extra[c, W_X + a]
            power += forces[c, Q_X + a] * spin
    return power, math.sqrt(v0 * v0 + v1 * v1 + v2 * v2)


@kernel
def _add_up_all(
    thread, threads, meeting, size, cluster, pairs, geometry, motion, forces, branch, flow, extra, levers, dt, sums
):  # fmt: skip
    """Sums of each part of the contacts, of so many rows, then those of all; whether a cluster gives energy.

    On the first thread; others return nothing that counts.
    """
    first, last = share(0, len(sums), thread, threads)
    for at in range(first, last):
        for k in range(sums.shape[1]):
            for column in range(sums.shape[2]):
                sums[at, k, column] = 0.0
        begin, end = at * size, min((at + 1) * size, len(pairs))
        _add_up(begin, end, at, cluster, pairs, geometry, motion, forces, branch, flow, extra, levers, dt, sums)
    meet(meeting, threads)
    if thread > 0:
        return False
    _merge(sums, WORK, FREE)
    return _gives(sums)


@part
def _add_up(first, last, at, cluster, pairs, geometry, motion, forces, branch, flow, extra, levers, dt, sums):
    """Powers (W) of some contacts of each cluster: their work, what they are to reach, and what is allowed.

    To be reached are gaps to close, overlaps to remove, rebound. Allowed is what these explain, and rounding.
    """
    for c in range(first, last):
        power, speed = _power(c, pairs, geometry, motion, forces, branch, flow, extra, levers)
        to_reach, square = forces[c, R_N] * geometry[c, TO_CLOSE] / dt, 0.0
        for a in range(forces.shape[1]):
            square += forces[c, a] * forces[c, a]
        if extra is not None:
            for a in range(3):
                to_reach += forces[c, R_X + a] * extra[c, U_X + a]
        strength = math.sqrt(square)
        k = _cluster_of(cluster, pairs[c, 0])
        sums[at, k, WORK] += power
        sums[at, k, TO_REACH] += to_reach
        sums[at, k, ALLOWED] += max(-to_reach, 0.0) + ROUNDING * strength * (speed + strength * dt / geometry[c, M_N])


@kernel
def _add_up_work(first, last, size, cluster, pairs, geometry, motion, forces, branch, flow, extra, levers, dt, sums):
    """The same of velocities without contact forces: their work alone."""
    at = first // size
    for c in range(first, last):
        power, _ = _power(c, pairs, geometry, motion, forces, branch, flow, extra, levers)
        k = _cluster_of(cluster, pairs[c, 0])
        sums[at, k, FREE] += power


@kernel
def _merge(sums, begin, end):
    """Add some columns of all parts to those of the first, in their order."""
    for each in range(1, sums.shape[0]):
        for k in range(sums.shape[1]):
            for column in range(begin, end):
                sums[0, k, column] += sums[each, k, column]


@part
def _gives(sums):
    """Whether a cluster does more work than is allowed."""
    gives = False
    for k in range(sums.shape[1]):
        gives = gives or sums[0, k, WORK] > sums[0, k, ALLOWED]
    return gives


@kernel
def _find_shares(sums):
    """The factor s of each cluster, in place of its work: less than 1 where it gives energy. Returns the least."""
    least = 1.0
    for k in range(sums.shape[1]):
        share = 1.0
        if sums[0, k, WORK] > sums[0, k, ALLOWED]:
            share = (sums[0, k, FREE] + sums[0, k, TO_REACH]) / (sums[0, k, FREE] - sums[0, k, WORK])  # -a/b
            share = min(max(share, 0.0), 1.0)
        sums[0, k, WORK] = share
        least = min(least, share)
    return least


@kernel
def _weaken(first, last, cluster, pairs, sums, forces):
    """Some forces times the factors of their clusters."""
    for c in range(first, last):
        k = _cluster_of(cluster, pairs[c, 0])
        share = sums[0, k, WORK]
        if share < 1.0:
            for a in range(forces.shape[1]):  # to multiply a row takes two seconds to compile
                forces[c, a] *= share
