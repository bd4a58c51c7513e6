"""Walls that move: belts, oscillating floors, turning drums, plates and planes."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import UP, belt, column, exact, floor, grains, plane, settle

from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation.figures import wall_forces
from rigidgrains.simulation.simulation import Simulation

G = 10.0
Z = np.array([0.0, 0.0, 1.0])
# r^2 m/I, a rolling body's acceleration over g sin, its slip limit tan/mu, final over first speed of a slider
ROLLING = {2: (2.0, 2 / 3, 3.0, 2 / 3), 3: (2.5, 5 / 7, 3.5, 5 / 7)}


# Driven walls


def test_oscillating_wall_follows_its_path():
    """The wall stands at A sin(2 pi f t + phase) after every step, without drift."""
    amplitude, phase = np.array([0.2, -0.1, 0.0]), 0.7
    drive = Drive(amplitude=amplitude, frequency=3.0, phase=phase, velocity=np.array([0.0, 0.5, 0.0]))
    wall = floor(drive=drive)
    simulation = Simulation(grains([[0, 50, 0]], walls=[wall]), dt=0.013)
    for _ in range(200):
        simulation.step()
        t = simulation.time
        swing = np.sin(2 * np.pi * 3.0 * t + phase) - np.sin(phase)
        np.testing.assert_allclose(wall.shape.point, amplitude * swing + drive.velocity * t, atol=1e-12)


def test_rising_floor_carries():
    """A column on a rising floor rises with it and weighs what it weighed."""
    bodies = column(3, g=G)
    bodies.walls[0].drive.velocity[1] = 0.5
    simulation = settle(bodies, dt=0.01, steps=10)
    np.testing.assert_allclose(bodies.velocity[:, 1], 0.5, rtol=1e-8)
    assert wall_forces(bodies, simulation.contacts)["floor"][1] == pytest.approx(-30.0, rel=1e-7)


def heights(speed):
    """Grains at rest side by side, each 0.02 radii higher than the one before, above a floor that rises at a speed."""
    rise = 0.02 * np.arange(100)
    position = np.stack([3.0 * np.arange(100), 1.0 + rise, np.zeros(100)], axis=1)
    return grains(position, walls=[floor(drive=Drive(velocity=np.array([0.0, speed, 0.0])))]), rise


@pytest.mark.parametrize("speed", [0.05, 0.24, 0.3, 0.45, 1.5])
def test_whoever_a_driven_wall_can_reach_within_the_step_is_listed(speed):
    """Nothing else moves, so only the way of the wall can make the lists anew, and it has to in time."""
    bodies, rise = heights(speed)
    neighbours = Neighbours()
    bodies.motion[bodies.count, 1] = speed
    for step in range(int(2.0 / speed)):
        neighbours.refresh(bodies, 1.0)
        reached = np.flatnonzero(rise <= speed * (step + 1))
        assert set(reached) <= set(neighbours.walls[0].grains.tolist()), step
        bodies.walls[0].shape.point[1] += speed
    assert neighbours.builds > 1 or speed == 1.5  # one list is enough for a single step


@pytest.mark.parametrize("speed", [0.05, 0.24, 0.3, 0.45, 1.5])
def test_a_rising_floor_takes_up_what_is_at_rest(speed):
    """Without restitution those that it has reached ride on it, the others have not stirred."""
    bodies, rise = heights(speed)
    simulation = Simulation(bodies, dt=1.0, solver=exact())
    for step in range(1, 1 + int(2.0 / speed)):
        simulation.step()
        np.testing.assert_allclose(bodies.position[:, 1], 1.0 + np.maximum(rise, speed * step), atol=1e-12)


@pytest.mark.parametrize(("dimension", "share"), [(2, 1 / 3), (3, 2 / 7)])
def test_belt_carries_a_rolling_grain(dimension, share):
    """Put at rest on a belt of speed u, a sphere ends rolling at 2/7 u (a disk at u/3), its surface at u."""
    u = 2.0
    bodies = grains([[0, 1, 0]], dimension=dimension, gravity=[0, -G, 0], friction=0.3, walls=[belt([u, 0.0, 0.0])])
    settle(bodies, dt=0.01, steps=100)
    assert bodies.velocity[0, 0] == pytest.approx(share * u, rel=1e-9)
    assert bodies.velocity[0, 0] + bodies.spin[0, 2] == pytest.approx(u, rel=1e-9)


def drum(radius, spin):
    return Wall("drum", Cylinder(np.zeros(3), Z, radius, True, np.inf), drive=Drive(spin=spin * Z))


@pytest.mark.parametrize("dimension", [2, 3])
def test_grain_turns_with_its_drum(dimension):
    """Without gravity a grain at rest relative to the drum stays so: it circles and spins with it under m W^2 (R - r).

    One step turns by W dt; the law closes gaps to first order, so positions hold to W dt.
    """
    big, r, turn, m, dt = 4.0, 0.5, 2.0, 3.0, 1e-3
    rho = big - r
    bodies = grains(
        [[rho, 0, 0]], r, m, dimension=dimension, velocity=[[0, turn * rho, 0]], spin=[[0, 0, turn]], friction=0.5,
        walls=[drum(big, turn)],
    )  # fmt: skip
    steps = 1500
    simulation = settle(bodies, dt=dt, steps=steps, gap="g")
    angle = turn * steps * dt
    np.testing.assert_allclose(bodies.position[0], rho * np.array([np.cos(angle), np.sin(angle), 0]), atol=0.02 * rho)
    assert bodies.spin[0, 2] == pytest.approx(turn, rel=0.01)
    assert np.linalg.norm(bodies.velocity[0]) == pytest.approx(turn * rho, rel=0.01)
    assert simulation.contacts.forces[0, 0] == pytest.approx(m * turn**2 * rho, rel=0.02)


def test_grain_rolls_in_place_at_the_bottom_of_a_drum():
    """With w r = W R the centre rests at the bottom while the drum turns: the steady state."""
    big, r, turn = 1.5, 0.5, 1.0
    bodies = grains(
        [[0, r - big, 0]], r, gravity=[0, -G, 0], friction=0.5, spin=[[0, 0, turn * big / r]], walls=[drum(big, turn)]
    )
    simulation = settle(bodies, dt=0.01, steps=200)
    np.testing.assert_allclose(bodies.position[0], [0, r - big, 0], atol=1e-12)
    assert bodies.spin[0, 2] == pytest.approx(turn * big / r, rel=1e-10)
    assert wall_forces(bodies, simulation.contacts)["drum"][1] == pytest.approx(-G, rel=1e-9)


def test_grain_in_a_turning_drum_comes_to_roll():
    """Put in at rest it slides, I w = mu N r t, then rolls: a pendulum of frequency sqrt(5 g/(7 (R - r)))."""
    big, r, turn, mu, dt = 1.5, 0.5, 0.1, 0.02, 0.01
    bodies = grains([[0, r - big, 0]], r, gravity=[0, -G, 0], friction=mu, walls=[drum(big, turn)])
    simulation = settle(bodies, dt=dt)
    assert bodies.spin[0, 2] == pytest.approx(2.5 * mu * G * dt / r, rel=1e-9)
    assert bodies.velocity[0, 0] == pytest.approx(mu * G * dt, rel=1e-9)
    place, slip = [], []
    for _ in range(3000):
        simulation.step()
        contact, n = simulation.contacts, simulation.contacts.normal[0]
        place.append(bodies.position[0, 0])
        surface = turn * big * np.cross(Z, n)
        slip.append(np.linalg.norm(surface - bodies.velocity[0] - np.cross(bodies.spin[0], r * n)))
        assert contact.forces[0, 0] > 0.0
    assert max(slip[200:]) < 1e-3 * turn * big
    place = np.array(place[200:])
    place -= place.mean()
    crossings = np.flatnonzero((place[:-1] < 0.0) & (place[1:] >= 0.0))
    period = (crossings[-1] - crossings[0]) / (len(crossings) - 1) * dt
    assert 2.0 * np.pi / period == pytest.approx(np.sqrt(5.0 * G / (7.0 * (big - r))), rel=0.01)


def test_a_turning_floor_spins_up_a_grain_at_its_centre():
    """A grain on the axis of a turning table feels nothing; beside the axis it is carried at W x r."""
    table = floor(drive=Drive(spin=np.array([0.0, 2.0, 0.0])))
    bodies = grains([[0, 1, 0], [10, 1, 0]], gravity=[0, -G, 0], friction=0.001, walls=[table])
    dt = 0.01
    settle(bodies, dt=dt)
    np.testing.assert_allclose(bodies.velocity[0], 0.0, atol=1e-14)
    np.testing.assert_allclose(bodies.velocity[1], [0.0, 0.0, -0.001 * G * dt], atol=1e-14)  # along W x r = (0,0,-20)


def test_tilting_table_turns_about_its_axle():
    """A plane turned about a point keeps its distance to it, and its normal turns by the angle."""
    axle = np.array([3.0, 1.0, 0.0])
    wall = plane([5.0, 1.0, 0.0], UP, drive=Drive(spin=0.5 * Z, about=axle.copy()))
    settle(grains([[0, 80, 0]], walls=[wall]), dt=0.01, steps=100)
    np.testing.assert_allclose(wall.shape.normal, [-np.sin(0.5), np.cos(0.5), 0.0], atol=1e-12)
    np.testing.assert_allclose(wall.shape.point, axle + 2.0 * np.array([np.cos(0.5), np.sin(0.5), 0.0]), atol=1e-12)


def test_where_walls_will_be():
    """A wall at a later time: a swing by its sine, at time zero where it is; a piston is held."""
    swing = floor(drive=Drive(amplitude=np.array([0.0, 2.0, 0.0]), frequency=3.0))
    for time, height in ((0.0, 0.0), (1.0 / 12.0, 2.0), (1.0 / 4.0, -2.0)):
        np.testing.assert_allclose(swing.at(time).shape.point, [0.0, height, 0.0], atol=1e-12)
    piston = plane([0, 1, 0], UP, "lid", mass=2.0, load=3.0)
    np.testing.assert_array_equal(piston.at(0.5).shape.point, [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(swing.shape.point, 0.0)
