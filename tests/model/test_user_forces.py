"""Forces of the user's own against exact motions; grains with prescribed motion against the balance of momentum."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate, measure
from rigidgrains.simulation.sorting import renumber

DT = 1e-3


@rg.force
def air_drag(velocity, mass):
    """2 m v, in kg/s."""
    return -2.0 * mass[:, None] * velocity


def falling(**words) -> rg.Scene:
    scene = rg.Scene(dimension=2, gravity=(0, -10.0), run={"dt": DT})
    scene.add_grains(name="dust", positions=[(0, 0), (3, 0)], radius=0.1, density=1.0, **words)
    return scene


def test_terminal_velocity_and_the_way_there():
    """m dv = (m g - c v) dt, step by step: v_k = g/2 (1 - (1 - 2 dt)^k); in the end m g/c, whatever dt is."""
    simulation = rg.Simulation(falling()).add_force(air_drag)
    simulation.run(steps=400)
    assert simulation.bodies.velocity[:, 1] == pytest.approx(-5.0 * (1 - (1 - 2 * DT) ** 400), rel=1e-12)
    simulation.run(until=10.0)
    assert simulation.bodies.velocity[:, 1] == pytest.approx([-5.0] * 2, rel=1e-7)
    budget = measure.energy_budget(simulation)
    power = -20.0 * simulation.bodies.mass.sum() * 2.5  # -c v^2
    assert budget.forces / DT == pytest.approx(power, rel=1e-6)
    assert budget.gravity == pytest.approx(-budget.forces, rel=1e-6)
    assert certificate.check(rg.Frame.of(simulation)).passed


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_harmonic_trap_keeps_its_period(dimension):
    """2 sin(a/2) = w dt: the force of where a grain is, and the way of the velocity that it gives."""
    scene = rg.Scene(dimension=dimension, run={"dt": 1e-2})
    scene.add_grains(positions=[np.eye(dimension)[0]], radius=0.1, density=1.0)
    simulation = rg.Simulation(scene)
    k = 4.0 * simulation.bodies.mass[0]  # w = 2
    simulation.add_force(lambda position: -k * position[:, :dimension], name="trap")
    places = []
    simulation.observe(lambda sim: places.append(sim.bodies.position[0, 0]))
    simulation.run(steps=500)
    a = 2.0 * math.asin(0.5 * 2.0 * 1e-2)
    first = places[0]
    phase = np.arange(1, 501) * a
    # x_k = A cos(k a + p) with x_0 = 1 and x_1 as it is
    p = math.atan2(math.cos(a) - first, math.sin(a))
    assert places == pytest.approx(np.cos(phase + p) / math.cos(p), abs=1e-9)


def test_torque_spins_up_one_group_alone():
    scene = falling()
    scene.gravity = (0, 0)
    scene.add_grains(name="rotor", positions=[(6, 0)], radius=0.2, density=1.0)
    simulation = rg.Simulation(scene)

    def motor(position, time):
        return np.zeros((len(position), 2)), np.full(len(position), 1e-3 * time)

    simulation.add_force(motor, grains="rotor").run(steps=100)
    inertia = 0.5 * simulation.bodies.mass[2] * 0.04
    assert simulation.bodies.spin[:, 2] == pytest.approx([0, 0, 1e-3 * 0.1**2 / 2 / inertia], rel=1e-12)
    assert certificate.check(rg.Frame.of(simulation)).passed


def test_compiled_functions_are_asked_in_the_same_way():
    @numba.njit
    def compiled(velocity, mass):
        out = np.empty_like(velocity)
        for i in range(len(velocity)):
            for k in range(3):
                out[i, k] = -2.0 * mass[i] * velocity[i, k]
        return out

    one = rg.Simulation(falling()).add_force(air_drag)
    other = rg.Simulation(falling()).add_force(compiled, name="compiled")
    one.run(steps=20)
    other.run(steps=20)
    assert np.array_equal(one.bodies.motion, other.bodies.motion)


def pile(**words) -> rg.Scene:
    """Disks rain into a box; some leave; with drag, through scene.add_force."""
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.4, run={"dt": DT, "seed": 3, **words})
    scene.add_grains(name="bed", count=8, radius=[1.5e-3, 2e-3], region=[[0, 0], [0.03, 0.02]])
    scene.add_box(lower=(0, 0), upper=(0.03, 0.1), open=["top"])
    scene.add_inflow("rain", radius=[1.5e-3, 2e-3], rate=300, total=4, region=[[0.005, 0.05], [0.025, 0.06]])
    scene.add_force(air_drag)
    return scene


@pytest.mark.parametrize("dt", [DT, "auto"])
def test_a_run_with_forces_and_an_intruder_is_resumed_to_the_bit(tmp_path, dt):
    """With inflow, and numbers that change on the way; the force is found again by its registered name."""

    def make():
        scene = pile(dt=dt)
        scene.add_grains(name="intruder", positions=[(0.015, 0.03)], radius=4e-3)
        scene.add_motion("pull", grains="intruder", velocity=("0.05*sin(40*t)", -0.1), rotation=3.0)
        return rg.Simulation(scene)

    path, straight = tmp_path / "run.vtkhdf", make()
    straight.run(until=0.06)
    torn = make().observe(rg.TrajectoryWriter(path), every=10)
    torn.run(until=0.035)
    again = rg.resume(path)
    again.observe(rg.TrajectoryWriter(path, resume=True), every=10)
    again.run(until=0.06)
    if dt == DT:  # an adaptive run ends on the end of each part
        assert np.array_equal(again.bodies.motion, straight.bodies.motion)
        assert again.bodies.guides[0].work == straight.bodies.guides[0].work
    with rg.Trajectory(path) as trajectory:
        for frame in trajectory:
            assert certificate.check(frame).passed, certificate.check(frame)


def test_a_force_without_a_registered_name_is_asked_for(tmp_path):
    path = tmp_path / "run.vtkhdf"

    def wind(position):
        return np.ones((len(position), 2))

    simulation = rg.Simulation(falling()).add_force(wind).observe(rg.TrajectoryWriter(path))
    simulation.run(steps=3)
    with pytest.raises(rg.TrajectoryError, match=r"functions=\{'force.wind': ...\}"):
        rg.resume(path)
    again = rg.resume(path, functions={"force.wind": wind})
    again.run(steps=3)
    simulation.run(steps=3)
    assert np.array_equal(again.bodies.motion, simulation.bodies.motion)


def test_forces_follow_grains_that_are_numbered_anew():
    """By the arrays that the function is given, in the order that they have then."""
    simulation = rg.Simulation(falling()).add_force(
        lambda id, mass: np.stack([id * mass, 0 * mass], axis=1), name="by id"
    )
    simulation.run(steps=5)
    renumber(simulation.bodies, simulation.neighbours, simulation.contacts, np.array([1, 0]))
    simulation.run(steps=5)
    order = np.argsort(simulation.bodies.id)
    assert simulation.bodies.velocity[order, 0] == pytest.approx([0.0, 10 * DT], rel=1e-12)


def test_the_velocity_in_a_cell_is_that_of_the_flow_too():
    scene = rg.Scene(dimension=2, run={"dt": DT})
    scene.set_cell(lower=(0, 0), upper=(10, 10), rate={"xy": 2.0})
    scene.add_grains(positions=[(5.0, 3.0), (5.0, 7.0)], radius=0.5)
    seen = []

    def look(velocity, position):
        seen.append(velocity[:, 0] - 2.0 * position[:, 1])
        return np.zeros_like(velocity)

    rg.Simulation(scene).add_force(look).run(steps=3)
    assert np.abs(seen[1:]).max() < 1e-2


def test_an_adaptive_step_knows_forces_and_their_time_scale():
    scene = falling()
    scene.gravity = (0, 0)
    scene.run = {"dt": "auto"}
    simulation = rg.Simulation(scene, dt=rg.AutoStep(drop=0.01, longest=1.0))
    simulation.add_force(lambda mass: np.outer(mass, [1e4, 0.0]), name="strong", timescale=0.2)
    simulation.run(steps=1)
    assert simulation.dt <= 20 * math.sqrt(2 * 0.01 * 0.1 / 1e4)
    slow = rg.Simulation(scene, dt=rg.AutoStep(longest=1.0)).add_force(air_drag, timescale=0.4)
    slow.run(steps=30)
    assert max(slow.step_sizes) <= 0.4 / 20


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda: np.zeros((3, 2)), r"forces of 'f' are an array \(3, 2\); return one of \(2, 2\)"),
        (lambda: None, "forces of 'f' are None"),
        (lambda: np.full((2, 2), np.nan), "not finite"),
        (lambda: (np.zeros((2, 2)), np.zeros((2, 2))), r"torques of 'f' are an array \(2, 2\); return one of \(2,\)"),
        (lambda: 1 / 0, "force 'f' failed at t = 0.0005 s: ZeroDivisionError"),
        (lambda: np.zeros((2, 2), complex), r"are complex numbers \(2, 2\); return one of"),
        (lambda: [[1.0, 2.0], [3.0]], r"are rows of different lengths; return one of \(2, 2\)"),
        (lambda: (np.zeros((2, 2)), [[1.0], [2.0, 3.0]]), r"torques of 'f' are rows of different lengths; return one"),
        (lambda: (np.zeros((2, 2)), "much"), "torques of 'f' are 'much'; return one of"),
    ],
)
def test_what_a_function_gives_is_looked_at_before_the_run(function, told):
    with pytest.raises(ValueError, match=told):
        rg.Simulation(falling()).add_force(function, name="f")


def test_a_force_is_asked_with_a_step_that_has_a_length():
    """Thermal noise goes with 1/sqrt(dt): asked with dt = 0 s before the run, it could not be given."""
    asked = []

    def kicks(dt, time, mass):
        asked.append((time, dt))
        return np.full((len(mass), 2), 1e-3 / math.sqrt(dt))

    scene = falling()
    scene.gravity = (0, 0)
    scene.add_force(kicks, timescale=0.5 * 1e-4 + DT)
    simulation = rg.Simulation(scene)
    simulation.run(steps=4)
    speed = 4 * math.sqrt(DT) * 1e-3 / simulation.bodies.mass
    assert simulation.bodies.velocity[:, 0] == pytest.approx(speed, rel=1e-12)
    simulation.add_force(kicks, name="more")
    assert asked[-1] == pytest.approx((4.5 * DT, DT))


@pytest.mark.parametrize(
    ("function", "words", "told"),
    [
        (None, {}, "is no function; give one of position"),
        (3, {}, "is no function"),
        (air_drag, {"name": ""}, "name = '' of a force is none"),
        (air_drag, {"name": 3}, "name = 3 of a force is none"),
        (air_drag, {"timescale": "1"}, "timescale = '1' is no time"),
        (air_drag, {"timescale": True}, "timescale = True is no time"),
        (air_drag, {"timescale": math.nan}, "timescale = nan is no time"),
    ],
)
def test_words_of_a_force_are_looked_at(function, words, told):
    with pytest.raises((TypeError, ValueError), match=told):
        rg.Simulation(falling()).add_force(function, **words)
    scene = falling()
    if function is not None:  # which stands for a constant force there
        with pytest.raises((TypeError, ValueError), match=told):
            scene.add_force(function, **words)
    with pytest.raises(TypeError, match=r"3 is no function; write @rg.force above one"):
        rg.force(3)


def test_unknown_arguments_and_groups_are_told():
    with pytest.raises(TypeError, match="asks for 'speed', which is not known; known are position, velocity"):
        rg.Simulation(falling()).add_force(lambda speed: speed, name="f")
    with pytest.raises(ValueError, match="no group of grains is called 'sand'; known are dust"):
        rg.Simulation(falling()).add_force(air_drag, grains="sand")


def test_a_function_that_fails_on_the_way_keeps_the_state_before(tmp_path):
    def late(time, mass):
        if time > 0.0104:
            raise KeyError("gone")
        return np.zeros((len(mass), 2))

    simulation = rg.Simulation(falling()).add_force(late)
    with pytest.raises(rg.StageError, match=r"step 11 cannot begin: force 'late' failed at t = 0.0105 s: KeyError"):
        simulation.run(until=0.1)
    assert simulation.steps == 10
    assert simulation.bodies.velocity[0, 1] == pytest.approx(-0.1, rel=1e-12)


def test_what_is_no_array_on_the_way_keeps_the_state_before(tmp_path):
    """Also in the file: nothing of the run is lost."""
    path, wrong = tmp_path / "run.vtkhdf", {"torque": 1.0}

    def push(time, mass):
        return (np.zeros((len(mass), 2)), wrong if time > 0.0104 else None)

    simulation = rg.Simulation(falling()).add_force(push, name="push").observe(rg.TrajectoryWriter(path), every=100)
    with pytest.raises(rg.StageError, match=r"step 11 cannot begin: torques of 'push' are \{'torque': 1.0\}; return"):
        simulation.run(until=0.1)
    assert rg.resume(path, functions={"force.push": push}).steps == 10


@pytest.mark.parametrize("dimension", [2, 3])
def test_an_intruder_is_pulled_through_grains(dimension):
    """What others do to it is what they lose, step by step; its way is exact, and its work is in the budget."""
    scene = rg.Scene(dimension=dimension, friction=0.3, run={"dt": 2e-3, "seed": 1})
    up = (0.5,) * (dimension - 1)
    region = [[0.0] * dimension, [1.0, *(2 * x for x in up)]]
    bed = {"count": 25 if dimension == 2 else 60, "placement": "random"}
    scene.add_grains(name="bed", radius=[0.06, 0.08], region=region, **bed)
    scene.add_grains(name="ball", positions=[(-0.3, *up)], radius=0.15, density=10.0)
    scene.add_motion("pull", grains="ball", velocity=("1 + 0.5*sin(20*t)", *(0.0,) * (dimension - 1)))
    simulation = rg.Simulation(scene, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-10)))
    bodies, history, momenta = simulation.bodies, rg.History(), []
    bed = bodies.groups["bed"]
    simulation.observe(lambda sim: momenta.append(bodies.mass[bed] @ bodies.velocity[bed]))
    simulation.observe(history)
    budgets = []
    simulation.observe(lambda sim: budgets.append(measure.energy_budget(sim)))
    simulation.run(until=0.5)
    t = simulation.time
    assert bodies.position[-1, 0] == pytest.approx(-0.3 + t + 0.025 * (1 - math.cos(20 * t)), rel=1e-9)
    pushed = -np.cumsum(np.stack([history[f"pull.force_{axis}"] for axis in "xyz"[:dimension]], axis=1), axis=0) * 2e-3
    assert np.abs(pushed[-1]).max() > bodies.mass[bed].mean()  # it did meet them
    assert np.array(momenta)[:, :dimension] == pytest.approx(pushed, abs=1e-9 * np.abs(pushed).max())
    work = np.cumsum([budget.forces for budget in budgets])
    assert history["pull.work"] == pytest.approx(work, rel=1e-9)
    assert max(abs(budget.error) for budget in budgets) < 1e-12 * np.abs(work).max() + 1e-13
    found = certificate.check(rg.Frame.of(simulation))
    assert found.passed, found


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_grain_rebounds_from_one_that_is_accelerated(dimension):
    """v = (1 + e) u with the velocity u that the bat has in that step; the certificate asks for the same."""
    scene = rg.Scene(dimension=dimension, run={"dt": 1e-2})
    scene.add_material("ball", restitution=0.5)
    side = (0.0,) * (dimension - 1)
    scene.add_grains(name="bat", positions=[(0.0, *side)], radius=0.2, material="ball")
    scene.add_grains(name="ball", positions=[(0.5, *side)], radius=0.2, material="ball")
    scene.add_motion("swing", grains="bat", velocity=("1 + 40*t", *side))
    simulation = rg.Simulation(scene)
    while not simulation.bodies.velocity[1, 0]:
        simulation.step()
        assert certificate.check(rg.Frame.of(simulation)).passed, certificate.check(rg.Frame.of(simulation))
    assert simulation.bodies.velocity[1, 0] == pytest.approx(1.5 * (1 + 40 * (simulation.time - 5e-3)), rel=1e-9)


def test_a_shape_moves_as_prescribed_and_two_of_them_pass_through_each_other():
    """A brick that turns and drags a pentagon along; what cannot give way feels nothing of its like, nor of walls."""
    scene = rg.Scene(dimension=2, friction=0.5, run={"dt": 2e-3})
    scene.add_shape("brick", box=(2, 1))
    scene.add_shape("pentagon", polygon=5)
    scene.add_grains(name="free", positions=[(0.4, 0.0)], radius=0.1, shape="pentagon")
    scene.add_grains(name="told", positions=[(0, 0), (-1.0, 0)], radius=0.2, shape="brick")
    scene.add_plane("left", point=(-1.5, 0), normal=(1, 0))
    scene.add_motion("one", grains="told", index=0, displacement=("t", 0), rotation=2.0)
    scene.add_motion("other", grains="told", index=1, velocity=(-4.0, 0))
    simulation = rg.Simulation(scene)
    simulation.run(until=0.2)
    bodies = simulation.bodies
    assert bodies.position[1:, 0] == pytest.approx([0.2, -1.8], rel=1e-9)
    assert bodies.orientation[1:] == pytest.approx([0.4, 0.0], rel=1e-9)
    assert bodies.velocity[0, 0] > 0.5
    assert np.isfinite(bodies.motion).all()
    assert simulation.report().converged_steps == simulation.report().asked_steps


def test_the_torque_on_a_drum_is_the_moment_of_the_weight():
    """At rest in a drum that holds still by friction: T = sum m g x about its axis; its power is torque times spin."""
    scene = rg.Scene(dimension=2, gravity=(0, -10.0), friction=math.inf, run={"dt": 5e-3})
    scene.add_grains(positions=[(0.3, -0.8)], radius=0.1, density=1.0)
    scene.add_grains(positions=[(0.55, -0.66)], radius=0.1, density=1.0)
    scene.add_cylinder("drum", point=(0, 0), radius=1.0, rotation=0.4)
    simulation = rg.Simulation(scene)
    history = rg.History()
    bodies, moments, budgets, shifted = simulation.bodies, [], [], []
    kept = [bodies.velocity[:, :2].copy(), bodies.spin[:, 2].copy()]

    def look(sim):
        """About the axis, with grains where the step found them: the moment of the weight, less what turns them."""
        x = bodies.position[:, :2] - sim.dt * bodies.velocity[:, :2]
        v, m = bodies.velocity[:, :2] - kept[0], bodies.mass
        gained = m * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + 0.5 * m * bodies.radius**2 * (
            bodies.spin[:, 2] - kept[1]
        )
        moments.append(float((m * -10.0 * x[:, 0]).sum() - gained.sum() / sim.dt))
        kept[:] = [bodies.velocity[:, :2].copy(), bodies.spin[:, 2].copy()]
        budgets.append(measure.energy_budget(sim))
        r_t = np.linalg.norm(sim.contacts.tangential_force, axis=1)
        shifted.append(
            float((np.abs(sim.contacts.gap) * r_t).sum())
        )  # forces at surfaces that are apart as a step begins

    simulation.observe(look).observe(history)
    simulation.run(until=0.5)
    scale = 10.0 * bodies.mass.sum()
    power = np.array([budget.walls for budget in budgets]) / 5e-3
    assert history["drum.power"] == pytest.approx(power, abs=1e-9 * scale)
    assert history["drum.power"] == pytest.approx(-0.4 * history["drum.torque"], rel=1e-9, abs=1e-12)
    assert (np.abs(history["drum.torque"] - moments) <= np.array(shifted) + 1e-9 * scale).all()
    assert np.median(shifted) < 1e-3 * scale
    assert abs(history["drum.torque"]).max() > 0.1 * scale
