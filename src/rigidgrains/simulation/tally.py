"""Running sums over the steps of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..solve.accuracy import is_still

if TYPE_CHECKING:
    from ..model.law import Ledger
    from ..solve.sweeps import SolveReport

INTERRUPTED = "interrupted"  # why a run stopped, after Ctrl-C or a request to terminate


@dataclass
class Tally:
    """What is counted in each step.

    fallbacks : steps that went to the second-order method
    exhausted : steps that no attempt brought to an end; weakened : steps whose forces would have given energy,
                and that were not to be carried over
    converged : steps that met the criterion, of those `asked` whether they do
    carried : steps that ended after the sweeps that the accuracy allows; still : steps after which grains were still
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
        self.still += is_still(solve.travel)
        if displacement > self.displacement:
            self.displacement, self.displaced_in, self.displaced_at = displacement, dt, at
        self.deepest = max(self.deepest, deepest)

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
