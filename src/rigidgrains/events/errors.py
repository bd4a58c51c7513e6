"""What a scene asks for at a time, and cannot have."""

from __future__ import annotations


class StageError(RuntimeError):
    """What the scene asks for at this time cannot be done. The simulation still holds the last good state."""
