"""Links: pages of the repository lead to each other by their files; some of them are other pages in the site.

Pictures become figures on the way, and words of the glossary entries of the index, by which search finds them first.
"""

from __future__ import annotations

import posixpath
import re

from .figures import captioned
from .index_words import indexed
from .paths import PROJECT, ROOT

LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"(^```.*?^```|^~~~.*?^~~~)", re.M | re.S)


def into_site(text: str, document: str) -> str:
    """The text of a document with such links changed; code is left as it is."""
    if document.startswith("_generated/") or document.startswith("notebooks/"):
        return text
    folder = posixpath.dirname(posixpath.join("docs", document))
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda match: _target(match, folder), part) for part in parts[::2]]
    if document != "index":  # its pictures stand in a grid
        parts[::2] = [captioned(part) for part in parts[::2]]
    whole = "".join(parts)
    return indexed(whole) if document == "glossary" else whole


def site_link(path: str, anchor: str) -> str | None:
    """Where a file of the repository is found in the site, if that is another place."""
    if path in PROJECT:
        return f"/_generated/project/{PROJECT[path]}.md{anchor}"
    if path == "docs/gallery.md":
        return f"/_generated/gallery/{anchor[1:] or 'index'}.md"
    if path == "docs/notebooks/README.md":
        return "/tutorials.md"
    if path in ("examples", "examples/README.md"):
        return "/_generated/gallery/index.md#programs"
    if path.startswith("examples/") and path.endswith(".py"):
        return f"/_generated/gallery/{path.removeprefix('examples/').removesuffix('.py')}.md"
    if path.startswith("docs/") and path.endswith((".md", ".ipynb")):
        return None
    if (ROOT / path).is_dir():
        found = ROOT / path / "README.md"
        return f"/{path.removeprefix('docs/')}/README.md" if found.is_file() and path.startswith("docs/") else ""
    return None


def _target(match: re.Match[str], folder: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, match[1]))
    found = site_link(path, match[2] or "")
    return found or match[0]
