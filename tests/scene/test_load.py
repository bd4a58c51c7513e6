"""Scene files with mistakes: all are told at once, with their lines, as the documentation prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import ROOT

from rigidgrains.gallery import scene_text
from rigidgrains.scene import SceneError, load_scene


def test_all_mistakes_of_a_file_are_told_at_once_with_their_lines(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        "dimension = 2\n"
        "friction = -1\n"
        "[[grains]]\n"
        "name = 'sand'\n"
        "count = 3\n"
        "raduis = 0.1\n"
        "region = [[0, 0], [1, 1]]\n"
        "[[plane]]\n"
        "name = 'floor'\n"
        "point = [0, 0]\n"
        "normal = [0, 0]\n"
        "[[plane]]\n"
        "name = 'side'\n"
        "point = [0, 0, 0]\n"
        "normal = [1, 0]\n"
        "material = 'gold'\n"
        "[[force]]\n"
        "grains = 'sand'\n"
        "force = [1, 2, 3]\n"
        "[solver]\n"
        "criterion = 'fixed'\n"
    )
    with pytest.raises(SceneError) as caught:
        load_scene(path)
    found = [(problem.place, problem.line) for problem in caught.value.problems]
    assert found == [
        ("friction", 2),
        ("grains[0].raduis", 6),
        ("plane[0].normal", 11),
        ("plane[1].point", 14),
        ("plane[1].material", 16),
        ("force[0].force", 19),
        ("solver.sweeps", 20),
    ]
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: 7 mistakes in the scene"
    assert lines[2] == "  grains[0].raduis (line 6): unknown key 'raduis'; did you mean 'radius'?; given: 0.1"
    assert len(lines) == 8


def test_the_answer_in_the_docs_is_that_of_the_program(tmp_path, monkeypatch):
    """The file and the answer that docs/scene.md prints under Mistakes."""
    text = (ROOT / "docs/scene.md").read_text(encoding="utf-8").partition("\n## Mistakes\n")[2]
    written, answer = re.findall(r"```text\n(.*?)```", text, re.DOTALL)[:2]
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(written, encoding="utf-8")
    with pytest.raises(SceneError) as caught:
        load_scene("scene.toml")
    assert f"error {caught.value}\n" == answer


def test_the_answer_in_the_readme_is_that_of_the_program(tmp_path, monkeypatch):
    """The drum with two mistakes."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    answer = re.search(r"```\n(error drum\.toml: .*?)```", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    wrong = scene_text("drum").replace("radius = [", "raduis = [", 1).replace("until = ", "until = -", 1)
    Path("drum.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(SceneError) as caught:
        load_scene("drum.toml")
    assert f"error {caught.value}\n" == answer


def test_what_a_run_lacks_is_told_with_the_rest(tmp_path):
    """An empty file, and one with another mistake; an end may come from elsewhere."""
    path = tmp_path / "scene.toml"
    path.write_text("", encoding="utf-8")
    assert load_scene(path).run.dt is None
    with pytest.raises(SceneError) as caught:
        load_scene(path, to_run=True)
    assert {problem.place for problem in caught.value.problems} == {"grains", "run.until"}
    path.write_text("frition = 0.3\n[run]\nsteps = 3\n[[inflow]]\n", encoding="utf-8")
    with pytest.raises(SceneError) as caught:
        load_scene(path, to_run=True)
    places = [problem.place for problem in caught.value.problems]
    assert {"frition", "inflow[0].name"} <= set(places)
    assert not {"grains", "run.until"} & set(places)
    path.write_text("[[grains]]\npositions = [[0, 0]]\nradius = 1\n[run]\ndt = 1\n", encoding="utf-8")
    assert load_scene(path, to_run=True, ends=True).run.dt == 1.0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.toml", None, "no such file"),
        (".", None, "this is a folder"),
        ("broken.toml", b"dimension = = 2\n", "not valid TOML.*line 1"),
        ("picture.toml", b"\xff\xfe\x00\x01", "not a text file in UTF-8"),
    ],
)
def test_files_that_are_no_scenes(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SceneError, match=message):
        load_scene(tmp_path / name)
