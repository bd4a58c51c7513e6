"""Coloured sweeps: colours that are free of each other, hubs, and the same bits on any number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.builders import chain, cloud, prepare, triangular
from support.kernels import sweep

from rigidgrains import theory
from rigidgrains.app import bench
from rigidgrains.contacts.contacts import Contacts
from rigidgrains.detect import pairs
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.detect.colours import COLOURS, HUB, INNER
from rigidgrains.detect.images import find_pairs
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.detect.paint import hash_of, paint
from rigidgrains.model.bodies import Bodies
from rigidgrains.reproduce.diffusion import decay
from rigidgrains.runtime import threads as in_threads
from rigidgrains.runtime.memory import Workspace
from rigidgrains.runtime.threads import set_threads
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.colouring import find_colouring
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01


def everyone(problem):
    return np.arange(problem.count, dtype=np.int32)


@pytest.fixture(scope="module")
def large():
    """A lattice with large colours, small ones and an overflow list."""
    return prepare(triangular(60, 60, mu=0.3, g=3.0), DT)


@pytest.fixture
def threads():
    """Sets the number of threads, and puts it back."""
    yield set_threads
    set_threads(None)


def assert_free_of_each_other(problem, contacts):
    met = problem.pairs[contacts].ravel()
    met = met[problem.motion[met, 6] > 0.0]
    assert len(np.unique(met)) == len(met)


@pytest.mark.parametrize("bodies", [triangular(8, 40, mu=0.3), cloud(300), chain(9)])
def test_contacts_of_a_colour_share_no_movable_body(bodies):
    """Except in the overflow list; every contact has one colour."""
    problem = prepare(bodies, 0.5)
    colouring = find_colouring(problem, everyone(problem))
    assert sorted(colouring.sequence) == list(range(problem.count))
    for k in range(colouring.count):
        contacts = colouring.sequence[colouring.start[k] : colouring.start[k + 1]]
        assert len(contacts) > 0
        if not colouring.alone[k]:
            assert_free_of_each_other(problem, contacts)


def test_a_piston_is_a_hub_and_a_fixed_wall_is_not():
    """The contacts of a wide piston, and no others, overflow. The floor has as many, and blocks no colour."""
    problem = prepare(triangular(4, 50, mu=0.3), DT)
    piston, base = problem.pairs.max(), len(problem.radius)
    assert (problem.pairs[:, 1] == piston).sum() > HUB
    assert (problem.pairs[:, 1] == base).sum() > HUB
    colouring = find_colouring(problem, everyone(problem))
    assert colouring.alone.tolist() == [False] * (colouring.count - 1) + [True]
    overflow = colouring.sequence[colouring.start[-2] :]
    np.testing.assert_array_equal(np.sort(overflow), np.flatnonzero(problem.pairs[:, 1] == piston))
    assert colouring.count <= 2 * 6 + 1


def test_no_overflow_without_hubs():
    problem = prepare(chain(9), DT)
    colouring = find_colouring(problem, everyone(problem))
    assert not colouring.alone.any()
    assert colouring.count == 2


def test_some_contacts_only():
    """A stage of the rigid criterion sweeps over a part."""
    problem = prepare(triangular(5, 5), DT)
    among = np.arange(3, 20, 2, dtype=np.int32)
    assert sorted(find_colouring(problem, among).sequence) == among.tolist()
    report = Sweeps(order="coloured", rigidity=1.0).solve(problem, np.random.default_rng(1))
    assert report.converged is None  # it was not asked: the number of sweeps was known


def test_the_order_of_colours_is_random():
    """All contacts once in each sweep; colours come in every order."""
    problem = prepare(triangular(5, 5), DT)
    order, rng = Coloured(), np.random.default_rng(1)
    order.begin(problem)
    first = set()
    for _ in range(100):
        sequence = order.sequence(rng)
        assert sorted(sequence) == list(range(problem.count))
        first.add(int(sequence[0]))
    assert len(first) == find_colouring(problem, everyone(problem)).count


@pytest.mark.parametrize("number", [1, 2, 3])
def test_threads_give_the_bits_of_a_serial_sweep(large, threads, number):
    """Ten coloured sweeps on some threads, against the plain kernel in the same sequence: equal bit by bit."""
    threads(number)
    motion, forces = large.motion.copy(), large.forces.copy()
    order, again = Coloured(worth=500), Coloured()
    order.begin(large)
    again.begin(large)
    colouring = find_colouring(large, everyone(large))
    assert np.diff(colouring.start).max() >= 500 > np.diff(colouring.start).min()
    assert colouring.alone.any()
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    try:
        for _ in range(10):
            order.sweep(large, rng)
        found = large.motion.tobytes() + large.forces.tobytes()
    finally:
        large.motion[:], large.forces[:] = motion, forces
    for _ in range(10):
        sweep(again.sequence(same), motion, large.pairs, large.geometry, forces, DT)
    assert found == motion.tobytes() + forces.tobytes()


def arranged(bodies, dt=DT, coloured=True):
    """The contact problem of a run by colours."""
    neighbours, contacts = Neighbours(), Contacts()
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt, coloured=coloured), dt, gap="g_pos")
    return contacts.problem(bodies, dt)


@pytest.mark.parametrize("bodies", [triangular(8, 40, mu=0.3), cloud(300), bench.dense_bodies(500)])
def test_rows_of_a_run_stand_colour_after_colour(bodies):
    """Free of each other within a colour, except those of pistons and hubs; the same rows as in list order."""
    problem, listed = arranged(bodies, 0.1), arranged(bodies, 0.1, coloured=False)
    by = problem.colouring
    assert listed.colouring is None
    assert by.start[-1] == problem.count
    rows = [np.hstack([each.pairs, each.geometry]) for each in (problem, listed)]
    np.testing.assert_array_equal(*(each[np.lexsort(each.T)] for each in rows))
    np.testing.assert_array_equal(by.sequence, everyone(problem))
    for k in range(by.count):
        assert by.start[k] < by.start[k + 1]
        if not by.alone[k]:
            assert_free_of_each_other(problem, by.sequence[by.start[k] : by.start[k + 1]])
    pistons = {bodies.count + w for w, wall in enumerate(bodies.walls) if wall.guided}
    for k in np.flatnonzero(by.alone):
        assert set(problem.pairs[by.start[k] : by.start[k + 1], 1]) <= pistons


def test_some_rows_of_a_run_keep_their_colours():
    """Every third row: each once, as coloured as before, none alone that was not."""
    problem = arranged(triangular(8, 40, mu=0.3))
    by, some = problem.colouring, np.arange(1, problem.count, 3, dtype=np.int32)
    part = by.of_some(some)
    np.testing.assert_array_equal(part.sequence, some)
    assert part.start[-1] == len(some)
    assert (np.diff(part.start) > 0).all()
    colour_of_row = np.repeat(np.arange(by.count), np.diff(by.start))
    for k in range(part.count):
        rows = part.sequence[part.start[k] : part.start[k + 1]]
        assert len(set(colour_of_row[rows])) == 1
        assert part.alone[k] == by.alone[colour_of_row[rows[0]]]
    assert by.of_some(everyone(problem)).start.tolist() == by.start.tolist()


def test_a_large_grain_among_small_ones_is_a_hub():
    """Its pairs are swept one after another, all others by colours."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(400, 3))
    around = 10.6 * direction / np.linalg.norm(direction, axis=1)[:, None]
    bodies = Bodies.assemble(
        dimension=3, position=np.vstack([np.zeros((1, 3)), around]), radius=np.array([10.0] + [0.5] * 400), density=1.0,
        velocity=np.vstack([np.zeros((1, 3)), -around]),
    )  # fmt: skip
    problem = arranged(bodies)
    hub, by = (problem.pairs == 0).any(axis=1), problem.colouring
    assert hub.sum() > HUB
    assert by.alone.sum() == 1
    np.testing.assert_array_equal(hub, np.repeat(by.alone, np.diff(by.start)))


def test_colours_of_a_list_hold_for_its_candidates():
    """A list is painted once; steps with other candidates go on with its colours."""
    bodies = bench.dense_bodies(2000)
    simulation = Simulation(bodies, dt=1e-3, solver=Sweeps(order="coloured", criterion=FixedSweeps(2)))
    simulation.step()
    pairs = simulation.neighbours.pairs
    painted, count = pairs.colour, simulation.contacts.count
    for _ in range(20):
        simulation.step()
    assert simulation.neighbours.pairs is pairs
    assert pairs.colour is painted
    assert simulation.contacts.count != count


def test_a_checked_sweep_is_the_same_sweep():
    """Watching changes no bit, and what is watched is right."""
    watched, plain = (prepare(triangular(5, 5, mu=0.3, g=1.0), DT) for _ in range(2))
    order, rng = Coloured(), np.random.default_rng(1)
    order.begin(watched)
    unsettled, total = order.checked_sweep(watched, rng, 0.0, 1e-9)
    order.sweep(plain, np.random.default_rng(1))
    np.testing.assert_array_equal(watched.forces, plain.forces)
    strength = np.sqrt((plain.forces**2).sum(axis=1))
    assert total == pytest.approx(strength.sum(), rel=1e-12)
    assert unsettled == (strength > 1e-9).sum()


def test_a_run_repeats_bit_by_bit():
    def bits(seed):
        simulation = Simulation(
            triangular(4, 4, mu=0.3, g=2.0), dt=DT, seed=seed, solver=Sweeps(order="coloured", max_sweeps=40)
        )
        simulation.run(steps=10)
        return simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes()

    assert bits(3) == bits(3) != bits(4)


def test_the_load_of_a_chain_arrives():
    problem = prepare(chain(20, force=3.0), DT)
    solver = Sweeps(order="coloured", criterion=LocalCriterion(1e-12), max_sweeps=100_000)
    assert solver.solve(problem, np.random.default_rng(1)).converged
    np.testing.assert_allclose(problem.forces[:, 0], 3.0, rtol=1e-9)


def test_diffusion_constant():
    """q = 3/4: of the two colours of a chain every fourth changes nothing, because it came last before."""
    q = theory.Q["Coloured"]
    values = np.array([decay(40, Coloured(), q, seed)[2] for seed in range(6)])
    assert values.mean() == pytest.approx(q, abs=0.005 * q + 3.0 * values.std(ddof=1) / np.sqrt(6.0))


def test_fixed_number_of_sweeps():
    report = Sweeps(order="coloured", criterion=FixedSweeps(7)).solve(prepare(chain(4), DT), np.random.default_rng(0))
    assert (report.sweeps, report.updates) == (7, 28)


def test_several_sweeps_at_once_have_the_bits_of_one_after_another():
    (_, one), (_, many) = bench.dense_problem(200, coloured=True), bench.dense_problem(200, coloured=True)
    for problem, solver in ((one, Sweeps(order="coloured", criterion=FixedSweeps(7))), (many, None)):
        rng = np.random.default_rng(5)
        if solver is not None:
            solver.solve(problem, rng)
        else:
            order = Coloured()
            order.begin(problem)
            for _ in range(7):
                order.sweep(problem, rng)
    assert one.forces.any()
    np.testing.assert_array_equal(one.forces, many.forces)
    np.testing.assert_array_equal(one.motion, many.motion)


def in_small_tiles(monkeypatch):
    monkeypatch.setattr(pairs, "MANY", 100)
    monkeypatch.setattr(in_threads, "WORTH", 1)
    for name, size in (("TILE", 32), ("PART", 16)):
        monkeypatch.setattr(pairs, name, size)
        monkeypatch.setattr("rigidgrains.detect.candidates." + name, size)


@pytest.fixture
def tiled(monkeypatch):
    """Spheres in tiles of 32, as if they were very many."""
    in_small_tiles(monkeypatch)
    return bench.dense_problem(600, coloured=True)[1]


def test_tiles_share_no_grain_and_every_contact_has_a_place(tiled):
    by = tiled.colouring
    assert by.inner.any()
    assert not by.inner.all()
    assert len(by.tiles) == 1 + -(-600 // 32)
    np.testing.assert_array_equal(np.sort(by.sequence), everyone(tiled))
    inner = np.concatenate([by.sequence[by.start[k] : by.start[k + 1]] for k in np.flatnonzero(by.inner)])
    assert 0.3 < len(inner) / tiled.count < 0.9
    assert (tiled.pairs[inner] // 32 == tiled.pairs[inner, :1] // 32).all()
    for k in range(by.count):
        assert_free_of_each_other(tiled, by.sequence[by.start[k] : by.start[k + 1]])
        if by.inner[k]:
            assert (by.tiles[0, k], by.tiles[-1, k]) == (by.start[k], by.start[k + 1])
            for tile, (first, last) in enumerate(zip(by.tiles[:-1, k], by.tiles[1:, k])):
                assert (tiled.pairs[by.sequence[first:last]] // 32 == tile).all()
        else:
            rows = by.sequence[by.start[k] : by.start[k + 1]]
            assert (tiled.pairs[rows, 0] // 32 != tiled.pairs[rows, 1] // 32).all()


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("some", [False, True])
def test_tiles_have_the_bits_of_a_serial_sweep(tiled, threads, number, some):
    among = np.flatnonzero(np.random.default_rng(3).random(tiled.count) < 0.7).astype(np.int32) if some else None
    order, serial = Coloured(worth=0), Coloured()
    for one in (order, serial):
        one.begin(tiled, among)
    assert (tiled.colouring if among is None else tiled.colouring.of_some(among)).inner.any()
    motion, forces = tiled.motion.copy(), tiled.forces.copy()
    threads(number)
    order.sweeps(tiled, np.random.default_rng(1), 4)
    rng = np.random.default_rng(1)
    for _ in range(4):
        sweep(serial.sequence(rng), motion, tiled.pairs, tiled.geometry, forces, tiled.dt)
    np.testing.assert_array_equal(tiled.forces, forces)
    np.testing.assert_array_equal(tiled.motion, motion)
    assert forces.any()


def test_pairs_for_which_a_tile_has_no_colour_left_go_to_the_last_list():
    """A grain that meets 32 others of its tile: a hub has more, and a tile has 31 colours."""
    grains, met = 40, INNER + 1
    start = np.concatenate([[0], np.full(grains, met)]).astype(np.int32)
    partner, colour = np.arange(1, met + 1, dtype=np.int32), np.empty(met, np.int8)
    image, names = np.zeros(met, np.int8), np.arange(grains)
    for tile, left in ((grains - 1, 1), (grains, 0)):
        paint(start, partner, image, names, tile, Workspace(), colour)
        assert (colour == COLOURS).sum() == left
        assert len(np.unique(colour)) == met


def painted_in_rounds(pairs, names, tile):
    """Colours of pairs across tiles as several processes or a GPU find them: all that come first at both at once."""
    owner = np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))
    across = np.flatnonzero(owner // tile != pairs.partner // tile)
    ends = np.column_stack([owner, pairs.partner])[across]
    key = np.array([hash_of(*sorted(names[pair]), 0) for pair in ends])
    colour, taken, left = {}, [set() for _ in names], np.arange(len(ends))
    while len(left):
        first = np.full(len(names), np.iinfo(np.int64).max)
        for end in ends[left].T:
            np.minimum.at(first, end, key[left])
        wins = (first[ends[left]] == key[left, None]).all(axis=1)
        assert wins.any()
        for p in left[wins]:
            i, j = ends[p]
            free = next(k for k in range(INNER, COLOURS) if k not in taken[i] | taken[j])
            taken[i].add(free)
            taken[j].add(free)
            colour[int(across[p])] = free
        left = left[~wins]
    return colour


@pytest.mark.parametrize("number", [1, 3])
def test_colours_across_tiles_are_those_of_rounds_without_a_list(monkeypatch, threads, number):
    """Whatever the order of the list, and whatever number the grains have in memory."""
    in_small_tiles(monkeypatch)
    threads(number)
    bodies = bench.dense_bodies(400)
    names = np.random.default_rng(4).permutation(bodies.count)
    found = find_pairs(bodies.position, 1.1 * bodies.radius, None)
    colour = found.painted(32, names, Workspace())
    rounds = painted_in_rounds(found, names, 32)
    assert 0.1 < len(rounds) / len(colour) < 0.9
    assert {k: int(colour[k]) for k in rounds} == rounds


def test_hashes_of_pairs_and_their_images_differ():
    """Neighbours by number, as they are in memory; each bit is set in half of them."""
    hashes = np.array([hash_of(a, a + b, image) for a in range(300) for b in range(30) for image in range(9)])
    assert len(np.unique(hashes)) == len(hashes)
    assert (hashes >= 0).all()
    share = (hashes[:, None] >> np.arange(63) & 1).mean(axis=0)
    assert np.abs(share - 0.5).max() < 6.0 * 0.5 / np.sqrt(len(hashes))


@pytest.mark.parametrize("solver", [Sweeps(order="coloured", criterion=FixedSweeps(5)), AcceleratedSweeps()])
def test_a_run_in_tiles_has_the_same_bits_on_any_number_of_threads(monkeypatch, threads, solver):
    in_small_tiles(monkeypatch)
    found = set()
    for number in (1, 3):
        threads(number)
        simulation = Simulation(bench.dense_bodies(600), dt=1e-2, solver=replace(solver, order=Coloured(worth=0)))
        simulation.run(steps=10)
        assert simulation.contacts.colouring.inner.any()
        assert simulation.last_solve.converged is not False
        found.add(simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes())
    assert len(found) == 1
