"""Grains of other shapes, where they are put: frames and files without a step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rigidgrains import Frame, Simulation, TrajectoryWriter
from rigidgrains.model.bodies import Bodies
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.core import Shape

RING = [[np.cos(turn), np.sin(turn)] for turn in np.arange(8) * np.pi / 4]
FLAT: dict[str, Shape] = {
    "pentagon": build.polygon(5, rounding=0.1),
    "square": build.polygon(4),
    "capsule": build.capsule(3.0, dimension=2),
    "disk": build.capsule(1.0, dimension=2),
    "dimer": build.clump([[0, 0], [1, 0]], [0.7, 0.5]),
    "ring": build.clump(RING, 0.45),  # with a hole
    "cross": build.several([[[-1, 0], [1, 0]], [[0, -1], [0, 1]]], dimension=2, rounding=0.2),
    "corner": build.several([[[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 0], [1, 0], [1, 2], [0, 2]]], dimension=2),
    "row": build.several([[[0, 0], [1, 0], [1, 1], [0, 1]], [[1, 0], [2, 0], [2, 1], [1, 1]]], dimension=2),
}
SOLID: dict[str, Shape] = {
    "cube": build.solid("cube", rounding=0.2),
    "sharp": build.solid("cube"),
    "dodecahedron": build.solid("dodecahedron", rounding=0.1),
    "tetrahedron": build.solid("tetrahedron", rounding=0.05),
    "brick": build.box([1.0, 2.0, 3.0], rounding=0.1),
    "capsule": build.capsule(3.0, dimension=3),
    "sphere": build.capsule(1.0, dimension=3),
    "dimer": build.clump([[0, 0, 0], [1, 0, 0]], [0.7, 0.5]),
}


def shaped(shapes: Mapping[str, Shape], *, apart: float = 8.0, radius: Any = None, **rest: Any) -> Bodies:
    """One grain of each shape, in a row along x, each turned in its own way unless told."""
    n, dimension = len(shapes), next(iter(shapes.values())).dimension
    rng = np.random.default_rng(5)
    position = np.zeros((n, 3))
    position[:, 0] = apart * np.arange(n)
    turn: Any = rng.uniform(0.0, 6.0, n)
    if dimension == 3:
        turn = rng.normal(size=(n, 4))
        turn /= np.linalg.norm(turn, axis=1)[:, None]
    given: dict[str, Any] = {"orientation": turn} | rest
    return Bodies.assemble(
        dimension=dimension, position=position,
        radius=np.linspace(1.0, 1.3, n) if radius is None else np.full(n, radius, float),
        density=1000.0, catalogue=Catalogue.of(shapes), shape=np.arange(n, dtype=np.int32), **given,
    )  # fmt: skip


def still_file(path: Path, bodies: Bodies, *, frames: int = 1) -> list[Frame]:
    """A trajectory of grains that are moved and turned by hand, and its frames as they were written."""
    simulation, rng = Simulation(bodies, dt=1e-3), np.random.default_rng(6)
    writer, seen = TrajectoryWriter(path), []
    writer.start(simulation, frames)
    seen.append(Frame.of(simulation))
    for _ in range(1, frames):
        simulation._clock.steps += 1
        bodies.position[:, :2] += rng.normal(0.0, 0.01, (bodies.count, 2))
        bodies.orientation[:] += rng.normal(0.0, 0.05, bodies.orientation.shape)
        if bodies.dimension == 3:
            bodies.orientation /= np.linalg.norm(bodies.orientation, axis=1)[:, None]
        writer.look(simulation)
        seen.append(Frame.of(simulation))
    writer.finish(simulation)
    return seen
