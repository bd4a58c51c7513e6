"""Ready-made scenes, each with one number that theory knows; `rigidgrains new` writes them out."""

from __future__ import annotations

import tomllib
from importlib.resources import files


def scenes() -> dict[str, str]:
    """Name and title of each scene."""
    names = sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))
    return {name: str(tomllib.loads(scene_text(name)).get("title", "")) for name in names}


def scene_text(name: str) -> str:
    """The scene file as text."""
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
