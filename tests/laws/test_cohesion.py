"""Cohesion: grains that hang, stick and come off, bridges, and the energy of a bond."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, UP, cloud, exact, grains, plane, settle
from support.worlds import scale

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.laws import Cohesion, Restitution
from rigidgrains.laws.cohesion import bond_energy

G = 10.0


def hanging(weight, law, **rest):
    """A grain of that weight below a ceiling that it has been pressed to."""
    bodies = grains(
        [[0, -1, 0]], mass=weight / G, walls=[plane([0, 0, 0], -UP, "ceiling")], laws=[law],
        velocity=[[0, 0.5, 0]], **rest,
    )  # fmt: skip
    simulation = settle(bodies, steps=2)
    bodies.gravity[:] = [0, -G, 0]
    return simulation


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("law", [(5.0,), (5.0, 0.1), (5.0, 0.1, 0.03)], ids=["contact", "range", "bridge"])
def test_a_grain_hangs_while_its_weight_is_less_than_the_cohesion(law, dimension):
    for weight, stays in ((4.999, True), (5.001, False)):
        simulation = hanging(weight, Cohesion(*law), dimension=dimension)
        for _ in range(20):
            simulation.step()
            certificate = check(rg.Frame.of(simulation))
            assert certificate.passed, str(certificate)
        assert (simulation.bodies.position[0, 1] > -1.0 - 1e-12) == stays
        if stays:
            assert simulation.contacts.force[0] == pytest.approx([0, -weight, 0], abs=1e-9)


@pytest.mark.parametrize("law", [(5.0,), (5.0, 0.1), (5.0, 0.1, 0.03)], ids=["contact", "range", "bridge"])
@pytest.mark.parametrize("overlap", [0.003, 0.03, 0.3])
def test_an_overlap_pulls_no_more_than_a_contact(law, overlap):
    """F(g) = F for g <= 0: a grain that is a tenth of the decay, or ten of it, too deep hangs by F, and not by more."""
    for weight, stays in ((4.999, True), (5.001, False)):
        bodies = grains(
            [[0, -1 + overlap, 0]], mass=weight / G, walls=[plane([0, 0, 0], -UP, "ceiling")], laws=[Cohesion(*law)],
            gravity=[0, -G, 0],
        )  # fmt: skip
        simulation = rg.Simulation(bodies, dt=1e-2, accuracy="exact")
        simulation.step()
        assert simulation.contacts.attraction[0] == pytest.approx(5.0, rel=1e-15)
        fall = 0.0 if stays else (weight - 5.0) / (weight / G) * 1e-2  # (g - F/m) dt
        assert simulation.bodies.velocity[0, 1] == pytest.approx(-fall, abs=1e-12)


@pytest.mark.parametrize("decay", [math.inf, 0.03])
def test_an_overlap_adds_nothing_to_the_energy_of_a_bond(decay):
    """The work to part two grains is counted from contact: minus the integral of F exp(-g/decay) up to the range."""
    reach = 0.1
    work = 5.0 * reach if decay == math.inf else 5.0 * decay * (1.0 - math.exp(-reach / decay))
    gap = np.array([0.0, -0.003, -0.03, -0.3])
    energy = bond_energy(gap, np.full(4, 5.0), np.full(4, reach), np.full(4, decay))
    assert energy == pytest.approx(-work, rel=1e-14)


def test_without_range_a_contact_that_came_off_is_free():
    simulation = hanging(5.001, Cohesion(5.0))
    simulation.run(steps=2)
    v = simulation.bodies.velocity[0, 1]
    simulation.step()
    assert simulation.bodies.velocity[0, 1] - v == pytest.approx(-G * simulation.dt, rel=1e-12)


def test_within_the_range_it_is_pulled_and_beyond_it_is_free():
    """Constant force: a = F/m - g until the range, then -g."""
    bodies = grains([[0, -1.05, 0]], walls=[plane([0, 0, 0], -UP, "ceiling")], laws=[Cohesion(25.0, 0.1)])
    settle(bodies, dt=1e-3, steps=4)
    assert bodies.velocity[0, 1] == pytest.approx(4e-3 * 25.0, rel=1e-12)
    bodies = grains([[0, -1.11, 0]], walls=[plane([0, 0, 0], -UP, "ceiling")], laws=[Cohesion(25.0, 0.1)])
    settle(bodies, dt=1e-3, steps=4)
    assert bodies.velocity[0, 1] == 0.0


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_cone_is_shifted(dimension):
    """A block at an upright wall is held by mu F alone."""
    for weight, stays in ((0.999, True), (1.001, False)):
        bodies = grains(
            [[1, 0, 0]], mass=weight * 2.0 / G, dimension=dimension, friction=0.4, gravity=[0, -G, 0],
            walls=[plane([0, 0, 0], RIGHT, "wall")], laws=[Cohesion(5.0, 0.01)],
        )  # fmt: skip
        bodies.motion[0, 7] = 0.0
        settle(bodies, steps=10)
        assert (bodies.velocity[0, 1] == 0.0) == stays


@pytest.mark.parametrize("decay", [math.inf, 0.02])
def test_the_energy_of_a_bond_decides_who_escapes(decay):
    """Two spheres thrown apart come back unless m_n v^2/2 exceeds the work to the range."""
    law = Cohesion(3.0, 0.05, decay)
    bond = -float(bond_energy(np.zeros(1), np.array([3.0]), np.array([0.05]), np.array([decay]))[0])
    for share, escapes in ((0.96, False), (1.04, True)):
        v = math.sqrt(2.0 * share * bond / 0.5)
        bodies = grains([[0, 0, 0], [2, 0, 0]], velocity=[[0, 0, 0], [0, 0, 0]], laws=[law])
        simulation = settle(bodies, dt=5e-4, steps=2)
        bodies.velocity[:, 0] = [-0.5 * v, 0.5 * v]
        for _ in range(1200):
            simulation.step()
        gap = bodies.position[1, 0] - bodies.position[0, 0] - 2.0
        assert (gap > 0.05) == escapes
        assert bodies.velocity.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_bridge_forms_only_by_touch():
    law = Cohesion(3.0, 0.05, 0.02)
    bodies = grains([[0, 0, 0], [2.01, 0, 0]], laws=[law])
    settle(bodies, steps=3)
    assert np.all(bodies.velocity == 0.0)


@pytest.mark.parametrize("method", [rg.Sweeps, rg.AcceleratedSweeps])
def test_a_cluster_of_sticky_grains_is_certified_and_resumed(tmp_path, method):
    def make():
        bodies = cloud(30, seed=4, mu=0.3)
        bodies.laws += [Cohesion(5.0, 0.2), Restitution(0.3)]
        solver = method(criterion=rg.ResidualCriterion(1e-5), max_sweeps=20_000)
        return rg.Simulation(bodies, dt=1e-2, seed=3, solver=solver)

    path, straight, stopped = tmp_path / "run.vtkhdf", make(), make()
    straight.run(steps=40)
    stopped.observe(rg.TrajectoryWriter(path), every=5)
    stopped.run(steps=25)
    resumed = rg.resume(path)
    resumed.run(steps=15)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert np.array_equal(resumed.contacts.memory, straight.contacts.memory)
    assert (straight.contacts.normal_force < 0.0).any()
    with rg.Trajectory(path) as trajectory:
        for frame in trajectory:
            certificate = check(frame)
            assert certificate.passed, str(certificate)
        assert "work of attraction" in check(trajectory[-1]).energy


def test_a_wrong_attraction_is_caught():
    bodies = grains([[0, 0, 0], [2, 0, 0]], laws=[Cohesion(3.0, 0.05)])
    frame = rg.Frame.of(settle(bodies, steps=1))
    scale(frame, "attraction", 1.5)
    assert "attraction" in {failed.name for failed in check(frame).failed}


def test_cohesion_sums_to_nothing_inside():
    """Attraction and reaction: momentum stays."""
    bodies = cloud(40, seed=1, mu=0.2)
    bodies.laws.append(Cohesion(2.0, 0.3))
    total = (bodies.mass[:, None] * bodies.velocity).sum(axis=0)
    rg.Simulation(bodies, dt=1e-2, solver=exact()).run(steps=10)
    assert (bodies.mass[:, None] * bodies.velocity).sum(axis=0) == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("words", [{"force": -1.0}, {"force": 1.0, "range": -1.0}, {"force": 1.0, "decay": 0.0}])
def test_out_of_range(words):
    with pytest.raises(ValueError, match="out of range"):
        Cohesion(**words)
