"""Grains of other shapes by hand: bodies of shapes as drawn, blocks on planes, arches."""

from __future__ import annotations

import numpy as np

from rigidgrains import AcceleratedSweeps
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.shapes import Plane
from rigidgrains.model.walls import Wall
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.solve.criteria import ResidualCriterion

UP = np.array([0.0, 1.0, 0.0])


def floor(normal=UP, point=(0.0, 0.0, 0.0), name="floor"):
    return Wall(name, Plane(np.array(point, float), np.array(normal, float)))


def bodies_of(shape, position, orientation=None, *, walls=(), gravity=None, friction=0.5, density=1.0, **more):
    """Grains of one shape in the size of its drawing."""
    n, dimension = len(position), shape.dimension
    if gravity is None:
        gravity = (0.0, -9.81, 0.0) if dimension == 2 else (0.0, 0.0, -9.81)
    return Bodies.assemble(
        dimension=dimension, position=np.array(position, float), radius=np.full(n, 1.0 / shape.scale),
        density=density, catalogue=Catalogue.of({"shape": shape}), shape=0, orientation=orientation,
        gravity=np.array(gravity, float), friction=friction, walls=list(walls), **more,
    )  # fmt: skip


def strict(residual=1e-8):
    """Accelerated sweeps to a residual."""
    return AcceleratedSweeps(accuracy="exact", criterion=ResidualCriterion(residual))


def arch(thickness, friction, blocks):
    """A semicircular arch of mean radius 1 with radial joints, on a floor."""
    angle = np.pi / blocks
    inner, outer = 1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    shape = build.vertices(
        [[inner * c, -inner * s], [outer * c, -outer * s], [outer * c, outer * s], [inner * c, inner * s]]
    )
    turn = angle * (np.arange(blocks) + 0.5)
    centre = shape.origin[0]
    position = np.stack([centre * np.cos(turn), centre * np.sin(turn), np.zeros(blocks)], axis=1)
    return bodies_of(shape, position, turn, walls=[floor()], friction=friction)


def tilted_block(lengths, slope, friction):
    """A block on an inclined plane, in 2D or 3D, and the direction down the plane."""
    c, s = np.cos(slope), np.sin(slope)
    height = 0.5 * lengths[-1]
    if len(lengths) == 2:
        up, down, turn = np.array([-s, c, 0.0]), np.array([-c, -s, 0.0]), [slope]
    else:
        up, down = np.array([-s, 0.0, c]), np.array([-c, 0.0, -s])
        turn = [[np.cos(0.5 * slope), 0.0, -np.sin(0.5 * slope), 0.0]]
    bodies = bodies_of(build.box(lengths), [height * up], turn, walls=[floor(up)], friction=friction)
    return bodies, down
