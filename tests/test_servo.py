"""Servo walls: pistons under a stress times the area that other walls leave."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import RIGHT, UP, exact, grains, plane

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.observe.measure import wall_forces
from rigidgrains.simulation import Simulation
from rigidgrains.stage.course import in_space, read_course
from rigidgrains.walls import Drive

ONE = {"positions": [[0.5, 0.1]], "radius": 0.1}
PLANE = {"name": "floor", "point": [0, 0], "normal": [0, 1]}
PISTON = {"name": "lid", "point": [0, 9], "normal": [0, -1]}


def sheet(stress=50.0, **words):
    """A lattice of touching disks between a floor, and three pistons under the same stress."""
    height = math.sqrt(3.0)
    position = [[1.0 + 2.0 * k + (row % 2), 1.0 + height * row] for row in range(5) for k in range(6 - row % 2)]
    scene = rg.Scene(dimension=2, friction=words.pop("friction", 0.3), run={"dt": 0.01})
    scene.add_grains(positions=position, radius=1.0, density=1.0)
    scene.add_plane("floor", point=[0, 0], normal=[0, 1])
    scene.add_piston("left", point=[0, 0], normal=[1, 0], mass=20, stress=stress, between=["floor", "top"])
    scene.add_piston("right", point=[12, 0], normal=[-1, 0], mass=20, stress=stress, between=["floor", "top"])
    scene.add_piston(
        "top", point=[0, 2 + 4 * height], normal=[0, -1], mass=20, stress=stress, between=["left", "right"]
    )
    return scene


def test_servo_walls_at_rest_carry_stress_times_length():
    """A lattice under the same stress from all sides does not move: every wall bears sigma times its present length."""
    simulation = Simulation(sheet(), solver=exact())
    simulation.run(steps=200)
    bodies = simulation.bodies
    points = {wall.name: wall.shape.point for wall in bodies.walls}
    width, height = points["right"][0] - points["left"][0], points["top"][1]
    force = wall_forces(bodies, simulation.contacts)
    assert np.abs(bodies.motion[:, :3]).max() < 1e-6
    assert force["top"][1] == pytest.approx(50.0 * width, rel=1e-6)
    assert force["left"][0] == pytest.approx(-50.0 * height, rel=1e-6)
    assert force["right"][0] == pytest.approx(50.0 * height, rel=1e-6)
    assert not check(rg.Frame.of(simulation)).failed


def test_a_servo_wall_follows_its_sides():
    """Sides that part by a formula: the load is stress times their distance at the beginning of each step."""
    left = plane([0, 0, 0], RIGHT, "left")
    right = plane([2, 0, 0], -RIGHT, "right", drive=Drive(path=in_space(("t", 0.0))))
    lid = plane([0, 9, 0], -UP, "lid", mass=3.0, stress=read_course("5*t"), area=("left", "right"))
    simulation = Simulation(grains([[1, 0, 0]], walls=[left, right, lid]), dt=0.1)
    speed = 0.0
    for k in range(10):
        simulation.step()
        load = 5 * (0.1 * k + 0.05) * (2 + 0.1 * k)
        speed += 0.1 * load / 3.0
        assert lid.load == pytest.approx(load)
        assert simulation.bodies.motion[3, 1] == pytest.approx(-speed)


def test_servo_walls_resume_to_the_bit(tmp_path):
    straight = Simulation(sheet("50 + 20*sin(9*t)"))
    straight.run(steps=40)
    path = tmp_path / "run.vtkhdf"
    first = Simulation(sheet("50 + 20*sin(9*t)"))
    first.observe(rg.TrajectoryWriter(path), every=5)
    first.run(steps=17)
    second = rg.resume(path)
    second.run(steps=23)
    assert np.array_equal(second.bodies.motion, straight.bodies.motion)
    assert [wall.load for wall in second.bodies.walls] == [wall.load for wall in straight.bodies.walls]
    with rg.Trajectory(path) as trajectory:
        assert trajectory[-1].walls[3].load == pytest.approx(first.bodies.walls[3].load, rel=1e-14)


SIDES = [{**PLANE, "name": "a", "normal": [1, 0]}, {**PLANE, "name": "b", "point": [9, 0], "normal": [-1, 0]}, PLANE]


@pytest.mark.parametrize(
    ("words", "place", "told"),
    [
        ({"stress": 5.0}, "stress", "has no finite area"),
        ({"stress": 5.0, "between": ["a", "b"], "area": 2.0}, "stress", "only one of them"),
        ({"stress": 5.0, "between": ["a", "b"], "load": 2.0}, "load", "keep one"),
        ({"stress": 5.0, "between": ["a", "b"], "mass": None, "velocity": 1.0}, "stress", "needs a mass"),
        ({"stress": 5.0, "between": ["a"]}, "between", "two names in 2D"),
        ({"stress": 5.0, "between": ["a", "c"]}, "between", "no other wall has this name"),
        ({"stress": 5.0, "between": ["a", "floor"]}, "between", "no parallel planes"),
        ({"between": ["a", "b"]}, "between", "belongs to a stress"),
        ({"stress": "5*x", "between": ["a", "b"]}, "stress", "unknown name 'x'"),
    ],
)
def test_mistakes_of_servo_walls_are_told(words, place, told):
    with pytest.raises(rg.SceneError) as error:
        rg.Scene(grains=[ONE], plane=SIDES, piston=[{**PISTON, "mass": 1.0, **words}])
    assert f"piston[0].{place}" in {problem.place for problem in error.value.problems}
    assert told in str(error.value)


def test_walls_that_have_passed_each_other_leave_no_area():
    scene = rg.Scene(dimension=2, run={"dt": 0.1}, grains=[{"positions": [[4.5, 3]], "radius": 0.1}])
    scene.add_plane("a", point=[0, 0], normal=[1, 0], velocity=[50, 0])
    scene.add_plane("b", point=[9, 0], normal=[-1, 0])
    scene.add_piston("lid", point=[0, 9], normal=[0, -1], mass=1.0, stress=5.0, between=["a", "b"])
    simulation = Simulation(scene)
    with pytest.raises(rg.StageError, match="'a' and 'b' have passed each other, and piston 'lid'"):
        simulation.run(steps=4)
    assert simulation.time == pytest.approx(0.2)
