"""Do accelerated sweeps tell the same physics as the random sweeps of the paper? Histories of both, side by side.

python validation/solver_statistics.py [--quick] [--default] [--json FILE] [--figures FOLDER]

Disks with radii between 1/3 and 2/3, friction 0.3; mean diameter, mean mass and time step are 1. Each history is run
from the same start by both solvers for several seeds; means come with their standard error over the seeds.
Random sweeps make N_I = (L/d)^2 sweeps a step, accelerated ones as many as their criterion asks for.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rigidgrains as rg
from rigidgrains import integrate
from rigidgrains.contacts import ContactProblem
from rigidgrains.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.residual import momentum_error
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.walls import Drive

Array = NDArray[np.float64]

AREA = math.pi * 7.0 / 27.0  # mean area of a disk
FILLING = 0.7  # packing fraction at the start
PRESSURE, FRICTION, ROUGH, GRAVITY = 0.01, 0.3, 0.5, 1e-4
NAMES = ("random", "accelerated")


@dataclass
class Tape:
    """What one history gave: figures, their course in time, and the CPU seconds of its steps."""

    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    sweeps: float = 0.0
    unconverged: int = 0
    errors: list[float] = field(default_factory=list)  # momentum error, every tenth step


def main() -> None:
    """Run all histories, print a table, and write figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 grains and 2 seeds in place of 300 and 6")
    parser.add_argument("--default", action="store_true", help="random sweeps with their own criterion, not (L/d)^2")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--figures", type=Path, help="draw into this folder")
    asked = parser.parse_args()
    grains, seeds = (100, 2) if asked.quick else (300, 6)
    compression(100, 0, "accelerated", steps=10)  # compile
    compression(100, 0, "random", steps=10)
    found: dict[str, Any] = {"grains": grains, "seeds": seeds}
    histories: dict[str, Callable[[int, int, str], Tape]] = {
        "compression": compression, "shear": shear, "avalanche": avalanche,
    }  # fmt: skip
    for title, history in histories.items():
        tapes = {name: [history(grains, seed, who) for seed in range(seeds)]
                 for name, who in zip(NAMES, ("default" if asked.default else "random", "accelerated"))}  # fmt: skip
        found[title] = compare(tapes)
        show(title, found[title])
    found["indeterminacy"] = indeterminacy(grains, seeds)
    print("\nindeterminacy: one step at rest, solved again and again from cold")
    for key, value in found["indeterminacy"].items():
        print(f"  {key:36s} {value:.4g}")
    found["piston"] = paths = sudden_load(grains)
    print("\nsudden piston load, lengths in dF dt^2/M")
    for name, row in paths.items():
        print(f"  {name:22s} travel {row['travel']:8.4f}  rebound {row['rebound']:8.4f}  CPU {row['seconds']:.2f} s")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    if asked.figures:
        draw(found, asked.figures)


# Histories


def compression(n: int, seed: int, name: str, *, steps: int = 300) -> Tape:
    """A loose start is pressed by a piston until it rests: what the packing is in the end."""
    simulation = Simulation(pressing(n, seed), dt=1.0, solver=solver(name, n), seed=seed)
    tape = Tape()
    for _ in range(steps // 10):
        run(simulation, 10, tape)
    tape.figures = {**state(simulation), **walls(simulation)}
    return tape


def shear(n: int, seed: int, name: str) -> Tape:
    """The packing between a base that moves sideways and the piston, of friction 0.5: means over the second half."""
    simulation = Simulation(pressing(n, seed), dt=1.0, solver=AcceleratedSweeps(), seed=seed)
    for _ in range(200):
        simulation.step()
    simulation.solver = solver(name, n)
    bodies = simulation.bodies
    base = wall_of(simulation, (0.0, 1.0, 0.0))
    base.drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))
    tape, rows = Tape(), []
    for _ in range(25):
        run(simulation, 10, tape)
    for _ in range(25):
        run(simulation, 10, tape)
        force = force_on(simulation, bodies.walls.index(base))
        rows.append({**state(simulation), "shear stress / pressure": force[0] / force[1]})
    tape.figures = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return tape


def avalanche(n: int, seed: int, name: str) -> Tape:
    """A layer at rest in a long box whose gravity is tilted at once by 25 degrees: it slides towards one wall."""
    height = math.sqrt(n * AREA / FILLING / 6.0)
    upper = (6.0 * height, height)
    scene = rg.Scene(dimension=2, friction=0.5, gravity=(0.0, -GRAVITY))
    scene.add_grains(
        count=n, radius=(1 / 3, 2 / 3), density=1 / AREA, region=((0, 0), upper), placement="dense", seed=seed
    )
    scene.add_box(lower=(0, 0), upper=(upper[0], 4.0 * height), open=["top"])
    simulation = Simulation(scene, dt=1.0, solver=AcceleratedSweeps(), seed=seed)
    for _ in range(300):
        simulation.step()
    bodies = simulation.bodies
    mass = 1.0 / bodies.motion[:n, 6]
    start = mass @ bodies.position[:n] / mass.sum()
    simulation.solver = solver(name, n)
    angle = math.radians(25.0)
    bodies.gravity = GRAVITY * np.array([math.sin(angle), -math.cos(angle), 0.0])
    tape, energy, sliding = Tape(), [], []
    for _ in range(100):
        run(simulation, 10, tape)
        energy.append(0.5 * float(mass @ (bodies.motion[:n, :3] ** 2).sum(axis=1)) / (mass.sum() * GRAVITY))
        sliding.append(state(simulation)["sliding fraction"])
    shift = mass @ bodies.position[:n] / mass.sum() - start
    force = force_on(simulation, bodies.walls.index(wall_of(simulation, (-1.0, 0.0, 0.0))))
    tape.figures = {
        "run-out of the centre of mass": float(shift[0]),
        "peak kinetic energy / m g d": max(energy),
        "sliding fraction in flow": float(np.mean(sliding[20:60])),
        "force on the wall / weight": float(np.linalg.norm(force)) / (mass.sum() * GRAVITY),
        **{f"{key}, at the end": value for key, value in state(simulation).items() if key != "packing fraction"},
    }
    return tape


def sudden_load(n: int) -> dict[str, dict[str, Any]]:
    """A packing at rest whose load rises by 1 % at once: the path of the piston over 60 steps, in dF dt^2/M."""
    packing = at_rest(n, 0)
    lid = packing.bodies.walls[-1]
    load, mass = lid.load, lid.mass
    for factor in (1.02, 1.0):  # tried beforehand: what is measured is a wave, not a collapse
        lid.load = factor * load
        rest(packing, 40)
    paths = {}
    for title, solve in {
        "random, N_I = 10": Sweeps(criterion=FixedSweeps(10)),
        "random, N_I = (L/d)^2": Sweeps(criterion=FixedSweeps(n)),
        "accelerated": AcceleratedSweeps(criterion=MomentumCriterion(1e-4)),
    }.items():
        simulation = copy.deepcopy(packing)
        simulation.solver = solve
        simulation.bodies.walls[-1].load = 1.01 * load
        y, begin = [float(simulation.bodies.walls[-1].shape.point[1])], time.process_time()
        for _ in range(60):
            simulation.step()
            y.append(float(simulation.bodies.walls[-1].shape.point[1]))
        path = (np.array(y) - y[0]) * mass / (0.01 * load)
        paths[title] = {"path": path.tolist(), "travel": float(np.abs(path).max()),
                        "rebound": float(path[-1] - path.min()), "seconds": time.process_time() - begin}  # fmt: skip
    return paths


def indeterminacy(n: int, seeds: int) -> dict[str, float]:
    """One step at rest, solved from cold with six random orders by each solver to a residual of 1e-6.

    All answers obey all laws; how far they differ, contact by contact, is the freedom the laws leave. Lengths of force
    vectors over the mean normal force; means over the packings.
    """
    rows: list[dict[str, float]] = []
    unsolved = {"Sweeps": 0, "AcceleratedSweeps": 0}
    for seed in range(seeds):
        problem = step_at_rest(n, seed)
        grains = problem.pairs[:, 1] < n
        answers = []
        for solve in (Sweeps(max_sweeps=50_000), AcceleratedSweeps(max_sweeps=20_000)):
            solve.criterion = ResidualCriterion(1e-6)
            tries = [cold_forces(solve, problem, k) for k in range(6)]
            solved = [forces[grains] for forces, converged in tries if converged]
            unsolved[type(solve).__name__] += len(tries) - len(solved)
            answers.append(np.array(solved))
        if min(map(len, answers)) < 3:
            continue  # too few answers to speak of their spread
        one, two = answers
        mean = float(one[..., 0].mean())
        apart = one.mean(axis=0) - two.mean(axis=0)
        rows.append({
            "spread, random": scatter(one) / mean,
            "spread, accelerated": scatter(two) / mean,
            "distance of their means": float(np.sqrt((apart**2).sum(axis=1).mean())) / mean,
            "ratio of summed normal forces": float(two[..., 0].mean()) / mean,
            "mobilised, random": float(np.mean([mobilised(forces) for forces in one])),
            "mobilised, accelerated": float(np.mean([mobilised(forces) for forces in two])),
        })  # fmt: skip
    if not rows:
        return {"packings": 0}
    return {
        "packings": len(rows),
        **{key: float(np.mean([row[key] for row in rows])) for key in rows[0]},
        "not solved in 50,000 random sweeps": unsolved["Sweeps"],
        "not solved in 20,000 accelerated": unsolved["AcceleratedSweeps"],
    }


def step_at_rest(n: int, seed: int) -> ContactProblem:
    """The contact problem of the next step of a packing at rest."""
    packing = at_rest(n, seed)
    bodies = packing.bodies
    integrate.free_velocity(bodies, packing.time, packing.dt)
    packing.neighbours.refresh(bodies, packing.dt)
    packing.contacts.gather(bodies, packing.neighbours, packing.dt, gap="g_pos")
    return packing.contacts.problem(bodies, packing.dt)


def cold_forces(solve: Sweeps, problem: ContactProblem, seed: int) -> tuple[Array, bool]:
    """(c, 4) the forces found from none, and whether they solve the step."""
    trial = copy.deepcopy(problem)
    trial.forces[:] = 0.0
    report = solve.solve(trial, np.random.default_rng(seed))
    return trial.forces, report.converged


# Scenes and solvers


def pressing(n: int, seed: int) -> rg.Scene:
    """Loose disks in a box without gravity, under a piston; base and piston are rough, the sides smooth."""
    width = math.sqrt(n * AREA / FILLING)
    scene = rg.Scene(dimension=2, friction=FRICTION)
    scene.add_grains(
        count=n, radius=(1 / 3, 2 / 3), density=1 / AREA, region=((0, 0), (width, width)), placement="dense", seed=seed
    )
    scene.add_plane("base", point=(0, 0), normal=(0, 1), friction=ROUGH)
    scene.add_plane("left", point=(0, 0), normal=(1, 0), friction=0.0)
    scene.add_plane("right", point=(width, 0), normal=(-1, 0), friction=0.0)
    scene.add_piston("lid", point=(0, width), normal=(0, -1), mass=width, load=PRESSURE * width, friction=ROUGH)
    return scene


def solver(name: str, n: int) -> Sweeps:
    """Random: the paper's, with N_I = (L/d)^2 = n sweeps. Accelerated: to a momentum error of 1 %, its default.

    Default: random sweeps with the local criterion, as a scene gets them that says nothing.
    """
    if name == "default":
        return Sweeps()
    return Sweeps(criterion=FixedSweeps(n)) if name == "random" else AcceleratedSweeps()


def at_rest(n: int, seed: int) -> Simulation:
    """A pressed packing, brought to rest by a tight criterion."""
    simulation = Simulation(pressing(n, seed), dt=1.0, solver=AcceleratedSweeps(), seed=seed)
    rest(simulation, 300)
    simulation.solver = AcceleratedSweeps(criterion=MomentumCriterion(1e-6, residual=1e-6))
    rest(simulation, 60)
    return simulation


def rest(simulation: Simulation, steps: int) -> None:
    """Steps that lose 2 % of all velocities each, and the rest of them in the end."""
    for _ in range(steps):
        simulation.step()
        simulation.bodies.motion[:, :6] *= 0.98
    simulation.bodies.motion[:, :6] = 0.0


def run(simulation: Simulation, steps: int, tape: Tape) -> None:
    """Steps with their cost."""
    begin = time.process_time()
    for _ in range(steps):
        simulation.step()
        tape.sweeps += simulation.last_solve.sweeps
        tape.unconverged += not simulation.last_solve.converged
    tape.seconds += time.process_time() - begin
    tape.errors.append(momentum_error(simulation.contacts.problem(simulation.bodies, 1.0)))


# Measurements, on plain arrays


def state(simulation: Simulation) -> dict[str, float]:
    """Packing fraction, coordination number, force distribution and mobilised friction of the present state."""
    bodies, contacts = simulation.bodies, simulation.contacts
    n, forces = bodies.count, contacts.forces
    carrying = forces[:, 0] > 1e-3 * forces[forces[:, 0] > 0.0, 0].mean()
    inside = carrying & (contacts.pairs[:, 1] < n)
    degree = np.bincount(contacts.pairs[carrying, 0], minlength=n) + np.bincount(contacts.pairs[inside, 1], minlength=n)
    bearing = degree[:n] >= 2
    f = forces[inside, 0] / forces[inside, 0].mean()
    figures = {
        "coordination number": float(degree[:n][bearing].mean()),
        "rattlers": float(1.0 - bearing.mean()),
        "force distribution <f^2>": float((f**2).mean()),
        "force distribution <f^3>": float((f**3).mean()),
        "sliding fraction": mobilised(forces[inside], float(contacts.geometry[inside, 6].max())),
    }
    lid = bodies.walls[-1]
    if lid.guided:
        width = math.sqrt(n * AREA / FILLING)
        area = math.pi * float((bodies.radius**2).sum())
        figures = {"packing fraction": area / (width * float(lid.shape.point[1])), **figures}
    return figures


def mobilised(forces: Array, mu: float = FRICTION) -> float:
    """Share of the contacts that carry anything whose friction is used up to 99 %."""
    carrying = forces[:, 0] > 1e-3 * forces[:, 0].mean()
    tangential = np.linalg.norm(forces[carrying, 1:], axis=1)
    return float((tangential > 0.99 * mu * forces[carrying, 0]).mean())


def scatter(answers: Array) -> float:
    """Root mean square over contacts of the spread of |R| between answers (answer, contact, 4)."""
    return float(np.sqrt(answers.var(axis=0, ddof=1).sum(axis=1).mean()))


def walls(simulation: Simulation) -> dict[str, float]:
    """Forces on side and base over the load."""
    bodies = simulation.bodies
    load = bodies.walls[-1].load
    side = force_on(simulation, bodies.walls.index(wall_of(simulation, (-1.0, 0.0, 0.0))))
    base = force_on(simulation, bodies.walls.index(wall_of(simulation, (0.0, 1.0, 0.0))))
    return {"side stress / load": float(side[0]) / load, "base stress / load": float(-base[1]) / load}


def force_on(simulation: Simulation, wall: int) -> Array:
    """(3,) the force of the grains on a wall, averaged over nothing: that of the last step."""
    rows = simulation.contacts.wall_rows[wall]
    total: Array = simulation.contacts.force[rows].sum(axis=0)
    return total


def wall_of(simulation: Simulation, normal: tuple[float, float, float]) -> Any:
    """The plane with this normal that is no piston."""
    return next(w for w in simulation.bodies.walls if not w.guided and np.allclose(w.normal, normal))


# Comparison and pictures


def compare(tapes: dict[str, list[Tape]]) -> dict[str, Any]:
    """Mean and standard error of each figure for both solvers; the ratio of CPU times."""
    rows = {}
    for key in tapes["random"][0].figures:
        values = {name: np.array([tape.figures[key] for tape in tapes[name]]) for name in NAMES}
        row: dict[str, float] = {}
        for name in NAMES:
            row[name] = float(values[name].mean())
            row[f"{name} error"] = float(values[name].std(ddof=1) / math.sqrt(len(values[name])))
        apart = row["accelerated"] - row["random"]
        row["sigmas"] = apart / max(math.hypot(row["random error"], row["accelerated error"]), 1e-15)
        rows[key] = row
    cpu = {name: sum(tape.seconds for tape in tapes[name]) for name in NAMES}
    return {
        "figures": rows,
        "cpu seconds": cpu,
        "cpu ratio": cpu["random"] / cpu["accelerated"],
        "sweeps": {name: sum(tape.sweeps for tape in tapes[name]) for name in NAMES},
        "momentum error": {name: float(np.median([e for tape in tapes[name] for e in tape.errors])) for name in NAMES},
        "unconverged": sum(tape.unconverged for tape in tapes["accelerated"]),
    }


def show(title: str, found: dict[str, Any]) -> None:
    cpu, error = found["cpu seconds"], found["momentum error"]
    print(f"\n{title}: CPU {cpu['random']:.1f} s and {cpu['accelerated']:.1f} s, ratio {found['cpu ratio']:.1f}; "
          f"median momentum error {error['random']:.2g} and {error['accelerated']:.2g}; "
          f"{found['unconverged']} accelerated steps not converged")  # fmt: skip
    for key, row in found["figures"].items():
        print(f"  {key:44s} {row['random']:9.4f} +- {row['random error']:.4f}   "
              f"{row['accelerated']:9.4f} +- {row['accelerated error']:.4f}   {row['sigmas']:+.1f} sigma")  # fmt: skip


def draw(found: dict[str, Any], folder: Path) -> None:
    """The piston's path, and the ratio of every figure between the solvers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 13, "axes.spines.top": False, "axes.spines.right": False})
    colours, words = ("#c0392b", "#2e8b57", "#1f5fa8"), ("random, 10 sweeps", "random, $(L/d)^2$ sweeps", "accelerated")
    figure, axes = plt.subplots(figsize=(9.0, 5.0), layout="constrained")
    for row, word, colour in zip(found["piston"].values(), words, colours):
        axes.plot(row["path"], color=colour, lw=2.4, label=f"{word}: {row['seconds']:.2f} s")
    axes.set(xlabel="time steps after the load rose by 1 %", ylabel=r"path of the piston / $(\Delta F\,\Delta t^2/M)$")
    axes.set_title("A sudden load: rigid grains do not swing", loc="left")
    axes.legend(frameon=False, title="CPU time of these 60 steps", alignment="left", loc="center right",
                bbox_to_anchor=(1.0, 0.8))  # fmt: skip
    figure.savefig(folder / "solvers-piston.png", dpi=150)
    titles = ("compression", "shear", "avalanche")
    figure, panels = plt.subplots(1, 3, figsize=(16.0, 5.2), layout="constrained")
    for axes, title, colour in zip(panels, titles, ("#1f5fa8", "#c0392b", "#2e8b57")):
        rows = found[title]["figures"]
        axes.axvspan(-2.0, 2.0, color="0.93", zorder=0)
        axes.axvline(0.0, color="0.6", lw=1.0, zorder=1)
        for place, row in enumerate(rows.values()):
            axes.errorbar(row["sigmas"], -place, xerr=1.0, fmt="o", ms=8, color=colour, capsize=4, lw=2.0)
        axes.set_yticks([-k for k in range(len(rows))], [_label(key) for key in rows])
        axes.set(xlim=(-4.0, 4.0), xlabel="difference / standard error")
        axes.set_title(f"{title}, {found[title]['cpu ratio']:.1f} times less CPU", loc="right")
    figure.suptitle(f"Accelerated minus random sweeps: {found['seeds']} seeds of {found['grains']} disks", fontsize=16)
    figure.savefig(folder / "solvers-statistics.png", dpi=150)


def _label(key: str) -> str:
    """The name of a figure as it is drawn."""
    for power in "23":
        key = key.replace(f"force distribution <f^{power}>", rf"$\langle f^{power}\rangle$ of forces")
    return key


if __name__ == "__main__":
    main()
