"""The momentum error: power of forces that should have none, for the packing as a whole.

It falls only when far ends of a packing know of each other, and is what is left of elasticity.
"""

from __future__ import annotations

from ..contacts.problem import ContactProblem
from .measures import Measures, measure


def momentum_error(problem: ContactProblem) -> float:
    """S over F^2 dt/M, the power of the load on a packing that carries nothing; without unit.

    S : W, sum of R_n (V_n + gap/dt) + mu R_n |V_t| + R_t . V_t, the power of forces that should have none. In a box at
        rest S over the load of a piston is the speed at which it sinks by mistake. An infinite mu has no sliding and
        leaves out the middle term
    F : half the sum over all bodies, walls too, of the contact force on each (N): what enters and leaves the packing;
        at least the root mean square of |R|, since a packing under stress may hang between no walls, and the load on
        the faces of a periodic cell
    M : mass of all movable bodies with candidates (kg), with the inertia of a cell that forces move
    The terms of S have both signs and may cancel by chance. Here the larger of the sums with one sign counts, so the
    error is at least |S|. It is the same for every observer. 0 where forces are none but rounding, inf if one is not
    finite.
    """
    return measure(problem).momentum_error


def powers(problem: ContactProblem) -> Measures:
    """What `momentum_error` is made of: terms of S, each sum over those of one sign, over F^2 dt/M; without unit.

    lost, gained : of -S and of S
    slid         : sum of mu R_n |V_t|, what sliding contacts dissipate, and those that roll or twist; not a part of S
                   where the law is obeyed
    """
    return measure(problem)
