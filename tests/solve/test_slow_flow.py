"""Slow flow: where no contact moves far in a step, forces are asked to be right, with the sweeps that this takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rigidgrains import AcceleratedSweeps, Scene, Simulation
from rigidgrains.solve.accuracy import LEVELS, SLOW, STILL, STRICT, is_slow
from rigidgrains.solve.criteria import FlowCriterion
from rigidgrains.solve.extent import loaded_extent
from rigidgrains.solve.sweeps import SolveReport

MOTION = SolveReport(sweeps=1, updates=1, converged=True, mean_force=1.0, travel=10.0 * STILL)
REST = replace(MOTION, travel=0.1 * STILL)


@pytest.mark.parametrize("level", LEVELS)
def test_slow_flow_is_asked_for_forces(level):
    """Where no contact moved far: more sweeps, at rest too, and half the power; only by the level that tells it apart.

    The fastest contact decides, whatever the mean is, and nothing is known of it before the first step.
    """
    solver, before = AcceleratedSweeps(accuracy=level), LEVELS[level]
    slow, fast = (solver.for_step(replace(MOTION, fastest=part * SLOW)) for part in (0.99, 1.01))
    rest = solver.for_step(replace(REST, fastest=0.99 * SLOW))
    assert (fast.criterion, fast.reach) == (before.moving, before.reach)
    assert (slow.gap, slow.still, rest.criterion) == (fast.gap, False, STRICT)
    if level == "balanced":
        assert (slow.criterion, slow.reach, rest.reach) == (FlowCriterion(0.05, least=STRICT), 64.0, 64.0)
    else:
        assert (slow.criterion, slow.reach, rest.reach) == (fast.criterion, fast.reach, fast.reach)
    assert not is_slow(MOTION)
    own = AcceleratedSweeps(accuracy=level, criterion=STRICT, max_sweeps=7).for_step(replace(MOTION, fastest=0.0))
    assert (own.criterion, own.max_sweeps, own.reach) == (STRICT, 7, math.inf)


def test_slow_shear_makes_more_sweeps_than_flow():
    """Disks in a cell, sheared so slowly that no contact moves by SLOW in a step: steps are asked as slow flow is."""
    scene = Scene(dimension=2, friction=0.4)
    scene.set_cell(lower=(0, 0), upper=(6.5, 6.5), rate={"xy": 0.002}, stress={"yy": 1.0})
    scene.add_grains(count=40, radius=(0.4, 0.6), density=1.0)
    simulation = Simulation(scene, dt=0.1, accuracy="balanced")
    simulation.run(until=60.0)
    seen = []
    for _ in range(60):
        slow = is_slow(simulation.last_solve)
        length = loaded_extent(simulation.contacts.problem(simulation.bodies, simulation.dt))
        simulation.step()
        last = simulation.last_solve
        assert last.still or last.asked_power == (0.05 if slow else 0.1)
        seen.append((slow, last.sweeps / length))
    assert np.mean([slow for slow, _ in seen]) > 0.9
    assert max(sweeps for _, sweeps in seen) > 4.5
    assert "in slow flow 5 % of the power of friction" in str(simulation.report())


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_frictionless_packing_under_pressure_comes_to_rest(seed):
    """Nothing dissipates but collisions: an error of 1 % of the load keeps such disks moving for ever."""
    scene = Scene(dimension=2, friction=0)
    scene.set_cell(lower=(0, 0), upper=(9, 9))
    scene.add_grains(count=60, radius=(0.4, 0.6), density=1.27)
    scene.add_stage("press", cell={"pressure": 1.0}, rest=True, limit=150.0)
    assert Simulation(scene, seed=seed).run().stages[0]["reached"]
