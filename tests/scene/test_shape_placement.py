"""Grains of other shapes are placed without overlap; overlaps at the start are found by the true shapes.

Gaps are computed here by other means than the package's: the distance of convex hulls as a linear program.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import cKDTree

from rigidgrains.model.bodies import Bodies
from rigidgrains.model.shapes import Plate
from rigidgrains.model.walls import Wall
from rigidgrains.scene import Scene, SceneError
from rigidgrains.scene.forms import Forms

SHAPES = {
    2: {
        "triangle": {"polygon": 3},
        "pentagon": {"polygon": 5, "rounding": 0.05},
        "rod": {"capsule": 5},
        "clump": {"centres": [[0, 0], [1, 0], [0, 1]], "radii": 0.5},
    },
    3: {"cube": {"solid": "cube", "rounding": 0.02}, "rod": {"capsule": 3}},
}


def parts_of(bodies: Bodies, i: int) -> list[tuple[np.ndarray, float]]:
    """Vertices in space and rounding of each part of a grain."""
    forms = Forms(bodies.catalogue, bodies.shape, bodies.radius, bodies.orientation)
    turn, r = forms.rotations()[i], bodies.radius[i]
    shape = bodies.catalogue.shapes[bodies.shape[i]]
    return [(bodies.position[i] + r * part.vertices @ turn.T, r * part.rounding) for part in shape.parts]


def can_part(a: np.ndarray, b: np.ndarray, apart: float) -> bool:
    """Whether some plane leaves two sets of points at least about `apart` from each other, in the infinity norm.

    Largest s with n.b - n.a >= s and |n|_1 <= 1; the distance is between s and s times sqrt(3).
    """
    rows = [[*(p - q), *(q - p), 1.0] for p in a for q in b]
    found = linprog(
        [0.0] * 6 + [-1.0], A_ub=[*rows, [1.0] * 6 + [0.0]], b_ub=[0.0] * len(rows) + [1.0],
        bounds=[(0, None)] * 6 + [(None, None)],
    )  # fmt: skip
    return bool(-found.fun >= max(apart, 1e-6))  # n = 0 has s = 0


def are_apart(bodies: Bodies, cells: np.ndarray | None = None) -> bool:
    """No cores overlap, for pairs whose bounding spheres do; those of points and segments have their roundings."""
    pairs = cKDTree(bodies.position).query_pairs(2.0 * bodies.bound.max())
    for i, j in pairs:
        for a, r in parts_of(bodies, i):
            for b, s in parts_of(bodies, j):
                if len(a) <= 2 and len(b) <= 2:
                    if distance_of_segments(a, b) < (r + s) * (1.0 - 1e-9):
                        return False
                elif not can_part(a, b, (r + s) / math.sqrt(3.0) - 1e-9):
                    return False
    return True


def distance_of_segments(a: np.ndarray, b: np.ndarray) -> float:
    """By brute force over one of them, exact along the other, refined about the best."""
    low, high = 0.0, 1.0
    for _ in range(12):
        shares = np.linspace(low, high, 41)
        points = a[0] + shares[:, None] * (a[-1] - a[0])
        along = b[-1] - b[0]
        t = np.clip((points - b[0]) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
        far = np.linalg.norm(points - b[0] - t[:, None] * along, axis=1)
        best, step = shares[np.argmin(far)], (high - low) / 40
        low, high = max(0.0, best - step), min(1.0, best + step)
    return float(far.min())


def test_the_judge_can_tell():
    """Bricks that miss each other by 1e-3, and that overlap by as much; crossing rods."""
    for gap, apart in ((1e-3, True), (-1e-3, False)):
        scene = Scene(shape=[{"name": "brick", "box": [2, 1]}])
        scene.add_grains(positions=[[0, 0]], shape="brick", size="as drawn")
        bodies = scene.build()
        a = parts_of(bodies, 0)[0][0]
        assert can_part(a, a + np.array([2 + gap, 0, 0]), 0.0) is apart
    cross = np.array([[-1.0, 0, 0], [1, 0, 0]]), np.array([[0.0, -1, 0.25], [0, 1, 0.25]])
    assert distance_of_segments(*cross) == pytest.approx(0.25)


@pytest.mark.parametrize("placement", ["lattice", "random", "dense", None])
@pytest.mark.parametrize(("dimension", "name"), [(d, name) for d, named in SHAPES.items() for name in named])
def test_placed_grains_never_overlap_and_stay_in_the_region(dimension, name, placement):
    dilute = placement in ("lattice", "random")
    count, fraction = 40, {2: 0.08 if dilute else 0.35, 3: 0.02 if dilute else 0.2}[dimension]
    radius = np.linspace(0.8, 1.2, count)
    volume = (math.pi * radius**2 if dimension == 2 else 4 / 3 * math.pi * radius**3).sum()
    edge, lower = (volume / fraction) ** (1.0 / dimension), np.array([-7.0, 11.0, 40.0])[:dimension]
    scene = Scene(dimension=dimension, shape=[{"name": name, **SHAPES[dimension][name]}])
    scene.add_grains(count=count, radii=radius, region=[lower, lower + edge], placement=placement, shape=name)
    bodies = scene.build()
    assert are_apart(bodies)
    for i in range(count):
        for points, rounding in parts_of(bodies, i):
            inside = points[:, :dimension] - lower
            assert inside.min() >= rounding - 1e-9
            assert inside.max() <= edge - rounding + 1e-9
    assert (bodies.position[:, dimension:] == 0.0).all()
    assert bodies.mass == pytest.approx(2500.0 * volume * bodies.radius**dimension / (radius**dimension).sum())


def test_the_judge_finds_what_bounding_spheres_of_no_size_leave():
    """Grains at random points, unasked: some of them overlap."""
    rng = np.random.default_rng(0)
    scene = Scene(shape=[{"name": "rod", "capsule": 5}])
    scene.add_grains(count=40, radius=1, region=[[0, 0], [40, 40]], shape="rod")
    bodies = scene.build()
    assert are_apart(bodies)
    bodies.position[:, :2] = rng.uniform(0, 20, (40, 2))
    assert not are_apart(bodies)


def test_later_groups_and_walls_are_honoured():
    """Rods, then pentagons and disks among them, in a drum with a floor."""
    scene = Scene(shape=[{"name": "rod", "capsule": 4}, {"name": "pentagon", "polygon": 5}])
    scene.add_cylinder("drum", point=(0, 0), radius=12)
    scene.add_plane("floor", point=(0, -9), normal=(0, 1))
    region = [[-12, -12], [12, 12]]
    scene.add_grains(count=20, radius=1, region=region, shape="rod", placement="dense")
    scene.add_grains(count=20, radius=0.7, region=region, shape={"pentagon": 1, "disk": 1}, placement="dense")
    scene.add_grains(count=10, radius=0.5, region=region)
    bodies = scene.build()
    assert are_apart(bodies)
    for i in range(bodies.count):
        for points, rounding in parts_of(bodies, i):
            assert np.linalg.norm(points, axis=1).max() <= 12 - rounding + 1e-8
            assert points[:, 1].min() >= -9 + rounding - 1e-8


def test_grains_in_a_periodic_cell_do_not_meet_their_images():
    scene = Scene(shape=[{"name": "rod", "capsule": 4}], cell={"lower": [0, 0], "upper": [14, 14]})
    scene.add_grains(count=25, radius=1, shape="rod", placement="dense")
    bodies = scene.build()
    assert ((bodies.position[:, :2] >= 0.0) & (bodies.position[:, :2] < 14.0)).all()
    shifts = [[x, y, 0.0] for x in (-14, 0, 14) for y in (-14, 0, 14)]
    many = Bodies.assemble(
        dimension=2, position=np.vstack([bodies.position + s for s in shifts]), radius=np.tile(bodies.radius, 9),
        density=1.0, catalogue=bodies.catalogue, shape=np.tile(bodies.shape, 9),
        orientation=np.tile(bodies.orientation, 9),
    )  # fmt: skip
    assert are_apart(many)


def test_dense_rods_are_denser_than_their_bounding_circles():
    """Rods of 5:1 at a packing fraction of 0.5, where circles around them would have 1.9."""
    scene = Scene(shape=[{"name": "rod", "capsule": 5}])
    edge = math.sqrt(200 * math.pi / 0.5)
    scene.add_grains(count=200, radius=1, region=[[0, 0], [edge, edge]], shape="rod")
    bodies = scene.build()
    assert (math.pi * bodies.bound**2).sum() / edge**2 > 1.8


def test_too_many_are_told_with_what_helps():
    scene = Scene(shape=[{"name": "rod", "capsule": 20}])
    edge = math.sqrt(30 * math.pi / 0.8)
    scene.add_grains(count=30, radius=1, region=[[0, 0], [edge, edge]], shape="rod")
    with pytest.raises(SceneError, match=r"grains\[0\].count: no placement .* fraction 0.800; take a larger region"):
        scene.build()


@pytest.mark.parametrize(("placement", "message"), [("lattice", "in all directions"), ("dense", "as it is turned")])
def test_a_grain_longer_than_the_region_is_told(placement, message):
    scene = Scene(shape=[{"name": "rod", "capsule": 20}])
    scene.add_grains(count=1, radius=1, region=[[0, 0], [9, 3]], shape="rod", angles=1.5, placement=placement)
    with pytest.raises(SceneError, match=message):
        scene.build()


def test_a_grain_that_just_fits_lies_between_walls():
    """A rod along x in a slit that its bounding circle does not fit into."""
    scene = Scene(shape=[{"name": "rod", "box": [4, 1]}])
    scene.add_box(lower=[0, 0], upper=[4, 1])
    scene.add_grains(count=1, size="as drawn", region=[[0, 0], [4, 1]], shape="rod", angles=0)
    assert scene.build().position[0] == pytest.approx([2, 0.5, 0])


def bricks(gap: float, **more):
    """Two bricks of 2 x 1 side by side, and one on top."""
    scene = Scene(shape=[{"name": "brick", "box": [2, 1]}])
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_grains(positions=[[0, 0.5], [2 + gap, 0.5], [1, 1.5]], shape="brick", size="as drawn", **more)
    return scene


def test_bricks_that_touch_are_no_mistake():
    """Their bounding circles overlap deeply."""
    assert bricks(0.0).build().count == 3
    assert bricks(-1e-8).build().count == 3


def test_bricks_that_overlap_are_told():
    with pytest.raises(SceneError) as caught:
        bricks(-0.01).build()
    (problem,) = caught.value.problems
    assert problem.place == "grains[0].positions[0]"
    share = 0.01 / math.sqrt(2 / math.pi)
    assert f"grains[0].positions[1] overlap by {share:.2g} of the smaller radius; move them 0.01 m apart" in str(
        problem
    )


def test_a_brick_in_the_floor_is_told_by_its_corner():
    """Turned by 45 degrees a corner reaches 3/(2 sqrt 2) below the centre."""
    with pytest.raises(SceneError) as caught:
        bricks(5.0, angles=[math.pi / 4, 0, 0]).build()
    assert any("overlaps wall 'floor'" in str(p) and "move it by 0.561 m" in str(p) for p in caught.value.problems)


@pytest.mark.parametrize(("x", "fine"), [(0.0, True), (0.2, False)])
def test_a_drum_is_met_by_corners(x, fine):
    """A square of side 2 touches a drum of radius sqrt 2 with all four corners."""
    scene = Scene(shape=[{"name": "square", "box": [2, 2]}])
    scene.add_cylinder("drum", point=(0, 0), radius=math.sqrt(2))
    scene.add_grains(positions=[[x, 0]], shape="square", size="as drawn")
    if fine:
        assert scene.build().count == 1
    else:
        with pytest.raises(SceneError, match="overlaps wall 'drum'"):
            scene.build()


@pytest.mark.parametrize(("y", "fine"), [(1.05, True), (0.5, False), (-0.6, True)])
def test_a_plate_is_met_by_true_shapes(y, fine):
    """A brick flat above a plate, across it, and below."""
    scene = Scene(shape=[{"name": "brick", "box": [2, 1]}])
    scene.add_grains(positions=[[0, y]], shape="brick", size="as drawn")
    bodies = scene.build()
    forms = Forms(bodies.catalogue, bodies.shape, bodies.radius, bodies.orientation)
    shelf = Wall("shelf", Plate(np.array([0.0, 0.5, 0.0]), np.array([0.0, 1, 0]), np.array([1.0, 0, 0]), (2.0, 1.0)))
    assert (forms.wall_gaps(shelf, bodies.position)[0][0] >= 0.0) == fine
    gap, normal = (found[0] for found in forms.wall_gaps(shelf, bodies.position, 1.0))
    distance = 0.0 if not fine else abs(y - 0.5) - 0.5
    assert gap == pytest.approx(distance if fine else -0.5)
    assert normal == pytest.approx([0.0, -np.sign(y - 0.5) if y != 0.5 else normal[1], 0.0], abs=1e-12)


@pytest.mark.parametrize(("gap", "fine"), [(0.0, True), (-0.02, False)])
@pytest.mark.parametrize("periodic", [False, True])
def test_cubes_on_each_other_and_in_each_other(gap, fine, periodic):
    """Four in a pile, turned about z by 45 degrees; in a cell the last meets the first through its faces."""
    scene = Scene(dimension=3, shape=[{"name": "cube", "box": [1, 1, 1]}])
    if periodic:
        scene.set_cell(lower=[-3, -3, 0], upper=[3, 3, 4 + gap])
    turned = [[1, 0, 0, 0], [math.cos(math.pi / 8), 0, 0, math.sin(math.pi / 8)]] * 2
    heights = [0.5, 1.5, 2.5, 3.5] if periodic else [0.5, 1.5, 2.5, 3.5 + gap]
    positions = [[0, 0, height] for height in heights]
    scene.add_grains(positions=positions, shape="cube", size="as drawn", quaternions=turned)
    if fine:
        assert scene.build().count == 4
    else:
        with pytest.raises(SceneError, match=r"overlap by 0\.032 of the smaller radius; move them 0\.02 m"):
            scene.build()
