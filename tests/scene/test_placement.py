"""Placement: no overlap whatever the method, walls and earlier groups honoured, the same bits for the same seed."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pytest
from scipy.spatial import cKDTree

from rigidgrains.model.bodies import Bodies
from rigidgrains.scene import Scene, SceneError


def smallest_gap(bodies: Bodies) -> float:
    """Gap of the closest pair over the smallest radius, by a k-d tree."""
    pairs = cKDTree(bodies.position).query_pairs(2.0 * bodies.radius.max(), output_type="ndarray")
    i, j = pairs.T
    gaps = np.linalg.norm(bodies.position[i] - bodies.position[j], axis=1) - bodies.radius[i] - bodies.radius[j]
    return float(gaps.min(initial=np.inf) / bodies.radius.min())


def wall_gap(bodies: Bodies) -> float:
    grains = np.arange(bodies.count, dtype=np.int32)
    return min(float(wall.shape.gaps(grains, bodies.position, bodies.radius)[0].min()) for wall in bodies.walls)


@pytest.mark.parametrize("placement", ["lattice", "random", "dense", None])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [0.3, (0.1, 1.0)])
def test_placed_grains_never_overlap_and_stay_in_the_region(placement, dimension, radius):
    scene = Scene(dimension=dimension)
    edge, lower = 60.0 if dimension == 2 else 20.0, np.array([-7.0, 11.0, 40.0])[:dimension]
    scene.add_grains(count=600, radius=radius, region=[lower, lower + edge], placement=placement)
    bodies = scene.build()
    assert bodies.count == 600
    assert smallest_gap(bodies) >= -1e-12
    inside = bodies.position[:, :dimension] - lower
    assert (inside - bodies.radius[:, None] >= -1e-12).all()
    assert (inside + bodies.radius[:, None] <= edge + 1e-12).all()
    assert (bodies.position[:, dimension:] == 0.0).all()


@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_a_full_lattice_with_any_jitter_has_no_overlap(jitter):
    scene = Scene(dimension=2)
    scene.add_grains(count=100, radius=0.5, region=[[0, 0], [10.001, 10.001]], placement="lattice", jitter=jitter)
    assert smallest_gap(scene.build()) >= -1e-12


def test_a_lattice_without_jitter_has_the_largest_pitch():
    scene = Scene(dimension=2)
    scene.add_grains(count=9, radius=0.5, region=[[0, 0], [10, 10]], jitter=0)
    x = np.unique(scene.build().position[:, 0].round(6))
    assert x == pytest.approx([0.5, 5.0, 9.5])


def test_a_lattice_is_filled_from_the_bottom():
    scene = Scene(dimension=2)
    scene.add_grains(count=5, radius=0.5, region=[[0, 0], [10, 10]], jitter=0)
    bottom = scene.build().position[:, 1].round(6)
    assert (bottom == 0.5).sum() == 3
    assert (bottom == 5.0).sum() == 2


@pytest.mark.parametrize("placement", ["lattice", "random", "dense"])
def test_placement_keeps_inside_a_drum(placement):
    scene = Scene(dimension=2)
    scene.add_cylinder("drum", point=(0, 0), radius=1)
    scene.add_grains(count=120, radius=(0.02, 0.05), region=[[-1, -1], [1, 1]], placement=placement)
    bodies = scene.build()
    assert (np.linalg.norm(bodies.position, axis=1) + bodies.radius <= 1.0 + 1e-12).all()
    assert smallest_gap(bodies) >= -1e-12


@pytest.mark.parametrize("placement", ["lattice", "random", "dense"])
def test_placement_avoids_walls_and_earlier_groups(placement):
    scene = Scene(dimension=3)
    scene.add_plane("slope", point=(0, 0, 0.5), normal=(1, 0, 2))
    scene.add_cylinder("rod", point=(1, 1, 1), axis=(0, 1, 0), radius=0.3, side="outside")
    scene.add_plane("plate", point=(1.5, 1, 1.5), normal=(0, 0, 1), size=(0.5, 0.5), along=(1, 0, 0))
    scene.add_grains(positions=[[0.3, 1.7, 1.7]], radius=0.25)
    scene.add_grains(count=300, radius=(0.03, 0.06), region=[[0, 0, 0], [2, 2, 2]], placement=placement)
    bodies = scene.build()
    assert smallest_gap(bodies) >= -1e-12
    assert wall_gap(bodies) >= -1e-12


def test_the_example_of_the_front_page_is_packed_densely():
    scene = Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
    scene.add_grains(count=1000, radius=(0.8e-3, 1.6e-3), density=2500, region=((0, 0), (0.06, 0.10)), seed=1)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_plane("left", point=(0, 0), normal=(1, 0), friction=0)
    scene.add_plane("right", point=(0.06, 0), normal=(-1, 0), friction=0)
    scene.add_piston("lid", point=(0, 0.10), normal=(0, -1), mass=1.0, load=20.0)
    bodies = scene.build()
    assert bodies.count == 1000
    assert smallest_gap(bodies) >= 0.0
    assert wall_gap(bodies) >= 0.0


@pytest.mark.parametrize("placement", ["lattice", "random", "dense"])
def test_the_same_seed_gives_the_same_bits_and_another_seed_another_packing(placement):
    def position(seed):
        scene = Scene(dimension=2)
        scene.add_grains(count=50, radius=(0.1, 0.3), region=[[0, 0], [10, 10]], placement=placement)
        return scene.build(seed=seed).position

    assert np.array_equal(position(7), position(7))
    assert not np.array_equal(position(7), position(8))


def test_a_groups_own_seed_wins_and_groups_do_not_disturb_each_other():
    def first_group(run_seed, own, more):
        scene = Scene(dimension=2)
        scene.add_grains(name="a", count=20, radius=(0.1, 0.3), region=[[0, 0], [5, 5]], **own)
        if more:
            scene.add_grains(count=20, radius=(0.1, 0.3), region=[[5, 5], [10, 10]])
        bodies = scene.build(seed=run_seed)
        return bodies.position[bodies.groups["a"]]

    assert np.array_equal(first_group(1, {"seed": 3}, False), first_group(2, {"seed": 3}, True))
    assert np.array_equal(first_group(1, {}, False), first_group(1, {}, True))


def test_neighbours_in_number_are_neighbours_in_space():
    scene = Scene(dimension=3)
    scene.add_grains(count=4096, radius=0.4, region=[[0, 0, 0], [16, 16, 16]], jitter=0)
    step = np.linalg.norm(np.diff(scene.build().position, axis=0), axis=1)
    assert np.median(step) < 1.5  # rows of a plain lattice would end in jumps of 16; a shuffle in a median near 10


def test_values_per_grain_stay_with_their_grain():
    scene = Scene(dimension=2)
    radii = np.linspace(0.1, 0.3, 30)
    velocity = np.column_stack([radii, -radii])
    scene.add_grains(count=30, radii=radii, velocity=velocity, spin=10 * radii, region=[[0, 0], [10, 10]])
    bodies = scene.build()
    assert sorted(bodies.radius) == pytest.approx(radii)
    assert bodies.velocity[:, 0] == pytest.approx(bodies.radius)
    assert bodies.spin[:, 2] == pytest.approx(10 * bodies.radius)


def test_a_full_random_region_says_how_far_it_came():
    """The packing fraction that was reached: the area of the grains that found a place over that of the region."""
    scene = Scene(dimension=2)
    scene.add_grains(count=95, radius=0.5, region=[[-100, 40], [-90, 50]], placement="random")
    with pytest.raises(SceneError, match=r"grains\[0\]\.count: .*lattice") as told:
        scene.build()
    done, reached = re.search(r"only (\d+) of 95 .*packing fraction (0\.[345]\d+) reached", str(told.value)).groups()
    assert float(reached) == pytest.approx(int(done) * math.pi * 0.5**2 / 100.0, abs=5.1e-4)


def test_a_single_row_of_a_lattice_lies_in_the_middle():
    scene = Scene(dimension=2)
    scene.add_grains(count=5, radius=0.5, region=[[0, 3], [10, 4.5]], placement="lattice", jitter=0)
    np.testing.assert_allclose(scene.build().position, [[x, 3.75, 0.0] for x in (0.5, 2.75, 5.0, 7.25, 9.5)])


def test_too_few_lattice_sites_are_counted():
    scene = Scene(dimension=2)
    scene.add_plane("wall", point=(5.1, 0), normal=(-1, 0))
    scene.add_grains(count=90, radius=0.5, region=[[0, 0], [10.001, 10.001]], placement="lattice")
    with pytest.raises(SceneError, match=r"only 50 lattice sites are free.*placement = 'dense'"):
        scene.build()


def test_an_impossible_dense_packing_is_refused():
    scene = Scene(dimension=2)
    scene.add_grains(count=120, radius=0.5, region=[[0, 0], [10, 10]], placement="dense")
    with pytest.raises(SceneError, match=r"no placement without overlap found at packing fraction 0\.942"):
        scene.build()


def test_a_grain_wider_than_the_region_is_refused():
    scene = Scene(dimension=2)
    scene.add_grains(count=1, radius=0.3, region=[[0, 0], [10, 0.5]])
    with pytest.raises(SceneError, match=r"grains\[0\]\.region: the largest grain, of radius 0\.3 m, does not fit"):
        scene.build()


@pytest.mark.parametrize(("count", "fits"), [(10**12, "127"), (128, "127")])
def test_more_grains_than_the_volume_holds_fail_at_once(count, fits):
    scene = Scene(dimension=2)
    start = time.perf_counter()
    with pytest.raises(SceneError, match=rf"only {fits} such grains"):  # 100 / (pi / 4) = 127.3
        scene.add_grains(count=count, radius=0.5, region=[[0, 0], [10, 10]])
    assert time.perf_counter() - start < 0.5


def test_a_count_beyond_any_computer_fails_at_once():
    with pytest.raises(SceneError, match="take fewer"):
        Scene(dimension=2).add_grains(count=10**12, radius=1e-9, region=[[0, 0], [10, 10]])


def test_a_million_grains_on_a_lattice_take_seconds():
    scene = Scene(dimension=3)
    scene.add_box(lower=[0, 0, 0], upper=[105, 105, 105])
    scene.add_grains(count=1_000_000, radius=(0.25, 0.5), region=[[0, 0, 0], [105, 105, 105]])
    start = time.perf_counter()
    bodies = scene.build()
    assert bodies.count == 1_000_000
    assert time.perf_counter() - start < 15.0


@pytest.mark.parametrize("placement", ["lattice", "random", "dense"])
def test_who_fills_the_region_is_named(placement):
    """100 disks of radius 0.5 fill pi/4 of a region of 10 x 10 beside another one."""
    scene = Scene(dimension=2)
    scene.add_grains(name="far", count=5, radius=0.5, region=[[20, 20], [30, 30]])
    scene.add_grains(name="first", count=100, radius=0.5, region=[[0, 0], [10.001, 10.001]], placement="lattice")
    scene.add_grains(name="second", count=40, radius=0.5, region=[[0, 0], [10.001, 10.0]], placement=placement)
    with pytest.raises(SceneError, match=r"grains\[2\]\.count.*a region of its own for each group") as error:
        scene.build()
    assert "group 'first' fills 79% of the region; take a larger region, fewer or smaller grains" in str(error.value)
    assert "far" not in str(error.value)
    if placement == "dense":
        assert "placement = 'random' for all groups in it if they fill less than half" in str(error.value)


def test_random_placement_of_two_groups_works_as_the_message_says():
    """Together they fill less than half of the region: 2 * 30 * pi/4 / 100 = 0.47."""
    scene = Scene(dimension=2)
    for name in ("first", "second"):
        scene.add_grains(name=name, count=30, radius=0.5, region=[[0, 0], [10, 10]], placement="random")
    assert scene.build().count == 60
