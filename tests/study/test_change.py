"""Single words of a scene are changed by their names, and checked like the file; what is kept is the changed scene."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.commands import called
from support.studies import BOX

import rigidgrains as rg
from rigidgrains.scene.change import change, read_assignment, read_name
from rigidgrains.scene.load import changed_scene
from rigidgrains.scene.toml import write_toml


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("friction", ["friction"]),
        ("run.seed", ["run", "seed"]),
        ("grains[0].radius", ["grains", 0, "radius"]),
        ("grains.sand.region[1][0]", ["grains", "sand", "region", 1, 0]),
        ('grains."coarse sand".radius', ["grains", "coarse sand", "radius"]),
        ("cell.rate.xy", ["cell", "rate", "xy"]),
    ],
)
def test_names_have_parts(name, parts):
    assert read_name(name) == parts


@pytest.mark.parametrize("name", ["", ".", "friction.", "a..b", "[0].radius", "grains[x].radius", "run seed", "a[0"])
def test_what_is_no_name_is_told(name):
    with pytest.raises(rg.SceneError, match="is no name of a key; write it like friction"):
        read_name(name)


def test_changes_by_number_and_by_name_are_the_same():
    one, other = tomllib.loads(BOX), tomllib.loads(BOX)
    assert change(one, "grains[0].radius", 1e-3) == change(other, "grains.sand.radius", 1e-3) == "grains[0].radius"
    assert one == other
    assert one["grains"][0]["radius"] == 1e-3


def test_parts_of_vectors_and_new_tables_can_be_set():
    words = tomllib.loads(BOX)
    change(words, "gravity[1]", -1.6)
    change(words, "solver.method", "sweeps")
    change(words, "grains[0].region[1][1]", 0.014)
    assert words["gravity"] == [0, -1.6]
    assert words["solver"] == {"method": "sweeps"}
    assert words["grains"][0]["region"] == [[0, 0], [0.02, 0.014]]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("grains.snad.radius", "no [[grains]] of the scene is called 'snad'; did you mean 'sand'?"),
        ("grains[3].radius", "grains has 1 entries, numbered from 0"),
        ("piston.lid.mass", "no [[piston]] of the scene is called 'lid'; known are none with a name"),
        ("grains.sand", "names a whole table; name one of its keys"),
        ("gravity[2]", "gravity has 2 entries"),
        ("friction.static", "leads nowhere"),
        ("gravty.x", "there is no 'gravty' in the scene; did you mean 'gravity'?"),
    ],
)
def test_names_that_lead_nowhere_are_told(name, told):
    with pytest.raises(rg.SceneError) as error:
        change(tomllib.loads(BOX), name, 1.0)
    assert told in str(error.value)
    assert str(error.value).startswith(name)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("friction=0.3", "friction", 0.3),
        ("run.seed=4", "run.seed", 4),
        ("gravity=[0, -1.6]", "gravity", [0, -1.6]),
        ("solver.method=sweeps", "solver.method", "sweeps"),
        ('title="a = b"', "title", "a = b"),
        ("grains.sand.radius={ mean = 1e-3, std = 1e-4 }", "grains.sand.radius", {"mean": 1e-3, "std": 1e-4}),
        ("friction=inf", "friction", float("inf")),
        ("output.contacts=false", "output.contacts", False),
    ],
)
def test_assignments_are_written_as_in_toml(text, name, value):
    assert read_assignment(text) == (name, value)
    assert type(read_assignment(text)[1]) is type(value)


@pytest.mark.parametrize("text", ["friction", "=3", "friction=", "gravity=[0, 1", "a=1\nb=2"])
def test_what_is_no_assignment_is_told(text):
    with pytest.raises(ValueError, match="--set"):
        read_assignment(text)


def test_mistakes_of_changed_words_have_no_line(tmp_path):
    (tmp_path / "scene.toml").write_text(BOX.replace("count = 30", "count = 0"))
    with pytest.raises(rg.SceneError) as error:
        rg.load_scene(tmp_path / "scene.toml", changes={"friction": -1.0, "run.sed": 3})
    told = str(error.value)
    assert "friction (as changed): must not be negative; given: -1.0" in told
    assert "run.sed (as changed): unknown key 'sed'; did you mean 'seed'?" in told
    assert "grains[0].count (line 7): must be at least 1" in told


PLAIN = some.one_of(
    some.booleans(), some.integers(-(2**63), 2**63 - 1), some.floats(allow_nan=False), some.text(max_size=8)
)
VALUES = some.recursive(
    PLAIN,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(some.dictionaries(some.text(max_size=6), VALUES, max_size=4))
def test_written_words_are_read_again_to_the_bit(words):
    again = tomllib.loads(write_toml(words))
    assert again == words
    assert repr(sorted(again.items())) == repr(sorted(words.items()))  # kinds and signs of zero too


def test_a_scene_without_changes_is_kept_as_it_is_written(tmp_path):
    (tmp_path / "scene.toml").write_text("# mine\n" + BOX)
    assert changed_scene(tmp_path / "scene.toml", {}) == "# mine\n" + BOX


def test_run_set_runs_and_keeps_the_changed_scene(tmp_path):
    """Bit by bit what the scene with these words in its file gives."""
    bare = BOX.replace("steps = 200", "steps = 12") + "picture = false\nplot = false\n"
    (tmp_path / "scene.toml").write_text(bare)
    (tmp_path / "other.toml").write_text(
        bare.replace("dt = 4e-4", "dt = 4e-4\nseed = 4").replace("[0, -9.81]", "[0, -5]")
    )
    called(tmp_path, "run", "scene.toml", "-q", "-o", "set", "--set", "gravity=[0, -5]", "--set", "run.seed=4")
    called(tmp_path, "run", "other.toml", "-q", "-o", "file")
    kept = tomllib.loads((tmp_path / "set" / "scene.toml").read_text())
    assert kept == tomllib.loads((tmp_path / "other.toml").read_text())
    with (
        rg.Trajectory(tmp_path / "set" / "scene.vtkhdf") as one,
        rg.Trajectory(tmp_path / "file/other.vtkhdf") as other,
    ):
        assert tomllib.loads(one.scene) == kept
        assert one.seed == other.seed == 4
        assert (one[-1].position == other[-1].position).all()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "friction=-0.3"], "friction (as changed): must not be negative; given: -0.3"),
        (["--set", "friction"], "--set friction changes nothing; write it like --set friction=0.3"),
        (["--set", "friction=1", "--set", "friction=2"], "--set friction is given twice; keep one of them"),
        (["--set", "grains.snad.count=3"], "did you mean 'sand'?"),
    ],
)
def test_run_set_refuses_what_is_wrong(tmp_path, words, told):
    (tmp_path / "scene.toml").write_text(BOX)
    assert told in called(tmp_path, "run", "scene.toml", *words, check=2).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scene.toml"]
