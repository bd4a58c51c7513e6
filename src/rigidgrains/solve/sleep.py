"""Sleep: clusters at rest are left out of the sweeps, and take part again in the very step in which they are disturbed.

A cluster is what hangs together by candidates: grains, and pistons, but not walls that no force can move. It sleeps in
a step if two things hold, with epsilon = 1e-4, or what the criterion asks for, if that is less:

- No body in it was faster, before the step, than epsilon times its contact forces could make it within the step.
- Begun from rest, the shock law would change none of its carried forces by more than epsilon |R| + epsilon <|R|>.

Then it takes the step from rest with its carried forces. All clusters are asked in every step, and nothing is
remembered: a blow, a new candidate, a wall that moves or another load make themselves felt in the second condition, and
so does a cluster's own creep, before it has opened a gap of epsilon dt^2 |R|/m. Of the clusters that are awake, those
that settle early drop out of the sweeps; slow ones are swept on to a hundredth of epsilon, so that they sleep long.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..detect.clusters import unite
from ..model.columns import INV_MASS, R_N, S_X, S_Y, S_Z, V_X, V_Y, V_Z
from ..runtime.compiled import kernel
from .criteria import (
    Criterion,
    FixedSweeps,
    GlobalCriterion,
    LocalCriterion,
    MomentumCriterion,
    ResidualCriterion,
    RigidSweeps,
    Verdict,
    looks_at_state,
)
from .kernels.sums import total_force
from .pace import Pace
from .residual import natural_map

Array = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

REST = 1e-4  # epsilon at most
LOOK = 3  # sweeps before clusters are asked again; an eighth of those made, later on
SLOW = 1e-2  # part of its forces that makes a body no faster than this within a step
SHARPER = 1e-2  # of epsilon: to which slow clusters are swept
FEWER = 0.75  # of the contacts: sweeps begin anew with those that are left


def check_sleep(criterion: Criterion) -> None:
    """Raise for criteria that sleep cannot serve."""
    if isinstance(criterion, GlobalCriterion | RigidSweeps):
        raise ValueError(
            f"sleep does not go with {type(criterion).__name__}, which says nothing of single clusters at rest; take"
            " LocalCriterion, ResidualCriterion, MomentumCriterion or FixedSweeps"
        )


def sweep_awake(
    problem: ContactProblem, pace: Pace, rng: Generator, criterion: Criterion, most: int
) -> tuple[int, int, Verdict]:
    """Let clusters sleep, sweep over the others until the criterion is met; sweeps, updates and verdict."""
    clusters, motion = Clusters(problem), problem.motion[:, :INV_MASS].copy()
    awake, tolerance = ~clusters.let_sleep(criterion), clusters.tolerance(criterion)
    pace.moved(problem.motion[:, :INV_MASS] - motion)
    swept: float = math.inf
    sweeps = updates = 0
    while True:
        among = np.flatnonzero(awake & clusters.restless(problem.motion, *tolerance)[clusters.of_contact])
        verdict = criterion.judge(problem) if looks_at_state(criterion) else Verdict(len(among) == 0)
        if verdict.met or sweeps >= most:
            break
        if len(among) == 0:  # a criterion for the whole asks for more: of all
            among, awake = np.arange(problem.count), np.ones(problem.count, np.bool_)
            tolerance, swept = (np.zeros(problem.count), 0.0), math.inf
        if len(among) < FEWER * swept:
            swept = len(among)
            pace.begin(problem, None if swept == problem.count else among.astype(np.int32))
        burst = sweeps + max(LOOK, sweeps // 8)
        while sweeps < min(burst, most):
            made = pace.sweep(problem, rng)
            sweeps += made
            updates += made * int(swept)
    return sweeps, updates, verdict._replace(met=verdict.met or isinstance(criterion, FixedSweeps))


def clusters_of_bodies(problem: ContactProblem) -> Index:
    """(bodies,) the number of the cluster of each body; a wall that no force can move is one by itself."""
    movable = (problem.motion[:, INV_MASS:] != 0.0).any(axis=1)
    return unite(problem.pairs, movable[problem.pairs[:, 1]], len(problem.motion))


class Clusters:
    """The clusters of one contact problem.

    of_body : (bodies,) their numbers; of_contact : (c,)
    mean    : <|R|> of the carried forces (N)
    """

    def __init__(self, problem: ContactProblem) -> None:
        self.problem = problem
        self.of_body = clusters_of_bodies(problem)
        self._flows = bool(problem.flow.any())
        if self._flows:  # a cell that deforms joins all, and nothing in it rests
            self.of_body[:] = 0
        self.of_contact = self.of_body[problem.pairs[:, 0]]
        self.mean = total_force(problem.forces) / problem.count
        self._load = np.zeros(len(problem.motion))
        _loads(problem.pairs, problem.forces, self._load)

    def let_sleep(self, criterion: Criterion) -> Mask:
        """(c,) contacts of clusters at rest; their bodies take the step from rest, and `before` says so."""
        p, before, epsilon = self.problem, self.problem.before, min(REST, _epsilon(criterion))
        if before is None or self._flows:
            return np.zeros(p.count, np.bool_)
        rest = self._slower(epsilon)[self.of_body] & (p.motion[:, INV_MASS:] != 0.0).any(axis=1)
        rest[len(before) :] = False
        still = p.motion.copy()
        still[rest, :INV_MASS] -= before[rest[: len(before)], :INV_MASS]
        rest &= ~self.restless(still, np.full(p.count, epsilon), epsilon * self.mean)[self.of_body]
        p.motion[rest, :INV_MASS] = still[rest, :INV_MASS]
        before[rest[: len(before)], :INV_MASS] = 0.0
        return rest[p.pairs[:, 0]]

    def tolerance(self, criterion: Criterion) -> tuple[Array, float]:
        """Change of each force over its size (c,), and in N, at which a cluster needs no more sweeps."""
        epsilon, slow = _epsilon(criterion), self._slower(SLOW)[self.of_contact]
        sharp = min(SHARPER * REST, epsilon)
        if isinstance(criterion, LocalCriterion) and criterion.delta is not None:
            return np.where(slow, sharp, epsilon), criterion.delta
        return np.where(slow, sharp, epsilon), (sharp if slow.any() else epsilon) * self.mean

    def restless(self, motion: Array, epsilon: Array, delta: float) -> Mask:
        """(clusters,) true where some force would change by more than epsilon |R| + delta, bodies moving like this."""
        p = self.problem
        strength = np.sqrt(np.einsum("ck,ck->c", p.forces, p.forces))
        changes = ~(natural_map(replace(p, motion=motion)) <= epsilon * strength + delta)
        some = np.zeros(len(self.of_body), np.bool_)
        some[self.of_contact[changes]] = True
        return some

    def _slower(self, part: float) -> Mask:
        """(clusters,) true where no body was faster before the step than a part of its forces makes it in the step."""
        p, fast = self.problem, np.zeros(len(self.of_body), np.bool_)
        if p.before is not None:
            _find_fast(p.before, p.motion, self._load, part * p.dt, self.of_body, fast)
        return ~fast if p.before is not None else fast


def _epsilon(criterion: Criterion) -> float:
    """Relative change of a force that a criterion allows."""
    if isinstance(criterion, LocalCriterion | ResidualCriterion):
        return criterion.epsilon
    return criterion.residual if isinstance(criterion, MomentumCriterion) else REST


@kernel
def _loads(pairs, forces, load):
    """Add up R_n of the contacts of each body (N)."""
    for c in range(len(pairs)):
        load[pairs[c, 0]] += forces[c, R_N]
        load[pairs[c, 1]] += forces[c, R_N]


@kernel
def _find_fast(before, motion, load, part, label, fast):
    """Mark the clusters in which a movable body was faster than `part` times its load over its mass."""
    for i in range(len(before)):
        if motion[i, INV_MASS] != 0.0:
            limit = part * load[i] * motion[i, INV_MASS]
            v = before[i, V_X] ** 2 + before[i, V_Y] ** 2 + before[i, V_Z] ** 2
            s = before[i, S_X] ** 2 + before[i, S_Y] ** 2 + before[i, S_Z] ** 2
            if not max(v, s) <= limit * limit:
                fast[label[i]] = True
