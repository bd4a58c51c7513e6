"""Convergence criteria: when the sweeps of a step may stop.

dR is the change of a contact force over the last sweep; averages run over all candidates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..detect.clusters import find_clusters, mass_ratio
from ..model.columns import INV_MASS
from ..runtime.arguments import is_number
from ..theory import rigid_sweeps
from .measures import Measures, measure

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class SweepCriterion(Protocol):
    """A rule about what the last sweep has changed, or about how many there were."""

    def tolerance(self, mean: float) -> tuple[float, float] | None:
        """(epsilon, delta) for counting unsettled contacts, given <|R|>; None when sweeps need not be watched."""

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        """True when no further sweep is needed, given <|R|> after the last two sweeps."""


class Verdict(NamedTuple):
    """What a criterion found: whether it is met, and what it measured for that; NaN where it did not look.

    excess : what it measured over what it allows
    nearly : whether only single contacts stand in the way
    share  : the momentum error over what is allowed
    travel, fastest : by how much contacts move in the step, see `Measures`
    """

    met: bool
    residual: float = math.nan
    momentum_error: float = math.nan
    excess: float = math.nan
    nearly: bool = False
    share: float = math.nan
    travel: float = math.nan
    fastest: float = math.nan


class StateCriterion(Protocol):
    """A rule about forces and velocities as they are, however they were found."""

    def judge(self, problem: ContactProblem) -> Verdict:
        """Whether a further sweep is needed."""


Criterion = SweepCriterion | StateCriterion


def looks_at_state(criterion: Criterion) -> TypeIs[StateCriterion]:
    """Which of the two it is; to ask a protocol instead takes as long as a sweep over a thousand contacts."""
    return hasattr(criterion, "judge")


@dataclass(frozen=True)
class LocalCriterion:
    """Eq. (localcrit): |dR| <= epsilon |R| + delta for every contact.

    delta : N, needed because tiny forces never settle; None takes epsilon <|R|>
    """

    epsilon: float = 1e-3
    delta: float | None = None

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)
        if self.delta is not None:
            _check("delta", self.delta, least=0.0)

    def tolerance(self, mean: float) -> tuple[float, float]:
        return self.epsilon, self.epsilon * mean if self.delta is None else self.delta

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return unsettled == 0


@dataclass(frozen=True)
class GlobalCriterion:
    """Eq. (globalcrit): the change of <|R|> is at most epsilon <|R|>."""

    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)

    def tolerance(self, mean: float) -> tuple[float, float]:
        return 0.0, 0.0

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return abs(mean - previous) <= self.epsilon * mean


@dataclass(frozen=True)
class FixedSweeps:
    """Eq. (constNI): the same number of sweeps in every step; again, if a step is solved again with new candidates."""

    sweeps: int

    def __post_init__(self) -> None:
        _check("sweeps", self.sweeps, least=1, whole=True)

    def tolerance(self, mean: float) -> None:
        return None

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return sweeps >= self.sweeps


@dataclass(frozen=True)
class RigidSweeps:
    """As many sweeps as rigidity asks for: l_diff >= safety L for each cluster of candidates on its own.

    Small clusters stop early, and a grain without candidates costs nothing.
    """

    safety: float = 2.0

    def __post_init__(self) -> None:
        if not (is_number(self.safety) and 0.0 < self.safety < math.inf):
            raise ValueError(
                f"{self.safety} times the extent of a cluster makes nothing rigid; give a positive number, such as 2"
            )

    def tolerance(self, mean: float) -> None:
        return None

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return False  # the number of sweeps is known beforehand, see sweeps_needed

    def sweeps_needed(self, problem: ContactProblem, q: float) -> NDArray[np.int64]:
        """(c,) sweeps for each contact, by the extent of its cluster, Eq. (difflength), and the masses in it."""
        everyone = np.ones(problem.count, dtype=np.bool_)
        clusters = find_clusters(problem.pairs, everyone, problem.position, problem.radius)
        ratio = np.maximum(mass_ratio(clusters, problem.pairs, everyone, problem.motion[:, INV_MASS]), 1.0)
        d = 2.0 * float(problem.radius.mean())
        each = zip(clusters.extent, ratio)
        needed = np.array([rigid_sweeps(extent, d, q, self.safety, mass) for extent, mass in each])
        return needed[clusters.label[problem.pairs[:, 0]]]


@dataclass(frozen=True)
class ResidualCriterion:
    """The residual of the natural map is at most epsilon: every contact obeys its law nearly."""

    epsilon: float = 1e-4

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)

    def judge(self, problem: ContactProblem) -> Verdict:
        found = measure(problem)
        met, excess = found.residual <= self.epsilon, _over(found.residual, self.epsilon)
        return Verdict(met, found.residual, excess=excess, travel=found.travel, fastest=found.fastest)


@dataclass(frozen=True)
class MomentumCriterion:
    """The momentum error is at most epsilon: the packing carries its load. Each contact must obey its law as well.

    residual : of all contacts, root mean square
    contact  : what a single one may lack, over |R| + <|R|>: half of what a certificate accepts; math.inf for any
    To resolve a change dF of a load F ask for an epsilon of about dF/(100 F).
    """

    epsilon: float = 1e-2
    residual: float = 1e-3
    contact: float = 2.5e-3

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)
        _check("residual", self.residual, least=0.0)
        if self.contact != math.inf:
            _check("contact", self.contact, least=0.0)

    def judge(self, problem: ContactProblem) -> Verdict:
        return self.verdict(measure(problem))

    def verdict(self, found: Measures) -> Verdict:
        """On what a look has found."""
        local, whole, worst = found.residual, found.momentum_error, found.worst
        travel, fastest = found.travel, found.fastest
        if not local <= self.residual:
            return Verdict(False, local, excess=_over(local, self.residual), travel=travel, fastest=fastest)
        share = _over(whole, self.epsilon)
        if not whole <= self.epsilon or self.contact == math.inf:
            return Verdict(whole <= self.epsilon, local, whole, share, travel=travel, fastest=fastest)
        met = worst <= self.contact
        return Verdict(met, local, whole, _over(worst, self.contact), not met, share, travel, fastest)


@dataclass(frozen=True)
class OverlapCriterion:
    """What the sweeps leave undone in a step lets contacts overlap by at most epsilon mean radii, on average.

    It is the normal velocity that a further sweep would take from a contact, times dt. With gap = "g_pos" overlaps
    stand, and grow by as much in each step; with gap = "g" it is the overlap that is left.
    """

    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)

    def judge(self, problem: ContactProblem) -> Verdict:
        found, allowed = measure(problem), self.epsilon * problem.mean_radius
        return Verdict(
            found.overlap <= allowed, excess=_over(found.overlap, allowed), travel=found.travel, fastest=found.fastest
        )


@dataclass(frozen=True)
class FlowCriterion:
    """While grains move: what is left of the momentum error is a small part of the power that friction dissipates.

    epsilon : that part
    overlap : by which contacts may overlap because of it, as for `OverlapCriterion`
    least   : the criterion that takes its place where a packing dissipates little
    """

    epsilon: float = 0.1
    overlap: float = 1e-4
    least: MomentumCriterion = field(default_factory=MomentumCriterion)

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)
        _check("overlap", self.overlap, least=0.0)

    def judge(self, problem: ContactProblem) -> Verdict:
        found, allowed = measure(problem), self.overlap * problem.mean_radius
        if not found.overlap <= allowed:
            return _flow_verdict(False, found, _over(found.overlap, allowed))
        wrong, allowed = found.momentum_error, self.epsilon * found.slid
        if wrong <= allowed:
            return _flow_verdict(True, found, _over(wrong, allowed))
        strict = self.least.verdict(found)
        return strict if strict.met or allowed == 0.0 else strict._replace(excess=min(strict.excess, wrong / allowed))


def _flow_verdict(met: bool, found: Measures, excess: float) -> Verdict:
    """With all that is known, asked for or not."""
    return Verdict(met, found.residual, found.momentum_error, excess, travel=found.travel, fastest=found.fastest)


def _over(found: float, allowed: float) -> float:
    """The one over the other; inf where nothing is allowed."""
    return found / allowed if allowed > 0.0 else math.inf


def asked_by(criterion: object) -> dict[str, float]:
    """What a criterion allows, by the names of `SolveReport`; nothing is known of those that watch sweeps."""
    match criterion:
        case MomentumCriterion():
            words = {"momentum": criterion.epsilon, "residual": criterion.residual, "contact": criterion.contact}
        case FlowCriterion():
            return asked_by(criterion.least) | {
                "asked_power": criterion.epsilon,
                "asked_overlap": criterion.overlap,
            }
        case ResidualCriterion():
            words = {"residual": criterion.epsilon}
        case OverlapCriterion():
            words = {"overlap": criterion.epsilon}
        case _:
            words = {}
    return {f"asked_{name}": float(value) for name, value in words.items()}


def in_words(criterion: object) -> str:
    """What a criterion asks, for reports."""
    match criterion:
        case MomentumCriterion():
            return f"{100.0 * criterion.epsilon:.3g} % of the load"
        case FlowCriterion():
            return f"{100.0 * criterion.epsilon:.3g} % of the power of friction, overlaps to {criterion.overlap:g} r"
        case ResidualCriterion():
            return f"a residual of {criterion.epsilon:.3g}"
        case OverlapCriterion():
            return f"overlaps to {criterion.epsilon:g} r"
        case FixedSweeps():
            return f"{criterion.sweeps} sweeps"
        case _:
            return repr(criterion)


def check_criterion(criterion: object) -> None:
    """Raise if this cannot tell when sweeps may stop."""
    sweeps = all(callable(getattr(criterion, name, None)) for name in ("tolerance", "satisfied"))
    if isinstance(criterion, type) or not (sweeps or callable(getattr(criterion, "judge", None))):
        given = criterion.__name__ if isinstance(criterion, type) else repr(criterion)
        raise ValueError(
            f"criterion = {given} cannot tell when to stop; give one that is made, such as LocalCriterion(1e-3),"
            " FixedSweeps(100) or MomentumCriterion(1e-2), or one with judge(), or with tolerance() and satisfied()"
        )


def check_verdict(verdict: Verdict, criterion: StateCriterion) -> Verdict:
    """The verdict; raises if it is none."""
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"{type(criterion).__name__}.judge returned {verdict!r}; return Verdict(True) to end the sweeps of a step,"
            " else Verdict(False)"
        )
    return verdict


def _check(name: str, value: float, *, least: float, whole: bool = False) -> None:
    if not (is_number(value, whole=whole) and least <= value < math.inf):
        kind = "whole" if whole else "finite"
        raise ValueError(f"{name} = {value!r} makes no criterion; give a {kind} number of at least {least:g}")
