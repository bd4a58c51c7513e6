"""Periodic cells for tests: a gas in one, its replicas, and ways to drive it."""

from __future__ import annotations

from itertools import product

import numpy as np

from rigidgrains.model.cell import Cell
from support.builders import grains


def box(x, y, z=None, **rest):
    """A rectangular cell; flat without z."""
    flat = z is None
    return Cell(np.diag([x, y, 1.0 if flat else z]), periodic=[True, True, not flat], **rest)


def gas(n=60, *, side=12.0, dimension=2, seed=0, mu=0.3, cell=None, speed=1.0, **rest):
    """Grains on a lattice that fills a periodic square or cube, with random velocities and no momentum."""
    rng = np.random.default_rng(seed)
    per = int(np.ceil(n ** (1.0 / dimension)))
    axes = [(np.arange(per) + 0.5) * side / per] * dimension + [np.zeros(1)] * (3 - dimension)
    position = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)[:n]
    velocity, spin = speed * rng.normal(size=(2, n, 3))
    if dimension == 2:
        velocity[:, 2] = spin[:, :2] = 0.0
    mass = rng.uniform(0.5, 2.0, n)
    velocity -= (mass[:, None] * velocity).sum(axis=0) / mass.sum()
    cell = box(side, side, None if dimension == 2 else side) if cell is None else cell
    radius = rng.uniform(0.5, 0.75, n)
    return grains(
        position, radius, mass, dimension=dimension, velocity=velocity, spin=spin, friction=mu, cell=cell, **rest
    )


def by_brute_force(position, radius, cell):
    """(i, j, image) of all pairs that overlap, i < j, by trying every image."""
    found = set()
    for k in product(*([-2, -1, 0, 1, 2] if has else [0] for has in cell.periodic)):
        away = position[None] + np.array(k) @ cell.vectors - position[:, None]
        near = np.linalg.norm(away, axis=2) < radius[:, None] + radius[None]
        found |= {(int(i), int(j), k) for i, j in np.argwhere(near) if i < j}
    return found


def replicas(bodies, copies):
    """The same grains in a cell of several copies along each direction."""
    shifts = np.array(list(product(*(range(c) for c in copies)))) @ bodies.cell.vectors
    position = (bodies.position + shifts[:, None]).reshape(-1, 3)
    many = len(shifts)
    cell = Cell(bodies.cell.vectors * np.array(copies)[:, None], bodies.cell.origin, bodies.cell.periodic)
    return grains(
        position, np.tile(bodies.radius, many), np.tile(bodies.mass, many), dimension=bodies.dimension,
        velocity=np.tile(bodies.velocity, (many, 1)), spin=np.tile(bodies.spin, (many, 1)), friction=bodies.friction,
        cell=cell,
    )  # fmt: skip


SHEAR = np.array([[0.0, 1.0, 0.0], [0, 0, 0], [0, 0, 0]])


def cell_of(x, y, z=None, *, lean=0.0, **control):
    """A cell with prescribed rates or stresses."""
    cell = box(x, y, z)
    cell.vectors[1, 0] = lean
    return Cell(cell.vectors, periodic=cell.periodic, **control)


def under(pressure, *, isotropic=True, flat=True, **rest):
    """Control by the same pressure on all sides."""
    sides = np.diag([True, True, not flat])
    return {"free": sides, "stress": pressure * sides, "isotropic": isotropic, **rest}


def moment(simulation):
    """(3, 3) J, sum of R b over all contacts."""
    contacts, bodies = simulation.contacts, simulation.bodies
    branch = (bodies.radius[contacts.pairs].sum(axis=1) + contacts.gap)[:, None] * contacts.normal
    return contacts.force.T @ branch


CONTROLS = [
    {"rate": 0.7 * SHEAR},
    {"rate": np.diag([-0.3, 0.1, 0.0]) + 0.4 * SHEAR},
    under(5.0),
    under(5.0, isotropic=False),
    {"rate": 0.5 * SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 3.0, 0])},
    {"free": np.triu(np.ones((3, 3), bool)) & np.outer([1, 1, 0], [1, 1, 0]).astype(bool),
     "stress": 4.0 * np.diag([1, 1, 0]) + SHEAR},
]  # fmt: skip
