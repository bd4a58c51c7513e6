"""dt = "auto": steps as long as the motion allows, time without rounding, restarts to the bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support.builders import UP, exact, floor, grains, plane

import rigidgrains as rg
from rigidgrains import AutoStep, FixedSweeps, History, Scene, SceneError, Simulation, Sweeps
from rigidgrains.model.walls import Drive
from rigidgrains.simulation import integrate
from rigidgrains.simulation.timestep import Clock

G = 10.0


def poured(dt, seed=4, **words):
    """60 disks that fall into a box."""
    scene = Scene(dimension=2, gravity=(0, -G), friction=0.3, run={"dt": dt, **words})
    scene.add_grains(count=60, radius=(0.8e-2, 1.2e-2), region=((0, 0), (0.2, 0.3)), seed=seed)
    scene.add_box(lower=(0, 0), upper=(0.2, 1), open=["top"])
    return scene


def test_free_fall_is_bounded_by_the_distance_to_the_floor():
    """v dt + g dt^2 <= gap + travel r in every step, with equality unless growth or the first step is the bound."""
    bodies = grains([[0, 3, 0]], 1.0, gravity=[0, -G, 0], walls=[floor()])
    simulation = Simulation(bodies, dt=AutoStep(travel=0.1), solver=exact())
    reached = 0
    for _ in range(60):
        speed, gap, last = abs(bodies.velocity[0, 1]), bodies.position[0, 1] - 1.0, simulation.dt
        simulation.step()
        dt, room = simulation.dt, max(gap, 0.0) + 0.1
        assert speed * dt + G * dt * dt <= room * (1 + 1e-12)
        reached += math.isclose(speed * dt + G * dt * dt, room, rel_tol=1e-9)
        assert dt <= 1.2 * last * (1 + 1e-12)
    assert reached > 10
    assert simulation.dt == pytest.approx(math.sqrt(0.1 / G))  # at rest
    assert abs(bodies.position[0, 1] - 1.0) < 1e-12


def test_a_fast_projectile_passes_through_no_grain():
    """Head on and at a slant, from near and from far: contact dynamics stops it at the target in every case."""
    for offset in (0.0, 0.3, 0.9, 1.5, 1.9):
        for start in (-4.0, -400.0):
            bodies = grains([[0, 0, 0], [start, offset, 0]], 1.0, velocity=[[0, 0, 0], [1000.0, 0, 0]])
            simulation = Simulation(bodies, dt="auto", solver=exact())
            while bodies.position[1, 0] < 5.0 and simulation.time < 1.0:
                simulation.step()
                distance = np.linalg.norm(bodies.position[1] - bodies.position[0])
                assert distance > 2.0 * (1 - 0.1**2)  # the normal turns by travel/2 at most while they slide past
            assert bodies.velocity[0, 0] > 0.0  # it was hit
            assert simulation.steps < 200


def test_a_projectile_needs_no_short_steps_before_it_arrives():
    """While nothing is near, steps grow: 400 radii of flight cost tens of steps, not 4000."""
    bodies = grains([[0, 0, 0], [-400, 0, 0]], 1.0, velocity=[[0, 0, 0], [1000.0, 0, 0]])
    simulation = Simulation(bodies, dt="auto", solver=exact())
    while bodies.velocity[0, 0] == 0.0:
        simulation.step()
    assert simulation.steps < 60
    assert simulation.step_range[1] > 10 * simulation.step_range[0]


def test_settles_with_fewer_steps_at_equal_overlap():
    """A column of disks comes to rest in less than half the steps of the fixed dt that its fastest moments need."""
    solver = Sweeps(order="symmetric", criterion=rg.OverlapCriterion(1e-6))
    adaptive = Simulation(poured("auto"), solver=solver)
    left = adaptive.run(until=1.0)
    fixed = Simulation(poured(1.0), dt=float(np.quantile(adaptive.step_sizes, 0.05)), solver=solver)
    right = fixed.run(until=1.0)
    weight = float(adaptive.bodies.mass.sum()) * G
    assert left.steps < 0.5 * right.steps
    for report in (left, right):
        assert report.mean_overlap < 5e-5
        assert report.kinetic_energy < 1e-5 * weight * 0.02


def test_runs_end_on_time():
    """The last step is cut to end on `until`, and the ones after it are as long as before."""
    simulation = Simulation(poured("auto"))
    simulation.run(until=0.05)
    assert simulation.time == pytest.approx(0.05, rel=1e-14)
    before = simulation.step_sizes[-3]
    simulation.run(steps=1)
    assert simulation.dt > 0.5 * before
    simulation.run(until=0.07)
    assert simulation.time == pytest.approx(0.07, rel=1e-14)
    assert simulation.run(until=0.06).time == pytest.approx(0.07, rel=1e-14)


def test_time_is_the_sum_of_the_steps():
    """Compensated: after 20,000 changes time differs from the exact sum by a rounding."""
    clock, rng = Clock(0.1), np.random.default_rng(0)
    sizes = rng.uniform(1e-4, 1.0, 20_000)
    for dt in sizes:
        clock.change(float(dt))
        clock.steps += 1
    total = sum((Fraction(float(dt)) for dt in sizes), Fraction())
    assert abs(Fraction(clock.time) - total) <= Fraction(2.0**-52) * total


def test_every_step_is_written_down(tmp_path):
    """Steps in the simulation, in the history and in the file agree, and add up to the time."""
    history = History()
    simulation = Simulation(poured("auto"))
    simulation.observe(history).observe(rg.TrajectoryWriter(tmp_path / "a.vtkhdf", history=history), every=7)
    simulation.run(until=0.1)
    sizes = simulation.step_sizes
    assert len(sizes) == simulation.steps
    assert np.array_equal(history["dt"], sizes)
    assert math.fsum(sizes) == pytest.approx(simulation.time, rel=1e-15)
    with rg.Trajectory(tmp_path / "a.vtkhdf") as trajectory:
        assert np.array_equal(trajectory.step_sizes, sizes)
        assert trajectory[1].dt == sizes[6]
    assert simulation.report().dt_range == (sizes.min(), sizes.max())
    assert f"{sizes.min():.3g} to {sizes.max():.3g} s" in str(simulation.report())


def test_restart_is_exact(tmp_path):
    """A run that was broken off and resumed gives the same bits, and the same steps."""
    straight = Simulation(poured("auto"))
    straight.run(steps=120)
    broken = Simulation(poured("auto"))
    broken.observe(rg.TrajectoryWriter(tmp_path / "a.vtkhdf"), every=100)
    broken.run(steps=57)
    again = rg.resume(tmp_path / "a.vtkhdf")
    again.run(steps=63)
    assert np.array_equal(again.step_sizes, straight.step_sizes)
    assert again.time == straight.time
    assert np.array_equal(again.bodies.motion, straight.bodies.motion)
    assert np.array_equal(again.bodies.position, straight.bodies.position)


def test_looks_by_time():
    """An interval fires once for each multiple of it, after the first step that reaches it."""
    times: list[float] = []
    simulation = Simulation(poured("auto"))
    simulation.observe(lambda run: times.append(run.time), interval=0.01)
    simulation.run(until=0.1)
    assert [math.floor(time / 0.01 + 1e-9) for time in times] == list(range(1, 11))
    with pytest.raises(ValueError, match="interval = 0"):
        simulation.observe(lambda run: None, interval=0)


def test_restitution_keeps_its_law():
    """A ball dropped on a floor rebounds with e times its speed, whatever the steps were."""
    scene = Scene(dimension=2, gravity=(0, 0), run={"dt": "auto"})
    scene.add_material("rubber", restitution=0.5)
    scene.add_grains(positions=[[0, 5]], radius=1, velocity=[0, -3], material="rubber")
    scene.add_plane("floor", point=(0, 0), normal=(0, 1), material="rubber")
    simulation = Simulation(scene)
    simulation.run(until=3.0)
    assert simulation.bodies.velocity[0, 1] == pytest.approx(1.5)


def pressed(**piston) -> Scene:
    """A disk of radius 1 between a floor and a piston of 4 kg, 1 m above it, without gravity."""
    scene = Scene(dimension=2, run={"dt": "auto"})
    scene.add_grains(positions=[[1, 1]], radius=1)
    scene.add_box(lower=(0, 0), upper=(2, 9), open=["top"])
    scene.add_piston("lid", point=(0, 3), normal=(0, -1), mass=4.0, **piston)
    return scene


@pytest.mark.parametrize("piston", [{"area": 2.0}, {"between": ["left", "right"]}])
@pytest.mark.parametrize("stress", [3.0, "3 + sin(t)"])
def test_a_piston_under_stress_moves_like_one_under_the_same_load(piston, stress):
    """F = 3 * 2 = 6 N, a = 1.5 m/s^2: the first step has a dt^2 = 0.0025 d, and the disk carries 6 N in the end."""
    simulation = Simulation(pressed(stress=stress, **piston))
    assert simulation.dt == pytest.approx(math.sqrt(0.0025 * 2.0 / 1.5))
    other = Simulation(pressed(load=6.0))
    assert simulation.dt == other.dt
    if stress == 3.0:
        for one in (simulation, other):
            one.run(until=4.0)
            assert one.report().wall_force["bottom"][1] == pytest.approx(-6.0, rel=1e-6)
        assert np.array_equal(simulation.step_sizes, other.step_sizes)


def test_a_wall_driven_by_a_formula_moves():
    """2 m/s towards a disk at rest, without gravity: the first step covers travel r."""
    scene = Scene(dimension=2, run={"dt": "auto"})
    scene.add_grains(positions=[[0, 5]], radius=1)
    scene.add_plane("ram", point=(0, 0), normal=(0, 1), velocity=[0, "2*cos(t)"])
    assert Simulation(scene).dt == pytest.approx(0.1 / 2.0)


def test_walls_bound_the_step():
    """Swinging walls are followed through their period, and a wall that comes closer counts like a grain."""
    swing = plane([0, 0, 0], UP, "shaker", drive=Drive(amplitude=np.array([0, 1e-3, 0]), frequency=5.0))
    simulation = Simulation(grains([[0, 9, 0]], 1.0, walls=[swing]), dt="auto", solver=exact())
    simulation.run(steps=20)
    assert simulation.dt == pytest.approx(1 / 100)
    held = plane([0, 0, 0], UP, "held", drive=Drive(amplitude=np.array([0, 1e-3, 0])))  # of no frequency: it stands
    simulation = Simulation(grains([[0, 9, 0]], 1.0, walls=[held]), dt=AutoStep(longest=0.3), solver=exact())
    simulation.run(steps=20)
    assert simulation.dt == 0.3
    ram = plane([-2, 0, 0], [1, 0, 0], "ram", drive=Drive(velocity=np.array([50.0, 0, 0])))
    bodies = grains([[0, 0, 0]], 1.0, walls=[ram])
    simulation = Simulation(bodies, dt="auto", solver=exact())
    for _ in range(30):
        gap, speed = bodies.position[0, 0] - bodies.walls[0].shape.point[0] - 1.0, 50.0 - bodies.velocity[0, 0]
        simulation.step()
        assert simulation.dt * speed <= max(gap, 0.0) + 0.1 + 1e-12
    assert bodies.velocity[0, 0] == pytest.approx(50.0)


def test_bounds_hold():
    """No step is longer than dt_max or shorter than dt_min."""
    simulation = Simulation(poured("auto", dt_max=2e-3, dt_min=1.5e-3))
    simulation.run(steps=200)
    assert simulation.step_range == (1.5e-3, 2e-3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_forces_are_carried_over_as_they_are(seed):
    """At rest a force does not know the step: after a change of dt a pile needs no more sweeps than without."""
    simulation = Simulation(poured(1e-3, seed), solver=Sweeps(order="symmetric", max_sweeps=20_000))
    simulation.run(until=1.0)
    weight = float(simulation.bodies.mass.sum()) * G
    for dt in (1e-3, 5e-4, 2e-3):
        simulation.dt = dt
        simulation.step()
        assert simulation.last_solve.sweeps <= 30
        assert -simulation.report().wall_force["bottom"][1] == pytest.approx(weight, rel=0.05)


@pytest.mark.parametrize("dt", ["autos", -1.0, math.nan, 0.0])
def test_no_time_step(dt):
    with pytest.raises(ValueError, match="give a positive number of seconds, dt = 1e-4 for instance, or"):
        Simulation(grains([[0, 0, 0]]), dt=dt)


def test_mistakes_of_a_scene():
    """All at once, with their remedy."""
    with pytest.raises(SceneError, match="must be a number of seconds, or 'auto'"):
        Scene(run={"dt": "autos"})
    with pytest.raises(SceneError, match="belongs to dt = 'auto'") as told:
        poured(1e-3, travel=0.2, dt_max=1.0).build()
    assert all(key in str(told.value) for key in ("run.travel", "run.dt_max"))
    with pytest.raises(SceneError, match="must not be more than dt_max"):
        poured("auto", dt_min=2.0, dt_max=1.0).build()
    with pytest.raises(SceneError, match="greater than zero and at most 1"):
        Scene(run={"dt": "auto", "travel": 0})


def test_mistakes_of_a_program():
    with pytest.raises(ValueError, match="finds nothing that moves; give dt_max"):
        Simulation(grains([[0, 0, 0]]), dt="auto")
    with pytest.raises(ValueError, match="travel = 2 is no part"):
        AutoStep(travel=2)
    with pytest.raises(ValueError, match="leave no time step"):
        AutoStep(longest=1.0, shortest=2.0)


def test_overlap_criterion_bounds_what_a_step_adds():
    """With g_pos overlaps grow in a step by what the criterion allows, on average over the candidates."""
    simulation = Simulation(poured("auto"), solver=Sweeps(order="symmetric", criterion=rg.OverlapCriterion(1e-4)))
    for _ in range(150):
        before = overlap(simulation)
        simulation.step()
        assert simulation.last_solve.converged
        grown = overlap(simulation) - before
        assert grown <= 1.001 * 1e-4 * simulation.contacts.count + 1e-3  # and normals turn a little


def overlap(simulation):
    """Sum of all overlaps over the mean radius."""
    bodies = simulation.bodies
    i, j = np.triu_indices(bodies.count, 1)
    gap = np.linalg.norm(bodies.position[i] - bodies.position[j], axis=1) - bodies.radius[i] - bodies.radius[j]
    at_wall = [wall.shape.gaps(np.arange(bodies.count, dtype=np.int32), bodies.position, bodies.radius)[0]
               for wall in bodies.walls]  # fmt: skip
    return -np.minimum(np.concatenate([gap, *at_wall]), 0.0).sum() / bodies.radius.mean()


def test_a_part_of_the_overlap_is_removed():
    """gap = 0.25 leaves 3/4 of an overlap after each step, and the certificate agrees."""
    bodies = grains([[0, 0, 0], [1.9, 0, 0]], 1.0)
    simulation = Simulation(bodies, dt=0.01, solver=Sweeps(criterion=FixedSweeps(3), gap=0.25))
    simulation.step()
    assert bodies.position[1, 0] - bodies.position[0, 0] - 2.0 == pytest.approx(-0.1 * 0.75)
    simulation = Simulation(
        grains([[0, 0, 0], [1.9, 0, 0]], 1.0), dt=0.01, solver=Sweeps(criterion=FixedSweeps(3), gap=0.5, slack=0.04)
    )
    simulation.step()
    apart = simulation.bodies.position[1, 0] - simulation.bodies.position[0, 0]
    assert apart - 2.0 == pytest.approx(-0.04 - 0.5 * 0.06)  # half of what is beyond the slack
    with pytest.raises(SceneError, match="with 'g_pos' nothing is removed"):
        Scene(solver={"slack": 0.1}).build()
    with pytest.raises(ValueError, match="is unknown; choose 'g_pos'"):
        Sweeps(gap=1.5)
    with pytest.raises(SceneError, match="must be 'g_pos', 'g' or a number between 0 and 1"):
        Scene(solver={"gap": "gg"})


def test_a_common_drift_takes_a_cell_anywhere():
    """Grains that fall along a periodic direction keep their distances, and cross the cell hundreds of times."""
    scene = Scene(dimension=2, gravity=(3, 0), run={"dt": "auto"})
    scene.set_cell(lower=(0, 0), upper=(0.02, 0.02))
    scene.add_grains(count=30, radius=1e-3)
    simulation = Simulation(scene)
    start = simulation.bodies.position.copy()
    report = simulation.run(until=2)
    bodies = simulation.bodies
    there = bodies.position + bodies.image @ bodies.cell.vectors
    assert bodies.velocity == pytest.approx(np.tile([6.0, 0.0, 0.0], (30, 1)), abs=1e-9)
    assert there - start == pytest.approx(np.tile(there[0] - start[0], (30, 1)), abs=1e-9)
    assert (there[:, 0] > 200 * 0.02).all()
    steps = simulation.step_sizes
    speed = 3.0 * (np.cumsum(steps) - steps)
    assert (speed * steps + 3.0 * steps**2 <= 0.02 / 8 * (1 + 1e-9)).all()
    assert report.warnings == []


def test_a_thin_gas_crosses_its_cell():
    """Two grains far apart, in a cell that would let them fly through several images in a step."""
    scene = Scene(dimension=2, run={"dt": "auto"})
    scene.set_cell(lower=(0, 0), upper=(1, 1))
    scene.add_grains(positions=[[0.2, 0.2], [0.7, 0.7]], velocity=[[1, 0], [-1, 0.1]], radius=0.01)
    simulation = Simulation(scene)
    simulation.run(until=3)
    assert simulation.time == pytest.approx(3)
    assert max(simulation.step_sizes) > 0.1  # nothing is near


def warned(simulation, steps):
    """The warning about displacements, if there is one."""
    return [text for text in simulation.run(steps=steps).warnings if "radii in one step" in text]


def test_the_step_in_which_a_grain_moved_far_is_named():
    """Half a radius in a step of 0.5 s: a tenth would take 0.1 s, whatever came later."""
    simulation = Simulation(grains([[0, 0, 0]], 1.0, velocity=[[1, 0, 0]]), dt=0.5)
    simulation.step()
    simulation.dt = 1e-6
    assert "use a dt below 0.1 s" in warned(simulation, 3)[0]


@pytest.mark.parametrize("who", [0, 8191, 8192, 8999])
def test_whoever_moves_farthest_is_found(who):
    """Displacements are compared over the radius, in parts of 8192 grains: the one that moves may be in any of them."""
    position = np.stack([3.0 * np.arange(9000), np.zeros(9000), np.zeros(9000)], axis=1)
    bodies = grains(position, 0.5)
    bodies.velocity[who] = [0.0, 3.0, 4.0]
    assert integrate.move(bodies, 0.1) == pytest.approx(5.0 * 0.1 / 0.5)


def test_flights_need_no_warning():
    """dt = "auto" bounds what pairs come closer, so that normals do not turn, unless travel or dt_min allow it."""
    assert warned(Simulation(poured("auto")), 60) == []
    assert "use a travel of 0.1 in place of 0.5" in warned(Simulation(poured("auto", travel=0.5)), 60)[0]
    assert "use a dt_min below 0.01 s" in warned(Simulation(poured("auto", dt_min=0.01)), 20)[0]
