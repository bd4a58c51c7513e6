"""Sphinx extension: pages that are made of the code, and links that lead from pages of the repository into the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import api, commands, gallery, project, scene_words
from .links import into_site

GENERATED = "_generated"


def setup(app: Any) -> dict[str, Any]:
    from .mathtext import register  # docutils comes with Sphinx

    register(app)
    app.connect("builder-inited", generate)
    app.connect("source-read", rewrite)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def generate(app: Any) -> None:
    """Write all generated pages; those that have not changed keep their time, so that they are not read anew."""
    folder = Path(app.srcdir) / GENERATED
    pages: dict[str, str] = {}
    for part in (scene_words, commands, api, project):
        pages |= part.pages()
    pages |= gallery.pages(folder, Path(app.outdir).parent / "scenes")
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()


def rewrite(app: Any, name: str, content: list[str]) -> None:
    """Lead links to pages that look different in the site to what they are there."""
    content[0] = into_site(content[0], name)
