"""Pages of the site that are made of the code are whole, and links lead into the site; `make docs` builds the rest."""

from __future__ import annotations

import re
import shutil
import sys

import numpy as np
import pytest
from support import ROOT

import rigidgrains as rg
from rigidgrains.cli import app

DOCS = ROOT / "docs"
STAGES = """
dimension = 3
grains = [{ positions = [[0, 0, 0.011]], radius = 0.01 }]
plane = [{ name = "floor", point = [0, 0, 0], normal = [0, 0, 1] }]
stage = [{ name = "fall", rest = true, limit = 0.1 }, { name = "stand", until = 0.01 }]
gravity = [0, 0, -9.81]
"""


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
    assert "| `frequency` | number, > 0 | **needed** | Hz |" in text
    assert "| `jitter` | number, ≥ 0, ≤ 1 | `0.5` |" in text


def test_every_public_name_is_explained(site):
    pages = site.api.pages()
    text = "\n".join(pages.values())
    for name in rg.__all__:
        assert re.search(rf"^## {name}$", text, re.M), name
    assert "## stress" in pages["api/measure.md"]
    assert "### Scene.add_grains" in text
    assert "### Scene.wrong" not in text  # of its tables
    assert re.search(r"^Keywords, as in \[`\[\[piston\]\]`\]\(#words-piston\): .*`load`", text, re.M)
    assert re.search(r"^Keywords, as in \[`\[cell\]`\]\(#words-cell\): .*`rate`", text, re.M)
    assert "api/others.md" not in pages  # a new name gets a group, docs/_site/api.py


def test_every_command_is_listed(site):
    text = site.commands.pages()["commands.md"]
    for command in app:
        if not command.startswith("-"):
            assert f"## rigidgrains {command}\n" in text, command
            assert re.search(rf"^rigidgrains {command}( (?!-m )|$)", text, re.M), command  # not as pytest is called


def test_docstrings_become_paragraphs_and_lists(site):
    told = site.api.described("Do it.\n\nfirst  : one thing\n         or two\nsecond : [x] another\n\nThe end.")
    assert told == "Do it.\n\n- **first**: one thing or two\n- **second**: \\[x\\] another\n\nThe end.\n"
    assert site.api.described("a : (c,) m; one; b : s") == "- **a**: (c,) m; one\n- **b**: s\n"


@pytest.mark.parametrize(
    ("document", "written", "leads"),
    [
        ("scene", "[a](../CONTRIBUTING.md#tests)", "[a](/_generated/project/contributing.md#tests)"),
        ("howto/press", "[a](../gallery.md#drum)", "[a](/_generated/gallery/drum.md)"),
        ("scene", "[a](gallery.md)", "[a](/_generated/gallery/index.md)"),
        ("scene", "[a](decisions)", "[a](/decisions/README.md)"),
        ("scene", "[a](../examples/07_drum.py)", "[a](/_generated/gallery/07_drum.md)"),
        ("scene", "[a](../examples)", "[a](/_generated/gallery/index.md#programs)"),
        ("scene", "[a](laws.md#x)", "[a](laws.md#x)"),
        ("scene", "[a](#here)", "[a](#here)"),
        ("scene", "```\n[a](gallery.md)\n```", "```\n[a](gallery.md)\n```"),
        ("index", "![a](images/b.png)", "![a](images/b.png)"),
    ],
)
def test_links_lead_into_the_site(site, document, written, leads):
    assert site.into_site(written, document) == leads


def test_every_scene_of_the_gallery_has_a_page(site, tmp_path, monkeypatch):
    monkeypatch.setenv("SITE_SCENES", "0")
    pages = site.gallery.pages(tmp_path / "generated", tmp_path / "scenes")
    scenes = {path.stem for path in (ROOT / "src" / "rigidgrains" / "gallery").glob("*.toml")}
    programs = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert {name.removeprefix("gallery/").removesuffix(".md") for name in pages} == scenes | programs | {"index"}
    for name in scenes | programs:
        assert re.search(rf"^:link: {name}$", pages["gallery/index.md"], re.M)
        assert re.search(rf"^{name}$", pages["gallery/index.md"], re.M)  # in a list of contents
    for name in scenes:
        assert f"{name}.toml\n:language: toml" in pages[f"gallery/{name}.md"]
    landing = re.findall(r"_generated/gallery/(thumb-\w+\.png)", (DOCS / "index.md").read_text(encoding="utf-8"))
    assert len(landing) == 4
    assert all((tmp_path / "generated" / "gallery" / name).exists() for name in landing)
    shear = pages["gallery/05_shear.md"]
    assert "\n# What is the friction coefficient of a flow?\n" in shear
    assert "mu(I) = 0.25 + 1.1 I" in shear
    assert "/../examples/05_shear.py\n:language: python" in shear


def test_a_scene_is_played(site, tmp_path):
    """A picture and a page that needs nothing else."""
    from _site.play import play

    play("collision", tmp_path)
    assert (tmp_path / "packing.png").stat().st_size > 3000
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:500]
    assert {path.name for path in tmp_path.iterdir()} == {"packing.png", "page.html"}


def test_an_example_is_shown_with_what_it_prints(site, tmp_path):
    """Its picture and its output, on a page of its own; files that it leaves are gone."""
    from _site.play import run_example

    made = tmp_path / "made" / "16_law"
    made.mkdir(parents=True)
    run_example("16_law", made)
    assert {path.name for path in made.iterdir()} == {"picture.png", "output.txt"}
    shutil.copy(made / "picture.png", tmp_path / "16_law.png")
    page = site.examples._page("16_law", tmp_path, made)
    assert "a disk of 1.11 N hangs" in page
    assert "16_law.png" in page


def test_pictures_have_captions(site):
    """Their descriptions, unless one stands below; those in tables stay as they are."""
    assert "```{figure} images/b.png\n:alt: a drum\n\nA drum.\n```" in site.into_site(
        "x\n\n![a drum](images/b.png)\n", "scene"
    )
    for kept in ("![a](b.png)\n\n*A drum.*\n", "| ![a](b.png) | c |\n"):
        assert site.into_site(kept, "scene") == kept


def test_thumbnails_show_what_is_large(site):
    """A drawing without its margin, and without a scale bar that stands apart from it."""
    from _site.figures import content

    pixels = np.full((200, 300, 3), 255)
    pixels[40:140, 50:200] = 90
    pixels[180:184, 50:90] = 0  # a scale bar
    pixels[60:120, 260:266] = 0  # a colour bar
    left, top, right, bottom = content(pixels)
    assert (abs(left - 50), abs(top - 40), abs(right - 200), abs(bottom - 140)) < (5, 5, 5, 5)
    assert content(np.full((5, 6, 3), 255)) == (0, 0, 6, 5)


def test_search_finds_words_of_other_programs_in_the_glossary(site):
    """Each is an entry of the index, which search puts first."""
    from _site.index_words import words

    page = site.into_site((DOCS / "glossary.md").read_text(encoding="utf-8"), "glossary")
    found = set(re.findall(r"! ([^,\n]+)", page))
    known = {"warm start", "complementarity", "island", "Delassus operator W", "friction angle", "Verlet list", "NSGS"}
    assert known <= found
    assert words("| here | there |\n|---|---|\n| a *cluster*, many | `fix pour`; b |\n") == ["cluster", "fix pour"]


def test_what_is_run_can_be_chosen(site, monkeypatch):
    for words, chosen in (("", None), ("0", ["0"]), ("dice 07_drum", ["dice", "07_drum"])):
        monkeypatch.setenv("SITE_SCENES", words)
        assert site.runs.asked() == chosen


def test_scenes_are_run_on_all_cores_and_once(site, tmp_path, monkeypatch):
    """Each that has changed, in several processes; what goes wrong there is told."""
    player, made = tmp_path / "player.py", tmp_path / "made"
    player.write_text(
        "import pathlib, sys\n"
        "for name in sys.argv[2:]:\n"
        "    if name == 'bad': sys.exit('it broke')\n"
        "    folder = pathlib.Path(sys.argv[1], name)\n"
        "    folder.mkdir(parents=True)\n"
        "    (folder / 'mark').write_text(name)\n",
        encoding="utf-8",
    )
    monkeypatch.delenv("SITE_SCENES", raising=False)
    monkeypatch.setattr(site.runs, "PLAYER", player)
    monkeypatch.setattr(site.runs, "mark", lambda name: name)
    assert site.runs.run("abcde", made) == set("abcde")
    assert {folder.name for folder in made.iterdir()} == set("abcde")
    assert site.runs.run("abcde", made) == set("abcde")  # a second time a folder would be in the way
    with pytest.raises(RuntimeError, match="it broke"):
        site.runs.run(["f", "bad", "g"], made)


def test_scenes_in_stages_are_played_to_their_end(site, tmp_path, monkeypatch):
    """They have neither a time nor a number of steps."""
    from _site import play

    (tmp_path / "fall.toml").write_text(STAGES)
    monkeypatch.setattr(play, "SCENES", tmp_path)
    play.play("fall", tmp_path)
    assert (tmp_path / "page.html").exists()


def test_formulas_are_drawn_without_a_network(site):
    pytest.importorskip("docutils")
    from _site.mathtext import svg

    for formula in (r"R_n \ge 0", r"\sigma_{ab} = \frac1V \sum l_a R_b", r"q \approx 0.8 \text{ for sweeps}"):
        drawn = svg(formula)
        assert drawn.startswith("<svg")
        assert "currentColor" in drawn
        assert "http" not in drawn.replace("http://www.w3.org/", "")
