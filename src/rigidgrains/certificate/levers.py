"""Contacts of grains of any shape: levers from the centres to both surfaces, in place of radii along the normal."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import surfaces
from .couples import sines, turned
from .facets import turning
from .grains import WITHIN, Grains
from .links import Index, Links, reciprocal
from .state import Array, State, cross, dot, guided, length


class LeverLinks(Links):
    """The same, where grains have shapes.

    arm_i, arm_j : (c, 3) m, from the centre of each body to the point of its surface, at the beginning of the step;
                   zero for walls
    """

    def __init__(self, state: State) -> None:
        assert state.shapes is not None
        self.shapes: Grains = state.shapes
        super().__init__(state)

    def _branches(self) -> Array:
        """From centre to centre; and the levers, since everything else needs them."""
        state, pairs = self.state, self.between_grains
        i, j = self.i[pairs], self.j[pairs]
        branch = np.zeros((len(self.i), 3))
        branch[pairs] = state.start[j] + self.shift_before[pairs] - state.start[i]
        half = 0.5 * self.gap[:, None] * self.normal  # points are half-way between the surfaces
        self.arm_i = np.asarray(state.frame.contacts.point, dtype=float) - state.position[self.i] - half
        self.arm_j = np.where((self.j < state.n)[:, None], self.arm_i + 2.0 * half - branch, 0.0)
        return branch

    def touched(self, some: Index) -> Array:
        gap = self.gap[some][:, None]
        return np.asarray(self.state.start[self.i[some]] + self.arm_i[some] + gap * self.normal[some])

    def torques(self) -> tuple[Array, Array]:
        """Eq. (generalized-R)."""
        return cross(self.arm_i, -self.force) - self.torque, cross(self.arm_j, self.force) + self.torque

    def velocity_by(self, velocity: Array, spin: Array, surface: Array, rate: Array) -> Array:
        """V = v_j + w_j x l_j - v_i - w_i x l_i."""
        v = surface - velocity[self.i] - cross(spin[self.i], self.arm_i)
        if self.state.flow.moves:
            v += self.branch @ rate.T
        pairs = self.between_grains
        k = self.j[pairs]
        v[pairs] += velocity[k] + cross(spin[k], self.arm_j[pairs])
        return np.asarray(v)

    def _spins_after(self, pull: Array) -> Array:
        state, pairs = self.state, self.between_grains
        momentum = state.turning_before + state.dt * state.torque
        np.add.at(momentum, self.i, cross(self.arm_i, pull))
        np.add.at(momentum, self.j[pairs], cross(self.arm_j[pairs], -pull[pairs]))
        return self.shapes.spin(momentum, self.shapes.before)

    @cached_property
    def w(self) -> Array:
        """(c, 3, 3) 1/kg, V by a unit impulse, Eq. (MinvR); pistons give way along their normal alone."""
        state, out = self.state, self.shapes.mobility(self.i, self.arm_i)
        pairs = self.between_grains
        out[pairs] += self.shapes.mobility(self.j[pairs], self.arm_j[pairs])
        for w, some in self.at_wall:
            if guided(state.walls[w]):
                n = self.normal[some]
                out[some] += n[:, :, None] * n[:, None, :] / state.walls[w].mass
        return np.asarray(out + self.give[:, None, None] * np.eye(3))

    @cached_property
    def m_n(self) -> Array:
        """(c,) kg, Eq. (m-n)."""
        return reciprocal(np.einsum("ca,cab,cb->c", self.normal, self.w, self.normal))

    @cached_property
    def m_t(self) -> Array:
        """(c,) kg, Eq. (m-t): along the tangent that gives way most."""
        along = np.eye(3) - self.normal[:, :, None] * self.normal[:, None, :]
        block = along @ self.w @ along
        if self.state.dimension == 2:
            return reciprocal(np.trace(block[:, :2, :2], axis1=1, axis2=2))
        # one eigenvalue is 0, along n: the larger of the other two by their sum and the sum of their squares
        total, squares = np.trace(block, axis1=1, axis2=2), (block * block).sum(axis=(1, 2))
        return reciprocal(0.5 * (total + np.sqrt(np.maximum(2.0 * squares - total * total, 0.0))))

    @cached_property
    def moved(self) -> Array:
        by_normal = np.einsum("cab,cb->ca", self.w, self.normal)
        return np.asarray(by_normal - dot(by_normal, self.normal)[:, None] * self.normal)

    @cached_property
    def arms(self) -> Array:
        # points are stored as places: levers are rounded like coordinates
        state = self.state
        return np.asarray(state.extent + state.graininess / state.rounding * state.coordinate[: state.n])

    @cached_property
    def at_vertices(self) -> list[tuple[int, Index]]:
        """Each wall with the contacts of rounded vertices, by the law of the wall."""
        return [(w, some[~self._facing[some]]) for w, some in self.at_wall]

    @cached_property
    def at_facets(self) -> list[tuple[int, Index]]:
        """Each wall with the contacts of sides and faces at its facets."""
        return [(w, some[self._facing[some]]) for w, some in self.at_wall if self._facing[some].any()]

    @cached_property
    def _facing(self) -> NDArray[np.bool_]:
        feature = self.state.frame.contacts.feature
        return np.zeros(len(self), bool) if feature is None else np.asarray(feature, np.int64) >= WITHIN

    def extents(self, rows: Index) -> Array:
        """(m,) m, of both bodies of some contacts, added up; walls are where they are."""
        extent = np.append(self.state.extent, np.zeros(len(self.state.walls)))
        return np.asarray(extent[self.i[rows]] + extent[self.j[rows]])

    def may_sink(self, less: Array | None = None) -> Array:
        """(c,) m, how much gaps may close at second order as bodies turn; at walls that bend, vertices have `_bend`.

        With the free velocities, or with those of an attempt at the step after which less was to be closed. What lowers
        a gap by L changes the present velocities of its bodies by at most L/dt and their spins by L/(2 k dt), k the
        radius of gyration: an impulse at the lever l that changes V_n by L/dt turns a body by L l/((k^2 + l^2) dt).

        less : (c,) m, by which the gaps to be closed are lower than gaps; none if absent
        """
        state, n = self.state, self.state.n
        lower = np.zeros(n + len(state.walls))
        if less is not None:
            np.maximum.at(lower, self.i, less)
            np.maximum.at(lower, self.j, less)
        lower[n:] = 0.0
        gyration = np.sqrt(self.shapes.moments.min(axis=1) / state.mass)
        free = self.velocity_by(state.free_velocity, state.free_spin, self.surface_velocity, state.flow.begun)
        sine = sines(self)
        return np.maximum(
            self._second_order(length(free), length(state.free_spin), sine, np.zeros(n), np.zeros_like(lower)),
            self._second_order(length(self.velocity), length(state.solved_spin), sine, lower[:n] / gyration / 2, lower),
        )

    def _second_order(self, speed: Array, spin: Array, sine: Array, more_turn: Array, more_way: Array) -> Array:
        """(c,) m, from speeds (c,) m/s and spins (n,) rad/s; more of the turn (n,) rad and of the way of bodies (m).

        n of a side of body k turns by w_k dt, and points move by V dt and by the turning of their levers meanwhile.
        A vertex at a wall has a lever that turns alone: by an angle a it moves by a l and by a^2 l/2 at most, and as
        |dw/dt| <= w^2/sqrt(3), since a moment of inertia is no larger than the other two, by another 0.3 a^2 l.
        """
        state, out = self.state, np.zeros(len(self))
        turn = np.append(state.dt * spin + more_turn, np.zeros(len(state.walls)))
        for w in range(len(state.walls)):
            turn[state.n + w] = state.dt * float(length(turning(state.walls[w])[None])[0])
        rows = np.concatenate([self.between_grains, *(some for _, some in self.at_facets)])
        i, j = self.i[rows], self.j[rows]
        both = turn[i] + turn[j]
        way = state.dt * speed[rows] + more_way[i] + more_way[j] + both * self.extents(rows)
        out[rows] = turned(sine[rows], both) * way
        for w, some in self.at_vertices:
            if not self.bends(w):
                out[some] = turn[self.i[some]] ** 2 * state.extent[self.i[some]]
        return out

    def balls(self, some: Index) -> tuple[Array, Array]:
        """Place from the centre (m, 3) m and radius (m,) m of the rounded vertices that touch a wall, as named."""
        feature = self.state.frame.contacts.feature
        assert feature is not None
        return self.shapes.balls(self.i[some], np.asarray(feature, np.int64)[some], self.shapes.before)

    def _bend(self, w: int, some: Index) -> Array:
        """(m,) m <= 0, how much a vertex that keeps to the wall's normal motion would sink into it within the step.

        At facets `may_sink` tells it.
        """
        out, some_at = np.zeros(len(some)), np.flatnonzero(~self._facing[some])
        out[some_at] = self._bend_vertices(w, some[some_at])
        return out

    def _bend_vertices(self, w: int, some: Index) -> Array:
        state, i, n = self.state, self.i[some], self.normal[some]
        place, radius = self.balls(some)
        free, spin = state.free_velocity[i], state.free_spin[i]
        meets = free + cross(spin, self.arm_i[some]) - self.surface_velocity[some]
        glides = free + cross(spin, place) - dot(meets, n)[:, None] * n
        gap, _, _ = surfaces.gaps(state.walls[w], state.start[i] + place + state.dt * glides, radius)
        return np.asarray(np.minimum(gap - self.gap[some], 0.0))
