"""Where the time of a step goes, and what threads save: a dense packing in motion, measured part by part."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ..contacts.problem import ContactProblem
from ..detect import candidates
from ..runtime.threads import get_threads, only
from ..simulation.simulation import Simulation
from ..solve.accelerated import AcceleratedSweeps
from ..solve.criteria import FixedSweeps
from ..solve.extrapolated import Extrapolated
from ..solve.orders import Coloured
from ..solve.sweeps import Sweeps
from .bench import dense_bodies, dense_problem

SWEEPS = 20  # in each step: fewer than most packings ask for
DT = 0.02
STEPS = 10

Clock = Callable[[], float]


class Watched(Coloured):
    """Sweeps by colours that keep the time."""

    clock: Clock = time.perf_counter
    seconds = 0.0

    def sweeps(self, problem: ContactProblem, rng: Generator, number: int) -> None:
        begun = Watched.clock()
        super().sweeps(problem, rng, number)
        Watched.seconds += Watched.clock() - begun


def dense_run(grains: int, dimension: int = 3) -> Simulation:
    """Steps of a packing that is squeezed; lists are made anew every few of them."""
    simulation = Simulation(
        dense_bodies(grains, dimension), dt=DT, solver=Sweeps(order=Watched(), criterion=FixedSweeps(SWEEPS)), seed=1
    )
    for _ in range(2):
        simulation.step()
    return simulation


def shares(grains: int, steps: int = STEPS) -> dict[str, float]:
    """Share of each part of a step in the time of all, on one thread, in processor time.

    search: neighbour lists; contacts: candidates and their rows; sweeps; solver: the rest of the solve; after: pairs
    that the new motion calls for; motion: positions, velocities and the checks on them
    """
    with only(1):
        simulation = dense_run(grains)
        spent: dict[str, float] = {}
        near, contacts, solver = simulation.neighbours, simulation.contacts, simulation.solver
        watch(near, "refresh", spent)
        watch(near, "widen", spent)
        watch(contacts, "gather", spent)
        watch(solver, "solve", spent)
        detection = candidates.find_candidates, candidates.missed_pairs
        watch(candidates, "find_candidates", spent)
        watch(candidates, "missed_pairs", spent)
        Watched.clock, Watched.seconds = time.process_time, 0.0
        builds, begun = near.builds, time.process_time()
        for _ in range(steps):
            simulation.step()
        whole = time.process_time() - begun
        Watched.clock = time.perf_counter
        candidates.find_candidates, candidates.missed_pairs = detection
    parts = {
        "search": spent["refresh"] + spent["widen"],
        "contacts": spent["find_candidates"] + spent["gather"],
        "sweeps": Watched.seconds,
        "solver": spent["solve"] - Watched.seconds,
        "after": spent["missed_pairs"] - spent["widen"],
    }
    parts["motion"] = whole - sum(parts.values())
    found = {name: seconds / whole for name, seconds in parts.items()}
    return found | {"lists_per_step": (near.builds - builds) / steps}


def sweep_ratio(grains: int, rounds: int = 7) -> float:
    """Time of an accelerated sweep over that of a plain one on the same packing, each by its colours, one thread."""
    tables = Sweeps.tables, AcceleratedSweeps.tables
    problem, extended = (dense_problem(grains, coloured=number)[1] for number in tables)
    rng, number = np.random.default_rng(0), max(2, 2 * (1_000_000 // problem.count))
    with only(1):
        plain, pace = Coloured(), Extrapolated(Coloured(), extended)
        plain.begin(problem)
        pace.begin(extended)
        ways: list[Callable[[], object]] = [
            lambda: plain.sweeps(problem, rng, number),
            lambda: pace.sweeps(extended, rng, number),
        ]
        best = [np.inf, np.inf]
        for _ in range(1 + rounds):
            for k, way in enumerate(ways):
                begun = time.process_time()
                way()
                best[k] = min(best[k], time.process_time() - begun)
    return float(best[1] / best[0])


def outside_sweeps(grains: int, steps: int = STEPS) -> tuple[float, float]:
    """What a step of the default solver costs besides its sweeps, on one thread: ms, and over an accelerated sweep."""
    with only(1):
        simulation = Simulation(dense_bodies(grains), dt=DT, solver=AcceleratedSweeps(), seed=1)
        for _ in range(2):
            simulation.step()
        swept, sweeps, original = 0.0, 0, Extrapolated.sweeps

        def watched(pace: Extrapolated, *how: Any, **more: Any) -> int:
            nonlocal swept, sweeps
            begun = time.process_time()
            made = original(pace, *how, **more)
            swept, sweeps = swept + time.process_time() - begun, sweeps + made
            return made

        Extrapolated.sweeps = watched  # type: ignore[method-assign, assignment]
        try:
            begun = time.process_time()
            for _ in range(steps):
                simulation.step()
            rest = time.process_time() - begun - swept
        finally:
            Extrapolated.sweeps = original  # type: ignore[method-assign]
    return 1e3 * rest / steps, rest / steps * sweeps / swept


def speed_up(grains: int, threads: int | None = None, rounds: int = 5) -> float:
    """Time of whole steps on one thread over that on several, best against best, in turn."""
    most = get_threads() if threads is None else threads
    simulation = dense_run(grains)
    best = dict.fromkeys((1, most), np.inf)
    for _ in range(rounds):
        for number in best:
            with only(number):
                begun = time.perf_counter()
                for _ in range(3):
                    simulation.step()
                best[number] = min(best[number], time.perf_counter() - begun)
    return float(best[1] / best[most])


def watch(thing: Any, name: str, spent: dict[str, float]) -> None:
    """Add up the processor time of a method of one object, or of a function of a module."""
    method = getattr(thing, name)
    spent[name] = 0.0

    def watched(*args: Any, **options: Any) -> Any:
        begun = time.process_time()
        try:
            return method(*args, **options)
        finally:
            spent[name] += time.process_time() - begun

    setattr(thing, name, watched)
