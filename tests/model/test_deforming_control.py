"""Rates and stresses of a cell in the course of time: exact strain, what contacts carry, restart, mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import exact
from support.cells import moment

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.simulation.simulation import Simulation

CELL = {"lower": [0, 0], "upper": [10, 10]}


def loose(**control):
    scene = rg.Scene(dimension=2, friction=0.3, run={"dt": 0.01, "seed": 1})
    scene.set_cell(**CELL, **control)
    scene.add_grains(count=30, radius=[0.4, 0.6], density=1.0)
    return scene


@pytest.mark.parametrize("component", ["xx", "yy", "xy"])
def test_a_cell_yields_to_a_stress_by_the_inertia_of_its_grains(component):
    """Grains without contacts: m b^2/12 dL/dt = -Omega P. So many grains on a lattice that goes with the flow have
    sum m x^2 = m b^2/12 (1 - 1/k^2), k to a side: an even spread, seen from outside the code."""
    a, b = ("xyz".index(axis) for axis in component)
    sides, k, pressure, dt = np.array([12.0, 20.0]), 40, 3.0, 1e-3
    grid = (np.arange(k) + 0.5) / k - 0.5
    scene = rg.Scene(dimension=2)
    stress = {component: pressure}
    scene.set_cell(lower=[0, 0], upper=sides.tolist(), stress=stress)
    places = np.stack(np.meshgrid((grid + 0.5) * sides[0], (grid + 0.5) * sides[1]), axis=-1).reshape(-1, 2)
    scene.add_grains(positions=places.tolist(), radius=0.01, density=2.0)
    simulation = Simulation(scene, dt=dt)
    simulation.step()
    assert simulation.contacts.forces.max(initial=0.0) == 0.0
    bodies = simulation.bodies
    spread = float(bodies.mass @ ((places[:, b] - 0.5 * sides[b]) ** 2)) / (1.0 - 1.0 / k**2)
    gained = -dt * sides.prod() * pressure / spread
    assert bodies.flow[a, b] == pytest.approx(gained, rel=1e-9)


@pytest.mark.parametrize("rate", ["0.9*cos(3*t)", lambda t: 0.9 * math.cos(3.0 * t)])
def test_oscillating_shear_has_its_strain_after_every_step(rate):
    """The rate of a step is its mean: the lean is b times the integral, whatever dt, through many reversals."""
    simulation = Simulation(loose(rate={"xy": rate}), dt=0.03)
    lean = []
    simulation.observe(lambda sim: lean.append((sim.time, sim.bodies.cell.vectors[1, 0])))
    simulation.run(steps=300)
    time, found = np.array(lean).T
    assert found == pytest.approx(10.0 * 0.3 * np.sin(3.0 * time), abs=1e-11)
    assert not check(rg.Frame.of(simulation), tolerance=0.1).failed


def test_a_table_compresses_and_stops():
    """After the last row the rate is zero, and the side has shrunk by the product of all steps."""
    simulation = Simulation(loose(rate={"xx": {"table": [[0, -0.2], [1, 0]]}}), dt=0.01)
    simulation.run(steps=150)
    expected = 10.0 * np.prod(1.0 - 0.01 * 0.2 * (1.0 - (np.arange(100) + 0.5) / 100))
    assert simulation.bodies.cell.vectors[0, 0] == pytest.approx(expected, rel=1e-12)
    assert simulation.bodies.cell.vectors[1, 1] == 10.0


@pytest.mark.parametrize("control", [{"pressure": "2 + sin(t)"}, {"stress": {"xx": "2 + sin(t)", "yy": "2 + sin(t)"}}])
def test_contacts_carry_a_pressure_that_changes(control):
    """A lattice at rest carries the mean of each step exactly."""
    scene = rg.Scene(dimension=2, friction=0.3)
    scene.set_cell(lower=[0, 0], upper=[8, 4 * math.sqrt(3.0)], **control)
    places = [[2.0 * i + j % 2 + 0.5, math.sqrt(3.0) * j + 0.5] for j in range(4) for i in range(4)]
    scene.add_grains(positions=places, radius=1.0 - 1e-12, density=1.0)
    simulation = Simulation(scene, dt=0.05, solver=exact())
    for k in range(20):
        simulation.step()
        mean = 2.0 + (math.cos(0.05 * k) - math.cos(0.05 * (k + 1))) / 0.05
        carried = np.diag(moment(simulation))[:2] / simulation.bodies.cell.volume
        assert carried.mean() == pytest.approx(mean, rel=1e-6)
        if "stress" in control:  # a cell that keeps its shape has the pressure on average
            assert carried == pytest.approx([mean] * 2, rel=1e-6)


def test_resume_to_the_bit(tmp_path):
    """Formulas and tables are kept; functions are asked for again."""
    scene = loose(
        rate={"xy": lambda t: math.sin(9.0 * t)}, stress={"yy": {"table": [[0, 0.5], [1, 2]], "smooth": True}}
    )
    whole = Simulation(scene)
    whole.run(steps=60)
    part = Simulation(scene)
    part.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=10)
    part.run(steps=25)
    with pytest.raises(ValueError, match=r"cell\.rate\.xy"):
        rg.resume(tmp_path / "run.vtkhdf")
    part = rg.resume(tmp_path / "run.vtkhdf", functions={"cell.rate.xy": lambda t: math.sin(9.0 * t)})
    part.run(steps=35)
    assert np.array_equal(part.bodies.motion, whole.bodies.motion)
    assert np.array_equal(part.bodies.position, whole.bodies.position)
    assert np.array_equal(part.bodies.cell.vectors, whole.bodies.cell.vectors)


def test_mistakes_are_told():
    with pytest.raises(rg.SceneError, match="has no value at t = 0 s"):
        loose(pressure="1/t")
    with pytest.raises(rg.SceneError, match="has a stress too"):
        loose(rate={"xy": "t"}, stress={"xy": "t"})
    with pytest.raises(rg.SceneError, match="must be a number"):
        loose(tilt={"xy": "t"})
    simulation = Simulation(loose(rate={"xy": "sqrt(0.05 - t)"}))
    with pytest.raises(rg.StageError, match="step 6 cannot begin"):
        simulation.run(steps=10)
    assert simulation.time == pytest.approx(0.05)
