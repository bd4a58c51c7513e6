"""Contact rows of a step: who touches whom, effective masses, friction, and the forces carried over (warm start)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detect.candidates import Candidates, PairCandidates
from ..detect.colours import COLOURS, Colouring
from ..detect.near_walls import WallCandidates
from ..detect.neighbours import Neighbours
from ..detect.pairs import PairList
from ..laws.rows import Rows, arrange
from ..model.arrays import PER_CONTACT, PerContact, carried_columns
from ..model.bodies import Bodies
from ..model.columns import (
    EXTRA_BRANCH,
    EXTRA_MOVING,
    INV_MASS,
    LEVER,
    M_N,
    M_T,
    MOBILITY,
    Q_Z,
    R_Z,
    U_T,
    ContactColumns,
    Q,
    V,
)  # fmt: skip
from ..runtime.memory import ROOM, Workspace, copy_rows, new_table, on_lines
from ..runtime.threads import spread
from .laws import AppliedLaws
from .problem import ContactProblem
from .rows import bring_over, deepest, fill_pairs, fill_walls

Array = NDArray[np.float64]
Index = NDArray[np.int32]

WITHOUT, WITH_TORQUE = R_Z + 1, Q_Z + 1  # columns of forces


class Contacts(ContactColumns):
    """Contact rows of the present step, and the forces of the previous one until they are carried over.

    Grain pairs come first, in the order of their neighbour list, then the contacts of each wall in turn.
    """

    def __init__(self) -> None:
        self.count = 0
        self.wall_rows: list[slice] = []
        self._elements = 0
        self.colouring: Colouring | None = None
        self._pairs = np.empty((0, 2), np.int32)
        self._geometry = np.empty((0, 8))
        self._image = np.empty(0, np.int8)
        self._numbers = np.empty(0, np.int32)
        self._forces = np.empty((0, 4))
        self.memory = np.empty((0, 0))
        self.extra: Array | None = None
        self.branch: Array | None = None
        self.attraction: Array | None = None
        self.levers: Array | None = None
        self.lever: Array | None = None
        self.feature: NDArray[np.int64] | None = None
        for column in carried_columns():
            setattr(self, column.place, column.make(0))
        self.laws = AppliedLaws()
        self._work = Workspace()

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], wall_rows: list[slice]) -> Contacts:
        """The contact rows of a step that was taken earlier, to carry the forces over from; arrays by name."""
        contacts = cls()
        contacts.count, contacts.wall_rows = len(arrays["pairs"]), wall_rows
        for column in PER_CONTACT.values():
            absent = None if column.optional else column.make(contacts.count)
            contacts._hold(column, arrays[column.name] if column.needed else arrays.get(column.name, absent))
        return contacts

    @property
    def pairs(self) -> Index:
        """(c, 2) bodies 0 and 1; a wall is body n + w, or an element of a rotating wall beyond the walls."""
        return self._pairs[: self.count]

    @property
    def image(self) -> NDArray[np.int8]:
        """(c,) code of the image of body 1 that is touched, see cell.py; 0 for itself."""
        return self._image[: self.count]

    @property
    def geometry(self) -> Array:
        """(c, 8), see ContactProblem."""
        return self._geometry[: self.count]

    @property
    def forces(self) -> Array:
        """(c, 4) R_n and R_t (3) (N)."""
        return self._forces[: self.count]

    @property
    def force(self) -> Array:
        """(c, 3) N on body 1."""
        return self.normal_force[:, None] * self.normal + self.tangential_force

    @property
    def normal_force(self) -> Array:
        """(c,) N, R_n, negative where a contact pulls."""
        return self.repulsion if self.attraction is None else self.repulsion - self.attraction

    def problem(self, bodies: Bodies, dt: float, before: Array | None = None) -> ContactProblem:
        """The arrays a solver works on."""
        edges = None if bodies.cell is None else np.where(bodies.cell.periodic, np.diag(bodies.cell.vectors), np.inf)
        problem = ContactProblem(
            bodies.motion, self.pairs, self.geometry, self.forces, dt, bodies.position, bodies.radius, self.extra,
            self.colouring, self.branch, bodies.flow, edges, before, levers=self.levers, lever=self.lever,
            work=self._work,
        )  # fmt: skip
        problem.mean_radius = bodies.mean_radius
        return problem

    def law_columns(self, bodies: Bodies, count: int) -> dict[str, Array]:
        """What laws beyond plain friction have written into the first rows.

        mu, gap to be closed (m); of extra columns: tangential velocity to be reached (m/s) and torque on
        body 1 (N m); attraction (N)
        """
        columns = {"mu": self.friction[:count], "to_close": self.to_close[:count]}
        if any(law.extended for law in bodies.laws):
            extra = np.zeros((0, 14)) if self.extra is None else self.extra[:count]
            turning = np.zeros((0, 3)) if self.extra is None else self.forces[:count, Q]
            columns |= {"rebound": -extra[:, U_T], "torque": extra[:, [LEVER]] * turning}
        if any(law.attracts for law in bodies.laws):
            columns["attraction"] = np.zeros(0) if self.attraction is None else self.attraction[:count]
        return columns

    @property
    def deepest(self) -> float:
        """m, the largest overlap at the beginning of the step."""
        geometry = self.geometry
        return float(max(spread(deepest, self.count, geometry)))

    def begin_with(self, forces: Array, *points: Any) -> None:
        """Forces (c, 4) of an earlier run, in rows that the lists refer to; points : of other shapes alone."""
        self._forces, self.memory = on_lines(forces), np.zeros((len(forces), 0))
        for column in carried_columns():
            setattr(self, column.place, column.make(len(forces)))

    def sunk(self, bodies: Bodies, dt: float, most: Array | None = None) -> Array | None:
        """(c,) m, bounds of the gaps to be closed where turning sinks grains in, see shaped.py; None where nobody."""
        return None

    def keep(self) -> None:
        """Remember the forces that the sweeps of this step begin with."""
        copy_rows(self.forces, self._room_for_forces())

    def bring_back(self) -> None:
        """Take up the forces that were kept, of the same rows."""
        copy_rows(self._room_for_forces(), self.forces)

    def _room_for_forces(self) -> Array:
        rows, columns = self.forces.shape
        return self._work.take(f"carried forces {columns}", rows, columns)

    def forget(self) -> None:
        """Drop the forces: the next step starts without any."""
        self.forces[:] = 0.0

    def renumbered(self) -> None:
        """Bodies of the rows have new numbers; nothing of theirs is kept beside them."""

    def select(self, keep: NDArray[np.int64], pairs: Index, wall_rows: list[slice]) -> None:
        """Keep some rows only, of bodies that now have other numbers."""
        self.count, self.wall_rows, self.colouring = len(keep), wall_rows, None
        for column in PER_CONTACT.values():
            rows = getattr(self, column.place)
            if rows is not None and len(rows):
                self._hold(column, rows[keep])
        self._pairs = pairs
        self.renumbered()

    def _hold(self, column: PerContact, rows: NDArray[Any] | None) -> None:
        setattr(self, column.place, on_lines(rows) if column.lines and rows is not None else rows)

    def gather(
        self,
        bodies: Bodies,
        neighbours: Neighbours,
        candidates: Candidates,
        dt: float,
        *,
        gap: str | float,
        slack: float = 0.0,
        before: Array | None = None,
        most: Array | None = None,
    ) -> None:
        """Make the contact rows of this step and carry the forces over by the identity of each pair.

        gap   : "g_pos" closes max(g, 0), Eq. (gpos): overlaps stop growing; "g" removes overlaps within the step; a
                number between 0 and 1 that part of them
        slack : overlap, over the mean radius, that is left alone
        before : (bodies, 6) v and s at the beginning of the step, for laws that ask; the present ones if absent
        most   : (c,) m, bounds of the gaps to be closed, see `sunk`; round grains have none
        """
        part, left = removed_part(gap), slack * bodies.mean_radius if slack else 0.0
        listed, self._work = neighbours.pairs, neighbours.work
        self._carry_over(bodies, listed, candidates)
        what = (
            listed.start, listed.partner, listed.image, bodies.shifts, listed.last, bodies.position, bodies.radius,
            bodies.motion, bodies.material, bodies.friction, part, left, self._pairs, self._image, self._geometry,
            self._forces,
        )  # fmt: skip
        spread(fill_pairs, bodies.count, *what, weight=4)
        self._image[candidates.pairs.count : self.count] = 0
        self._fill_walls(bodies, candidates.walls, slice(candidates.pairs.count, self.count), part, left)
        self.colouring = self._colours(bodies, candidates.pairs) if candidates.coloured else None
        if bodies.flows:
            self._join(bodies)
        if bodies.laws:
            self.laws.prepare(self._law_rows(bodies, dt, bodies.motion if before is None else before))

    def _carry_over(self, bodies: Bodies, listed: PairList, candidates: Candidates) -> None:
        """Number the rows, and bring the forces of the previous step, and what laws remember, into their order.

        One table of forces is enough: they wait in the rows of the geometry, which is still to come. The row that each
        contact had stands, so long, in place of its first body.
        """
        self.count = candidates.count
        if self.count > len(self._pairs):
            room = self.count + (self.count // ROOM + 16 if len(self._pairs) else 0)
            del self._pairs, self._geometry, self._image  # before more is asked for
            self._pairs, self._geometry = np.empty((room, 2), np.int32), new_table(room, 8)
            self._image = np.empty(room, np.int8)
        candidates.pairs.number(listed, self._pairs)
        between, walls = candidates.pairs.count, candidates.walls
        ends = (between + walls.start).tolist()
        self.wall_rows = [slice(*ends[w : w + 2]) for w in range(len(bodies.walls))]
        self._pairs[between : self.count, 0] = walls.last
        what = self._pairs, self._forces, self._geometry
        spread(bring_over, self.count, *what)
        extended = any(law.extended for law in bodies.laws)
        width, had = WITH_TORQUE if extended else WITHOUT, self._forces.shape[1]
        if self.count > len(self._forces) or had != width:
            del self._forces
            self._forces = new_table(len(self._pairs), width)
        self.extra, self.attraction = np.zeros((self.count, EXTRA_MOVING + 1)) if extended else None, None
        if extended:
            self.forces[:, Q] = self.geometry[:, Q] if had == width else 0.0  # where forces wait
        if bodies.laws:
            self._remember(arrange(bodies.laws))
        for column in carried_columns():
            rows = column.carry_over(getattr(self, column.place), self._pairs[: self.count, 0])
            setattr(self, column.place, rows)

    def _fill_walls(self, bodies: Bodies, found: WallCandidates, rows: slice, part: float, left: float) -> None:
        """The rows of walls: every contact of a wall with the same body, or each with its own surface element."""
        self._elements, walls = bodies.rows, bodies.wall_table
        if not bodies.walls:
            return
        body = walls.first_rows(bodies.count)
        for w in walls.turners:
            body[w] = self._place_elements(bodies, found.velocity(w))
        near = found.near
        fill_walls(
            found.start, found.listed, near.grains, body, walls.turning, walls.material, near.gap, near.sink,
            near.normal, bodies.motion, bodies.material, bodies.friction, part, left, self._pairs[rows],
            self._geometry[rows], self._forces[rows],
        )  # fmt: skip

    def _remember(self, width: int) -> None:
        """(c, width) what laws remember of each contact; zeros for new ones."""
        old, origin = self.memory, self._pairs[: self.count, 0]
        self.memory = np.zeros((self.count, width))
        if old.shape[1] == width:
            self.memory[origin >= 0] = old[origin[origin >= 0]]

    def _colours(self, bodies: Bodies, pairs: PairCandidates) -> Colouring:
        """The colours of the rows: those of grain pairs, the last for hubs, then one for each wall."""
        guided, colours = bodies.wall_table.guided, len(pairs.sizes)
        sizes, alone = np.empty(colours + len(guided), np.int64), np.zeros(colours + len(guided), np.bool_)
        sizes[:colours], alone[COLOURS], alone[colours:] = pairs.sizes, True, guided
        for w, rows in enumerate(self.wall_rows, start=colours):
            sizes[w] = rows.stop - rows.start
        if bodies.flows and gives_way(bodies.flow):
            alone[:] = True
        if self.count > len(self._numbers):
            self._numbers = np.arange(len(self._pairs), dtype=np.int32)
        return Colouring.of(self._numbers[: self.count], sizes, alone, pairs.tiles, pairs.tile)

    def _join(self, bodies: Bodies) -> None:
        """Tie the contacts to a cell that deforms: their branches, and the share of the cell in their masses.

        The masses are safe rather than exact: they set the pace of sweeps, not where these end.
        """
        apart = bodies.radius[self.pairs].sum(axis=1) + self.gap
        most = float(bodies.flow[:, MOBILITY].max())
        self.branch = np.stack([apart, apart if most > 0.0 else np.zeros(self.count)], axis=1)
        if most > 0.0:
            self.geometry[:, [M_N, M_T]] = 1.0 / (1.0 / self.geometry[:, [M_N, M_T]] + (most * apart**2)[:, None])
        if self.extra is not None:
            self.extra[:, [EXTRA_BRANCH, EXTRA_MOVING]] = self.branch

    def _law_rows(self, bodies: Bodies, dt: float, before: Array) -> Rows:
        """The rows as laws see them."""
        if any(law.attracts for law in bodies.laws):
            self.attraction = np.zeros(self.count)
        body = self.pairs[:, 1].astype(np.int64)
        for w, some in enumerate(self.wall_rows):
            body[some] = bodies.count + w
        held = bodies.motion.copy()  # driven walls, and the elements of rotating ones, move as they do in this step
        movable = np.flatnonzero((bodies.motion[: len(before), INV_MASS:] != 0.0).any(axis=1))
        held[movable, :INV_MASS] = before[movable, :INV_MASS]
        if bodies.flows:
            held[bodies.rows - 3 : bodies.rows, :INV_MASS] = before[bodies.rows - 3 : bodies.rows, :INV_MASS]
        return Rows(
            bodies, bodies.motion, held, self.pairs, self.geometry, self.forces, body, self.memory, dt, self.extra,
            self.attraction, self.branch, self.levers,
        )  # fmt: skip

    def _place_elements(self, bodies: Bodies, velocity: Array) -> int:
        """Motion rows for the surface elements of a rotating wall, each at the velocity of its place; the first row."""
        first = self._elements
        self._elements += len(velocity)
        if self._elements > len(bodies.motion):
            more = np.zeros((self._elements + 64 - len(bodies.motion), 8))
            bodies.motion = on_lines(np.concatenate([bodies.motion, more]))
        bodies.motion[first : self._elements, V] = velocity  # their mobility stays zero
        return first


def removed_part(gap: str | float) -> float:
    """Which part of an overlap a step removes, by the gap policy: none with "g_pos", all with "g"."""
    return {"g_pos": 0.0, "g": 1.0}[gap] if isinstance(gap, str) else float(gap)


def gives_way(flow: Array) -> bool:
    """True when every force moves the cell: then no two contacts are free of each other."""
    return bool(flow[:, MOBILITY].any())
