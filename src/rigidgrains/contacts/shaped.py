"""Contact rows of grains of any shape: several points of a pair, levers, forces carried over by features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detect.colours import COLOURS, Colouring
from ..detect.neighbours import Neighbours
from ..detect.point_colours import number_within
from ..detect.point_columns import FOUND_GAP, FOUND_N, FOUND_POINT, WITH_0, WITH_1
from ..detect.points import PointCandidates
from ..detect.wall_points import WallPoints
from ..laws.rows import arrange
from ..model.bodies import Bodies
from ..model.columns import FLAT_LEVERS, GAP, LEVERS, MU, TO_CLOSE, N
from ..model.turning import spin_matrices
from ..runtime.threads import spread
from .contacts import Contacts, removed_part
from .lever_rows import fill_flat_levers, fill_levers, match_rows, rows_of_grains, turn_forces

Array = NDArray[np.float64]
Index = NDArray[np.int32]


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

    def begin_with(self, forces: Array, *points: Any) -> None:
        """The same, with bodies (c, 2), features (c,) and levers (c, 3), by which rows are found again."""
        super().begin_with(forces)
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
    ) -> None:
        """Make the contact rows of this step and carry the forces over by the features of each pair; see `Contacts`."""
        part, left = removed_part(gap), slack * bodies.mean_radius if slack else 0.0
        old, old_body = (self.forces, self.feature, self.lever, self.memory), self._bodies(bodies)
        self._place(bodies, candidates, dt, part, left)
        self._carry(bodies, old, old_body)
        self.colouring = self._paint(bodies, candidates) if candidates.coloured else None
        self.attraction = None
        if bodies.laws:
            self.laws.prepare(self._law_rows(bodies, dt, bodies.motion if before is None else before))

    def _bodies(self, bodies: Bodies) -> Index:
        """(c, 2) grains, and walls where body 1 is an element of one."""
        body = self.pairs.copy()
        for w, some in enumerate(self.wall_rows):
            body[some, 1] = bodies.count + w
        return body

    def _place(self, bodies: Bodies, candidates: PointCandidates, dt: float, part: float, left: float) -> None:
        """Bodies, normals, gaps, friction, levers and masses of the rows."""
        n, walls, found = bodies.count, candidates.walls, candidates.found
        if candidates.coloured:  # the points of a grain in different colours
            orders = [np.argsort(number_within(wall.owner), kind="stable") for wall in walls]
            candidates.walls = walls = [_sorted(wall, order) for wall, order in zip(walls, orders)]
        self.count, end = candidates.count, len(found)
        self.wall_rows, self._elements = [], bodies.rows
        geometry, pairs = self._work.take("geometry", self.count, 8), np.empty((self.count, 2), np.int32)
        point, sink = np.empty((self.count, 3)), np.zeros(self.count)
        pairs[:end], geometry[:end, N], geometry[:end, GAP] = candidates.pairs, found[:, FOUND_N], found[:, FOUND_GAP]
        geometry[:end, MU] = bodies.friction[bodies.material[pairs[:end, 0]], bodies.material[pairs[:end, 1]]]
        # where each touches: its own surface, not half-way, as spheres do
        point[:end] = found[:, FOUND_POINT] - 0.5 * found[:, [FOUND_GAP]] * found[:, FOUND_N]
        for w, near in enumerate(walls):
            wall, rows = bodies.walls[w], slice(end, end + len(near.owner))
            end = rows.stop
            self.wall_rows.append(rows)
            body = (
                self._place_elements(bodies, near.velocity) + np.arange(len(near.owner))
                if wall.drive.rotates
                else n + w
            )
            pairs[rows, 0], pairs[rows, 1] = near.owner, body
            geometry[rows, N], geometry[rows, GAP], sink[rows] = near.normal, near.gap, near.sink
            geometry[rows, MU] = bodies.friction[wall.material, bodies.material[near.owner]]
            point[rows] = near.lever + near.radius[:, None] * near.normal
        between = len(found)
        other = np.zeros((self.count, 3))
        i, j = pairs[:between].T
        away = bodies.position[j] - bodies.position[i] + bodies.shifts[candidates.image]
        other[:between] = point[:between] + found[:, [FOUND_GAP]] * found[:, FOUND_N] - away
        sink[:between] = _sink(bodies, i, j, point[:between], other[:between], found, dt)
        g = geometry[:, GAP]
        geometry[:, TO_CLOSE] = (
            np.where(g > 0.0, g, part * np.minimum(g + left, 0.0)) + sink
        )  # Eq. (gpos) where part = 0
        levers = self._work.take("levers", self.count, FLAT_LEVERS if bodies.dimension == 2 else LEVERS)
        fill = fill_flat_levers if bodies.dimension == 2 else fill_levers
        what = n, pairs, point, other, spin_matrices(bodies), bodies.motion, geometry, levers
        spread(fill, self.count, *what, weight=8)
        self._pairs, self._geometry, self.levers, self.lever = pairs, geometry, levers, point
        self._image = np.concatenate([candidates.image, np.zeros(self.count - between, np.int8)])
        self.feature = np.concatenate([candidates.feature, *(near.feature for near in walls)])

    def _carry(self, bodies: Bodies, old: tuple[Any, ...], old_body: Index) -> None:
        """Forces, and what laws remember, from the rows that contacts had in the previous step."""
        n, body = bodies.count, self._bodies(bodies)
        old_forces, old_feature, old_lever, old_memory = old
        starts, orders = [], []
        for rows in (body, old_body):
            starts.append(np.empty(n + 1, np.int64))
            orders.append(np.empty(len(rows), np.int64))
            rows_of_grains(n, rows, starts[-1], orders[-1])
        origin, used = np.empty(self.count, np.int64), np.zeros(len(old_body), np.uint8)
        what = (
            body, self.feature, self.lever, tuple(starts), tuple(orders), old_body, old_feature, old_lever,
            bodies.radius, used, origin,
        )  # fmt: skip
        spread(match_rows, n, *what, weight=16)
        self._turn = 1 - self._turn  # the old forces are still needed
        forces = self._work.take(f"forces {self._turn}", self.count, 4)
        turn = origin, old_forces, self.geometry, forces
        spread(turn_forces, self.count, *turn, weight=2)
        self._forces = forces
        if bodies.laws:
            self.memory = np.zeros((self.count, arrange(bodies.laws)))
            if old_memory.shape[1] == self.memory.shape[1]:
                self.memory[origin >= 0] = old_memory[origin[origin >= 0]]

    def _paint(self, bodies: Bodies, candidates: PointCandidates) -> Colouring:
        """The colours of the rows: those of points of grain pairs, then those of each wall."""
        sizes, alone = [candidates.sizes], [np.arange(len(candidates.sizes)) // candidates.numbers == COLOURS]
        for wall, near in zip(bodies.walls, candidates.walls):
            number = _numbers(near.owner)
            sizes.append(np.bincount(number, minlength=1))
            alone.append(np.full(len(sizes[-1]), wall.guided))
        start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return Colouring.of(np.arange(self.count, dtype=np.int32), start, np.concatenate(alone))


def _sink(bodies: Bodies, i: Any, j: Any, lever: Array, other: Array, found: Array, dt: float) -> Array:
    """(p,) m, <= 0, how much points that glide along a side that turns would sink into it within the step.

    Normals are fixed within a step, and n of a side of body k turns by w_k x n: the gap changes by (w_k x n) . V_t dt^2
    at second order. What opens it is left out.
    """
    spin, velocity, n = bodies.spin, bodies.velocity, found[:, FOUND_N]
    v = velocity[j] + np.cross(spin[j], other) - velocity[i] - np.cross(spin[i], lever)
    closing = [np.einsum("pa,pa->p", np.cross(spin[k], n), v) for k in (i, j)]
    return dt**2 * np.minimum(np.minimum(found[:, WITH_0] * closing[0], found[:, WITH_1] * closing[1]), 0.0)


def _sorted(wall: WallPoints, order: Any) -> WallPoints:
    return WallPoints(**{name: rows[order] for name, rows in vars(wall).items()})


def _numbers(owner: Index) -> NDArray[np.int64]:
    """(m,) how often each grain has come before."""
    order = np.argsort(owner, kind="stable")
    number = np.empty(len(owner), np.int64)
    number[order] = number_within(owner[order])
    return number


def contacts_for(bodies: Bodies) -> Contacts:
    """No rows yet, of the kind that the grains need."""
    return Contacts() if bodies.catalogue is None else ShapedContacts()
