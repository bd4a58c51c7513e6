"""Speed and memory of this machine, measured: updates per second, search, parts of a step, threads, start, memory."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..contacts.contacts import Contacts
from ..contacts.lever_rows import fill_flat_levers, fill_levers
from ..contacts.problem import ContactProblem
from ..detect.candidates import find_candidates
from ..detect.grid import near_pairs
from ..detect.morton import morton
from ..detect.neighbours import Neighbours
from ..model.bodies import Bodies
from ..model.columns import (
    A_0,
    A_1,
    EXTRA_MOVING,
    FLAT_LEVERS,
    INV_MASS,
    INV_SPIN,
    L_Y,
    LEVERS,
    M_R,
    MU_R,
    MU_T,
    Q_Z,
    X,
    Z,
)  # fmt: skip
from ..runtime import memory
from ..runtime.memory import new_table, on_lines
from ..runtime.threads import get_threads, only
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.orders import ORDERS
from ..solve.sweeps import Sweeps

DT = 0.01
TYPICAL = 100_000
SMALL = 1000
CLOCK = "time.perf_counter()"
FIRST_STEP = f"""
import time
begun = {CLOCK}
from pathlib import Path
from rigidgrains import Simulation, gallery, load_scene
simulation = Simulation(load_scene(Path(gallery.__file__).parent / "pile.toml"))
simulation.step()
print({CLOCK} - begun)
"""
RADIUS = math.sqrt(3.0) / 2.0  # touching spheres on a bcc lattice whose cubes have side 2


def run(
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000),
    repeats: int = 7,
    typical: int = TYPICAL,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """All figures as one dictionary, ready for JSON.

    tell : is told which share of the parts is done, and which comes next
    """
    from .bench_step import outside_sweeps, shares, speed_up, sweep_ratio

    rates: dict[str, dict[str, float]] = {"ordered": {}, "random": {}, "coloured": {}}
    parts: dict[str, Callable[[], Any]] = {
        "kinds": lambda: kind_rates(typical, repeats),
        "search_over_sweep": lambda: search_over_sweep(typical, repeats),
        "shares": lambda: shares(typical),
        "sweep_ratio": lambda: sweep_ratio(typical),
        "outside_sweeps": lambda: {str(grains): outside_sweeps(grains) for grains in (SMALL, typical)},
        "threads": get_threads,
        "speed_up": lambda: speed_up(typical),
        "start_seconds": start_seconds,
        "import_seconds": lambda: _child(f"import time; t = {CLOCK}; import rigidgrains; print({CLOCK} - t)"),
        "bytes_per_grain": lambda: _child(f"from rigidgrains.app.bench import *; print(bytes_per_grain({TYPICAL}))"),
    }
    done, whole = 0, len(sizes) * len(rates) + len(parts)

    def begin(what: str) -> None:
        nonlocal done
        if tell is not None:
            tell(done / whole, what)
        done += 1

    for grains in sizes:
        for order, rate in rates.items():
            begin(f"{order} sweeps, {grains:,} grains")
            _, problem = dense_problem(grains, coloured=order == "coloured")
            rate[str(grains)] = problem.count / sweep_seconds(problem, order, repeats)
    figures: dict[str, Any] = {"updates_per_second": rates}
    for name, part in parts.items():
        begin(name.replace("_", " "))
        figures[name] = part()
    return figures


def describe(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures in words."""
    rows = [
        (f"{order} order", ", ".join(f"{rate / 1e6:.1f} at {int(grains):,} grains" for grains, rate in rates.items()))
        for order, rates in figures["updates_per_second"].items()
    ]
    return [
        *((name, f"million contact updates per second on one core: {text}") for name, text in rows),
        (
            "kinds",
            "million contact updates per second, coloured order: "
            + ", ".join(f"{kind} {rate / 1e6:.1f}" for kind, rate in figures["kinds"].items()),
        ),
        ("neighbour search", f"{figures['search_over_sweep']:.1f} times a sweep over the contacts"),
        (
            "step",
            ", ".join(f"{name} {share:.0%}" for name, share in figures["shares"].items() if name != "lists_per_step"),
        ),
        ("accelerated sweep", f"{figures['sweep_ratio']:.2f} times the time of a plain one"),
        (
            "outside of sweeps",
            "; ".join(
                f"{ms:.2g} ms a step, that is {over:.0f} sweeps, at {int(grains):,} grains"
                for grains, (ms, over) in figures["outside_sweeps"].items()
            ),
        ),
        ("threads", f"{figures['speed_up']:.2f} times as fast on {figures['threads']} as on one, whole steps"),
        (
            "start",
            "{first:.1f} s to the first step on the first run ever, {cached:.2f} s later".format(
                **figures["start_seconds"]
            ),
        ),
        ("import", f"{figures['import_seconds']:.3f} s"),
        ("memory", f"{figures['bytes_per_grain']:.0f} bytes per grain at the peak, contacts included"),
    ]


def dense_bodies(grains: int, dimension: int = 3) -> Bodies:
    """A dense packing made without simulation: touching equal spheres on a bcc lattice of which 30 % are missing.

    It is squeezed towards its middle, so that nearly all contacts work; bodies are numbered along a Morton curve.
    Each sphere has 5.6 contacts on average, about as many as in a random packing with friction. In 2D, disks on a
    square lattice of which 10 % are missing: 3.6 contacts.
    """
    rng = np.random.default_rng(0)
    radius = RADIUS if dimension == 3 else 1.0
    if dimension == 3:
        sites = round(grains / 0.7)
        side = math.ceil((sites / 2.0) ** (1.0 / 3.0))
        cube = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        site = np.stack([2 * cube, 2 * cube + 1], axis=1).reshape(-1, 3)[:sites]
    else:
        sites = round(grains / 0.9)
        side = math.ceil(math.sqrt(sites))
        square = np.meshgrid(np.arange(side), np.arange(side), [0], indexing="ij")
        site = 2 * np.stack(square, axis=-1).reshape(-1, 3)[:sites]
    site = rng.permutation(site)[:grains]
    site = site[np.argsort(morton(site.astype(np.uint64)), kind="stable")]
    position = site.astype(float)
    velocity = 0.01 * rng.normal(size=position.shape) - 0.02 * (position - position.mean(axis=0))
    spin = 0.01 * rng.normal(size=position.shape) / RADIUS
    if dimension == 2:
        velocity[:, Z], spin[:, :2] = 0.0, 0.0
    return Bodies.assemble(
        dimension=dimension,
        position=position,
        radius=np.full(len(position), radius * (1.0 - 1e-12)),
        density=1.0 / (4.0 / 3.0 * math.pi * RADIUS**3) if dimension == 3 else 1.0 / math.pi,
        velocity=velocity,
        spin=spin,
        friction=0.3,
    )


def dense_problem(grains: int, dimension: int = 3, *, coloured: int = 0) -> tuple[Bodies, ContactProblem]:
    """The contact problem of a dense packing in one step; rows as listed, or colour after colour."""
    bodies = dense_bodies(grains, dimension)
    neighbours, contacts = Neighbours(), Contacts()
    neighbours.refresh(bodies, 0.0)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, 0.0, coloured=coloured), 0.0, gap="g_pos")
    return bodies, contacts.problem(bodies, DT)


def kind_rates(grains: int, repeats: int) -> dict[str, float]:
    """Updates per second of each kind of contact on one core, by colours."""
    rates = {}
    for kind in ("friction", "cell", "torque", "lever", "flat_lever"):
        problem = problem_of_kind(kind, grains, coloured=True)
        rates[kind] = problem.count / sweep_seconds(problem, "coloured", repeats)
    return rates


def problem_of_kind(kind: str, grains: int, *, coloured: bool) -> ContactProblem:
    """The same packing with plain friction, in a cell that is sheared, with rolling and twisting friction, or of grains
    that have levers, as other shapes do; in 2D (flat_lever) with half as many grains again, for as many contacts."""
    flat = kind == "flat_lever"
    bodies, problem = dense_problem(*(3 * grains // 2, 2) if flat else (grains, 3), coloured=coloured)
    count, none = problem.count, np.zeros(problem.count)
    if kind == "cell":
        n = len(problem.motion)
        motion = on_lines(np.concatenate([problem.motion, np.zeros((3, 8))]))  # rows of the cell come last
        motion[n + X, L_Y] = 0.1
        branch = np.stack([np.full(count, 2.0 * RADIUS), none], axis=1)
        return replace(problem, motion=motion, branch=branch, flow=motion[n:])
    if kind == "torque":
        extra = np.zeros((count, EXTRA_MOVING + 1))
        extra[:, [A_0, A_1, M_R, MU_R, MU_T]] = 0.5, 0.5, 0.8, 0.05, 0.02  # equal spheres of mass 1
        return replace(problem, extra=extra, forces=np.zeros((count, Q_Z + 1)))
    if kind in ("lever", "flat_lever"):
        levers = new_table(count, FLAT_LEVERS if flat else LEVERS)
        radius = bodies.radius[0]
        matrix = np.tile(math.sqrt(2.0 if flat else 2.5) / radius * np.eye(3), (len(problem.motion), 1, 1))
        place = radius * problem.normal
        fill = fill_flat_levers if flat else fill_levers
        problem.motion[:, INV_SPIN] = problem.motion[:, INV_MASS]
        fill(
            0,
            count,
            len(problem.motion),
            problem.pairs,
            place,
            -place,
            matrix,
            problem.motion,
            problem.geometry,
            levers,
        )
        return replace(problem, levers=levers)
    return problem


def sweep_seconds(problem: ContactProblem, name: str, repeats: int) -> float:
    """Time of one sweep in the given order on one core, the making of the order included; the best of several."""
    order, rng = ORDERS[name](), np.random.default_rng(0)
    order.begin(problem)
    with only(1):
        return best(lambda: order.sweep(problem, rng), repeats)


def search_over_sweep(grains: int, repeats: int) -> float:
    """Time of a neighbour search over that of one ordered sweep over the contacts."""
    bodies, problem = dense_problem(grains)
    with only(1):
        search = best(lambda: near_pairs(bodies.position, bodies.radius, 0.2 * RADIUS), repeats)
    return search / sweep_seconds(problem, "ordered", repeats)


def start_seconds() -> dict[str, float]:
    """Time of a new Python to the end of the first step of a small scene: without compiled kernels, and with them."""
    with tempfile.TemporaryDirectory() as cache:
        place = {**os.environ, "NUMBA_CACHE_DIR": cache}
        return {name: _child(FIRST_STEP, place) for name in ("first", "cached")}


def bytes_per_grain(grains: int) -> float:
    """Peak of all memory taken during a few steps of a dense packing, per grain."""
    _steps(1000)  # compile first
    mapped, memory.LARGE = memory.LARGE, sys.maxsize  # mappings are not traced
    tracemalloc.start()
    try:
        bodies = _steps(grains)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        memory.LARGE = mapped
    return peak / bodies.count


def best(task: Callable[[], Any], repeats: int) -> float:
    """Shortest of several timings (s), after one run that is not counted."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def _steps(grains: int) -> Bodies:
    simulation = Simulation(dense_bodies(grains), dt=1e-4, solver=Sweeps(criterion=FixedSweeps(2)))
    simulation.run(steps=3)
    return simulation.bodies


def _child(code: str, environment: dict[str, str] | None = None) -> float:
    """A figure printed by a fresh Python."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)
