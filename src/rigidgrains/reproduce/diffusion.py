"""Force diffusion, Eq. (contin-forceiter): q of every order, the bias of ordered sweeps, the parallel update.

How far a sweep reaches: from contact i walk left or right at random, on from contacts that were updated before
the present one, and stop at the first that was not. q is half the mean square of the distance walked. Parallel: one
step, q = 1/2. Along the chain: 1 minus a geometric number, q = 1. In a random permutation a walk of l steps needs l
descents in a row, 1/(l + 1)!, which sums to Eq. (q-randsweep). Blocks of b contacts are ordered inside and lose at
their ends: q = 1 - 7/(16 b), within 0.1 % of what is measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..detect.candidates import find_candidates
from ..model.bodies import Bodies
from ..model.columns import R_N, V_X, V_Z
from ..model.shapes import Plane
from ..model.walls import Wall
from ..simulation import integrate
from ..simulation.simulation import Simulation
from ..solve.criteria import LocalCriterion
from ..solve.kernels.factory import apply_forces
from ..solve.orders import Coloured, Order, Ordered, Parallel, Random, RandomBlocks, RandomSequential, Symmetric
from ..solve.sweeps import Sweeps
from ..theory import Q_PARALLEL, Q_RANDOM
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .spreading import packings

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SQUEEZE = 1e-3  # d m/dt^2, small: only next neighbours are candidates
RANDOM_ORDERS = (Random, RandomSequential, RandomBlocks, Coloured)
# what, the order, q, and where that q comes from
ORDERS: tuple[tuple[str, Order, float, str], ...] = (
    ("random sweep", Random(), Q_RANDOM, "Eq. (q-randsweep)"),
    ("parallel", Parallel(), Q_PARALLEL, "Eq. (q1)"),
    ("random sequential", RandomSequential(), 0.5, "walk: averages to the parallel law"),
    ("ordered up", Ordered("+x"), 1.0, "walk: exp(ikd)/(2 - exp(-ikd))"),
    ("ordered down", Ordered("-x"), 1.0, "walk: exp(-ikd)/(2 - exp(ikd))"),
    ("symmetric", Symmetric(), 1.0, "walk: up and down in turn"),
    ("coloured", Coloured(), 0.75, "walk: two colours in random order"),
    ("blocks of 8", RandomBlocks(block=8), 1.0 - 7.0 / 128.0, "walk: 1 - 7/(16 b)"),
    ("blocks of 32", RandomBlocks(block=32), 1.0 - 7.0 / 512.0, "walk: 1 - 7/(16 b)"),
)


def run(quick: bool, tick: Tick) -> Result:
    """q from the decay of a sine of force along a squeezed chain, the reach of a sweep, a packing swept in parallel."""
    disks, seeds = (97, 5) if quick else (257, 16)
    figure, axes = new_figure(2, 2, width=11.0, height=8.0)
    rows = []
    for number, (name, order, q, source) in enumerate(ORDERS):
        runs = [decay(disks, order, q, seed) for seed in range(seeds if isinstance(order, RANDOM_ORDERS) else 1)]
        values = np.array([run[2] for run in runs])
        error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
        # three standard errors, and half a per cent for the ends of a finite chain
        tolerance = 0.005 * q + 3.0 * error
        rows.append(
            Row(f"q, {name}", q, float(values.mean()), tolerance, error=error, unit="d² per sweep", source=source)
        )
        _draw_decay(axes[0, 0], axes[0, 1], number, rows[-1], runs[0])
        tick(0.3 * (number + 1) / len(ORDERS))
    rows += _bias(axes[1, 0], seeds=200 if quick else 2000)
    tick(0.4)
    rows.append(_parallel(axes[1, 1]))
    _label(axes, disks)
    tick(0.45)
    more, spreading, notes = packings(quick, lambda share: tick(0.45 + 0.55 * share))
    return Result(rows + more, figure, [
        f"Chains of {disks} disks, {seeds} seeds where the order is random.",
        "Every order diffuses; only q differs, from 1/2 (parallel, independent draws) to 1 (ordered).",
        "Ordered sweeps carry information through the whole chain one way and by one contact the other way, yet long "
        "waves do not drift: the mean distance walked is zero.", *notes,
    ], {"packings": spreading})  # fmt: skip


def lay(simulation: Simulation) -> tuple[ContactProblem, Index]:
    """The contacts of the coming step, to be given forces as if carried over, and their rows in order along x."""
    bodies, dt = simulation.bodies, simulation.dt
    simulation.neighbours.refresh(bodies, dt)
    candidates = find_candidates(bodies, simulation.neighbours, dt)
    simulation.contacts.gather(bodies, simulation.neighbours, candidates, dt, gap=simulation.solver.gap)
    problem = simulation.contacts.problem(bodies, dt)
    problem.forces[:] = 0.0
    return problem, np.argsort(problem.points()[:, 0])


def squeezed(disks: int, force: Array | float) -> tuple[ContactProblem, Index]:
    """The contact problem of a chain squeezed at both ends, given forces along it; velocities follow the forces."""
    simulation = Simulation(chain(disks, squeeze=SQUEEZE), dt=1.0, accuracy="exact")
    integrate.free_velocity(simulation.bodies, 0.0, 1.0)
    problem, along = lay(simulation)
    assert problem.count == disks - 1
    problem.forces[along, R_N] = force
    apply_forces(problem)
    return problem, along


def decay(disks: int, order: Order, q: float, seed: int) -> tuple[Array, Array, float]:
    """Sweeps times (kd)^2, amplitude of the longest sine of force over its first value, and the q of its decay."""
    k = math.pi / disks
    mode = np.sin(k * np.arange(1, disks))
    problem, along = squeezed(disks, SQUEEZE * (1.0 + 0.5 * mode))
    rng = np.random.default_rng(seed)
    order.begin(problem)
    every = max(2, round(0.02 / (q * k * k)) // 2 * 2)  # even: symmetric sweeps come in pairs
    amplitude = []
    for sweep in range(100 * every + 1):
        if sweep % every == 0:
            amplitude.append(mode @ (problem.forces[along, R_N] - SQUEEZE) / (0.5 * SQUEEZE * mode @ mode))
        order.sweep(problem, rng)
    t = np.linspace(0.0, 100 * every * k * k, len(amplitude))
    a = np.array(amplitude, dtype=np.float64)
    late = slice(10, None)  # shorter waves have gone
    return t, a, -float(np.polyfit(t[late], np.log(a[late]), 1)[0])


def lattice(rows: int, columns: int, load: float) -> Bodies:
    """Touching disks of diameter and mass 1 on a triangular lattice in a box, under a piston with a load."""
    height = math.sqrt(0.75)
    position = np.array(
        [[0.5 + i + 0.5 * (r % 2), 0.5 + height * r, 0.0] for r in range(rows) for i in range(columns - r % 2)]
    )
    x, y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    walls = [
        Wall("base", Plane(0.0 * y, y)),
        Wall("left", Plane(0.0 * x, x)),
        Wall("right", Plane(columns * x, -x)),
        Wall("piston", Plane((1.0 + height * (rows - 1)) * y, -y), mass=float(columns), load=load),
    ]
    return Bodies.assemble(
        dimension=2, position=position, radius=np.full(len(position), 0.5), density=4.0 / math.pi, walls=walls
    )


def _bias(panel: Any, seeds: int) -> list[Row]:
    """One sweep after the force on the first disk has changed: which contacts have heard of it."""
    disks = 41
    rows = []
    cases: tuple[tuple[str, Order, int, float, str], ...] = (
        ("with an ordered sweep", Ordered("+x"), 1, disks - 1.0, "item 32, the whole chain"),
        ("against an ordered sweep", Ordered("-x"), 1, 1.0, "item 32"),
        ("random sweep", Random(), seeds, math.e - 1.0, "descents of a permutation, Σ 1/l!"),
    )
    for (name, order, many, expected, source), ink, mark in zip(cases, INKS, "osd"):
        change = np.array([_one_sweep(disks, order, seed) for seed in range(many)])
        reached = (change > 1e-13).sum(axis=1)
        error = float(reached.std() / math.sqrt(many))
        rows.append(Row(f"contacts reached in one sweep, {name}", expected, float(reached.mean()), 3.0 * error + 1e-9,
                        error=error, source=source))  # fmt: skip
        mean = change.mean(axis=0)
        far = int((mean > 1e-13).sum())
        panel.semilogy(np.arange(1, far + 1), mean[:far], mark, color=ink, ms=11 if mark == "s" else 6, mfc="none",
                       label=name)  # fmt: skip
    number = np.arange(1, disks)
    panel.semilogy(number, 0.5**number, color=INKS[0], lw=1, label=r"theory, with a sweep: $2^{-i}$")
    return rows


def _one_sweep(disks: int, order: Order, seed: int) -> Array:
    """Change of force along the chain after one sweep, over the change of the force on its first disk."""
    problem, along = squeezed(disks, SQUEEZE)
    problem.motion[0, V_X] += SQUEEZE  # twice the force on the first disk
    order.begin(problem)
    order.sweep(problem, np.random.default_rng(seed))
    return problem.forces[along, R_N] / SQUEEZE - 1.0


def _parallel(panel: Any) -> Row:
    """A packing in equilibrium, disturbed a little: what random and parallel sweeps make of it."""
    simulation = Simulation(lattice(10, 10, 0.01), dt=1.0, solver=Sweeps(criterion=LocalCriterion(1e-13)))
    simulation.solver.max_sweeps = 100_000
    simulation.step()
    bodies, contacts = simulation.bodies, simulation.contacts
    expected, mode = fastest_growth(simulation)
    growth = math.nan
    for name, order, ink in (("parallel", Parallel(), INKS[1]), ("random sweep", Random(), INKS[0])):
        problem = contacts.problem(bodies, 1.0)
        problem.motion, problem.forces = problem.motion.copy(), problem.forces.copy()
        problem.motion[:, V_X:V_Z] += 1e-12 * mode
        order.begin(problem)
        rng, residual = np.random.default_rng(1), []
        for _ in range(61):
            residual.append(math.sqrt(float((problem.motion[:, V_X:V_Z] ** 2).sum()) / bodies.count))
            order.sweep(problem, rng)
        panel.semilogy(residual, "o-", color=ink, ms=3, lw=1, label=name)
        if isinstance(order, Parallel):
            growth = (residual[8] / residual[2]) ** (1.0 / 6.0)  # before the weakest contacts, 1e-9, open
    sweeps = np.arange(32)
    told = f"theory: {expected:.3f} times in each sweep"
    panel.semilogy(sweeps, residual[0] * expected**sweeps, "--", color=INKS[5], label=told)
    return Row("parallel update in a packing, growth per sweep", expected, growth, 0.001 * expected,
               source="item 29, unstable above 1; eigenvalue of the update, in an endless lattice 2")  # fmt: skip


def fastest_growth(simulation: Simulation) -> tuple[float, Array]:
    """By how much a parallel update without friction multiplies a disturbance, and the velocities that grow so.

    Forces R change by -W_ij R_j/W_ii, W = N^T M^-1 N of the contacts that carry a force: the radius of 1 - W_ij/W_ii,
    and M^-1 N R of its eigenvector R, scaled to 1 on average.
    """
    bodies, contacts = simulation.bodies, simulation.contacts
    carrying = contacts.forces[:, R_N] > 0.0
    shape = np.zeros((carrying.sum(), len(bodies.motion), 2))
    for row, (i, j), normal in zip(shape, contacts.pairs[carrying], contacts.normal[carrying, :2]):
        row[i], row[j] = -normal, normal
    mobility = np.zeros((len(bodies.motion), 2))
    mobility[: bodies.count] = 1.0 / bodies.mass[:, None]
    mobility[-1, 1] = 1.0 / bodies.walls[-1].mass  # the piston
    flat = (shape * np.sqrt(mobility)).reshape(len(shape), -1)
    coupling = flat @ flat.T
    scale = np.sqrt(coupling.diagonal())
    values, vectors = np.linalg.eigh(coupling / np.outer(scale, scale))
    fastest = np.abs(1.0 - values).argmax()
    mode = mobility * np.tensordot(vectors[:, fastest] / scale, shape, 1)
    return float(abs(1.0 - values[fastest])), mode / math.sqrt(float((mode**2).sum()) / bodies.count)


def _draw_decay(left: Any, right: Any, number: int, row: Row, run: tuple[Array, Array, float]) -> None:
    """The decay of one run, and q of all of them beside theory."""
    ink = INKS[number % len(INKS)]
    t, amplitude, _ = run
    some = slice(number % 10, None, 10)  # each at points of its own: equal decays would hide each other
    left.semilogy(t[some], amplitude[some], "o^svdhP*X"[number], color=ink, ms=6, mfc="none", label=row.quantity[3:])
    left.semilogy(t, np.exp(-row.expected * t), color=ink, lw=0.8)
    right.barh(number, row.expected, color=ink, alpha=0.3, height=0.7, label="theory" if number == 0 else None)
    right.errorbar(
        row.measured, number, xerr=row.error, fmt="ko", ms=5, capsize=4, label="measured" if number == 0 else None
    )
    right.annotate(f"{row.measured:.3f}", (1.05, number), va="center")


def _label(axes: Any, disks: int) -> None:
    axes[0, 0].set(xlabel="sweeps × (k d)²", ylabel="amplitude of a sine of force", xlim=(0, 2.2), ylim=(0.12, 1.1))
    axes[0, 0].set_title(f"Decay along {disks} disks (lines: exp(-q (kd)² s), q of theory)")
    axes[0, 0].legend(fontsize=8, ncols=2)
    axes[0, 1].set(xlabel="q (d² per sweep)", xlim=(0, 1.2), yticks=range(len(ORDERS)))
    axes[0, 1].set_yticklabels([order[0] for order in ORDERS])
    axes[0, 1].invert_yaxis()
    axes[0, 1].set_title("q of every order")
    axes[0, 1].legend(loc="upper left", bbox_to_anchor=(0.5, 0.86), fontsize=8)
    axes[1, 0].set(xlabel="contact number from the disturbed end", ylabel="change of force / disturbance")
    axes[1, 0].set_title("Reach of one sweep: ordered sweeps are biased")
    axes[1, 0].legend()
    axes[1, 1].set(xlabel="sweeps", ylabel="rms velocity left (d/dt)")
    axes[1, 1].set_title("Parallel update of a packing of 95 disks")
    axes[1, 1].legend()
