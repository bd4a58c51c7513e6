"""Vertices of grains at walls, and points of pairs, by plain enumeration: gaps, speeds, colours, what is missed."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from support.builders import UP, plane
from support.shaped import Z, mixture, periodic, shaped, stack

from rigidgrains.detect.neighbours import Neighbours, WallList
from rigidgrains.detect.point_columns import AT_LEVER, AT_SINK, AT_V, FOUND_GAP, FOUND_X
from rigidgrains.detect.points import find_candidates, present_gaps
from rigidgrains.detect.search import Placed, Reach, search
from rigidgrains.detect.wall_point_loops import meets_wall, raise_towards
from rigidgrains.detect.wall_points import by_number, choose, near_walls
from rigidgrains.model.columns import V
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.turning import quaternions, spin_matrices, spins_and_turning, turned_by
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation.simulation import Simulation

DRUM = Wall("drum", Cylinder(np.zeros(3), Z, 6.0, True, math.inf), drive=Drive(spin=0.7 * Z))


def crowd(dimension, count=25, seed=5):
    """Grains of all shapes that move, in a turning drum, over a plane that moves and under a piston."""
    rng = np.random.default_rng(seed)
    flat = np.array([1.0, 1.0, dimension - 2.0])
    turned = rng.normal(size=(count, 4)) if dimension == 3 else rng.uniform(0.0, 6.0, count)
    if dimension == 3:
        turned /= np.linalg.norm(turned, axis=1)[:, None]
    shapes = mixture(dimension)
    spin = rng.normal(size=(count, 3)) * (1.0 if dimension == 3 else Z)
    sloping = np.array([0.6, 0.8, 0.0])
    walls = [plane([0, -3, 0], sloping, "slope", drive=Drive(velocity=0.3 * sloping)), DRUM]
    walls.append(plane([0, 3, 0], -UP, "piston", mass=2.0, load=1.0))
    return shaped(
        rng.uniform(-4.0, 4.0, (count, 3)) * flat, shapes, np.arange(count) % len(shapes), dimension=dimension,
        drawn=False, radius=rng.uniform(0.4, 0.8, count), orientation=turned, spin=spin, walls=walls,
        velocity=rng.normal(size=(count, 3)) * flat,
    )  # fmt: skip


def lists(bodies):
    """At each wall other grains."""
    some = [np.arange(k, bodies.count, 2 + k, dtype=np.int32) for k in range(len(bodies.walls))]
    return [WallList(grains, grains.copy(), 1.0, 0.0, np.zeros(3)) for grains in some]


def found(bodies, dt=0.01):
    bodies.motion[bodies.count, V] = bodies.walls[0].drive.velocity
    bodies.motion[bodies.count + 2, V] = [0.0, -0.4, 0.0]
    spin, turn = spins_and_turning(bodies, bodies.motion, spin_matrices(bodies))
    return near_walls(bodies, Neighbours(walls=lists(bodies)), spin, dt), spin, turn


def vertices(bodies, i):
    """Places (k, 3) and roundings of the vertices of a grain, from its drawing."""
    w, *v = quaternions(bodies)[i]
    shape, v = bodies.catalogue.shapes[bodies.shape[i]], np.array(v)
    drawn = np.concatenate([part.vertices for part in shape.parts])
    turned = drawn + 2.0 * np.cross(v, np.cross(v, drawn) + w * drawn)
    rounding = np.repeat([part.rounding for part in shape.parts], [len(part.vertices) for part in shape.parts])
    return bodies.position[i] + bodies.radius[i] * turned, bodies.radius[i] * rounding


@pytest.mark.parametrize("dimension", [2, 3])
def test_all_vertices_of_listed_grains_are_near_their_wall(dimension):
    bodies = crowd(dimension)
    near, _, _ = found(bodies)
    for w, (wall, listed) in enumerate(zip(bodies.walls, lists(bodies))):
        own, row = near.of(w), 0
        for i in listed.grains:
            place, rounding = vertices(bodies, i)
            rows = slice(row, row + len(place))
            row = rows.stop
            assert (own.owner[rows] == i).all()
            np.testing.assert_array_equal(own.feature[rows], np.arange(len(place)))
            np.testing.assert_allclose(own.rows[rows, AT_LEVER], place - bodies.position[i], atol=1e-14)
            gap, normal = wall.shape.gaps(np.arange(len(place), dtype=np.int32), place, rounding)
            np.testing.assert_allclose(own.gap[rows], gap, atol=1e-14)
            np.testing.assert_allclose(own.normal[rows], normal, atol=1e-14)
            at = place + (rounding + gap)[:, None] * normal
            moves = np.cross(wall.drive.spin, at) if wall is bodies.walls[1] else bodies.motion[bodies.count + w, V]
            np.testing.assert_allclose(own.rows[rows, AT_V], np.broadcast_to(moves, at.shape), atol=1e-14)
        assert row == len(own.owner)
        assert (own.rows[:, AT_SINK] <= 0.0).all()
        assert own.rows[:, AT_SINK].any() == wall.bends


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_approach_planes_as_fast_as_their_gaps_close(dimension):
    bodies, dt = crowd(dimension), 1e-7
    near, spin, _ = found(bodies)
    speed = near.towards(bodies, spin)
    bodies.position += dt * bodies.velocity
    bodies.orientation = turned_by(bodies, dt * spin)
    for wall, row in zip(bodies.walls, (bodies.count, bodies.count + 1, bodies.count + 2)):
        wall.advance(bodies.motion[row, V], dt)
    after, _, _ = found(bodies)
    flat = np.r_[0 : near.start[1], near.start[2] : near.start[3]]
    np.testing.assert_allclose((near.gap - after.gap)[flat] / dt, speed[flat], atol=1e-5)
    fastest = np.full(bodies.count, 0.25)
    raise_towards(near.owner, near.rows, bodies.motion, spin, fastest)  # squares become speeds
    least = np.full(bodies.count, 0.5)
    np.maximum.at(least, near.owner, np.abs(near.towards(bodies, spin)))
    np.testing.assert_allclose(fastest, least, rtol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_within_reach_are_chosen(dimension):
    bodies = crowd(dimension)
    near, _, turn = found(bodies)
    reach = Reach(np.linalg.norm(bodies.velocity, axis=1), turn, 0.1, 0.2)
    kept = choose(near, reach)
    wanted = near.gap + near.rows[:, AT_SINK] < reach.of(near.owner)
    assert 0 < wanted.sum() < len(wanted)
    for name in ("owner", "feature", "rows"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(near, name)[wanted])
    np.testing.assert_array_equal(np.diff(kept.start), [wanted[a:b].sum() for a, b in pairwise(near.start)])


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_of_a_grain_at_a_wall_have_colours_of_their_own(dimension):
    bodies = crowd(dimension)
    near, _, _ = found(bodies)
    ordered, sizes = by_number(near)
    np.testing.assert_array_equal(sizes.sum(axis=1), np.diff(near.start))
    for w, own in enumerate(sizes):
        before, after = near.of(w), ordered.of(w)
        for colour in np.split(after.owner, np.cumsum(own)[:-1]):
            assert len(np.unique(colour)) == len(colour)
        again = np.lexsort([after.feature, after.owner])
        back = np.lexsort([before.feature, before.owner])
        np.testing.assert_array_equal(after.rows[again], before.rows[back])
        np.testing.assert_array_equal(after.owner[again], before.owner[back])


@pytest.mark.parametrize("dimension", [2, 3])
def test_what_was_out_of_reach_of_a_wall_and_overlaps_after_the_step_is_seen(dimension):
    bodies, dt, ahead = crowd(dimension, 80), 0.2, 0.01
    near, spin, turn = found(bodies)
    guided = np.array([False, False, True])
    gap = near.gap + near.rows[:, AT_SINK]
    walls = bodies.motion[bodies.count :]
    walls[2, V] = [0.0, -1.0, 0.0]  # a piston that a blow has sped up since

    def meets(margin, least):
        what = near.start, near.owner, near.rows, guided, walls, bodies.motion, spin, np.zeros(len(turn)), turn
        return meets_wall(*what, margin, ahead, dt, least)

    assert not meets(np.inf, 0.0)  # all were within reach
    after = gap - dt * near.towards(bodies, spin)
    np.testing.assert_array_equal(near.of(2).rows[:, AT_V], np.tile(walls[2, V], (len(near.of(2).owner), 1)))
    out = gap >= ahead * turn[near.owner]
    assert 0 < out.sum() < len(out)
    deepest = after[out].min()
    assert deepest < 0.0
    assert meets(0.0, -0.999 * deepest)
    assert not meets(0.0, -1.001 * deepest)


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_of_pairs_stand_colour_after_colour(dimension):
    simulation = Simulation(periodic(dimension), dt=0.05)
    for _ in range(20):
        simulation.step()
    bodies, lists_now = simulation.bodies, simulation.neighbours
    plain, coloured = (find_candidates(bodies, lists_now, 0.2, coloured=on) for on in (False, True))
    ends = np.cumsum(coloured.sizes)
    assert ends[-1] == len(plain.pairs) > 5
    for begin, end in pairwise([0, *ends]):
        grains = coloured.pairs[begin:end].ravel()
        assert len(np.unique(grains)) == len(grains)

    def sorted_rows(some):
        rows = np.column_stack([some.pairs, some.image, some.found])
        order = np.lexsort([some.feature, some.image, *some.pairs.T])
        return rows[order], some.feature[order]

    for one, other in zip(sorted_rows(plain), sorted_rows(coloured)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("world", [periodic, lambda dimension: stack(dimension, 3)], ids=["cell", "stack"])
def test_present_gaps_belong_to_the_points_of_the_pair(dimension, world):
    """An overlap is that of the point of its name, else of the nearest one of the pair; 0 where nothing overlaps."""
    simulation = Simulation(world(dimension), dt=0.05)
    for _ in range(20):
        simulation.step()
    bodies, lists_now = simulation.bodies, simulation.neighbours
    points = find_candidates(bodies, lists_now, 0.2, coloured=True)
    bodies.position *= 0.7
    bodies.orientation = turned_by(bodies, np.arange(bodies.count)[:, None] * [0.0, 0.0, 0.01])
    pairs = lists_now.pairs
    now, image, rows, feature = search(
        Placed.of(bodies), pairs.start, pairs.partner, pairs.image, Reach.none(bodies.count)
    )
    place, wanted = points.found[:, FOUND_X : FOUND_X + 3], np.zeros(len(points.pairs))
    for pair, at, row, name in zip(now, image, rows, feature):
        same = np.flatnonzero((points.pairs == pair).all(axis=1) & (points.image == at))
        named = same[points.feature[same] == name]
        if len(same):
            apart = np.linalg.norm(place[same] - row[FOUND_X : FOUND_X + 3], axis=1)
            p = named[0] if len(named) else same[apart.argmin()]
            wanted[p] = min(wanted[p], row[FOUND_GAP])
    assert np.count_nonzero(wanted) > 0
    asked = points.pairs, points.image, points.feature, np.ascontiguousarray(place)
    np.testing.assert_array_equal(present_gaps(bodies, asked), wanted)
