"""Contact rows of grains of any shape: several points of a pair, levers, forces carried over by features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detect.colours import COLOURS, Colouring
from ..detect.neighbours import Neighbours
from ..detect.point_columns import AT_V, WITHIN
from ..detect.points import PointCandidates, gaps_ahead
from ..detect.wall_points import vertex_gaps_ahead
from ..laws.rows import arrange
from ..model.bodies import Bodies
from ..model.columns import FLAT_LEVERS, GAP, LEVERS, TO_CLOSE, S, V
from ..model.turning import by_turning, spin_matrices, spins_and_turning, turned_ahead
from ..runtime.threads import spread
from .contacts import Contacts, removed_part
from .lever_rows import fill_flat_levers, fill_levers, match_rows, rows_of_grains, turn_forces
from .point_rows import fill_points, fill_wall_points

Array = NDArray[np.float64]

TOO_DEEP = 5e-4  # of the smaller radius, to which points may turn in
NOTED = 0.02  # of that, by which a point that is deeper must sink further in a step to be looked at again
AGAIN = 0.1  # of the next, where points are deeper than that
SHORT = 1e-2  # of the smaller radius: what turns within a shorter way leaves a hundredth of it, 1e-4


class ShapedContacts(Contacts):
    """Contact rows of a step where grains have levers, see model/columns.py.

    lever   : (c, 3) m, from the centre of body 0 to the point of its surface that is touched
    feature : (c,) what tells the points of a pair apart
    """

    def __init__(self) -> None:
        super().__init__()
        self.levers = np.empty((0, FLAT_LEVERS))
        self.lever, self.feature = np.empty((0, 3)), np.empty(0, np.int64)
        self._turn = 0
        self._by_grain: tuple[Any, ...] | None = None

    def renumbered(self) -> None:
        """Rows are of other bodies, or others, than the last step has left."""
        self._by_grain = None

    def begin_with(self, forces: Array, *points: Any) -> None:
        """The same, with bodies (c, 2), features (c,) and levers (c, 3), by which rows are found again."""
        super().begin_with(forces)
        self.renumbered()
        self.count, self.wall_rows = len(forces), []
        self._pairs, self.feature, self.lever = points

    def gather(
        self,
        bodies: Bodies,
        neighbours: Neighbours,
        candidates: Any,
        dt: float,
        *,
        gap: str | float,
        slack: float = 0.0,
        before: Array | None = None,
        most: Array | None = None,
    ) -> None:
        """Make the contact rows of this step and carry the forces over by the features of each pair; see `Contacts`.

        most : (c,) m, of the same candidates, bounds of the gaps to be closed, see `sunk`
        """
        part, left = removed_part(gap), slack * bodies.mean_radius if slack else 0.0
        old = self._by_grain or self._rows_of_grains(bodies), self.forces, self.memory
        self._place(bodies, candidates, dt, part, left)
        if most is not None:
            np.minimum(self.geometry[:, TO_CLOSE], most, out=self.geometry[:, TO_CLOSE])
        self._carry(bodies, *old)
        self.colouring = self._paint(bodies, candidates) if candidates.coloured else None
        self.attraction = None
        if bodies.laws:
            self.laws.prepare(self._law_rows(bodies, dt, bodies.motion if before is None else before))

    def sunk(self, bodies: Bodies, dt: float, most: Array | None = None) -> Array | None:
        """(c,) m, bounds of the gaps to be closed with which no point sinks in; inf for none. None if no point does.

        Where points end deeper than TOO_DEEP, and deeper than they began, their normals or levers have turned
        meanwhile: what the motion adds to dt V_n is what is to be closed less. What counts is the depth itself: sinking
        by less in each step would add up.

        most : (c,) m, the bounds with which these velocities were found; they are kept
        """
        some = self._swift(bodies, dt)
        if not some.size:
            return None
        deeper = self._gaps_ahead(bodies, dt, some) - np.minimum(self.geometry[some, GAP], 0.0)
        i, j = self.pairs[some].T
        deep = TOO_DEEP * np.minimum(bodies.radius[i], np.append(bodies.radius, np.inf)[np.minimum(j, bodies.count)])
        sinks = (deeper + np.minimum(self.geometry[some, GAP], 0.0) < -deep) & (deeper < -NOTED * deep)
        if not sinks.any():
            return None
        assert self.levers is not None
        some, i, j = some[sinks], i[sinks], j[sinks]
        v = bodies.motion[j, V] - bodies.motion[i, V]
        v += by_turning(self.levers[some], bodies.motion[i, S], bodies.motion[j, S])
        bound = np.full(self.count, np.inf) if most is None else most.copy()
        np.minimum.at(bound, some, deeper[sinks] - dt * (v * self.normal[some]).sum(axis=1))
        return bound

    def _gaps_ahead(self, bodies: Bodies, dt: float, some: NDArray[np.int64]) -> Array:
        """(m,) m, <= 0, overlaps of some rows, as `_swift` tells them, where the present velocities take the grains."""
        assert self.feature is not None
        assert self.lever is not None
        turned, gap = turned_ahead(bodies, dt), np.zeros(len(some))
        between = some[: np.searchsorted(some, self._first_at_wall)]
        points = self.pairs[between], self.image[between], self.feature[between], self.lever[between]
        gap[: len(between)] = gaps_ahead(bodies, turned, dt, points)
        for w, rows in enumerate(self.wall_rows):
            first, last = np.searchsorted(some, [rows.start, rows.stop])
            if first < last:
                at = some[first:last]
                gap[first:last] = vertex_gaps_ahead(bodies, w, self.pairs[at, 0], self.feature[at], turned, dt)
        return np.minimum(gap, 0.0)

    @property
    def _first_at_wall(self) -> int:
        return self.wall_rows[0].start if self.wall_rows else self.count

    def _swift(self, bodies: Bodies, dt: float) -> NDArray[np.int64]:
        """Rows of grains that move so far within the step that its second order counts, in their order.

        Those of vertices at walls are among them, where the wall does not bend: what that adds is known before.
        """
        none = np.zeros(0, np.int64)
        _, turning = spins_and_turning(bodies, bodies.motion, spin_matrices(bodies))
        way = dt * (np.sqrt((bodies.velocity**2).sum(axis=1)) + turning)
        if not (way > 0.5 * SHORT * AGAIN * bodies.radius).any():
            return none
        assert self.feature is not None
        i, j = self.pairs[: self._first_at_wall].T
        way = dt * (np.sqrt(((bodies.velocity[j] - bodies.velocity[i]) ** 2).sum(axis=1)) + turning[i] + turning[j])
        found = [self._far(way, np.minimum(bodies.radius[i], bodies.radius[j]), slice(0, self._first_at_wall))]
        for wall, rows in zip(bodies.walls, self.wall_rows):
            if not wall.bends:
                i = self.pairs[rows, 0]
                far = self._far(dt * turning[i], bodies.radius[i], rows)
                found.append(far[self.feature[far] < WITHIN])
        return np.concatenate([none, *found])

    def _far(self, way: Array, radius: Array, rows: slice) -> NDArray[np.int64]:
        """Which of some rows move by more than SHORT, or by AGAIN of it where they are too deep."""
        deep = self.geometry[rows, GAP] < -TOO_DEEP * radius
        return np.asarray(rows.start + np.flatnonzero(way > SHORT * radius * np.where(deep, AGAIN, 1.0)))

    def _rows_of_grains(self, bodies: Bodies) -> tuple[Any, ...]:
        """Where rows stand by their body 0, and what tells them apart: bodies, features, levers."""
        n, body = bodies.count, np.empty((self.count, 2), np.int32)
        start, order = np.empty(n + 1, np.int64), np.empty(self.count, np.int64)
        ends = np.array([end for rows in self.wall_rows for end in (rows.start, rows.stop)], np.int64)
        rows_of_grains(n, self.pairs, ends, body, start, order)
        return start, order, body, self.feature, self.lever

    def _place(self, bodies: Bodies, candidates: PointCandidates, dt: float, part: float, left: float) -> None:
        """Bodies, normals, gaps, friction, levers and masses of the rows."""
        n, near, between = bodies.count, candidates.walls, len(candidates.pairs)
        self.count, self._elements = candidates.count, bodies.rows
        count = self.count
        ends = (between + near.start).tolist()
        self.wall_rows = [slice(*ends[w : w + 2]) for w in range(len(bodies.walls))]
        geometry, pairs = self._work.take("geometry", count, 8), np.empty((count, 2), np.int32)
        point, other, image = np.empty((count, 3)), np.empty((count, 3)), np.zeros(count, np.int8)
        feature = np.empty(count, np.int64)
        spread(
            fill_points, between, candidates.pairs, candidates.image, candidates.feature, candidates.found,
            bodies.shifts, bodies.position, candidates.spin, bodies.motion, bodies.material, bodies.friction, part,
            left, dt, pairs, image, feature, geometry, point, other, weight=8,
        )  # fmt: skip
        if len(near.owner):
            walls = bodies.wall_table
            body = walls.first_rows(n)
            for w in walls.turners:
                body[w] = self._place_elements(bodies, near.of(w).rows[:, AT_V])
            fill_wall_points(
                near.start, near.owner, near.feature, near.rows, body, walls.turning, walls.material, bodies.material,
                bodies.friction, part, left, between, pairs, feature, geometry, point, other,
            )  # fmt: skip
        levers = self._work.take("levers", count, FLAT_LEVERS if bodies.dimension == 2 else LEVERS)
        fill = fill_flat_levers if bodies.dimension == 2 else fill_levers
        what = n, pairs, point, other, candidates.matrices, bodies.motion, geometry, levers
        spread(fill, count, *what, weight=8)
        self._pairs, self._geometry, self.levers, self.lever = pairs, geometry, levers, point
        self._image, self.feature = image, feature

    def _carry(self, bodies: Bodies, before: tuple[Any, ...], old_forces: Array, old_memory: Array) -> None:
        """Forces, and what laws remember, from the rows that contacts had in the previous step."""
        self._by_grain = start, order, body, feature, lever = self._rows_of_grains(bodies)
        old_start, old_order, old_body, old_feature, old_lever = before
        origin, used = np.empty(self.count, np.int64), np.zeros(len(old_body), np.uint8)
        what = (
            body, feature, lever, (start, old_start), (order, old_order), old_body, old_feature, old_lever,
            bodies.radius, used, origin,
        )  # fmt: skip
        spread(match_rows, bodies.count, *what, weight=16)
        self._turn = 1 - self._turn  # the old forces are still needed
        forces = self._work.take(f"forces {self._turn}", self.count, 4)
        spread(turn_forces, self.count, origin, old_forces, self.geometry, forces, weight=2)
        self._forces = forces
        if bodies.laws:
            self.memory = np.zeros((self.count, arrange(bodies.laws)))
            if old_memory.shape[1] == self.memory.shape[1]:
                self.memory[origin >= 0] = old_memory[origin[origin >= 0]]

    def _paint(self, bodies: Bodies, candidates: PointCandidates) -> Colouring:
        """The colours of the rows: those of points of grain pairs, then those of each wall."""
        pairs, walls = len(candidates.sizes), candidates.wall_sizes
        sizes, alone = np.empty(pairs + walls.size, np.int64), np.zeros(pairs + walls.size, np.bool_)
        sizes[:pairs], sizes[pairs:] = candidates.sizes, walls.ravel()
        alone[COLOURS * candidates.numbers : pairs] = True
        for w in bodies.wall_table.pistons:
            alone[pairs + w * walls.shape[1] : pairs + (w + 1) * walls.shape[1]] = True
        return Colouring.of(np.arange(self.count, dtype=np.int32), sizes, alone)


def contacts_for(bodies: Bodies) -> Contacts:
    """No rows yet, of the kind that the grains need."""
    return Contacts() if bodies.catalogue is None else ShapedContacts()
