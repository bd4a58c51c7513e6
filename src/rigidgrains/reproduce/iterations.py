"""Sweeps and cost against system size: a cold start under load, in one, two and three dimensions.

Units: diameter, mass and time step are 1. One step is solved from forces of zero, and the sweeps are counted until the
far wall carries the load to within 10 %: information about the load has to diffuse through the whole system.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .. import theory
from ..model.bodies import Bodies
from ..model.columns import R_N
from ..model.shapes import Plane
from ..model.walls import Wall
from ..simulation.simulation import Simulation
from ..soft_dem import SoftDEM
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .fit import longest
from .packing_waves import compress
from .packing_waves import height as piston_height
from .relaxation import network_of

Array = NDArray[np.float64]
Sample = tuple[int, float, int, int]  # grains, height L/d, sweeps, contact updates

ACCURACY = 0.1
PUSH = 1e-4  # force on each grain of the last layer: small, so that no gap closes within the step
FIXED, LOAD = 40, 0.05  # sweeps and load of the runs at constant N_I
KAPPA = theory.stiffness(theory.Q_RANDOM, FIXED, 1.0, 1.0)  # and gamma, as dt = 1, Eqs. (kappa), (gamma)

COUNTED = "Eq. (NIestim1) in lattices this small: sweeps over the same network, written out"

# The chain is fixed at the wall and loaded at its end. The slowest wave of the forces has k = pi/(2L), starts with
# 4/pi of the load and decays by exp(-q (k d)^2) a sweep. It is down to the accuracy after PREFACTOR (L/d)^2 sweeps.
PREFACTOR = theory.sweeps_for_accuracy(ACCURACY, 1.0, 1.0, theory.Q_RANDOM)


def run(quick: bool, tick: Tick) -> Result:
    """Exponents of the sweeps against L/d and of the cost against n; cost and stiffness at a constant N_I; springs."""
    sizes = {
        1: (8, 16, 32, 64) if quick else (8, 16, 32, 64, 128),
        2: (9, 12, 18, 24) if quick else (9, 12, 18, 24, 36, 48),
        3: (6, 8, 12) if quick else (6, 8, 12, 16, 20),
    }
    found: dict[int, list[Sample]] = {}
    for dimension, share in ((1, 0.1), (2, 0.2), (3, 0.4)):
        found[dimension] = [cold_start(dimension, size, seed=0) for size in sizes[dimension]]
        tick(share)
    chains = [cold_start(1, sizes[1][-1], seed) for seed in range(4)]
    factors = [sweeps / height**2 for _, height, sweeps, _ in chains]
    rows = [
        Row("N_I over (L/d)^2, chain", PREFACTOR, float(np.mean(factors)), 0.01 * PREFACTOR,
            error=float(np.std(factors, ddof=1) / math.sqrt(len(factors))), source="Eq. (D1): 4 ln(4/0.1 pi)/(pi^2 q)"),
    ]  # fmt: skip
    told = [written_out_start(3, size, seed=1000) for size in sizes[3]]
    tick(0.45)
    for dimension, tolerance in ((1, 0.02), (2, 0.06), (3, 0.02)):
        samples = found[dimension]
        slope, error = exponent(samples, lambda s: s[1], lambda s: s[2])
        expected = 2.0 if dimension < 3 else exponent(told, lambda s: s[1], lambda s: s[2])[0]
        rows.append(Row(f"exponent of N_I against L/d, {dimension}D", expected, slope, tolerance, error=error,
                        source="Eq. (NIestim1)" if dimension < 3 else COUNTED))  # fmt: skip
        if dimension > 1:  # whatever a lattice seems too tall by
            straight, error = bend(samples)
            rows.append(Row(f"√N_I per diameter, larger over smaller sizes, {dimension}D",
                            1.0 if dimension < 3 else bend(told)[0], straight, 0.01 + 3.0 * error, error=error,
                            source="N_I ~ (L + h)², h a constant" if dimension < 3 else COUNTED))  # fmt: skip
    for dimension, expected, tolerance, source in ((2, 2.0, 0.05, "Eq. (T2D)"), (3, 5.0 / 3.0, 0.05, "Eq. (T3D)")):
        slope, error = exponent(found[dimension], lambda s: s[0], lambda s: s[3])
        rows.append(Row(f"exponent of the updates against n, {dimension}D", expected, slope, tolerance, error=error,
                        source=source))  # fmt: skip
    constant = [constant_sweeps(size) for size in sizes[2]]
    slope, error = exponent(constant, lambda s: s[0], lambda s: s[3])
    rows.append(Row("exponent of the updates against n, constant N_I, 2D", 1.0, slope, 0.03, error=error,
                    source="Eq. (order-n)"))  # fmt: skip
    tick(0.5)
    soft = {dimension: [on_springs(dimension, size) for size in sizes[dimension]] for dimension in (2, 3)}
    for dimension in (2, 3):
        slope, error = exponent(soft[dimension], lambda s: s[0], lambda s: s[3])
        surface, _ = exponent(soft[dimension], lambda s: s[0], lambda s: s[3] / s[2])  # contacts are fewer at the rim
        rows.append(Row(f"exponent of the force evaluations against n, springs, {dimension}D", surface, slope, 0.03,
                        error=error, source="item 68: MD ~ n; as contacts grow with n"))  # fmt: skip
        steps = [sample[2] for sample in soft[dimension]]  # the smallest lattices lack the stiffest waves
        rows.append(Row(f"stable steps of springs per dt, largest lattice over middle one, {dimension}D", 1.0,
                        steps[-1] / steps[len(steps) // 2], 0.03, source="item 68"))  # fmt: skip
    tick(0.8)
    lengths = (50, 100) if quick else (50, 100, 200)
    shrunk = [shrinkage(n) for n in lengths]
    tick(0.98)
    for k, n in enumerate(lengths[1:]):
        grown = LOAD * (n - lengths[k]) / (shrunk[k + 1] - shrunk[k])  # what the loaded end does falls out
        rows.append(
            Row(f"kappa over q m N_I/dt^2, chain of {n} against {lengths[k]}", 1.0, grown / KAPPA, 0.01,
                source="Eq. (kappa): independent of n")
        )  # fmt: skip
    least, most = (max(samples[place][0] for samples in found.values()) for place in (0, -1))
    notes = [
        f"Up to {most} grains (in the smallest lattices {least}).",
        "The estimate N_I > (L/d)^2 of the paper is right in order of magnitude: a tenth of the load is still missing "
        f"at the far wall of a chain after {PREFACTOR:.2f} (L/d)^2 sweeps.",
    ]
    if not quick:
        loose = [random_start(200, seed) for seed in range(8)]
        needed = np.array([sweeps / height**2 for _, height, sweeps, _ in loose])
        notes.append(
            f"Random packings of 200 disks need {np.exp(np.log(needed).mean()):.1f} (L/d)^2 sweeps (geometric mean of "
            f"{len(needed)}; single ones from {needed.min():.1f} to {needed.max():.1f}): the last tenth hangs on a few "
            "slow modes of each packing. How far forces diffuse in them is measured by the target diffusion."
        )
    ratio = soft[2][-1][3] / constant[-1][3]
    notes.append(
        f"Springs of the same kappa and gamma take {ratio:.1f} times the evaluations of a 2D lattice at N_I = {FIXED}; "
        f"their longest stable step is {soft[3][-1][2] / soft[3][0][2] - 1.0:.0%} shorter in the largest 3D lattice "
        "than in the smallest, which lacks the stiffest waves, and then does not depend on n."
    )
    return Result(rows, draw(found, soft, constant), notes)


class Transmitted:
    """Criterion: the far wall, the first one, carries its load to within the accuracy."""

    def __init__(self, simulation: Simulation, load: float) -> None:
        self.simulation, self.load = simulation, load

    def tolerance(self, mean: float) -> None:
        return None

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        contacts = self.simulation.contacts
        carried = contacts.forces[contacts.wall_rows[0], R_N].sum()
        return bool(abs(carried - self.load) < ACCURACY * self.load)


def cold_start(dimension: int, size: int, seed: int) -> Sample:
    """A chain or lattice at rest that is pressed from one step to the next."""
    bodies, height = pressed(dimension, size)
    return come_through(Simulation(bodies, dt=1.0, accuracy="exact", seed=seed), -float(bodies.force.sum()), height)


def written_out_start(dimension: int, size: int, seed: int) -> Sample:
    """The same by sweeps that share no code with the engine; its contacts are all pairs that touch."""
    bodies, height = pressed(dimension, size)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(1)))
    load, n = -float(bodies.force.sum()), bodies.count
    velocity = bodies.force / bodies.mass[:, None]
    simulation.step()
    touching = np.abs(simulation.contacts.gap) < 1e-9
    network = network_of(simulation, touching)
    network.velocity[:n] = velocity
    base = network.pairs[:, 1] == n  # the first wall
    sweeps, carried = 0, 0.0
    for order in network.random(1_000_000, seed):
        network.relax([order], least=0.0)
        sweeps, carried = sweeps + 1, float(np.abs(network.force[base, dimension - 1]).sum())
        if abs(carried - load) < ACCURACY * load:
            break
    return n, height, sweeps, sweeps * len(network.pairs)


def random_start(grains: int, seed: int) -> Sample:
    """A random packing under a piston that has forgotten its forces."""
    packing = compress(grains, seed, sweeps=100)
    load = float(packing.contacts.forces[packing.contacts.wall_rows[0], R_N].sum())
    packing.contacts.forget()
    return come_through(packing, load, piston_height(packing))


def come_through(simulation: Simulation, load: float, height: float) -> Sample:
    """Sweeps and contact updates of one step from zero forces, until the far wall carries its load."""
    criterion = Transmitted(simulation, load)
    simulation.solver = Sweeps(criterion=criterion, max_sweeps=1_000_000)
    simulation.step()
    return simulation.bodies.count, height, simulation.last_solve.sweeps, simulation.last_solve.updates


def constant_sweeps(size: int) -> Sample:
    """The cost of one step of a 2D lattice at a constant number of sweeps."""
    bodies, height = pressed(2, size)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(FIXED)))
    simulation.step()
    return bodies.count, height, simulation.last_solve.sweeps, simulation.last_solve.updates


def on_springs(dimension: int, size: int) -> Sample:
    """Force evaluations that springs need for one dt in a lattice, at kappa and gamma of N_I = FIXED."""
    steps = 1.0 / stable_step(dimension, size)
    bodies, height = pressed(dimension, size)
    springs = SoftDEM(bodies, dt=1.0 / steps, stiffness=KAPPA, viscosity=KAPPA)
    springs.step()
    return bodies.count, height, round(steps), round(steps * springs.updates)


def stable_step(dimension: int, size: int) -> float:
    """The longest step at which a lattice on springs stays bounded, by bisection to a per cent."""
    return longest(lambda dt: bounded(dimension, size, dt), 0.05 / KAPPA, 1.0 / KAPPA)


def bounded(dimension: int, size: int, dt: float) -> bool:
    """Whether a small disturbance of a lattice of bonds is still small after 200 steps."""
    bodies, _ = pressed(dimension, size)
    bodies.force[:] = 0.0
    bodies.velocity[:, :dimension] = 1e-9 * np.random.default_rng(0).normal(size=(bodies.count, dimension))
    springs = SoftDEM(bodies, dt=dt, stiffness=KAPPA, viscosity=KAPPA, bonded=True)
    for _ in range(10):
        springs.run(20)
        if not np.abs(bodies.velocity).max() < 1e-6:
            return False
    return True


def shrinkage(disks: int) -> float:
    """How much a chain shortens at a constant N_I under a load that is put on slowly."""
    bodies = chain(disks, push=LOAD, wall=True)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(FIXED)))
    k = math.pi / (2.0 * disks)
    slow = 20.0 / theory.frequency(k, theory.Q_RANDOM, FIXED, 1.0, 1.0)
    for step in range(round(slow + 4.0 * theory.damping_time(k, theory.Q_RANDOM, FIXED, 1.0, 1.0))):
        bodies.force[-1, 0] = -LOAD * min(1.0, (step + 1.0) / slow)
        simulation.step()
    return disks - 0.5 - float(bodies.position[-1, 0])


def pressed(dimension: int, size: int) -> tuple[Bodies, float]:
    """A chain, a triangular or an fcc lattice of `size` grains along each side, pressed on the far wall; its height.

    The walls at the sides have no friction, so that the far wall carries the whole load in the end.
    """
    if dimension == 1:
        return chain(size, push=PUSH, wall=True), float(size)
    up, rise = dimension - 1, math.sqrt(0.75) if dimension == 2 else math.sqrt(0.5)
    layers = []
    for layer in range(round(size / rise)):
        along = 0.5 + 0.5 * (layer % 2) + np.arange(size - layer % 2)
        mesh = np.meshgrid(*[along] * up, indexing="ij")
        place = np.zeros((mesh[0].size, 3))
        place[:, :up] = np.stack([m.ravel() for m in mesh], axis=1)
        place[:, up] = 0.5 + rise * layer
        layers.append(place)
    position = np.concatenate(layers)
    force = np.zeros_like(position)
    force[-len(layers[-1]) :, up] = -PUSH
    axes = np.eye(3)
    walls = [Wall("base", Plane(np.zeros(3), axes[up]))]
    for axis in axes[:up]:
        walls += [Wall("side", Plane(np.zeros(3), axis)), Wall("other side", Plane(size * axis, -axis))]
    density = 4.0 / math.pi if dimension == 2 else 6.0 / math.pi
    radius = np.full(len(position), 0.5)
    bodies = Bodies.assemble(
        dimension=dimension, position=position, radius=radius, density=density, force=force, walls=walls
    )
    return bodies, 1.0 + rise * (len(layers) - 1)


def exponent(samples: list[Sample], x: Callable[[Sample], float], y: Callable[[Sample], float]) -> tuple[float, float]:
    """Slope in a log-log plot and its standard error."""
    a, b = np.log([x(s) for s in samples]), np.log([y(s) for s in samples])
    slope, offset = np.polyfit(a, b, 1)
    left = b - offset - slope * a
    error = math.sqrt(float(left @ left) / max(len(a) - 2, 1) / float(((a - a.mean()) ** 2).sum()))
    return float(slope), error


def bend(samples: list[Sample]) -> tuple[float, float]:
    """Slope of sqrt(N_I) against L of the larger half of the sizes over that of the smaller half, and its error."""
    height, root = np.array([s[1] for s in samples]), np.sqrt([s[2] for s in samples])
    half = len(samples) // 2
    parts = [np.polyfit(height[part], root[part], 1)[0] for part in (slice(half + 1), slice(half, None))]
    error = 0.5 * math.hypot(
        *(
            1.0 / root[part].mean() / np.ptp(height[part]) / slope
            for part, slope in zip((slice(half + 1), slice(half, None)), parts)
        )
    )  # a sweep more or less
    return float(parts[1] / parts[0]), error


def draw(found: dict[int, list[Sample]], soft: dict[int, list[Sample]], constant: list[Sample]) -> Figure:
    """Sweeps against L/d, updates against n."""
    figure, (sweeping, costing) = new_figure(1, 2, width=13.0, height=4.8)
    names = {1: "chain", 2: "2D, triangular lattice", 3: "3D, fcc lattice"}
    powers: dict[int, tuple[float, str]] = {1: (3.0, "$n^3$"), 2: (2.0, "$n^2$"), 3: (5.0 / 3.0, "$n^{5/3}$")}
    for k, samples in found.items():
        n, height, sweeps, updates = (np.array(column, dtype=float) for column in zip(*samples))
        ink, mark = INKS[k - 1], "os^"[k - 1]
        sweeping.plot(height, sweeps, mark, color=ink, label=names[k])
        costing.plot(n, updates, mark, color=ink, label=names[k])
        power, label = powers[k]
        costing.plot(n, updates[-1] * (n / n[-1]) ** power, "--", lw=1, color=ink, label=label)
    length = np.array([5.0, 130.0])
    sweeping.plot(length, length**2, color=INKS[5], lw=1, label=r"estimate $(L/d)^2$, Eq. (NIestim1)")
    sweeping.plot(
        length, PREFACTOR * length**2, "--", color=INKS[0], lw=1, label=f"theory, ${PREFACTOR:.2f}\\,(L/d)^2$"
    )
    sweeping.set(xlabel="L/d", ylabel="sweeps until 90 % of the load has come through", title="Sweeps of a cold start")
    n = np.array([s[0] for s in constant], dtype=float)
    work = np.array([s[3] for s in constant], dtype=float)
    costing.plot(n, work, "D", color=INKS[3], label=f"2D, constant $N_I$ = {FIXED}")
    costing.plot(n, work[-1] * n / n[-1], "--", lw=1, color=INKS[3], label="$n$")
    for dimension, mark, ink in ((2, "P", INKS[4]), (3, "X", INKS[5])):
        size, work = (np.array([s[column] for s in soft[dimension]], dtype=float) for column in (0, 3))
        name = f"{dimension}D, springs of the same $\\kappa$, $\\gamma$"
        costing.plot(size, work, mark, color=ink, mfc="none", ms=7, label=name)
        costing.plot(size, work[-1] * size / size[-1], "--", lw=1, color=ink, label="$n$")
    costing.set(xlabel="grains n", ylabel="contact updates, or force evaluations", title="Cost of a step dt")
    panels: Any = (sweeping, costing)
    for panel in panels:
        panel.set(xscale="log", yscale="log")
    sweeping.legend(fontsize=9)
    costing.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
