"""Gallery scenes of grains of other shapes: each runs to its end and shows its number; see test_gallery.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.gallery import run_gallery_scene

from rigidgrains.gallery import scene_text
from rigidgrains.scene import load_scene
from rigidgrains.simulation.simulation import Simulation

G = 9.81


@pytest.fixture
def run(tmp_path):
    return run_gallery_scene(tmp_path)


def rest_on_walls(report, bodies):
    """Walls carry the weight of grains at rest."""
    carried, up = np.sum(list(report.wall_force.values()), axis=0), bodies.dimension - 1
    weight = bodies.mass.sum() * G
    assert carried == pytest.approx(-weight * np.eye(bodies.dimension)[up], abs=2e-3 * weight)
    assert report.max_overlap < 5e-3


def test_the_block(run):
    """x = g t (t + dt) (sin a - mu cos a)/2 along the slope, on two corners, and no turn."""
    _, state, bodies = run("block")
    slope = math.atan(0.4)
    way = (bodies.position[0] - state.position[0]) @ [math.cos(slope), math.sin(slope), 0.0]
    assert way == pytest.approx(0.5 * G * 0.5 * 0.501 * (math.sin(slope) - 0.3 * math.cos(slope)), rel=1e-3)
    assert state.orientation[0] == pytest.approx(slope, abs=1e-6)
    assert len(state.contacts) == 2


def test_the_tower(run):
    """Four corners of each joint carry the weight above it."""
    _, state, bodies = run("tower")
    assert len(state.contacts) == 40
    assert np.abs(state.position - bodies.position).max() < 1e-4 * 0.1
    weight = bodies.mass[0] * G
    for k in range(9):
        between = (state.contacts.pair == [k, k + 1]).all(axis=1)
        assert between.sum() == 4
        assert state.contacts.force[between, 2].sum() == pytest.approx((9 - k) * weight, rel=5e-3)


def test_the_arch(run):
    """It stands: the critical thickness is 0.1075 mean radii for many blocks (Milankovitch), less for few."""
    report, state, bodies = run("arch")
    assert np.abs(state.position - bodies.position).max() < 1e-4
    assert report.wall_force["ground"][1] == pytest.approx(-bodies.mass.sum() * G, rel=1e-3)
    thrust = state.contacts.force[state.contacts.pair[:, 1] == len(state)].sum(axis=0)
    assert thrust[0] == pytest.approx(0.0, abs=2e-3 * bodies.mass.sum() * G)


def test_the_dominoes(run):
    """All of them fall, and lie on each other."""
    _, state, _ = run("dominoes")
    assert (np.abs(state.orientation) > math.radians(60.0)).all()


def test_the_pentagons(run):
    """Floor and walls carry the weight; many pairs touch along sides."""
    report, state, bodies = run("pentagons")
    rest_on_walls(report, bodies)
    carrying = state.contacts.normal_force > 0.0
    _, points = np.unique(state.contacts.pair[carrying], axis=0, return_counts=True)
    assert 0.2 < (points == 2).mean() < 0.9
    assert points.max() == 2


def test_the_dice(run):
    """Floor and walls carry the weight."""
    report, _, bodies = run("dice")
    rest_on_walls(report, bodies)


@pytest.mark.slow
def test_the_capsules(run):
    """Floor and walls carry the weight; rods that lie down have a mean cos(2 angle) well above 0."""
    report, state, bodies = run("capsules")
    rest_on_walls(report, bodies)
    assert np.cos(2.0 * state.orientation).mean() > 0.3


@pytest.mark.slow
def test_the_ballast(run):
    """The lid carries its load and its weight, floor and walls that and the stones."""
    report, _, bodies = run("ballast")
    assert report.wall_force["lid"][2] == pytest.approx(200.0 + 5.0 * G, rel=5e-3)
    others = [force[2] for name, force in report.wall_force.items() if name != "lid"]
    assert sum(others) == pytest.approx(-(200.0 + 5.0 * G + bodies.mass.sum() * G), rel=5e-3)


@pytest.mark.slow
def test_the_clumps(tmp_path):
    """Newton for all clumps together: what the drum carries is the weight and the change of momentum."""
    path = tmp_path / "clumps.toml"
    path.write_text(scene_text("clumps"))
    simulation = Simulation(load_scene(path))
    bodies, carried = simulation.bodies, []
    simulation.observe(lambda sim: carried.append(sim.dt * sim.contacts.force[sim.contacts.wall_rows[0]].sum(axis=0)))
    report = simulation.run(until=0.6)
    change = (bodies.mass[:, None] * bodies.velocity).sum(axis=0)
    weight = bodies.mass.sum() * G
    force = np.sum(carried, axis=0) / report.time
    assert force == pytest.approx(np.array([0.0, -weight, 0.0]) - change / report.time, abs=1e-9 * weight)
