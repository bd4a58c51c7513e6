"""Worlds of which every measurement is known: lattices, fans of contacts, columns, gases."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from hypothesis import settings

from rigidgrains import Frame, Simulation, measure
from rigidgrains.measure.cut import disk_in_box, sphere_in_box
from rigidgrains.model.walls import Drive
from rigidgrains.trajectory import wall_table
from rigidgrains.trajectory.frame import Contacts
from support.builders import UP, cloud, grains, plane

FEW = settings(max_examples=40, deadline=None)
INF = math.inf


def still(position, radius=1.0, *, dimension=3, links=(), mu=0.0, walls=(), velocity=0.0, mass=1.0, time=0.0, cell=None,
          ids=None):  # fmt: skip
    """A frame made by hand. links : rows (i, j, normal, force on j, image of j if any) of touching bodies."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    n, c = len(position), len(links)
    zeros = np.zeros((n, 3))
    data = {
        "Points": position,
        "PointData/radius": np.full(n, radius, dtype=float),
        "PointData/mass": np.full(n, mass, dtype=float),
        "PointData/velocity": zeros + velocity,
        "PointData/velocity_before": zeros + velocity,
        "PointData/spin": zeros,
        "PointData/id": np.arange(n) if ids is None else np.array(ids),
        "PointData/external_force": zeros,
        "FieldData/gravity": np.zeros((1, 3)),
        "FieldData/friction": np.array([[mu]]),
        "FieldData/wall_velocity": np.zeros((len(walls), 3)),
    }
    if cell is not None:
        data |= {
            "FieldData/cell_vectors": cell.vectors,
            "FieldData/cell_origin": cell.origin[None],
            "FieldData/cell_periodic": cell.periodic[None],
            "PointData/image": np.zeros((n, 3), int),
        }
    bodies = grains(position, radius, mass, dimension=dimension, walls=list(walls))
    data |= {f"FieldData/{name}": array for name, array in wall_table.placement(bodies.walls).items()}
    normal = np.array([link[2] for link in links], dtype=float).reshape(c, 3)
    force = np.array([link[3] for link in links], dtype=float).reshape(c, 3)
    r_n = (normal * force).sum(axis=1)
    slides = np.linalg.norm(force - r_n[:, None] * normal, axis=1) >= (1.0 - 1e-9) * mu * r_n
    contacts = {
        "PointData/pair": np.array([link[:2] for link in links], dtype=np.int32).reshape(c, 2),
        "PointData/normal": normal,
        "PointData/force": force,
        "PointData/gap": np.zeros(c),
        "PointData/status": np.where(slides, 2, 1),
    }
    if cell is not None:
        contacts["PointData/image"] = np.array([link[4] for link in links], dtype=int).reshape(c, 3)
    figures = {"step": 0.0, "time": time, "dt": 0.1, "whole": 1.0}
    text = wall_table.describe(list(walls))
    return Frame(0, dimension, data.__getitem__, figures, Contacts(contacts.__getitem__, c), text)


def pressed(position, radius=1.0, force=1.0, **rest):
    """A frame in which all grains that touch press on each other."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    away = position[None] - position[:, None]
    distance = np.linalg.norm(away, axis=2)
    i, j = np.nonzero(np.triu((distance < 2.0 * radius * (1.0 + 1e-9)) & (distance > 0.0)))
    normal = away[i, j] / distance[i, j, None]
    return still(position, radius, links=[(a, b, n, force * n) for a, b, n in zip(i, j, normal)], **rest)


def fan(normal, force, dimension):
    """Contacts of given normals and forces, each between two grains of its own."""
    links = [(2 * k, 2 * k + 1, n, f) for k, (n, f) in enumerate(zip(normal, force))]
    return still(np.zeros((2 * len(links), 3)), dimension=dimension, links=links)


def lattice(basis, cells, sites=((0.0, 0.0, 0.0),)):
    """Sites of a lattice around the origin."""
    steps = [np.arange(-cells, cells + 1) if np.any(vector) else np.zeros(1) for vector in basis]
    index = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.concatenate([(index + np.array(site)) @ np.array(basis, dtype=float) for site in sites])


TRIANGULAR = [[2.0, 0.0, 0.0], [1.0, math.sqrt(3.0), 0.0], [0.0, 0.0, 0.0]]
SQUARE = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
CUBIC = 2.0 * np.eye(3)
FCC = 2.0 * math.sqrt(2.0) * np.eye(3)
FCC_SITES = ((0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5))


def box3(low, high, centre=(0.0, 0.0, 0.0), r=1.0):
    return sphere_in_box(np.array(centre, float), float(r), np.array(low, float), np.array(high, float))


def box2(low, high, centre=(0.0, 0.0, 0.0), r=1.0):
    low, high = np.append(low, -INF).astype(float), np.append(high, INF).astype(float)
    return disk_in_box(np.array(centre, float), float(r), low, high)


def falling(dimension, seed=3):
    """A crowd of grains with spins that meet each other and a moving floor, under gravity."""
    bodies = cloud(40, dimension=dimension, mu=0.4, seed=seed, speed=3.0)
    bodies.position *= 0.8
    low = float((bodies.position[:, 1] - bodies.radius).min())
    walls = [plane([0, low, 0], UP, "floor", drive=Drive(velocity=np.array([1.0, 12.0, 0.0])))]
    return grains(
        bodies.position, bodies.radius, bodies.mass, dimension=dimension, velocity=bodies.velocity.copy(),
        spin=bodies.spin, friction=0.4, gravity=[0.5, -9.0, 0.0], walls=walls,
        force=np.random.default_rng(seed).normal(size=(40, 3)) * ([1, 1, 0] if dimension == 2 else 1),
    )  # fmt: skip


@cache
def tumult(dimension):
    """Frames of such a crowd, after each of a few steps."""
    simulation = Simulation(falling(dimension), dt=0.02)
    frames = [measure.of(simulation)]
    for _ in range(4):
        simulation.step()
        frames.append(measure.of(simulation))
    return frames


def cube(load, n=3):
    """Rough spheres on a cubic lattice between three smooth planes and three smooth pistons."""
    position = 2.0 * np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 1.0
    walls = []
    for a, axis in enumerate(np.eye(3)):
        walls.append(plane([0, 0, 0], axis, f"fixed{a}", material=1))
        walls.append(plane(2.0 * n * axis, -axis, f"piston{a}", mass=3.0, load=load[a], material=1))
    return grains(position, walls=walls, friction=[[0.3, 0.0], [0.0, 0.0]])
