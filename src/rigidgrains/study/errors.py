"""Mistakes in a study are told like those in a scene: all at once, each with its place, value and remedy."""

from __future__ import annotations

from ..scene.errors import SceneError


class StudyError(SceneError):
    """A study that cannot be run."""

    def __str__(self) -> str:
        return super().__str__().replace("mistakes in the scene", "mistakes in the study", 1)


class StudyFailed(RuntimeError):
    """The study could not go on; runs that had ended are kept."""
