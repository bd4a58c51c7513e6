"""Small worlds of grains of other shapes: stacks, heaps in boxes, drums and cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rigidgrains.model.bodies import Bodies
from rigidgrains.model.cell import Cell
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from support.builders import UP, floor, plane

Z = np.array([0.0, 0.0, 1.0])


def shaped(
    position: Any, shapes: dict[str, Any], which: Any = 0, *, dimension: int, drawn: bool = True, **rest: Any
) -> Bodies:
    """Grains of density 1; drawn : sizes are those of the drawings, else `radius` is given."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    catalogue, number = Catalogue.of(shapes), np.broadcast_to(np.array(which, np.int32), len(position)).copy()
    radius = np.array([1.0 / shape.scale for shape in catalogue.shapes])[number] if drawn else rest.pop("radius")
    return Bodies.assemble(
        dimension=dimension, position=position, radius=radius, density=1.0, catalogue=catalogue, shape=number, **rest
    )


def cube(dimension: int, rounding: float = 0.0):
    """A square or a cube of side 1, roundings included."""
    return build.box([1.0 - 2.0 * rounding] * dimension, rounding=rounding)


def stack(dimension: int, count: int = 2, *, rounding: float = 0.0, push: float = 1.0, **rest: Any) -> Bodies:
    """Unit blocks upright on a floor, each a little aside of the one below; the topmost is pushed sideways."""
    position = np.zeros((count, 3))
    position[:, 0], position[:, 1] = 0.1 * np.arange(count), 0.5 + np.arange(count)
    force = np.zeros((count, 3))
    force[-1, 0] = push
    blocks = {"block": cube(dimension, rounding)}
    return shaped(
        position, blocks, dimension=dimension, friction=0.5, gravity=[0, -10, 0], force=force,
        walls=[floor(), *rest.pop("walls", [])], **rest,
    )  # fmt: skip


def pressed(dimension: int) -> Bodies:
    """The same under a piston."""
    return stack(dimension, walls=[plane([0, 2, 0], -UP, "piston", mass=2.0, load=5.0)])


def mixture(dimension: int) -> dict[str, Any]:
    """Shapes of all kinds: sharp, rounded, with a core that is a segment or a point, of several parts."""
    if dimension == 2:
        return {
            "pentagon": build.polygon(5),
            "rounded": build.box([1.0, 2.0], rounding=0.1),
            "capsule": build.capsule(2.5, dimension=2),
            "disk": build.capsule(1.0, dimension=2),
            "clump": build.clump([[0, 0], [1, 0], [0.3, 0.8]], [0.7, 0.6, 0.5]),
        }
    return {
        "cube": build.box([1.0, 1.0, 1.0]),
        "rounded": build.solid("octahedron", rounding=0.05),
        "capsule": build.capsule(2.0, dimension=3),
        "ball": build.capsule(1.0, dimension=3),
        "clump": build.clump([[0, 0, 0], [1, 0, 0]], [0.7, 0.6]),
    }


def thrown(dimension: int, count: int, *, spread: float = 2.6, seed: int = 0, **rest: Any) -> Bodies:
    """A crowd of all shapes on a lattice, turned at random, that flies together with spins."""
    rng = np.random.default_rng(seed)
    side = math.ceil(count ** (1.0 / dimension))
    axes = [np.arange(side)] * dimension + [np.zeros(1)] * (3 - dimension)
    position = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)[:count] * spread
    flat = [1.0, 1.0, 0.0] if dimension == 2 else [1.0, 1.0, 1.0]
    turned = rng.normal(size=(count, 4))
    turned = turned / np.linalg.norm(turned, axis=1)[:, None] if dimension == 3 else rng.uniform(0.0, 6.0, count)
    velocity = (3.0 * (position.mean(axis=0) - position) + rng.normal(size=(count, 3))) * flat
    spin = rng.normal(size=(count, 3)) * ([0.0, 0.0, 1.0] if dimension == 2 else 1.0)
    shapes = mixture(dimension)
    return shaped(
        position, shapes, np.arange(count) % len(shapes), dimension=dimension, drawn=False, friction=0.4,
        radius=rng.uniform(0.7, 1.0, count), orientation=turned, velocity=velocity, spin=spin, **rest,
    )  # fmt: skip


def drum(dimension: int) -> Bodies:
    """Blocks at the bottom of a turning drum."""
    walls = [Wall("drum", Cylinder(np.zeros(3), Z, 4.0, True, math.inf), drive=Drive(spin=0.7 * Z))]
    blocks = {"block": cube(dimension, 0.1)}
    position = [[-0.8, -3.25, 0.0], [0.5, -3.25, 0.0]]
    return shaped(position, blocks, dimension=dimension, friction=0.4, gravity=[0, -10, 0], walls=walls)


def periodic(dimension: int) -> Bodies:
    """A crowd in a cell that keeps still, with pairs across its faces."""
    side = 3 if dimension == 2 else 2
    edges = np.array([2.7 * side] * dimension + [1.0] * (3 - dimension))
    cell = Cell(np.diag(edges), np.zeros(3), np.array([True] * dimension + [False] * (3 - dimension)))
    return thrown(dimension, side**dimension, spread=2.7, seed=1, cell=cell)
