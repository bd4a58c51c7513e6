"""Collisions: the two-step inelastic shock, g against g_pos, and the collapse that stops an event-driven code.

Units d = m = 1 throughout: grains of diameter and mass 1 (items 10, 23 and 24).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..contacts.contacts import Contacts
from ..model.bodies import Bodies
from ..model.columns import R_N, V_S
from ..model.shapes import Plane
from ..model.walls import Wall
from ..scene import Scene
from ..simulation.figures import kinetic_energy, overlaps
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps, LocalCriterion
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, rigid_sweeps
from . import events
from .base import INKS, Result, Row, Tick, new_figure

Array = NDArray[np.float64]

SPEED = 2.0  # of approach in the two-step shock
DT = 0.01
COLUMN, COLUMN_E = 10, 0.5  # grains thrown at a wall, and their restitution in the event-driven code
CLUSTER_E = 0.2
AGAIN = 5  # steps after its last force at which a pair that carries one counts as a new collision
RIGID = rigid_sweeps(COLUMN, 1.0, Q_RANDOM, 4.0)  # sweeps that make the row of ten rigid


def run(quick: bool, tick: Tick) -> Result:
    """Shock, pumping, collapse in a row and in the plane, dilute gas; six panels."""
    figure, panels = new_figure(2, 3, width=13.0, height=7.6)
    rows = shock(panels[0, 0])
    rows += pair_pumping(panels[0, 1])
    rows += packing_pumping(panels[0, 2], 60 if quick else 200)
    tick(0.3)
    rows += critical_restitution()
    tick(0.4)
    rows += column_collapse(panels[1, 0])
    rows += cluster_collapse(panels[1, 1], 2000 if quick else 20_000)
    tick(0.5)
    rows += dilute_gas(panels[1, 2], clouds=3 if quick else 16, dt=0.005 if quick else 0.0025, tick=tick)
    notes = [
        "The event-driven code has a restitution e and stops at the collapse; CD is completely inelastic (e = 0) and "
        "starts from the same state: compared is whether and at what cost the moment of collapse is passed.",
        "Dilute gas (packing fraction 0.01): e = 0 and mu = 0 in both codes, so the same trajectories are wanted. "
        "Pairs part by their tangential motion. In both, a collision is a pair that meets after five steps apart.",
        "tan^2[(1 - 1/n) pi/4] is exact for up to three grains and a wall; ten grains collapse within 2 % of it.",
    ]
    return Result(rows, figure, notes)


def grains(position: Array, velocity: Array | float = 0.0, **rest: Any) -> Bodies:
    """Smooth disks of diameter and mass 1 at positions (n, 2) with velocities (n, 2)."""
    n = len(position)
    flat = [np.column_stack([values, np.zeros(n)]) for values in (position, np.broadcast_to(velocity, (n, 2)))]
    return Bodies.assemble(
        dimension=2, position=flat[0], velocity=flat[1], radius=np.full(n, 0.5), density=4.0 / math.pi, **rest
    )


def exact(gap: str = "g_pos") -> Sweeps:
    """Forces settled to rounding, as good as a lone contact can be solved."""
    return Sweeps(criterion=LocalCriterion(epsilon=1e-12), max_sweeps=20_000, gap=gap)


def shock(panel: Any) -> list[Row]:
    """(a) Two disks meet at several first gaps: V_n = -g/dt after the first step, 0 after the second."""
    first, second = [], []
    for ink, share in zip(INKS, (0.0, 0.25, 0.5, 0.75)):
        gap = share * SPEED * DT
        bodies = grains(np.array([[0.0, 0.0], [1.0 + gap, 0.0]]), np.array([[SPEED, 0.0], [0.0, 0.0]]))
        simulation, course = Simulation(bodies, dt=DT, solver=exact()), [-SPEED]
        for _ in range(3):
            simulation.step()
            course.append(float(bodies.velocity[1, 0] - bodies.velocity[0, 0]))
        first.append(course[1] + gap / DT)
        second.append(course[2])
        panel.plot([-0.3, 0.5, 0.5, 1.5, 1.5, 3.3], np.repeat([-1.0, -share, 0.0], 2), color=ink, lw=5, alpha=0.25)
        panel.plot(range(4), np.array(course) / SPEED, "o", color=ink, ms=6, label=rf"$g = {share}\,|U_n|\,\Delta t$")
    panel.plot([], [], color="#8a8a8a", lw=5, alpha=0.4, label=r"paper: $-g/\Delta t$, then 0")
    panel.set(
        xlabel="steps", ylabel=r"$V_n/|U_n|$", title="(a) a shock takes two steps", xticks=range(4), ylim=(-1.1, 0.1)
    )
    panel.legend(frameon=False, fontsize=9, loc="lower right")
    return [
        Row("V_n + g/dt after the first step, largest", 0.0, float(np.abs(first).max()), 1e-12, unit="d/s",
            source="the gap closes, Eq. (gapcloses)"),
        Row("V_n after the second step, largest", 0.0, float(np.abs(second).max()), 1e-12, unit="d/s",
            source="completely inelastic, two steps"),
    ]  # fmt: skip


def pair_pumping(panel: Any) -> list[Row]:
    """(b) Two disks at rest with an overlap o: g parts them at the speed o/dt, g_pos leaves them alone."""
    overlap = np.geomspace(1e-4, 1e-1, 10)
    energy = {gap: np.array([energy_of_pair(size, gap) for size in overlap]) for gap in ("g", "g_pos")}
    theory = 0.25 * (overlap / DT) ** 2  # m_n (o/dt)^2/2 with m_n = 1/2
    panel.loglog(overlap, theory, color="#b0b0b0", lw=6, label=r"theory: $m_n (o/\Delta t)^2/2$")
    panel.loglog(overlap, energy["g"], "o", color=INKS[1], label="engine, $g$")
    panel.loglog(overlap, np.maximum(energy["g_pos"], 1e-6), "v", color=INKS[0], label="engine, $g^{pos}$: none")
    panel.set(xlabel="first overlap $o/d$", ylabel="kinetic energy after a step", title="(b) energy from an overlap")
    panel.legend(frameon=False, fontsize=9)
    return [
        Row("pair: energy pumped by g over m_n (o/dt)^2/2", 1.0, float((energy["g"] / theory).mean()), 1e-9,
            source="overlap removed within one step"),
        Row("pair: energy pumped by g_pos", 0.0, float(energy["g_pos"].max()), 0.0, unit="m d^2/s^2",
            source="Eq. (gpos)"),
    ]  # fmt: skip


def energy_of_pair(overlap: float, gap: str) -> float:
    """Kinetic energy after one step of a resting pair."""
    bodies = grains(np.array([[0.0, 0.0], [1.0 - overlap, 0.0]]))
    Simulation(bodies, dt=DT, solver=exact(gap)).step()
    return kinetic_energy(bodies)


def packing_pumping(panel: Any, steps: int) -> list[Row]:
    """(b) A bed poured with few sweeps has overlaps; from rest, g blows it up and g_pos leaves it standing."""
    scene = Scene(dimension=2, gravity=(0, -1), friction=0.3)
    scene.add_grains(count=150, radius=(0.4, 0.6), density=4.0 / math.pi, region=((0, 0), (12, 20)), seed=3)
    scene.add_box(lower=(0, 0), upper=(12, 20), open=["top"])
    bed = scene.build()
    poured = Simulation(bed, dt=2.0 * DT, solver=Sweeps(criterion=FixedSweeps(6)))
    poured.run(steps=1500)
    first, height = overlaps(bed, poured.contacts).mean(), bed.position[:, 1].mean()
    bed.motion[:, V_S] = 0.0  # at rest
    smooth = copy.deepcopy(bed)
    smooth.friction[:] = 0.0
    parting = Simulation(smooth, dt=DT, solver=exact("g"))
    parting.step()
    once, up = kinetic_energy(smooth), float(smooth.mass @ smooth.velocity[:, 1] / smooth.mass.sum())
    least = least_parting(bed, parting.contacts)
    pumped, left, rise = {}, {}, {}
    for ink, gap, label in ((INKS[1], "g", "$g$"), (INKS[0], "g_pos", "$g^{pos}$")):
        bodies = copy.deepcopy(bed)
        simulation = Simulation(bodies, dt=DT, solver=Sweeps(criterion=LocalCriterion(1e-4), gap=gap))
        energy = []
        for _ in range(steps):
            simulation.step()
            energy.append(kinetic_energy(bodies) / bodies.count)
        pumped[gap], left[gap] = max(energy), float(overlaps(bodies, simulation.contacts).mean() / first)
        rise[gap] = float(bodies.position[:, 1].mean() - height)
        panel.semilogy(DT * np.arange(1, steps + 1), energy, color=ink, lw=2, label=f"engine, {label}")
    panel.axhline(least.energy / bed.count, color=INKS[5], lw=1.2, ls="--", label="least that parts all, no friction")
    panel.set(xlabel=r"time  ($\sqrt{d/g}$)", ylabel="kinetic energy per grain  ($m g d$)",
              title="(b) a bed of 150 disks with overlaps", ylim=(None, 1e4))  # fmt: skip
    panel.legend(frameon=False, fontsize=9)
    parting.run(steps=steps - 1)
    flown = float(smooth.position[:, 1].mean() - height)
    time = steps * DT
    return [
        Row("bed without friction: kinetic energy after a step with g", least.energy, once, 0.001 * least.energy,
            unit="m g d", source="the least motion that parts all pairs (Gauss), by non-negative least squares"),
        Row("bed without friction: speed of its centre of mass after that step", least.speed, up, 0.001 * least.speed,
            unit="√(g d)", source="the same"),
        Row("bed without friction: rise of the centre of mass with g", least.speed * time - 0.5 * time * (time - DT),
            flown, rule="above", unit="d", source="g can destroy a stable equilibrium; bound: thrown up with that "
            "speed, since the floor can only push"),
        Row("bed: largest kinetic energy with g_pos, over that least one", 0.0,
            pumped["g_pos"] * bed.count / least.energy, 1e-3, source="g_pos pumps none"),
        Row("bed: rise of the centre of mass with g_pos", 0.0, rise["g_pos"], 1e-3, unit="d", source="g_pos does not"),
        Row("bed: mean overlap left by g, over the first", 0.0, left["g"], 0.01, source="overlaps are eliminated"),
        Row("bed: mean overlap left by g_pos, over the first", 1.0, left["g_pos"], 0.01,
            source="overlaps are kept, only their growth is inhibited"),
    ]  # fmt: skip


@dataclass(frozen=True)
class Parting:
    """A step that parts all overlapping pairs: kinetic energy after it, and upward speed of the centre of mass."""

    energy: float
    speed: float


def least_parting(bed: Bodies, contacts: Contacts) -> Parting:
    """What a step with g and without friction has to do to a bed at rest, by another method than sweeps.

    Gauss's principle: of all velocities v with V_n >= -g/dt at every contact those nearest to the free ones, by mass.
    With the normals as columns of N this is v = v_free + M^-1 N R dt, R >= 0 that minimises |M^-1/2 N R dt + a|^2 where
    a has N^T M^-1/2 a = N^T v_free + g/dt: non-negative least squares.

    contacts : of the step, those included that only grains on their way apart bring about
    """
    n = bed.count
    shape = np.zeros((2 * n, contacts.count))
    for c, ((i, j), normal) in enumerate(zip(contacts.pairs, contacts.normal[:, :2])):
        shape[2 * i : 2 * i + 2, c] -= normal
        if j < n:
            shape[2 * j : 2 * j + 2, c] += normal
    root = np.sqrt(np.repeat(bed.mass, 2))
    free = np.tile(bed.gravity[:2] * DT, n)
    scaled = shape / root[:, None]
    wanted = shape.T @ free + contacts.gap / DT
    # R minimises R^T W R/2 + R^T wanted, W = scaled^T scaled: rows for W, and a small one that makes it definite
    factor = np.linalg.cholesky(scaled.T @ scaled + 1e-10 * np.eye(contacts.count)).T
    impulse, _ = nnls(factor, np.linalg.solve(factor.T, -wanted), maxiter=100 * contacts.count)
    velocity = free + shape @ impulse / root**2
    return Parting(0.5 * float((root * velocity) @ (root * velocity)),
                   float(root**2 @ np.where(np.arange(2 * n) % 2, velocity, 0.0) / bed.mass.sum()))  # fmt: skip


def critical_restitution() -> list[Row]:
    """(c) Below which restitution a row of grains collapses: halved brackets around the exact values."""
    rows = []
    for name, gaps, speeds, wall, theory, tolerance in (
        ("3 free grains", [1.0, 0.7], [1.0, 0.0, -1.0], False, 7.0 - 4.0 * math.sqrt(3.0), 1e-4),
        ("2 grains and a wall", [1.0] * 2, [-1.0] * 2, True, 3.0 - 2.0 * math.sqrt(2.0), 1e-4),
        ("3 grains and a wall", [1.0] * 3, [-1.0] * 3, True, 1.0 / 3.0, 1e-4),
        ("10 grains and a wall", [1.0] * 10, [-1.0] * 10, True, math.tan(0.9 * math.pi / 4.0) ** 2, 0.02),
    ):
        low, high = 0.0, 1.0
        while high - low > 1e-4:
            e = 0.5 * (low + high)
            ended = events.column(np.array(gaps), np.array(speeds), e, wall=wall, most=1000).ended
            low, high = (low, e) if ended else (e, high)
        source = "McNamara & Young 1992" if not wall else "Bernu & Mazighi 1990, tan^2[(1 - 1/n) pi/4]"
        rows.append(Row(f"critical restitution, {name}", theory, 0.5 * (low + high), tolerance, source=source))
    return rows


@dataclass(frozen=True)
class Course:
    """The CD side: times of the steps, contact updates in each, energy, collisions so far; deepest overlap ever."""

    time: Array
    updates: Array
    energy: Array
    collisions: NDArray[np.int64]
    overlap: float


def carry(bodies: Bodies, *, dt: float, until: float, solver: Sweeps) -> Course:
    """Run CD; a pair that begins to carry a force is a collision."""
    simulation = Simulation(bodies, dt=dt, solver=solver)
    touched = np.full((bodies.count + 1, bodies.count + 1), -AGAIN)
    time, updates, energy, collisions, deepest = [0.0], [0], [kinetic_energy(bodies)], [0], 0.0
    while simulation.time < until:
        simulation.step()
        i, j = simulation.contacts.pairs[simulation.contacts.forces[:, R_N] > 0.0].T
        fresh = simulation.steps - touched[i, j] >= AGAIN
        touched[i, j] = simulation.steps
        time.append(simulation.time)
        updates.append(simulation.last_solve.updates)
        energy.append(kinetic_energy(bodies))
        collisions.append(collisions[-1] + int(fresh.sum()))
        deepest = max(deepest, float(overlaps(bodies, simulation.contacts).max(initial=0.0)))
    return Course(np.array(time), np.array(updates), np.array(energy), np.array(collisions), deepest)


def column_collapse(panel: Any) -> list[Row]:
    """(c) Ten grains in a row fly at a wall."""
    flight = events.column(np.ones(COLUMN), np.full(COLUMN, -1.0), COLUMN_E, wall=True, most=2000)
    position = np.column_stack([0.5 + np.arange(COLUMN) + np.arange(1.0, COLUMN + 1), np.zeros(COLUMN)])
    wall = Wall("wall", Plane(np.zeros(3), np.array([1.0, 0.0, 0.0])))
    bodies = grains(position, np.array([-1.0, 0.0]), walls=[wall])
    course = carry(bodies, dt=0.05, until=COLUMN + 2.0, solver=Sweeps(criterion=FixedSweeps(RIGID)))
    show_collapse(panel, f"(c) {COLUMN} grains in a row hit a wall", COLUMN_E, flight, course)
    half = course.energy[np.searchsorted(course.time, 0.5 * COLUMN + 0.5)] / course.energy[0]
    landed = [
        Row("row: CD energy at t = n/2 + 1/2, over the first", 0.5, half, 1e-3,
            source="completely inelastic: grain k stops for good at t = k d/v"),
        Row("row: CD energy when all have landed, over the first", 0.0, course.energy[-1] / course.energy[0], 1e-6,
            source="completely inelastic"),
    ]  # fmt: skip
    return [*collapse_rows("row", COLUMN, flight, course), *landed]


def cluster_collapse(panel: Any, most: int) -> list[Row]:
    """(c) 37 disks fly at each other."""
    rng = np.random.default_rng(0)
    lattice = [(i, j) for i in range(-3, 4) for j in range(-3, 4) if abs(i + j) <= 3]
    position = 1.5 * np.array([[i + 0.5 * j, math.sqrt(0.75) * j] for i, j in lattice])
    position += rng.uniform(-0.1, 0.1, position.shape)
    velocity = -0.1 * position + rng.normal(0.0, 0.02, position.shape)
    bodies = grains(position, velocity)
    flight = events.disks(position, velocity, CLUSTER_E, until=40.0, most=most)
    course = carry(bodies, dt=0.05, until=12.0, solver=Sweeps(criterion=FixedSweeps(RIGID)))
    show_collapse(panel, "(c) 37 disks fly at each other", CLUSTER_E, flight, course)
    return collapse_rows("cluster", bodies.count, flight, course)


def show_collapse(panel: Any, title: str, e: float, flight: events.Flight, course: Course) -> None:
    """Collisions of the event-driven code against time, beside the contact updates of each CD step."""
    end = flight.times[-1]
    panel.semilogy(flight.times, np.arange(1, len(flight.times) + 1), color=INKS[1], lw=2,
                   label=f"event-driven, $e$ = {e}: collisions so far")  # fmt: skip
    panel.axvline(end, color=INKS[1], ls=":", lw=1.5, label=f"collapse at t = {end:.3f}")
    panel.semilogy(course.time[1:], np.maximum(course.updates[1:], 1), color=INKS[0], lw=1.5,
                   label="CD: contact updates in each step")  # fmt: skip
    panel.set(xlabel="time  ($d/v$)", ylabel="count", title=title, ylim=(None, 1e6))
    panel.legend(frameon=False, fontsize=9, loc="upper left")


def collapse_rows(name: str, count: int, flight: events.Flight, course: Course) -> list[Row]:
    """The reference cannot pass its collapse; CD can, and no step costs more than N_I times the most contacts.

    Spread over the time as those before, the collisions of the last 1e-9 of it would be less than one.
    """
    end = flight.times[-1]
    crowded = len(flight.times) - np.searchsorted(flight.times, end * (1.0 - 1e-9))
    dear = float(course.updates.max()) / (RIGID * count)
    cost = f"{name}: CD updates of the costliest step over N_I n"
    # What the slowest wave of a row of ten still lacks after N_I sweeps, of the way that a grain goes in a step
    lacking = 4.0 / math.pi * math.exp(-Q_RANDOM * RIGID * (0.5 * math.pi / COLUMN) ** 2) * 0.05
    return [
        Row(f"{name}: event-driven collisions in the last 1e-9 of the time to collapse", 1.0, float(crowded),
            rule="above", source="the count diverges in finite time; without collapse less than 1"),
        Row(f"{name}: CD time reached over the time of collapse", 1.0, float(course.time[-1] / end), rule="above",
            source="CD passes the moment of collapse"),
        Row(cost, 1.0, dear, 1e-9, source="n contacts when all have landed") if name == "row" else
        Row(cost, 3.0, dear, rule="below", source="disks in the plane have fewer than 3n contacts (Euler)"),
        Row(f"{name}: CD deepest overlap at any time", 0.0, course.overlap, count * lacking, unit="d",
            source="volume exclusion, to what the sweeps of as many blows may lack"),
    ]  # fmt: skip


def dilute_gas(panel: Any, *, clouds: int, dt: float, tick: Tick) -> list[Row]:
    """(c) The same dilute clouds in both codes, e = 0 and mu = 0: collisions and energy lost."""
    count, side, until = 200, 9.0, 20.0  # packing fraction 0.01
    collisions, lost = np.empty((clouds, 2)), np.empty((clouds, 2))
    for seed in range(clouds):
        rng = np.random.default_rng(seed)
        axis = side * np.arange(math.ceil(math.sqrt(count)))
        position = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)[:count]
        position += rng.uniform(-0.5, 0.5, position.shape) * (side - 1.1)
        velocity = rng.normal(size=(count, 2))
        bodies = grains(position, velocity)
        flight = events.disks(position, velocity, 0.0, until=until, most=2000)
        end = until if flight.ended else flight.times[-1] * (1.0 - 1e-6)  # a cloud is followed to its first collapse
        last = int(np.searchsorted(flight.times, end))
        counted = distinct(flight, AGAIN * dt)
        course = carry(bodies, dt=dt, until=end, solver=exact())
        collisions[seed] = course.collisions[-1], counted[:last].sum()
        lost[seed] = course.energy[0] - course.energy[-1], flight.energy[0] - flight.energy[last]
        if seed == 0:
            show_gas(panel, flight, counted, course, count)
        tick(0.4 + 0.6 * (seed + 1) / clouds)
    return [agreement("collisions", collisions), agreement("energy lost", lost)]


def agreement(name: str, both: Array) -> Row:
    """Ratio of the sums over all clouds (clouds, 2), with its error from the differences cloud by cloud."""
    ours, reference = both.sum(axis=0)
    error = math.sqrt(len(both)) * np.std(both[:, 0] - both[:, 1], ddof=1) / reference
    return Row(f"dilute gas: {name}, CD over event-driven, both e = 0", 1.0, float(ours / reference),
               0.02 + 3.0 * float(error), error=float(error), source="exact event-driven reference")  # fmt: skip


def distinct(flight: events.Flight, interval: float) -> NDArray[np.bool_]:
    """Collisions (c,) of pairs that have not met within the interval before: a time step sees no more than these."""
    met: dict[tuple[int, int], float] = {}
    fresh = np.zeros(len(flight.times), bool)
    for k, (time, (i, j)) in enumerate(zip(flight.times, flight.pairs)):
        fresh[k] = time - met.get((i, j), -math.inf) >= interval
        met[(i, j)] = time
    return fresh


def show_gas(panel: Any, flight: events.Flight, counted: NDArray[np.bool_], course: Course, count: int) -> None:
    """Collisions per grain and energy, both codes."""
    clock = np.array([0.0, *flight.times])
    for ink, reference, ours, name in (
        (INKS[1], np.cumsum([0, *counted]) / count, course.collisions / count, "collisions per grain"),
        (INKS[0], flight.energy / flight.energy[0], course.energy / course.energy[0], "energy over the first"),
    ):
        panel.step(clock, reference, where="post", color=ink, lw=6, alpha=0.3, label=f"event-driven: {name}")
        panel.plot(course.time, ours, color=ink, lw=1.5, label=f"CD: {name}")
    panel.set(
        xlabel="time  ($d/v$)", ylabel="energy, collisions", title="(c) dilute gas, $e$ = 0 in both", ylim=(0, 1.55)
    )
    panel.legend(frameon=False, fontsize=9, ncols=1)
