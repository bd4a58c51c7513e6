"""The gallery: a card for each example and scene; on the page of a scene a picture, its number, its TOML, and grains to
turn and play.

Pictures are those of docs/images where there is one; see runs.py for the others.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

from . import examples
from .figures import captioned, figure, thumbnail
from .paths import DOCS, ROOT, WIDE
from .runs import run

SCENES = ROOT / "src" / "rigidgrains" / "gallery"
HEAD = """# Gallery

Twenty programs, each with one question and its answer, and ready-made scenes, each with a number known from theory.

## Programs

To run and to change; each draws its picture and asserts its number (`examples/` of the repository).
"""
SCENES_HEAD = """
## Scenes

`rigidgrains new NAME` writes one to a file, ready to run and to change; a test compares its number with theory.
"""


def pages(generated: Path, made: Path) -> dict[str, str]:
    """Pages by name; pictures and embedded pages go beside them."""
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    head, *sections = re.split(r"^## (?=\w+$)", text, flags=re.M)
    told = {section.partition("\n")[0]: section.partition("\n")[2] for section in sections}
    knows = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| [^|]* \| ([^|]*) \|", head, re.M))
    grains = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| ([^|]*) \|", head, re.M))
    names = [name for name in told if (SCENES / f"{name}.toml").exists()]
    folder = generated / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    played = run(names, made)
    have = {name: show(name, made / name if name in played else None, folder) for name in names}
    found = {f"gallery/{name}.md": _page(name, told[name], have[name]) for name in names}
    cards = [_card(name, grains.get(name, ""), knows.get(name, ""), have[name][0], folder) for name in names]
    rest = {name: section for name, section in told.items() if name not in names}
    after = "".join(f"\n## {name}\n{_led(section)}" for name, section in rest.items())
    programs = examples.pages(generated, made)
    listed = [name.removeprefix("gallery/").removesuffix(".md") for name in programs]
    found["gallery/index.md"] = (
        WIDE + HEAD + _grid(examples.cards(generated)) + SCENES_HEAD + _grid(cards) + after
        + _contents("Programs", listed) + _contents("Scenes", names)
    )  # fmt: skip
    return found | programs


def _grid(cards: list[str]) -> str:
    return "\n::::{grid} 1 2 3 4\n:gutter: 3\n\n" + "\n".join(cards) + "\n::::\n"


def _contents(title: str, names: list[str]) -> str:
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(names) + "\n```\n"


def show(name: str, ready: Path | None, folder: Path) -> tuple[str | None, bool]:
    """The picture of a scene, as a path in the site, and whether there is a page to embed."""
    if ready is not None:
        static = DOCS / "_static" / "scenes"
        static.mkdir(parents=True, exist_ok=True)
        shutil.copy(ready / "page.html", static / f"{name}.html")
        shutil.copy(ready / "packing.png", folder / f"{name}.png")
    if (DOCS / "images" / f"{name}.png").exists():
        return f"/images/{name}.png", ready is not None
    return (f"/_generated/gallery/{name}.png" if (folder / f"{name}.png").exists() else None), ready is not None


def _page(name: str, told: str, have: tuple[str | None, bool]) -> str:
    picture, embedded = have
    text = _led(told)
    parts = [WIDE, f"# {name}\n"]
    if picture and f"({picture})" not in text:
        title = tomllib.loads((SCENES / f"{name}.toml").read_text(encoding="utf-8"))["title"]
        parts.append(figure(picture, title))
    parts.append(captioned(text))
    if embedded:
        source = f"../../_static/scenes/{name}.html#play"
        parts.append(
            "## To turn and play\n\n```{raw} html\n"
            f'<iframe class="scene" src="{source}" title="{name}" loading="lazy"></iframe>\n```\n\n'
            f"The same page for any run: `rigidgrains view {name}/{name}.vtkhdf` ([more](/page.md)).\n"
        )
    parts.append(f"## Scene\n\n```{{literalinclude}} /../src/rigidgrains/gallery/{name}.toml\n:language: toml\n```\n")
    return "\n".join(parts)


def _card(name: str, grains: str, knows: str, picture: str | None, folder: Path) -> str:
    small = f"thumb-{name}.png"
    if picture:
        thumbnail(folder / f"{name}.png" if "_generated" in picture else DOCS / picture[1:], folder / small)
    shown = f":img-top: /_generated/gallery/{small}\n" if picture else ""
    return f":::{{grid-item-card}} {name}\n:link: {name}\n:link-type: doc\n{shown}\n{grains}: {knows}\n:::\n"


def _led(text: str) -> str:
    """Links of a section of docs/gallery.md, from the page that it becomes."""
    text = re.sub(r"\]\(#(\w+)\)", r"](/_generated/gallery/\1.md)", text)
    text = re.sub(r"\]\(images/", "](/images/", text)
    text = re.sub(r"\]\(\.\./", "](/../", text)
    return re.sub(r"\]\((?!/|\w+:|#)([\w./-]+\.md)", r"](/\1", text)
