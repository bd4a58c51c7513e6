"""Large mass ratios, heavy bodies on light ones: what the change of forces by a sweep does not tell.

A sweep gives a contact a force that stops its lighter body. A body whose mass is B times that of all its contacts
together, on a packing of L/d grains across, is stopped in about B L/d sweeps, as packings of equal grains are solved in
(L/d)^2. A sweep then changes forces by 1/(B L/d) of what they lack. Criteria that look at changes alone speak of
convergence when it has hardly begun.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import gives_way
from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS, M_N
from ..runtime.barrier import meet, share
from ..runtime.compiled import kernel
from ..runtime.threads import together, worth
from .criteria import Criterion, GlobalCriterion, LocalCriterion, ResidualCriterion, StateCriterion, Verdict
from .extent import extent_of
from .kernels.coloured import shared_colour
from .kernels.factory import SHARE
from .virtual_power import momentum_error

Array = NDArray[np.float64]

MISSING = 0.11  # share of a load that may be missing where a packing counts as rigid


def burden(problem: ContactProblem) -> float:
    """The largest mass of a body over twice the sum of m_n of its contacts; at most 1 where all masses are equal."""
    if "burden" not in problem.known:
        problem.known["burden"] = _find_burden(problem)
    return problem.known["burden"]


def _find_burden(problem: ContactProblem) -> float:
    if problem.branch is not None and gives_way(problem.flow):  # masses of contacts have the share of the cell
        return 0.0
    carried = problem.work.take("carried", len(problem.motion))
    what = problem.pairs, problem.geometry, problem.motion, carried
    if (by := problem.colouring) is not None:
        start, alone, threads = by.start, by.alone, worth(problem.count, SHARE)
    else:  # one after another
        start, alone, threads = np.array([0, problem.count]), np.ones(1, np.bool_), 1
    most = np.zeros(threads)
    together(_burden, threads, start, alone, *what, most)
    return max(most.tolist())


def crossing(problem: ContactProblem, heavy: float, extent: float | None = None) -> float:
    """Sweeps that a load takes to cross a packing: L/d, and more under bodies that are heavier than it is wide.

    Extrapolated sweeps go by the root of the condition number, L/d times the mass on a contact over that of a grain
    (`burden`), or L/d again where no body is heavy.
    extent : L/d, if not that of all candidates
    """
    extent = extent_of(problem) if extent is None else extent
    return math.sqrt(extent * max(extent, heavy))


def doubtful(problem: ContactProblem, criterion: Criterion) -> bool:
    """Whether heavy bodies may lack more than `MISSING` of a load where changes are as small as a criterion asks for.

    Where none is heavier than the packing is wide, the criterion means what it always means.
    """
    if not isinstance(criterion, LocalCriterion | GlobalCriterion | ResidualCriterion):
        return False
    heavy = burden(problem)
    if not criterion.epsilon * heavy * heavy > MISSING:
        return False
    extent = extent_of(problem)
    return heavy > extent and criterion.epsilon * heavy * extent > MISSING


def carries(problem: ContactProblem, verdict: Verdict) -> Verdict:
    """The verdict of a criterion that is met, once the momentum error has been asked as well."""
    error = momentum_error(problem)
    return verdict._replace(met=error <= MISSING, momentum_error=error, excess=error / MISSING)


@dataclass(frozen=True)
class Carried:
    """A state criterion that is met only if the packing carries its load too."""

    criterion: StateCriterion

    def judge(self, problem: ContactProblem) -> Verdict:
        verdict = self.criterion.judge(problem)
        return carries(problem, verdict) if verdict.met else verdict


@kernel
def _burden(thread, threads, meeting, start, alone, pairs, geometry, motion, carried, most):
    """The largest 1/(2 sum of m_n/m) of any movable body with contacts, of the share of each thread."""
    own = share(0, len(carried), thread, threads)
    for i in range(own[0], own[1]):
        carried[i] = 0.0
    meet(meeting, threads)
    for k in range(len(alone)):
        first, last = shared_colour(k, start, alone, thread, threads)
        _carry(first, last, pairs, geometry, motion, carried)
        meet(meeting, threads)
    for i in range(own[0], own[1]):
        if carried[i] > 0.0 and motion[i, INV_MASS] > 0.0:
            most[thread] = max(most[thread], 0.5 / (carried[i] * motion[i, INV_MASS]))


@kernel
def _carry(first, last, pairs, geometry, motion, carried):
    """Add m_n to what carries each body that forces move."""
    for c in range(first, last):
        for i in (pairs[c, 0], pairs[c, 1]):
            if motion[i, INV_MASS] > 0.0:
                carried[i] += geometry[c, M_N]
