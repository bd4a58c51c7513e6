"""The contacts of a frame with everything that the laws speak of, recomputed from the state."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import surfaces
from .flow import free_rate
from .state import Array, State, cross, dot, guided, length

Index = NDArray[np.int64]


class Links:
    """All candidates of the step. Bodies i (a grain) and j (a grain or a wall); R acts on j, n points from i to j.

    normal, gap, force : as stored; r_n (c,) and r_t (c, 3) : parts of the force (N)
    shift, shift_before : (c, 3) m, by which the image of j that is touched is away from j itself, at the end and at the
                          beginning of the step; zero without a periodic cell
    branch : (c, 3) m, from centre to centre; zero at walls
    v_n (c,), v_t (c, 3) : parts of the contact velocity (m/s) at the end of the step
    """

    def __init__(self, state: State) -> None:
        self.state, contacts = state, state.frame.contacts
        pair = contacts.pair.astype(np.int64)
        self.i, self.j = pair[:, 0], pair[:, 1]
        self.normal, self.force = (np.asarray(array, dtype=float) for array in (contacts.normal, contacts.force))
        self.gap = np.asarray(contacts.gap, dtype=float)
        self.shift = self.shift_before = np.zeros((len(pair), 3))
        if contacts.image is not None and state.cell is not None:
            self.shift = np.asarray(contacts.image @ state.cell)
            self.shift_before = np.asarray(contacts.image @ state.cell_before)
        self.branch = self._branches()
        self.r_n = dot(self.force, self.normal)
        self.r_t = self.force - self.r_n[:, None] * self.normal
        v = self.velocity
        self.v_n = dot(v, self.normal)
        self.v_t = v - self.v_n[:, None] * self.normal

    def __len__(self) -> int:
        return len(self.i)

    def _branches(self) -> Array:
        reach = np.append(self.state.radius, np.zeros(len(self.state.walls)))
        apart = np.where(self.j < self.state.n, reach[self.i] + reach[self.j] + self.gap, 0.0)
        return np.asarray(apart[:, None] * self.normal)

    def touched(self, some: Index) -> Array:
        """(m, 3) m, where some contacts touch their wall, at the beginning of the step."""
        i = self.i[some]
        return np.asarray(self.state.start[i] + (self.state.radius[i] + self.gap[some])[:, None] * self.normal[some])

    def torques(self) -> tuple[Array, Array]:
        """(c, 3) and (c, 3) N m, of the force and of torques on i and on j, about their centres.

        Eq. (generalized-R): r_i n x (-R) on i and (-r_j n) x R on j, the same direction, each with its own radius.
        """
        turn, radius = -cross(self.normal, self.force), np.append(self.state.radius, np.zeros(len(self.state.walls)))
        return radius[self.i, None] * turn - self.torque, radius[self.j, None] * turn + self.torque

    @cached_property
    def moved(self) -> Array:
        """(c, 3) 1/kg, V_t that a unit impulse along n brings about: none at round grains."""
        return np.zeros((len(self), 3))

    @cached_property
    def at_wall(self) -> list[tuple[int, Index]]:
        """Each wall with the numbers of its contacts."""
        n = self.state.n
        some = np.flatnonzero(self.j >= n)
        return [(w, some[self.j[some] == n + w]) for w in range(len(self.state.walls))]

    @cached_property
    def between_grains(self) -> Index:
        return np.flatnonzero(self.j < self.state.n)

    @cached_property
    def surface_velocity(self) -> Array:
        """(c, 3) m/s, of the material of body j if it is a wall, at the point of contact; 0 for grains."""
        state, out = self.state, np.zeros((len(self), 3))
        for w, some in self.at_wall:
            wall = state.walls_before[w]
            out[some] = surfaces.surface_velocity(wall, state.wall_velocity[w], self.touched(some))
        return out

    @cached_property
    def velocity(self) -> Array:
        """(c, 3) m/s, of body j relative to body i at the point of contact, Eq. (contact-veloc)."""
        return self.velocity_by(
            self.state.velocity, self.state.solved_spin, self.surface_velocity, self.state.flow.rate
        )

    def velocity_by(self, velocity: Array, spin: Array, surface: Array, rate: Array) -> Array:
        """(c, 3) m/s, the same from velocities and spins of grains (n, 3), surfaces of walls (c, 3) and L (3, 3)."""
        turning = self.state.radius[:, None] * spin
        v = surface - velocity[self.i] - cross(turning[self.i], self.normal)
        if self.state.flow.moves:
            v += self.branch @ rate.T
        pairs = self.between_grains
        k = self.j[pairs]
        v[pairs] += velocity[k] - cross(turning[k], self.normal[pairs])
        return v

    @cached_property
    def velocity_before(self) -> Array:
        """(c, 3) m/s, at the beginning of the step; driven walls and grains with their velocity in the step."""
        state, surface = self.state, self.surface_velocity.copy()
        for w, some in self.at_wall:
            if guided(state.walls[w]):
                surface[some] = np.asarray(state.frame.wall_velocity_before[w], dtype=float)
        return self.velocity_by(*state.coming, surface, state.flow.before)

    @cached_property
    def free_velocity(self) -> Array:
        """(c, 3) m/s, at the end of the step without contact forces."""
        state, surface = self.state, self.surface_velocity.copy()
        for w, some in self.at_wall:
            wall = state.walls[w]
            if guided(wall):
                n = surfaces.directions(wall)[0]
                push = state.dt * (wall.load / wall.mass + float(state.gravity @ n))
                surface[some] = np.asarray(state.frame.wall_velocity_before[w], dtype=float) + push * n
        free, pull = state.free_velocity.copy(), state.dt * self.attraction[:, None] * self.normal
        np.add.at(free, self.i, pull * state.mobility[self.i, None])
        pairs = self.between_grains
        np.add.at(free, self.j[pairs], -pull[pairs] * state.mobility[self.j[pairs], None])
        for w, some in self.at_wall:
            if guided(state.walls[w]):
                surface[some] -= pull[some].sum(axis=0) / state.walls[w].mass
        rate = free_rate(state)
        if state.flow.moves:
            rate = rate - state.flow.pushed(pull.T @ self.branch)
        return self.velocity_by(free, self._spins_after(pull), surface, rate)

    def _spins_after(self, pull: Array) -> Array:
        """(n, 3) rad/s, free spins after contacts have pulled their bodies together by impulses (c, 3) N s."""
        return self.state.free_spin  # towards the centres of round grains

    @cached_property
    def mu(self) -> Array:
        """(c,) coefficient of friction: as stored where laws may change it, else that of the materials."""
        stored = self.state.frame.contacts.law("mu")
        return self.of_pair(self.state.frame.friction) if stored is None else np.asarray(stored, dtype=float)

    def of_pair(self, table: NDArray[np.floating]) -> Array:
        """(c,) entries of a table (k, k) over materials."""
        state = self.state
        if table.size == 1:
            return np.full(len(self), float(table.flat[0]))
        material = np.append(state.frame.material, [wall.material for wall in state.walls]).astype(np.int64)
        return np.asarray(table, dtype=float)[material[self.i], material[self.j]]

    def coefficient(self, name: str) -> Array | None:
        """(c,) a coefficient of a law beyond plain friction; None if the run had no such law."""
        table = self.state.frame.law(name)
        return None if table is None else self.of_pair(table)

    @cached_property
    def m_n(self) -> Array:
        """(c,) kg, Eq. (m-n)."""
        state = self.state
        inverse = np.append(state.mobility, [1.0 / wall.mass for wall in state.walls])
        return reciprocal(inverse[self.i] + inverse[self.j] + self.give)

    @cached_property
    def m_t(self) -> Array:
        """(c,) kg, Eq. (m-t): a piston does not give way sideways."""
        state = self.state
        inverse = np.append((1.0 + 1.0 / state.inertia_share) * state.mobility, np.zeros(len(state.walls)))
        return reciprocal(inverse[self.i] + inverse[self.j] + self.give)

    @cached_property
    def give(self) -> Array:
        """(c,) 1/kg, by which a cell under stress gives way at most: it lowers m_n and m_t, not where sweeps end."""
        return self.state.flow.most * dot(self.branch, self.branch)

    @cached_property
    def to_close(self) -> Array:
        """(c,) m, what may close in the step: as stored where laws may change it, else the gap."""
        stored = self.state.frame.contacts.law("to_close")
        return self.gap_to_close if stored is None else np.asarray(stored, dtype=float)

    @cached_property
    def rebound(self) -> Array:
        """(c, 3) m/s, the tangential velocity of a contact that sticks: zero without tangential restitution."""
        stored = self.state.frame.contacts.law("rebound")
        return np.zeros((len(self), 3)) if stored is None else np.asarray(stored, dtype=float)

    @cached_property
    def attraction(self) -> Array:
        """(c,) N, by which R_n may be negative: zero without cohesion."""
        stored = self.state.frame.contacts.law("attraction")
        return np.zeros(len(self)) if stored is None else np.asarray(stored, dtype=float)

    @cached_property
    def press(self) -> Array:
        """(c,) N, R_n and the attraction: what presses the surfaces together, and bounds friction."""
        return self.r_n + self.attraction

    @cached_property
    def torque(self) -> Array:
        """(c, 3) N m on body j: zero without rolling and twisting friction."""
        stored = self.state.frame.contacts.law("torque")
        return np.zeros((len(self), 3)) if stored is None else np.asarray(stored, dtype=float)

    @cached_property
    def lever(self) -> Array:
        """(c,) m, 1/(1/r_i + 1/r_j), r of walls infinite: torques over it are compared with forces."""
        curvature = np.append(1.0 / self.state.radius, np.zeros(len(self.state.walls)))
        return 1.0 / (curvature[self.i] + curvature[self.j])

    @cached_property
    def arms(self) -> Array:
        """(n,) m, the lengths of levers: angular momenta are held against these times the momenta."""
        return self.state.radius

    @cached_property
    def relative_spin(self) -> Array:
        """(c, 3) rad/s, of body j relative to body i at the end of the step."""
        spins = np.vstack([self.state.solved_spin, *(wall.drive.spin for wall in self.state.walls)])
        return np.asarray(spins[self.j] - spins[self.i])

    @cached_property
    def inertia(self) -> Array:
        """(c,) kg m^2, that rolling and twisting meet: 1/(1/I_i + 1/I_j); walls do not turn."""
        inverse = np.append(np.where(self.state.told, 0.0, 1.0 / self.state.inertia), np.zeros(len(self.state.walls)))
        return reciprocal(inverse[self.i] + inverse[self.j])

    @cached_property
    def resisted(self) -> Array:
        """(c,) N, the size of force and torque that sweeps have found, the torque over the lever."""
        return np.hypot(self.solved, length(self.torque) / self.lever) if self.torque.any() else self.solved

    @cached_property
    def solved(self) -> Array:
        """(c,) N, the size of the force that sweeps have found: |R| without cohesion."""
        return self.size if not self.attraction.any() else np.hypot(self.press, length(self.r_t))

    @cached_property
    def gap_to_close(self) -> Array:
        """(c,) m, the gap that may close in the step: g, of an overlap the part that is removed, Eq. (gpos).

        It is smaller by what a wall bends inwards.
        """
        figures = self.state.frame.figures
        part = figures["removed_part"] if "removed_part" in figures else float(figures["floor"] < 0.0)
        slack = figures.get("slack", 0.0)
        gap = np.where(self.gap > 0.0, self.gap, part * np.minimum(self.gap + slack, 0.0))
        for w, some in self.at_wall:
            if self.bends(w) and some.size:
                gap[some] += self._bend(w, some)
        return gap

    def may_sink(self) -> Array:
        """(c,) m, by which turning may close a gap at second order of the step, that round grains do not know."""
        return np.zeros(len(self))

    def bends(self, w: int) -> bool:
        """True for walls that come closer to a grain that glides straight along them."""
        wall = self.state.walls[w]
        return bool(wall.shape.concave or np.any(wall.drive.spin))

    def _bend(self, w: int, some: Index) -> Array:
        """(m,) m <= 0, how much a grain that keeps to the wall's normal motion would sink into it within the step."""
        state, i, n = self.state, self.i[some], self.normal[some]
        free = state.free_velocity[i]
        towards = dot(free - self.surface_velocity[some], n)
        there = state.start[i] + state.dt * (free - towards[:, None] * n)
        gap, _, _ = surfaces.gaps(state.walls[w], there, state.radius[i])
        return np.asarray(np.minimum(gap - self.gap[some], 0.0))

    @cached_property
    def size(self) -> Array:
        """(c,) N, |R|."""
        return length(self.force)

    @cached_property
    def typical(self) -> float:
        """N, mean |R| of the contacts that carry a force."""
        some = self.solved[self.solved > 0.0]
        return float(some.mean()) if some.size else 0.0

    @cached_property
    def scale(self) -> Array:
        """(c,) N, the force that violations of the laws are held against: |R| + <|R|>."""
        return self.solved + self.typical

    @cached_property
    def speed(self) -> Array:
        """(c,) m/s, the numbers that V + gap/dt is made of, added up."""
        state = self.state
        speed = state.speed[self.i] + state.speed[self.j] + np.abs(self.gap) / state.dt
        if state.flow.moves:
            speed += length(self.branch) * float(np.abs(state.flow.rate).max() + np.abs(state.flow.before).max())
        for w, some in self.at_wall:
            if self.bends(w):
                speed[some] += (state.coordinate[self.i[some]] + state.coordinate[state.n + w]) / state.dt
        return speed

    @cached_property
    def magnitude(self) -> Array:
        """(c,) N, the numbers that a force asked for is made of, added up: rounding is relative to this."""
        return self.size + self.attraction + self.m_n / self.state.dt * self.speed


def reciprocal(inverse: Array) -> Array:
    """1/x; next to nothing where both bodies move as they are told, as the engine has it."""
    return np.asarray(1.0 / np.where(inverse > 0.0, inverse, 1e60))
