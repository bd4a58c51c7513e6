"""Sleep: clusters at rest cost no sweeps, wake in the very step of a disturbance, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import RIGHT, UP, chain, cloud, floor, grains, plane, prepare, triangular

from rigidgrains import (
    Frame,
    GlobalCriterion,
    MomentumCriterion,
    ResidualCriterion,
    RigidSweeps,
    Scene,
    SceneError,
    kinetic_energy,
    wall_forces,
)
from rigidgrains.certificate import check
from rigidgrains.scene import Solver
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion
from rigidgrains.solve.sleep import clusters_of_bodies
from rigidgrains.solve.sweeps import Sweeps

DT, G = 1e-2, 10.0
DOWN = -G * UP


def two_heaps(*more, **rest):
    """Two pyramids of three disks each, far apart on a floor, and further disks."""
    heap = np.array([[0.0, 1.0, 0.0], [2.0, 1.0, 0.0], [1.0, 1.0 + np.sqrt(3.0), 0.0]])
    position = np.vstack([heap, heap + 20.0 * RIGHT, *more])
    return grains(position, dimension=2, friction=0.8, gravity=DOWN, walls=[floor(), *rest.pop("walls", [])], **rest)


def run(bodies, steps, solver=Sweeps, **settings):
    settings.setdefault("criterion", FixedSweeps(60))
    simulation = Simulation(bodies, dt=DT, solver=solver(**settings), seed=1)
    for _ in range(steps):
        simulation.step()
    return simulation


@pytest.mark.parametrize(
    ("solver", "settings"),
    [
        (Sweeps, {}),
        (Sweeps, {"criterion": LocalCriterion(1e-3)}),
        (Sweeps, {"criterion": ResidualCriterion(1e-4)}),
        (Sweeps, {"order": "coloured"}),
        (AcceleratedSweeps, {"criterion": MomentumCriterion(1e-3, 1e-4)}),
    ],
)
def test_a_packing_at_rest_sleeps_and_stands(solver, settings):
    """Hundred steps after it has settled: fewer updates, none of them missed; the box carries load and weight."""
    found = []
    for sleep in (False, True):
        bodies = triangular(4, 6, mu=0.3, load=20.0, g=2.0)
        simulation = run(bodies, 50, solver, sleep=sleep, **settings)
        before = simulation.tally.updates
        for _ in range(100):
            simulation.step()
            carried = sum(wall_forces(bodies, simulation.contacts)[name][1] for name in ("floor", "left", "right"))
            assert carried == pytest.approx(-20.0 - 2.0 * (5.0 + bodies.count), rel=2e-3)
            assert simulation.last_solve.converged is not False
        found.append((bodies.position.copy(), simulation.tally.updates - before))
    (there, updates), (here, fewer) = found
    np.testing.assert_allclose(here, there, atol=1e-4)
    assert fewer < (0.75 if solver is Sweeps else 1.0) * updates  # two accelerated sweeps do where nobody moves


def test_a_blow_wakes_its_own_cluster_in_the_very_step():
    """A disk falls on the left heap, which wakes when the disk would touch it. The right one sleeps on."""
    bodies = two_heaps([[1.0, 6.0, 0.0]])
    simulation = run(bodies, 30, criterion=LocalCriterion(1e-4), sleep=True)
    right = contacts_of(simulation, (3, 4, 5))
    while simulation.last_solve.updates == 0:
        height, speed = bodies.position[6, 1] - bodies.position[2, 1], bodies.velocity[6, 1]
        simulation.step()
        assert simulation.steps < 200
    assert 2.0 < height <= 2.0 - DT * (speed - G * DT)  # in the step of the touch, not before
    assert bodies.velocity[6, 1] > 0.9 * speed  # stopped, at least in part
    left = sum(1 for i, j in simulation.contacts.pairs if i not in (3, 4, 5))
    assert left < simulation.contacts.count
    assert simulation.last_solve.updates <= simulation.last_solve.sweeps * left
    for pair, force in contacts_of(simulation, (3, 4, 5)).items():
        np.testing.assert_allclose(force, right[pair], atol=1e-3 * G)


def contacts_of(simulation, some):
    """Forces of the contacts of some grains, by pair."""
    pairs, forces = simulation.contacts.pairs, simulation.contacts.forces
    return {(int(i), int(j)): forces[c].copy() for c, (i, j) in enumerate(pairs) if i in some}


def test_nothing_changes_beyond_the_criterion():
    """A load that grows, with and without sleep: positions, forces and energy agree; frames obey all laws."""
    found = []
    for sleep in (False, True):
        bodies = triangular(4, 6, mu=0.3, load=20.0, g=2.0)
        simulation = run(bodies, 60, criterion=LocalCriterion(1e-4), sleep=sleep)
        bodies.walls[3].load = 30.0
        for _ in range(60):
            simulation.step()
        frame = Frame.of(simulation)
        assert check(frame).passed
        strength = simulation.contacts.forces[simulation.contacts.wall_rows[0], 0].sum()
        found.append((bodies.position.copy(), strength, kinetic_energy(bodies), simulation.tally.updates))
    (there, weight, energy, updates), (here, same_weight, same_energy, fewer) = found
    np.testing.assert_allclose(here, there, atol=1e-4)
    assert same_weight == pytest.approx(weight, rel=1e-3)
    assert abs(same_energy - energy) < 1e-6
    assert fewer != updates


@pytest.mark.parametrize("change", ["gravity", "wall", "load"])
def test_other_loads_wake_at_once(change):
    """Gravity turned, a wall set in motion, a piston loaded: the next step sweeps."""
    bodies = triangular(4, 6, mu=0.3, load=20.0, g=2.0)
    simulation = run(bodies, 60, sleep=True, criterion=LocalCriterion(1e-3))
    for _ in range(20):
        simulation.step()
        assert simulation.last_solve.updates == 0
        assert simulation.last_solve.converged
    if change == "gravity":
        bodies.gravity[:] = [0.5, -2.0, 0.0]
    elif change == "load":
        bodies.walls[3].load = 21.0
    else:
        bodies.walls[0].drive.velocity = 0.5 * UP
    simulation.step()
    assert simulation.last_solve.updates > 0


def test_a_piston_joins_what_a_fixed_wall_does_not():
    """Heaps below one lid are a cluster; on one floor they are two."""
    assert len(np.unique(clusters_of_bodies(prepare(two_heaps(), DT))[:6])) == 2
    lid = plane((0.0, 2.0 + np.sqrt(3.0), 0.0), -UP, "lid", mass=1.0, load=5.0)
    assert len(np.unique(clusters_of_bodies(prepare(two_heaps(walls=[lid]), DT))[:6])) == 1


def test_grains_in_free_flight_cost_no_update():
    """With or without sleep: who has no candidate is not swept."""
    for sleep in (False, True):
        bodies = cloud(200, speed=0.0)
        bodies.position *= 10.0
        simulation = run(bodies, 5, sleep=sleep)
        assert simulation.tally.updates == 0


def test_a_run_repeats_and_sleep_is_kept_by_words():
    """Nothing is remembered between steps, so that a run is repeated to the bit."""

    def bits():
        simulation = run(triangular(4, 4, mu=0.3, g=2.0), 40, sleep=True)
        return simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes()

    assert bits() == bits()


@pytest.mark.parametrize("criterion", [GlobalCriterion(), RigidSweeps()])
def test_criteria_that_sleep_cannot_serve(criterion):
    with pytest.raises(ValueError, match="sleep does not go with"):
        run(chain(5), 1, criterion=criterion, sleep=True)


def test_scenes_ask_for_sleep():
    settings = {"criterion": "fixed", "sweeps": 20, "sleep": True}
    scene = Scene(dimension=2, solver=settings, run={"dt": 1e-3, "steps": 1})
    scene.add_grains(positions=[[0, 1]], radius=1)
    assert Simulation(scene).solver.sleep
    scene.solver = Solver(criterion="rigid", sleep=True)
    with pytest.raises(SceneError, match="does not go with criterion = 'rigid'"):
        scene.build()


@pytest.mark.parametrize("solver", [Sweeps, AcceleratedSweeps])
def test_who_sleeps_forgets_its_speed(solver):
    """A heap that creeps takes the step from rest, also where sweeps are made for another one that was hit."""
    simulation = run(two_heaps(), 50, solver, criterion=ResidualCriterion(1e-6), sleep=True)
    bodies = simulation.bodies
    bodies.velocity[:3, 0], bodies.velocity[3:6, 0] = 1e-9, 0.5
    simulation.step()
    assert simulation.last_solve.sweeps > 0
    assert not simulation.motion_before[:3].any()  # asleep
    assert simulation.motion_before[3:6].any()
    force = np.zeros((bodies.count, 3))
    for (i, j), (r_n, *r_t), n in zip(
        simulation.contacts.pairs, simulation.contacts.forces[:, :4], simulation.contacts.geometry[:, :3]
    ):
        force[i] -= r_n * n + np.array(r_t)
        if j < bodies.count:
            force[j] += r_n * n + np.array(r_t)
    gained = DT * (DOWN + force / bodies.mass[:, None])
    np.testing.assert_allclose(bodies.velocity, simulation.motion_before[: bodies.count, :3] + gained, atol=1e-14)
