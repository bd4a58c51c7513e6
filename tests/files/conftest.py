"""A scene to run, and a run that was made, for the tests of outputs."""

from __future__ import annotations

import pytest
from support.scenes import SCENE

from rigidgrains.app.runner import run_scene


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of 50 steps in the folder s."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "s.toml").write_text(SCENE)
    run_scene(folder / "s.toml", output=folder / "s", progress=False)
    return folder / "s"
