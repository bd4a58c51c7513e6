"""What a program may tell a simulation: names work, and what cannot be used is refused with its value and a remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.builders import column

import rigidgrains as rg


def scene(**words):
    made = rg.Scene(dimension=2, gravity=(0, -10), run={"dt": 1e-3}, **words)
    made.add_grains(positions=[[0, 1], [0, 3]], radius=1)
    made.add_plane("floor", point=(0, 0), normal=(0, 1))
    return made


@pytest.mark.parametrize(
    ("name", "kind"),
    [("sweeps", rg.Sweeps), ("accelerated", rg.AcceleratedSweeps)],
)
def test_a_name_makes_the_solver(name, kind):
    """With the defaults of its method, and the gap policy of the scene, as on the command line."""
    made = rg.Simulation(scene(solver={"gap": 0.3, "slack": 0.01, "max_sweeps": 7}), solver=name).solver
    assert type(made) is kind
    assert (made.gap, made.slack, made.max_sweeps) == (0.3, 0.01, 5000)
    of_bodies, plain = rg.Simulation(column(3), dt=1e-3, solver=name).solver, kind()
    assert (type(of_bodies), of_bodies.criterion, of_bodies.gap) == (kind, plain.criterion, plain.gap)
    assert type(of_bodies.order) is type(plain.order)


@pytest.mark.parametrize(
    ("solver", "match"),
    [
        ("acelerated", r"'acelerated' is unknown; choose one of sweeps, accelerated, second-order"),
        ("relaxed", r"'relaxed' is gone: .* take 'accelerated'"),
        (rg.Sweeps, r"solver = Sweeps, a class, finds no forces; .*Sweeps\(\)"),
        (rg.FixedSweeps(3), r"FixedSweeps\(sweeps=3\) finds no forces; .*'accelerated'"),
        (5, "solver = 5 finds no forces"),
    ],
)
def test_what_is_no_solver(solver, match):
    for given in (scene(), column(3)):
        with pytest.raises((TypeError, ValueError), match=match):
            rg.Simulation(given, dt=1e-3, solver=solver)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: rg.Sweeps(criterion="local"),
            r"criterion = 'local' cannot tell when to stop; .*LocalCriterion\(1e-3\)",
        ),
        (lambda: rg.Sweeps(criterion=rg.LocalCriterion), "criterion = LocalCriterion cannot tell"),
        (lambda: rg.AcceleratedSweeps(criterion=1e-3), "criterion = 0.001 cannot tell"),
        (lambda: rg.Sweeps(order=3), "order 3 is unknown; choose one of random"),
        (lambda: rg.Sweeps(max_sweeps=2.5), "max_sweeps = 2.5 .* whole number"),
        (lambda: rg.Sweeps(max_sweeps="5"), "max_sweeps = '5' .* whole number"),
        (lambda: rg.Sweeps(gap=None), "gap None is unknown"),
        (lambda: rg.Sweeps(slack="0.1"), "slack = '0.1' is no overlap"),
        (lambda: rg.FixedSweeps(1.5), "sweeps = 1.5 .* whole number of at least 1"),
        (lambda: rg.FixedSweeps(True), "sweeps = True .* whole number"),
        (lambda: rg.LocalCriterion("1e-3"), "epsilon = '1e-3' .* finite number"),
        (lambda: rg.RigidSweeps("2"), "2 times the extent"),
    ],
)
def test_what_is_no_setting_of_a_solver(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_whole_numbers_of_numpy_are_whole():
    assert rg.FixedSweeps(np.int64(3)).sweeps == 3
    assert rg.Sweeps(max_sweeps=np.int32(3)).max_sweeps == 3


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("s.toml", r"'s.toml' is the name of a file; read it first: Simulation\(load_scene\('s.toml'\)\)"),
        (Path("s.toml"), r"read it first: Simulation\(load_scene\('s.toml'\)\)"),
        (None, "None is no scene; give a Scene"),
        (rg.Scene, "is no scene; give a Scene"),
        ({"dimension": 2}, "is no scene; give a Scene"),
        (rg.History(), "is no scene; give a Scene"),
    ],
)
def test_what_is_no_scene(given, match):
    with pytest.raises(TypeError, match=match):
        rg.Simulation(given, dt=1e-3)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True])
def test_what_is_no_seed(seed):
    """Files hold 63 bits."""
    for given in (scene(), column(3)):
        with pytest.raises(ValueError, match="seed"):
            rg.Simulation(given, dt=1e-3, seed=seed)
    assert rg.Simulation(column(3), dt=1e-3, seed=2**63 - 1).seed == 2**63 - 1


@pytest.mark.parametrize(
    ("end", "match"),
    [
        ({"until": "1"}, "until = '1' is no end"),
        ({"steps": "3"}, "steps = '3'"),
        ({"steps": 1.5}, "not a whole number"),
    ],
)
def test_what_is_no_end(end, match):
    with pytest.raises(ValueError, match=match):
        rg.Simulation(scene()).run(**end)


@pytest.mark.parametrize(
    ("observer", "words", "match"),
    [
        (5, {}, "5 cannot look at a simulation; give an Observer, or a function"),
        (rg.History, {}, r"History is a class; observe with one that is made: History\("),
        (print, {"every": 1.5}, "every = 1.5 is no interval; .* whole number"),
        (print, {"every": "10"}, "every = '10' is no interval"),
        (print, {"interval": "1"}, "interval = '1' is no time"),
    ],
)
def test_what_is_no_observer(observer, words, match):
    with pytest.raises((TypeError, ValueError), match=match):
        rg.Simulation(scene()).observe(observer, **words)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (scene(), "this Scene has no state to look at; give a Simulation, or a Frame"),
        (rg.Simulation, "has no state to look at"),
        (None, "None has no state to look at"),
        ("run.vtkhdf", r"'run.vtkhdf' is the name of a file; open it first: Trajectory\('run.vtkhdf'\)\[-1\]"),
    ],
)
def test_what_is_no_state(given, match):
    for use in (rg.Frame.of, rg.draw_packing):
        with pytest.raises(TypeError, match=match):
            use(given)


@pytest.mark.parametrize("given", [scene(), rg.Trajectory, None, 5, Path("run.vtkhdf")])
def test_what_is_no_trajectory(given, tmp_path):
    def video(given):
        rg.write_video(given, tmp_path / "a.mp4")

    def page(given):
        rg.write_page(given, tmp_path / "a.html")

    for use in (video, page, rg.draw_plots, rg.draw_history):
        with pytest.raises(
            TypeError, match=r"is no trajectory; give a Traj|open it first: Trajectory\('run.vtkhdf'\)$"
        ):
            use(given)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_show(tmp_path):
    with pytest.raises(ValueError, match=r"history has no rows, .*; simulation\.observe\(history\) before"):
        rg.draw_history(rg.History())
    with pytest.raises(ValueError, match="no frames to show; give a Trajectory"):
        rg.write_video([], tmp_path / "a.mp4")


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"seconds": -1}, "every -1 seconds is no interval; give a number"),
        ({"seconds": float("nan")}, "every nan seconds is no interval"),
        ({"seconds": "60"}, "every '60' seconds is no interval"),
        ({"every": 0}, "every 0 steps is no interval; give 1 step or more"),
        ({"every": 1.5}, "every 1.5 steps is no interval; .* whole number"),
    ],
)
def test_what_is_no_interval_of_checkpoints(words, match, tmp_path):
    with pytest.raises(ValueError, match=match):
        rg.Checkpoints(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), **words)
    with pytest.raises(TypeError, match="None keeps no checkpoints; give the TrajectoryWriter"):
        rg.Checkpoints(None, **words)
