"""Gallery scenes run through the same road as `rigidgrains run`."""

from __future__ import annotations

import json

from rigidgrains.app.runner import run_scene
from rigidgrains.gallery import scene_text
from rigidgrains.scene import load_scene
from rigidgrains.trajectory.reader import Trajectory


def run_gallery_scene(tmp_path):
    """A function that runs a gallery scene: its report, final state and bodies at the start."""

    def go(name: str, *, pictures: bool = False):
        path, text = tmp_path / f"{name}.toml", scene_text(name)
        if not pictures:
            bare = "[output]\npicture = false\nplot = false\n"
            text = text.replace("[output]\n", bare) if "[output]\n" in text else text + "\n" + bare
        path.write_text(text)
        outcome = run_scene(path, output=tmp_path / "out", progress=False)
        files = {file.name for file in outcome.folder.iterdir()}
        own = {f"{name}.vtkhdf", f"{name}-contacts.vtkhdf"}
        assert files == {"report.json", "scene.toml", *own, *(("history.png", "packing.png") if pictures else ())}
        assert json.loads((outcome.folder / "report.json").read_text())["warnings"] == outcome.report.warnings
        # Some scenes are soft on purpose, and say so; nothing else is amiss.
        assert [text for text in outcome.report.warnings if not text.startswith("soft")] == []
        return outcome.report, Trajectory(outcome.trajectory)[-1], load_scene(path).build()

    return go
