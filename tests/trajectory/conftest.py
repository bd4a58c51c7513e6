"""A run whose file is tampered with, and readers that do not wait."""

from __future__ import annotations

import shutil

import pytest
from support.scenes import SCENE

from rigidgrains.app.runner import run_scene
from rigidgrains.trajectory import store


@pytest.fixture
def hurry(monkeypatch):
    """Nobody is writing these files: there is nothing to wait for."""
    monkeypatch.setattr(store, "PAUSE", 0.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tampered")
    (folder / "s.toml").write_text(SCENE + "[output]\npicture = false\nplot = false\nframe_every = 25\n")
    return run_scene(folder / "s.toml", output=folder / "s", progress=False).trajectory


@pytest.fixture
def path(run, tmp_path):
    shutil.copyfile(run, tmp_path / "s.vtkhdf")
    return tmp_path / "s.vtkhdf"
