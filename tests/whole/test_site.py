"""Pages of the site that are made of the code are whole, and links lead into the site; `make docs` builds the rest."""

from __future__ import annotations

import re
import sys

import pytest
from support import ROOT

import rigidgrains as rg
from rigidgrains.cli import app

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site():
    """The extension, without Sphinx."""
    sys.path.insert(0, str(DOCS))
    try:
        import _site
    finally:
        sys.path.remove(str(DOCS))
    return _site


def test_every_word_of_a_scene_is_listed(site):
    """With its table; those with a number or a length say the unit."""
    text = site.scene_words.pages()["scene-words.md"]
    schema = rg.Scene.model_json_schema()
    for table in [schema, *schema["$defs"].values()]:
        for key in table["properties"]:
            assert f"| `{key}` |" in text, key
    for key in ("grains", "piston", "inflow"):
        assert f"## `[[{key}]]`" in text
    assert "| `mass_rate` | number, > 0 |  | kg/s |" in text
    assert "| `jitter` | number, ≥ 0, ≤ 1 | `0.5` |" in text


def test_every_public_name_is_explained(site):
    pages = site.api.pages()
    text = "\n".join(pages.values())
    for name in rg.__all__:
        assert re.search(rf"^## {name}$", text, re.M), name
    assert "## stress" in pages["api/measure.md"]
    assert "### Scene.add_grains" in text
    assert "api/others.md" not in pages  # a new name gets a group, docs/_site/api.py


def test_every_command_is_listed(site):
    text = site.commands.pages()["commands.md"]
    for command in app:
        if not command.startswith("-"):
            assert f"## rigidgrains {command}\n" in text, command


def test_docstrings_become_paragraphs_and_lists(site):
    told = site.api.described("Do it.\n\nfirst  : one thing\n         or two\nsecond : [x] another\n\nThe end.")
    assert told == "Do it.\n\n- **first**: one thing or two\n- **second**: \\[x\\] another\n\nThe end.\n"


@pytest.mark.parametrize(
    ("document", "written", "leads"),
    [
        ("scene", "[a](../CONTRIBUTING.md#tests)", "[a](/_generated/project/contributing.md#tests)"),
        ("howto/press", "[a](../gallery.md#drum)", "[a](/_generated/gallery/drum.md)"),
        ("scene", "[a](gallery.md)", "[a](/_generated/gallery/index.md)"),
        ("scene", "[a](decisions)", "[a](/decisions/README.md)"),
        ("scene", "[a](laws.md#x)", "[a](laws.md#x)"),
        ("scene", "[a](#here)", "[a](#here)"),
        ("scene", "```\n[a](gallery.md)\n```", "```\n[a](gallery.md)\n```"),
    ],
)
def test_links_lead_into_the_site(site, document, written, leads):
    assert site.into_site(written, document) == leads


def test_every_scene_of_the_gallery_has_a_page(site, tmp_path, monkeypatch):
    monkeypatch.setenv("SITE_SCENES", "0")
    pages = site.gallery.pages(tmp_path / "generated", tmp_path / "scenes")
    scenes = {path.stem for path in (ROOT / "src" / "rigidgrains" / "gallery").glob("*.toml")}
    assert {name.removeprefix("gallery/").removesuffix(".md") for name in pages} == scenes | {"index"}
    for name in scenes:
        assert f"{name}.toml\n:language: toml" in pages[f"gallery/{name}.md"]
        assert f":link: {name}\n" in pages["gallery/index.md"]
    assert set(site.gallery.SLOW) <= scenes


def test_a_scene_is_played(site, tmp_path):
    """A picture and a page that needs nothing else."""
    from _site.play import play

    play("collision", tmp_path)
    assert (tmp_path / "packing.png").stat().st_size > 3000
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:500]
    assert {path.name for path in tmp_path.iterdir()} == {"packing.png", "page.html"}


def test_formulas_are_drawn_without_a_network(site):
    pytest.importorskip("docutils")
    from _site.mathtext import svg

    for formula in (r"R_n \ge 0", r"\sigma_{ab} = \frac1V \sum l_a R_b", r"q \approx 0.8 \text{ for sweeps}"):
        drawn = svg(formula)
        assert drawn.startswith("<svg")
        assert "currentColor" in drawn
        assert "http" not in drawn.replace("http://www.w3.org/", "")
