"""Grains of other shapes in motion, against exact solutions: slopes, towers, arches, rocking, free spin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.shapes import arch, bodies_of, floor, strict, tilted_block

from rigidgrains import Simulation
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.columns import S, V
from rigidgrains.model.turning import spin_matrices
from rigidgrains.runtime.threads import get_threads, set_threads
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.simulation.figures import kinetic_energy, overlaps

G = 9.81


@pytest.mark.parametrize(("lengths", "residual"), [((1.0, 1.0), 1e-8), ((1.0, 1.0, 1.0), 1e-10)])
def test_a_block_stands_below_the_critical_slope_and_slides_above(lengths, residual):
    """tan a = mu (1 -+ 1e-6); sliding: g t^2 (sin a - mu cos a)/2."""
    mu, time = 0.5, 0.3
    for factor in (1.0 - 1e-6, 1.0 + 1e-6):
        slope = math.atan(mu * factor)
        bodies, down = tilted_block(lengths, slope, mu)
        start = bodies.position.copy()
        simulation = Simulation(bodies, dt=1e-3, solver=strict(residual))
        simulation.run(until=time)
        way = float((bodies.position - start)[0] @ down)
        # implicit steps: v of the end of each step, so t (t + dt) in place of t^2
        expected = 0.5 * G * time * (time + 1e-3) * (math.sin(slope) - mu * math.cos(slope))
        assert simulation.contacts.count == (2 if len(lengths) == 2 else 4)
        if factor > 1.0:
            assert way == pytest.approx(expected, rel=0.01)
        else:
            assert abs(way) < 0.01 * abs(expected)


def test_a_block_tips_where_its_weight_leaves_its_base():
    width, height = 0.5, 1.0
    for factor, tips in ((1.0 - 1e-4, False), (1.0 + 1e-4, True)):
        slope = math.atan(width / height * factor)
        bodies, _ = tilted_block((width, height), slope, 1.0)
        Simulation(bodies, dt=1e-3, solver=strict()).run(until=1.0)
        assert (abs(bodies.orientation[0] - slope) > 1e-4) == tips


@pytest.mark.parametrize(("dimension", "points"), [(2, 2), (3, 4)])
def test_a_tower_of_sharp_blocks_stays_where_it_is(dimension, points):
    """All corners of every joint, and no drift."""
    n = 10
    position = np.zeros((n, 3))
    position[:, dimension - 1] = 0.5 + np.arange(n)
    up = np.eye(3)[dimension - 1]
    bodies = bodies_of(build.box([1.0] * dimension), position, walls=[floor(up)])
    simulation = Simulation(bodies, dt=1e-3, solver=strict())
    for _ in range(100):
        simulation.step()
        assert simulation.contacts.count == points * n
    assert np.abs(bodies.position - position).max() < 1e-8
    weight = n * G
    assert simulation.contacts.force[-points:].sum(axis=0) == pytest.approx(-weight * up, abs=1e-4 * weight)


@pytest.mark.parametrize(
    ("thickness", "friction", "stands"), [(0.115, 0.6, True), (0.1, 0.6, False), (0.22, 0.29, False)]
)
def test_an_arch_stands_if_it_is_thick_and_rough_enough(thickness, friction, stands):
    """Critical: t/R = 0.1075 (Milankovitch), mu = 0.3092 (Cocchetti & Rizzi 2020); 27 blocks, so well beside these."""
    bodies = arch(thickness, friction, 27)
    start = bodies.position.copy()
    Simulation(bodies, dt=1e-3, solver=strict(1e-7)).run(until=0.25)
    moved = np.abs(bodies.position - start).max()
    assert moved < 1e-6 if stands else moved > 5e-3


def test_a_rocking_block_loses_what_housner_says():
    """Spin after over before the impact on the other corner: 1 - 3/2 sin^2(a), less two steps of gravity."""
    width, height, lean, spin, dt = 0.3, 1.0, -0.01, 0.3, 1e-4
    c, s = math.cos(lean), math.sin(lean)
    lever = np.array([-0.5 * c * width - 0.5 * s * height, -0.5 * s * width + 0.5 * c * height, 0.0])
    bodies = bodies_of(
        build.box([width, height]), [lever + 0.5 * width * np.eye(3)[0]], [lean], walls=[floor()], friction=5.0,
        spin=np.array([[0.0, 0.0, spin]]), velocity=np.cross([0.0, 0.0, spin], lever),
    )  # fmt: skip
    simulation, history = Simulation(bodies, dt=dt, solver=strict(1e-10)), []
    for _ in range(400):
        simulation.step()
        history.append(bodies.spin[0, 2])
    hit = int(np.argmin(np.diff(history)))
    ratio = history[hit + 3] / history[hit - 1]
    assert ratio == pytest.approx(1.0 - 1.5 * math.sin(math.atan(width / height)) ** 2, abs=40.0 * dt)


@pytest.mark.parametrize("sides", [4, 5, 6, 9])
def test_a_rolling_polygon_loses_spin_at_every_corner(sides):
    """Momentum about the corner that hits is kept: (I + m R^2 cos(2 pi/n))/(I + m R^2), 11/17 of a hexagon."""
    dt, lean, spin, half = 2e-5, 1e-3, -0.4, math.pi / sides
    shape = build.polygon(sides)
    corner = shape.parts[0].vertices[0] / shape.scale
    place = np.linalg.norm(corner) * np.array([math.sin(half - lean), math.cos(half - lean), 0.0])  # above that corner
    turn = math.atan2(-place[1], -place[0]) - math.atan2(corner[1], corner[0])
    bodies = bodies_of(
        shape, [place], [turn], walls=[floor()], friction=5.0, spin=np.array([[0.0, 0.0, spin]]),
        velocity=np.cross([0.0, 0.0, spin], place),
    )  # fmt: skip
    simulation, history = Simulation(bodies, dt=dt, solver=strict(1e-10)), []
    for _ in range(200):
        simulation.step()
        history.append(bodies.spin[0, 2])
    hit = int(np.argmax(np.diff(history)))
    gains = history[hit - 2] - history[hit - 3], history[hit + 5] - history[hit + 4]  # by gravity, in a step
    ratio = (history[hit + 4] - 4.0 * gains[1]) / (history[hit - 2] + 2.0 * gains[0])
    inertia = (2.0 + math.cos(2.0 * half)) / 6.0  # over m R^2
    assert ratio == pytest.approx((inertia + math.cos(2.0 * half)) / (inertia + 1.0), abs=1e-3)


def test_free_spin_about_the_middle_axis_keeps_momentum_and_energy():
    """Unstable: it turns over and over. 2000 steps of 0.03 rad."""
    bodies = bodies_of(
        build.box([1.0, 2.0, 3.0]), [[0.0, 0.0, 0.0]], gravity=(0.0, 0.0, 0.0), spin=np.array([[1e-2, 1.0, 1e-2]])
    )

    def momentum():
        return bodies.mass[0] * spin_matrices(bodies, inverse=True)[0] @ bodies.motion[0, S]

    before, energy = momentum(), kinetic_energy(bodies)
    simulation, least = Simulation(bodies, dt=0.03), 1.0
    for _ in range(2000):
        simulation.step()
        _, x, _, z = bodies.orientation[0]
        least = min(least, 1.0 - 2.0 * (x * x + z * z))
    assert least < -0.9  # its middle axis did turn over
    np.testing.assert_allclose(momentum(), before, rtol=0.0, atol=1e-12 * np.linalg.norm(before))
    assert kinetic_energy(bodies) == pytest.approx(energy, rel=1e-11)


def test_disks_of_a_catalogue_move_as_disks_do():
    """A point core is a disk: the same trajectories to rounding, through another kind of contact."""
    rng = np.random.default_rng(5)
    position = np.zeros((20, 3))
    position[:, 0], position[:, 1] = (
        np.tile(np.arange(5), 4) * 0.024 + 0.012,
        np.repeat(np.arange(4), 5) * 0.024 + 0.012,
    )
    radius, velocity = rng.uniform(0.006, 0.01, 20), np.zeros((20, 3))
    velocity[:, :2] = rng.normal(0.0, 0.2, (20, 2))
    found = []
    for catalogue in (None, Catalogue.of({"disk": build.capsule(1.0, dimension=2)})):
        walls = [floor(), floor((1.0, 0.0, 0.0), name="left"), floor((-1.0, 0.0, 0.0), (0.12, 0.0, 0.0), name="right")]
        bodies = Bodies.assemble(
            dimension=2, position=position, radius=radius, density=2500.0, velocity=velocity, walls=walls,
            gravity=np.array([0.0, -G, 0.0]), friction=0.4, catalogue=catalogue,
        )  # fmt: skip
        Simulation(bodies, dt=1e-3, solver=strict(1e-13)).run(steps=60)
        found.append((bodies.position, bodies.velocity, bodies.spin))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * max(1.0, np.abs(other).max()))


def box_of_pentagons(n=40, seed=2):
    rng, side = np.random.default_rng(seed), 0.03
    shape = build.polygon(5, rounding=0.05)
    columns = 8
    position = np.zeros((n, 3))
    position[:, 0], position[:, 1] = side * (np.arange(n) % columns + 0.5), side * (np.arange(n) // columns + 0.5)
    width = columns * side
    walls = [floor(), floor((1.0, 0.0, 0.0), name="left"), floor((-1.0, 0.0, 0.0), (width, 0.0, 0.0), name="right")]
    return Bodies.assemble(
        dimension=2, position=position, radius=np.full(n, 0.01), density=2500.0, walls=walls, friction=0.4,
        gravity=np.array([0.0, -G, 0.0]), catalogue=Catalogue.of({"pentagon": shape}),
        orientation=rng.uniform(0.0, 2.0 * np.pi, n), spin=rng.normal(0.0, 5.0, (n, 1)) * [0.0, 0.0, 1.0],
    )  # fmt: skip


def test_a_falling_heap_neither_sinks_in_nor_gains_energy():
    bodies = box_of_pentagons()
    simulation = Simulation(bodies, dt=5e-4)
    while simulation.time < 0.8:
        simulation.step()
        assert simulation.contacts.deepest < 4e-3 * 0.01
    assert kinetic_energy(bodies) < 1e-6
    assert overlaps(bodies, simulation.contacts).max() < 2e-3 * 0.01
    weight = float(bodies.mass.sum()) * G
    on_floor = simulation.contacts.force[simulation.contacts.wall_rows[0]].sum(axis=0)
    on_sides = simulation.contacts.force[simulation.contacts.wall_rows[1].start :].sum(axis=0)
    assert -(on_floor + on_sides)[1] == pytest.approx(weight, rel=1e-3)


def test_threads_and_new_numbers_change_no_bit_and_little():
    """Any number of threads: the same bits. Renumbered grains: forces find their contacts again."""
    kept, results = get_threads(), []
    try:
        for threads in (1, 2):
            set_threads(threads)
            bodies = box_of_pentagons()
            Simulation(bodies, dt=1e-3).run(steps=80)
            results.append((bodies.position, bodies.motion))
    finally:
        set_threads(kept)
    for one, other in zip(*results):
        np.testing.assert_array_equal(one, other)


def test_renumbered_grains_keep_their_forces():
    from rigidgrains.simulation.sorting import renumber_bodies, renumber_contacts, renumber_lists

    bodies = box_of_pentagons()
    simulation = Simulation(bodies, dt=1e-3)
    simulation.run(until=0.6)
    sweeps = simulation.last_solve.sweeps
    rows = np.random.default_rng(0).permutation(bodies.count)
    number = np.empty_like(rows)
    number[rows] = np.arange(len(rows))
    rows, number = rows.astype(np.int32), number.astype(np.int32)
    renumber_contacts(simulation.contacts, number, 2)
    renumber_lists(simulation.neighbours, number, rows)
    renumber_bodies(bodies, number, rows)
    before = np.sort(simulation.contacts.forces[:, 0])
    simulation.step()
    assert simulation.last_solve.sweeps <= max(sweeps, 20)
    after = np.sort(simulation.contacts.forces[:, 0])
    np.testing.assert_allclose(after[-20:], before[-20:], rtol=0.02)


def test_a_piston_presses_with_its_load():
    """Guided along its normal: friction cannot carry it sideways, in 2D and 3D."""
    from rigidgrains.model.shapes import Plane
    from rigidgrains.model.walls import Wall

    for dimension in (2, 3):
        up = np.eye(3)[dimension - 1]
        lid = Wall("lid", Plane(1.0 * up, -up), mass=3.0, load=20.0)
        bodies = bodies_of(
            build.box([1.0] * dimension), [0.5 * up], walls=[floor(up), lid], friction=0.5,
            velocity=np.array([0.05, 0.0, 0.0]),
        )  # fmt: skip
        simulation = Simulation(bodies, dt=1e-3, solver=strict(1e-10))
        simulation.run(steps=50)
        below, above = (simulation.contacts.force[rows].sum(axis=0) for rows in simulation.contacts.wall_rows)
        assert above @ up == pytest.approx(20.0 + 3.0 * G, rel=1e-6)
        assert -below @ up == pytest.approx(20.0 + 4.0 * G, rel=1e-6)
        assert np.abs(bodies.motion[bodies.count + 1, V]).max() < 1e-9
        assert np.linalg.norm(bodies.velocity) < 1e-9  # both sides rub until it rests


def test_grains_in_a_periodic_cell_meet_across_its_faces():
    from rigidgrains.model.cell import Cell

    cell = Cell(np.diag([4.0, 4.0, 1.0]), np.zeros(3), np.array([True, False, False]))
    bodies = bodies_of(
        build.box([1.0, 1.0]), [[0.3, 1.0, 0.0], [3.7, 2.0, 0.0]], [0.0, 0.0], gravity=(0.0, 0.0, 0.0), friction=0.3,
        velocity=np.array([[0.2, 0.0, 0.0], [0.2, -0.5, 0.0]]), cell=cell,
    )  # fmt: skip
    simulation, met = Simulation(bodies, dt=1e-2, solver=strict()), False
    for _ in range(150):
        simulation.step()
        met |= bool(((simulation.contacts.image != 0) & (simulation.contacts.forces[:, 0] > 0.0)).any())
    assert (bodies.position[:, 0] >= 0.0).all()
    assert (bodies.position[:, 0] <= 4.0).all()
    np.testing.assert_allclose(bodies.velocity.sum(axis=0), [0.4, -0.5, 0.0], atol=1e-12)
    assert bodies.velocity[0, 1] < -0.1  # it was hit
    assert met
    assert simulation.contacts.deepest < 1e-9


def test_a_square_slides_in_a_spinning_drum_where_forces_balance():
    """Rotating walls lend a surface element to each vertex. Both corners slide; N_1, N_2 and the slope by statics."""
    from scipy.optimize import fsolve

    from rigidgrains.model.shapes import Cylinder
    from rigidgrains.model.walls import Drive, Wall

    mu, side = 0.3, 0.2
    half = math.asin(0.5 * side)
    centre = math.cos(half) - 0.5 * side  # distance from the axis

    def balance(unknown):
        first, second, slope = unknown
        force, torque = np.array([0.0, -1.0]), -centre * math.sin(slope)  # of the weight, about the axis
        for n, angle in ((first, slope - half), (second, slope + half)):
            out = np.array([math.sin(angle), -math.cos(angle)])
            force = force - n * out + mu * n * np.array([-out[1], out[0]])
            torque += mu * n
        return *force, torque

    _, _, slope = fsolve(balance, (0.5, 0.5, 0.3))
    drum = Wall("drum", Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0, True, math.inf))
    drum.drive = Drive(spin=np.array([0.0, 0.0, 0.5]))
    place = centre * np.array([[math.sin(slope), -math.cos(slope), 0.0]])
    bodies = bodies_of(build.box([side, side]), place, [slope], walls=[drum], friction=mu)
    simulation = Simulation(bodies, dt=2e-3, solver=strict())
    simulation.run(until=2.0)
    assert math.atan2(bodies.position[0, 0], -bodies.position[0, 1]) == pytest.approx(slope, abs=1e-4)
    assert simulation.contacts.deepest < 1e-6


def test_a_block_rebounds_at_every_corner_that_hits():
    """Flat on the floor with e times its speed; on one corner with e times the speed of that corner, and turning."""
    from rigidgrains.laws import Restitution

    e, speed = 0.6, 1.0
    for lean, expected in ((0.0, e * speed), (0.5, None)):
        bodies = bodies_of(
            build.box([0.2, 0.2]), [[0.0, 0.15, 0.0]], [lean], walls=[floor()], friction=0.0, gravity=(0.0, 0.0, 0.0),
            velocity=np.array([0.0, -speed, 0.0]), laws=[Restitution(np.array([[e]]))],
        )  # fmt: skip
        simulation = Simulation(bodies, dt=1e-3, solver=strict(1e-12))
        energy = kinetic_energy(bodies)
        simulation.run(steps=60)
        assert kinetic_energy(bodies) < energy
        if expected is not None:
            assert bodies.velocity[0, 1] == pytest.approx(expected, rel=1e-9)
            assert abs(bodies.spin[0, 2]) < 1e-9
            continue
        # the corner that hits, at the lever (x, y): m dv = P, I dw = x P, and v + w x = e speed after
        corner = 0.1 * math.sqrt(2.0) * np.array([math.cos(lean - 0.75 * math.pi), math.sin(lean - 0.75 * math.pi)])
        gyration = 0.2**2 / 6.0
        blow = (1.0 + e) * speed / (1.0 + corner[0] ** 2 / gyration)
        assert bodies.velocity[0, 1] == pytest.approx(blow - speed, rel=1e-9)
        assert bodies.spin[0, 2] == pytest.approx(blow * corner[0] / gyration, rel=1e-9)


def test_what_cannot_be_done_is_refused():
    from rigidgrains import Cohesion

    block = bodies_of(build.box([1.0, 1.0]), [[0.0, 1.0, 0.0]])
    block.laws = [Cohesion(1.0)]
    with pytest.raises(ValueError, match="Cohesion is for disks and spheres alone"):
        Simulation(block, dt=1e-3)
