"""Contact forces: their distribution, the strong and the weak network, and how many slide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .fabric import mean_dyad
from .links import Links, links
from .region import hull_volume
from .shown import Shown
from .state import Array, Frame, Mask, double, dyads, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class ForceDistribution(Shown):
    """P(f) of f = R_n / <R_n> over force-carrying contacts.

    mean    : N, <R_n>
    edges   : (k + 1,); density : (k,), contacts per f and per contact; what lies beyond the last edge is left out
    weak    : share of contacts with f < 1
    tail    : beta of exp(-beta f) for f > 1, by maximum likelihood: 1/<f - 1> over those contacts
    """

    mean: float
    edges: Array
    density: Array
    weak: float
    tail: float

    @property
    def centres(self) -> Array:
        """(k,)"""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


@dataclass(frozen=True)
class Network(Shown):
    """A part of the contacts.

    share   : of the contacts; pressure : share of the trace of the contact stress
    stress  : (d, d) Pa (N/m in 2D), this part's contribution
    fabric  : (d, d) mean of n n; sliding : share of its contacts that slide
    """

    share: float
    pressure: float
    stress: Array
    fabric: Array
    sliding: float


@dataclass(frozen=True)
class Networks(Shown):
    """strong : contacts that carry more than the mean normal force; weak : the rest"""

    strong: Network
    weak: Network


def force_distribution(
    source: Frame | Simulation, bins: int | Array = 40, *, highest: float = 6.0, walls: bool = False
) -> ForceDistribution:
    """Distribution of normal forces over their mean.

    bins : how many from 0 to `highest`, or their edges; walls : count contacts at walls too
    """
    f = links(of(source), walls=walls).joined().r_n
    edges = np.linspace(0.0, highest, bins + 1) if isinstance(bins, (int, np.integer)) else double(bins)
    mean = float(f.mean()) if len(f) else 0.0
    f = f / mean if mean else f
    count, _ = np.histogram(f, bins=edges)
    strong = f[f > 1.0]
    return ForceDistribution(
        mean=mean,
        edges=edges,
        density=count / (max(len(f), 1) * np.diff(edges)),
        weak=float((f < 1.0).mean()) if len(f) else 0.0,
        tail=1.0 / float((strong - 1.0).mean()) if len(strong) else np.inf,
    )


def networks(
    source: Frame | Simulation, *, volume: float | None = None, cut: float = 1.0, walls: bool = True
) -> Networks:
    """The strong and the weak network; their stresses add up to the contact stress.

    volume : m^3 (m^2 in 2D), the hull of the walls if absent; cut : of the mean normal force, where they part
    """
    frame = of(source)
    volume = hull_volume(frame) if volume is None else volume
    found = links(frame, walls=walls).joined()
    strong = found.r_n > cut * (float(found.r_n.mean()) if len(found) else 0.0)
    return Networks(*(_network(frame, found, which, volume) for which in (strong, ~strong)))


def sliding_fraction(source: Frame | Simulation, *, walls: bool = True) -> float:
    """Share of force-carrying contacts with |R_t| = mu R_n. A contact without friction always slides."""
    found = links(of(source), walls=walls).joined()
    return float(found.sliding.mean()) if len(found) else 0.0


def _network(frame: Frame, whole: Links, which: Mask, volume: float) -> Network:
    part = whole.some(which)
    trace = float((whole.branch * whole.force).sum())
    return Network(
        share=len(part) / max(len(whole), 1),
        pressure=float((part.branch * part.force).sum()) / trace if trace else 0.0,
        stress=dyads(part.branch, part.force, frame.dimension) / volume,
        fabric=mean_dyad(part.normal, frame.dimension),
        sliding=float(part.sliding.mean()) if len(part) else 0.0,
    )
