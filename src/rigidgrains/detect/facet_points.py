"""Narrow phase of grains with sides and faces at walls that jut out: they meet the wall's facets as parts of grains.

Facets share edges. Of an edge that turns inwards, or lies flat, nothing may be felt: where n points into the other
facet, that one is nearer. Of an edge that turns outwards two facets tell the same, and one is listened to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V
from ..model.shapes import Shape as Surface
from ..model.shapes.facets import AROUND, SIDES, Facets
from ..model.turning import turned_by
from ..model.walls import Wall
from ..shapes.catalogue import Catalogue
from ..shapes.core import FLAT, Shape
from ..shapes.poses import quaternions_of
from ..shapes.table import ShapeTable, make_table
from .facet_loops import FLUSH, fill_facet_rows, find_facet_speeds, mark_twins
from .point_columns import FOUND_GAP, FOUND_N, PARTS, WITHIN
from .search import Placed, Reach, matched, search
from .wall_points import WallPoints, balls_of

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class Facing:
    """Contact points of some grains with the facets of a wall.

    grain : (p,) number among these grains; found : (p, 9) see point_columns.py
    feature : (p,) the parts, the second of which is the number of the facet and one, and the point among theirs
    """

    grain: Index
    found: Array
    feature: NDArray[np.int64]


def sided_grains(bodies: Bodies, w: int, grains: Index) -> Index:
    """Those of some grains that meet the facets of a wall, none where the wall does not jut out."""
    assert bodies.catalogue is not None
    if bodies.walls[w].shape.convex:
        return grains[:0]
    return grains[bodies.catalogue.sided[bodies.shape[grains]]]


def facet_points(bodies: Bodies, w: int, listed: Index, spin: Array, dt: float, reach: Reach) -> WallPoints | None:
    """Points of listed grains at the facets of a wall within reach; None where no grain meets any."""
    grains, wall = sided_grains(bodies, w, listed), bodies.walls[w]
    if not len(grains):
        return None
    facing = _face(bodies, wall.shape, grains, bodies.position, bodies.orientation, reach.of(grains))
    points = WallPoints.room(1, len(facing.grain))
    points.start[1], points.owner, points.feature = len(facing.grain), grains[facing.grain], facing.feature
    fill_facet_rows(
        points.owner, facing.found, *_motion_of(bodies, w), turning_of(wall), bodies.motion, bodies.position, spin, dt,
        points.rows,
    )  # fmt: skip
    return points


def turning_of(wall: Wall) -> Array:
    """(3,) rad/s, with which the facets of a wall turn; those of a drum that turns about its axis stand still."""
    still = wall.drive.about is None and wall.shape.turns_in_itself(wall.drive.spin)
    return np.zeros(3) if still else wall.drive.spin


def facet_speeds(bodies: Bodies, w: int, grains: Index) -> Array:
    """(m,) m/s, at most, of the centres of some grains relative to what a wall has near them."""
    speed = np.empty(len(grains))
    find_facet_speeds(grains, *_motion_of(bodies, w), bodies.motion, bodies.position, bodies.bound, speed)
    return speed


def _motion_of(bodies: Bodies, w: int) -> tuple[int, Array, Array]:
    """The motion row of a wall, its spin (rad/s) and a point about which it turns."""
    wall = bodies.walls[w]
    return bodies.count + w, wall.drive.spin, wall.shape.point if wall.drive.about is None else wall.drive.about


def missed_facet(
    bodies: Bodies, w: int, listed: Index, reach: Reach, turn: Array, spin: Array, dt: float, least: float
) -> bool:
    """Whether grains that came farther within the step than was looked overlap with the facets of a wall after it."""
    grains = sided_grains(bodies, w, listed)
    grains = grains[dt * (facet_speeds(bodies, w, grains) + turn[grains]) > reach.of(grains)]
    if not len(grains):
        return False
    ahead = bodies.walls[w].ahead(bodies.motion[bodies.count + w, V], dt)
    position, orientation = bodies.position + dt * bodies.velocity, turned_by(bodies, dt * spin)
    facing = _face(bodies, ahead.shape, grains, position, orientation, np.zeros(len(grains)))
    return bool((facing.found[:, FOUND_GAP] < -least).any())


def present_facet_gaps(bodies: Bodies, w: int, grains: Index, feature: NDArray[np.int64]) -> Array:
    """(p,) m, gaps of points at the facets of a wall where grains are now; 0 for those that do not overlap."""
    some = np.unique(grains)
    facing = _face(bodies, bodies.walls[w].shape, some, bodies.position, bodies.orientation, np.zeros(len(some)))
    now = some[facing.grain].astype(np.int64), facing.feature
    return matched(now, np.minimum(facing.found[:, FOUND_GAP], 0.0), (grains.astype(np.int64), feature))


def wall_gaps(bodies: Bodies, wall: Surface) -> Array:
    """(n,) m, gaps of all grains and a wall; infinite where sides and faces do not overlap with one that juts out."""
    assert bodies.catalogue is not None
    gap, grains = np.full(bodies.count, np.inf), np.arange(bodies.count, dtype=np.int32)
    sided = bodies.catalogue.sided[bodies.shape] & (not wall.convex)
    balls = balls_of(bodies, grains[~sided])
    each, _ = wall.gaps(np.arange(len(balls.owner), dtype=np.int32), balls.place, balls.radius)
    np.minimum.at(gap, balls.owner, each)
    if sided.any():
        some = grains[sided]
        facing = _face(bodies, wall, some, bodies.position, bodies.orientation, np.zeros(len(some)))
        np.minimum.at(gap, some[facing.grain], facing.found[:, FOUND_GAP])
    return gap


def _face(bodies: Bodies, wall: Surface, grains: Index, position: Array, orientation: Array, reach: Array) -> Facing:
    assert bodies.catalogue is not None
    placed = Placed(
        bodies.dimension, bodies.catalogue.table, bodies.shape[grains], bodies.radius[grains], position[grains],
        orientation[grains], bodies.shifts[:1],
    )  # fmt: skip
    return face(wall, bodies.catalogue, placed, reach, float(bodies.bound.max()))


def face(wall: Surface, catalogue: Catalogue, grains: Placed, reach: Array, bound: float) -> Facing:
    """Contact points of some grains with the facets of a wall.

    reach : (m,) m; bound : m, radius of the sphere around the largest grain
    """
    m, frame = len(grains.shape), wall.frame
    facets = wall.facets(grains.dimension, 2.0 ** np.ceil(np.log2(bound)))
    table = _with_part(catalogue, facets)
    local = (grains.position - wall.point) @ frame
    owner, facet = _listed(facets, local, catalogue.bound[grains.shape] * grains.scale + reach)
    turn = np.einsum("ab,kbc->kac", frame, facets.turns())
    place, turns = np.tile(wall.point, (facets.count, 1)), turn
    if facets.slides:
        place, turns = wall.point + local[:, 2:] * frame[:, 2], np.repeat(turn, m, axis=0)
    poses = np.arctan2(turns[:, 1, 0], turns[:, 0, 0]) if grains.dimension == FLAT else quaternions_of(turns)
    more, none = len(place), np.zeros(len(place))
    everyone = Placed(
        grains.dimension,
        table,
        np.concatenate([grains.shape, np.full(more, len(catalogue.shapes))]).astype(np.int32),
        np.concatenate([grains.scale, none + 1.0]),
        np.concatenate([grains.position, place]),
        np.concatenate([grains.orientation, poses]),
        grains.shifts,
    )
    start = np.searchsorted(owner, np.arange(m + 1)).astype(np.int32)
    partner = (m + (owner if facets.slides else facet)).astype(np.int32)
    within = Reach(np.concatenate([reach, none]), np.zeros(m + more), 0.0, 1.0, faces=0.0)  # no n fits two facets
    pairs, _, found, feature = search(everyone, start, partner, np.zeros(len(owner), np.int8), within)
    number = np.zeros(len(pairs), np.int64) if facets.slides else pairs[:, 1].astype(np.int64) - m
    facing = Facing(pairs[:, 0], found, feature + (number + 1) * WITHIN)
    if facets.seams is None:
        return facing
    felt = _felt(facets.seams, np.einsum("pab,pa->pb", turn[number], -found[:, FOUND_N]))
    own = facing.grain.astype(np.int64) * PARTS + facing.feature // WITHIN // PARTS
    keep = or_nearest(felt, own, number, facets.count, found[:, FOUND_GAP])
    facing = Facing(facing.grain[keep], found[keep], facing.feature[keep])
    return _without_twins(facing, turn @ facets.part.normals[0], grains.scale)


@lru_cache(maxsize=64)
def _with_part(catalogue: Catalogue, facets: Facets) -> ShapeTable:
    """The table of the grains' shapes, and after them the facet of a wall."""
    none = np.zeros(3)
    return make_table([*catalogue.shapes, Shape(catalogue.dimension, (facets.part,), 1.0, none, none, np.eye(3), 1.0)])


def _listed(facets: Facets, local: Array, near: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Grains and the facets that they may reach, in the order of grains: those within the angle that they are seen at.

    local : (m, 3) m, centres in the frame of the wall; near : (m,) m
    """
    if facets.count == 1:
        each = np.arange(len(local))
        return each, np.zeros(len(local), np.int64)
    away = np.hypot(local[:, 0], local[:, 1])
    wide = np.where(away > near, np.arcsin(np.minimum(near / np.maximum(away, near), 1.0)), np.pi) + 0.5 * AROUND
    angle = np.arctan2(local[:, 1], local[:, 0])
    first = np.ceil((angle - wide) / AROUND).astype(np.int64)
    count = np.minimum(np.floor((angle + wide) / AROUND).astype(np.int64) - first + 1, SIDES)
    owner = np.repeat(np.arange(len(local)), count)
    return owner, (first[owner] + np.arange(len(owner)) - (np.cumsum(count) - count)[owner]) % SIDES


def _felt(seams: Array, out: Array) -> NDArray[np.bool_]:
    """(p,) False where the way out of a facet (p, 3) leads across a shared edge into the other facet."""
    felt = np.ones(len(out), np.bool_)
    for across, into in seams:
        felt &= ~((out @ across > FLUSH) & (out @ into > FLUSH))
    return felt


def or_nearest(
    felt: NDArray[np.bool_], part: NDArray[np.int64], facet: NDArray[np.int64], count: int, gap: Array
) -> NDArray[np.bool_]:
    """What is felt; where facets side by side all let a part out aside, one to the next, the nearest points there.

    part, facet : (p,) of each point; count : of facets around. What is felt farther away says nothing about this place.
    """
    if felt.all():
        return felt
    places, at = np.unique(part * count + facet, return_inverse=True)
    least, known = np.full(len(places), np.inf), np.zeros(len(places), np.bool_)
    np.minimum.at(least, at, gap)
    known[at[felt]] = True
    heard, nearest = np.zeros(len(gap), np.bool_), np.full(len(gap), np.inf)
    for aside in (-1, 0, 1):
        beside = part * count + (facet + aside) % count
        where = np.minimum(np.searchsorted(places, beside), len(places) - 1)
        there = places[where] == beside
        heard |= there & known[where]
        nearest = np.where(there, np.minimum(nearest, least[where]), nearest)
    return felt | (~heard & (gap == nearest))


def _without_twins(facing: Facing, normals: Array, scale: Array) -> Facing:
    """Of points in the same place that facets with a common edge tell of a part of a grain, that of the better facing.

    normals : (facets, 3); scale : (m,) m, of the grains
    """
    parts, found = facing.feature // WITHIN, facing.found
    facet, keep = parts % PARTS - 1, np.ones(len(parts), np.bool_)
    lean = np.abs(np.einsum("pa,pa->p", found[:, FOUND_N], normals[facet]))
    mark_twins(facing.grain, parts // PARTS, facet, lean, found, scale, keep)
    return Facing(facing.grain[keep], found[keep], facing.feature[keep])
