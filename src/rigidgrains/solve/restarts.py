"""Restarts: by how much the next sweep is extrapolated, decided sweep by sweep from two measured numbers.

change : sum of |dR|^2/m over the contacts, by one sweep
cosine : between that change and the step since the sweep before

A real mode with too large a beta has a cosine near 0, one with too small a beta near 1. `choose` is the whole rule: a
pure function, compiled with the loops that sweep.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..runtime.compiled import law

GO_ON, RESTART, RESCUE = 0, 1, 2  # what follows a sweep; RESCUE: back to the best forces
ROUNDING = 1e-30  # of the scale: smaller changes are none


class Rule(NamedTuple):
    """The constants of extrapolation.

    patience : times L/d sweeps of pure Nesterov extrapolation first: a load has to cross the packing
    growth   : of the change over the least since the last restart, which is a reason for the next one
    cosine   : that the cap keeps between change and step
    gain     : of log(1 - cap), per sweep, by what the cosine lacks
    most     : of 1 - cap
    runaway  : of the change over the least of all: back to the best forces
    saved    : of the change of the best forces: a gain worth keeping the present ones
    rescues  : after as many returns to the best forces sweeps go on without extrapolation
    """

    patience: float = 5.0
    growth: float = 2.0
    cosine: float = 0.9
    gain: float = 0.05
    most: float = 0.5
    runaway: float = 100.0
    saved: float = 0.25
    rescues: float = 20.0


class State(NamedTuple):
    """What is known after some sweeps.

    beta, theta : extrapolation of the next sweep, and Nesterov's sequence
    damping  : 1 - cap, of beta; 0 where there is no cap yet
    scale    : sum of |R|^2/m at first, or the largest change since
    change   : by the last sweep
    least, before, lowest, kept : smallest changes, since the last restart, before it, of all; that of the best forces
    sweeps   : made so far; until : number of sweeps up to which none is extrapolated
    restarts, rescues : how often
    what     : GO_ON, RESTART or RESCUE; better : whether the last forces are worth keeping as the best ones
    """

    beta: float = 0.0
    theta: float = 1.0
    damping: float = 0.0
    scale: float = 0.0
    change: float = math.inf
    least: float = math.inf
    before: float = math.inf
    lowest: float = math.inf
    kept: float = math.inf
    sweeps: int = 0
    until: int = 0
    restarts: int = 0
    rescues: int = 0
    what: int = RESTART
    better: bool = False


@law
def choose(rule, extent, s, cosine, change):
    """The state after one more sweep; extent : L/d.

    1. A change that is no number, or beyond all measure: back to the best forces, and begin anew from there.
    2. A pause in extrapolation, or too many returns: a plain sweep follows, in a fresh order.
    3. Restart where the change opposes the step, where it has grown, and once loads have crossed the packing: from
       then on there is a cap, at first 1 - d/L. Sweeps that end by growth and came to nothing double 1 - cap.
    4. Else beta is Nesterov's next, up to the cap, which follows the cosine.
    """
    sweeps, plain = s.sweeps + 1, s.rescues >= rule.rescues
    scale = max(s.scale, change) if math.isfinite(change) else s.scale
    change = max(change, ROUNDING * scale)
    if not math.isfinite(change) or (change > rule.runaway * s.lowest and not plain):
        return State(
            0.0, 1.0, s.damping, scale, change, math.inf, min(s.before, s.least), s.lowest, s.kept, sweeps, s.until,
            s.restarts + 1, s.rescues + 1, RESCUE, False,
        )  # fmt: skip
    least, lowest, better = min(s.least, change), min(s.lowest, change), change <= rule.saved * s.kept
    kept = change if better else s.kept
    if plain or sweeps < s.until:
        return State(
            0.0, 1.0, s.damping, scale, change, least, s.before, lowest, kept, sweeps, s.until, s.restarts, s.rescues,
            RESTART, better,
        )  # fmt: skip
    crossed, damping = sweeps > rule.patience * extent, s.damping
    grown = crossed and change > rule.growth * least
    if crossed and damping == 0.0:
        damping, grown = min(1.0 / extent, rule.most), True
    elif grown and least > s.before:
        damping = min(2.0 * damping, rule.most)
    if cosine < 0.0 or grown:
        return State(
            0.0, 1.0, damping, scale, change, math.inf, min(s.before, least), lowest, kept, sweeps, s.until,
            s.restarts + 1, s.rescues, RESTART, better,
        )  # fmt: skip
    theta = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.theta * s.theta))
    beta = (s.theta - 1.0) / theta
    if damping > 0.0 and beta >= 1.0 - damping:
        damping = min(damping * math.exp(rule.gain * (rule.cosine - cosine)), rule.most)
        beta = min(beta, 1.0 - damping)
    return State(
        beta, theta, damping, scale, change, least, s.before, lowest, kept, sweeps, s.until, s.restarts, s.rescues,
        GO_ON, better,
    )  # fmt: skip
