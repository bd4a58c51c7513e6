"""Where sweeps are only counted nothing is known of the forces, and nobody is told that they converged."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console
from support.builders import chain, column, grains, triangular

import rigidgrains as rg
from rigidgrains.app.about import scene_facts, trajectory_facts
from rigidgrains.app.runner import run_scene
from rigidgrains.cli import words
from rigidgrains.cli.run import tell
from rigidgrains.gallery import scene_text
from rigidgrains.simulation.report import NOT_ASKED, convergence
from rigidgrains.simulation.tally import Tally
from rigidgrains.view.notebook import report_html

SCENE = """
dimension = 2
gravity = [0, -9.81]
[[grains]]
count = 20
radius = [1e-3, 1.5e-3]
region = [[0, 0], [0.02, 0.02]]
[[box]]
lower = [0, 0]
upper = [0.02, 0.03]
[run]
dt = 1e-4
steps = 12
[output]
picture = false
plot = false
[solver]
method = "sweeps"
"""


def test_solvers_do_not_claim_what_was_not_asked():
    """A fixed number, and the number that rigidity asks for; but too few for the latter are told as missed."""
    for criterion, expected in (
        (rg.FixedSweeps(3), None), (rg.RigidSweeps(2.0), None), (rg.LocalCriterion(1e-3), True),
        (rg.ResidualCriterion(1e-9), False),
    ):  # fmt: skip
        simulation = rg.Simulation(chain(20), dt=0.01, solver=rg.Sweeps(criterion=criterion, max_sweeps=1000))
        if expected is False:
            simulation.solver.max_sweeps = 1
            simulation.bodies.velocity[0, 0] = 1.0
        simulation.step()
        assert simulation.last_solve.converged is expected, criterion
    short = rg.Simulation(chain(20), dt=0.01, solver=rg.Sweeps(criterion=rg.RigidSweeps(2.0), max_sweeps=2))
    assert short.run(steps=1).warnings
    assert short.last_solve.converged is False


@pytest.mark.parametrize("sleep", [False, True])
def test_nor_without_contacts_nor_asleep(sleep):
    solver = rg.Sweeps(criterion=rg.FixedSweeps(40), sleep=sleep)
    free = rg.Simulation(grains([[0, 0, 0]]), dt=0.01, solver=solver)
    resting = rg.Simulation(column(2), dt=0.01, solver=solver)
    for simulation in (free, resting):
        report = simulation.run(steps=20)
        assert (report.converged_steps, report.asked_steps, report.steps) == (0, 0, 20)
        assert report.convergence() == NOT_ASKED
        assert not any("criterion" in warning for warning in report.warnings)


def test_forces_that_are_not_finite_did_not_converge_whatever_was_asked():
    problem = rg.Simulation(chain(2), dt=0.01)
    problem.step()
    problem = problem.contacts.problem(problem.bodies, 0.01)
    problem.motion[0, 0] = math.inf
    report = rg.Sweeps(criterion=rg.FixedSweeps(2)).solve(problem, np.random.default_rng(0))
    assert report.converged is False


def test_changed_in_between_both_are_told():
    """Ten steps counted, five asked."""
    simulation = rg.Simulation(triangular(3, 3), dt=0.01, solver=rg.Sweeps(criterion=rg.FixedSweeps(40)))
    simulation.run(steps=10)
    simulation.solver = rg.Sweeps()
    report = simulation.run(steps=5)
    assert report.convergence() == "5 of 5 steps; 10 not asked"
    assert convergence(1000, 1200, 3000) == "1,000 of 1,200 steps; 1,800 not asked"
    assert convergence(0, 0, 0) == "0 of 0 steps"


def test_history_has_no_number_for_it():
    for criterion, expected in ((rg.FixedSweeps(40), math.nan), (rg.LocalCriterion(), 1.0)):
        history = rg.History()
        rg.Simulation(column(2), dt=0.01, solver=rg.Sweeps(criterion=criterion)).observe(history).run(steps=2)
        np.testing.assert_array_equal(history["converged"], [expected] * 2)


def test_report_file_info_command_line_and_notebook_say_not_asked(tmp_path, monkeypatch):
    scene = tmp_path / "box.toml"
    scene.write_text(SCENE + 'criterion = "fixed"\nsweeps = 40\n')
    assert dict(scene_facts(scene))["solver"].endswith("40 sweeps, convergence not asked")
    outcome = run_scene(scene, output=tmp_path / "box", progress=False)
    report = outcome.report
    assert dict(line.split("  ", 1) for line in str(report).splitlines())["converged"].strip() == NOT_ASKED
    assert "12 of 12" not in str(report)
    assert json.loads((tmp_path / "box" / "report.json").read_text())["asked_steps"] == 0
    assert dict(trajectory_facts(outcome.trajectory))["converged"] == NOT_ASKED
    assert NOT_ASKED in report_html(report)
    told = Console(file=io.StringIO(), width=200)
    monkeypatch.setattr(words, "out", told)
    monkeypatch.setattr("rigidgrains.cli.run.out", told)
    tell(outcome, quiet=False, json=False)
    assert NOT_ASKED in told.file.getvalue()
    with rg.Trajectory(outcome.trajectory) as trajectory:
        assert np.isnan(trajectory.history["converged"]).all()


def test_info_tells_convergence_where_it_was_asked(tmp_path):
    scene = tmp_path / "box.toml"
    scene.write_text(SCENE + 'criterion = "local"\n')
    assert "not asked" not in dict(scene_facts(scene))["solver"]
    outcome = run_scene(scene, output=tmp_path / "box", progress=False)
    assert dict(trajectory_facts(outcome.trajectory))["converged"] == "12 of 12 steps"


def test_the_chain_of_the_gallery_says_so(tmp_path):
    """It has 40 sweeps in every step."""
    scene = tmp_path / "chain.toml"
    scene.write_text(scene_text("chain"))
    assert run_scene(scene, steps=3, output=tmp_path / "chain", progress=False).report.convergence() == NOT_ASKED


def test_resumed_runs_go_on_counting(tmp_path):
    """And a file from before the question was put counts all its steps as asked."""
    path = tmp_path / "run.vtkhdf"
    solver = rg.Sweeps(criterion=rg.FixedSweeps(5))
    rg.Simulation(column(2), dt=0.01, solver=solver).observe(rg.TrajectoryWriter(path)).run(steps=4)
    resumed = rg.resume(path)
    assert resumed.last_solve.converged is None
    resumed.solver = rg.Sweeps()
    assert resumed.run(steps=2).convergence() == "2 of 2 steps; 4 not asked"
    assert Tally(steps=7, converged=7).not_asked == 0
