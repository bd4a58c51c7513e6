"""Columns of walls that move and turn: their power is what closes the balance of energy, in every step."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import measure


def disks(**material) -> rg.Scene:
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5, run={"dt": 1e-3, "seed": 1})
    scene.add_material("m", **material)
    region = ((-0.02, -0.02), (0.02, 0.02))
    scene.add_grains(count=30, radius=(1.5e-3, 2.5e-3), region=region, placement="random", material="m")
    return scene


def solids(shape: dict | None = None, **material) -> rg.Scene:
    scene = rg.Scene(dimension=3, gravity=(0, 0, -9.81), friction=0.5, run={"dt": 1e-3, "seed": 1})
    scene.add_material("m", **material)
    own = {"material": "m"}
    if shape:
        scene.add_shape("it", **shape)
        own["shape"] = "it"
    region = ((-0.012,) * 3, (0.012,) * 3)
    scene.add_grains(count=14, radius=(2e-3, 2.5e-3), region=region, placement="random", **own)
    return scene


def drum_2d():
    scene = disks(rolling=3e-4)
    scene.add_cylinder("drum", point=(0, 0), radius=0.03, rotation="5 + t", material="m")
    return scene


def tilted_floor():
    scene = disks()
    scene.add_box(lower=(-0.03, -0.03), upper=(0.03, 0.05), open=["top", "bottom"])
    scene.add_plane(
        "floor", point=(0, -0.02), normal=(0, 1), velocity=("0.1*sin(60*t)", 0.05), angle="0.2*sin(30*t)",
        about=(0.02, -0.05),
    )  # fmt: skip
    return scene


def blade_and_piston():
    scene = disks()
    scene.add_box(lower=(-0.03, -0.021), upper=(0.03, 0.05), open=["top"])
    scene.add_plane("blade", point=(0.0, -0.005), normal=(1, 0), size=0.02, rotation=-9, velocity=(0.02, -0.05))
    scene.add_piston("side", point=(-0.0205, 0), normal=(1, 0), velocity=0.1)
    return scene


def drum_3d():
    scene = solids({"box": (1, 1, 1)})
    scene.add_cylinder("drum", point=(0, 0, 0), axis=(0, 1, 0), radius=0.018, rotation=(0, 6, 0))
    scene.add_plane("lid", point=(0, 0.013, 0), normal=(0, -1, 0), rotation=(0, 6, 0), about=(0, 0, 0))
    scene.add_plane("back", point=(0, -0.013, 0), normal=(0, 1, 0))
    return scene


def turntable():
    scene = solids(rolling=3e-4, twisting=1e-4)
    scene.add_plane(
        "table", point=(0, 0, -0.0125), normal=(0, 0, 1), rotation=(0, 0, 8), about=(0.01, 0, 0), material="m",
        velocity=(0, "0.1*t", 0.02),
    )  # fmt: skip
    return scene


def funnel():
    scene = solids()
    scene.add_cone("funnel", point=(0, 0, -0.01), radii=(0.006, 0.03), length=0.02, rotation=(0, 0, 8))
    return scene


@pytest.mark.parametrize("make", [drum_2d, tilted_floor, blade_and_piston, drum_3d, turntable, funnel])
def test_the_power_of_walls_closes_the_balance_of_energy(make):
    """dE = (P + gravity) dt - dissipation in each step, whatever the wall is and about whatever it turns."""
    simulation, history, budgets = rg.Simulation(make()), rg.History(), []
    simulation.observe(history).observe(lambda sim: budgets.append(measure.energy_budget(sim)))
    simulation.run(steps=50)
    power = np.sum([history[name] for name in history.names if name.endswith(".power")], axis=0)
    done = np.array([budget.walls for budget in budgets])
    scale = np.abs(done).max()
    assert scale > 1e-7
    assert 1e-3 * power == pytest.approx(done, abs=1e-12 * scale)
    kinetic = np.diff(history["kinetic_energy"])
    rest = np.array([b.gravity + b.returned - b.contacts - b.shocks for b in budgets])
    assert kinetic == pytest.approx(1e-3 * power[1:] + rest[1:], abs=1e-9 * np.abs(history["kinetic_energy"]).max())


def test_a_torque_times_spin_is_the_power_of_a_wall_that_only_turns():
    """Component by component in 3D: about one axis of rotation the others do no work."""
    scene, history = solids(rolling=3e-4), rg.History()
    scene.add_plane("table", point=(0, 0, -0.0125), normal=(0, 0, 1), rotation=(0, 0, 8), about=(0.01, 0, 0))
    simulation = rg.Simulation(scene).observe(history)
    simulation.run(steps=50)
    assert np.abs(history["table.torque_z"]).max() > 1e-7
    assert history["table.power"] == pytest.approx(-8.0 * history["table.torque_z"], rel=1e-9, abs=1e-15)
    assert np.abs(history["table.torque_x"]).max() > np.abs(history["table.torque_z"]).max()
