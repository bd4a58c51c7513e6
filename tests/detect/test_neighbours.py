"""Detection: neighbour pairs, wall shapes, candidates, and the identity of contacts over time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from support.builders import RIGHT, UP, belt, cloud, column, exact, floor, grains, plane, settle, triangular
from support.checks import listed

from rigidgrains.contacts.contacts import Contacts
from rigidgrains.detect.candidates import MARGIN, find_candidates
from rigidgrains.detect.grid import near_pairs
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.shapes import Plate
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation import integrate
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps

Z = np.array([0.0, 0.0, 1.0])


# Broad phase


def by_tree(position, radius, reach):
    """Pairs with gap < reach from a k-d tree."""
    pairs = cKDTree(position).query_pairs(2.0 * radius.max() + reach, output_type="ndarray")
    i, j = pairs[:, 0], pairs[:, 1]
    gap = np.linalg.norm(position[i] - position[j], axis=1) - radius[i] - radius[j]
    return {(int(a), int(b)) for a, b in pairs[gap < reach]}


@pytest.mark.parametrize("law", ["uniform", "loguniform", "two sizes"])
def test_a_size_ratio_of_twenty_costs_no_more_than_three_times_equal_grains(law):
    """Pairs whose distance is looked at, per grain, at the same packing fraction."""
    rng, n = np.random.default_rng(0), 10_000
    mixed = {
        "uniform": rng.uniform(1.0, 20.0, n),
        "loguniform": 20.0 ** rng.uniform(0.0, 1.0, n),
        "two sizes": np.where(np.arange(n) % 1000 == 0, 20.0, 1.0),
    }[law]

    def tests_per_grain(radius):
        side = (4.0 / 3.0 * np.pi * (radius**3).sum() / 0.5) ** (1.0 / 3.0)
        pairs = near_pairs(rng.uniform(0.0, side, (n, 3)), radius, 0.1)
        assert pairs.tested >= len(pairs.partner) > 0
        return pairs.tested / n

    assert tests_per_grain(mixed) < 3.0 * tests_per_grain(np.ones(n))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 1.7, 10.0, 50.0])
@pytest.mark.parametrize("reach", [0.0, 0.05, 1.0])
def test_near_pairs_against_a_tree(dimension, ratio, reach):
    """Equal and mixed radii: the same pairs as a k-d tree, each once."""
    rng = np.random.default_rng(int(ratio) + dimension)
    n = 400
    radius = np.where(rng.random(n) < 0.03, ratio, rng.uniform(1.0, min(ratio, 2.0), n)) * 0.5
    position = np.zeros((n, 3))
    position[:, :dimension] = rng.uniform(-3.0, 40.0 if dimension == 2 else 14.0, (n, dimension))
    found = listed(near_pairs(position, radius, reach))
    expected = by_tree(position, radius, reach)
    assert expected
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize("far", [1e4, 1e9, 1e15])
def test_near_pairs_with_far_outliers(far):
    """Stray grains cost no memory and change nothing, also where cell numbers overflow."""
    rng = np.random.default_rng(3)
    position = rng.uniform(0.0, 8.0, (200, 3))
    position[-3:] = far * np.array([[1.0, 1.0, 1.0], [-1.0, 2.0, 0.5], [0.0, -3.0, 1.0]])
    radius = rng.uniform(0.3, 0.6, 200)
    found = listed(near_pairs(position, radius, 0.1))
    assert len(found) == len(set(found))
    assert set(found) == by_tree(position, radius, 0.1)


def test_near_pairs_of_few_grains():
    """Few grains have fewer buckets than a search has cells: cells that share a bucket give no pair twice."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 15))
        position, radius = rng.uniform(0.0, 6.0, (n, 3)), rng.uniform(0.4, 1.0, n)
        found = listed(near_pairs(position, radius, 0.5))
        assert len(found) == len(set(found))
        assert set(found) == by_tree(position, radius, 0.5)


def test_near_pairs_in_one_cell():
    """Everybody overlaps everybody: n (n - 1)/2 pairs, more than the space first given."""
    position = np.random.default_rng(0).uniform(-0.01, 0.01, (60, 3))
    found = listed(near_pairs(position, np.ones(60), 0.1))
    assert len(found) == len(set(found)) == 60 * 59 // 2


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_the_search_is_the_same_in_any_unit(unit):
    """Mixed sizes, some much larger than most: as many distances are looked at, whatever a metre is."""
    rng = np.random.default_rng(11)
    position, radius = rng.uniform(0.0, 12.0, (300, 3)), rng.uniform(0.2, 0.4, 300)
    radius[:5] = 1.0
    one, other = near_pairs(position, radius, 0.1), near_pairs(unit * position, unit * radius, 0.1 * unit)
    assert listed(one) == listed(other)
    assert one.tested == other.tested < 300 * 299 // 8


def test_near_pairs_that_just_fill_their_room():
    """A row of 218 in which each reaches the next 17: 17 * 218 - 153 pairs, as many as there is room for at first."""
    position = np.zeros((218, 3))
    position[:, 0] = np.arange(218) / 17.5
    found = listed(near_pairs(position, np.full(218, 0.5), 0.0))
    assert sorted(found) == [(i, j) for i in range(218) for j in range(i + 1, min(i + 18, 218))]
    assert len(found) == 16 * 218 + 65


def test_near_pairs_of_one_and_two():
    """One grain has no pair; two have one, if the gap is below the reach and not if it equals it."""
    assert listed(near_pairs(np.zeros((1, 3)), np.ones(1), 0.5)) == []
    two = np.array([[0.0, 0.0, 0.0], [0.0, 2.5, 0.0]])
    assert listed(near_pairs(two, np.ones(2), 0.51)) == [(0, 1)]
    assert listed(near_pairs(two, np.ones(2), 0.5)) == []


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_near_pairs_across_cell_borders(axis):
    """A row of touching grains on an exact lattice: each meets its two neighbours, on any axis."""
    position = np.zeros((50, 3))
    position[:, axis] = 2.0 * np.arange(50)
    assert sorted(listed(near_pairs(position, np.ones(50), 1e-9))) == [(k, k + 1) for k in range(49)]


# Lists over time


def contact_set(contacts, count):
    """Grain pairs among the contacts."""
    return {(int(min(a, b)), int(max(a, b))) for a, b in contacts.pairs if max(a, b) < count}


@pytest.mark.parametrize("dimension", [2, 3])
def test_moving_grains_are_never_missed(dimension):
    """Whoever could touch within the step is a candidate, though the lists are not built every step."""
    bodies = cloud(60, dimension=dimension, seed=5)
    dt, steps = 5e-3, 120
    neighbours, contacts, solver = Neighbours(), Contacts(), Sweeps(criterion=FixedSweeps(5))
    rng, met = np.random.default_rng(0), 0
    for _ in range(steps):
        integrate.free_velocity(bodies, 0.0, dt)
        neighbours.refresh(bodies, dt)
        contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
        near = by_tree(bodies.position, bodies.radius, 1.0)
        i, j = np.array(sorted(near)).T
        apart, relative = bodies.position[j] - bodies.position[i], bodies.velocity[j] - bodies.velocity[i]
        gap = np.linalg.norm(apart, axis=1) - bodies.radius[i] - bodies.radius[j]
        due = gap < 0.999 * MARGIN * bodies.radius.min() + dt * np.linalg.norm(relative, axis=1)
        chosen = contact_set(contacts, bodies.count)
        assert len(chosen) == contacts.count
        assert {(int(a), int(b)) for a, b in zip(i[due], j[due])} <= chosen
        met += int((gap < 0.0).sum())
        solver.solve(contacts.problem(bodies, dt), rng)
        integrate.move(bodies, dt)
    assert met > 0  # the cloud did collide
    assert 1 <= neighbours.builds < steps / 2


def test_lists_of_a_resting_packing_are_built_once():
    """Nobody moves, nobody is searched for again."""
    simulation = settle(triangular(4, 4), steps=20)
    assert simulation.neighbours.builds == 1


def test_candidates_have_open_gaps_that_close_within_the_step():
    """A gap of a tenth of a radius is a candidate for a fast grain and not for a slow one; so the fast one stops."""
    for speed, expected in [(20.0, 1), (1.0, 0)]:
        bodies = grains([[0, 0, 0], [2.1, 0, 0]], velocity=[[speed, 0, 0], [0, 0, 0]])
        simulation = Simulation(bodies, dt=0.01, solver=exact())
        simulation.step()
        assert simulation.contacts.count == expected
    assert bodies.position[1, 0] == 2.1


def test_a_blow_is_passed_on_within_the_step():
    """A pair at relative rest is a candidate if one of the two is about to be hit: the margin is of the faster one."""
    bodies = grains([[0, 0, 0], [2.05, 0, 0], [4.1, 0, 0]], velocity=[[20.0, 0, 0], [0, 0, 0], [0, 0, 0]])
    simulation = settle(bodies, dt=0.01)
    assert contact_set(simulation.contacts, 3) == {(0, 1), (1, 2)}
    np.testing.assert_allclose(np.diff(bodies.position[:, 0]), 2.0, atol=1e-12)


@pytest.mark.parametrize("start", [0.19, 0.21, 0.25, 0.33, 0.41])
def test_head_on_from_outside_the_skin(start):
    """Two grains, or a grain and a wall, that rush at each other from just outside the lists never overlap."""
    pair = grains([[-1 - start / 2, 0, 0], [1 + start / 2, 0, 0]], velocity=[[1.0, 0, 0], [-1.0, 0, 0]])
    bounded = grains([[0, 1 + start, 0]], velocity=[[0, -1.0, 0]], walls=[belt([0.0, 1.0, 0.0])])
    together, single = (Simulation(bodies, dt=0.01, solver=exact()) for bodies in (pair, bounded))
    for _ in range(40):
        together.step()
        single.step()
        assert pair.position[1, 0] - pair.position[0, 0] >= 2.0 - 1e-12
        assert bounded.position[0, 1] - bounded.walls[0].shape.point[1] >= 1.0 - 1e-12
    assert not pair.velocity.any()
    assert bounded.velocity[0, 1] == pytest.approx(1.0)


def test_fast_wall_is_not_missed():
    """A wall that races towards a grain from far away finds it in the step in which they meet."""
    bodies = grains([[0, 10.0, 0]], 1.0, walls=[belt([0.0, 100.0, 0.0])])
    simulation = settle(bodies, dt=0.01, steps=9)  # the wall stands at y = 9 and touches
    assert bodies.position[0, 1] == pytest.approx(10.0)
    simulation.step()
    assert bodies.velocity[0, 1] == pytest.approx(100.0)


def test_turning_paddle_is_seen_in_the_first_step():
    """A plate turning about its end sweeps over a grain at its tip, also in the first step of all."""
    tip, turn, dt = 10.0, 3.0, 0.01
    drive = Drive(spin=np.array([0.0, 0.0, turn]), about=np.zeros(3))
    plate = Wall("paddle", Plate(np.array([tip / 2, 0.0, 0.0]), UP, RIGHT, (tip / 2, 1.0)), drive=drive)
    # A second grain on the far side puts the middle of the grains on the hub.
    bodies = grains([[tip - 1.0, 0.1 + 0.22, 0], [1.0 - tip, 5.0, 0]], 0.1, walls=[plate])
    assert (tip - 1.0) * turn * dt > 0.22  # the paddle reaches the grain within the step
    settle(bodies, dt=dt)
    assert bodies.velocity[0, 1] > 0.0


def test_a_plane_is_a_half_space():
    """However deep a grain lies behind a plane, it is held: it sinks no further."""
    bodies = grains([[0, -3.0, 0]], velocity=[[0, -1.0, 0]], walls=[floor()])
    simulation = settle(bodies)
    assert simulation.contacts.gap[0] == pytest.approx(-4.0)
    assert bodies.velocity[0, 1] == pytest.approx(0.0, abs=1e-14)


# Forces keep the identity of their contact


def forces_by_pair(simulation):
    contacts = simulation.contacts
    return {tuple(pair): force for pair, force in zip(contacts.pairs.tolist(), contacts.forces.copy())}


def test_forces_are_carried_over_by_identity():
    """In a column that flies sideways with its belt, solved once, the forces stay right without any further sweep.

    The travel makes the lists be built anew; a force that came to the wrong contact, or to none, would show.
    """
    n, speed = 6, 40.0
    bodies = column(n, radius=[1.0, 0.9, 1.1, 0.4, 1.0, 0.5], velocity=[speed, 0, 0], walls=[])
    bodies.walls[0].drive.velocity[0] = speed
    simulation = settle(bodies, dt=0.01)
    before = forces_by_pair(simulation)
    assert len(before) == n
    simulation.solver = Sweeps(criterion=FixedSweeps(1))
    for _ in range(30):
        simulation.step()
    assert simulation.neighbours.builds > 2
    after = forces_by_pair(simulation)
    assert after.keys() == before.keys()
    for pair, force in before.items():
        np.testing.assert_allclose(after[pair], force, rtol=1e-9, atol=1e-9)


def test_a_pair_keeps_its_order_whatever_the_skins():
    """At rest the small grain is of a finer level than the large ones, at speed, with a wide skin, of the same.

    A pair that changed its order would need a tangential force of the other sign.
    """
    bodies, dt = column(3, radius=[1.0, 0.46, 1.0], walls=[]), 0.01
    simulation = settle(bodies, dt=dt)
    neighbours, contacts = simulation.neighbours, simulation.contacts
    contacts.forces[:, 1] = 0.1 * contacts.forces[:, 0]  # along x, and so tangential
    before = forces_by_pair(simulation)
    bodies.velocity[1, 0] = 40.0
    builds = neighbours.builds
    neighbours.refresh(bodies, dt)
    assert neighbours.builds > builds
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    after = forces_by_pair(simulation)
    assert {(0, 1), (1, 2)} < after.keys() == before.keys()
    for pair, force in before.items():
        np.testing.assert_allclose(after[pair], force, rtol=1e-12)
    assert after[0, 1][0] > after[1, 2][0] > 0.0


def test_new_pairs_start_without_force():
    """Contacts that were no candidates a step ago start from zero."""
    bodies = grains([[0, 0, 0], [2.5, 0, 0]], velocity=[[10.0, 0, 0], [0, 0, 0]])
    dt = 0.01
    simulation = Simulation(bodies, dt=dt, solver=exact())
    while simulation.contacts.count == 0:
        simulation.step()
    neighbours, contacts = simulation.neighbours, simulation.contacts
    contacts.forces[:] = 5.0
    bodies.position[1, 0] += 1.0  # out of reach for a step: the force is forgotten
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    assert contacts.count == 0
    bodies.position[1, 0] -= 1.0
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    assert contacts.count == 1
    assert not contacts.forces.any()


def test_tangential_force_turns_with_the_contact():
    """R_n is kept; R_t is laid into the new tangent plane with its length kept."""
    dt = 0.01
    bodies: Bodies = grains([[0, 0, 0], [2, 0, 0]])
    neighbours, contacts = Neighbours(), Contacts()
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    contacts.forces[0] = [7.0, 0.0, 3.0, 4.0]
    n = np.array([np.cos(0.1), np.sin(0.1), 0.0])
    bodies.position[1] = 2.0 * n
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    r_n, r_t = contacts.forces[0, 0], contacts.forces[0, 1:]
    assert r_n == 7.0
    assert r_t @ n == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.norm(r_t) == pytest.approx(5.0, rel=1e-14)
    projected = np.array([0.0, 3.0, 4.0]) - (np.array([0.0, 3.0, 4.0]) @ n) * n
    np.testing.assert_allclose(np.cross(r_t, projected), 0.0, atol=1e-13)
    assert r_t @ projected > 0.0


def test_a_tangential_force_turns_at_once_in_the_plane():
    """A disk rolled to the other side of its neighbour: friction stays in the plane of the disks."""
    dt = 0.01
    bodies = grains([[0, 0, 0], [2, 0, 0]], dimension=2)
    neighbours, contacts = Neighbours(), Contacts()
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    contacts.forces[0] = [1.0, 0.0, 2.0, 0.0]
    bodies.position[1] = [np.sqrt(2.0), np.sqrt(2.0), 0.0]
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap="g_pos")
    np.testing.assert_allclose(contacts.forces[0], [1.0, -np.sqrt(2.0), np.sqrt(2.0), 0.0], atol=1e-14)


def test_materials_choose_their_friction():
    """mu comes from the table, for pairs of grains and for walls."""
    table = np.array([[0.1, 0.2, 0.3], [0.2, 0.4, 0.5], [0.3, 0.5, 0.6]])
    wall = plane([0, 0, 0], UP, material=2)
    bodies = grains([[0, 1, 0], [2, 1, 0]], material=np.array([0, 1]), friction=table, walls=[wall])
    contacts = settle(bodies).contacts
    found = {tuple(pair): mu for pair, mu in zip(contacts.pairs.tolist(), contacts.geometry[:, 6])}
    assert found == {(0, 1): 0.2, (0, 2): 0.3, (1, 2): 0.5}
