"""Runs to export, and a command line to do it with."""

from __future__ import annotations

import pytest
from support.exports import SETTINGS, simulate

import rigidgrains as rg
from rigidgrains.cli import app


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
