"""Walls, loads and gravity in the course of time: formulas, tables, functions; walls that come and go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import RIGHT, UP, column, exact, floor, grains, plane, settle, triangular

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.observe.measure import wall_forces
from rigidgrains.simulation import Simulation
from rigidgrains.stage.course import Formula, Table, gauss_mean, in_space, read_course
from rigidgrains.stage.formula import compile_formula, evaluate
from rigidgrains.walls import Drive, Wall, rotation_matrix, rotation_vector

G = 10.0
BOX = {"lower": [0, 0], "upper": [1, 1], "open": ["top"]}
ONE = {"positions": [[0.5, 0.1]], "radius": 0.1}


# Formulas and tables


@pytest.mark.parametrize(
    ("text", "at", "value"),
    [
        ("0.01*sin(2*pi*5*t)", 0.05, 0.01),
        ("-t**2 + 3*t - 1", 2.0, 1.0),
        ("max(0, t - 1, min(2, t))", 5.0, 4.0),
        ("step(t - 1)*exp(0) + abs(-2)", 1.0, 3.0),
        ("sqrt(16)/2 + tanh(0) + floor(2.7)", 0.0, 4.0),
    ],
)
def test_formulas_are_evaluated(text, at, value):
    assert Formula(text).value(at) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.1*sine(t)", "unknown function 'sine'"),
        ("x + 1", "unknown name 'x'; known are t, pi"),
        ("sin", "write sin(...)"),
        ("__import__('os').system('ls')", "unknown function"),
        ("t.real", "numbers, t, pi"),
        ("[1][0]", "numbers, t, pi"),
        ("'a'", "numbers, t, pi"),
        ("t if t else 1", "numbers, t, pi"),
        ("sin(t", "is no formula"),
        ("", "is no formula"),
        ("sin(1, 2)", "takes one number"),
        ("max(t)", "two numbers or more"),
        ("max(*t)", "two numbers or more"),
        ("max(1, 2, key=3)", "two numbers or more"),
        ("1" + "+1" * 600, "characters"),
        ("-" * 200 + "1", "within each other"),
        ("1" + "0" * 400, "too large"),
    ],
)
def test_formulas_that_are_none(text, told):
    with pytest.raises(ValueError, match=r".") as error:
        compile_formula(text)
    assert told in str(error.value)


@pytest.mark.parametrize("text", ["1/t", "log(t)", "9**9**9**9", "sqrt(-1)", "(-1)**0.5"])
def test_formulas_without_a_value(text):
    with pytest.raises(ValueError, match="has no value at t = 0 s"):
        evaluate(compile_formula(text), text, 0.0)


def test_a_table_is_linear_or_smooth_and_constant_beyond_its_ends():
    """Means are exact integrals; the smooth one passes its points and never overshoots."""
    times, values = (1.0, 2.0, 4.0), (0.0, 3.0, 3.0)
    straight, smooth = Table(times, values), Table(times, values, smooth=True)
    for table in (straight, smooth):
        assert [table.value(t) for t in (0.0, 1.0, 2.0, 4.0, 9.0)] == pytest.approx([0.0, 0.0, 3.0, 3.0, 3.0])
        assert table.mean(-3.0, 2.0) == 0.0
        assert table.mean(5.0, 2.0) == pytest.approx(3.0)
        pieces = sum(table.mean(0.1 * k, 0.1) for k in range(60))
        assert pieces == pytest.approx(60 * table.mean(0.0, 6.0), rel=1e-12)
    assert straight.value(1.5) == 1.5
    assert straight.mean(0.0, 6.0) == pytest.approx((1.5 + 6.0 + 6.0) / 6.0)
    fine = [smooth.value(t) for t in np.linspace(0.0, 5.0, 501)]
    assert min(fine) >= 0.0
    assert max(fine) <= 3.0 + 1e-12
    assert np.all(np.diff(fine) >= -1e-12)


def test_the_mean_of_a_formula_is_its_integral():
    course = Formula("exp(-t)*sin(3*t)")
    rule = lambda t: -math.exp(-t) * (math.sin(3 * t) + 3 * math.cos(3 * t)) / 10.0  # noqa: E731
    assert gauss_mean(course, 0.3, 0.2) == pytest.approx((rule(0.5) - rule(0.3)) / 0.2, rel=1e-12)


# Motion


@pytest.mark.parametrize(
    ("course", "path"),
    [
        ("0.2*sin(7*t) + 0.1*t**2", lambda t: 0.2 * math.sin(7 * t) + 0.1 * t * t),
        ({"table": [[0, 0], [0.5, 1.0], [1.0, -1.0]]}, lambda t: float(np.interp(t, [0, 0.5, 1], [0, 1, -1]))),
        (lambda t: 0.3 * (1 - math.cos(t)), lambda t: 0.3 * (1 - math.cos(t))),
    ],
)
def test_a_wall_follows_its_displacement(course, path):
    """After every step it stands where the formula, the table or the function says, without drift."""
    wall = floor(drive=Drive(path=in_space((course, 0.0)), velocity=np.array([0.0, 0.5, 0.0])))
    simulation = Simulation(grains([[0, 50, 0]], walls=[wall]), dt=0.0131)
    for _ in range(150):
        simulation.step()
        t = simulation.time
        np.testing.assert_allclose(wall.shape.point, [path(t) - path(0.0), 0.5 * t, 0.0], atol=1e-13)


def test_a_wall_follows_its_velocity():
    """A course of the velocity is added up without error: v = 2 cos(5 t), x = 0.4 sin(5 t); a ramp of a table."""
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
    course = "0.3*sin(4*t)" if word == "turn" else "1.2*cos(4*t)"
    axle = np.array([3.0, 1.0, 0.0])
    drive = Drive(about=axle.copy(), **{word: in_space((0.0, 0.0, course))})
    wall = plane([5.0, 1.0, 0.0], UP, drive=drive)
    simulation = Simulation(grains([[0, 80, 0]], walls=[wall]), dt=0.01)
    for _ in range(200):
        simulation.step()
        a = 0.3 * math.sin(4 * simulation.time)
        np.testing.assert_allclose(wall.shape.normal, [-math.sin(a), math.cos(a), 0.0], atol=1e-12)
        np.testing.assert_allclose(wall.shape.point, axle + 2.0 * np.array([math.cos(a), math.sin(a), 0.0]), atol=1e-12)


def test_a_wall_turns_about_an_axis_that_turns():
    """The rotation vector itself may follow any course: at every time the wall is turned by it from the start."""
    vector = ("0.4*sin(3*t)", "0.2*t", "0.3*(1 - cos(2*t))")
    wall = plane([0, 0, 0], UP, drive=Drive(turn=in_space(vector)))
    simulation = Simulation(grains([[0, 80, 0]], walls=[wall]), dt=0.02)
    for _ in range(80):
        simulation.step()
        turned = rotation_matrix(np.array([read_course(part).value(simulation.time) for part in vector]))
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


def test_a_load_follows_its_course_and_gives_its_impulse():
    """A free piston under a load F(t) has the momentum of its integral; under grains it presses with F."""
    piston = plane([0, 5, 0], -UP, "lid", mass=2.0, load_course=read_course("3 + 2*sin(9*t)"))
    bodies = grains([[0, -500, 0]], walls=[piston])
    simulation = Simulation(bodies, dt=0.01)
    simulation.run(steps=50)
    impulse = 3 * 0.5 + 2 / 9 * (1 - math.cos(9 * 0.5))
    assert bodies.motion[1, 1] == pytest.approx(-impulse / 2.0, rel=1e-12)
    packed = triangular(3, 3, mu=0.3)
    packed.walls[3].load_course = read_course({"table": [[0.0, 1.0], [1.0, 11.0]]})
    simulation = settle(packed, dt=0.1, steps=5)
    mean = 1.0 + 10.0 * 0.45  # over the step from 0.4 to 0.5
    assert packed.walls[3].load == pytest.approx(mean)
    assert wall_forces(packed, simulation.contacts)["piston"][1] == pytest.approx(mean, rel=1e-6)


def test_gravity_tilts():
    """Under g (sin a, -cos a) with a = t/10 a free grain has the velocity of the integral."""
    bodies = grains([[0, 0, 0]])
    bodies.gravity_course = in_space((f"{G}*sin(0.1*t)", f"-{G}*cos(0.1*t)"))
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


def test_frames_of_courses_are_certified():
    """Formula, table, rocking and load course: the certificate holds walls against their courses."""
    walls = [
        floor(drive=Drive(path=in_space((0.0, "0.05*sin(20*t)")))),
        plane([-1, 0, 0], RIGHT, "left", drive=Drive(speed=in_space(({"table": [[0, 0], [0.1, 0.3]]}, 0)))),
        plane([4, 0, 0], -RIGHT, "right", drive=Drive(turn=in_space((0.0, 0.0, "0.2*sin(8*t)")))),
        plane([0, 4.2, 0], -UP, "lid", mass=2.0, load_course=read_course("5*t")),
    ]
    bodies = grains([[0, 1, 0], [2.1, 1, 0], [1.0, 2.9, 0]], dimension=2, friction=0.3, gravity=[0, -G, 0], walls=walls)
    simulation = settle(bodies, dt=2e-3)
    for _ in range(60):
        simulation.step()
        assert not check(rg.Frame.of(simulation)).failed
    frame = rg.Frame.of(simulation)
    frame.walls[0].drive.path = in_space((0.0, "0.06*sin(20*t)"))
    assert "walls" in {one.name for one in check(frame).failed}


# Walls that come and go


def dam(until=0.05, **words):
    scene = rg.Scene(dimension=2, gravity=[0, -G], friction=0.3, run={"dt": 1e-3, "seed": 2}, **words)
    scene.add_grains(count=60, radius=[0.008, 0.012], region=[[0, 0], [0.2, 0.3]])
    scene.add_plane("floor", point=[0, 0], normal=[0, 1])
    scene.add_plane("left", point=[0, 0], normal=[1, 0])
    scene.add_plane("gate", point=[0.2, 0], normal=[-1, 0], until=until)
    scene.add_plane("stop", point=[0.5, 0], normal=[-1, 0], since=0.02)
    return scene


def test_a_gate_is_gone_in_the_very_step():
    """Up to its time it carries, from its time on there is neither wall nor force; other contacts keep theirs."""
    simulation = Simulation(dam(until=0.3))
    simulation.run(until=0.3)
    names = [wall.name for wall in simulation.bodies.walls]
    assert names == ["floor", "left", "gate", "stop"]
    assert wall_forces(simulation.bodies, simulation.contacts)["gate"][0] > 0.1
    before = {
        tuple(pair): force.copy() for pair, force in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces)
    }
    n, rows = simulation.bodies.count, simulation.contacts.count
    simulation.bodies.stage.set(simulation)
    assert [wall.name for wall in simulation.bodies.walls] == ["floor", "left", "stop"]
    kept = {tuple(pair): force for pair, force in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces)}
    gone = [pair for pair in before if pair[1] == n + 2]
    assert len(kept) == rows - len(gone)
    assert gone
    for (i, j), force in kept.items():
        assert np.array_equal(force, before[i, j + 1 if j == n + 2 else j])
    simulation.step()
    frame = rg.Frame.of(simulation)
    assert [wall.name for wall in frame.walls] == ["floor", "left", "stop"]
    assert frame.wall_force.shape == (3, 3)
    assert frame.contacts.pair.max() < n + 3
    assert not check(frame, tolerance=0.1).failed
    simulation.run(until=0.5)
    assert simulation.bodies.position[:, 0].max() > 0.25


def test_forces_are_carried_over_when_a_wall_goes():
    """A column at rest: a wall beside it that vanishes changes nothing, not even the number of sweeps."""
    bodies = column(5, walls=[plane([1.5, 0, 0], -RIGHT, "side", until=0.1)])
    simulation = Simulation(bodies, dt=0.01, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-9)))
    simulation.run(steps=10)
    forces = simulation.contacts.forces.copy()
    simulation.step()
    assert [wall.name for wall in bodies.walls] == ["floor"]
    assert simulation.last_solve.sweeps <= 2
    np.testing.assert_allclose(simulation.contacts.forces, forces, rtol=1e-8)


def test_a_wall_appears_where_its_motion_has_brought_it():
    late = plane([9, 0, 0], -RIGHT, "late", since=0.1, drive=Drive(velocity=np.array([-10.0, 0, 0])))
    early = plane([9, 0, 0], -RIGHT, "early", drive=Drive(velocity=np.array([-10.0, 0, 0])))
    simulation = Simulation(grains([[0, 0, 0]], walls=[early, late]), dt=0.01)
    simulation.run(steps=30)
    np.testing.assert_allclose(late.shape.point, early.shape.point, atol=1e-12)


def test_a_wall_that_appears_in_a_grain_is_refused_and_the_state_is_kept():
    bodies = grains([[0, 0, 0]], velocity=[[1, 0, 0]], walls=[plane([0.5, 0, 0], -RIGHT, "late", since=0.1)])
    simulation = Simulation(bodies, dt=0.01)
    with pytest.raises(rg.StageError, match=r"wall 'late' cannot appear at t = 0.1 s: 1 grains.*since"):
        simulation.run(steps=30)
    assert simulation.steps == 10
    assert not simulation.midway
    assert bodies.position[0, 0] == pytest.approx(0.1)
    assert bodies.walls == []


def test_a_formula_that_fails_ends_the_run_with_the_state_before():
    bodies = grains([[0, 9, 0]], gravity=[0, -G, 0], walls=[floor(drive=Drive(path=in_space((0.0, "sqrt(0.1 - t)"))))])
    simulation = Simulation(bodies, dt=0.01)
    with pytest.raises(rg.StageError, match=r"step 11 cannot begin: formula 'sqrt\(0.1 - t\)' has no value"):
        simulation.run(steps=30)
    assert simulation.steps == 10
    assert not simulation.midway
    assert bodies.velocity[0, 1] == pytest.approx(-G * 0.1)


@pytest.mark.parametrize("stop", [1, 30, 49, 50, 51])
def test_a_run_with_courses_and_gates_resumes_to_the_bit(tmp_path, stop):
    def scene():
        made = dam()
        made.gravity = ["0.5*sin(30*t)", -G]
        made.add_piston("lid", point=[0, 0.35], normal=[0, -1], mass=0.5, load={"table": [[0, 0], [0.1, 20.0]]})
        made.add_plane(
            "arm", point=[0.1, 0.6], normal=[0, 1], size=0.05, angle="0.5*sin(9*t)", displacement=["0.1*t", 0]
        )
        return made

    straight = Simulation(scene())
    straight.run(steps=80)
    path = tmp_path / "run.vtkhdf"
    first = Simulation(scene())
    first.observe(rg.TrajectoryWriter(path), every=10)
    first.run(steps=stop)
    second = rg.resume(path)
    second.observe(rg.TrajectoryWriter(path, resume=True), every=10)
    second.run(steps=80 - stop)
    for name in ("position", "motion", "orientation", "gravity", "id"):
        assert np.array_equal(getattr(second.bodies, name), getattr(straight.bodies, name)), name
    assert np.array_equal(second.contacts.forces, straight.contacts.forces)
    assert [wall.name for wall in second.bodies.walls] == [wall.name for wall in straight.bodies.walls]
    for one, other in zip(second.bodies.all_walls, straight.bodies.all_walls):
        assert np.array_equal(one.shape.point, other.shape.point)
        assert np.array_equal(one.drive.spin, other.drive.spin)
        assert one.load == other.load
    with rg.Trajectory(path) as trajectory:
        present = [[wall.name for wall in frame.walls] for frame in trajectory]
        assert "gate" in present[4]
        assert "gate" not in present[-1]
        assert "stop" not in present[1]
        assert trajectory.wall_names == ["floor", "left", "gate", "stop", "arm", "lid"]
        force = trajectory.wall_force
        assert not force[-1, 2].any()
        assert force[4, 2].any()


def test_functions_are_asked_for_again(tmp_path):
    def shake(t):
        return 0.01 * math.sin(30 * t)

    def make():
        scene = rg.Scene(dimension=2, gravity=[0, -G], run={"dt": 1e-3})
        scene.add_grains(positions=[[0, 0.1], [0.3, 0.1]], radius=0.1)
        scene.add_plane("floor", point=[0, 0], normal=[0, 1], displacement=[0, shake])
        scene.add_piston("lid", point=[0, 0.2], normal=[0, -1], mass=1, load=lambda t: 3 * t)
        return Simulation(scene)

    path = tmp_path / "run.vtkhdf"
    simulation = make()
    simulation.observe(rg.TrajectoryWriter(path), every=10)
    simulation.run(steps=20)
    with pytest.raises(rg.TrajectoryError, match=r"functions=\{'floor.displacement': ..., 'lid.load': ...\}"):
        rg.resume(path)
    with pytest.raises(ValueError, match=r"no function was lost at 'lid.velocity'"):
        rg.resume(path, functions={"lid.velocity": shake})
    resumed = rg.resume(path, functions={"floor.displacement": (0, shake), "lid.load": lambda t: 3 * t})
    resumed.run(steps=20)
    straight = make()
    straight.run(steps=40)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert rg.Trajectory(path)[-1].walls[0].name == "floor"


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


def test_courses_are_written_as_they_were_read():
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


# Servo walls: pistons under a stress


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
