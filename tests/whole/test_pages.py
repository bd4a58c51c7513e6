"""Pages: links lead somewhere, and blocks of code are what they say: programs run, scenes and commands are known."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
import types
from pathlib import Path

import pytest
from support import ROOT

from rigidgrains.cli import app
from rigidgrains.scene import Scene

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "examples").glob("*.md"), *DOCS.rglob("*.md")]
    if not {"_generated", "_build", "node_modules", "_static"} & {*path.relative_to(ROOT).parts}
)
IDS = [path.relative_to(ROOT).as_posix() for path in PAGES]
BLOCK = re.compile(r"^([`~]{3,})(\{?[\w-]*\}?)[^\n]*\n(.*?)^\1", re.M | re.S)
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)\s#]*)(?:#([^)\s]+))?(?=\))")
SCENE = Scene.model_json_schema()
NEW_WORDS = {"study", "points", "vary", "measure", "end", "set", "scene", "replicas", "seed", "seeds"}  # of study files


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, *kinds: str) -> list[tuple[int, str]]:
    """Line and text of the blocks of some kinds."""
    text = text_of(path)
    return [(text[: m.start()].count("\n") + 2, m[3]) for m in BLOCK.finditer(text) if m[2] in kinds]


def anchors(path: Path) -> set[str]:
    """Of the headings of a page, as GitHub and the site make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", BLOCK.sub("", text_of(path)), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        number = next(k for k in range(99) if (f"{slug}-{k}" if k else slug) not in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_links_lead_somewhere(path):
    """Files and headings; a site-absolute link begins in docs/."""
    for name, anchor in LINK.findall(BLOCK.sub("", text_of(path))):
        if name.startswith("/_generated/") or name.startswith("_generated/"):
            continue  # Sphinx knows
        target = path if not name else (DOCS / name[1:] if name.startswith("/") else path.parent / name)
        assert target.exists(), f"{path.name}: {name}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path.name}: {name}#{anchor}"


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_files_that_are_named_exist(path):
    """Paths from the root, in backticks; what is made by a command is excepted."""
    for name in re.findall(r"`((?:src|tests|docs|benchmarks|examples|validation|web)/[\w./*-]+)", text_of(path)):
        if name not in ("benchmarks/history.jsonl", "examples/NN_name.py"):
            assert any(ROOT.glob(name.rstrip("."))), name


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_python_is_python(path):
    for line, code in blocks(path, "python"):
        try:
            ast.parse(code)
        except SyntaxError as problem:
            pytest.fail(f"{path.name}:{line}: {problem}")


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_toml_is_a_scene_or_a_study(path):
    """Tables and keys are known; values are checked where the whole scene is."""
    for line, code in blocks(path, "toml"):
        words = tomllib.loads(code)
        if NEW_WORDS & set(words):
            continue  # a study: docs/study.md is run by test_docs.py
        for key, value in words.items():
            place = f"{path.name}:{line}: {key}"
            known = SCENE["properties"]
            if key not in known:  # keys of one table, shown without its head
                assert any(key in table.get("properties", {}) for table in SCENE["$defs"].values()), place
                continue
            for table in value if isinstance(value, list) else [value]:
                if isinstance(table, dict):
                    keys = _keys(known[key])
                    assert not keys or set(table) <= keys, place


def _keys(words: dict) -> set[str]:
    """Of a table of the scene; none for what is no table."""
    for one in [words, words.get("items", {}), *words.get("anyOf", [])]:
        if "$ref" in one:
            return set(SCENE["$defs"][one["$ref"].rpartition("/")[2]]["properties"])
    return set()


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_commands_are_known(path, capsys):
    """Words and options of every line that calls rigidgrains are those that it has; nothing is run."""
    for line, code in blocks(path, "sh", "console"):
        for command in re.sub(r"\\\n\s*", " ", code).splitlines():
            for part in re.split(r"&&|\||;", command.partition(" # ")[0].split("   #")[0]):
                words = shlex.split(part, comments=True)
                while words and (words[0] in ("$", "nohup", "time") or re.fullmatch(r"\w+=\S*", words[0])):
                    words.pop(0)
                if not words or words[0].rpartition("/")[2] != "rigidgrains":
                    continue
                words = [word for word in words[1:] if word not in (">", "&", "2>&1")]
                if set(words) & {"...", "--version", "--help", "-h", "COMMAND", "--install-completion"}:
                    continue
                try:
                    app.parse_args(words, exit_on_error=False, print_error=False)
                except Exception as problem:
                    pytest.fail(f"{path.name}:{line}: {part.strip()}: {problem}")


@pytest.mark.parametrize(
    "path", sorted(set((DOCS / "howto").glob("*.md")) - {DOCS / "howto" / "index.md"}), ids=lambda path: path.stem
)
def test_the_code_of_a_how_to_runs(path, tmp_path, monkeypatch):
    """As it stands, one block after the other; what a page claims is asserted in it."""
    found = blocks(path, "python")
    assert found
    if "write_video" in found[0][1]:
        pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    page = types.ModuleType(f"howto_{path.stem}")
    monkeypatch.setitem(__import__("sys").modules, page.__name__, page)
    for line, code in found:
        exec(compile("\n" * (line - 1) + code, path.name, "exec"), page.__dict__)


def test_every_page_is_in_the_site():
    """A page that no contents list names is found by nobody."""
    listed = set()
    for path in DOCS.rglob("*.md"):
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text_of(path), re.M | re.S):
            for entry in (line for line in block.splitlines() if line and not line.startswith(":")):
                listed |= {found.resolve() for found in path.parent.glob(f"{entry}.md" if "*" not in entry else entry)}
    others = {DOCS / "index.md", DOCS / "gallery.md", DOCS / "notebooks" / "README.md"}
    for path in PAGES:
        if DOCS in path.parents and path not in others:
            assert path.resolve() in listed, path.name


def test_notebooks_are_kept_with_their_outputs():
    """The site shows them as they are."""
    for path in (DOCS / "notebooks").glob("*.ipynb"):
        cells = json.loads(text_of(path))["cells"]
        assert any(cell.get("outputs") for cell in cells), path.name
