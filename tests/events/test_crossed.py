"""Everything at once: stages with inflow, recycling, species, forces of the user, an intruder and measurements with a
memory, on one thread and on two, torn in every stage; the same in a cell that deforms."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate, measure
from rigidgrains.runtime import threads
from rigidgrains.trajectory.checkpoint import pack


@rg.force
@numba.njit
def crossed_drag(velocity, mass):
    return -0.5 * mass.reshape(-1, 1) * velocity


@rg.force
def crossed_swirl(id, mass, time):
    """By the numbers of grains, which stand in another order after each change."""
    return np.column_stack([0.1 * mass * np.sin(10 * time + id), 0.0 * mass]), 1e-9 * (1.0 + id)


def box() -> rg.Scene:
    """Two materials on a gate; it opens, grains run out and come back at the top; an intruder stirs what is left."""
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.4, run={"dt": 1e-3, "seed": 5})
    scene.add_material("light", density=1000.0, friction=0.3)
    scene.add_material("heavy", density=3000.0, friction=0.5)
    shares = {"light": 0.5, "heavy": 0.5}
    scene.add_grains(
        name="bed", count=24, radius=[1.5e-3, 2.2e-3], region=[[0, 0.002], [0.03, 0.03]], material=shares,
        scalars={"dye": "x / 0.03"},
    )  # fmt: skip
    scene.add_grains(name="intruder", positions=[(0.015, 0.04)], radius=3e-3, density=8000.0, material="heavy")
    scene.add_plane("left", point=(0, 0), normal=(1, 0))
    scene.add_plane("right", point=(0.03, 0), normal=(-1, 0))
    scene.add_plane("ledge", point=(0.01, 0), normal=(0, 1), size=0.02)
    scene.add_plane("gate", point=(0.025, 0), normal=(0, 1), size=0.01, until="flow")
    scene.add_inflow(
        "rain", region=[[0.002, 0.05], [0.028, 0.07]], velocity=(0, -0.5), radius=[1.5e-3, 2.2e-3], rate=300.0,
        total=8, material="heavy", scalars={"dye": 2.0}, since="flow",
    )  # fmt: skip
    scene.add_outlet("drain", point=(0, -0.01), normal=(0, 1), recycle="rain", since="flow")
    scene.add_motion("stir", grains="intruder", velocity=(0, 0))
    scene.add_force(crossed_drag)
    scene.add_force(crossed_swirl, grains="bed")
    scene.add_stage("settle", rest=3e-2, limit=0.06)
    scene.add_stage("flow", until=0.05, gravity=(0, "-9.81 - 20*stage_time"), friction=0.2)
    down = {"velocity": ["0.3*sin(60*stage_time)", -0.4]}
    push = [{"grains": "bed", "force": [1e-3, 0], "torque": 1e-7}]
    scene.add_stage(
        "stir", when={"column": "stir.work", "falling": -1e-3}, limit=0.04, motion={"stir": down}, force=push
    )
    scene.add_stage("end", until=0.02, force=[], material={"heavy": {"friction": 0.1}})
    return scene


def cell() -> rg.Scene:
    """Pressed, then sheared; forces go with the flow, kinds are shares of one group."""
    scene = rg.Scene(dimension=2, friction=0.3, run={"dt": 5e-3, "seed": 2})
    scene.set_cell(lower=(0, 0), upper=(5, 5))
    dense = {"values": [1.0, 3.0], "shares": [1, 1]}
    scene.add_grains(
        name="bed", count=16, radius=(0.4, 0.6), density=dense, placement="dense", scalars={"dye": "y"}
    )  # fmt: skip
    scene.add_force(crossed_drag)
    scene.add_force(crossed_swirl)
    scene.add_stage("press", when={"column": "packing_fraction", "rising": 0.8}, limit=0.1, cell={"pressure": 50.0})
    scene.add_stage("shear", until=0.1, friction=0.1, cell={"rate": {"xy": "2*stage_time"}, "stress": {"yy": 50.0}})
    scene.add_stage("back", until=0.05, cell={"rate": {"xy": -0.3}})
    return scene


def watched(simulation: rg.Simulation) -> tuple[rg.History, measure.Measure]:
    """What remembers: contacts, stays and the mixing of kinds, every 5 steps."""
    by = "material" if "light" in simulation.bodies.material_names else "density"
    memory = rg.Measure(
        contacts=measure.ContactLifetimes(),
        stays=measure.ResidenceTimes(),
        r=lambda frame: measure.segregation(frame, by, reach=4.0).index,
    )
    history = rg.History()
    simulation.observe(history).observe(memory, every=5)
    return history, memory


@pytest.fixture
def many_parts(monkeypatch):
    """Loops in parts of a few rows, as those of large systems are; says how often several threads shared one."""
    shared, team = [], threads._team
    for name, rows in (("PART", 8), ("WORTH", 1), ("LEAST", 1)):
        monkeypatch.setattr(threads, name, rows)
    monkeypatch.setattr(threads, "_team", lambda: shared.append(1) or team())
    yield shared
    threads.set_threads(None)


@pytest.mark.parametrize("make", [box, cell])
def test_a_run_torn_in_every_stage_is_the_whole_one(make, tmp_path, many_parts):
    """The whole run on one thread, its parts on two and three by turns; the file is that of one run."""
    threads.set_threads(1)
    straight = rg.Simulation(make())
    history, memory = watched(straight)
    report = straight.run()
    assert not many_parts
    ends = np.cumsum([one["steps"] for one in report.stages]).tolist()
    cuts = [5 * (end // 5 - 1) for end in ends]  # within each stage, where the memory looks anyway
    path = tmp_path / "run.vtkhdf"
    torn = rg.Simulation(make())
    seen, kept = watched(torn)
    torn.observe(rg.TrajectoryWriter(path, history=seen), every=10)
    for number, cut in enumerate(cuts):
        threads.set_threads(2 + number % 2)
        torn.run(steps=cut - torn.steps)
        torn = rg.resume(path)
        seen, kept = watched(torn)
        torn.observe(rg.TrajectoryWriter(path, resume=True, history=seen), every=10)
    torn.run()
    assert many_parts
    assert [one["name"] for one in torn.report().stages] == [one["name"] for one in report.stages]
    for mine, theirs in zip(pack(straight), pack(torn)):
        for name in mine if isinstance(mine, dict) else ():
            if isinstance(mine[name], np.ndarray):
                assert mine[name].tobytes() == theirs[name].tobytes(), name
    for name in history.names:
        assert np.array_equal(history[name], seen[name], equal_nan=True), name
    for name in ("step", "r", "stays.present", "stays.mean", "contacts.present", "contacts.mean"):
        assert np.array_equal(memory[name], kept[name], equal_nan=True), name
    with rg.Trajectory(path) as trajectory:
        for frame in trajectory:
            assert not certificate.check(frame).violated, certificate.check(frame)
