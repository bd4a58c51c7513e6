"""Room for a grain: a random place in a region where it touches neither a wall nor another grain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.cell import IMAGES
from ..model.vectors import difference
from ..runtime.compiled import allocating
from .population import Crowd

Array = NDArray[np.float64]

RADIUS = 3  # column of spheres, after their centres
TRIES = 30  # random places tried for a grain in a step; then it waits for the next


class Vacancy:
    """The region between two corners (3,), with the walls and grains that are in it or reach into it."""

    def __init__(
        self, bodies: Bodies, stays: NDArray[np.bool_], others: list[Crowd], lower: Array, upper: Array
    ) -> None:
        self._walls, self._axes = bodies.walls, bodies.dimension
        self._lower, self._upper = lower, upper
        self._shifts = np.zeros((1, 3))
        if bodies.cell is not None:
            near = (np.abs(IMAGES) <= 1).all(axis=1) & ~IMAGES[:, ~bodies.cell.periodic].any(axis=1)
            self._shifts = IMAGES[near] @ bodies.cell.vectors
        self._spheres = np.zeros((0, 4))
        bound = bodies.bound
        reach = float(bound.max(initial=0.0))
        for shift in self._shifts:
            at = bodies.position + shift
            near = np.flatnonzero(_inside(at, lower - reach, upper + reach, bodies.dimension) & stays)
            self._spheres = np.concatenate([self._spheres, np.column_stack([at[near], bound[near]])])
        for one in others:
            self._take(one.position[0], float(bound_of(bodies, one.radius, one.shape)[0]))

    def find(self, radius: float, rng: np.random.Generator) -> Array | None:
        """A place (3,) for a grain within this radius, which is then taken; None if none of a few tries was free."""
        low, high = self._lower[: self._axes] + radius, self._upper[: self._axes] - radius
        places = np.zeros((TRIES, 3))
        places[:, : self._axes] = low + (high - low) * rng.random((TRIES, self._axes))
        if (low > high).any():
            return None
        free = _is_free(places, radius, self._spheres)
        each, radii = np.arange(TRIES, dtype=np.int32), np.full(TRIES, radius)
        for wall in self._walls:
            free &= wall.shape.gaps(each, places, radii)[0] >= 0.0
        if not free.any():
            return None
        place = places[int(np.argmax(free))]
        self._take(place, radius)
        return place

    def _take(self, place: Array, radius: float) -> None:
        """A grain is there from now on, with its images."""
        images = np.column_stack([place + self._shifts, np.full(len(self._shifts), radius)])
        self._spheres = np.concatenate([self._spheres, images])


def bound_of(bodies: Bodies, radius: Array, shape: NDArray[np.integer]) -> Array:
    """(m,) m, radii of the spheres that hold grains which are not in the scene yet, by which they find room."""
    return radius if bodies.catalogue is None else radius * bodies.catalogue.bound[shape]


@allocating
def _inside(position, lower, upper, axes):
    """True where a point is between two corners."""
    inside = np.ones(len(position), np.bool_)
    for i in range(len(position)):
        for k in range(axes):
            if not lower[k] <= position[i, k] <= upper[k]:
                inside[i] = False
    return inside


@allocating
def _is_free(places, radius, spheres):
    """True where a grain would overlap none of the spheres (x, y, z, r)."""
    free = np.ones(len(places), np.bool_)
    for p in range(len(places)):
        for k in range(len(spheres)):
            x, y, z = difference(places, p, spheres, k)
            reach = radius + spheres[k, RADIUS]
            if x * x + y * y + z * z < reach * reach:
                free[p] = False
                break
    return free
