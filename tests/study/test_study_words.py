"""A study is checked before anything runs: every mistake with its place, value, remedy and line, at every point."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from support.studies import BALL, STUDY, falling, write

import rigidgrains as rg
from rigidgrains.gallery import scene_text, scenes
from rigidgrains.scene.toml import write_toml
from rigidgrains.study.grid import run_words
from rigidgrains.study.read import words_of_scene

CELL = {**BALL, "gravity": [0, 0], "cell": {"lower": [0, 0], "upper": [3, 3]}}


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ([0.1, 0.3], [0.1, 0.3]),
        ({"from": 0.1, "to": 0.5, "steps": 5}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"from": 1e-4, "to": 1e-1, "steps": 4, "scale": "log"}, [1e-4, 1e-3, 1e-2, 1e-1]),
        ({"from": 0.0, "to": 2.0, "steps": 3}, [0, 1, 2]),
        (np.array([0.1, 0.2]), [0.1, 0.2]),
    ],
)
def test_lists_and_ranges(given, values):
    study = rg.Study(scene=BALL, vary={"friction": given})
    assert study.vary == {"friction": values}
    assert [run.point["friction"] for run in study.runs] == values


def test_counts_in_a_range_are_whole():
    scene = {**BALL, "grains": [{"count": 3, "radius": 0.1, "region": [[0, 0], [9, 9]]}]}
    study = rg.Study(scene=scene, vary={"grains[0].count": {"from": 10, "to": 30, "steps": 3}})
    assert [type(value) for value in study.vary["grains[0].count"]] == [int, int, int]


def test_the_grid_is_every_combination_for_every_point_and_replica():
    points = [{"run.dt": 1e-3, "run.steps": 10}, {"run.dt": 1e-4, "run.steps": 100}]
    study = falling(vary={"friction": [0.1, 0.2, 0.3]}, points=points, replicas=4)
    runs = study.runs
    assert len(runs) == 2 * 3 * 4
    assert [run.number for run in runs] == list(range(24))
    assert [(run.point["run.dt"], run.point["friction"], run.replica) for run in runs[:5]] == [
        (1e-3, 0.1, 0), (1e-3, 0.1, 1), (1e-3, 0.1, 2), (1e-3, 0.1, 3), (1e-3, 0.2, 0),
    ]  # fmt: skip
    assert all(run.point["run.steps"] * run.point["run.dt"] == pytest.approx(0.01) for run in runs)
    assert study.names == ["run.dt", "run.steps", "friction"]


def test_dotted_names_may_be_tables_within_tables(tmp_path):
    """As TOML reads them without quotes."""
    path = write(tmp_path, study=STUDY.replace('"grains.sand.radius"', "grains.sand.radius"))
    assert rg.Study(path).names == ["friction", "grains.sand.radius"]


def test_python_and_toml_say_the_same(tmp_path):
    one = rg.Study(write(tmp_path))
    other = rg.Study(
        title="grains in a box", scene=str(tmp_path / "scene.toml"), replicas=2,
        vary={"friction": [0.1, 0.5], "grains.sand.radius": {"from": 0.8e-3, "to": 1.0e-3, "steps": 2}},
        measure={"z": "coordination.z_all"},
    )  # fmt: skip
    assert one.runs == other.runs


# words, place of the mistake, parts of the message
CASES = [
    ({"scene": 3}, "scene", ["name of a scene file", "given: 3"]),
    ({"replicas": 0}, "replicas", ["at least 1", "0"]),
    ({"seeds": "sharde"}, "seeds", ["did you mean 'shared'?"]),
    ({"varry": {}}, "varry", ["unknown key", "did you mean 'vary'?"]),
    ({"vary": [1]}, "vary", ["must be a table of names"]),
    ({"vary": {"friction": 0.3}}, "vary.friction", ["must be a list of values, or a range", "0.3"]),
    ({"vary": {"friction": []}}, "vary.friction", ["must be a list of values"]),
    ({"vary": {"friction": [0.1, 0.1]}}, "vary.friction", ["twice", "replicas = ..."]),
    ({"vary": {"friction": {"from": 0, "to": 1}}}, "vary.friction.steps", ["missing", "number of values"]),
    ({"vary": {"friction": {"from": 0, "to": 1, "steps": 1}}}, "vary.friction.steps", ["one value is no range"]),
    ({"vary": {"friction": {"from": 0, "to": 1, "steps": 3, "scale": "log"}}}, "vary.friction.from", ["no logarithm"]),
    ({"vary": {"friction": {"from": 0, "to": 1, "steps": 3, "stps": 3}}}, "vary.friction.stps", ["'steps'?"]),
    ({"vary": {"frction": [1]}}, "vary.frction", ["unknown key 'frction'; did you mean 'friction'?"]),
    ({"vary": {"grains.bal.radius": [1]}}, "vary.grains.bal.radius", ["did you mean 'ball'?"]),
    ({"vary": {"grains[1].radius": [1]}}, "vary.grains[1].radius", ["has 1 entries"]),
    ({"vary": {"friction": [0.1, -0.1]}}, "vary.friction", ["at friction = -0.1", "must not be negative"]),
    ({"vary": {"friction": [0.1]}, "set": {"friction": 0.2}}, "set.friction", ["given by vary.friction too"]),
    ({"vary": {"run.seed": [1, 2]}, "replicas": 2}, "vary.run.seed", ["goes with replicas = 1"]),
    ({"vary": {"a b": [1]}}, "vary.a b", ["is no name of a key"]),
    ({"points": [{"friction": 0.1}, {"run.dt": 1e-3}]}, "points[1]", ["same names as the first: friction"]),
    ({"points": {"friction": 0.1}}, "points", ["double brackets"]),
    ({"points": [{"friction": 0.1}, {"friction": 0.1}]}, "points[1]", ["twice"]),
    ({"end": {"until": -1}}, "end.until", ["greater than zero", "-1"]),
    ({"end": {"untill": 1}}, "end.untill", ["did you mean 'until'?"]),
    ({"set": {"run.dt": 0.0}}, "set.run.dt", ["greater than zero"]),
    ({"measure": {"z": "coordinaton"}}, "measure.z.of", ["did you mean 'coordination'?"]),
    ({"measure": {"q": "coordination"}}, "measure.q.of", ["several numbers", "coordination.z"]),
    ({"measure": {"q": "coordination.zz"}}, "measure.q.of", ["several numbers"]),
    ({"measure": {"q": "packing_fraction.x"}}, "measure.q.of", ["write 'packing_fraction'"]),
    ({"measure": {"e": "column:kinetc_energy"}}, "measure.e.of", ["did you mean 'kinetic_energy'?"]),
    ({"measure": {"e": "column:pressure"}}, "measure.e.of", ["no column 'pressure' in the history of this scene"]),
    ({"measure": {"e": "column:__import__('os')"}}, "measure.e.of", ["may hold columns, numbers"]),
    ({"measure": {"e": "column:time +"}}, "measure.e.of", ["is no column of the history"]),
    ({"measure": {"e": {"of": "column:time", "from": 2, "to": 1}}}, "measure.e.from", ["swap them"]),
    ({"measure": {"e": {"of": "column:time", "from": "half"}}}, "measure.e.from", ["share of the run such as '50%'"]),
    ({"measure": {"e": {"of": "column:time", "take": "mode"}}}, "measure.e.take", ["must be 'last', 'first'"]),
    ({"measure": {"e": {"of": "column:time", "with": {"a": 1}}}}, "measure.e.with", ["belongs to a function"]),
    ({"measure": {"e": {"from": 1}}}, "measure.e.of", ["missing", "column:NAME"]),
    ({"measure": {"e": "nowhere:f"}}, "measure.e.of", ["No module named 'nowhere'", "beside the study file"]),
    ({"measure": {"e": "math:f"}}, "measure.e.of", ["module 'math' has no 'f'"]),
    ({"measure": {"e": "math:pi"}}, "measure.e.of", ["is no function"]),
    ({"measure": {"e": {"of": "packing_fraction", "with": {"vol": 1}}}}, "measure.e.of", ["cannot be called", "vol"]),
    ({"measure": {"e": 3}}, "measure.e.of", ["must be a text", "3"]),
    ({"measure": {"run": "packing_fraction"}}, "measure.run", ["no name for a column"]),
    ({"measure": {"friction": "packing_fraction"}, "vary": {"friction": [1]}}, "vary.friction", ["rename the measure"]),
    ({"replicas": 3_000_000}, "vary", ["3,000,000 runs", "1,000,000"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "place", "parts"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_mistakes_are_told(words, place, parts):
    with pytest.raises(rg.StudyError) as error:
        rg.Study(**{"scene": BALL, **words})
    (problem,) = [problem for problem in error.value.problems if problem.place == place]
    for part in parts:
        assert part in str(problem)


def test_all_mistakes_at_once_with_lines(tmp_path):
    text = """scene = "scene.toml"
replicas = 2
[vary]
friction = [0.1, -0.5]
"grains[0].count" = [10, 2.5]
"grains.snad.radius" = [1e-3]
[measure]
z = "coordinaton"
"""
    with pytest.raises(rg.StudyError) as error:
        rg.Study(write(tmp_path, study=text))
    told = str(error.value)
    assert told.splitlines()[0].endswith("study.toml: 4 mistakes in the study")
    assert "vary.friction (line 4): at friction = -0.5, grains[0].count = 10" in told
    assert "vary.grains[0].count (line 5): at friction = 0.1, grains[0].count = 2.5" in told
    assert "and at 1 other point: grains[0].count: must be a whole number; given: 2.5" in told
    assert "vary.grains.snad.radius (line 6): no [[grains]] of the scene is called 'snad'" in told
    assert "measure.z.of (line 8): rigidgrains.measure has no function 'coordinaton'" in told


def test_a_mistake_that_needs_two_words_is_found_at_its_combination(tmp_path):
    """static_friction must not be less than friction: wrong at one of four points."""
    scene = {**BALL, "material": [{"name": "m", "friction": 0.5, "static_friction": 0.6}]}
    vary = {"material.m.friction": [0.2, 0.7], "material.m.static_friction": [0.3, 0.8]}
    with pytest.raises(rg.StudyError) as error:
        rg.Study(scene=scene, vary=vary)
    (problem,) = error.value.problems
    assert "at material.m.friction = 0.7, material.m.static_friction = 0.3:" in problem.message


def test_mistakes_of_the_scene_itself_have_its_file_and_line(tmp_path):
    path = write(tmp_path)
    (tmp_path / "scene.toml").write_text((tmp_path / "scene.toml").read_text().replace("count = 30", "cuont = 30"))
    with pytest.raises(
        rg.StudyError, match=r"scene \(line 3\): .*scene.toml \(line 7\): grains\[0\].cuont: unknown key"
    ):
        rg.Study(path)


def test_a_scene_without_an_end_needs_one():
    scene = {**BALL, "run": {"dt": 1e-3}}
    with pytest.raises(rg.StudyError, match=r"run.until: missing; give an end"):
        rg.Study(scene=scene)
    assert rg.Study(scene=scene, end={"steps": 3}).end.steps == 3


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.toml", "no such file"),
        ("text.toml", "not valid TOML"),
        ("empty", "holds no study.toml"),
        ("lost.toml", "no such file"),
    ],
)
def test_files_that_are_no_studies(tmp_path, name, told):
    (tmp_path / "text.toml").write_text("a = = 3")
    (tmp_path / "lost.toml").write_text('scene = "gone.toml"')
    (tmp_path / "empty").mkdir()
    with pytest.raises(rg.StudyError, match=told):
        rg.Study(tmp_path / name)


def test_columns_of_a_cell_are_known():
    assert rg.Study(scene=CELL, measure={"mu": "column:-shear_stress / pressure"}).measure["mu"].taken == "last"


def test_a_scene_made_in_python_is_the_same_as_its_words():
    scene = rg.Scene(dimension=2, gravity=(0, -10), run={"dt": 1e-3, "steps": 20}, output={"frame_every": 1000})
    scene.add_grains(name="ball", positions=[(0, 1)], radius=0.1, density=100)
    one, other = (
        rg.Study(scene=scene, vary={"friction": [0.1, 0.2]}),
        rg.Study(scene=BALL, vary={"friction": [0.1, 0.2]}),
    )
    assert run_words(one, one.runs[1]) == run_words(other, other.runs[1])


@pytest.mark.parametrize("name", sorted(scenes()))
def test_scenes_of_the_gallery_survive_being_written(name):
    """What Python says of a scene is what its file says."""
    words = tomllib.loads(scene_text(name))
    again = rg.Scene(**tomllib.loads(write_toml(words_of_scene(rg.Scene(**words)))))
    options = {"warnings": False}
    assert again.model_dump_json(**options) == rg.Scene(**words).model_dump_json(**options)


def test_a_function_of_time_in_python_is_refused():
    scene = rg.Scene(dimension=2, gravity=(0, lambda t: -t), run={"dt": 1e-3, "steps": 20})
    scene.add_grains(positions=[(0, 1)], radius=0.1)
    with pytest.raises(rg.StudyError, match="scene"):
        rg.Study(scene=scene)
