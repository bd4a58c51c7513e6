"""Mechanics with exact answers: collisions, columns, pistons, inclines, rolling, drums, conservation laws."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import RIGHT, UP, cloud, column, floor, grains, plane, settle, triangular

from rigidgrains.model.shapes import Plate
from rigidgrains.model.walls import Wall
from rigidgrains.simulation.figures import kinetic_energy, loads, wall_forces
from rigidgrains.simulation.simulation import Simulation

G = 10.0
Z = np.array([0.0, 0.0, 1.0])
# r^2 m/I, a rolling body's acceleration over g sin, its slip limit tan/mu, final over first speed of a slider
ROLLING = {2: (2.0, 2 / 3, 3.0, 2 / 3), 3: (2.5, 5 / 7, 3.5, 5 / 7)}


# Collisions


@pytest.mark.parametrize("dimension", [2, 3])
def test_collision_takes_two_steps(dimension):
    """First the gap closes, V_n = -g/dt; then V_n = 0 and both move with the centre of mass."""
    m0, m1, v0, gap, dt = 1.0, 3.0, 2.0, 0.01, 0.01
    bodies = grains([[0, 0, 0], [2 + gap, 0, 0]], 1.0, [m0, m1], dimension=dimension, velocity=[[v0, 0, 0], [0, 0, 0]])
    centre = m0 * v0 / (m0 + m1)
    simulation = settle(bodies, dt=dt)
    relative = -gap / dt  # V_n after the first step
    np.testing.assert_allclose(
        bodies.velocity[:, 0], [centre - m1 / 4.0 * relative, centre + m0 / 4.0 * relative], rtol=1e-12
    )
    assert simulation.contacts.forces[0, 0] == pytest.approx((relative + v0) * 0.75 / dt, rel=1e-12)
    assert bodies.position[1, 0] - bodies.position[0, 0] == pytest.approx(2.0, rel=1e-14)
    simulation.step()
    np.testing.assert_allclose(bodies.velocity[:, 0], centre, rtol=1e-12)


def test_a_slow_grain_is_left_alone_until_it_arrives():
    """No force while g + U_n dt > 0, Eq. (positivegap)."""
    bodies = grains([[0, 0, 0], [2.0005, 0, 0]], velocity=[[0.01, 0, 0], [0, 0, 0]])
    simulation = settle(bodies, dt=0.01)
    assert simulation.contacts.count == 1
    assert not simulation.contacts.forces.any()
    assert bodies.velocity[0, 0] == 0.01


def test_oblique_collision_with_friction_sticks_and_spins():
    """Plane impact of a spinless sphere: sticking takes V_t away with m_t = 2m/7; sliding gives mu times the normal."""
    for mu, expected in [(1.0, 5 / 7 * 3.0), (0.1, 3.0 - 0.1 * 4.0)]:
        bodies = grains([[0, 1, 0]], velocity=[[3.0, -4.0, 0.0]], friction=mu, walls=[floor()])
        settle(bodies, dt=0.01)
        np.testing.assert_allclose(bodies.velocity[0], [expected, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(bodies.spin[0], [0.0, 0.0, -2.5 * (3.0 - expected)], atol=1e-12)


# g against g_pos


def test_g_pos_stops_an_overlap_without_energy():
    """An overlapping pair at rest stays as it is; an approaching one stops."""
    overlap = 0.01
    bodies = grains([[0, 0, 0], [2 - overlap, 0, 0]])
    settle(bodies, dt=0.01, steps=5)
    assert not bodies.velocity.any()
    bodies = grains([[0, 0, 0], [2 - overlap, 0, 0]], velocity=[[1.0, 0, 0], [-1.0, 0, 0]])
    settle(bodies, dt=0.01)
    assert kinetic_energy(bodies) == pytest.approx(0.0, abs=1e-24)
    assert bodies.position[1, 0] - bodies.position[0, 0] == pytest.approx(2 - overlap, rel=1e-13)


def test_g_removes_an_overlap_and_creates_energy():
    """The overlap o goes in one step at relative speed o/dt, which is the energy m_n (o/dt)^2/2 out of nothing."""
    overlap, dt, m = 0.01, 0.01, np.array([1.0, 3.0])
    bodies = grains([[0, 0, 0], [2 - overlap, 0, 0]], 1.0, m)
    settle(bodies, dt=dt, gap="g")
    assert bodies.position[1, 0] - bodies.position[0, 0] == pytest.approx(2.0, rel=1e-13)
    assert kinetic_energy(bodies) == pytest.approx(0.5 * 0.75 * (overlap / dt) ** 2, rel=1e-9)


def test_g_pos_lets_an_overlap_open_freely():
    """Overlapping grains that part feel nothing."""
    bodies = grains([[0, 0, 0], [1.99, 0, 0]], velocity=[[0, 0, 0], [0.1, 0, 0]])
    settle(bodies, dt=0.01)
    np.testing.assert_array_equal(bodies.velocity[:, 0], [0.0, 0.1])


# Statics


@pytest.mark.parametrize("dimension", [2, 3])
def test_column_carries_its_weight(dimension):
    """The k-th contact from the top carries the k upper weights; the floor carries all; nobody moves."""
    n, m = 8, np.linspace(0.5, 2.0, 8)
    bodies = column(n, radius=np.linspace(1.0, 0.6, 8), mass=m, g=G, dimension=dimension)
    simulation = settle(bodies, steps=3)
    above = np.cumsum(m[::-1])[::-1] * G  # weight of grain k and all above it
    carried = np.zeros(n)
    for (i, j), force in zip(simulation.contacts.pairs, simulation.contacts.forces[:, 0]):
        carried[i if j >= n else max(i, j)] = force
    np.testing.assert_allclose(carried, above, rtol=1e-9)
    assert wall_forces(bodies, simulation.contacts)["floor"][1] == pytest.approx(-m.sum() * G, rel=1e-9)
    np.testing.assert_allclose(bodies.velocity, 0.0, atol=1e-9)


def test_loads_of_a_column():
    """The load of a grain is the force from above plus the force from below."""
    simulation = settle(column(4, g=G))
    np.testing.assert_allclose(loads(simulation.bodies, simulation.contacts), [70.0, 50.0, 30.0, 10.0], rtol=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_piston_weighs_on_the_floor(mu):
    """The floor carries F + M g + sum m g, the piston F + M g, of a packing at rest between smooth or rough walls."""
    bodies = triangular(4, 4, mu=mu, load=7.0, g=G)
    simulation = settle(bodies, steps=2)
    force = wall_forces(bodies, simulation.contacts)
    grain_weight = bodies.mass.sum() * G
    assert force["piston"][1] == pytest.approx(7.0 + 5.0 * G, rel=1e-7)
    sides = force["left"][1] + force["right"][1]
    assert -force["floor"][1] - sides == pytest.approx(7.0 + 5.0 * G + grain_weight, rel=1e-7)
    if mu == 0.0:
        assert sides == 0.0


def test_piston_on_a_column():
    """Each contact of a column under a piston carries F + M g and the weights above."""
    lid = plane([0, 10.0, 0], -UP, "piston", mass=4.0, load=6.0)
    simulation = settle(column(5, g=G, walls=[lid]))
    force = np.sort(simulation.contacts.forces[:, 0])
    np.testing.assert_allclose(force, 6.0 + 4.0 * G + G * np.arange(6), rtol=1e-9)


def test_piston_in_free_flight():
    """A piston under F, tilted against gravity, accelerates by F/M + g.N along its normal."""
    normal = np.array([0.6, -0.8, 0.0])
    lid = plane([0, 50.0, 0], normal, "piston", mass=4.0, load=6.0)
    bodies = grains([[0, 0, 0]], gravity=[0, -G, 0], walls=[lid])
    steps, dt = 20, 0.01
    settle(bodies, dt=dt, steps=steps)
    travel = (6.0 / 4.0 + 0.8 * G) * dt**2 * steps * (steps + 1) / 2
    np.testing.assert_allclose(lid.shape.point, np.array([0, 50.0, 0]) + travel * normal, rtol=1e-12)


def test_piston_does_not_move_sideways():
    """Friction drags at a piston; its guide holds. The sphere under it feels it as a wall at rest."""
    speed, dt = 5.0, 0.01
    lid = plane([0, 2.0, 0], -UP, "piston", mass=2.0, load=3.0)
    bodies = grains([[0, 1, 0]], velocity=[[speed, 0, 0]], friction=1000.0, walls=[floor(), lid])
    settle(bodies, dt=dt, steps=3)
    np.testing.assert_array_equal(lid.shape.point[[0, 2]], [0.0, 0.0])
    assert not bodies.motion[bodies.count + 1, 3:6].any()
    assert bodies.motion[bodies.count + 1, 0] == 0.0
    # Between two rough walls at rest a sphere can neither roll nor slide.
    np.testing.assert_allclose(bodies.velocity[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(bodies.spin[0], 0.0, atol=1e-9)


def test_piston_takes_the_normal_momentum():
    """A grain that hits a free piston shares its momentum: v = m v0/(m + M)."""
    lid = plane([0, 1.0, 0], -UP, "piston", mass=3.0)
    bodies = grains([[0, 0, 0]], velocity=[[0.5, 2.0, 0]], walls=[lid])
    settle(bodies, dt=0.01)
    np.testing.assert_allclose(bodies.velocity[0], [0.5, 0.5, 0.0], rtol=1e-12)
    np.testing.assert_allclose(bodies.motion[1, :3], [0.0, 0.5, 0.0], rtol=1e-12)


def test_only_a_plane_can_be_a_piston():
    """At the edge of a guided plate the normal n is not the guide N, and it would yield by (n.N)^2/M, not by 1/M."""
    with pytest.raises(ValueError, match=r"'lid' of mass 5\.0 .*only a plane"):
        Wall("lid", Plate(np.zeros(3), -UP, RIGHT, (1.0, 1.0)), mass=5.0)


# Inclines


def incline(dimension, slope, mu, steps, dt=0.01):
    """A grain let go on a plane of given slope; gravity is tilted, the plane lies at y = 0."""
    theta = np.arctan(slope)
    gravity = [G * np.sin(theta), -G * np.cos(theta), 0.0]
    bodies = grains([[0, 1, 0]], 1.0, 2.0, dimension=dimension, gravity=gravity, friction=mu, walls=[floor()])
    return theta, bodies, settle(bodies, dt=dt, steps=steps)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("below", [0.3, 0.99])
def test_rolls_without_slip_below_the_limit(dimension, below):
    """tan < 3.5 mu (3 mu for a disk): a = 5/7 g sin (2/3), and the spin is that of rolling."""
    _, share, limit, _ = ROLLING[dimension]
    mu, steps, dt = 0.2, 25, 0.01
    theta, bodies, _ = incline(dimension, below * limit * mu, mu, steps, dt)
    speed = share * G * np.sin(theta) * steps * dt
    assert bodies.velocity[0, 0] == pytest.approx(speed, rel=1e-10)
    assert bodies.spin[0, 2] == pytest.approx(-speed, rel=1e-10)
    assert bodies.position[0, 0] == pytest.approx(speed * dt * (steps + 1) / 2, rel=1e-10)
    assert bodies.position[0, 1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("above", [1.01, 2.0])
def test_slips_above_the_limit(dimension, above):
    """tan > 3.5 mu (3 mu): a = g (sin - mu cos), the spin grows by mu g cos r m/I."""
    k, _, limit, _ = ROLLING[dimension]
    mu, steps, dt = 0.2, 25, 0.01
    theta, bodies, _ = incline(dimension, above * limit * mu, mu, steps, dt)
    time = steps * dt
    assert bodies.velocity[0, 0] == pytest.approx(G * (np.sin(theta) - mu * np.cos(theta)) * time, rel=1e-10)
    assert bodies.spin[0, 2] == pytest.approx(-k * mu * G * np.cos(theta) * time, rel=1e-10)


def test_incline_across_both_axes_in_three_dimensions():
    """Rolling down a slope that is tilted sideways: the cone has no corners, so both components roll alike."""
    gravity = np.array([3.0, -8.0, 4.0])
    bodies = grains([[0, 1, 0]], gravity=gravity, friction=0.19, walls=[floor()])  # 5/8 < 3.5 mu < 7/8
    settle(bodies, dt=0.01, steps=10)
    np.testing.assert_allclose(bodies.velocity[0], 5 / 7 * 0.1 * np.array([3.0, 0.0, 4.0]), atol=1e-12)


@pytest.mark.parametrize(("share", "moves"), [(0.99, False), (1.01, True)])
def test_block_held_between_two_plates(share, moves):
    """A sphere between floor and piston sticks while the pull is below 2 mu F: equal frictions, or it would turn.

    The floor carries more than the piston, so the piston's friction mu F is the limit on either side.
    """
    weight, load, mu = 8.0, 12.0, 0.3
    lid = plane([0, 2.0, 0], -UP, "piston", mass=1.0, load=load)
    force = [[share * 2.0 * mu * load, -weight, 0.0]]
    bodies = grains([[0, 1, 0]], 1.0, 1.0, force=force, friction=mu, walls=[floor(), lid])
    simulation = settle(bodies, dt=0.01)
    assert simulation.last_solve.converged
    assert (abs(bodies.velocity[0, 0]) > 1e-6) == moves
    if moves:  # it rolls on the floor: (m + I/r^2) v = (pull - 2 mu F) dt
        assert bodies.velocity[0, 0] == pytest.approx(5 / 7 * 0.01 * 2.0 * mu * load * 0.01, rel=1e-6)
        assert bodies.spin[0, 2] == pytest.approx(-bodies.velocity[0, 0], rel=1e-6)


# Sliding to rolling


@pytest.mark.parametrize("dimension", [2, 3])
def test_sliding_to_rolling(dimension):
    """v0 - mu g t until rolling sets in at t = 2 v0/(7 mu g) with 5/7 v0; disk v0/(3 mu g) and 2/3 v0."""
    _, _, _, share = ROLLING[dimension]
    v0, mu = 3.0, 0.2
    end = (1.0 - share) * v0 / (mu * G)
    dt = end / 20.5  # rolling begins within step 21
    bodies = grains(
        [[0, 1, 0]], 1.0, 2.0, dimension=dimension, velocity=[[v0, 0, 0]], gravity=[0, -G, 0], friction=mu,
        walls=[floor()],
    )  # fmt: skip
    simulation = settle(bodies, dt=dt, steps=20)
    assert bodies.velocity[0, 0] == pytest.approx(v0 - mu * G * 20 * dt, rel=1e-10)
    assert bodies.velocity[0, 0] > share * v0 * 1.001
    for _ in range(10):
        simulation.step()
        assert bodies.velocity[0, 0] == pytest.approx(share * v0, rel=1e-10)
        assert bodies.spin[0, 2] == pytest.approx(-share * v0, rel=1e-10)


# Free motion


def test_implicit_euler_free_fall():
    """x = x0 + v0 t + g dt^2 n (n + 1)/2 after n steps."""
    v0, g, dt, n = np.array([1.0, 2.0, -0.5]), np.array([0.3, -9.81, 0.1]), 0.01, 100
    bodies = grains([[1, 2, 3]], velocity=[v0], gravity=g)
    simulation = settle(bodies, dt=dt, steps=n)
    np.testing.assert_allclose(bodies.position[0], [1, 2, 3] + v0 * n * dt + g * dt**2 * n * (n + 1) / 2, rtol=1e-12)
    np.testing.assert_allclose(bodies.velocity[0], v0 + g * n * dt, rtol=1e-12)
    assert simulation.time == pytest.approx(n * dt)


def test_external_force_accelerates_by_its_mass():
    """v = F t/m for each grain on its own."""
    force = np.array([[1.0, 0, 0], [0, -2.0, 4.0]])
    bodies = grains([[0, 0, 0], [50, 0, 0]], 1.0, [2.0, 0.5], force=force)
    settle(bodies, dt=0.01, steps=10)
    np.testing.assert_allclose(bodies.velocity, force * 0.1 / np.array([[2.0], [0.5]]), rtol=1e-12)


def test_angle_of_a_spinning_disk():
    """phi = w t about z."""
    bodies = grains([[0, 0, 0]], 0.5, dimension=2, spin=[[0, 0, 3.0]])
    settle(bodies, dt=0.01, steps=50)
    assert bodies.orientation[0] == pytest.approx(1.5, rel=1e-12)


def test_quaternion_of_a_spinning_sphere():
    """(cos(w t/2), sin(w t/2) axis), turned on from any orientation in the frame of the room."""
    axis, rate, time = np.array([1.0, 2.0, -2.0]) / 3.0, 3.0, 0.5
    bodies = grains([[0, 0, 0]], 0.5, spin=[rate * axis])
    start = np.array([0.5, 0.5, 0.5, 0.5])
    bodies.orientation[0] = start
    settle(bodies, dt=0.01, steps=50)
    c, s = np.cos(rate * time / 2), np.sin(rate * time / 2) * axis
    expected = np.concatenate([[c * 0.5 - s @ start[1:]], c * start[1:] + 0.5 * s + np.cross(s, start[1:])])
    np.testing.assert_allclose(bodies.orientation[0], expected, atol=1e-12)


# Conservation


def inertia(bodies):
    return bodies.mass * bodies.radius**2 / (2.0 if bodies.dimension == 2 else 2.5)


def angular_momentum(bodies):
    return bodies.mass @ np.cross(bodies.position, bodies.velocity) + inertia(bodies) @ bodies.spin


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_cloud_keeps_momentum_and_loses_energy(dimension, mu):
    """Momentum to rounding; energy never grows; angular momentum changes by dt sum g n x R_t alone."""
    bodies = cloud(40, dimension=dimension, mu=mu, seed=2)
    dt = 5e-3
    simulation = Simulation(bodies, dt=dt)
    momentum, energy, start = bodies.mass @ bodies.velocity, kinetic_energy(bodies), kinetic_energy(bodies)
    for _ in range(150):
        before = angular_momentum(bodies)
        simulation.step()
        contacts = simulation.contacts
        np.testing.assert_allclose(bodies.mass @ bodies.velocity, momentum, atol=1e-11)
        couple = dt * (contacts.gap[:, None] * np.cross(contacts.normal, contacts.force)).sum(axis=0)
        np.testing.assert_allclose(angular_momentum(bodies), before + couple, atol=1e-10)
        now = kinetic_energy(bodies)
        assert now <= energy * (1.0 + 1e-9)
        energy = now
    assert energy < 0.8 * start  # they did collide


def test_dense_inelastic_cluster_collapses_without_trouble():
    """Grains shot at a common centre clump together: every step converges and almost all energy is lost."""
    bodies = cloud(30, dimension=2, mu=0.3, speed=0.0)
    bodies.velocity[:] = -bodies.position
    bodies.velocity[:] -= (bodies.mass @ bodies.velocity) / bodies.mass.sum()
    start = kinetic_energy(bodies)
    report = Simulation(bodies, dt=5e-3, accuracy="exact").run(steps=300)
    assert report.converged_steps == 300
    assert report.kinetic_energy < 0.05 * start
