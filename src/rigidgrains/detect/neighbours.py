"""Neighbour lists: who may touch whom, kept while no body has left its skin.

Each grain has a skin of its own, wide enough for its speed among its neighbours, see frames.py: one fast grain does not
make the others search far, and a block that falls as a whole needs no search at all. Two bodies outside of each other's
lists are further apart than both skins together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies, top_speed
from ..model.columns import L, V
from ..model.deforming import strain_rate
from ..model.shapes import offset
from ..model.wall_table import WallTable
from ..model.walls import Wall
from ..runtime.barrier import fetch_add, look, meet, share
from ..runtime.compiled import kernel
from ..runtime.memory import Workspace, copy_rows
from ..runtime.threads import spread, together, worth
from .approach import all_gaps, approach, bumps, foresee, least_gap, list_near
from .co_moving import Frames, leaves_skin, set_skin, shift_frames
from .images import find_pairs, wrap
from .pairs import PairList, inherit

if TYPE_CHECKING:
    from .near_walls import NearWalls

Array = NDArray[np.float64]
Index = NDArray[np.int32]

SKIN = 0.1  # of the smallest radius: the least skin
WIDEST = 0.5  # of the mean radius: the widest skin taken only to last longer
AHEAD = 8.0  # steps at the present speed that a new list should last


@dataclass
class WallList:
    """Grains near one wall.

    last : the contact row each had in the previous step, -1 for none
    skin : how far the wall may move (m); travel : how far it has moved, or has been driven, since the list was made
    point : where a piston was then
    """

    grains: Index
    last: Index
    skin: float
    travel: float
    point: Array


@dataclass
class Neighbours:
    """Pairs of grains and lists of grains near each wall.

    skin : (n,) m, how far each grain may come in its frame, with what frames come apart
    reference : (n, 3) m, where it was
    builds : how often lists were made
    clear : (walls, blocks) m, how far each frame may move towards a wall until a grain that is not listed may touch it
    vectors : (3, 3) m, of a cell that deforms when lists were made; references move along with it
    near : gaps of the grains near walls in the present step, once they are known, see near_walls.py
    work : where memory is taken from
    """

    pairs: PairList = field(default_factory=lambda: PairList.empty(0))
    walls: list[WallList] = field(default_factory=list)
    skin: Array = field(default_factory=lambda: np.empty(0))
    reference: Array = field(default_factory=lambda: np.empty((0, 3)))
    builds: int = 0
    vectors: Array = field(default_factory=lambda: np.eye(3))
    frames: Frames = field(default_factory=lambda: Frames.still(0))
    clear: Array = field(default_factory=lambda: np.empty((0, 1)))
    work: Workspace = field(default_factory=Workspace, repr=False)
    near: NearWalls | None = field(default=None, init=False, repr=False)
    _joined: tuple[list[WallList], NDArray[np.int64], Index] | None = field(default=None, init=False, repr=False)

    def refresh(self, bodies: Bodies, dt: float) -> None:
        """Make the lists anew if a pair outside of them could touch within this step."""
        self.near, walls = None, bodies.wall_table
        steps = _wall_steps(bodies, walls, dt)
        if not self.builds or self._stale(bodies, walls, steps, dt):
            if bodies.cell is not None:
                wrap(bodies, self.pairs)
            self._build(bodies, steps, dt)
        self._count_travel(walls, steps)

    def widen(self, bodies: Bodies, dt: float) -> None:
        """The same with the motion that was found: a blow throws bodies out of skins that were made for a slower one.

        A piston that was stopped by the first grain before may now carry it along.
        """
        walls, steps = bodies.wall_table, [0.0] * len(bodies.walls)
        for w in walls.pistons:
            steps[w] = dt * math.hypot(*bodies.motion[bodies.count + w, V].tolist())
        if self._stale(bodies, walls, steps, dt):
            steps = [step or other for step, other in zip(steps, _wall_steps(bodies, walls, dt))]
            self._build(bodies, steps, dt, self.skin)  # attempts at a step differ: what one needs the next may need too
            self._count_travel(walls, steps)

    @property
    def near_walls(self) -> tuple[NDArray[np.int64], Index]:
        """(walls + 1,) where the grains listed near each wall begin, and (m,) the grains, wall after wall."""
        if self._joined is None or self._joined[0] is not self.walls:
            start = np.zeros(len(self.walls) + 1, np.int64)
            start[1:] = np.cumsum([len(listed.grains) for listed in self.walls])
            grains = np.concatenate([np.empty(0, np.int32), *(listed.grains for listed in self.walls)])
            self._joined = self.walls, start, grains
        return self._joined[1:]

    def _count_travel(self, walls: WallTable, steps: list[float]) -> None:
        """A driven wall is charged with each step beforehand; a piston is asked where it is."""
        for listed, step, guided in zip(self.walls, steps, walls.guided):
            listed.travel += 0.0 if guided else step

    def _stale(self, bodies: Bodies, walls: WallTable, steps: list[float], dt: float) -> bool:
        for w, (listed, step) in enumerate(zip(self.walls, steps)):
            travel = listed.travel
            if walls.guided[w]:
                travel = float(np.linalg.norm(bodies.walls[w].shape.point - listed.point))
            if travel + step > listed.skin:
                return True
        reference, skin = self.reference, self.skin
        if bodies.flows:
            reference, skin = self._carried_along(bodies, dt)
        frames, ended = self.frames, np.zeros(1, np.int64)
        what = (
            *frames.leaders, frames.shape, bodies.position, bodies.motion, reference, dt, *frames.room, walls.normal,
            walls.flat, self.clear, frames.block, skin, frames.side - frames.bridge, ended,
        )  # fmt: skip
        return bool(together(_have_ended, worth(3 * bodies.count), *what))

    def _carried_along(self, bodies: Bodies, dt: float) -> tuple[Array, Array]:
        """Where the flow has taken the references, and what it leaves of the skins by the end of the step.

        It brings centres that were d apart to no less than s d, with s the smallest stretch since lists were made.
        """
        cell = bodies.cell
        assert cell is not None
        stretch = np.linalg.inv(self.vectors) @ cell.vectors
        ahead = stretch @ (np.eye(3) + dt * bodies.flow[:, L].T)
        least = min(float(np.linalg.svd(ahead, compute_uv=False).min()), 1.0)
        skin = least * self.skin - (1.0 - least) * (bodies.radius + 0.5 * bodies.reach)
        reference = cell.origin + (self.reference - cell.origin) @ stretch
        return reference, skin / (1.0 + dt * strain_rate(bodies))

    def _build(self, bodies: Bodies, steps: list[float], dt: float, thinnest: Array | None = None) -> None:
        """Make the lists, with skins for the present motion and no thinner than the `thinnest`."""
        self.pairs = old_pairs = self.pairs.set_aside(self.work)  # nobody holds those that may have to grow
        old_walls, self.near = self.walls, None
        least, widest = SKIN * bodies.radii.least, WIDEST * bodies.radii.mean
        n, work = bodies.count, self.work
        self.frames, skin = Frames.of(bodies, dt, work), work.borrow("of each grain", n)
        shift = self.frames.shift(bodies.position, bodies.motion, bodies.position, dt)
        gaps = work.borrow("sphere", len(bodies.walls) * n).reshape(len(bodies.walls), n)
        for wall, gap in zip(bodies.walls, gaps):
            all_gaps(wall.shape, bodies, gap)
        blocks = len(shift.path)
        self.clear = work.take("clear", len(gaps) * blocks).reshape(len(gaps), blocks)
        walls = bodies.wall_table
        approach(shift.path, walls.normal, walls.flat, self.clear)
        if bodies.flows and bodies.cell is not None:
            self.vectors = bodies.cell.vectors.copy()
            _set_flowing_skin(bodies, least, widest, dt, skin)
        else:
            # what a block may be slowed down, or sped up, by its neighbours
            blow = np.multiply(2.0, shift.apart, out=work.take("blow", blocks))
            for gap, towards in zip(gaps, self.clear):
                foresee(self.frames.block, gap, AHEAD, towards, blow)
            what = (
                self.frames.block, bodies.motion, shift.path, shift.apart, blow, shift.span,
                self.frames.bridged(shift.span), least, widest, AHEAD, dt, skin,
            )  # fmt: skip
            spread(set_skin, n, *what)
        self.skin = np.maximum(skin, skin if thinnest is None else thinnest, out=work.take("skin", n))
        grid = work if self.builds else Workspace()  # lists that are never made again need no grid afterwards
        self.walls, listed = [], grid.borrow("member", n, kind=np.int32)
        for wall, step, gap, clear in zip(bodies.walls, steps, gaps, self.clear):
            room = max(least, 1.1 * step, min(AHEAD * step, widest)) if step > 0.0 or wall.guided else 0.0
            room_for = room + bodies.reach + (0.0 if bodies.catalogue is None else wall.shape.off)
            count = list_near(gap, self.skin, room_for, self.frames.block, AHEAD, clear, listed)
            near = listed[:count].copy()
            self.walls.append(WallList(near, np.full(len(near), -1, np.int32), room, 0.0, wall.shape.point.copy()))
        # From here on nobody needs the gaps nor the old reference, and the grid writes over them.
        wide = np.add(bodies.bound, self.skin, out=skin)
        wide += 0.5 * bodies.reach
        expected = len(old_pairs.partner) * 9 // 8
        self.pairs = find_pairs(bodies.position, wide, bodies.cell, capacity=expected, work=grid)
        if self.builds:
            inherit(self.pairs, old_pairs)
            listed = grid.borrow("member", n, kind=np.int32)
            listed.fill(-1)
            for now, before in zip(self.walls, old_walls):
                listed[before.grains] = before.last
                now.last = listed[now.grains]
                listed[before.grains] = -1
        self.reference = work.take("centre", n, 3)
        copy_rows(bodies.position, self.reference)
        self.builds += 1


def _wall_steps(bodies: Bodies, walls: WallTable, dt: float) -> list[float]:
    """m, how far the surface of each wall can move towards a grain within this step."""
    speeds = [math.hypot(*row) for row in bodies.motion[bodies.count : bodies.count + len(bodies.walls), V].tolist()]
    return [
        _wall_step(bodies, bodies.walls[w], dt, speed) if speed != 0.0 or walls.turning[w] else 0.0
        for w, speed in enumerate(speeds)
    ]


def _wall_step(bodies: Bodies, wall: Wall, dt: float, speed: float) -> float:
    """The same of one that moves or turns."""
    step, drive = dt * speed, wall.drive
    if wall.guided and step > 0.0:
        # A piston is stopped by the first grain: however light it is, it gets no further than that grain goes.
        return min(step, max(least_gap(wall.shape, bodies), 0.0) + dt * top_speed(bodies.motion[: bodies.count]))
    if drive.rotates and not (drive.about is None and wall.shape.turns_in_itself(drive.spin)):
        about = wall.shape.point if drive.about is None else drive.about
        step += dt * float(np.linalg.norm(drive.spin)) * _farthest(bodies.position, about)
    return step


def _set_flowing_skin(bodies: Bodies, least: float, widest: float, dt: float, skin: Array) -> None:
    """The same in a flow, which brings centres together by |L| d in a second."""
    strain = dt * strain_rate(bodies)
    step = dt * np.linalg.norm(bodies.velocity, axis=1) * (1.0 + strain)
    step = (step + strain * (bodies.radius + 0.5 * bodies.reach)) / (1.0 - strain)
    skin[:] = np.maximum(np.maximum(least, 1.1 * step), np.minimum(AHEAD * step, widest))


@kernel
def _have_ended(
    thread, threads, meeting, first, leader, others, shape, position, motion, reference, dt, start, path, apart,
    normals, flat, clear, block, skin, bridge, ended,
):  # fmt: skip
    """True when lists have come to an end: a frame may come upon a grain that its wall does not list, or a grain may
    leave its skin, within this step.

    bridge : m, how far two grains of blocks that are not adjacent may come towards each other; ended : (1,) 0 at first
    """
    span = shift_frames(
        thread, threads, meeting, first, leader, others, shape, position, motion, reference, dt, start, path, apart
    )
    begin, end = share(0, len(skin), thread, threads)
    if bumps(start, path, normals, flat, clear) or leaves_skin(
        begin, end, block, position, motion, reference, skin, dt, start, path, apart, span, 0.5 * (bridge - span)
    ):
        fetch_add(ended, 0, 1)
    meet(meeting, threads)
    return look(ended, 0) > 0


@kernel
def _farthest(position, point):
    """Largest distance of any position from a point."""
    top = 0.0
    for i in range(position.shape[0]):
        x, y, z = offset(position, i, point)
        top = max(top, x * x + y * y + z * z)
    return math.sqrt(top)
