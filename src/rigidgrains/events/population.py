"""Bodies that come and go between two steps: all is renumbered, and every contact that stays keeps its force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..detect.neighbours import Neighbours, WallList
from ..detect.pairs import PairList
from ..model.arrays import PerGrain, grain_arrays
from ..model.bodies import INERTIA, Bodies, make_wall_rows
from ..model.columns import INV_MASS, INV_SPIN
from ..model.walls import Wall
from ..runtime.memory import on_lines

Index = NDArray[np.int64]


class Crowd:
    """Grains that are not in the scene.

    rows  : arrays of the grains, by name, see model/arrays.py; group : name of the group of each
    """

    def __init__(self, rows: dict[str, NDArray[Any]], group: list[str]) -> None:
        self.rows, self.group = rows, group

    def __len__(self) -> int:
        return len(self.group)

    def __getattr__(self, name: str) -> NDArray[Any]:
        """One of the arrays."""
        try:
            return self.__dict__["rows"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, some: Any) -> Crowd:
        rows = {name: array[some] for name, array in self.rows.items()}
        return Crowd(rows, [self.group[k] for k in np.arange(len(self))[some]])

    @classmethod
    def of_one(cls, radius: float, mass: float, material: int, dimension: int, group: str, scalars: int = 0) -> Crowd:
        """A new grain at rest, without a place and an id yet; scalars : how many numbers of the user it has."""
        grain = cls({column.name: column.make(1, dimension) for column in grain_arrays()}, [group])
        grain.radius[0], grain.mass[0], grain.material[0] = radius, mass, material
        grain.rows["scalars"] = np.full((1, scalars), np.nan)
        grain.motion[0, INV_MASS], grain.motion[0, INV_SPIN] = 1.0 / mass, INERTIA[dimension] / mass
        return grain

    def words(self) -> dict[str, Any]:
        """As plain numbers, exact."""
        kept = [column.name for column in grain_arrays() if column.returns]
        return {name: self.rows[name].tolist() for name in kept} | {"group": self.group}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Crowd:
        """Earlier files do not know all arrays: there grains have the default."""
        n, dimension = len(words["id"]), 2 if np.ndim(words["orientation"]) == 1 else 3
        rows = {column.name: column.make(n, dimension) for column in grain_arrays()}
        for column in grain_arrays():
            if column.needed or column.name in words:
                rows[column.name] = np.array(words[column.name], column.dtype)
        return cls(rows, words["group"])

    @classmethod
    def joined(cls, parts: list[Crowd]) -> Crowd:
        rows = {column.name: np.concatenate([part.rows[column.name] for part in parts]) for column in grain_arrays()}
        return cls(rows, [name for part in parts for name in part.group])


def copy_grains(bodies: Bodies, some: Index) -> Crowd:
    """Some grains as they come back: what does not return with them has its default."""
    names = np.full(len(some), "", object)
    for name, part in bodies.groups.items():
        names[(some >= part.start) & (some < part.stop)] = name
    rows = {
        column.name: column.of(bodies)[some] if column.returns else column.make(len(some), bodies.dimension)
        for column in grain_arrays()
    }
    return Crowd(rows, names.tolist())


def change(
    bodies: Bodies,
    neighbours: Neighbours,
    contacts: Contacts,
    *,
    leaving: Index | None = None,
    coming: Crowd | None = None,
    walls: list[Wall] | None = None,
) -> Neighbours:
    """Take grains out, let grains in, and set the walls that are there, in one renumbering; returns the new lists."""
    walls = bodies.walls if walls is None else walls
    rows, order = _new_rows(bodies, leaving, coming)
    number = np.full(bodies.count, -1, np.int64)  # new row of each old grain
    number[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    old_walls = [next((w for w, old in enumerate(bodies.walls) if old is wall), -1) for wall in walls]
    row_map = _renumber_contacts(contacts, bodies.count, number, len(rows), old_walls)
    lists = _renumber_lists(neighbours, number, rows, walls, old_walls, row_map)
    _renumber_bodies(bodies, rows, None if coming is None else coming[order], walls, old_walls)
    return lists


def _new_rows(bodies: Bodies, leaving: Index | None, coming: Crowd | None) -> tuple[Index, Index]:
    """Old row of each grain to be, -1 for those that come; and the order in which those come. Sets the groups."""
    stays = np.ones(bodies.count, bool)
    if leaving is not None:
        stays[leaving] = False
    before = np.concatenate([[0], np.cumsum(stays)])
    names = list(bodies.groups)
    wanted = [] if coming is None else coming.group
    home = np.array([names.index(name) if name in bodies.groups else len(names) for name in wanted], np.int64)
    order = np.argsort(home, kind="stable")
    ends = [bodies.groups[names[k]].stop if k < len(names) else bodies.count for k in home[order].tolist()]
    old = np.where(stays, np.arange(bodies.count), -2)
    rows = np.insert(old, np.array(ends, np.int64), -1) if ends else old
    groups, added = {}, 0
    for k, (name, part) in enumerate(bodies.groups.items()):
        more = int((home == k).sum())
        groups[name] = slice(int(before[part.start]) + added, int(before[part.stop]) + added + more)
        added += more
    bodies.groups = groups
    return rows[rows != -2], order


def _renumber_bodies(bodies: Bodies, rows: Index, coming: Crowd | None, walls: list[Wall], old: list[int]) -> None:
    new = {column.name: _fill(column, bodies, rows, coming) for column in grain_arrays()}
    wall_rows, cell_rows = make_wall_rows(walls), bodies.flow[: 3 if bodies.flows else 0]
    motion = np.concatenate([new["motion"], wall_rows, cell_rows])
    for w, before in enumerate(old):
        if before >= 0:
            motion[len(rows) + w] = bodies.motion[bodies.count + before]
    for name, array in new.items():
        setattr(bodies, name, array)
    bodies.motion, bodies.walls = on_lines(motion), walls


def _fill(column: PerGrain, bodies: Bodies, rows: Index, coming: Crowd | None) -> NDArray[Any]:
    """Old rows at their new places, those of grains that come at theirs; none where these bodies need none."""
    old = getattr(bodies, column.name)
    arriving = column.make(0, bodies.dimension) if coming is None else coming.rows[column.name]
    usual = column.sparse and (arriving == column.make(len(arriving), bodies.dimension)).all()
    if not column.where(bodies) or (usual and not len(old)):
        return column.make(0, bodies.dimension)
    new = np.empty((len(rows), *old.shape[1:]), old.dtype)
    new[rows >= 0] = column.of(bodies)[rows[rows >= 0]]
    if coming is not None:
        new[rows < 0] = arriving
    return new


def _renumber_contacts(contacts: Contacts, n_old: int, number: Index, n: int, old_walls: list[int]) -> Index:
    """Drop the rows of bodies that left; returns the new row of each old one, -1 for none."""
    between = contacts.wall_rows[0].start if contacts.wall_rows else contacts.count
    i = number[contacts.pairs[:, 0]] if contacts.count else np.zeros(0, np.int64)
    j = np.full(contacts.count, -1, np.int64)
    j[:between] = number[contacts.pairs[:between, 1]] if between else 0
    for w, before in enumerate(old_walls):
        if 0 <= before < len(contacts.wall_rows):
            j[contacts.wall_rows[before]] = n + w
    keep = np.flatnonzero((i >= 0) & (j >= 0))
    row_map = np.full(contacts.count + 1, -1, np.int64)  # the last one serves -1
    row_map[keep] = np.arange(len(keep))
    wall_rows, end = [], int((keep < between).sum())
    for before in old_walls:
        part = contacts.wall_rows[before] if 0 <= before < len(contacts.wall_rows) else slice(0, 0)
        more = int(((keep >= part.start) & (keep < part.stop)).sum())
        wall_rows.append(slice(end, end + more))
        end += more
    contacts.select(keep, np.column_stack([i, j])[keep].astype(np.int32), wall_rows)
    return row_map


def _renumber_lists(
    lists: Neighbours, number: Index, rows: Index, walls: list[Wall], old_walls: list[int], row_map: Index
) -> Neighbours:
    """The same lists under the new numbers; newcomers have a skin that makes them stale at once."""
    if not lists.builds:
        return lists
    pairs = lists.pairs
    i = number[np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))]
    j = number[pairs.partner]
    keep = (i >= 0) & (j >= 0)
    start = np.concatenate([[0], np.cumsum(np.bincount(i[keep], minlength=len(rows)))]).astype(np.int32)
    pairs = PairList(start, j[keep].astype(np.int32), row_map[pairs.last[keep]].astype(np.int32), pairs.image[keep])
    near = []
    for wall, before in zip(walls, old_walls):
        if before < 0:
            none = np.zeros(0, np.int32)
            near.append(WallList(none, none.copy(), -1.0, 0.0, wall.shape.point.copy()))
            continue
        listed = lists.walls[before]
        grains = number[listed.grains]
        stay = grains >= 0
        near.append(
            WallList(
                grains[stay].astype(np.int32), row_map[listed.last[stay]].astype(np.int32), listed.skin, listed.travel,
                listed.point,
            )
        )  # fmt: skip
    skin, reference = np.full(len(rows), -1.0), np.zeros((len(rows), 3))
    stay = rows >= 0
    skin[stay], reference[stay] = lists.skin[rows[stay]], lists.reference[rows[stay]]
    block = np.full(len(rows), -1, np.int32)
    block[stay] = lists.frames.block[rows[stay]]
    frames = replace(lists.frames, block=block)
    clear = np.full((len(walls), int(frames.shape.prod())), -1.0)  # of walls that are new
    for w, before in enumerate(old_walls):
        if before >= 0:
            clear[w] = lists.clear[before]
    return Neighbours(pairs, near, skin, reference, lists.builds, lists.vectors, frames, clear, lists.work)
