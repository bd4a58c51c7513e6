"""Running sums over the steps of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.law import Ledger
    from ..solve.sweeps import SolveReport

PATIENCE, CALM = 10, 1e-2  # steps at rest after which one more should have a momentum error of no more
INTERRUPTED = "interrupted"  # why a run stopped, after Ctrl-C or a request to terminate


@dataclass
class Tally:
    """What is counted in each step.

    fallbacks : steps that went to the second-order method
    exhausted : steps that no attempt brought to an end; weakened : steps whose forces would have given energy,
                and that were not to be carried over
    converged : steps that met the criterion, of those `asked` whether they do
    carried : steps that ended after the sweeps that the accuracy allows; still : steps that were asked what grains at
              rest are; still_carried : steps of which both is true
    rest_error : momentum error of the last step at rest; None if there was none
    waiting : steps at rest on end that have not met CALM; unsettled : those that came after PATIENCE of them
    flow_errors, flow_logs, flow_most : number of steps in motion with a momentum error, sum of its logarithms, largest
    returned : J, that contacts gave where overlaps were removed
    displacement : largest of any grain in one step, over its radius, or over the curvature of a wall that it touched;
                   displaced_in : s, the length of that step; displaced_at : name of that wall
    deepest : m, largest overlap of any candidate
    load    : N, sum of |R| in the last step; None before the first
    lost    : J, that steps took beyond the law of restitution; taken : J, all that contacts took, where there is one
    kinetic : J, the most there was, likewise
    seconds : s, of computing; compiling : s, that kernels took to be compiled meanwhile
    found, squares : means of n and n^2 over the shares of that load, n the sweeps of the step in which a share came
    """

    steps: int = 0
    sweeps: int = 0
    updates: int = 0
    most_sweeps: int = 0
    converged: int = 0
    fallbacks: int = 0
    exhausted: int = 0
    weakened: int = 0
    displacement: float = 0.0
    displaced_in: float = 0.0
    deepest: float = 0.0
    load: float | None = None
    found: float = 0.0
    squares: float = 0.0
    lost: float = 0.0
    taken: float = 0.0
    kinetic: float = 0.0
    seconds: float = 0.0
    stopped: str = ""
    asked: int | None = None
    compiling: float = 0.0
    displaced_at: str = ""
    carried: int = 0
    still: int = 0
    still_carried: int = 0
    rest_error: float | None = None
    waiting: int = 0
    unsettled: int = 0
    flow_errors: int = 0
    flow_logs: float = 0.0
    flow_most: float = 0.0
    returned: float = 0.0

    def __post_init__(self) -> None:
        """Earlier files hold sums over all steps instead of means over the load, and took all steps as asked."""
        if self.asked is None:
            self.asked = self.steps
        if self.steps and self.load is None:
            self.found, self.squares = self.sweeps / self.steps, self.squares / self.steps

    def add(
        self, solve: SolveReport, candidates: int, displacement: float, deepest: float, dt: float, at: str = ""
    ) -> None:
        """Count one step."""
        self._weigh(solve.sweeps, candidates * solve.mean_force)
        self.steps += 1
        self.sweeps += solve.sweeps
        self.updates += solve.updates
        self.most_sweeps = max(self.most_sweeps, solve.sweeps)
        self.converged += bool(solve.converged)
        self.asked = (self.asked or 0) + (solve.converged is not None)
        self.fallbacks += solve.fallback > 0
        self.exhausted += solve.exhausted
        self.weakened += solve.weakened < 1.0 and not solve.carried
        self.carried += solve.carried
        self._watch(solve)
        if displacement > self.displacement:
            self.displacement, self.displaced_in, self.displaced_at = displacement, dt, at
        self.deepest = max(self.deepest, deepest)

    def _watch(self, solve: SolveReport) -> None:
        """What was reached in motion, and at rest."""
        error = solve.momentum_error
        self.still += solve.still
        self.still_carried += solve.still and solve.carried
        self.waiting = self.waiting + 1 if solve.still and error > CALM else 0
        self.unsettled += self.waiting > PATIENCE
        if solve.still:
            self.rest_error = error if math.isfinite(error) else self.rest_error
        elif 0.0 < error < math.inf:
            self.flow_errors += 1
            self.flow_logs += math.log(error)
            self.flow_most = max(self.flow_most, error)

    @property
    def flow_error(self) -> float | None:
        """Momentum error of steps in motion, geometric mean; None if there was none."""
        return math.exp(self.flow_logs / self.flow_errors) if self.flow_errors else None

    def book(self, ledger: Ledger) -> None:
        """Add up energies of one step."""
        self.lost += ledger.lost
        self.taken += ledger.taken
        self.kinetic = max(self.kinetic, ledger.kinetic)

    @property
    def lost_share(self) -> float:
        """Energy that steps took beyond the law, over the kinetic energy, or over all that contacts took if more."""
        most = max(self.kinetic, self.taken)
        return self.lost / most if most > 0.0 else 0.0

    @property
    def not_asked(self) -> int:
        """Steps in which nothing was asked of the forces."""
        return self.steps - (self.asked or 0)

    @property
    def load_sweeps(self) -> float:
        """Sweeps of the step that a sweep picked at random belongs to, among the sweeps that found the present load.

        Forces are carried over, and with them what earlier sweeps have found: a step that changes a share of the load
        counts by that share, and those before by what it leaves of them. Steps at rest change nothing and do not count,
        however many they are. For a fixed number of sweeps it is that number.
        """
        return self.squares / self.found if self.found > 0.0 else 0.0

    def _weigh(self, sweeps: int, load: float) -> None:
        """Let the share of the load that changed count with the sweeps of this step."""
        before = self.load if self.load is not None else load if self.steps else 0.0
        most = max(load, before)
        share = abs(load - before) / most if 0.0 < most < math.inf else 0.0
        self.found += share * (sweeps - self.found)
        self.squares += share * (sweeps**2 - self.squares)
        self.load = load
