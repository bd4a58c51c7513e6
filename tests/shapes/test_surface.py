"""Outlines and surfaces of shapes: closed, and around exactly the area or volume of the shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.shaped_frames import FLAT, SOLID

from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.outline import outline, polygons
from rigidgrains.shapes.poses import bounds, extents, matrices
from rigidgrains.shapes.surface import surface


def area(loops) -> float:
    """Counterclockwise counts positive."""
    return sum(0.5 * float(np.linalg.det(np.stack([a, b]))) for p in loops for a, b in zip(p, np.roll(p, -1, axis=0)))


@pytest.mark.parametrize("name", FLAT)
def test_an_outline_is_closed_and_holds_the_area(name):
    shape = FLAT[name]
    for loop in outline(shape):
        for piece, after in zip(loop, [*loop[1:], loop[0]]):
            assert piece.end == pytest.approx(after.start, abs=1e-6)
    assert area(polygons(shape, fine=1000)) == pytest.approx(shape.volume, rel=1e-5)
    rough = shape.volume - area(polygons(shape, fine=20))
    fine = shape.volume - area(polygons(shape, fine=40))
    assert fine == pytest.approx(rough / 4.0, rel=0.3, abs=1e-9)  # corners on the outline: of second order


def test_parts_have_one_outline_and_holes_run_the_other_way():
    assert [len(outline(FLAT[name])) for name in ("dimer", "ring", "cross", "corner", "row")] == [1, 2, 1, 1, 1]
    signs = sorted(np.sign(area([loop])) for loop in polygons(FLAT["ring"]))
    assert signs == [-1.0, 1.0]
    hidden = build.clump([[0.0, 0.0], [0.1, 0.0]], [1.0, 0.5])
    assert area(polygons(hidden, fine=1000)) == pytest.approx(math.pi, rel=1e-5)


@pytest.mark.parametrize("name", [name for name in SOLID if name != "dimer"])
def test_a_surface_is_closed_looks_outwards_and_holds_the_volume(name):
    shape = SOLID[name]
    whole = surface(shape).welded()
    edges = [tuple(pair) for t in whole.triangles.tolist() for pair in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    a, b, c = (whole.points[whole.triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    mesh = surface(shape)
    flat = np.cross(*(mesh.points[mesh.triangles[:, k]] - mesh.points[mesh.triangles[:, 0]] for k in (1, 2)))
    assert ((flat * mesh.normals[mesh.triangles].mean(axis=1)).sum(axis=1) > 0.0).all()
    assert (((a + b + c) * across).sum(axis=1) > 0.0).all()  # convex around its centre
    missing = [1.0 - surface(shape, fine=fine).volume / shape.volume for fine in (24, 48, 96)]
    if name == "sharp":
        assert missing == pytest.approx([0.0] * 3, abs=1e-12)
    else:
        assert 0.0 < missing[2] < 0.004
        assert missing[1] / missing[2] == pytest.approx(4.0, rel=0.12)  # whole rows: not exactly


def test_points_of_a_surface_lie_on_the_rounded_cube():
    """All points within r of the cube: the distance from the core is r everywhere."""
    shape = build.box([2.0, 2.0, 2.0], rounding=0.3, size="as drawn")
    mesh = surface(shape)
    beyond = np.maximum(np.abs(mesh.points) - 1.0, 0.0)
    assert np.linalg.norm(beyond, axis=1) == pytest.approx(0.3, abs=1e-12)
    assert beyond / 0.3 * np.sign(mesh.points) == pytest.approx(mesh.normals, abs=1e-12)


def test_extents_are_those_of_the_surface_however_grains_are_turned():
    rng = np.random.default_rng(1)
    catalogue, n = Catalogue.of(SOLID), 40
    shape, radius = rng.integers(0, len(SOLID), n), rng.uniform(0.5, 2.0, n)
    turn = rng.normal(size=(n, 4))
    below, above = extents(catalogue, shape, radius, turn)
    fine = {k: surface(catalogue.shapes[k], fine=200).points for k in np.unique(shape)}
    for i in range(n):
        points = radius[i] * fine[shape[i]] @ matrices(turn[i : i + 1])[0].T
        assert below[i] == pytest.approx(points.min(axis=0), abs=2e-3 * radius[i])
        assert above[i] == pytest.approx(points.max(axis=0), abs=2e-3 * radius[i])
        farthest = float(np.linalg.norm(points, axis=1).max())
        assert bounds(catalogue, shape, radius)[i] == pytest.approx(farthest, rel=2e-3)


def test_round_grains_reach_as_far_as_their_radius():
    radius = np.array([1.0, 2.0])
    below, above = extents(None, None, radius, np.zeros(2))
    assert np.array_equal(above, np.repeat(radius[:, None], 3, axis=1))
    assert np.array_equal(below, -above)


def test_matrices_turn_as_angles_and_quaternions_say():
    half = 0.35
    flat = matrices(np.array([2.0 * half]))[0]
    solid = matrices(3.0 * np.array([[math.cos(half), 0.0, 0.0, math.sin(half)]]))[0]
    assert flat == pytest.approx(solid, abs=1e-15)
    assert flat @ [1.0, 0.0, 0.0] == pytest.approx([math.cos(0.7), math.sin(0.7), 0.0])
    q = np.array([[0.5, 0.5, 0.5, 0.5]])  # a third of a turn about (1, 1, 1): x to y to z to x
    assert matrices(q)[0] @ np.eye(3)[0] == pytest.approx(np.eye(3)[1])
