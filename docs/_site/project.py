"""Pages of the repository's root, with their links led into the site."""

from __future__ import annotations

import posixpath
import re

from .figures import captioned
from .links import FENCE, LINK, site_link
from .paths import DOCS, PROJECT, ROOT

PICTURE = re.compile(r"!\[([^]]*)\]\(docs/")


def pages() -> dict[str, str]:
    return {
        f"project/{name}.md": _led((ROOT / path).read_text(encoding="utf-8"))
        for path, name in PROJECT.items()
        if (ROOT / path).exists() and name != "readme"
    } | {"project/readme.md": "---\norphan: true\n---\n\n" + _led((ROOT / "README.md").read_text(encoding="utf-8"))}


def _led(text: str) -> str:
    text = text.replace("```layers", "```text")
    parts = FENCE.split(text)
    parts[::2] = [captioned(LINK.sub(_target, PICTURE.sub(r"![\1](/", part))) for part in parts[::2]]
    return "".join(parts)


def _target(match: re.Match[str]) -> str:
    path, anchor = posixpath.normpath(match[1]), match[2] or ""
    if (found := site_link(path, anchor)) is not None:
        return found or f"/{match[1]}"
    if path.startswith("docs/") and (DOCS / path.removeprefix("docs/")).exists():
        return f"/{path.removeprefix('docs/')}{anchor}"
    return f"../../../{path}{anchor}"
