"""Mistakes in names, prescribed motions and stages: each is told at its place, and nothing that is right is blamed."""

from __future__ import annotations

import pytest
from support.commands import called

import rigidgrains as rg

GRAINS = """
dimension = 2
[[grains]]
name = "sand"
count = 3
radius = 0.1
region = [[0, 0], [1, 1]]
[[plane]]
name = "gate"
point = [0, 0]
normal = [0, 1]
until = "go"
[run]
dt = 1e-3
"""


def places(text: str, tmp_path) -> list[str]:
    """Where the mistakes of a scene are that is read to be run."""
    path = tmp_path / "scene.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rg.SceneError) as told:
        rg.load_scene(path, to_run=True)
    return [problem.place for problem in told.value.problems]


STAGES = """
[[stage]]
name = "one"
until = 1
[[stage]]
name = "go"
until = 1
"""


@pytest.mark.parametrize(
    ("stages", "wrong"),
    [
        ("[stage]\nname = 'go'\nuntil = 1\n", "stage"),
        (STAGES.replace("'one'", "").replace('"one"', "3"), "stage[0].name"),
        (STAGES.replace('"one"', '""'), "stage[0].name"),
        (STAGES.replace('"one"', '"o\\ne"'), "stage[0].name"),
        (STAGES.replace('name = "one"\n', ""), "stage[0].name"),
        (STAGES.replace('until = 1\n[[stage]]\nname = "go"', 'until = -1\n[[stage]]\nname = "go"'), "stage[0].until"),
    ],
)
def test_a_stage_that_cannot_be_read_makes_no_other_mistake(stages, wrong, tmp_path):
    """Neither the gate that goes with the second stage nor the end of the run is blamed for it."""
    assert places(GRAINS + stages, tmp_path) == [wrong]


def test_a_list_that_is_none_hides_no_names(tmp_path):
    assert places("stage = 3\n" + GRAINS, tmp_path) == ["stage"]
    assert places(GRAINS + STAGES.replace('"go"', '"gone"'), tmp_path) == ["plane[0].until"]


def test_what_has_gone_is_changed_no_more(tmp_path):
    """A stage that moved a gate as it went had no effect, and said nothing."""
    moved = STAGES + 'plane.gate.velocity = [0, 1]\n[[stage]]\nname = "on"\nuntil = 1\nplane.gate.friction = 0.1\n'
    assert places(GRAINS + moved, tmp_path) == ["stage[1].plane.gate", "stage[2].plane.gate"]
    path = tmp_path / "scene.toml"
    path.write_text(GRAINS + STAGES.replace("until = 1", "until = 1\nplane.gate.velocity = [0, 1]", 1))
    assert rg.load_scene(path, to_run=True).stage[0].plane


def test_a_cell_with_pentagons_deforms_in_no_stage(tmp_path):
    """Only the scene itself was asked; the simulation refused it later, without a place."""
    shaped = """
dimension = 2
[[shape]]
name = "p"
polygon = 5
[[grains]]
count = 6
radius = 0.4
region = [[0, 0], [5, 5]]
shape = "p"
[cell]
lower = [0, 0]
upper = [5, 5]
[[stage]]
name = "a"
until = 0.1
[[stage]]
name = "b"
until = 0.1
cell.pressure = 50
"""
    assert places(shaped, tmp_path) == ["stage[1].cell.pressure"]


def test_names_stand_in_one_line(tmp_path):
    """A line break in a name made the report of a run a traceback, after the run."""
    text = GRAINS.replace('until = "go"\n', "").replace('"sand"', '"sa\\nnd"').replace('"gate"', '"ga\\u0007te"')
    assert places(text + STAGES, tmp_path) == ["grains[0].name", "plane[0].name"]
    path = tmp_path / "scene.toml"
    path.write_text(GRAINS.replace("sand", "größe ✓ 空") + STAGES.replace("one", "größe ✓ 空"), encoding="utf-8")
    assert "stage größe ✓ 空" in called(tmp_path, "info", path).stdout


def test_no_grain_is_moved_twice():
    scene = {"dimension": 2, "grains": [{"name": "sand", "positions": [[0, 0], [1, 0], [2, 0]], "radius": 0.1}]}
    motion = {"grains": "sand", "velocity": [0, 1]}
    rg.Scene(**scene, motion=[{**motion, "name": "a", "index": [0, 2]}, {**motion, "name": "b", "index": 1}])
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(
            **scene,
            motion=[
                {**motion, "name": "a", "index": 1},
                {**motion, "name": "b"},
                {**motion, "name": "c", "index": [0, 1]},
            ],
        )
    assert [str(one) for one in told.value.problems] == [
        "motion[1].grains: grain 1 of 'sand' is moved by motion[0] already; leave it to one; given: 'sand'",
        "motion[2].index: grain 0 of 'sand' is moved by motion[1] already; leave it to one; given: [0, 1]",
    ]


def test_columns_of_the_history_have_names_of_their_own():
    """A motion and a piston of one name made two columns NAME.power, of which no file could be written."""
    scene = {
        "dimension": 2,
        "grains": [{"name": "sand", "positions": [[0, 0]], "radius": 0.1}],
        "piston": [{"name": "lid", "point": [0, 3], "normal": [0, -1], "velocity": 0}],
        "plane": [{"name": "floor", "point": [0, -1], "normal": [0, 1]}],
    }
    pull = {"grains": "sand", "stiffness": 1.0, "direction": [1, 0], "velocity": 0.0}
    rg.Scene(**scene, spring=[{**pull, "name": "floor"}])  # which does not move, and has no column
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(
            **scene,
            spring=[{**pull, "name": "lid"}],
            motion=[{"name": "floor", "grains": "sand", "velocity": [0, 1]}],
        )
    assert sorted(problem.place for problem in told.value.problems) == ["motion[0].name", "spring[0].name"]
    assert "is the name of a wall" in str(told.value)


@pytest.mark.parametrize("density", [1e-99, 1e99])
def test_masses_that_no_solver_can_square_are_told(density):
    """Down to 1e-300 kg they were let in, and a division by zero ended the run."""
    radius = 1e-3 if density < 1.0 else 100.0
    scene = rg.Scene(dimension=2, grains=[{"positions": [[0, 0]], "radius": radius, "density": density}])
    with pytest.raises(rg.SceneError, match=r"grains\[0\].radius: the mass of such a grain cannot be computed"):
        scene.build()
