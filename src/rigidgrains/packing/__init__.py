"""Packings as material: prepared samples that are cut, mirrored, scaled, glued and replicated, for many tests."""

from .errors import PackingError
from .packing import Packing

__all__ = ["Packing", "PackingError"]
