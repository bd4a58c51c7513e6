"""Blows within a step: elastic pairs stay elastic however many there are, and a grain may be struck twice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, cloud, exact, floor, grains, plane, settle

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.laws import Restitution
from rigidgrains.runtime import threads

SOLVERS = {
    "accelerated": rg.AcceleratedSweeps,
    "sweeps": rg.Sweeps,
    "two sweeps": lambda: rg.Sweeps(criterion=rg.FixedSweeps(2)),
}


def pairs(number: int, e: float, mu: float, dimension: int):
    """Bodies of mixed sizes in pairs far from each other that collide in one step; also their normals and V_n."""
    rng = np.random.default_rng(number)
    n, radius = rng.normal(size=(number, 3)), rng.uniform(0.5, 1.0, 2 * number)
    velocity, position = rng.normal(size=(2 * number, 3)), np.zeros((2 * number, 3))
    if dimension == 2:
        n[:, 2] = velocity[:, 2] = 0.0
    n /= np.linalg.norm(n, axis=1)[:, None]
    velocity[1::2] -= (3.0 + ((velocity[1::2] - velocity[::2]) * n).sum(axis=1))[:, None] * n  # V_n = -3
    position[::2, 0] = 10.0 * np.arange(number)
    position[1::2] = position[::2] + (radius[::2] + radius[1::2] + rng.uniform(0, 0.02, number))[:, None] * n
    mass = rng.uniform(0.5, 2.0, 2 * number)
    return (
        grains(position, radius, mass, dimension=dimension, velocity=velocity, friction=mu, laws=[Restitution(e)]),
        n,
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("number", [1, 10, 400])
def test_every_pair_rebounds_however_many_there_are(number, mu, dimension, solver):
    """V_n' = -V_n in each of them."""
    bodies, n = pairs(number, 1.0, mu, dimension)
    rg.Simulation(bodies, dt=1e-2, solver=SOLVERS[solver]()).step()
    after = ((bodies.velocity[1::2] - bodies.velocity[::2]) * n).sum(axis=1)
    assert np.abs(after - 3.0).max() < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_every_grain_rebounds_from_a_wall(mu, solver):
    rng, number = np.random.default_rng(1), 400
    position = np.stack([3.0 * np.arange(number), 1.0 + rng.uniform(0, 0.005, number), np.zeros(number)], axis=1)
    velocity = rng.normal(size=(number, 3)) - [0, 8, 0]
    came = velocity[:, 1].copy()
    bodies = grains(position, velocity=velocity, friction=mu, walls=[floor()], laws=[Restitution(1.0)])
    rg.Simulation(bodies, dt=1e-2, solver=SOLVERS[solver]()).step()
    assert bodies.velocity[:, 1] == pytest.approx(-came, rel=1e-12)


def test_energy_is_kept_over_ten_thousand_collisions():
    """Lanes of two disks between two walls, without friction: grains and walls rebound at e = 1."""
    rng, lanes = np.random.default_rng(2), 700
    position = np.zeros((2 * lanes, 3))
    position[:, 0], position[:, 1] = np.tile([2.0, 6.0], lanes), np.repeat(3.0 * np.arange(lanes), 2)
    velocity = np.zeros((2 * lanes, 3))
    velocity[:, 0] = rng.uniform(0.5, 1.5, 2 * lanes) * rng.choice([-1, 1], 2 * lanes)
    walls = [plane([0, 0, 0], RIGHT, "left"), plane([8, 0, 0], -RIGHT, "right")]
    mass = rng.uniform(0.5, 2.0, 2 * lanes)
    bodies = grains(position, 1.0, mass, dimension=2, velocity=velocity, walls=walls, laws=[Restitution(1.0)])
    simulation = rg.Simulation(bodies, dt=0.02)
    energy, collisions = rg.kinetic_energy(bodies), 0
    while collisions < 10_000:
        simulation.step()
        collisions += int((simulation.contacts.normal_force > 0.0).sum())
    assert abs(rg.kinetic_energy(bodies) / energy - 1.0) < 1e-9
    assert simulation.report().lost_share < 1e-9


def test_a_gap_that_the_free_velocity_closes_is_a_collision():
    """Gravity closes within the step what the velocity before does not: the ball leaves at e times the speed it had."""
    dt, g, e = 0.01, 10.0, 0.8
    bodies = grains([[0, 1.0105, 0]], velocity=[[0, -1, 0]], gravity=[0, -g, 0], walls=[floor()], laws=[Restitution(e)])
    simulation = settle(bodies, dt=dt, steps=1)
    assert bodies.velocity[0, 1] == pytest.approx(e, rel=1e-12)
    assert check(rg.Frame.of(simulation)).passed


def test_clusters_that_gain_energy_are_corrected_one_by_one():
    """Friction and e = 1 may give energy to clusters. What one of them does must not depend on others far away."""
    parts = [cloud(12, seed=seed, mu=0.7) for seed in range(10)]
    apart = [np.array([1000.0 * k, 0.0, 0.0]) for k in range(len(parts))]
    together = grains(
        np.concatenate([part.position + shift for part, shift in zip(parts, apart)]),
        np.concatenate([part.radius for part in parts]),
        np.concatenate([part.mass for part in parts]),
        velocity=np.concatenate([part.velocity for part in parts]),
        spin=np.concatenate([part.spin for part in parts]),
        friction=0.7,
        laws=[Restitution(1.0)],
    )
    rg.Simulation(together, dt=0.3, solver=exact()).step()
    lowered = 0
    for k, part in enumerate(parts):
        part.laws.append(Restitution(1.0))
        alone = rg.Simulation(part, dt=0.3, solver=exact())
        alone.step()
        lowered += alone.tally.lost > 0.0
        assert together.velocity[12 * k : 12 * k + 12] == pytest.approx(part.velocity, abs=1e-6)
    assert lowered >= 3


def test_each_cluster_has_its_own_corrections(monkeypatch):
    """Three pairs are said to gain a hundredth of their rebound, one after the other: each loses twice that, once."""
    guilty = []

    def work(rows):
        gained = np.zeros(len(rows.pairs))
        if len(guilty) < 3:
            guilty.append(len(guilty))
            at = rows.pairs[:, 0] == 2 * guilty[-1]
            gained[at] = 0.01 * (rows.forces[:, 0] * -rows.geometry[:, 3] / rows.dt)[at]
        return gained

    monkeypatch.setattr("rigidgrains.laws.restitution.contact_work", work)
    bodies, n = pairs(3, 1.0, 0.0, 3)
    rg.Simulation(bodies, dt=1e-2, solver=exact()).step()
    after = ((bodies.velocity[1::2] - bodies.velocity[::2]) * n).sum(axis=1)
    assert guilty == [0, 1, 2]
    assert after == pytest.approx([0.98 * 3.0] * 3, rel=1e-9)


@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_cradle_with_gaps_is_a_chain_within_one_step(e):
    """Blow after blow, both in one step: v = (1 - e)/2, (1 - e^2)/4, (1 + e)^2/4 of three equal spheres."""
    position = [[0, 0, 0], [2.004, 0, 0], [4.006, 0, 0]]
    bodies = grains(position, velocity=[[1, 0, 0], [0, 0, 0], [0, 0, 0]], laws=[Restitution(e)])
    simulation = settle(bodies, steps=1)
    assert bodies.velocity[:, 0] == pytest.approx([(1 - e) / 2, (1 - e * e) / 4, (1 + e) ** 2 / 4], abs=1e-12)
    certificate = check(rg.Frame.of(simulation))
    assert certificate.passed, str(certificate)


def test_a_rebound_that_gives_energy_is_no_chain():
    """The certificate takes velocities after a chain of blows on trust only as long as no energy comes from them."""
    position = [[0, 0, 0], [2.004, 0, 0], [4.006, 0, 0]]
    bodies = grains(position, velocity=[[1, 0, 0], [0, 0, 0], [0, 0, 0]], laws=[Restitution(1.0)])
    frame = rg.Frame.of(settle(bodies, steps=1))
    frame.velocity[2, 0] *= 1.5
    assert {"rebound", "momentum"} <= {failed.name for failed in check(frame).failed}


def gas(filling: float, *, e: float = 1.0, dt="auto", dimension: int = 2, grains: int = 1000, seed: int = 1, **words):
    """Smooth grains of diameter, mass and temperature 1 in a periodic cell."""
    volume = math.pi / (4.0 if dimension == 2 else 6.0)
    side = (grains * volume / filling) ** (1.0 / dimension)
    scene = rg.Scene(dimension=dimension, friction=0.0, cell={"lower": (0,) * dimension, "upper": (side,) * dimension})
    scene.add_material("elastic", friction=0.0, restitution=e)
    scene.add_grains(count=grains, radius=0.5, density=1.0 / volume, material="elastic")
    simulation = rg.Simulation(scene, dt=1.0, seed=seed, **words)
    velocity = simulation.bodies.velocity
    velocity[:, :dimension] = np.random.default_rng(seed).normal(size=(grains, dimension))
    velocity -= velocity.mean(axis=0)
    simulation.dt = dt
    return simulation


def collide(simulation, number: float) -> float:
    """Step until each grain had so many collisions; returns E/E_0 - 1."""
    energy, collisions = rg.kinetic_energy(simulation.bodies), 0.0
    while collisions < number:
        simulation.step()
        collisions += 2.0 * float((simulation.contacts.normal_force > 0.0).sum()) / simulation.bodies.count
    return rg.kinetic_energy(simulation.bodies) / energy - 1.0


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_elastic_gas_does_not_cool(solver, dimension):
    """14 collisions a grain at a packing fraction of 0.35 with dt = "auto"."""
    simulation = gas(0.35, dimension=dimension, grains=400, solver=SOLVERS[solver]())
    assert abs(collide(simulation, 14.0)) < 1e-4
    assert simulation.report().lost_share < 1e-4
    assert check(rg.Frame.of(simulation)).passed


def test_chains_keep_the_rate_of_collisions():
    """Enskog's rate of smooth disks, 2 n d chi sqrt(pi T/m) with chi after Henderson."""
    filling = 0.35
    chi = (1.0 - 7.0 * filling / 16.0) / (1.0 - filling) ** 2
    simulation = gas(filling)
    collide(simulation, 3.0)
    temperature, start = rg.kinetic_energy(simulation.bodies) / simulation.bodies.count, simulation.time
    collide(simulation, 9.0)
    rate = 2.0 * filling / (math.pi / 4.0) * chi * math.sqrt(math.pi * temperature)
    assert 9.0 / (simulation.time - start) == pytest.approx(rate, rel=0.06)


def test_a_dense_gas_gets_steps_that_its_blows_allow():
    """At a packing fraction of 0.78 steps that `travel` allows are too long: they are taken again, shorter."""
    simulation = gas(0.78, grains=400)
    assert abs(collide(simulation, 14.0)) < 1e-2
    hasty = gas(0.78, grains=400, dt=rg.AutoStep(loss=1.0))
    assert collide(hasty, 14.0) < -0.1
    assert simulation.step_sizes[-1] < 0.5 * hasty.step_sizes[-1]


def test_what_a_fixed_step_loses_is_reported():
    """What is booked is what is lost, at e = 1 without friction; beyond 1 % there is a warning."""
    simulation = gas(0.7, grains=400, dt=0.05)
    energy = rg.kinetic_energy(simulation.bodies)
    change = collide(simulation, 3.0)
    assert change < -0.05
    assert simulation.tally.lost == pytest.approx(-change * energy, rel=1e-3)
    assert simulation.report().lost_share == pytest.approx(-change, rel=1e-3)
    (warning,) = [text for text in simulation.report().warnings if "lost by blows" in text]
    assert "use a smaller dt, or dt = 'auto'" in warning


def test_low_restitution_gets_no_shorter_steps():
    """Where the law takes more than it gives back a blow without rebound is no reason."""
    sizes = [gas(0.78, e=0.5, grains=400, dt=rg.AutoStep(loss=loss)).run(steps=15).dt_range for loss in (1e-3, 1.0)]
    assert sizes[0] == sizes[1]


def test_a_gas_under_an_elastic_piston_keeps_its_energy():
    rng, side = np.random.default_rng(3), 8
    lattice = np.stack(np.meshgrid(np.arange(side), np.arange(side), [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    velocity = rng.normal(size=(side**2, 3))
    velocity[:, 2] = 0.0
    width = 2.4 * side
    walls = [
        floor(), plane([0, 0, 0], RIGHT, "left"), plane([width, 0, 0], -RIGHT, "right"),
        plane([0, width, 0], [0.0, -1.0, 0.0], "piston", mass=20.0),
        plane([0, 2 * width, 0], [0.0, -1.0, 0.0], "lid"),
    ]  # fmt: skip
    bodies = grains(2.4 * lattice + [1.2, 1.2, 0], dimension=2, velocity=velocity, walls=walls, laws=[Restitution(1.0)])
    simulation = rg.Simulation(bodies, dt=0.05)
    energy = rg.kinetic_energy(bodies)
    for _ in range(300):
        simulation.step()
        assert check(rg.Frame.of(simulation)).passed
    assert abs(bodies.motion[side**2 + 3, 1]) > 0.0  # the piston is pushed
    assert abs(rg.kinetic_energy(bodies) / energy - 1.0) < 1e-9


@pytest.mark.parametrize("filling", [0.35, 0.78])
def test_resumed_to_the_bit(tmp_path, filling):
    """Also where steps are taken again."""
    path, straight, stopped = tmp_path / "run.vtkhdf", gas(filling, grains=200), gas(filling, grains=200)
    straight.run(steps=30)
    stopped.observe(rg.TrajectoryWriter(path), every=5)
    stopped.run(steps=15)
    resumed = rg.resume(path)
    resumed.run(steps=15)
    assert np.array_equal(resumed.step_sizes, straight.step_sizes)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert np.array_equal(resumed.bodies.position, straight.bodies.position)
    assert resumed.tally.lost == straight.tally.lost


def test_same_bits_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "PART", 32)
    monkeypatch.setattr(threads, "WORTH", 1)
    found = []
    try:
        for number in (1, 2, 3):
            threads.set_threads(number)
            simulation = gas(0.75, grains=300)
            simulation.run(steps=8)
            found.append(simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes())
    finally:
        threads.set_threads(None)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "words",
    [
        {"cell": {"rate": {"xy": 0.5}}},
        {"cell": {"stress": {"xx": 1.0, "yy": 1.0}}},
        {"friction": 0.5, "tangential_restitution": 0.5, "rolling": 0.02},
        {"friction": 0.3, "cohesion": 0.2, "range": 0.05},
    ],
    ids=["shear", "stress", "rolling", "cohesion"],
)
def test_chains_are_certified_with_other_laws_and_in_cells_that_deform(words):
    side, material = 18.0, {"friction": 0.0, "restitution": 0.95, **words}
    cell = {"lower": (0, 0), "upper": (side, side), **material.pop("cell", {})}
    scene = rg.Scene(dimension=2, friction=material["friction"], cell=cell)
    scene.add_material("grain", **material)
    scene.add_grains(count=200, radius=0.5, density=4.0 / math.pi, material="grain")
    simulation = rg.Simulation(scene, dt=0.03, seed=1, accuracy="exact")
    simulation.bodies.velocity[:, :2] = np.random.default_rng(1).normal(size=(200, 2))
    for _ in range(25):
        simulation.step()
        certificate = check(rg.Frame.of(simulation))
        assert certificate.passed, str(certificate)


def test_a_loss_that_is_no_share():
    with pytest.raises(ValueError, match="loss = -1 is no share"):
        rg.AutoStep(loss=-1)
