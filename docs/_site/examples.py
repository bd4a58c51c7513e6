"""The examples: a card for each program; on its page the question, what it prints and draws, and its text."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from .figures import figure, thumbnail
from .paths import ROOT, WIDE
from .runs import run
from .scene_words import _escaped as escaped

FOLDER = ROOT / "examples"


def pages(generated: Path, made: Path) -> dict[str, str]:
    """Pages by name; pictures go beside them."""
    folder = generated / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    names = [path.stem for path in sorted(FOLDER.glob("*.py"))]
    have = run(names, made)
    for name in have:
        shutil.copy(made / name / "picture.png", folder / f"{name}.png")
    return {f"gallery/{name}.md": _page(name, folder, made / name if name in have else None) for name in names}


def cards(generated: Path) -> list[str]:
    """For the gallery."""
    return [_card(path.stem, generated / "gallery") for path in sorted(FOLDER.glob("*.py"))]


def told(name: str) -> tuple[str, str]:
    """The question that a program answers, and what it says about it."""
    text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    question, _, rest = text.replace("\n\n", "\n").partition("?")
    return f"{question}?", " ".join(rest.split())


def _page(name: str, folder: Path, ready: Path | None) -> str:
    question, more = told(name)
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    first = text[: text.index('"""\n\n', 3)].count("\n") + 3  # behind the docstring
    parts = [WIDE, f"# {escaped(question)}\n", escaped(more) + "\n"]
    if (folder / f"{name}.png").exists():
        parts.append(figure(f"/_generated/gallery/{name}.png", f"Drawn by examples/{name}.py", "result"))
    if ready is not None:
        output = (ready / "output.txt").read_text(encoding="utf-8").strip()
        parts.append(f"Output:\n\n```text\n{output}\n```\n")
    code = f"```{{literalinclude}} /../examples/{name}.py\n:language: python\n:lines: {first}-\n```\n"
    parts.append(f"Program, `examples/{name}.py`:\n\n{code}")
    return "\n".join(parts)


def _card(name: str, folder: Path) -> str:
    picture = ""
    if (folder / f"{name}.png").exists():
        thumbnail(folder / f"{name}.png", folder / f"thumb-{name}.png")
        picture = f":img-top: /_generated/gallery/thumb-{name}.png\n"
    return f":::{{grid-item-card}} {escaped(told(name)[0])}\n:link: {name}\n:link-type: doc\n{picture}:::\n"
