"""Walls with shape and drive from the tables of a scene."""

from __future__ import annotations

import math
from typing import Any

from ..model import shapes, time_functions, walls
from .confinement import DrivenSurface, Piston, Surface
from .friction import FrictionTable
from .scene import Scene
from .values import in_space, moves


def make_walls(scene: Scene, friction: FrictionTable) -> list[walls.Wall]:
    """All walls, in the order of the scene."""
    made = [wall(surface, friction) for surface in scene.surfaces()]
    for one, table in zip(made, scene.surfaces()):
        if scene.stage and table.since == scene.stage[0].name:
            one.since = -math.inf
    return made


def wall(table: Surface, friction: FrictionTable) -> walls.Wall:
    """A piston, or a fixed or driven wall."""
    if isinstance(table, Piston):
        return piston_wall(table, friction)
    assert isinstance(table, DrivenSurface)
    return driven(table, friction)


def driven(table: DrivenSurface, friction: FrictionTable) -> walls.Wall:
    """A fixed or driven wall."""
    drive = drive_of(table)
    if table.oscillation is not None:
        drive.amplitude = in_space(table.oscillation.amplitude)
        drive.frequency, drive.phase = table.oscillation.frequency, table.oscillation.phase
    if table.angle is not None:
        drive.turn = about_z(table.angle)
    if table.about is not None:
        drive.about = in_space(table.about)
    return timed(walls.Wall(table.name, table.shape(), friction.row(table.material, table.friction), drive), table)


def drive_of(table: Any) -> walls.Drive:
    """Velocity, displacement and rotation of a wall, or of grains."""
    drive = walls.Drive()
    if table.velocity is not None and moves(table.velocity):
        drive.speed = time_functions.in_space(table.velocity)
    elif table.velocity is not None:
        drive.velocity = in_space(table.velocity)
    if table.displacement is not None:
        drive.path = time_functions.in_space(table.displacement)
    if table.rotation is not None and moves(table.rotation):
        drive.rate = about_z(table.rotation)
    elif table.rotation is not None:
        drive.spin = time_functions.values(about_z(table.rotation), 0.0)
    return drive


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
    """When a wall is there; one that appears with a stage is not there before."""
    wall.start = wall.shape.point.copy()
    if table.since:
        wall.since = math.inf if isinstance(table.since, str) else table.since
    if isinstance(table.until, float):
        wall.until = table.until
    return wall


def about_z(turning: Any) -> time_functions.TimeFunctions:
    """Three functions: one number or function is about z, as in 2D."""
    return time_functions.in_space(turning if isinstance(turning, tuple) else (0.0, 0.0, turning))
