"""The thought experiment (item 47): a load is raised at one end; how deep does its momentum get in one step?

Forces diffuse from the end where they are given: after N_I sweeps dR = dF erfc(x/l_diff), Eq. (difflength), so the
momentum dF dt lies below the surface as a half Gaussian exp(-x^2/l_diff^2) of mean depth l_diff/sqrt(pi). A wall at
depth L mirrors it: the share of dF that the wall carries is 2 (erfc(L/l_diff) - erfc(3 L/l_diff) + ...). Rows are held
against the same with grains counted one by one, see `counted`.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.columns import R_N, V_Y
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps, LocalCriterion
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, diffusion_length, rigid_sweeps, sweep_factor
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .diffusion import lattice, lay
from .relaxation import network_of

Array = NDArray[np.float64]

SHOWN = (10, 40, 160, 640)  # sweeps whose force profile is drawn
LOAD = 1e-3  # d m/dt^2
LAYERS, COLUMNS = 40, 8  # of the packing
LAYER = math.sqrt(0.75)  # d, from layer to layer
SHORT = 20  # disks of the chain whose wall is to be reached


def run(quick: bool, tick: Tick) -> Result:
    """Depth of the momentum in a long chain and in a packing, and the share of dF that reaches the wall."""
    many = (10, 40, 160) if quick else (10, 20, 40, 80, 160, 320, 640)
    figure, axes = new_figure(2, 2, width=11.0, height=8.0)
    rows = _chain(axes[0, 0], axes[1, 0], many, 16 if quick else 64)
    tick(0.6)
    rows += _packing(axes[0, 1], axes[1, 0], (8, 16, 32) if quick else (4, 8, 16, 32, 64), 8 if quick else 32)
    tick(0.8)
    rows += _share(axes[1, 1], (1.0, 2.0) if quick else (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0), 16 if quick else 64)
    for panel in axes.flat:
        panel.legend(fontsize=9)
    return Result(rows, figure, [
        f"Chains of {SHORT} disks and more, a packing of {LAYERS} layers; l_diff is longer than 2 √(q N_I) d by "
        f"{counted_depth(many[0]) / diffusion_length(Q_RANDOM, many[0], 1.0) - 1.0:.1%} at N_I = {many[0]}, where "
        f"grains count, and by {counted_depth(many[-1]) / diffusion_length(Q_RANDOM, many[-1], 1.0) - 1.0:.2%} at "
        f"{many[-1]}.",
        "When the sweeps stop early the momentum of a sudden load stays within about l_diff, as the paper says.",
        "l_diff = L is not yet rigid: the wall then carries 32 % of dF, at l_diff = 2 L 89 %, at 3 L 99.5 %.",
    ])  # fmt: skip


def respond(disks: int, sweeps: int, seed: int) -> tuple[Array, Array]:
    """One step after F has become 2 F: change of the contact forces over dF and velocities over dF dt/m, both from
    the loaded end down; the last force is that on the wall."""
    bodies = chain(disks, push=LOAD, wall=True)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(sweeps)), seed=seed)
    problem, _ = lay(simulation)
    problem.forces[:, R_N] = LOAD  # equilibrium under F
    bodies.force[-1, 0] *= 2.0
    simulation.step()
    along = np.argsort(simulation.contacts.problem(bodies, 1.0).points()[:, 0])[::-1]
    return simulation.contacts.forces[along, R_N] / LOAD - 1.0, -bodies.velocity[::-1, 0] / LOAD


def counted(disks: int, sweeps: int) -> Array:
    """Mean change of the contact forces over dF, from the loaded end down to the wall, grains counted one by one.

    From the wall, R = 1 + sum of r cos(ki) over k = (j - 1/2) pi/n; each sweep multiplies r by lambda(k).
    """
    i = np.arange(disks)
    k = (i + 0.5) * math.pi / disks
    modes = np.cos(np.outer(i, k))
    ends = np.where(i == 0, 0.5, 1.0)  # the contact at the wall is shared with a mirror image
    left = -2.0 / disks * (ends @ modes) * np.array([sweep_factor(one) for one in k]) ** sweeps
    return np.asarray((1.0 + modes @ left)[::-1])


def counted_depth(sweeps: int) -> float:
    """sqrt(pi) times the mean depth of the momentum in a long chain: that of disk j lies at j + 1/2."""
    force = counted(10 * round(0.4 * diffusion_length(Q_RANDOM, sweeps, 1.0)) + 10, sweeps)
    return math.sqrt(math.pi) * (0.5 + float(force.sum()))


def _chain(profile: Any, depths: Any, many: tuple[int, ...], seeds: int) -> list[Row]:
    """Force profiles against erfc, and l_diff from the mean depth of the momentum."""
    disks = 10 * round(0.4 * diffusion_length(Q_RANDOM, many[-1], 1.0))
    place = np.arange(disks) + 0.5
    rows, lengths, errors = [], [], []
    for sweeps in many:
        theory = diffusion_length(Q_RANDOM, sweeps, 1.0)
        pairs = [respond(disks, sweeps, seed) for seed in range(seeds)]
        force = np.mean([pair[0] for pair in pairs], axis=0)
        length = math.sqrt(math.pi) * np.array([pair[1] @ place for pair in pairs])
        lengths.append(float(length.mean()))
        errors.append(float(length.std(ddof=1) / math.sqrt(seeds)))
        expected = counted_depth(sweeps)
        rows.append(Row(f"l_diff in the chain, N_I = {sweeps}", expected, lengths[-1],
                        0.003 * expected + 3.0 * errors[-1], error=errors[-1], unit="d",
                        source=f"Eq. (difflength), {theory:.3f} d, with grains counted"))  # fmt: skip
        if sweeps in SHOWN:
            ink, contact = INKS[SHOWN.index(sweeps)], np.arange(1, disks)
            profile.plot(contact, force[:-1], "o", color=ink, ms=4, mfc="none", label=f"measured, $N_I$ = {sweeps}")
            profile.plot(contact, [math.erfc(x / theory) for x in contact], color=ink, lw=1)
    profile.set(
        xlabel="depth x (d)",
        ylabel="change of force / dF",
        xlim=(0, 80),
        title="Chain (lines: erfc($x/l_{diff}$), Eq. (difflength))",
    )
    depths.errorbar(many, lengths, errors, fmt="o", color=INKS[0], ms=7, mfc="none", label="chain, measured")
    line = [diffusion_length(Q_RANDOM, sweeps, 1.0) for sweeps in many]
    depths.loglog(many, line, color=INKS[0], lw=1, label=r"$2\sqrt{qN_I}$, Eq. (difflength)")
    rows.append(
        Row("exponent of the depth in N_I, chain", 0.5, _power(many, lengths)[1], 0.01, source="Eq. (difflength)")
    )
    return rows


def _packing(profile: Any, depths: Any, many: tuple[int, ...], seeds: int) -> list[Row]:
    """The same under a piston on a triangular lattice: momentum of every layer."""
    solver = Sweeps(criterion=LocalCriterion(1e-7), max_sweeps=100_000)
    relaxed = Simulation(lattice(LAYERS, COLUMNS, LOAD * COLUMNS), dt=1.0, solver=solver)
    relaxed.step()
    layer = np.round((relaxed.bodies.position[:, 1].max() - relaxed.bodies.position[:, 1]) / LAYER).astype(int) + 1
    depth = LAYER * (np.arange(LAYERS + 1) + 0.5)  # the piston, of the mass of a layer, counts as the first
    mass = np.bincount(layer, relaxed.bodies.mass, LAYERS + 1)
    mass[0] = COLUMNS
    lengths, errors, all_lengths, told = [], [], [], []
    for number, sweeps in enumerate(many):
        shares = []
        for seed in range(seeds):
            simulation = copy.deepcopy(relaxed)
            simulation.rng, simulation.solver = np.random.default_rng(seed), Sweeps(criterion=FixedSweeps(sweeps))
            bodies = simulation.bodies
            piston = bodies.walls[-1]
            piston.load *= 1.1
            simulation.step()
            momentum = np.bincount(layer, -bodies.velocity[:, 1] * bodies.mass, LAYERS + 1)
            momentum[0] = -piston.mass * bodies.motion[-1, V_Y]
            shares.append(momentum / (0.1 * LOAD * COLUMNS))
        length = math.sqrt(math.pi) * np.array([share @ depth for share in shares])
        all_lengths.append(length)
        told.append([_written_out(relaxed, layer, sweeps, 1000 + seed) @ depth for seed in range(seeds)])
        lengths.append(float(length.mean()))
        errors.append(float(length.std(ddof=1) / math.sqrt(seeds)))
        if sweeps in (8, 16, 32, 64):
            ink = INKS[number % len(INKS)]
            density = np.mean(shares, axis=0) / mass * mass.mean() / LAYER  # layers of 8 and 7 disks in turn
            profile.plot(depth, density, "o", color=ink, ms=4, mfc="none", label=f"measured, $N_I$ = {sweeps}")
            curve = 2.0 / math.sqrt(math.pi) / lengths[-1] * np.exp(-((depth / lengths[-1]) ** 2))
            profile.plot(depth, curve, color=ink, lw=1)
    profile.set(xlabel="depth x (d)", ylabel="momentum / dF dt, per d", xlim=(0, 30))
    profile.set_title(f"Packing of {len(layer)} disks under a piston (lines: half Gaussians)", fontsize=11)
    slope, exponent = _power(many, lengths)
    depths.errorbar(many, lengths, errors, fmt="s", color=INKS[1], ms=7, mfc="none", label="packing, measured")
    depths.loglog(
        many,
        slope * np.array(many) ** exponent,
        color=INKS[1],
        lw=1,
        label=f"fit from $N_I$ = {many[0]} on, $N_I^{{{exponent:.3f}}}$",
    )
    depths.set(xlabel="sweeps $N_I$", ylabel="√π × mean depth of the momentum (d)", title="Depth of the momentum")
    (_, error), (expected, doubt) = _exponents(many, np.array(all_lengths)), _exponents(many, np.array(told))
    error = math.hypot(error, doubt)
    source = "l_diff ~ √N_I, item 46, in so few layers: sweeps over the same network, written out"
    return [Row("exponent of the depth in N_I, packing", expected, exponent, 0.005 + 3.0 * error, error=error,
                source=source)]  # fmt: skip


def _written_out(relaxed: Simulation, layer: NDArray[np.intp], sweeps: int, seed: int) -> Array:
    """Momentum of each layer over dF dt, the piston first, after sweeps that share no code with the engine."""
    grains, last = relaxed.bodies.count, len(relaxed.bodies.walls) - 1
    network = network_of(relaxed, piston=last)
    network.velocity[grains + last, 1] = -1.0 / COLUMNS
    network.relax(network.random(sweeps, seed))
    momentum: Array = np.bincount(layer, -network.momentum(1, grains), LAYERS + 1).astype(np.float64)
    momentum[0] = -COLUMNS * network.velocity[grains + last, 1]
    return momentum


def _exponents(many: tuple[int, ...], lengths: Array) -> tuple[float, float]:
    """Exponent of lengths (N_I, seeds) averaged over seeds, and its standard error by leaving out one after another."""
    seeds = lengths.shape[1]
    without = [_power(many, list(np.delete(lengths, k, axis=1).mean(axis=1)))[1] for k in range(seeds)]
    return _power(many, list(lengths.mean(axis=1)))[1], math.sqrt((seeds - 1) * float(np.var(without)))


def _power(many: tuple[int, ...], lengths: list[float]) -> tuple[float, float]:
    """Factor and exponent of lengths = factor N_I^exponent."""
    exponent, factor = np.polyfit(np.log(many), np.log(lengths), 1)
    return math.exp(factor), float(exponent)


def _share(panel: Any, ratios: tuple[float, ...], seeds: int) -> list[Row]:
    """What the wall carries of dF, against l_diff/L."""
    rows, shown = [], []
    for ratio in ratios:
        sweeps = rigid_sweeps(SHORT, 1.0, Q_RANDOM, ratio)
        values = np.array([respond(SHORT, sweeps, seed)[0][-1] for seed in range(seeds)])
        x, error = diffusion_length(Q_RANDOM, sweeps, 1.0) / SHORT, float(values.std(ddof=1) / math.sqrt(seeds))
        shown.append((x, float(values.mean()), error))
        if ratio in (1.0, 2.0):
            expected = float(counted(SHORT, sweeps)[-1])
            rows.append(Row(f"share of dF at the wall, l_diff = {ratio:g} L", expected, shown[-1][1],
                            0.005 + 3.0 * error, error=error,
                            source=f"diffusion with a wall at L, {mirrored(x):.4f}, with grains counted"))  # fmt: skip
    x, share, error = np.array(shown).T
    panel.errorbar(x, share, error, fmt="o", color=INKS[0], ms=7, mfc="none", label=f"measured, chain of {SHORT} disks")
    curve = np.linspace(0.05, 3.1, 200)
    panel.plot(curve, [mirrored(value) for value in curve], color=INKS[1], label="diffusion equation with a wall at L")
    panel.axvline(1.0, color=INKS[5], ls=":", lw=1, label="$l_{diff} = L$")
    panel.set(xlabel="$l_{diff} / L$", ylabel="share of dF at the wall", title="When does the wall feel the load?")
    return rows


def mirrored(ratio: float) -> float:
    """Share of dF at a wall at depth L after l_diff = ratio L."""
    return 2.0 * sum((-1) ** n * math.erfc((2 * n + 1) / ratio) for n in range(20))
