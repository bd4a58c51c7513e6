"""How far forces diffuse in packings (item 46): spread of a push in crystals and random packings of several sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..simulation.simulation import Simulation
from ..theory import Q_RANDOM
from .base import INKS, Row, Tick, new_figure
from .packings import crystal, expected_spread, height, random_packing, spread

Array = NDArray[np.float64]
Index = NDArray[np.intp]

COUNTED = "√N_I in this packing, grain by grain: sweeps over the same network, written out"
AGREED = 16  # sweeps at which sizes are compared
PLACES = (0.4, 0.45, 0.5, 0.55, 0.6)  # of the slabs that are pushed, over the height


@dataclass(frozen=True)
class Kind:
    """Packings of one kind and size: N_I, and the growth of the variance (packings, N_I) in d^2.

    expected : the same by sweeps over the network of contacts, written out
    profile  : depth and density of the momentum at the largest N_I, of the first packing
    """

    name: str
    grains: int
    sweeps: Array
    variance: Array
    expected: Array
    profile: tuple[Array, Array]

    def exponent(self) -> tuple[float, float]:
        """Of the length in N_I: half that of var(2 N) - var(N), from which a start-up falls out; its standard error.

        Of the mean over packings; the error by leaving out one after the other.
        """
        return left_out(lambda some: self.slope(self.variance[some]), len(self.variance))

    def beside(self) -> tuple[float, float, float]:
        """The same exponent, that of the network, and the standard error of the difference on the same packings."""
        value, error = left_out(
            lambda some: self.slope(self.variance[some]) - self.slope(self.expected[some]), len(self.variance)
        )
        told = self.slope(self.expected)
        return told + value, told, error

    def slope(self, variance: Array) -> float:
        """Of the mean over packings."""
        gain = np.diff(variance, axis=1).mean(axis=0)
        return float(0.5 * np.polyfit(np.log(self.sweeps[:-1]), np.log(gain), 1)[0])

    def q(self, sweeps: int) -> tuple[float, float]:
        """Variance over 2 N_I and its standard error over packings."""
        return mean(self.variance[:, list(self.sweeps).index(sweeps)] / (2.0 * sweeps))

    def over_network(self, sweeps: int) -> tuple[float, float]:
        """Variance over that of the network on the same packings, and its standard error."""
        k = list(self.sweeps).index(sweeps)
        value, error = mean(self.variance[:, k] - self.expected[:, k])
        told = float(self.expected[:, k].mean())
        return 1.0 + value / told, error / told


def left_out(value: Callable[[Index], float], many: int) -> tuple[float, float]:
    """A number of all packings, and its standard error by leaving out one after the other."""
    every = np.arange(many)
    without = np.array([value(np.delete(every, k)) for k in every])
    return value(every), float(math.sqrt((many - 1) * without.var()))


def packings(quick: bool, tick: Tick) -> tuple[list[Row], Figure, list[str]]:
    """Exponents and constants of diffusion in packings; progress from 0 to 1."""
    sets = 4 if quick else 8  # of random numbers
    kinds = [
        measured("triangular lattice, 60 layers", [crystal(2, 6, 60)] * sets, 16),
        measured("triangular lattice, 100 layers", [crystal(2, 6, 100)] * sets, 32),
        measured("fcc lattice, 60 layers", [crystal(3, 3, 60)] * sets, 16),
        measured("fcc lattice, 100 layers", [crystal(3, 3, 100)] * sets, 32),
    ]
    tick(0.1)
    asked = () if quick else ((2, 8, 50, 6, 32), (2, 8, 100, 5, 64), (3, 5, 40, 4, 16))
    for number, (dimension, across, tall, many, most) in enumerate(asked):
        found = [random_packing(dimension, across, tall, seed) for seed in range(many)]
        kinds.append(measured(f"random {dimension}D packings, {tall} d high", found, most))
        tick(0.1 + 0.9 * (number + 1) / len(asked))
    rows, notes = [], []
    for kind in kinds:
        value, error = kind.exponent()
        told = 0.5
        if kind.name.startswith("random"):
            notes.append(f"Exponent of the spread, {kind.name}: {value:.3f} ± {error:.3f} (scatter over packings).")
            value, told, error = kind.beside()
        rows.append(Row(f"exponent of the spread in N_I, {kind.name}", told, value, 0.005 + 3.0 * error, error=error,
                        source="l_diff ~ √N_I" if told == 0.5 else COUNTED))  # fmt: skip
    for small, large in ((0, 1), (2, 3)):
        below, above = kinds[small].q(AGREED), kinds[large].q(AGREED)
        ratio = above[0] / below[0]
        error = ratio * math.hypot(below[1] / below[0], above[1] / above[0])
        rows.append(Row(f"q, {kinds[large].name} over {kinds[small].name.split(', ')[1]}", 1.0, ratio,
                        3.0 * error, error=error, source="item 46: the same in any size"))  # fmt: skip
    for kind in kinds[4:]:
        ratio, error = kind.over_network(AGREED)
        rows.append(Row(f"q over that of the network, {kind.name}", 1.0, ratio, 0.005 + 3.0 * error, error=error,
                        source=COUNTED))  # fmt: skip
    constants = ", ".join(f"{kind.q(AGREED)[0]:.3f} ({kind.name})" for kind in kinds)
    if quick:
        notes.append("Quick: crystals of 360 to 900 grains alone, no random packings.")
    notes.append(f"Spread of a push, variance/2 N_I at N_I = {AGREED}, d² per sweep: {constants}.")
    return rows, draw(kinds), notes


def measured(name: str, found: list[Simulation], most: int) -> Kind:
    """Push slabs at several heights of each packing, with N_I from 4 up to `most`; equal packings differ by seeds."""
    sweeps = 2 ** np.arange(2, round(math.log2(most)) + 1)
    variance, expected, profile = [], [], None
    for number, packing in enumerate(found):
        place = [share * height(packing) for share in PLACES]
        row, told = [], []
        for count in sweeps:
            pushed = [spread(packing, int(count), z, 10 * number + k) for k, z in enumerate(place)]
            row.append(np.mean([one[0] for one in pushed]))
            seeds = 1000 + 100 * number
            told.append(np.mean([expected_spread(packing, int(count), z, seeds + k) for k, z in enumerate(place)]))
        variance.append(row)
        expected.append(told)
        if profile is None:
            z = packing.bodies.position[:, packing.bodies.dimension - 1]
            at = np.linspace(-20.0, 20.0, 41)
            parts = [np.exp(-0.5 * (at[:, None] - z + z0) ** 2) @ one[1] for one, z0 in zip(pushed, place)]
            profile = at, np.mean(parts, axis=0) / math.sqrt(2.0 * math.pi)  # smoothed over a diameter
    assert profile is not None
    return Kind(name, found[0].bodies.count, sweeps.astype(float), np.array(variance), np.array(expected), profile)


def mean(values: Array) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def draw(kinds: list[Kind]) -> Figure:
    """Spread against N_I, what it is over that of a chain, and where the momentum lies."""
    figure, (length, constant, profile) = new_figure(1, 3, width=15.0, height=4.8)
    marks = "o^sDv*P"
    for number, kind in enumerate(kinds):
        ink = INKS[number % len(INKS)] if number < 6 else "#000000"
        style = {"fmt": marks[number], "color": ink, "ms": 7, "mfc": "none", "capsize": 3}
        size = np.sqrt(kind.variance)
        error = size.std(axis=0, ddof=1) / math.sqrt(len(size))
        aside = kind.sweeps * 1.02 ** (number - 3)  # side by side
        length.errorbar(aside, size.mean(axis=0), error, label=f"{kind.name}", **style)
        q = kind.variance / (2.0 * kind.sweeps)
        constant.errorbar(aside, q.mean(axis=0), q.std(axis=0, ddof=1) / math.sqrt(len(q)), **style)
        if number in (1, 3) or number >= 4:
            profile.plot(*kind.profile, f"{marks[number]}-", color=ink, ms=4, mfc="none", lw=0.8,
                         label=f"{kind.name}, $N_I$ = {kind.sweeps[-1]:.0f}")  # fmt: skip
    n = np.array([3.5, 75.0])
    length.plot(n, np.sqrt(2.0 * Q_RANDOM * n), color=INKS[5], lw=1, label=r"chain, $\sqrt{2qN_I}$, slope 1/2")
    constant.axhline(Q_RANDOM, color=INKS[5], lw=1, label="chain, Eq. (q-randsweep)")
    length.set(xscale="log", yscale="log", xlabel="sweeps $N_I$", ylabel="standard deviation of the momentum (d)",
               title="Spread of a push")  # fmt: skip
    constant.set(xscale="log", xlabel="sweeps $N_I$", ylabel="variance / 2 $N_I$ (d² per sweep)", ylim=(0.0, 1.0),
                 title="The constant of diffusion")  # fmt: skip
    profile.set(xlabel="height above the slab pushed (d)", ylabel="momentum / dF dt, per d", title="Where it lies")
    profile.set_ylim(0.0, 1.6 * max(kind.profile[1].max() for kind in kinds[1:]))
    for panel in (length, constant):
        panel.set_xticks(2.0 ** np.arange(2, 7), [str(2**k) for k in range(2, 7)])
        panel.minorticks_off()
    length.set_yticks([2.0, 4.0, 8.0], ["2", "4", "8"])
    for panel in (length, constant, profile):
        panel.legend(fontsize=8)
    return figure
