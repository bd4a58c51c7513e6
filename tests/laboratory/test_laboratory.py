"""The solver laboratory: one problem for all, honest records, verdicts that are checked, clear refusals."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from support.builders import chain, cloud, prepare, triangular
from support.kernels import apply_forces

from rigidgrains import load_scene
from rigidgrains.cli.compare import compare as command
from rigidgrains.fclib import global_problem, local_problem, save_problem
from rigidgrains.laboratory import (
    MatrixCase,
    StepCase,
    compare,
    draw_comparison,
    draw_profiles,
    open_cases,
    profiles,
    scene_problem,
)
from rigidgrains.laboratory.profiles import share_within
from rigidgrains.laboratory.recheck import check_matrix, check_step
from rigidgrains.runtime import threads
from rigidgrains.solve.criteria import FixedSweeps, ResidualCriterion
from rigidgrains.solve.matrix.general import BlockRows
from rigidgrains.solve.matrix.sweeps import residuals
from rigidgrains.solve.residual import residual
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01
SCENE = """
dimension = 2
gravity = [0, -9.81]
friction = 0.3
[[grains]]
positions = [[0.01, 0.01], [0.03, 0.01], [0.02, 0.0274], [0.05, 0.01]]
radius = 0.01
[[plane]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[run]
dt = 1e-3
steps = 5
[solver]
order = "symmetric"
"""
FLYING = SCENE.replace("0.01], [0.03, 0.01], [0.02, 0.0274], [0.05, 0.01]", "0.5]")


def step_case(bodies):
    return StepCase("step", prepare(bodies, DT))


def matrix_case(bodies, make=local_problem):
    return MatrixCase("file", make(prepare(bodies, DT)))


# One problem for all


@dataclass
class Spy(Sweeps):
    """Keeps a copy of what it is given."""

    def solve(self, problem, rng):
        seen.append([np.copy(getattr(problem, field.name)) for field in fields(problem)])
        return super().solve(problem, rng)


seen: list[list[np.ndarray]] = []


def test_every_solver_sees_the_same_problem_and_leaves_it():
    case = step_case(triangular(4, 4, mu=0.3, g=3.0))
    case.problem.forces[:] = np.random.default_rng(1).random(case.problem.forces.shape)
    case.problem.forces[:, 3] = 0.0
    before = [np.copy(getattr(case.problem, field.name)) for field in fields(case.problem)]
    case.solvers = {"spy": Spy()} | case.solvers | {"other spy": Spy()}
    seen.clear()
    compare(case, solvers=case.names, max_sweeps=30)
    for given in (*seen, [np.copy(getattr(case.problem, field.name)) for field in fields(case.problem)]):
        for array, first in zip(given, before, strict=True):
            np.testing.assert_array_equal(array, first)
    assert len(seen) >= 4


@pytest.mark.parametrize("name", ["random", "symmetric", "coloured", "accelerated"])
def test_a_watched_solver_does_what_it_does_alone(name):
    """To the bit, with the same number of sweeps."""
    case = step_case(triangular(5, 5, mu=0.3, g=3.0))
    trial = case.try_solver(name, tolerance=1e-6, max_sweeps=5000, seed=7)
    problem, solver = prepare(triangular(5, 5, mu=0.3, g=3.0), DT), case.solvers[name]
    solver.criterion, solver.max_sweeps = ResidualCriterion(1e-6), 5000
    report = solver.solve(problem, np.random.default_rng(7))
    assert (trial.sweeps, trial.updates, trial.residual) == (report.sweeps, report.updates, report.residual)
    np.testing.assert_array_equal(trial.forces, problem.forces)


# What is recorded


@pytest.mark.parametrize("make", [step_case, matrix_case])
def test_curves_end_at_what_is_reported(make):
    case = make(triangular(4, 4, mu=0.3, g=3.0))
    for most in (40, 5000):
        for trial in compare(case, solvers=case.names, max_sweeps=most).trials:
            last = trial.curve[-1]
            assert (last.sweeps, last.seconds) == (trial.sweeps, trial.seconds)
            assert (last.residual, last.momentum_error) == (trial.residual, trial.momentum_error)
            if trial.solver == "second-order":
                assert math.isnan(trial.updates)
                assert trial.sweeps > 0
                continue
            sweeps, updates, seconds, values, _ = np.array(trial.curve).T
            assert (np.diff(sweeps) > 0).all()
            assert (np.diff(seconds) >= 0).all()
            np.testing.assert_array_equal(updates, sweeps * case.count)
            assert trial.sweeps <= most
            assert trial.converged == (values[-1] <= 1e-6)


@pytest.mark.parametrize("make", [step_case, matrix_case])
def test_accelerated_sweeps_need_fewer_updates_on_a_pressed_chain(make):
    """L/d sweeps in place of (L/d)^2."""
    found = compare(make(chain(40, force=3.0)), solvers=["accelerated", "random"])
    quick, reference = found.trials
    assert found.reference is reference
    assert quick.converged
    assert reference.converged
    assert found.gain(quick, "updates") == reference.updates / quick.updates > 5.0
    assert found.gain(reference, "updates") == 1.0


def test_all_solvers_carry_the_load_of_a_chain():
    for case in (step_case(chain(12, force=3.0)), matrix_case(chain(12, force=3.0))):
        for trial in compare(case, solvers=[n for n in case.names if n != "parallel"], tolerance=1e-9).trials:
            normal = trial.forces[:, 0] if trial.forces.ndim == 2 else trial.forces[::2] / DT
            assert trial.converged, trial
            np.testing.assert_allclose(normal, 3.0, rtol=1e-6)


def test_a_reference_that_fails_gives_a_lower_bound():
    found = compare(step_case(chain(40)), solvers=["random", "accelerated"], max_sweeps=400)
    failed, quick = found.trials
    assert not failed.converged
    assert "400 sweeps" in failed.why
    assert math.isnan(found.gain(failed, "updates"))
    assert found.gain(quick, "updates") == 400 / quick.sweeps
    row = found.record()["trials"]
    assert row[0]["updates_gain"] is None
    assert row[1]["gains_are_lower_bounds"]


# The check


@pytest.mark.parametrize("mu", [0.0, 0.3, math.inf])
@pytest.mark.parametrize("dimension", [2, 3])
def test_the_check_finds_the_residual_of_a_step(dimension, mu):
    """Its velocities are its own: the free ones, and what forces make of them."""
    problem = prepare(triangular(5, 5, mu=mu, g=3.0) if dimension == 2 else cloud(40, mu=mu), DT)
    free = replace(problem, motion=problem.motion.copy())
    Sweeps(criterion=FixedSweeps(3)).solve(problem, np.random.default_rng(1))
    forces = 1.1 * problem.forces
    assert check_step(free, problem.forces) == pytest.approx(residual(problem), rel=1e-9)
    stated = replace(free, motion=free.motion.copy(), forces=forces)
    apply_forces(stated.motion, stated.pairs, stated.geometry, forces, DT)
    assert check_step(free, forces) == pytest.approx(residual(stated), rel=1e-9)


@pytest.mark.parametrize("form", [local_problem, global_problem])
def test_the_check_finds_the_residual_of_a_file(form):
    case = matrix_case(triangular(4, 4, mu=0.3, g=3.0), form)
    r = np.random.default_rng(1).normal(size=(case.count, 2))
    padded = np.column_stack([r, np.zeros(case.count)])
    local = case.problem.local()
    rows = BlockRows.of(local.W, local.q, local.mu, local.dimension)
    assert check_matrix(case.problem, r.ravel()) == pytest.approx(max(residuals(rows, padded)), rel=1e-9)


@dataclass
class Liar(Sweeps):
    """Hands back other forces than those it was judged by."""

    def solve(self, problem, rng):
        report = super().solve(problem, rng)
        problem.forces *= 1.01
        return report


def test_no_false_convergence_passes():
    case = step_case(chain(8, force=3.0))
    case.solvers["liar"] = Liar()
    honest, liar = compare(case, solvers=["random", "liar"]).trials
    assert honest.converged
    assert liar.residual <= 1e-6
    assert not liar.converged
    assert "check" in liar.why


def test_forces_that_are_not_finite_do_not_converge():
    found = compare(step_case(triangular(5, 5, mu=0.3)), solvers=["parallel"], max_sweeps=3000)
    assert not found.trials[0].converged
    json.dumps(found.record(), allow_nan=False)
    draw_comparison(found)


# Profiles and figures


def test_profiles_by_hand():
    """Dolan and More (2002): ratios to the least cost of each problem."""
    made = profiles({"a": [1.0, 4.0, math.inf], "b": [2.0, 2.0, 6.0]})
    np.testing.assert_array_equal(made["a"], [1.0, 2.0, math.inf])
    np.testing.assert_array_equal(made["b"], [1.0, 1.0, 2.0])
    assert share_within(made["a"], 1.5) == pytest.approx(1 / 3)
    assert share_within(made["b"], 2.0) == 1.0


def test_figures():
    found = [compare(step_case(chain(n)), solvers=["random", "accelerated", "second-order"]) for n in (5, 9)]
    panels = draw_comparison(found[0]).axes
    assert len(panels) == 4
    assert [axes.get_ylabel() for axes in panels] == ["residual", "", "momentum error", ""]
    ends = [line.get_xydata()[-1] for line in panels[0].lines[1:-1:2]]
    for trial, (updates, value) in zip(found[0].trials, ends):
        assert (trial.updates, trial.residual) == (updates, value)
    assert len(draw_profiles(found).axes) == 2


# Where problems come from


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path / "scene.toml"


def test_the_problem_of_a_step_is_that_of_the_run(scene):
    """The scene's own solver makes of it what it makes in the run."""
    problem, simulation = scene_problem(load_scene(scene), step=4)
    assert simulation.steps == 4
    assert problem.forces.any()
    simulation.solver.solve(problem, simulation.rng)
    np.testing.assert_array_equal(problem.forces, simulation.contacts.forces)


def test_cold_and_warm_starts(scene, tmp_path):
    (cold,), (warm,) = open_cases(scene), open_cases(scene, warm=True)
    assert not cold.problem.forces.any()
    assert warm.problem.forces.any()
    save_problem(warm.problem, tmp_path / "problem.hdf5")
    (file,) = open_cases(tmp_path / "problem.hdf5", warm=True)
    assert file.start.any()
    name = "symmetric"
    starts = [compare(case, solvers=[name]).trials[0].sweeps for case in (cold, warm)]
    assert starts[1] <= starts[0]


# The command


def test_the_command_writes_figure_table_and_record(scene, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command(scene, solvers="random, accelerated,second-order", step=3)
    said = capsys.readouterr().out
    assert "step 3" in said
    assert "accelerated" in said
    record = json.loads((tmp_path / "scene-compare/results.json").read_text())
    (problem,) = record["problems"]
    assert [trial["solver"] for trial in problem["trials"]] == ["random", "accelerated", "second-order"]
    assert all(trial["converged"] and trial["checked"] <= 1.01e-6 for trial in problem["trials"])
    assert (tmp_path / "scene-compare/comparison.png").stat().st_size > 20_000


@pytest.mark.parametrize("number", [None, 2])
def test_seconds_are_of_the_processor_or_on_so_many_threads(number, scene, tmp_path, capsys):
    """On several threads both clocks of a trial are the one on the wall; `set_threads` is put back."""
    try:
        command(scene, solvers="coloured", step=3, threads=number, output=tmp_path / "out")
    finally:
        threads.set_threads(None)
    assert ("seconds on 2 threads" if number else "seconds of the processor") in capsys.readouterr().out
    record = json.loads((tmp_path / "out/results.json").read_text())
    (trial,) = record["problems"][0]["trials"]
    assert record["threads"] == (number or 1)
    assert (trial["seconds"] == trial["elapsed"]) == bool(number)


def test_the_command_makes_profiles_of_a_folder(scene, tmp_path, capsys):
    case = open_cases(scene)[0]
    save_problem(case.problem, tmp_path / "scene.hdf5", form="global")
    command(tmp_path, output=tmp_path / "out", json=True)
    record = json.loads(capsys.readouterr().out)
    assert [problem["name"] for problem in record["problems"]] == ["scene.hdf5", "scene.toml"]
    assert set(record["profiles"]["seconds"]) == {"random", "symmetric", "accelerated"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "results.json", "profiles.png", "scene.hdf5.png", "scene.toml.png"
    }  # fmt: skip


def refusal(capsys, *words, **options):
    with pytest.raises(SystemExit) as end:
        command(*words, **options)
    assert end.value.code == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    return said


def test_mistakes_are_told_in_one_line(scene, tmp_path, capsys):
    assert "threads = 0 is no number of threads" in refusal(capsys, scene, threads=0)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/results.json").write_text("{}")
    (tmp_path / "flying.toml").write_text(FLYING)
    (tmp_path / "broken.hdf5").write_text("no")
    (tmp_path / "notes.txt").write_text("no")
    assert "did you mean 'accelerated'" in refusal(capsys, scene, solvers="random,acelerated")
    assert "does not exist" in refusal(capsys, tmp_path / "nowhere.toml")
    assert "neither scenes nor problems" in refusal(capsys, tmp_path / "empty")
    assert "neither a scene nor a problem" in refusal(capsys, tmp_path / "notes.txt")
    assert "not an HDF5 file" in refusal(capsys, tmp_path / "broken.hdf5")
    assert "no contacts in step 2" in refusal(capsys, tmp_path / "flying.toml", step=2)
    assert "--force" in refusal(capsys, scene, output=tmp_path / "full")
    assert "first is 1" in refusal(capsys, scene, step=0)
    assert "tolerance" in refusal(capsys, scene, tolerance=0.0)
    assert "max_sweeps" in refusal(capsys, scene, max_sweeps=1)
    assert "no solver" in refusal(capsys, scene, solvers=",")


def test_mistakes_about_files(scene, tmp_path, capsys):
    (case,) = open_cases(scene)
    file = tmp_path / "problem.hdf5"
    save_problem(case.problem, file)
    assert "does not work on problem.hdf5" in refusal(capsys, file, solvers="coloured")
    assert "leave out --step" in refusal(capsys, file, step=3)
