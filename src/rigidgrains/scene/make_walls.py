"""Walls with shape and drive from the tables of a scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import walls
from ..detect import shapes
from .confinement import Cylinder, DrivenSurface, Piston, Plane
from .friction import FrictionTable
from .scene import Scene
from .values import Array, in_space


def make_walls(scene: Scene, friction: FrictionTable) -> list[walls.Wall]:
    """All walls: planes, boxes, cylinders, pistons, in the order of the scene."""
    planes = [*scene.plane, *(plane for box in scene.box for plane in box.planes())]
    return [
        *(driven(plane, plane_shape(plane), friction) for plane in planes),
        *(driven(cylinder, cylinder_shape(cylinder), friction) for cylinder in scene.cylinder),
        *(piston_wall(piston, friction) for piston in scene.piston),
    ]


def driven(table: DrivenSurface, shape: walls.Shape, friction: FrictionTable) -> walls.Wall:
    """A fixed or driven wall."""
    drive = walls.Drive()
    if table.velocity is not None:
        drive.velocity = in_space(table.velocity)
    if table.oscillation is not None:
        drive.amplitude = in_space(table.oscillation.amplitude)
        drive.frequency, drive.phase = table.oscillation.frequency, table.oscillation.phase
    if table.rotation is not None:
        drive.spin = np.array([0.0, 0.0, float(table.rotation)]) if table.rotation.ndim == 0 else table.rotation.copy()
        drive.about = None if table.about is None else in_space(table.about)
    return walls.Wall(table.name, shape, friction.row(table.material, table.friction), drive)


def piston_wall(table: Piston, friction: FrictionTable) -> walls.Wall:
    """A guided wall with mass and load, or a plane driven along its normal."""
    normal = in_space(table.normal)
    wall = walls.Wall(
        table.name, shapes.Plane(in_space(table.point), normal), friction.row(table.material, table.friction)
    )
    if table.mass is not None:
        wall.mass, wall.load = table.mass, table.load or 0.0
    elif table.velocity is not None:
        wall.drive.velocity = table.velocity * normal
    return wall


def plane_shape(table: Plane) -> Any:
    """A half-space, or a plate when a size is given."""
    point, normal = in_space(table.point), in_space(table.normal)
    if table.size is None:
        return shapes.Plane(point, normal)
    if table.along is None:
        return shapes.Plate(point, normal, np.array([normal[1], -normal[0], 0.0]), (0.5 * table.size, 0.0))
    return shapes.Plate(
        point, normal, within(in_space(table.along), normal), (0.5 * table.size[0], 0.5 * table.size[1])
    )


def within(direction: Array, normal: Array) -> Array:
    """Unit vector of a direction's part perpendicular to a unit normal."""
    part = direction - float(np.sum(direction * normal)) * normal
    return np.asarray(part / np.linalg.norm(part))


def cylinder_shape(table: Cylinder) -> shapes.Cylinder:
    """A circle in 2D is a cylinder along z."""
    axis = np.array([0.0, 0.0, 1.0]) if table.axis is None else in_space(table.axis)
    half = math.inf if table.length is None else 0.5 * table.length
    return shapes.Cylinder(in_space(table.point), axis, table.radius, table.side == "inside", half)
