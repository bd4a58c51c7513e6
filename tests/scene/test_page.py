"""docs/scene.md: its scenes can be built, and its tables of shapes and grains have every key."""

from __future__ import annotations

import re

import pytest
from support import ROOT

from rigidgrains.scene import Grains, Shape, load_scene

TEXT = (ROOT / "docs/scene.md").read_text(encoding="utf-8")
BLOCKS = [text for text in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL) if "[[grains]]" in text]
SCENES = [text for text in BLOCKS if "\nfile = " not in text]  # files of other programs are read in tests/formats


@pytest.mark.parametrize("number", range(len(SCENES)))
def test_the_scenes_of_the_page_can_be_built(number, tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(SCENES[number], encoding="utf-8")
    assert load_scene(path).build().count > 0


@pytest.mark.parametrize(("heading", "table"), [("[[shape]]", Shape), ("[[grains]]", Grains)])
def test_the_page_knows_every_key(heading, table):
    section = TEXT.partition(f"\n## `{heading}`")[2].partition("\n## ")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
    assert set(table.model_fields) - {"name"} <= told
    assert told <= set(table.model_fields) | {"placement"}
