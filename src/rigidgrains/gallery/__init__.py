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


def studies() -> dict[str, str]:
    """Name and title of each study."""
    names = sorted(folder.name for folder in _STUDIES.iterdir() if (folder / "study.toml").is_file())
    return {name: str(tomllib.loads(study_files(name)["study.toml"])["title"]) for name in names}


def study_files(name: str) -> dict[str, str]:
    """The files of a study as texts: study.toml, its scene, and functions that it measures with."""
    kept = (file for file in (_STUDIES / name).iterdir() if file.name.endswith((".toml", ".py")))
    return {file.name: file.read_text(encoding="utf-8") for file in kept}


_STUDIES = files(__name__) / "studies"
