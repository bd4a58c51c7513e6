"""Walls, loads and gravity in the course of time: exact motion, and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, UP, exact, floor, grains, plane, settle, triangular

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.model.time_functions import in_space, read_time_function
from rigidgrains.model.walls import Drive, Wall, rotation_matrix, rotation_vector
from rigidgrains.simulation.figures import wall_forces
from rigidgrains.simulation.simulation import Simulation

G = 10.0
BOX = {"lower": [0, 0], "upper": [1, 1], "open": ["top"]}
ONE = {"positions": [[0.5, 0.1]], "radius": 0.1}


# Motion


@pytest.mark.parametrize(
    ("function", "path"),
    [
        ("0.2*sin(7*t) + 0.1*t**2", lambda t: 0.2 * math.sin(7 * t) + 0.1 * t * t),
        ({"table": [[0, 0], [0.5, 1.0], [1.0, -1.0]]}, lambda t: float(np.interp(t, [0, 0.5, 1], [0, 1, -1]))),
        (lambda t: 0.3 * (1 - math.cos(t)), lambda t: 0.3 * (1 - math.cos(t))),
    ],
)
def test_a_wall_follows_its_displacement(function, path):
    """After every step it stands where the formula, the table or the function says, without drift."""
    wall = floor(drive=Drive(path=in_space((function, 0.0)), velocity=np.array([0.0, 0.5, 0.0])))
    simulation = Simulation(grains([[0, 50, 0]], walls=[wall]), dt=0.0131)
    for _ in range(150):
        simulation.step()
        t = simulation.time
        np.testing.assert_allclose(wall.shape.point, [path(t) - path(0.0), 0.5 * t, 0.0], atol=1e-13)


def test_a_wall_follows_its_velocity():
    """A function of the velocity is added up without error: v = 2 cos(5 t), x = 0.4 sin(5 t); a ramp of a table."""
    ramp = {"table": [[0.0, 0.0], [0.5, 1.0]]}
    wall = floor(drive=Drive(speed=in_space(("2*cos(5*t)", ramp))))
    simulation = Simulation(grains([[0, 50, 0]], walls=[wall]), dt=0.013)
    for _ in range(100):
        simulation.step()
        t = simulation.time
        ramped = t * t if t < 0.5 else t - 0.25
        np.testing.assert_allclose(wall.shape.point, [0.4 * math.sin(5 * t), ramped, 0.0], atol=1e-13)


@pytest.mark.parametrize("word", ["turn", "rate"])
def test_a_rocking_wall_has_its_angle(word):
    """0.3 sin(4 t) about z, by angle or by angular velocity, about a point beside the wall."""
    function = "0.3*sin(4*t)" if word == "turn" else "1.2*cos(4*t)"
    axle = np.array([3.0, 1.0, 0.0])
    drive = Drive(about=axle.copy(), **{word: in_space((0.0, 0.0, function))})
    wall = plane([5.0, 1.0, 0.0], UP, drive=drive)
    simulation = Simulation(grains([[0, 80, 0]], walls=[wall]), dt=0.01)
    for _ in range(200):
        simulation.step()
        a = 0.3 * math.sin(4 * simulation.time)
        np.testing.assert_allclose(wall.shape.normal, [-math.sin(a), math.cos(a), 0.0], atol=1e-12)
        np.testing.assert_allclose(wall.shape.point, axle + 2.0 * np.array([math.cos(a), math.sin(a), 0.0]), atol=1e-12)


def test_a_wall_turns_about_an_axis_that_turns():
    """The rotation vector itself may follow any function: at every time the wall is turned by it from the start."""
    vector = ("0.4*sin(3*t)", "0.2*t", "0.3*(1 - cos(2*t))")
    wall = plane([0, 0, 0], UP, drive=Drive(turn=in_space(vector)))
    simulation = Simulation(grains([[0, 80, 0]], walls=[wall]), dt=0.02)
    for _ in range(80):
        simulation.step()
        turned = rotation_matrix(np.array([read_time_function(part).value(simulation.time) for part in vector]))
        np.testing.assert_allclose(wall.shape.normal, turned @ UP, atol=1e-12)


def test_rotation_vectors_are_inverse_to_matrices():
    for vector in ([0.0, 0.0, 0.0], [0.1, -0.2, 0.3], [1e-9, 0.0, 0.0], [2.0, 1.0, 0.0]):
        np.testing.assert_allclose(rotation_vector(rotation_matrix(np.array(vector))), vector, atol=1e-15, rtol=1e-12)


def test_a_layer_lifts_off_when_its_floor_falls_faster_than_it():
    """y = A sin(w t) carries a grain while its acceleration is above -g: it leaves at sin(w t) = g/(A w^2)."""
    a, w, dt = 0.02, 40.0, 1e-4
    bodies = grains(
        [[0, 1, 0]], gravity=[0, -G, 0], walls=[floor(drive=Drive(path=in_space((0.0, f"{a}*sin({w}*t)"))))]
    )
    simulation = Simulation(bodies, dt=dt)
    simulation.step()
    while simulation.contacts.count and simulation.contacts.forces[0, 0] > 0.0:
        simulation.step()
    assert simulation.time == pytest.approx(math.asin(G / (a * w * w)) / w, abs=2 * dt)


def test_a_load_follows_its_function_and_gives_its_impulse():
    """A free piston under a load F(t) has the momentum of its integral; under grains it presses with F."""
    piston = plane([0, 5, 0], -UP, "lid", mass=2.0, load_function=read_time_function("3 + 2*sin(9*t)"))
    bodies = grains([[0, -500, 0]], walls=[piston])
    simulation = Simulation(bodies, dt=0.01)
    simulation.run(steps=50)
    impulse = 3 * 0.5 + 2 / 9 * (1 - math.cos(9 * 0.5))
    assert bodies.motion[1, 1] == pytest.approx(-impulse / 2.0, rel=1e-12)
    packed = triangular(3, 3, mu=0.3)
    packed.walls[3].load_function = read_time_function({"table": [[0.0, 1.0], [1.0, 11.0]]})
    simulation = settle(packed, dt=0.1, steps=5)
    mean = 1.0 + 10.0 * 0.45  # over the step from 0.4 to 0.5
    assert packed.walls[3].load == pytest.approx(mean)
    assert wall_forces(packed, simulation.contacts)["piston"][1] == pytest.approx(mean, rel=1e-6)


def test_gravity_tilts():
    """Under g (sin a, -cos a) with a = t/10 a free grain has the velocity of the integral."""
    bodies = grains([[0, 0, 0]])
    bodies.gravity_function = in_space((f"{G}*sin(0.1*t)", f"-{G}*cos(0.1*t)"))
    simulation = Simulation(bodies, dt=0.05)
    simulation.run(steps=40)
    expected = [G / 0.1 * (1 - math.cos(0.2)), -G / 0.1 * math.sin(0.2), 0.0]
    np.testing.assert_allclose(bodies.velocity[0], expected, rtol=1e-12)
    np.testing.assert_allclose(rg.Frame.of(simulation).gravity, bodies.gravity)


def test_a_grain_slides_when_gravity_is_tilted_beyond_friction():
    """A grain that cannot roll starts to slide at tan a = mu."""
    scene = rg.Scene(dimension=2, gravity=["10*sin(t)", "-10*cos(t)"], run={"dt": 1e-3})
    scene.add_material("block", friction=0.4, rolling=math.inf)
    scene.add_grains(positions=[[0, 1]], radius=1, material="block")
    scene.add_plane("floor", point=[0, 0], normal=[0, 1], material="block")
    simulation = Simulation(scene, solver=exact())
    while not simulation.bodies.velocity[0, 0] > 1e-6:
        simulation.step()
    assert simulation.time == pytest.approx(math.atan(0.4), abs=2e-3)


def test_frames_of_functions_are_certified():
    """Formula, table, rocking and load function: the certificate holds walls against their functions."""
    walls = [
        floor(drive=Drive(path=in_space((0.0, "0.05*sin(20*t)")))),
        plane([-1, 0, 0], RIGHT, "left", drive=Drive(speed=in_space(({"table": [[0, 0], [0.1, 0.3]]}, 0)))),
        plane([4, 0, 0], -RIGHT, "right", drive=Drive(turn=in_space((0.0, 0.0, "0.2*sin(8*t)")))),
        plane([0, 4.2, 0], -UP, "lid", mass=2.0, load_function=read_time_function("5*t")),
    ]
    bodies = grains([[0, 1, 0], [2.1, 1, 0], [1.0, 2.9, 0]], dimension=2, friction=0.3, gravity=[0, -G, 0], walls=walls)
    simulation = settle(bodies, dt=2e-3)
    for _ in range(60):
        simulation.step()
        assert not check(rg.Frame.of(simulation)).failed
    frame = rg.Frame.of(simulation)
    frame.walls[0].drive.path = in_space((0.0, "0.06*sin(20*t)"))
    assert "walls" in {one.name for one in check(frame).failed}


# Mistakes

PLANE = {"name": "floor", "point": [0, 0], "normal": [0, 1]}
PISTON = {"name": "lid", "point": [0, 9], "normal": [0, -1]}


@pytest.mark.parametrize(
    ("words", "place", "told"),
    [
        ({"plane": [{**PLANE, "displacement": ["sine(t)", 0]}]}, "plane[0].displacement", "unknown function 'sine'"),
        ({"plane": [{**PLANE, "displacement": ["1/t", 0]}]}, "plane[0].displacement", "has no value at t = 0 s"),
        ({"plane": [{**PLANE, "displacement": "t"}]}, "plane[0].displacement", "must be a vector"),
        ({"plane": [{**PLANE, "displacement": ["t", 0, 0]}]}, "plane[0].displacement", "must have 2 components"),
        ({"plane": [{**PLANE, "velocity": [{"table": [[1, 0], [0, 1]]}, 0]}]}, "plane[0].velocity", "must increase"),
        ({"plane": [{**PLANE, "velocity": [{"table": [[1, 0]]}, 0]}]}, "plane[0].velocity", "two rows or more"),
        ({"plane": [{**PLANE, "velocity": [{"tabel": []}, 0]}]}, "plane[0].velocity", "unknown key 'tabel'"),
        (
            {"plane": [{**PLANE, "velocity": [{"table": [[0, 0], [1, 1]], "smooth": 1}, 0]}]},
            "plane[0].velocity",
            "smooth",
        ),
        ({"plane": [{**PLANE, "angle": ["t", 0, 0]}]}, "plane[0].angle", "must be a number in 2D"),
        ({"plane": [{**PLANE, "angle": "t", "rotation": 1}]}, "plane[0].angle", "keep one"),
        ({"plane": [{**PLANE, "since": 2, "until": 1}]}, "plane[0].until", "must come after since = 2"),
        ({"plane": [{**PLANE, "since": -1}]}, "plane[0].since", "must not be negative"),
        ({"plane": [{**PLANE, "until": 0}]}, "plane[0].until", "greater than zero"),
        ({"box": [{**BOX, "since": 2, "until": 2}]}, "box[0].until", "must come after"),
        ({"piston": [{**PISTON, "mass": 1, "load": "2*x"}]}, "piston[0].load", "unknown name 'x'"),
        ({"piston": [{**PISTON, "mass": 1, "velocity": "t"}]}, "piston[0].velocity", "at the start"),
        ({"piston": [{**PISTON, "mass": 1, "displacement": "t"}]}, "piston[0].displacement", "driven piston"),
        ({"piston": [{**PISTON, "mass": 1, "velocity": 1, "since": 1}]}, "piston[0].velocity", "starts at rest"),
        ({"gravity": ["sin(t", 1]}, "gravity", "is no formula"),
        ({"gravity": ["t", 0, 0]}, "gravity", "must have 2 components"),
    ],
)
def test_mistakes_are_told(words, place, told):
    with pytest.raises(rg.SceneError) as error:
        rg.Scene(grains=[ONE], **words)
    (problem,) = error.value.problems
    assert problem.place == place
    assert told in str(problem)


def test_functions_are_written_as_they_were_read():
    scene = rg.Scene(gravity=["sin(t)", -10], grains=[ONE])
    scene.add_plane(
        "a", point=[0, 0], normal=[0, 1], displacement=[{"table": [[0, 0], [1, 2]], "smooth": True}, "t"], angle="t"
    )
    words = scene.model_dump()
    again = rg.Scene(**{key: words[key] for key in ("gravity", "plane", "grains")} | {"grains": [ONE]})
    assert again.gravity == scene.gravity
    assert again.plane[0].displacement == scene.plane[0].displacement


def test_a_box_may_come_and_go():
    scene = rg.Scene(dimension=2, run={"dt": 0.01}, grains=[ONE])
    scene.add_box(**BOX, until=0.05)
    simulation = Simulation(scene)
    simulation.run(steps=4)
    assert len(simulation.bodies.walls) == 3
    simulation.run(steps=4)
    assert simulation.bodies.walls == []
    assert isinstance(simulation.bodies.all_walls[0], Wall)
