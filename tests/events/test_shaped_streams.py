"""Grains of other shapes rain into a hopper of plates, leave through its opening and come back, and files follow."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.certificate import check

OPENING, WIDE, HIGH = 0.02, 0.12, 0.06


def hopper():
    """Pentagons, rods and disks through an opening between two plates."""
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.3)
    scene.add_shape("pentagon", polygon=5)
    scene.add_shape("rod", capsule=3)
    for side in (-1.0, 1.0):
        foot, top = np.array([side * 0.5 * OPENING, 0.0]), np.array([side * 0.5 * WIDE, HIGH])
        along = (top - foot) / np.linalg.norm(top - foot)
        normal = -side * np.array([along[1], -along[0]]) * np.sign(along[1])
        size = float(np.linalg.norm(top - foot))
        scene.add_plane(f"side {side:g}", point=0.5 * (foot + top), normal=normal, size=size)
    scene.add_grains(
        name="bed", count=12, shape={"pentagon": 1, "disk": 1}, radius=3e-3, region=((-0.03, 0.045), (0.03, 0.08))
    )
    scene.add_inflow(
        "rain", region=((-0.04, 0.09), (0.04, 0.13)), shape={"pentagon": 2, "rod": 1}, radius=(2.5e-3, 3.5e-3),
        rate=150.0, velocity=(0.0, -0.5), spin=3.0,
    )  # fmt: skip
    scene.add_outlet("drain", point=(0.0, -0.02), normal=(0.0, 1.0), recycle="rain")
    return scene


def test_nothing_is_lost_and_all_is_certified():
    simulation = rg.Simulation(hopper(), dt=5e-4)
    bodies, events = simulation.bodies, simulation.bodies.events
    mass = bodies.mass.sum()
    (rain,), (drain,) = events.inflows, events.outlets
    met = 0
    for k in range(420):
        simulation.step()
        assert bodies.count + len(rain.waiting) == 12 + rain.made
        waiting = sum(float(one.mass[0]) for one in rain.waiting)
        assert bodies.mass.sum() + waiting == pytest.approx(mass + rain.mass, rel=1e-12)
        met += sum(rows.stop - rows.start for rows in simulation.contacts.wall_rows)
        if k % 60 == 59:
            certificate = check(rg.Frame.of(simulation))
            assert "violated" not in certificate.verdict, str(certificate)
            assert certificate["geometry"].passed
            assert certificate["missing contacts"].passed
    assert met > 0
    assert drain.count > 0
    assert rain.again > 0
    entered = bodies.shape[bodies.groups["rain"]]
    assert {bodies.catalogue.names[k] for k in entered} >= {"pentagon", "rod"}
    assert np.ptp(bodies.orientation[bodies.groups["rain"]]) > 1.0
    assert simulation.tally.deepest < 0.05 * bodies.radius.mean()


def test_the_resumed_run_is_the_same(tmp_path):
    straight = rg.Simulation(hopper(), dt=1e-3)
    straight.run(steps=160)
    first = rg.Simulation(hopper(), dt=1e-3)
    first.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=20)
    first.run(steps=80)
    second = rg.resume(tmp_path / "run.vtkhdf")
    second.run(steps=80)
    for name in ("position", "orientation", "motion", "shape", "id"):
        np.testing.assert_array_equal(
            getattr(second.bodies, name)[: second.bodies.count], getattr(straight.bodies, name)[: straight.bodies.count]
        )
    np.testing.assert_array_equal(second.contacts.forces, straight.contacts.forces)
    np.testing.assert_array_equal(second.contacts.feature, straight.contacts.feature)


def test_a_grain_that_enters_turns_as_it_is_told():
    """3D: the spin given is that in space, whatever the inertia."""
    scene = rg.Scene(dimension=3)
    scene.add_shape("brick", box=[1, 2, 3])
    scene.add_inflow("in", region=([0, 0, 0], [1, 1, 1]), shape="brick", radius=0.1, rate=10.0, spin=(1.0, 2.0, 3.0))
    simulation = rg.Simulation(scene, dt=0.01)
    while not simulation.bodies.count:
        simulation.step()
    bodies = simulation.bodies
    assert bodies.count == 1
    before = bodies.spins_of(bodies.motion, before=True)[0] if len(bodies.orientation_before) else bodies.spin[0]
    axes = bodies.orientation[0]
    assert np.linalg.norm(axes) == pytest.approx(1.0)
    assert np.linalg.norm(bodies.spin[0] - [1.0, 2.0, 3.0]) < 0.2
    assert before is not None
