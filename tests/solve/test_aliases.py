"""Earlier names: they mean what the present ones do, in scenes, programs, command lines and files, with a notice."""

from __future__ import annotations

import dataclasses
import json
import re
import warnings

import pytest
from support import ROOT
from support.builders import column, prepare, triangular
from support.commands import rigidgrains

import rigidgrains as rg
from rigidgrains.fclib import local_problem, solve_problem
from rigidgrains.laboratory.compare import check_solvers
from rigidgrains.laboratory.step import known_solvers
from rigidgrains.scene.make_solver import make_solver
from rigidgrains.scene.settings import Solver
from rigidgrains.solve.aliases import CLASSES, FIGURES, METHODS, SETTINGS, TRIALS, Renamed, rename, with_earlier_names
from rigidgrains.solve.names import from_words, words_of
from rigidgrains.trajectory.checkpoint import pack, unpack

VALUES = {"associated": True, "fallback": 7}
EXACT = {"accuracy": "exact"}  # to which the fallback belongs


@pytest.fixture
def silent():
    """Any notice is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Renamed)
        yield


@pytest.mark.parametrize(("earlier", "name"), SETTINGS.items())
def test_keywords_and_attributes(earlier, name):
    with pytest.warns(Renamed, match=f"'{earlier}' is now called '{name}'; please write '{name}'") as told:
        solver = rg.AcceleratedSweeps(**EXACT, **{earlier: VALUES[name]})
    assert [notice.filename for notice in told] == [__file__]
    assert solver == rg.AcceleratedSweeps(**EXACT, **{name: VALUES[name]})
    with pytest.warns(Renamed, match=earlier):
        assert getattr(solver, earlier) == VALUES[name]
    with pytest.warns(Renamed, match=earlier):
        setattr(solver, earlier, 0)
    assert getattr(solver, name) == 0
    assert earlier not in {field.name for field in dataclasses.fields(solver)}


@pytest.mark.parametrize(("earlier", "name"), SETTINGS.items())
def test_keys_of_scenes(earlier, name):
    with pytest.warns(Renamed, match=earlier):
        scene = rg.Scene(dimension=2, solver=EXACT | {earlier: VALUES[name]})
    assert make_solver(scene.solver) == make_solver(Solver(**EXACT, **{name: VALUES[name]}))
    assert scene.solver.given(name)


@pytest.mark.parametrize(("earlier", "name"), SETTINGS.items())
def test_both_names_at_once_are_refused(earlier, name):
    both = {earlier: VALUES[name], name: VALUES[name]}
    for make in (lambda: rg.AcceleratedSweeps(**both), lambda: rg.Scene(dimension=2, solver=both)):
        with pytest.raises(ValueError, match=f"{earlier} is an earlier name of {name}, which is given too; remove"):
            make()


@pytest.mark.parametrize(("earlier", "name"), METHODS.items())
def test_methods(earlier, name):
    problem = local_problem(prepare(column(3, g=10.0, friction=0.3), 1e-2))
    with pytest.warns(Renamed, match=earlier):
        assert solve_problem(problem, solver=earlier).solver == name
    with pytest.warns(Renamed, match=earlier):
        assert rg.Scene(dimension=2, solver={"method": earlier}).solver.method == name
    with pytest.warns(Renamed, match=earlier):
        assert words_of(rg.Simulation(triangular(2, 2), dt=1e-2, solver=earlier).solver)["name"] == name


@pytest.mark.parametrize(("earlier", "name"), TRIALS.items())
def test_solvers_of_the_laboratory(earlier, name):
    with pytest.warns(Renamed, match=earlier):
        assert check_solvers([earlier, name], {"a step": [*known_solvers(), "second-order"]}) == (name,)


def test_files_of_earlier_versions(silent):
    """Settings of the solver and counts of the run, as they were written; nobody is told what nobody can change."""
    simulation = rg.Simulation(triangular(3, 3), dt=1e-2, solver=rg.AcceleratedSweeps(**EXACT, **VALUES))
    simulation.run(steps=2)
    simulation.tally.fallbacks = 3
    simulation.last_solve = dataclasses.replace(simulation.last_solve, fallback=5)
    arrays, text = pack(simulation)
    words = json.loads(text)
    for table, names in (("solver", SETTINGS), ("tally", FIGURES), ("last_solve", FIGURES)):
        words[table] = rename(words[table], {name: earlier for earlier, name in names.items()}, notice=False)
    assert (words["tally"]["refereed"], words["last_solve"]["referee"], words["solver"]["referee"]) == (3, 5, 7)
    assert words["solver"]["hold"] is True
    back = unpack(arrays, json.dumps(words))
    assert words_of(back.solver) == words_of(simulation.solver)
    assert (back.tally, back.last_solve) == (simulation.tally, simulation.last_solve)
    assert from_words(words["solver"]) == rg.AcceleratedSweeps(**EXACT, **VALUES)


@pytest.mark.parametrize(("earlier", "name"), CLASSES.items())
def test_classes_of_the_front_door(earlier, name):
    with pytest.warns(Renamed, match=earlier):
        assert getattr(rg, earlier) is getattr(rg, name)
    assert earlier not in dir(rg)


def test_figures_of_reports():
    simulation = rg.Simulation(triangular(3, 3), dt=1e-2)
    simulation.run(steps=1)
    simulation.tally.fallbacks = 2
    with pytest.warns(Renamed, match="fallback_steps"):
        assert simulation.report().refereed_steps == 2
    with pytest.warns(Renamed, match="'fallback'"):
        assert simulation.last_solve.referee == 0
    assert "refereed_steps" not in simulation.report().as_dict()


SCENE = """dimension = 2
[run]
dt = 0.01
steps = 2
[solver]
{line}
[[grains]]
positions = [[0, 1]]
radius = 1.0
"""


def test_the_command_line_has_one_line_of_notice(tmp_path):
    (tmp_path / "one.toml").write_text(SCENE.format(line='accuracy = "exact"\nreferee = 7'))
    said = rigidgrains(tmp_path, "run", "one.toml", "--quiet", code=0)
    assert said == "notice 'referee' is now called 'fallback'; please write 'fallback'\n"
    (tmp_path / "two.toml").write_text(SCENE.format(line="referee = -7"))
    assert "solver.fallback (line 6)" in rigidgrains(tmp_path, "run", "two.toml")
    said = rigidgrains(tmp_path, "run", "one.toml", "--solver", "referee", "--force", "--quiet", code=0)
    assert "notice 'referee' is now called 'second-order'" in said


def test_a_class_is_what_it_was(silent):
    """Its signature and its documentation are those of the present names."""

    @with_earlier_names({"old": "new", "other": "elsewhere"})
    @dataclasses.dataclass
    class Thing:
        """A thing."""

        new: int = 1

    assert Thing(2).new == Thing(new=2).new == 2
    assert not hasattr(Thing, "other")
    with pytest.raises(TypeError, match="unexpected keyword"):
        Thing(**{"unknown": 1})


def test_pages_have_the_present_names_alone():
    """Keys in code type and values of methods; the history of changes may have them."""
    earlier = {*TRIALS, *SETTINGS, *FIGURES}
    pattern = re.compile(rf"`(?:{'|'.join(earlier)})\b[^`]*`|\"(?:{'|'.join(earlier)})\"")
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")]
    assert {page.name: found for page in pages if (found := pattern.findall(page.read_text(encoding="utf-8")))} == {}
