"""The gallery: a card for each scene; on its page a picture, its number, its TOML, and grains to turn and play.

Quick scenes are run when the site is built, and kept in docs/_build/scenes until they change; pictures of the others
are those of docs/images. SITE_SCENES="dice drum" runs these scenes, SITE_SCENES=0 none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .paths import DOCS, ROOT
from .play import mark

SCENES = ROOT / "src" / "rigidgrains" / "gallery"
SLOW = (
    "biaxial",
    "triaxial",
    "shear",
    "compression",
    "piston",
    "heap",
    "pile",
    "drum",
    "hopper",
    "stickslip",
    "ballast",
)
PLAYER = Path(__file__).with_name("play.py")
HEAD = """# Gallery

Ready-made scenes, each with a number that theory knows; a test asks for it. `rigidgrains new NAME` writes one to a
file, ready to run and to change.
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
    played = _play(_chosen(names), made)
    have = {name: show(name, made / name if name in played else None, folder) for name in names}
    found = {f"gallery/{name}.md": _page(name, told[name], have[name]) for name in names}
    cards = [_card(name, grains.get(name, ""), knows.get(name, ""), have[name][0]) for name in names]
    rest = {name: section for name, section in told.items() if name not in names}
    after = "".join(f"\n## {name}\n{_led(section)}" for name, section in rest.items())
    found["gallery/index.md"] = (
        f"{HEAD}\n::::{{grid}} 1 2 3 4\n:gutter: 3\n\n" + "\n".join(cards) + "\n::::\n" + after
        + "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    )  # fmt: skip
    return found


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


def _chosen(names: list[str]) -> list[str]:
    """Scenes to run: quick ones, or those that are asked for."""
    asked = os.environ.get("SITE_SCENES", "").split()
    return [name for name in names if (name in asked if asked else name not in SLOW)]


def _play(names: list[str], made: Path) -> set[str]:
    """Run those scenes that have not been run as they are; all of them can be shown then."""
    todo = [name for name in names if _made(made / name) != mark(name)]
    for name in todo:
        shutil.rmtree(made / name, ignore_errors=True)
    if todo:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run([sys.executable, PLAYER, made, *todo], capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(f"a scene of the gallery: {done.stderr}")
    return set(names)


def _made(folder: Path) -> str:
    path = folder / "mark"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _page(name: str, told: str, have: tuple[str | None, bool]) -> str:
    picture, embedded = have
    text = _led(told)
    parts = [f"# {name}\n"]
    if picture and f"({picture})" not in text:
        parts.append(f"```{{image}} {picture}\n:alt: {name}\n```\n")
    parts.append(text)
    if embedded:
        source = f"../../_static/scenes/{name}.html"
        parts.append(
            "## To turn and play\n\n```{raw} html\n"
            f'<iframe class="scene" src="{source}" title="{name}" loading="lazy"></iframe>\n```\n\n'
            f"The same page for any run: `rigidgrains view {name}/{name}.vtkhdf` ([more](/page.md)).\n"
        )
    parts.append(f"## Scene\n\n```{{literalinclude}} /../src/rigidgrains/gallery/{name}.toml\n:language: toml\n```\n")
    return "\n".join(parts)


def _card(name: str, grains: str, knows: str, picture: str | None) -> str:
    shown = f":img-top: {picture}\n" if picture else ""
    return f":::{{grid-item-card}} {name}\n:link: {name}\n:link-type: doc\n{shown}\n{grains}: {knows}\n:::\n"


def _led(text: str) -> str:
    """Links of a section of docs/gallery.md, from the page that it becomes."""
    text = re.sub(r"\]\(#(\w+)\)", r"](/_generated/gallery/\1.md)", text)
    text = re.sub(r"\]\(images/", "](/images/", text)
    text = re.sub(r"\]\(\.\./", "](/../", text)
    return re.sub(r"\]\((?!/|\w+:|#)([\w./-]+\.md)", r"](/\1", text)
