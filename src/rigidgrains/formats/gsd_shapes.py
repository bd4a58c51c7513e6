"""Types of grains in GSD: by material, and of other shapes than disks and spheres by shape and size too.

GSD knows the shape of a type, not of a particle: grains that differ in size are of different types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..shapes.core import FLAT, Shape
from ..shapes.outline import polygons
from ..shapes.surface import surface

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

Array = NDArray[Any]

MOST = 500  # types; with more, sizes are rounded
ROUND = 0.01  # of the radius: sizes that count as one where there are too many
FINE = 16  # straight pieces to a full turn, where a shape is told by triangles


@dataclass(frozen=True)
class Types:
    """names, and shapes as GSD has them (none where all grains are round); keys : (t, 3) material, shape, size."""

    names: list[str]
    shapes: list[dict[str, Any]]
    keys: Array
    rounded: bool = False

    def of(self, frame: Frame) -> Array:
        """(n,) type of each grain."""
        if frame.shape is None:
            return frame.material
        keys = np.concatenate([self.keys, _keys(frame, self.rounded)])
        number = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        place = np.empty(number.max() + 1, np.int64)
        place[number[: len(self.keys)]] = np.arange(len(self.keys))
        return place[number[len(self.keys) :]].astype(np.uint32)


def make_types(job: Job) -> Types:
    """The types of all grains in all chosen frames."""
    first = job.trajectory[job.chosen[0]]
    catalogue = first.catalogue
    if catalogue is None:
        return Types([f"material{k}" for k in range(len(job.trajectory[0].friction))], [], np.zeros((0, 3)))
    keys, rounded = _collect(job, rounded=False), False
    if len(keys) > MOST:
        before, rounded = len(keys), True
        keys = _collect(job, rounded=True)
        job.notes.append(
            f"{before} sizes of grains are too many types for GSD: shapes are drawn with sizes rounded to 1 %, in"
            f" {len(keys)} types; `diameter` is exact"
        )
    names, shapes, number = [], [], dict[tuple[float, float], int]()
    for material, shape, size in keys:
        k = int(shape)
        nth = number[material, shape] = number.get((material, shape), -1) + 1
        names.append(f"material{int(material)}-{catalogue.names[k]}-{nth}")
        radius = float(np.exp(size * ROUND)) if rounded else float(size)
        shapes.append(describe(catalogue.shapes[k], radius))
    return Types(names, shapes, keys, rounded)


def describe(shape: Shape, radius: float) -> dict[str, Any]:
    """A grain as `type_shapes` has it: Sphere, SphereUnion, Polygon, ConvexPolyhedron or Mesh; lengths in m.

    OVITO wants three vertices of a polygon and four of a polyhedron, so capsules are drawn with straight pieces.
    """
    part = shape.parts[0]
    if all(len(one.vertices) == 1 for one in shape.parts):
        if len(shape.parts) == 1:
            return {"type": "Sphere", "diameter": 2.0 * radius}
        centres = [(radius * one.vertices[0]).tolist() for one in shape.parts]
        return {
            "type": "SphereUnion",
            "diameters": [2.0 * radius * one.rounding for one in shape.parts],
            "centers": centres,
        }
    flat, alone = shape.dimension == FLAT, len(shape.parts) == 1 and len(shape.parts[0].vertices) > 2
    if alone:
        vertices = (radius * part.vertices[:, :2] if flat else radius * part.vertices).tolist()
        kind = "Polygon" if flat else "ConvexPolyhedron"
        return {"type": kind, "rounding_radius": radius * part.rounding, "vertices": vertices}
    if flat:
        loop = max(polygons(shape, fine=2 * FINE), key=len)
        return {"type": "Polygon", "rounding_radius": 0.0, "vertices": (radius * loop).tolist()}
    mesh = surface(shape, fine=FINE).welded()
    return {"type": "Mesh", "vertices": (radius * mesh.points).tolist(), "indices": mesh.triangles.tolist()}


def _collect(job: Job, *, rounded: bool) -> Array:
    """(t, 3) all that differ."""
    found = [np.unique(_keys(job.trajectory[index], rounded), axis=0) for index in job.chosen]
    return np.unique(np.concatenate(found), axis=0)


def _keys(frame: Frame, rounded: bool) -> Array:
    """(n, 3) material, shape and radius (m), or where sizes are rounded its logarithm in steps."""
    assert frame.shape is not None
    radius = np.asarray(frame.radius, float)
    size = np.rint(np.log(radius) / ROUND) if rounded else radius
    return np.column_stack([frame.material, frame.shape, size])
