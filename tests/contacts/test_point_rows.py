"""Contact rows of grains of any shape: where bodies are touched, and how far a side that turns lets them sink in."""

from __future__ import annotations

import numpy as np
import pytest
from support.shaped import cube, drum, shaped, thrown

from rigidgrains.contacts.contacts import removed_part
from rigidgrains.contacts.shaped import ShapedContacts
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.detect.points import find_candidates
from rigidgrains.model.columns import S, V


def gathered(bodies, dt, gap="g_pos", slack=0.0, coloured=False):
    lists, contacts = Neighbours(), ShapedContacts()
    lists.refresh(bodies, dt)
    points = find_candidates(bodies, lists, dt, coloured=coloured)
    contacts.gather(bodies, lists, points, dt, gap=gap, slack=slack)
    return contacts, points


@pytest.mark.parametrize("dimension", [2, 3])
def test_both_bodies_are_touched_at_their_own_surface(dimension):
    """From the one to the other it is the gap along n; friction is that of the two materials."""
    bodies = thrown(dimension, 9, spread=1.7)
    bodies.material[:] = np.arange(9) % 2
    bodies.friction = np.array([[0.1, 0.2], [0.2, 0.3]])
    contacts, points = gathered(bodies, 0.02)
    i, j = contacts.pairs.T
    assert len(i) > 5
    middle = points.found[:, :3]
    np.testing.assert_allclose(contacts.lever, middle - 0.5 * contacts.gap[:, None] * contacts.normal, atol=1e-14)
    np.testing.assert_array_equal(contacts.friction, bodies.friction[i % 2, j % 2])
    matrix = points.matrices[j]
    other = bodies.position[i] + contacts.lever + contacts.gap[:, None] * contacts.normal - bodies.position[j]
    columns = slice(2, 4) if dimension == 2 else slice(9, 18)
    wanted = matrix[:, 2, 2, None] * np.stack([-other[:, 1], other[:, 0]], axis=1)
    if dimension == 3:
        wanted = np.cross(matrix.transpose(0, 2, 1), other[:, None, :]).transpose(0, 2, 1).reshape(-1, 9)
    np.testing.assert_allclose(contacts.levers[:, columns], wanted, atol=1e-13)


@pytest.mark.parametrize("gap", ["g_pos", "g", 0.3])
def test_a_part_of_overlaps_beyond_the_slack_is_removed(gap):
    bodies = thrown(2, 9, spread=1.8)
    bodies.motion[:9, S] = 0.0  # sides do not turn
    slack = 0.02
    contacts, _ = gathered(bodies, 0.1, gap, slack)
    g, left = contacts.gap, slack * bodies.mean_radius
    assert (g < -left).any()
    assert (g > 0.0).any()
    wanted = np.where(g > 0.0, g, removed_part(gap) * np.minimum(g + left, 0.0))
    np.testing.assert_allclose(contacts.to_close, wanted, atol=1e-15)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("turning", [0, 1])
@pytest.mark.parametrize("slide", [3.0, -3.0])
def test_a_point_that_glides_along_a_side_that_turns_sinks_in(dimension, turning, slide):
    """By (w x n) . V dt^2, where that closes the gap: the side turns into its way."""
    dt, spin = 1e-3, 2.0
    tip = np.array([0.3, 0.5 + 0.5 * np.sqrt(2.0), 0.0])  # of a block that stands on its edge, on another one
    tilted = [0.0, np.pi / 4] if dimension == 2 else [[1, 0, 0, 0], [np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)]]
    where, order = np.array([np.zeros(3), tip]), [0, 1] if turning == 0 else [1, 0]
    bodies = shaped(
        where[order], {"block": cube(dimension)}, dimension=dimension, orientation=np.array(tilted)[order],
        spin=np.array([[0, 0, spin], [0, 0, 0]])[order], velocity=np.array([[0, 0, 0], [slide, 0, 0]])[order],
    )  # fmt: skip
    contacts, _ = gathered(bodies, dt)
    assert contacts.count == (1 if dimension == 2 else 2)
    along = slide + 0.5 * spin  # the edge, relative to the face there
    sink = contacts.to_close - np.maximum(contacts.gap, 0.0)
    np.testing.assert_allclose(sink, -(dt**2) * spin * max(along, 0.0), rtol=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_at_a_turning_wall_have_elements_of_their_own(dimension):
    bodies = drum(dimension)
    bodies.motion[:2, V] = [0.0, -3.0, 0.0]  # so fast that all corners below are within reach
    contacts, points = gathered(bodies, 0.1, coloured=True)
    rows = contacts.wall_rows[0]
    assert rows.stop - rows.start > 2
    body = contacts.pairs[rows, 1]
    np.testing.assert_array_equal(body, bodies.rows + np.arange(rows.stop - rows.start))
    at = (
        bodies.position[contacts.pairs[rows, 0]]
        + contacts.lever[rows]
        + contacts.gap[rows, None] * contacts.normal[rows]
    )
    np.testing.assert_allclose(bodies.motion[body, :3], np.cross([0.0, 0.0, 0.7], at), atol=1e-13)
    assert sorted(contacts.feature[rows]) == sorted(points.walls.feature)
