"""Periodic cells: pairs across faces, forces that cross them, restart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from support.builders import exact, grains, plane
from support.cells import box, by_brute_force, gas, replicas

from rigidgrains import Frame, Trajectory, TrajectoryWriter, resume
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.detect.images import find_pairs, wrap
from rigidgrains.model.cell import IMAGES, Cell, encode, narrowest
from rigidgrains.simulation.figures import overlaps, potential_energy
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps


def as_set(pairs):
    i = np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))
    listed = [(int(a), int(b), tuple(int(x) for x in IMAGES[k])) for a, b, k in zip(i, pairs.partner, pairs.image)]
    assert len(listed) == len(set(listed))
    return set(listed)


# Detection


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 8.0])
def test_pairs_against_a_periodic_tree(dimension, ratio):
    """The same pairs as a k-d tree of a periodic box, each once."""
    rng = np.random.default_rng(dimension)
    n, side = 300, 20.0 if dimension == 2 else 9.0
    radius = np.where(rng.random(n) < 0.02, 0.25 * ratio, rng.uniform(0.2, 0.4, n))
    position = np.zeros((n, 3))
    position[:, :dimension] = rng.uniform(0.0, side, (n, dimension))
    cell = box(side, side, None if dimension == 2 else side)
    found = as_set(find_pairs(position, radius, cell))
    tree = cKDTree(position[:, :dimension], boxsize=side)
    pairs = tree.query_pairs(2.0 * radius.max(), output_type="ndarray")
    away = position[pairs[:, 1]] - position[pairs[:, 0]]
    away -= side * np.rint(away / side)
    near = np.linalg.norm(away, axis=1) < radius[pairs].sum(axis=1)
    assert {(i, j) for i, j, _ in found} == {(int(min(p)), int(max(p))) for p in pairs[near]}
    assert len({k for _, _, k in found}) > 3  # across faces too


@pytest.mark.parametrize("seed", range(6))
def test_pairs_in_leaning_and_tiny_cells(seed):
    """Every image counts on its own, whatever the lean, also of positions beyond the faces."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    edges = rng.uniform(4.0, 7.0, 3)
    vectors = np.diag(edges)
    vectors[1, 0], vectors[2, 0], vectors[2, 1] = rng.uniform(-0.5, 0.5, 3) * edges[[0, 0, 1]]
    periodic = rng.random(3) < 0.7
    cell = Cell(vectors, rng.normal(size=3), periodic)
    position = cell.origin + rng.uniform(-0.1, 1.1, (n, 3)) @ vectors
    radius = rng.uniform(0.4, 1.0, n)
    assert as_set(find_pairs(position, radius, cell)) == by_brute_force(position, radius, cell)


def test_skins_wider_than_the_cell():
    """Spheres that reach their own images: these are no pairs, and each image of another grain counts on its own."""
    position, cell = np.array([[0.2, 0.3, 0.0], [1.5, 1.0, 0.0], [2.6, 2.9, 0.0]]), box(3.0, 3.5)
    radius = np.array([1.9, 1.8, 1.7])
    found = find_pairs(position, radius, cell)
    assert as_set(found) == by_brute_force(position, radius, cell)
    assert found.start[-1] == len(found.partner)


def test_two_grains_touch_through_two_images():
    """In a cell of two diameters a pair has two contacts at a time, each with its own force, over many steps."""
    bodies = grains([[0.0, 0, 0], [2.0, 0, 0]], dimension=2, cell=box(4.0, 6.0), friction=0.5)
    bodies.force = np.zeros((2, 3))
    bodies.velocity[1, 0] = 1e-3
    simulation = Simulation(bodies, dt=1e-2, solver=exact())
    for _ in range(3):
        simulation.step()
    contacts = simulation.contacts
    assert contacts.pairs.tolist() == [[0, 1], [0, 1]]
    assert sorted(IMAGES[contacts.image][:, 0]) == [-1, 0]
    np.testing.assert_allclose(np.abs(contacts.normal[:, 0]), 1.0)
    np.testing.assert_allclose(bodies.velocity[:, 0], 5e-4, atol=1e-15)  # they go on together


def test_wrapping_keeps_forces():
    """A compressed row drifts through the faces: forces carried over lose nothing when grains are wrapped."""
    n = 5
    bodies = grains([[2.0 * k, 0, 0] for k in range(n)], 1.0 + 1e-9, dimension=2, cell=box(2.0 * n, 6.0), friction=0.5)
    bodies.velocity[:] = [0.7, 0.45, 0.0]
    simulation = Simulation(bodies, dt=0.05, solver=Sweeps(criterion=FixedSweeps(1)))
    simulation.step()
    assert simulation.contacts.count == n
    simulation.contacts.forces[:] = [[3.0 + k, 0, 0.5, 0] for k in range(n)]
    force = {
        tuple(pair): row for pair, row in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces.copy())
    }
    crossed = 0
    for _ in range(300):
        before = bodies.image.copy()
        simulation.neighbours.refresh(bodies, simulation.dt)
        crossed += int((bodies.image != before).any())
        candidates = find_candidates(bodies, simulation.neighbours, simulation.dt)
        simulation.contacts.gather(bodies, simulation.neighbours, candidates, simulation.dt, gap="g_pos")
        now = {tuple(pair): row for pair, row in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces)}
        assert now.keys() == force.keys()
        for pair, row in now.items():
            np.testing.assert_allclose(row, force[pair], rtol=1e-9)
        bodies.position += simulation.dt * bodies.velocity
    assert crossed >= n
    assert (bodies.image[:, :2] == 1).all()
    np.testing.assert_allclose(bodies.unwrapped[:, :2] - bodies.unwrapped[0, :2], 2.0 * np.outer(range(n), [1, 0]))


@pytest.mark.parametrize("steps", range(3))
def test_straightening_keeps_images(steps):
    """Shorter vectors for the same images: every pair stays where it was."""
    rng = np.random.default_rng(steps)
    vectors = np.array([[5.0, 0, 0], [3.1, 5.0, 0], [-2.9, 7.0, 6.0]])
    bodies = grains(rng.uniform(-9.0, 9.0, (20, 3)), 1.0, cell=Cell(vectors))
    bodies.cell.wrap(bodies.position)
    real = bodies.unwrapped.copy()
    listed = find_pairs(bodies.position, bodies.radius, bodies.cell)
    i = np.repeat(np.arange(20), np.diff(listed.start))
    away = bodies.position[listed.partner] + bodies.shifts[listed.image] - bodies.position[i]
    wrap(bodies, listed)
    assert np.abs(bodies.cell.vectors[np.tril_indices(3, -1)]).max() <= 3.0
    known = listed.image >= 0
    now = bodies.position[listed.partner] + bodies.shifts[listed.image] - bodies.position[i]
    np.testing.assert_allclose(now[known], away[known], atol=1e-12)
    np.testing.assert_allclose(bodies.unwrapped, real, atol=1e-12)
    assert known.sum() > 0.9 * len(known)


def test_codes_are_one_byte():
    assert encode(IMAGES.astype(np.int32)).tolist() == list(range(len(IMAGES)))
    assert not IMAGES[0].any()
    assert encode(np.array([[3, 0, 0]], np.int32))[0] == -1


# Physics


@pytest.mark.parametrize(("dimension", "copies"), [(2, (2, 2, 1)), (3, (2, 1, 2))])
def test_a_cell_is_like_its_replicas(dimension, copies):
    """A cell and a cell made of copies of it move alike: faces are nowhere."""
    n, side = (40, 10.0) if dimension == 2 else (30, 6.0)
    one = gas(n, side=side, dimension=dimension, mu=0.4, speed=2.0)
    many = replicas(one, copies)
    first, second = (Simulation(bodies, dt=0.01, solver=exact(order="ordered")) for bodies in (one, many))
    met = 0
    for _ in range(60):
        first.step()
        second.step()
        met += int((first.contacts.forces[:, 0] > 0.0).sum())
    assert met > 20
    velocity = many.velocity.reshape(-1, n, 3)
    np.testing.assert_allclose(velocity, np.broadcast_to(one.velocity, velocity.shape), atol=1e-7)
    start = many.unwrapped.reshape(-1, n, 3)[0]
    np.testing.assert_allclose(start, one.unwrapped, atol=1e-7)


@pytest.mark.parametrize("dimension", [2, 3])
def test_momentum_stays_and_energy_falls(dimension):
    """A gas that crosses its faces again and again keeps its momentum to rounding and gains no energy."""
    bodies = gas(60, side=12.0 if dimension == 2 else 7.0, dimension=dimension, speed=3.0)
    simulation = Simulation(bodies, dt=0.02, solver=Sweeps())
    energy = [0.5 * (bodies.mass[:, None] * bodies.velocity**2).sum()]
    for _ in range(200):
        simulation.step()
        energy.append(0.5 * (bodies.mass[:, None] * bodies.velocity**2).sum())
    assert np.abs(bodies.image).max() >= 1
    assert np.abs((bodies.mass[:, None] * bodies.velocity).sum(axis=0)).max() < 1e-12 * bodies.mass.sum()
    assert energy[-1] < energy[0]
    assert overlaps(bodies, simulation.contacts).max(initial=0.0) < 1e-2


def test_a_collision_across_a_face_is_that_in_the_open():
    """Two grains that meet through a face do what they do without one."""
    apart = grains([[0.0, 0, 0], [2.5, 0.3, 0]], velocity=[[1.0, 0, 0], [-2.0, 0, 0]], spin=[[0, 0, 1], [0, 0, 3]],
                   dimension=2, friction=0.3)  # fmt: skip
    across = grains([[9.0, 0, 0], [1.5, 0.3, 0]], velocity=[[1.0, 0, 0], [-2.0, 0, 0]], spin=[[0, 0, 1], [0, 0, 3]],
                    dimension=2, friction=0.3, cell=box(10.0, 10.0))  # fmt: skip
    for bodies in (apart, across):
        simulation = Simulation(bodies, dt=0.01, solver=exact())
        for _ in range(50):
            simulation.step()
    np.testing.assert_allclose(across.velocity, apart.velocity, atol=1e-12)
    np.testing.assert_allclose(across.spin, apart.spin, atol=1e-12)
    moved = across.unwrapped - apart.position
    np.testing.assert_allclose(moved[1] - moved[0], [-10.0, 0, 0], atol=1e-12)


def test_potential_energy_knows_how_far_grains_fell():
    """Gravity along a periodic direction: falling through the face is falling on."""
    bodies = grains([[0, 0, 0]], 1.0, 2.0, gravity=[0.0, -10.0, 0.0], dimension=2, cell=box(5.0, 5.0))
    simulation = Simulation(bodies, dt=0.01)
    for _ in range(200):
        simulation.step()
    assert bodies.image[0, 1] <= -3
    kinetic = 0.5 * 2.0 * bodies.velocity[0, 1] ** 2
    assert potential_energy(bodies) == pytest.approx(-kinetic * (1 + 1 / 200), rel=1e-9)  # implicit Euler


def test_walls_end_a_direction_that_is_not_periodic():
    """Grains on a floor in a cell that is periodic sideways: the floor carries their weight."""
    cell = Cell(np.diag([6.0, 20.0, 1.0]), periodic=[True, False, False])
    bodies = grains([[0.0, 1, 0], [2, 1, 0], [4, 1, 0], [1, 1 + 3**0.5, 0], [3, 1 + 3**0.5, 0], [5, 1 + 3**0.5, 0]],
                    dimension=2, gravity=[0, -10.0, 0], walls=[plane([0, 0, 0], [0, 1, 0])], cell=cell)  # fmt: skip
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    for _ in range(5):
        simulation.step()
    held = simulation.contacts.force[simulation.contacts.wall_rows[0]].sum(axis=0)
    np.testing.assert_allclose(held, [0, -60.0, 0], atol=1e-6)


# Files


@pytest.mark.parametrize("solver", [Sweeps(), AcceleratedSweeps()])
def test_resume_to_the_bit(tmp_path, solver):
    """Stopped and resumed in a cell: the same bits as straight on, and frames that know the cell."""
    straight = Simulation(gas(seed=3, speed=4.0), dt=0.02, solver=solver, seed=5)
    straight.run(steps=40)
    parted = Simulation(gas(seed=3, speed=4.0), dt=0.02, solver=solver, seed=5)
    parted.observe(TrajectoryWriter(tmp_path / "gas.vtkhdf"), every=10)
    parted.run(steps=23)
    resumed = resume(tmp_path / "gas.vtkhdf")
    resumed.run(steps=17)
    for name in ("position", "motion", "image"):
        assert np.array_equal(getattr(resumed.bodies, name), getattr(straight.bodies, name))
    assert np.array_equal(resumed.contacts.forces, straight.contacts.forces)
    assert np.array_equal(resumed.contacts.image, straight.contacts.image)


def test_frames_know_the_cell(tmp_path):
    bodies = gas(seed=3, speed=4.0)
    simulation = Simulation(bodies, dt=0.02)
    simulation.observe(TrajectoryWriter(tmp_path / "gas.vtkhdf"), every=10)
    simulation.run(steps=60)
    live = Frame.of(simulation)
    with Trajectory(tmp_path / "gas.vtkhdf") as trajectory:
        for frame in (live, trajectory[-1]):
            assert np.array_equal(frame.cell, bodies.cell.vectors)
            assert np.array_equal(frame.cell_origin, bodies.cell.origin)
            assert frame.cell_periodic.tolist() == [True, True, False]
            assert np.array_equal(frame.image, bodies.image)
            rows = frame.contacts
            away = frame.position[rows.pair[:, 1]] + rows.image @ frame.cell - frame.position[rows.pair[:, 0]]
            v = frame.velocity[rows.pair[:, 1]] - frame.velocity[rows.pair[:, 0]]
            before = np.linalg.norm(away - frame.dt * v, axis=1) - frame.radius[rows.pair].sum(axis=1)
            np.testing.assert_allclose(before, rows.gap, atol=1e-12)
        assert trajectory[0].image.any() == 0
        assert len({frame.image.tobytes() for frame in trajectory}) > 1


@given(st.lists(st.floats(-30.0, 30.0), min_size=3, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_the_narrowest_width_is_that_of_the_straightened_cell(leans, periodic):
    vectors = [[3.0, 0.0, 0.0], [leans[0], 4.0, 0.0], [leans[1], leans[2], 5.0]]
    cell = Cell(np.array(vectors), periodic=np.array(periodic))
    width = narrowest(vectors, periodic)
    cell.straighten()
    assert width == pytest.approx(cell.widths[cell.periodic].min(initial=np.inf), rel=1e-12)


def test_a_cell_that_leans_beyond_all_numbers():
    """Whole numbers of vectors are taken away when it is straightened: they must be some."""
    with pytest.raises(ValueError, match=r"lean over more than 10000 of each other; take whole ones away"):
        Cell(np.array([[0.02, 0, 0], [1e8, 0.02, 0], [0, 0, 1]]))
    steep = Cell(np.array([[1.0, 0, 0], [-9000.25, 1.0, 0], [3e3, 7e3, 1.0]]))
    turned = steep.straighten()
    assert steep.vectors == pytest.approx(np.array([[1, 0, 0], [-0.25, 1, 0], [0, 0, 1]]), abs=1e-6)
    assert turned.tolist()[1] == [-9000, 1, 0]
