"""Packings of grains of other shapes: mirrored shapes look as they do in a mirror, chiral ones are refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.shaped import periodic, pressed, thrown
from support.shaped_frames import FLAT, SOLID

from rigidgrains import Packing, PackingError, Simulation
from rigidgrains.certificate import check
from rigidgrains.packing.reflect import reflections
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.poses import matrices


@cache
def crowd(dimension: int, kind: str) -> Packing:
    bodies = {
        "thrown": lambda: thrown(dimension, 12),
        "cell": lambda: periodic(dimension),
        "piston": lambda: pressed(2),
    }
    simulation = Simulation(bodies[kind](), dt=0.01)
    for _ in range(40):
        simulation.step()
        if simulation.steps > 2 and simulation.contacts.force.any():
            break
    return Packing(simulation)


def corners(packing: Packing) -> list[np.ndarray]:
    """Of each grain, in space, in an order of their own."""
    frame, out = packing.frame, []
    turned = matrices(frame.orientation)
    for i in range(len(frame)):
        every = np.concatenate([part.vertices for part in frame.catalogue.shapes[frame.shape[i]].parts])
        points = frame.position[i] + frame.radius[i] * every @ turned[i].T
        out.append(points[np.lexsort(np.round(points, 7).T)])
    return out


def exact(packing: Packing) -> list[str]:
    return [one.name for one in check(packing.frame).checks if not one.passed and one.kind == "exact"]


FLAT_KINDS = [name for name in FLAT if name not in ("corner", "row")]


@pytest.mark.parametrize("axis", [0, 1])
def test_every_shape_of_a_plane_is_turned_to_its_mirror_image(axis):
    found = reflections(Catalogue.of({name: FLAT[name] for name in FLAT_KINDS}), range(len(FLAT_KINDS)), axis)
    assert found.keys() == set(range(len(FLAT_KINDS)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_solid_is_turned_to_its_mirror_image(axis):
    assert len(reflections(Catalogue.of(SOLID), range(len(SOLID)), axis)) == len(SOLID)


def test_chiral_shapes_are_refused():
    z = build.vertices([[0, 0], [2, 0], [1.2, 0.7]])
    with pytest.raises(PackingError, match="shape 'z' is chiral: its mirror image is no turned copy of it; take out"):
        reflections(Catalogue.of({"z": z}), [0], 0)
    helix = build.clump([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], 0.6)
    with pytest.raises(PackingError, match="shape 'helix' is chiral"):
        reflections(Catalogue.of({"helix": helix}), [0], 2)
    assert reflections(Catalogue.of({"L": build.clump([[0, 0, 0], [1, 0, 0], [1, 1, 0]], 0.6)}), [0], 2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_mirrored_crowd(dimension):
    packing = crowd(dimension, "thrown")
    clumps = packing._sample.catalogue.names.index("clump")
    if dimension == 2:  # three unequal disks are chiral
        with pytest.raises(PackingError, match="'clump' is chiral"):
            packing.mirror("x")
        packing = packing.select(packing.frame.shape != clumps)
    seen = packing.mirror("y")
    assert seen.notes[-1] == "forces are dropped: contact points of shapes are named by their corners"
    assert not exact(seen)
    for here, there in zip(corners(packing), corners(seen)):
        points = here * [1.0, -1.0, 1.0]
        assert np.allclose(points[np.lexsort(np.round(points, 7).T)], there, atol=1e-6)
    assert np.allclose(seen.mirror("y").frame.position, packing.frame.position, atol=0)
    for here, there in zip(corners(packing), corners(seen.mirror("y"))):
        assert np.allclose(here, there, atol=1e-9)


@pytest.mark.parametrize(("dimension", "kind"), [(2, "thrown"), (3, "thrown"), (2, "cell"), (3, "cell"), (2, "piston")])
def test_forces_stay(dimension, kind):
    packing = crowd(dimension, kind)
    assert packing.frame.contacts.force.any()
    names = set(exact(packing))
    assert set(exact(packing.scale(0.01))) <= names
    assert set(exact(packing.move([3.0, 1.0, -2.0][:dimension]))) <= names
    middle = float(np.median(packing.frame.position[:, 0]))
    part = packing.cut(([None] * dimension, [middle, *[None] * (dimension - 1)])) if kind != "piston" else packing
    assert part.whole
    assert set(exact(part)) <= names
    if kind == "cell":
        larger = packing.replicate(*[2] * dimension)
        assert set(exact(larger)) <= names
        assert len(larger.frame.contacts) == 2**dimension * len(packing.frame.contacts)
    if kind == "piston":
        bare = packing.select([0])
        assert not exact(bare)
        assert bare.frame.walls[-1].load != packing.frame.walls[-1].load  # the block that is gone had carried it


def test_shapes_and_disks_glued():
    packing = crowd(2, "thrown").without_forces()
    other = Packing(Simulation(thrown(2, 5, seed=3), dt=0.01))
    both = packing.glue(other, side="right")
    assert len(both) == 17
    assert both.frame.catalogue.names == packing.frame.catalogue.names  # the same shapes are one
    for k, there in enumerate(corners(both)[12:]):
        assert len(there) == len(corners(other)[k])
    assert not exact(both)
