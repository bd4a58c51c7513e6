"""Walls with shape and drive from the tables of a scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model import shapes, time_functions, walls
from .confinement import Cylinder, DrivenSurface, Piston, Plane, Surface
from .friction import FrictionTable
from .scene import Scene
from .values import Array, in_space, moves


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
    if table.velocity is not None and moves(table.velocity):
        drive.speed = time_functions.in_space(table.velocity)
    elif table.velocity is not None:
        drive.velocity = in_space(table.velocity)
    if table.displacement is not None:
        drive.path = time_functions.in_space(table.displacement)
    if table.oscillation is not None:
        drive.amplitude = in_space(table.oscillation.amplitude)
        drive.frequency, drive.phase = table.oscillation.frequency, table.oscillation.phase
    if table.rotation is not None and moves(table.rotation):
        drive.rate = about_z(table.rotation)
    elif table.rotation is not None:
        drive.spin = time_functions.values(about_z(table.rotation), 0.0)
    if table.angle is not None:
        drive.turn = about_z(table.angle)
    if table.about is not None:
        drive.about = in_space(table.about)
    return timed(walls.Wall(table.name, shape, friction.row(table.material, table.friction), drive), table)


def piston_wall(table: Piston, friction: FrictionTable) -> walls.Wall:
    """A guided wall with mass and load, or a plane driven along its normal."""
    normal = in_space(table.normal)
    wall = walls.Wall(
        table.name, shapes.Plane(in_space(table.point), normal), friction.row(table.material, table.friction)
    )
    if table.mass is not None:
        wall.mass = table.mass
        if table.stress is not None:
            wall.stress = time_functions.read_time_function(table.stress)
            wall.area = table.between or table.area or ()
        if table.load is not None and moves(table.load):
            wall.load_function = table.load
        wall.load = 0.0 if table.load is None else time_functions.read_time_function(table.load).value(0.0)
        if table.stiffness is not None:
            wall.attach_spring(table.stiffness)
    elif table.velocity is not None and moves(table.velocity):
        wall.drive.speed = time_functions.along(normal, table.velocity)
    elif table.velocity is not None:
        wall.drive.velocity = table.velocity * normal
    if table.displacement is not None:
        wall.drive.path = time_functions.along(normal, table.displacement)
    return timed(wall, table)


def timed(wall: walls.Wall, table: Surface) -> walls.Wall:
    """When a wall is there."""
    if table.since:
        wall.since = table.since
    if table.until is not None:
        wall.until = table.until
    return wall


def about_z(turning: Any) -> time_functions.TimeFunctions:
    """Three functions: one number or function is about z, as in 2D."""
    return time_functions.in_space(turning if isinstance(turning, tuple) else (0.0, 0.0, turning))


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
