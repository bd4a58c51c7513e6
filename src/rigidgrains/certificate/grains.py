"""Grains of any shape in a frame: where their parts are at both ends of the step, and how they turn."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..shapes.core import Part

if TYPE_CHECKING:
    from .state import State

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# How a file names contact points: the parts that meet, and the point among theirs; see docs/certificate.md
PARTS, WITHIN = 1 << 7, 1 << 48
HALF = {2: 1 << 20, 3: 1 << 24}  # within two parts: the code of body 0 times this and the code of body 1
VERTEX = 1 << 12  # in 3D: 0 inside of a face, v + 1 a vertex, (v + 1) VERTEX + w + 1 an edge


class Grains:
    """Shapes of the grains of a frame, with formulas of their own.

    shape : (n,) number of each; size : (n,) m, radius of the sphere about the centre that holds the grain
    parts : of each shape; before, after : (n, 3, 3) orientations, columns are the axes of the shape in space
    """

    def __init__(self, state: State) -> None:
        catalogue = state.frame.catalogue
        assert catalogue is not None
        assert state.frame.shape is not None
        self.state, self.catalogue, self.scale = state, catalogue, state.radius
        self.named = np.asarray(state.frame.shape, np.int64)
        self.shape = np.clip(self.named, 0, len(catalogue.shapes) - 1)  # others are told as faults
        self.parts: list[tuple[Part, ...]] = [shape.parts for shape in catalogue.shapes]
        reach = [max(np.linalg.norm(p.vertices, axis=1).max() + p.rounding for p in parts) for parts in self.parts]
        self.size = self.scale * np.array(reach)[self.shape]
        moments = np.array([shape.inertia / shape.volume for shape in catalogue.shapes])
        if state.dimension == 2:
            moments[:] = moments[:, 2:]  # flat grains turn about z alone
        self.moments: Array = (state.mass * self.scale**2)[:, None] * moments[self.shape]

    @cached_property
    def after(self) -> Array:
        return self._rotations(np.asarray(self.state.frame.orientation, float))

    @cached_property
    def before(self) -> Array:
        state = self.state
        if state.dimension == 2:
            return self._rotations(np.asarray(state.frame.orientation, float) - state.dt * state.spin[:, 2])
        stored = state.frame.column("orientation_before")
        return self.after if stored is None else self._rotations(np.asarray(stored, float))

    def momentum(self, spin: Array, turned: Array) -> Array:
        """(n, 3) kg m^2/s, L = I w of grains that are turned like this."""
        return _in_axes(spin, turned, self.moments)

    def spin(self, momentum: Array, turned: Array) -> Array:
        """(n, 3) rad/s, w = I^-1 L."""
        return _in_axes(momentum, turned, 1.0 / self.moments)

    @cached_property
    def gained(self) -> Array:
        """(n, 3) rad/s, w that the angular momentum after the step had at its beginning: contacts were solved with it.

        The stored spin is that of the orientation after the step, which has turned since.
        """
        return self.spin(self.momentum(self.state.spin, self.after), self.before)

    def mobility(self, which: Index, lever: Array) -> Array:
        """(m, 3, 3) 1/kg, velocity of points of some grains by a unit impulse there: 1/m - [l] I^-1 [l].

        lever : (m, 3) m, from the centres, at the beginning of the step
        """
        across = _cross_matrices(lever) @ self.before[which]
        turns = (across / self.moments[which][:, None, :]) @ np.swapaxes(across, 1, 2)
        moved = np.eye(3) / self.state.mass[which][:, None, None] + turns
        return np.asarray(np.where(self.state.told[which][:, None, None], 0.0, moved))

    def vertices(self, which: Index, part: Part, turned: Array) -> Array:
        """(m, k, 3) m, vertices of one part of some grains of one shape, from their centres."""
        return np.asarray(self.scale[which][:, None, None] * (part.vertices @ np.swapaxes(turned[which], 1, 2)))

    def normals(self, which: Index, part: Part, turned: Array) -> Array:
        """(m, f, 3) outward normals of the faces of a part."""
        return np.asarray(part.normals.reshape(-1, 3) @ np.swapaxes(turned[which], 1, 2))

    def balls(self, which: Index, number: Index, turned: Array) -> tuple[Array, Array]:
        """Place (m, 3) m from the centre and radius (m,) m of rounded vertices, numbered through all parts."""
        place, radius = np.empty((len(which), 3)), np.empty(len(which))
        for s, parts in enumerate(self.parts):
            some = np.flatnonzero(self.shape[which] == s)
            every = np.concatenate([part.vertices for part in parts])
            round_by = np.concatenate([np.full(len(part.vertices), part.rounding) for part in parts])
            i, v = which[some], number[some]
            place[some] = self.scale[i][:, None] * np.einsum("mab,mb->ma", turned[i], every[v])
            radius[some] = self.scale[i] * round_by[v]
        return place, radius

    @cached_property
    def sided(self) -> NDArray[np.bool_]:
        """(n,) True for grains that meet the facets of walls that jut out: some core is more than a point."""
        return np.array([any(len(part.vertices) > 1 for part in parts) for parts in self.parts])[self.shape]

    @cached_property
    def corners(self) -> Index:
        """(n,) number of vertices of each grain, all parts together."""
        return np.array([sum(len(part.vertices) for part in parts) for parts in self.parts])[self.shape]

    def _rotations(self, orientation: Array) -> Array:
        if orientation.ndim == 1:
            half = 0.5 * orientation
            zero = np.zeros_like(half)
            orientation = np.stack([np.cos(half), zero, zero, np.sin(half)], axis=1)
        w, v = orientation[:, 0], orientation[:, 1:]
        # v v^T + (w + [v])^2 turns a vector by a unit quaternion
        inner = w[:, None, None] * np.eye(3) + _cross_matrices(v)
        return np.asarray(v[:, :, None] * v[:, None, :] + inner @ inner)


def split(feature: Index, dimension: int) -> tuple[Index, Index, Index, Index]:
    """Part of body 0, part of body 1, code in the one, code in the other, of the name of a point of two grains."""
    parts, within = np.divmod(feature, WITHIN)
    a, b = np.divmod(parts, PARTS)
    code_a, code_b = np.divmod(within, HALF[dimension])
    return a, b, code_a, code_b


def swapped(feature: Index, dimension: int) -> Index:
    """The same point seen from the other body."""
    a, b, code_a, code_b = split(feature, dimension)
    return np.asarray((b * PARTS + a) * WITHIN + code_b * HALF[dimension] + code_a)


def rotation_vectors(turns: Array) -> Array:
    """(n, 3) rad of rotation matrices (n, 3, 3), turns below pi."""
    odd = np.stack(
        [turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]], 1
    )
    sine = 0.5 * np.sqrt((odd**2).sum(axis=1))
    angle = np.arctan2(sine, 0.5 * (np.trace(turns, axis1=1, axis2=2) - 1.0))
    return np.asarray(odd * np.where(sine > 0.0, 0.5 * angle / np.where(sine > 0.0, sine, 1.0), 0.5)[:, None])


def _in_axes(vectors: Array, turned: Array, factors: Array) -> Array:
    """(n, 3), each component along the axes of a grain times its factor (n, 3)."""
    return np.asarray(np.einsum("nab,nb,ncb,nc->na", turned, factors, turned, vectors, optimize=True))


def _cross_matrices(vectors: Array) -> Array:
    """(n, 3, 3) [v] with [v] x = v x x."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
