"""Shapes of walls, one file each: a new one is a file here, its line below, a table in scene/confinement.py.

Each has one scalar law: the signed distance from a centre to the surface and the unit vector n that points from the
centre to the surface (bodies 0 = grain, 1 = wall). The gap is that distance less the radius.
"""

from __future__ import annotations

from ...runtime.registry import Registry
from .cone import Cone
from .cylinder import Cylinder
from .distance import offset, sideways, unit
from .plane import Plane
from .plate import Plate
from .shape import Shape

__all__ = ["SHAPES", "Cone", "Cylinder", "Plane", "Plate", "Shape", "offset", "sideways", "unit"]

# By the names that files and pages use; `from_words` makes a shape again.
SHAPES: Registry[Shape] = Registry("wall shape", {"plane": Plane, "plate": Plate, "cylinder": Cylinder, "cone": Cone})
