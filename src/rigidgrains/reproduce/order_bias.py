"""The bias of ordered sweeps in a network of contacts: how far few sweeps reach in a heap (items 32, 66).

A heap of disks at rest under gravity carries forces that balance to rounding. The grains of a layer in its middle then
get a little more weight, and one step is taken with few sweeps: how far up and how far down do forces know of it?
Units d = m = 1 (mean diameter, mass of such a disk), g = 1.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.random import Generator
from numpy.typing import NDArray

from ..model.columns import R_N, V_S
from ..scene import Scene
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.orders import Order, Ordered, Random
from ..solve.sweeps import Sweeps
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .picture import draw_forces, draw_grains
from .relaxation import network_of

Array = NDArray[np.float64]

DT = 0.03
REPEATS = 24  # random sweeps over which their reach is averaged
LITTLE = 1e-4  # of its weight that each grain of the layer gets in addition
LAYER = 0.5  # half the thickness of that layer
SWEEPS = (1, 2, 4, 8, 16, 32)
EARLY = 4  # sweeps after which the bias is stated


class ToAndFro(Ordered):
    """Top to bottom and bottom to top in turn."""

    def sequence(self, rng: Generator) -> NDArray[np.int32]:
        self._sequence = self._sequence[::-1].copy()
        return self._sequence


ORDERS: dict[str, tuple[str, Any]] = {
    "down": ("top to bottom", lambda: Ordered("-y")),
    "up": ("bottom to top", lambda: Ordered("+y")),
    "symmetric": ("to and fro", lambda: ToAndFro("-y")),
    "random": ("random", Random),
}


def run(quick: bool, tick: Tick) -> Result:
    """Several heaps, every order, few to many sweeps; and a chain, whose lead is known."""
    heaps, grains, steps = (3, 200, 250) if quick else (8, 400, 600)
    found: list[dict[str, Array]] = []
    told: list[dict[str, Array]] = []
    for seed in range(heaps):
        heap = settle(grains, steps, seed)
        tick((seed + 0.6) / heaps * 0.95)
        found.append({name: np.array([mean_reach(heap, name, n) for n in SWEEPS]) for name in ORDERS})
        told.append(expected_reach(heap))
        if seed == 0:
            shown = {name: change(heap, ORDERS[name][1], EARLY, 0) for name in ("down", "up")}
            first = heap
        tick((seed + 1.0) / heaps * 0.95)
    down, up = (np.array([[one[name][:, k] for name in ORDERS] for one in found]) for k in (0, 1))
    ratio, expected = (
        {name: np.array([one[name][:, 0] / one[name][:, 1] for one in some]) for name in ORDERS}
        for some in (found, told)
    )
    rows = [*bias_rows(ratio, expected), *chain_rows()]
    notes = [
        f"{heaps} heaps of {grains} disks, mu = 0.3; a layer in the middle gets {LITTLE:g} of its weight in addition.",
        "Reach is the mean distance of changed forces from the layer, weighted by their change, below it and above.",
        "In the end, with many sweeps, every order tells the same: the bias is one of unfinished sweeps.",
    ]
    return Result(rows, draw(first, shown, down, up), notes)


def settle(grains: int, steps: int, seed: int) -> Simulation:
    """A heap at rest in a box, its forces in balance."""
    width = 0.7 * math.sqrt(grains)
    tall = grains / width
    scene = Scene(dimension=2, friction=0.3, gravity=(0, -1))
    scene.add_grains(count=grains, radius=(0.4, 0.6), density=4.0 / math.pi, region=((0, 0), (width, 1.3 * tall)),
                     placement="dense", seed=seed)  # fmt: skip
    scene.add_box(lower=(0, 0), upper=(width, 3.0 * tall), open=["top"])
    simulation = Simulation(scene, dt=DT, accuracy="exact", seed=seed)
    motion = simulation.bodies.motion
    for step in range(steps):
        simulation.step()
        if 2 * step > steps:  # the heap has fallen
            motion[:, V_S] *= 0.95
        if np.abs(motion[:, V_S]).max() < 1e-5:
            break
    motion[:, V_S] = 0.0
    return simulation


def change(heap: Simulation, order: Callable[[], Order], sweeps: int, seed: int) -> tuple[Simulation, Array]:
    """One step with a layer a little heavier: the simulation after it, and |dR| of each contact (c,).

    It is compared with the same step without, by the same sweeps: what they still mend in the heap itself cancels.
    """
    steps = []
    for extra in (0.0, LITTLE):
        simulation = copy.deepcopy(heap)
        bodies = simulation.bodies
        away = np.abs(bodies.position[:, 1] - middle(heap))
        bodies.force = np.zeros((bodies.count, 3))
        bodies.force[:, 1] = np.where(away < LAYER, -extra * bodies.mass, 0.0)
        simulation.solver = Sweeps(order=order(), criterion=FixedSweeps(sweeps))
        simulation.rng = np.random.default_rng(seed)
        simulation.step()
        steps.append(simulation)
    bare, loaded = (simulation.contacts for simulation in steps)
    if not np.array_equal(bare.pairs, loaded.pairs):
        raise RuntimeError("the two steps have different candidates; use a smaller addition")
    return steps[1], np.linalg.norm(loaded.force - bare.force, axis=1)


def mean_reach(heap: Simulation, name: str, sweeps: int) -> Array:
    """(2,) reach below and above; of random sweeps the mean over several."""
    seeds = range(REPEATS if name == "random" else 1)
    return np.mean([reach(heap, ORDERS[name][1], sweeps, seed) for seed in seeds], axis=0)


def reach(heap: Simulation, order: Callable[[], Order], sweeps: int, seed: int) -> tuple[float, float]:
    """Mean distance below and above the layer at which forces have changed, each weighted by its change."""
    simulation, changed = change(heap, order, sweeps, seed)
    away = places(simulation) - middle(heap)
    below, above = (
        float((np.abs(away) * changed)[some].sum() / changed[some].sum()) for some in (away < 0.0, away > 0.0)
    )
    return below, above


def middle(heap: Simulation) -> float:
    """The height with as many grains below it as above."""
    return float(np.median(heap.bodies.position[:, 1]))


def places(simulation: Simulation) -> Array:
    """(c,) height of each contact."""
    i = simulation.contacts.pairs[:, 0]
    return np.asarray(simulation.bodies.position[i, 1] + simulation.bodies.radius[i] * simulation.contacts.normal[:, 1])


def chain_lead(sweeps: int) -> float:
    """Reach below less that above in an upright row of grains swept from top to bottom, in diameters.

    The row is pressed from both ends, and a grain in its middle is pushed down: -x here.
    """
    disks, push = 101, 1e-4
    forces = []
    for extra in (0.0, push):
        simulation = Simulation(chain(disks, squeeze=1.0), dt=1.0, solver=Sweeps(criterion=FixedSweeps(5000)))
        simulation.step()
        bodies = simulation.bodies
        bodies.motion[:, V_S] = 0.0
        bodies.force[disks // 2, 0] -= extra
        simulation.solver = Sweeps(order=Ordered("-x"), criterion=FixedSweeps(sweeps))
        simulation.step()
        i, j = simulation.contacts.pairs.T
        touch = j == i + 1  # candidates may be farther apart
        forces.append(simulation.contacts.forces[touch, R_N][np.argsort(i[touch])])
    changed = np.abs(forces[1] - forces[0])
    away = np.arange(disks - 1) + 0.5 - disks // 2
    below, above = ((np.abs(away) * changed)[some].sum() / changed[some].sum() for some in (away < 0.0, away > 0.0))
    return float(below - above)


def expected_reach(heap: Simulation) -> dict[str, Array]:
    """(sweeps, 2) for each order, as `mean_reach`, by sweeps over the heap's network, written out.

    They share no code with the engine; random ones have other random numbers.
    """
    simulation, _ = change(heap, ORDERS["down"][1], 1, 0)
    level, n = middle(heap), heap.bodies.count
    heights = places(simulation)[simulation.contacts.forces[:, R_N] > 0.0]
    away, falling = heights - level, np.argsort(-heights, kind="stable")
    layer = np.abs(heap.bodies.position[:, 1] - level) < LAYER
    found: dict[str, Array] = {}
    for name in ORDERS:
        lines = []
        for sweeps in SWEEPS:
            reaches = []
            for seed in range(REPEATS if name == "random" else 1):
                network = network_of(simulation)
                network.velocity[:n][layer, 1] = -LITTLE * DT
                turns = {"down": (1,), "up": (-1,), "symmetric": (-1, 1)}.get(name, (0,))
                given = (falling[:: turns[k % len(turns)]] for k in range(sweeps) if name != "random")
                network.relax(network.random(sweeps, 1000 + seed) if name == "random" else given)
                changed = np.linalg.norm(network.force, axis=1)
                reaches.append(
                    [(np.abs(away) * changed)[some].sum() / changed[some].sum() for some in (away < 0.0, away > 0.0)]
                )
            lines.append(np.mean(reaches, axis=0))
        found[name] = np.array(lines)
    return found


def bias_rows(ratio: dict[str, Array], told: dict[str, Array]) -> list[Row]:
    """The bias, which dies out: reach below over reach above (heaps, n) beside the network's.

    Errors are those of the difference, heap by heap.
    """
    what, early, late = "reach below over reach above", SWEEPS.index(EARLY), len(SWEEPS) - 1

    def fair(some: dict[str, Array], name: str) -> Array:
        """Over what the heap itself prefers, seen by both directions alike."""
        return np.asarray((some[name] / np.sqrt(some["down"] * some["up"]))[:, early])

    cases: list[tuple[str, str, Array, Array]] = [
        (f"{what}, top to bottom over bottom to top, {EARLY} sweeps", "down faster than up; no bias would be 1",
         (ratio["down"] / ratio["up"])[:, early], (told["down"] / told["up"])[:, early]),
        (f"the same after {SWEEPS[-1]} sweeps", "the lead is bounded, while the reach grows as sqrt(N_I)",
         (ratio["down"] / ratio["up"])[:, late], (told["down"] / told["up"])[:, late]),
        (f"{what}, to and fro over the mean of both, {EARLY} sweeps", "two opposite sweeps have no direction",
         fair(ratio, "symmetric"), fair(told, "symmetric")),
        (f"{what}, random over the mean of both, {EARLY} sweeps", "random sweeps have no direction",
         fair(ratio, "random"), fair(told, "random")),
    ]  # fmt: skip
    return [
        Row(name, mean(theory), mean(values), 0.01 * mean(theory) + 3.0 * error(values - theory),
            error=error(values - theory), source=f"sweeps over the same network, written out; {source}")
        for name, source, values, theory in cases
    ]  # fmt: skip


def chain_rows() -> list[Row]:
    """The lead in an upright row, which is known exactly."""
    lead = [chain_lead(n) for n in (1, 4, 16)]
    return [
        Row("chain, top to bottom: reach below less reach above, 1 sweep", 1.0, lead[0], 1e-6, unit="d",
            source="1/2 + 1/4 + 1/8 + ... of a diameter; worked out on the page"),
        Row("chain, the same after 4 and 16 sweeps, farther from 1", 1.0, max(lead[1:], key=lambda x: abs(x - 1.0)),
            1e-6, unit="d", source="Gauss-Seidel has no drift: the lead stays what the first sweep made it"),
    ]  # fmt: skip


def draw(heap: Simulation, shown: dict[str, tuple[Simulation, Array]], down: Array, up: Array) -> Figure:
    """Two heaps with the forces that know of the heavier layer, and the reach of every order against sweeps."""
    figure, panels = new_figure(1, 3, width=13.0, height=6.2)
    level, width = middle(heap), float(heap.bodies.position[:, 0].max()) + 0.5
    top = max(float(changed.max()) for _, changed in shown.values())
    for panel, (name, (simulation, changed)) in zip(panels, shown.items()):
        draw_grains(panel, simulation.bodies)
        panel.axhspan(level - LAYER, level + LAYER, color=INKS[4], alpha=0.35, lw=0, zorder=2)
        seen = np.sqrt(np.where(changed > 1e-3 * top, changed, 0.0))
        draw_forces(panel, simulation.bodies, simulation.contacts, seen, colors=INKS[1])
        arrow = {"arrowstyle": "-|>", "color": INKS[0], "lw": 3.0}
        ends = (0.97, 0.03) if name == "down" else (0.03, 0.97)
        panel.annotate("", (-0.05, ends[1]), (-0.05, ends[0]), xycoords="axes fraction", arrowprops=arrow)
        panel.set(xlim=(-0.5, width + 0.5), ylim=(-0.5, 2.0 * level + 1.0), xlabel="x (d)",
                  title=f"{EARLY} sweeps, {ORDERS[name][0]}")  # fmt: skip
        panel.set_yticks([])
        panel.set_ylabel("direction of the sweep", labelpad=22)
    for ink, k in zip(INKS, range(len(ORDERS))):
        for values, sign in ((down, -1.0), (up, 1.0)):
            middle_value, bars = values[:, k].mean(axis=0), values[:, k].std(axis=0, ddof=1) / math.sqrt(len(values))
            panels[2].errorbar(SWEEPS, sign * middle_value, bars, fmt="o-", ms=4, lw=1.4, color=ink,
                               label=list(ORDERS.values())[k][0] if sign > 0 else None)  # fmt: skip
    panels[2].axhspan(-LAYER, LAYER, color=INKS[4], alpha=0.35, lw=0, label="the layer that got heavier")
    panels[2].set(xscale="log", xlabel=r"sweeps $N_I$", ylabel="mean reach: below the layer, and above (d)",
                  title="How far forces know of it")  # fmt: skip
    panels[2].set_xticks(SWEEPS, [str(n) for n in SWEEPS])
    panels[2].minorticks_off()
    panels[2].legend(frameon=False, fontsize=9, loc="lower left")
    return figure


def mean(values: Array) -> float:
    return float(np.mean(values))


def error(values: Array) -> float:
    """Standard error of the mean."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
