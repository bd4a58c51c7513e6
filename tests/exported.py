"""Runs to export, and a command line to do it with."""

from __future__ import annotations

import pytest

import rigidgrains as rg
from rigidgrains.cli import app
from rigidgrains.scene import Scene

FORMATS = ("gsd", "lammps", "extxyz", "csv", "vtu")


SETTINGS = {"double": {}, "single": {"precision": "single"}, "grains": {"contacts": False}}


STATE = ("position", "radius", "velocity", "spin", "mass")


CSV = "x [m],y [m],radius [m]\n0.5,0.25,0.1\n0.25,0.75,0.2\n"


def simulate(path, dimension, **settings):
    """Two dozen grains of two materials fall into a box."""
    scene = Scene(dimension=dimension, gravity=(0,) * (dimension - 1) + (-9.81,), run={"dt": 2e-4})
    scene.add_material("glass", friction=0.3)
    spin = 3.0 if dimension == 2 else (1, 2, 3)
    region = ((0,) * dimension, (0.012,) * dimension)
    scene.add_grains(count=24, radius=(0.9e-3, 1.1e-3), region=region, velocity=(-0.2,) * dimension, spin=spin)
    last = (0.006,) * (dimension - 1) + (0.02,)
    scene.add_grains(positions=[last], radius=1.5e-3, material="glass", density=5000)
    scene.add_box(lower=(0,) * dimension, upper=(0.012,) * (dimension - 1) + (0.03,), open=["top"])
    simulation, history = rg.Simulation(scene), rg.History()
    simulation.observe(history, every=10)
    simulation.observe(rg.TrajectoryWriter(path, history=history, **settings), every=40)
    simulation.run(steps=100)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        (dimension, kind): simulate(folder / f"{kind}{dimension}.vtkhdf", dimension, **settings)
        for dimension in (2, 3)
        for kind, settings in SETTINGS.items()
    }


@pytest.fixture(params=[2, 3], ids=["2D", "3D"])
def run(request, runs):
    with rg.Trajectory(runs[request.param, "double"]) as trajectory:
        yield trajectory


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Call a command in an empty folder; returns what it said."""
    monkeypatch.chdir(tmp_path)

    def call(*words, check=0):
        code = 0
        try:
            app([*map(str, words)], exit_on_error=False, result_action="return_value")
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert code == check, said.out + said.err
        return " ".join((said.out + said.err).split())

    return call
