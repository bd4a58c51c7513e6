"""Stages as a user meets them: mistakes in their tables, and what is told of those that ended and are to come."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support import ROOT
from support.stages import resting

import rigidgrains as rg
from rigidgrains.app.about import scene_facts, trajectory_facts
from rigidgrains.observe.progress import Progress

MISTAKEN = """
dimension = 2
[[grains]]
positions = [[0, 1]]
radius = 0.5
[[plane]]
name = "gate"
point = [0, 0]
normal = [0, 1]
until = "opne"
velocity = ["stage_time", 0]
[[piston]]
name = "lid"
point = [0, 3]
normal = [0, -1]
velocity = 0
[[stage]]
name = "one"
rest = true
[[stage]]
name = "open"
[[stage]]
name = "two"
until = 1
rest = true
piston.lid.load = 3
piston.ldi.load = 3
plane.gate.nromal = [0, 1]
when = { column = "pressure", rising = 1, falling = 2 }
cell.pressure = 3
gravity = [0, 0, 1]
"""


def test_all_mistakes_are_told_at_once_with_their_places(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(MISTAKEN)
    with pytest.raises(rg.SceneError) as told:
        rg.load_scene(path)
    text = str(told.value)
    for place in (
        "plane[0].until (line 10): no stage has this name",
        "plane[0].velocity (line 11): stage_time is that of a [[stage]]",
        "stage[0].limit (line 17): missing",
        "stage[1].until (line 20): missing; give until, rest or when",
        "stage[2].rest (line 25): given together with until",
        "stage[2].when.rising (line 29): give rising or falling",
        "stage[2].piston.lid.load (line 26): needs a mass",
        "stage[2].piston.ldi (line 22): no [[piston]] has this name; did you mean 'lid'?",
        "stage[2].plane.gate.nromal (line 28): cannot be changed by a stage",
        "stage[2].cell (line 22): the scene has no [cell]",
        "stage[2].gravity (line 31): must have 2 components",
    ):
        assert place in text, (place, text)


UNREADABLE = """
dimension = 2
[[grains]]
name = "g"
count = 10
radius = 0.01
region = [[0, 0], [1, 1]]
[[plane]]
name = "wonky"
point = [0, 0]
normal = [0, 1, "x"]
[[plane]]
name = "floor"
point = [0, 0]
normal = [0, 1]
velocity = ["stage_time", 0]
[[material]]
name = "a"
[[stage]]
name = "one"
until = 1
plane.floor = { velocity = [0, 0, 1] }
plane.wonky = { velocity = [0, 0] }
[[stage]]
name = "two"
rest = "soon"
plane.floor = { velocity = [0, 0, 1] }
force = [{ grian = 1 }, { grains = "nobody", force = [0, 1] }, { grains = "g", index = 99, force = [1, 0] }]
material.a = { density = 3 }
[[stage]]
name = "three"
force = [{ grains = "nobody", force = [0, 1] }]
[[stage]]
name = "four"
"""


def test_mistakes_of_stages_are_told_although_other_tables_cannot_be_read(tmp_path):
    """Also the same mistake again in a later stage, at its own place, and in tables whose neighbours are wrong."""
    path = tmp_path / "scene.toml"
    path.write_text(UNREADABLE)
    with pytest.raises(rg.SceneError) as told:
        rg.load_scene(path)
    places = [(problem.place, problem.line) for problem in told.value.problems]
    assert places == [
        ("plane[0].normal", 11),
        ("plane[1].velocity", 16),
        ("stage[0].plane.floor.velocity", 22),
        ("stage[1].rest", 26),
        ("stage[1].plane.floor.velocity", 27),
        ("stage[1].force[0].grains", 28),
        ("stage[1].force[0].grian", 28),
        ("stage[1].force[1].grains", 28),
        ("stage[1].force[2].index", 28),
        ("stage[1].material.a.density", 29),
        ("stage[2].until", 30),
        ("stage[2].force[0].grains", 32),
    ]


def test_a_column_that_the_history_does_not_have_is_refused():
    scene = resting()
    scene.add_stage("press", when={"column": "presure", "rising": 1.0}, limit=1.0)
    with pytest.raises(rg.SceneError, match=r"stage\[0\].when.column: no column of the history.*given: 'presure'"):
        rg.Simulation(scene)


def test_the_scene_of_the_page_is_one(tmp_path):
    page = (ROOT / "docs" / "stages.md").read_text(encoding="utf-8")
    path = tmp_path / "scene.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    scene = rg.load_scene(path, to_run=True)
    assert [stage.name for stage in scene.stage] == ["compress", "strain"]
    told = dict(scene_facts(path))
    assert told["stage compress"] == "until at rest, inertial number below 0.001, 10 s at most"
    assert told["stage strain"] == "for 5 s; top: velocity = 0.2*min(1, stage_time/0.1); friction = 0.5"


def test_stages_over_under_way_and_to_come_are_told(tmp_path):
    """By the report, by the file of a run that was not finished, and of one that is."""
    path = tmp_path / "run.vtkhdf"
    scene = resting()
    scene.add_stage("wait", until=0.1)
    scene.add_stage("press", when={"column": "kinetic_energy", "rising": 2.0}, limit=0.2)
    scene.add_stage("on", rest=1e-4, limit=0.05)
    simulation = rg.Simulation(scene).observe(rg.TrajectoryWriter(path, history=rg.History()), every=1)
    report = simulation.run(until=0.15)
    wait = "to t = 0.1 s, 10 steps: 0.1 s have passed"
    press = "under way since t = 0.1 s, until kinetic_energy rises to 2, 0.2 s at most"
    on = "to come, until at rest, inertial number below 0.0001, 0.05 s at most"
    assert report.stages_left == [("press", press), ("on", on)]
    assert [line.split(None, 2)[2] for line in str(report).splitlines() if line.startswith("stage")] == [
        wait, press, on,
    ]  # fmt: skip
    told = dict(trajectory_facts(path))
    assert [told[f"stage {name}"] for name in ("wait", "press", "on")] == [wait, press, on]
    simulation.run()
    assert simulation.report().stages_left == []
    told = dict(trajectory_facts(path))
    assert told["stage press"].startswith("to t = 0.3 s, 20 steps: after 0.2 s kinetic_energy is")
    assert told["stage on"].startswith("to t = 0.3")


def test_progress_tells_the_stage_and_counts_on_those_that_are_left():
    """The share is that of the time that all stages take at most, and grows when one ends before its limit."""
    seen = []

    class Watched(Progress):
        def look(self, simulation):
            super().look(simulation)
            seen.append((self._bar.share, self._bar.line()))

    scene = resting()
    scene.add_stage("settle", rest=True, limit=10.0)
    scene.add_stage("on", until=0.1)
    simulation = rg.Simulation(scene).observe(Watched(Console(file=io.StringIO())))
    settled = simulation.run().stages[0]["steps"]
    assert seen[0][0] == pytest.approx(1 / 1012)  # 10.1 s, and a step for each stage
    assert "stage 1 of 2, settle" in seen[0][1]
    assert "stage 2 of 2, on" in seen[settled][1]
    assert seen[settled][0] == pytest.approx((settled + 1) / (settled + 11))
    assert seen[-1][0] == 1.0


def test_grains_of_an_inflow_are_pushed_by_functions():
    scene = resting()
    scene.add_inflow("rain", radius=0.1, rate=10.0, region=((0, 2), (1, 3)))
    scene.add_stage("blow", until=0.1, force=[{"grains": "rain", "force": [1.0, 0]}])
    with pytest.raises(
        rg.SceneError, match=r"stage\[0\].force\[0\].grains: are grains of an inflow, .*scene.add_force"
    ):
        rg.Simulation(scene)
    scene.stage.clear()
    scene.add_force(lambda mass: mass[:, None] * [3.0, 0.0], name="wind", grains="rain")
    simulation = rg.Simulation(scene)
    simulation.run(until=0.2)
    rain = simulation.bodies.groups["rain"]
    assert rain.stop > rain.start
    assert (simulation.bodies.velocity[rain, 0] > 0.0).all()
    assert simulation.bodies.velocity[0, 0] == 0.0
