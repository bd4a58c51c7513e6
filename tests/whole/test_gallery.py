"""Every gallery scene runs to its end through the same road as `rigidgrains run`, and shows its number."""

from __future__ import annotations

import math
import re
import tomllib

import numpy as np
import pytest
from scipy.optimize import brentq
from support import ROOT
from support.gallery import run_gallery_scene

from rigidgrains import certificate, measure
from rigidgrains.gallery import scene_text, scenes
from rigidgrains.scene import Scene, load_scene
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory.reader import Trajectory

G = 9.81
FILES = ("test_gallery", "test_gallery_shapes", "test_gallery_stages")


@pytest.fixture
def run(tmp_path):
    return run_gallery_scene(tmp_path)


def test_every_scene_is_listed_with_a_title_and_tested():
    texts = [(ROOT / "tests" / "whole" / f"{name}.py").read_text() for name in FILES]
    tested = {name for text in texts for name in re.findall(r"^def test_the_(\w+)", text, re.M)}
    assert tested == set(scenes())
    assert all(scenes().values())


def test_the_collision(run):
    """m1 v / (m1 + m2) with masses as the cubes of the radii, 1 and 8."""
    _, state, _ = run("collision", pictures=True)
    assert state.velocity[:, 0] == pytest.approx([1 / 9, 1 / 9], rel=1e-12)
    assert np.all(state.velocity[:, 1:] == 0.0)


def test_a_small_compression():
    """The same with 300 spheres in place of 2000."""
    words = tomllib.loads(scene_text("compression"))
    words["grains"][0]["count"] = 300
    words["cell"]["upper"] = [0.028 * (300 / 2000) ** (1 / 3)] * 3
    report = Simulation(Scene(**words)).run(until=words["run"]["until"])
    assert report.cell["pressure"] == pytest.approx(1000.0, rel=0.01)
    assert 0.55 < report.cell["packing_fraction"] < 0.64
    assert report.max_overlap < 1e-2  # what a certificate accepts


@pytest.mark.slow
def test_the_compression(run):
    """The grains come to carry the pressure of their cell, denser than loose packings and looser than close ones."""
    report, state, _ = run("compression")
    assert report.cell["pressure"] == pytest.approx(1000.0, rel=0.01)
    assert 0.55 < report.cell["packing_fraction"] < 0.64
    assert abs(state.cell_rate[0, 0]) * 0.025 < 1e-2
    assert report.max_overlap < 5e-3


def test_the_chain(run):
    """At rest the wall carries the force on the last disk."""
    report, _, _ = run("chain")
    assert report.wall_force["wall"] == pytest.approx([-0.05, 0.0], rel=1e-4, abs=1e-12)
    assert report.sweeps_mean == pytest.approx(40, abs=1.0)  # steps without a candidate need none


def test_the_column(run):
    """The k-th contact from the top carries k m g."""
    report, state, bodies = run("column")
    weight = bodies.mass[0] * G
    carried = sorted(np.linalg.norm(state.contacts.force, axis=1))
    assert carried == pytest.approx(weight * np.arange(1, 21), rel=1e-6)
    assert report.wall_force["floor"] == pytest.approx([0, 0, -20 * weight], rel=1e-6, abs=1e-9)


def test_the_incline(run):
    """Rolling: a = 5/7 g sin; slipping: a = g (sin - mu cos)."""
    report, state, _ = run("incline")
    down = np.array([math.cos(math.radians(30)), 0, -math.sin(math.radians(30))])
    rolling, sliding = state.velocity @ down
    assert rolling == pytest.approx(5 / 7 * G * 0.5 * report.time, rel=1e-6)
    assert sliding == pytest.approx(G * (0.5 - 0.1 * math.sqrt(0.75)) * report.time, rel=1e-6)


@pytest.mark.slow
def test_the_piston(run):
    """Box and grains stand: over the last steps the walls carry weight and load. In one step what little still moves
    adds the change of its momentum: 0.1 mm/s of the piston within 1 ms is 0.2 % of the load."""
    report, state, bodies = run("piston")
    weight = bodies.mass.sum() * G
    words = tomllib.loads(scene_text("piston"))
    simulation, found = Simulation(Scene(**words)), []

    def carried(sim: Simulation) -> None:
        force = sim.report().wall_force
        found.append((sim.time, -sum(force[name][1] for name in ("left", "right", "bottom")), force["piston"][1]))

    simulation.observe(carried)
    simulation.run(until=words["run"]["until"])
    time, lift, load = np.array(found).T
    late = time > time[-1] - 0.05
    steps = np.diff(time, prepend=0.0)[late]
    assert np.average(lift[late], weights=steps) == pytest.approx(weight + 4.0 * G + 40.0, rel=1e-3)
    assert np.average(load[late], weights=steps) == pytest.approx(4.0 * G + 40.0, rel=1e-3)
    assert report.max_overlap < 2e-3
    assert report.rigidity["verdict"] == "rigid"
    assert certificate.check(state).passed


@pytest.mark.slow
def test_the_pile(run):
    report, _, bodies = run("pile")
    lift = -sum(force[2] for force in report.wall_force.values())
    assert lift == pytest.approx(bodies.mass.sum() * G, rel=0.02)
    assert report.kinetic_energy < 1e-3 * bodies.mass.sum() * G * bodies.radius.mean()


@pytest.mark.slow
def test_the_drum(tmp_path):
    """Newton for all grains together, step by step: what the drum carries is the weight and the change of momentum."""
    path = tmp_path / "drum.toml"
    path.write_text(scene_text("drum"))
    simulation = Simulation(load_scene(path))
    bodies = simulation.bodies
    carried, lean = [], []
    momentum = (bodies.mass[:, None] * bodies.velocity).sum(axis=0)
    simulation.observe(lambda sim: carried.append(sim.dt * sim.contacts.force[sim.contacts.wall_rows[0]].sum(axis=0)))
    simulation.observe(lambda sim: lean.append(np.average(bodies.position[:, 0], weights=bodies.mass)), every=10)
    report = simulation.run(until=1.0)
    change = (bodies.mass[:, None] * bodies.velocity).sum(axis=0) - momentum
    weight = bodies.mass.sum() * G
    expected = np.array([0.0, -weight, 0.0]) - change / report.time
    force = np.sum(carried, axis=0) / report.time
    assert force == pytest.approx(expected, abs=1e-9 * weight)
    assert force[1] == pytest.approx(-weight, rel=0.02)
    # Turning counter-clockwise, the drum carries its grains to the right, and no grain leaves it.
    assert np.mean(lean[len(lean) // 2 :]) > 0.1 * 0.055
    assert np.linalg.norm(bodies.position, axis=1).max() < 0.055


@pytest.mark.slow
def test_the_hopper(run):
    """All grains end in the tray, which carries their weight."""
    report, state, bodies = run("hopper")
    assert state.position[:, 1].max() < 0.0585  # below the opening
    lift = -sum(force[1] for name, force in report.wall_force.items() if name.startswith("tray"))
    assert lift == pytest.approx(bodies.mass.sum() * G, rel=0.01)
    assert report.wall_force["left chute"] == report.wall_force["right chute"] == [0.0, 0.0]


def test_the_funnel(run):
    """N = m g/sin(45) and N cos(45) = m v^2/r: with v^2 = g r a marble keeps its height, its speed and its circle."""
    report, state, bodies = run("funnel")
    np.testing.assert_allclose(state.position[:, 2], bodies.position[:, 2], rtol=1e-3)
    circle = np.hypot(bodies.position[:, 0], bodies.position[:, 1])
    np.testing.assert_allclose(np.hypot(state.position[:, 0], state.position[:, 1]), circle, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(state.velocity, axis=1), np.sqrt(G * circle), rtol=1e-3)
    turned = np.arctan2(state.position[:, 1], state.position[:, 0])
    expected = np.sqrt(G / circle) * report.time + np.array([0.0, np.pi])
    assert np.abs(np.exp(1j * turned) - np.exp(1j * expected * [1, -1])).max() < 0.02


def test_the_bounce(run):
    """At the top of the first bounce the ball has e^2 of its height."""
    _, state, _ = run("bounce")
    assert state.position[0, 2] - 0.02 == pytest.approx(0.8**2 * 0.5, rel=5e-3)
    assert abs(state.velocity[0, 2]) < 0.02


def test_the_deposit(run):
    """Cohesion is a force between grains: the box carries their weight; pulls hold part of the deposit."""
    report, state, bodies = run("deposit")
    lift = -sum(force[1] for force in report.wall_force.values())
    forces = np.abs(state.contacts.normal_force).sum()  # far more than the weight: pulls hold the grains together
    assert lift == pytest.approx(bodies.mass.sum() * G, abs=1e-3 * forces)
    pull = state.contacts.normal_force[state.contacts.status > 0]
    assert pull.min() > -2.0 * (1 + 1e-9)
    assert (pull < -bodies.mass.mean() * G).sum() > 10


def test_the_slip(run):
    """One block stays; the other bears mu_s in the step in which it lets go, then mu_d: a = g (sin - mu_d cos)."""
    report, state, _ = run("slip")
    down, cos = np.array([2.0, -1.0, 0.0]) / math.sqrt(5.0), 2.0 / math.sqrt(5.0)
    stays, slides = state.velocity @ down
    assert stays == pytest.approx(0.0, abs=1e-6)
    first = 1e-3 * G * cos * (0.5 - 0.45)
    assert slides == pytest.approx(first + G * cos * (0.5 - 0.3) * (report.time - 1e-3), rel=1e-4)


def test_the_rolling(run):
    """tan below mu_r/r: at rest; above: a = 5/7 g (sin - mu_r/r cos)."""
    report, state, _ = run("rolling")
    stays, rolls = state.velocity[:, 0]
    assert stays == pytest.approx(0.0, abs=1e-6)
    angle = math.radians(15)
    assert rolls == pytest.approx(5 / 7 * G * (math.sin(angle) - 0.1 * math.cos(angle)) * report.time, rel=1e-5)


def test_every_scene_file_loads():
    """As it lies in the package, without a mistake."""
    for name in scenes():
        assert load_scene(ROOT / "src" / "rigidgrains" / "gallery" / f"{name}.toml").title


def slope(position: np.ndarray, mass: np.ndarray) -> float:
    """Angle (deg) of a heap by its moments: a triangle has its mean height at H/3, its mean |x| at L/3."""
    on = position[:, 1] > 0.0
    x, height, mass = position[on, 0], position[on, 1], mass[on]
    aside = np.abs(x - np.average(x, weights=mass))
    return math.degrees(math.atan(np.average(height, weights=mass) / np.average(aside, weights=mass)))


def poured(rolling: float, **inflow) -> dict:
    """The words of the heap with another rolling friction (m)."""
    words = tomllib.loads(scene_text("heap"))
    words["material"][0]["rolling"] = rolling
    words["inflow"][0] |= inflow
    return words


def test_a_small_heap_is_steeper_with_more_rolling_friction():
    """As Zhou et al. (2001) found for spheres. Fewer grains, a table of half the size, half the height of the fall."""
    angle = []
    for rolling in (5e-5, 5e-4):
        words = poured(rolling, total=60, rate=120, region=[[-0.015, 0.06], [0.015, 0.08]])
        words["plane"][0]["size"] = 0.14
        simulation = Simulation(Scene(**words), dt=4e-4)
        simulation.run(until=1.0)
        angle.append(slope(simulation.bodies.position, simulation.bodies.mass))
    assert angle[1] > angle[0] + 5.0


@pytest.mark.slow
def test_the_heap(run):
    """Between the angles of glass beads of its size in wide and in thin cells; flatter with less rolling friction.

    Zhou et al. (2002): theta0 (1 + exp(-0.18 w/d)) with theta0 = 29.6 d^-0.206, d in mm, in a cell of width w.
    """
    report, state, _ = run("heap")
    angle, wide = slope(state.position, state.mass), 29.6 * 10.0**-0.206
    assert wide < angle < wide * (1.0 + math.exp(-0.18))
    assert report.inflows["spout"]["grains"] == 220
    assert report.grains + report.outlets["edge"]["grains"] == 220
    words = poured(5e-5)
    flat = Simulation(Scene(**words))
    flat.run(until=words["run"]["until"])
    assert slope(flat.bodies.position, flat.bodies.mass) < angle - 3.0


@pytest.mark.slow
def test_the_silo(run):
    """No grain is lost, and the rate is near that of a free-falling arch, phi rho (pi/4) D sqrt(g D).

    The packing at the opening is looser than the bed's 0.8: 0.5 to 0.8 of the disks' own density.
    """
    report, _, bodies = run("silo")
    drain, top = report.outlets["drain"], report.inflows["top"]
    assert report.grains + top["due"] == bodies.count == 250
    assert drain["grains"] == top["again"] + top["due"]
    assert "gate" not in report.wall_force
    fluxes = [drain["rate"] * drain["mass"] / drain["grains"]]
    for seed in (1, 2, 3):  # the rate of 150 grains scatters by a tenth
        scene = Scene(**tomllib.loads(scene_text("silo")))
        drain = Simulation(scene, seed=seed).run(until=scene.run.until).outlets["drain"]
        fluxes.append(drain["rate"] * drain["mass"] / drain["grains"])
    arch = 1000.0 * math.pi / 4.0 * 0.06 * math.sqrt(G * 0.06)
    assert 0.5 < np.mean(fluxes) / arch < 0.8


@pytest.mark.slow
def test_the_vibrated(run, tmp_path):
    """The layer leaves the floor at sin = g/(A w^2) = 1/2 in each period, and lands where a parabola meets a sine."""
    run("vibrated")
    with Trajectory(tmp_path / "out" / "vibrated.vtkhdf") as trajectory:
        history, names = trajectory.history, trajectory.wall_names
    time, carries = history["time"], np.abs(history["wall_force"][:, names.index("floor"), 1]) > 1e-9
    touches = time[carries]
    gaps = np.flatnonzero((np.diff(touches) > 0.05) & (touches[:-1] > 0.3))
    leaves, lands = touches[gaps] - 0.3, touches[gaps + 1] - 0.3
    a, w = 5e-3, 62.641839
    lift = math.asin(0.5) / w
    assert leaves[0] == pytest.approx(lift, abs=1e-3)
    assert np.diff(leaves) == pytest.approx(np.full(len(leaves) - 1, 2 * math.pi / w), abs=5e-3)
    assert len(leaves) == 3
    way = lambda t: a * (0.5 + math.cos(w * lift) * w * (t - lift)) - G / 2 * (t - lift) ** 2 - a * math.sin(w * t)  # noqa: E731
    assert lands[0] == pytest.approx(brentq(way, lift + 0.02, lift + 0.2), abs=4e-3)


def test_the_tilt(run):
    """It holds up to tan = mu_s = 0.4 and then gains the integral of g (sin - mu_d cos) over the rest of the way."""
    report, state, _ = run("tilt")
    begin, end = math.atan(0.4), 0.5 * report.time
    gained = G / 0.5 * (math.cos(begin) - math.cos(end) - 0.3 * (math.sin(end) - math.sin(begin)))
    assert state.velocity[0, 0] == pytest.approx(gained, rel=5e-3)


def test_the_stickslip(run, tmp_path):
    """It lets go at mu_s N, stops when the spring has lost 2 (mu_s - mu_d) N, and does so in a known period.

    While it slips, y = k (X - x) - mu_d N swings as y'' = -w^2 y from D = (mu_s - mu_d) N and y' = k V. It stops where
    y' is k V again: at -D, after an angle of 2 (pi - atan(D w/(k V))).
    """
    _, _, bodies = run("stickslip")
    with Trajectory(tmp_path / "out" / "stickslip.vtkhdf") as trajectory:
        history = trajectory.history
    dt, k, v, m = 1e-3, 400.0, 0.02, bodies.mass.sum()
    weight, w = m * G, math.sqrt(k / m)
    drop, swing = 0.2 * weight, math.hypot(0.2 * weight, k * v / w)
    time, force, slips = history["time"], history["puller.force"], history["kinetic_energy"] > 1e-9 * m
    begins = np.flatnonzero(slips[1:] & ~slips[:-1]) + 1
    ends = np.flatnonzero(~slips[1:] & slips[:-1]) + 1
    assert len(begins) == 2
    assert force[begins] == pytest.approx(np.full(2, 0.5 * weight), abs=2 * k * v * dt)
    near = w * dt * swing  # of implicit Euler in a swing
    assert force[ends] == pytest.approx(np.full(len(ends), 0.5 * weight - 2 * drop), abs=near)
    period = 2 * drop / (k * v) + 2 * (math.pi - math.atan(drop * w / (k * v))) / w
    assert time[begins[1]] - time[begins[0]] == pytest.approx(period, abs=near / (k * v) + 2 * dt)


@pytest.mark.slow
def test_the_shear(run, tmp_path):
    """At I = 0.1: mu* = 0.25 + 1.1 I and phi = 0.81 - 0.3 I, fits of da Cruz et al. (2005), good to a tenth.

    To their tenth comes the statistical error of this run, by blocking over strains 1 to 6.
    """
    run("shear")
    with Trajectory(tmp_path / "out" / "shear.vtkhdf") as trajectory:
        history, mass = trajectory.history, trajectory[-1].mass.mean()
    steady = history["time"] > 1.0
    stress = measure.blocking(-history["shear_stress"][steady] / 100.0)
    inertial = 1.0 * math.sqrt(mass / 100.0)
    assert inertial == pytest.approx(0.1, rel=0.02)
    fit = 0.25 + 1.1 * inertial
    assert stress.error < 0.05 * fit
    assert abs(stress.mean - fit) < 0.1 * fit + 2.0 * stress.error
    assert history["packing_fraction"][steady].mean() == pytest.approx(0.81 - 0.3 * inertial, rel=0.05)
    assert history["pressure"][steady].mean() == pytest.approx(100.0, rel=0.05)


def core(name, frame):
    """How far the light or large ones are from the middle of all: 1 if outside of all others, -1 if within."""
    away = np.linalg.norm(frame.position[:, :2] - frame.position[:, :2].mean(axis=0), axis=1)
    by, kind = {"densities": ("material", "light"), "sizes": ("group", "large")}[name]
    return measure.stratification(frame, by, along=away).index[measure.kinds(frame, by).names.index(kind)]


@pytest.mark.parametrize("name", ["densities", "sizes"])
def test_drums_of_two_kinds_begin_mixed(name):
    """Kinds are placed at random: Lacey's index is 1 and none is in the middle, but for the scatter."""
    frame = measure.of(Simulation(Scene(**tomllib.loads(scene_text(name)))))
    assert measure.lacey(frame, "material" if name == "densities" else "group").index == pytest.approx(1.0, abs=0.1)
    assert abs(core(name, frame)) < 0.15


@pytest.mark.slow
def test_the_densities(run):
    """Heavy disks gather in the middle. Of random kinds the index would scatter by 0.06, from 0."""
    _, state, _ = run("densities")
    assert core("densities", state) > 0.2


@pytest.mark.slow
def test_the_sizes(run):
    """Small disks gather in the middle, large ones outside."""
    _, state, _ = run("sizes")
    assert core("sizes", state) > 0.1
