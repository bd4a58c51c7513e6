"""The benchmark measures what it says; its figures are not judged here."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from rigidgrains.app import bench
from rigidgrains.model.bodies import Bodies
from rigidgrains.runtime import memory


def test_figures_are_complete_and_positive(monkeypatch):
    monkeypatch.setattr(bench, "start_seconds", lambda: {"first": 9.0, "cached": 0.9})
    figures = bench.run(sizes=(2000,), repeats=2, typical=2000)
    assert set(figures["updates_per_second"]) == {"ordered", "random", "coloured"}
    assert figures["updates_per_second"]["ordered"]["2000"] > 0
    assert set(figures["kinds"]) == {"friction", "cell", "torque", "lever", "flat_lever"}
    assert min(figures["kinds"].values()) > 0
    assert all(figures[name] > 0 for name in ("search_over_sweep", "import_seconds", "bytes_per_grain", "speed_up"))
    parts = {name: share for name, share in figures["shares"].items() if name != "lists_per_step"}
    assert all(share >= 0.0 for share in parts.values())
    assert sum(parts.values()) == pytest.approx(1.0)
    assert all(isinstance(text, str) for row in bench.describe(figures) for text in row)


def test_the_packing_is_dense_touching_and_in_spatial_order():
    bodies, problem = bench.dense_problem(4000)
    assert bodies.count == 4000
    assert problem.geometry[:, 7] == pytest.approx(np.zeros(problem.count), abs=1e-9)
    # A bcc lattice with 70 % of its sites taken has 0.7 * 8 neighbours per sphere inside, fewer at its surface.
    inside = np.all(np.abs(bodies.position - bodies.position.mean(axis=0)) < 0.3 * np.ptp(bodies.position), axis=1)
    degree = np.bincount(problem.pairs.ravel(), minlength=bodies.count)
    assert degree[inside].mean() == pytest.approx(5.6, abs=0.3)
    # Consecutive contacts are near each other: nearer than random ones by far.
    first = bodies.position[problem.pairs[:, 0]]
    along = np.linalg.norm(np.diff(first, axis=0), axis=1).mean()
    rng = np.random.default_rng(0)
    anyhow = np.linalg.norm(np.diff(rng.permutation(first), axis=0), axis=1).mean()
    assert along < 0.2 * anyhow


@pytest.mark.slow
def test_the_first_run_compiles_and_later_ones_do_not():
    seconds = bench.start_seconds()
    assert 0.0 < seconds["cached"] < 0.5 * seconds["first"]


def test_a_measurement_that_fails_changes_nothing(monkeypatch):
    """Memory goes on as mappings, and is no longer traced."""

    make = bench.dense_bodies

    def fail(grains: int) -> Bodies:
        if grains > 1000:
            raise MemoryError
        return make(grains)

    usual = memory.LARGE
    monkeypatch.setattr(bench, "dense_bodies", fail)
    with pytest.raises(MemoryError):
        bench.bytes_per_grain(2000)
    assert usual == memory.LARGE
    assert not tracemalloc.is_tracing()


def test_memory_per_grain_stays_below_a_kilobyte():
    assert bench.bytes_per_grain(20_000) < 1000
