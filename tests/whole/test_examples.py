"""The examples run as they stand, and their numbers are right; so does the code of the README."""

from __future__ import annotations

import ast
import re
import runpy

import numpy as np
import pytest
from support import ROOT

import rigidgrains as rg

FOLDER = ROOT / "examples"
PROGRAMS = sorted(FOLDER.glob("*.py"))
FIRST = PROGRAMS[0]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """What a program prints, in a folder of its own; a number that is wrong is an assertion that fails in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")

    def told(path) -> str:
        runpy.run_path(str(path), run_name=path.stem)
        return capsys.readouterr().out

    return told


def test_twenty_programs_ask_one_question_each():
    """Numbered without a gap, in at most 60 lines, and each but the README's holds its answer against a number."""
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name[:3] for path in PROGRAMS] == [f"{k:02d}_" for k in range(1, 21)]
    for path in PROGRAMS:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 60, path.name
        program = ast.parse(text)
        question, mark, _ = ast.get_docstring(program).partition("\n")[0].partition("?")
        assert mark
        assert f"| {question}? | [{path.name}]({path.name}) |" in listed
        if path != FIRST:
            assert any(isinstance(node, ast.Assert) for node in ast.walk(program)), path.name


@pytest.mark.parametrize("path", PROGRAMS[1:], ids=lambda path: path.stem)
def test_the_example(path, run, tmp_path):
    """It prints an answer, draws a picture, and its assertions hold."""
    assert re.search(r"\d", run(path))
    assert (tmp_path / f"{path.stem[3:]}.png").stat().st_size > 5_000


def test_the_first_example(run, tmp_path):
    """The floor and side walls of a resting box carry the weight of 300 disks."""
    told = run(FIRST)
    assert (tmp_path / "packing.png").stat().st_size > 10_000
    lift = -sum(float(y) for y in re.findall(r"force on \w+ +\([^,]+, ([^)]+)\) N", told))
    # Radii uniform in [a, b] have <r^2> = (a^2 + a b + b^2)/3; 300 draws scatter by a few per cent.
    weight = 9.81 * 2500 * 3.14159 * 300 * (1 + 2 + 4) / 3 * 1e-6
    assert lift == pytest.approx(weight, rel=0.1)


def test_million(tmp_path):
    """The same column with 2000 spheres: it falls, spreads, and is certified to be a heap on the floor."""
    text = (FOLDER / "million.toml").read_text()
    small = {"1_000_000": "2000", "[[-0.1, -0.1, 0], [0.1, 0.1, 0.28]]": "[[-0.013, -0.013, 0], [0.013, 0.013, 0.04]]"}
    for word, other in small.items():
        assert text.count(word) == 1
        text = text.replace(word, other)
    (tmp_path / "column.toml").write_text(text)
    simulation = rg.Simulation(rg.load_scene(tmp_path / "column.toml"))
    assert simulation.solver.coloured
    height = simulation.bodies.position[:, 2].mean()
    simulation.run(until=0.15)
    position = simulation.bodies.position
    assert position[:, 2].mean() < 0.7 * height
    assert np.abs(position[:, :2]).max() > 0.015
    assert (position[:, 2] > 0.95 * simulation.bodies.radius).all()


def test_the_readme_shows_the_first_example():
    """Word for word, without its docstring."""
    code = FIRST.read_text().split('"""\n\n', 1)[1]
    assert code in (ROOT / "README.md").read_text()
