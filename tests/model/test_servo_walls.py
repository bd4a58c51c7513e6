"""Servo walls: pistons under a stress times the area that other walls leave."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, UP, exact, grains, plane

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.model.time_functions import in_space, read_time_function
from rigidgrains.model.walls import Drive
from rigidgrains.simulation.figures import wall_forces
from rigidgrains.simulation.simulation import Simulation

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
    lid = plane([0, 9, 0], -UP, "lid", mass=3.0, stress=read_time_function("5*t"), area=("left", "right"))
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


def test_the_area_between_two_pairs_of_walls():
    """In 3D a piston runs between four walls: their widths, 3 m and 4 m, are multiplied."""
    sides = [
        plane([-1, 0, 0], [1, 0, 0], "left"), plane([2, 0, 0], [-1, 0, 0], "right"),
        plane([0, 0, -1], [0, 0, 1], "front"), plane([0, 0, 3], [0, 0, -1], "back"),
    ]  # fmt: skip
    lid = plane([0, 9, 0], -UP, "lid", mass=3.0, area=("left", "right", "front", "back"))
    assert lid.present_area(sides) == pytest.approx(12.0)


def test_walls_that_have_passed_each_other_leave_no_area():
    scene = rg.Scene(dimension=2, run={"dt": 0.1}, grains=[{"positions": [[4.5, 3]], "radius": 0.1}])
    scene.add_plane("a", point=[0, 0], normal=[1, 0], velocity=[50, 0])
    scene.add_plane("b", point=[9, 0], normal=[-1, 0])
    scene.add_piston("lid", point=[0, 9], normal=[0, -1], mass=1.0, stress=5.0, between=["a", "b"])
    simulation = Simulation(scene)
    with pytest.raises(rg.StageError, match="'a' and 'b' have passed each other, and piston 'lid'"):
        simulation.run(steps=4)
    assert simulation.time == pytest.approx(0.2)


# Pistons on springs


def sprung(**words):
    """A small disk on a floor, and a piston of 4 kg on a spring of 16 N/m above it."""
    scene = rg.Scene(dimension=2, friction=0.3, grains=[{"positions": [[0, 0.5]], "radius": 0.5, "density": 0.1}])
    scene.add_plane("floor", point=[0, 0], normal=[0, 1])
    scene.add_piston("lid", **{"point": [0, 2], "normal": [0, -1], "mass": 4.0, "stiffness": 16.0, **words})
    return scene


def test_a_piston_on_a_spring_swings():
    """x_n = dt v_0 sin(n a)/sin(a) with 2 sin(a/2) = w dt, as a mass on a spring does."""
    dt, w, way = 0.01, 2.0, []
    simulation = Simulation(sprung(velocity=0.5), dt=dt)
    simulation.observe(lambda sim: way.append(2.0 - sim.bodies.walls[1].shape.point[1]))
    simulation.run(steps=700)
    a = 2.0 * math.asin(0.5 * w * dt)
    assert np.array(way) == pytest.approx(dt * 0.5 * np.sin(a * np.arange(1, 701)) / math.sin(a), abs=1e-12)


@pytest.mark.parametrize("load", [50.0, "50 + 0*t"])
def test_a_spring_takes_from_the_load(load):
    """A piston that has gone down 1 m onto the disk presses it with F - k x; the frame is certified."""
    simulation = Simulation(sprung(load=load), dt=0.02, solver=exact())
    simulation.run(steps=400)
    assert simulation.report().wall_force["floor"][1] == pytest.approx(-(50.0 - 16.0 * 1.0), rel=1e-6)
    assert check(rg.Frame.of(simulation)).passed


def test_the_stiffness_adds_to_a_stress():
    simulation = Simulation(sprung(stress=20.0, area=3.0), dt=0.02, solver=exact())
    simulation.run(steps=400)
    assert simulation.report().wall_force["floor"][1] == pytest.approx(-(60.0 - 16.0 * 1.0), rel=1e-6)


def test_pistons_on_springs_resume_to_the_bit(tmp_path):
    scene = sprung(load="20*sin(3*t)", velocity=0.5)
    part = Simulation(scene, dt="auto")
    part.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=3)
    part.run(until=1.0)
    part = rg.resume(tmp_path / "run.vtkhdf")
    part.run(until=2.0)
    straight = Simulation(scene, dt="auto")
    straight.run(until=1.0)
    straight.run(until=2.0)
    assert np.array_equal(part.bodies.motion, straight.bodies.motion)
    assert np.array_equal(part.bodies.walls[1].shape.point, straight.bodies.walls[1].shape.point)
    assert part.step_range[1] <= 2.0 * math.pi * math.sqrt(4.0 / 16.0) / 20.0


def test_mistakes_of_springs_on_walls_are_told():
    with pytest.raises(rg.SceneError, match="needs a mass"):
        sprung(mass=None, velocity=1.0)
    with pytest.raises(rg.SceneError, match="greater than zero"):
        sprung(stiffness=-1.0)
    with pytest.raises(
        rg.StageError, match=r"stiffness dt\^2 = 16 kg is more than its mass of 4 kg; use a dt below 0\.5 s"
    ):
        Simulation(sprung(), dt=1.0).step()
