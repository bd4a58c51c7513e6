"""Kinds of grains, and indices of mixing: constructed mixtures whose numbers are known exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.frames import pressed, still

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.model.cell import Cell

SIDE = 8


def lattice(side=SIDE, *, cell=True):
    """A square lattice of touching disks, periodic in both directions."""
    at = np.array([(2.0 * x + 1.0, 2.0 * y + 1.0, 0.0) for y in range(side) for x in range(side)])
    box = Cell(np.diag([2.0 * side, 2.0 * side, 1.0]), np.zeros(3), np.array([True, True, False])) if cell else None
    return still(at, dimension=2, cell=box)


@pytest.fixture(scope="module")
def mixture():
    """Two groups, two materials, two densities and a scalar, at rest."""
    scene = rg.Scene(dimension=2, gravity=[0, -9.81], run={"dt": 1e-3})
    scene.add_material("glass", density=1000.0)
    scene.add_material("steel", density=3000.0)
    words = {"region": [[0, 0], [0.04, 0.04]], "material": {"glass": 1, "steel": 1}}
    scene.add_grains(name="small", count=60, radius=1e-3, scalars={"dye": "step(x - 0.02)"}, **words)
    scene.add_grains(name="large", count=20, radius=2e-3, **words)
    scene.add_box(lower=[0, 0], upper=[0.04, 0.1], open=["top"])
    simulation = rg.Simulation(scene)
    simulation.run(steps=60)
    return measure.of(simulation)


def test_kinds_by_name_value_and_number(mixture):
    assert measure.kinds(mixture).names == ["small", "large"]
    assert measure.kinds(mixture, "material").names == ["glass", "steel"]
    assert measure.kinds(mixture, "material").count.tolist() == [40, 40]
    assert measure.kinds(mixture, "density").names == ["1000", "3000"]
    assert (measure.kinds(mixture, "density").number == measure.kinds(mixture, "material").number).all()
    assert measure.kinds(mixture, "radius").names == ["0.001", "0.002"]
    dye = measure.kinds(mixture, "dye")  # the large ones have none
    assert dye.names == ["0", "1"]
    assert (dye.number[mixture.group == 1] == -1).all()
    own = measure.kinds(mixture, np.where(mixture.radius > 1.5e-3, 7, -1))
    assert (own.names, own.count.tolist()) == (["7"], [20])


def test_selections(mixture):
    small, steel = mixture.group == 0, measure.kinds(mixture, "material").number == 1
    pick = measure.select
    assert (pick(mixture, {"group": "small"}) == small).all()
    assert (pick(mixture, {"group": ["small", "large"]})).all()
    assert (pick(mixture, {"group": "small", "density": 3000.0}) == (small & steel)).all()
    assert (pick(mixture, {"radius": [1.5e-3, 3e-3]}) == ~small).all()
    assert pick(mixture, {"dye": 1}).sum() == (mixture.scalars["dye"] == 1).sum()
    assert pick(mixture, None).all()


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"group": "smal"}, "no group is called 'smal'; did you mean 'small'"),
        ({"colour": 1}, "grains have no 'colour' by which they could be told apart"),
        ({"radius": [2, 1]}, "give one number, or"),
        (np.zeros(3, bool), "give True or False for each of the 80 grains"),
    ],
)
def test_a_selection_that_means_nothing(mixture, only, message):
    with pytest.raises(ValueError, match=message):
        measure.packing_fraction(mixture, volume=1.0, only=only)


def test_parts_of_all_kinds_add_up_to_the_whole(mixture):
    parts = [{"group": "small"}, {"group": "large"}]
    box = measure.Box((0.0, 0.0), (0.04, 0.02))
    for function in (
        lambda only: measure.packing_fraction(mixture, box=box, only=only),
        lambda only: measure.packing_profile(mixture, "y", 5, only=only)[1],
        lambda only: measure.profile(mixture, "y", 5, only=only).stress,
        lambda only: measure.profile(mixture, "y", 5, only=only).packing,
        lambda only: measure.stress(mixture, volume=1.0, only=only).total,
    ):
        assert sum(function(only) for only in parts) == pytest.approx(function(None), rel=1e-12)
    whole, some = measure.coordination(mixture), [measure.coordination(mixture, only=only) for only in parts]
    assert (60 * some[0].z_all + 20 * some[1].z_all) / 80 == pytest.approx(whole.z_all)
    mass = [float(mixture.mass[measure.select(mixture, only)].sum()) for only in parts]
    heat = [measure.temperature(mixture, only=only) for only in parts]
    assert np.dot(mass, heat) / sum(mass) == pytest.approx(measure.temperature(mixture))


def test_each_kind_is_a_column(mixture, tmp_path):
    record = measure.over(
        [mixture], measure.each(measure.profile, "group", axis="y", bins=4), phi=measure.each(packing, "material")
    )
    assert record["profile.small.packing"].shape == (1, 4)
    both = record["profile.small.packing"] + record["profile.large.packing"]
    assert both[0] == pytest.approx(measure.profile(mixture, "y", 4).packing)
    assert record["phi.glass"][0] + record["phi.steel"][0] == pytest.approx(packing(mixture))


def packing(frame, only=None):
    return measure.packing_fraction(frame, volume=1.6e-3, only=only)


def test_lacey_of_grains_apart_alternating_and_random():
    frame = lattice(cell=False)
    x, y = (frame.position[:, k].astype(int) // 2 for k in (0, 1))
    apart = measure.lacey(frame, (x >= SIDE // 2).astype(int), size=4.0)
    assert (apart.index, apart.variance) == (pytest.approx(0.0, abs=1e-15), pytest.approx(apart.separated))
    chess = measure.lacey(frame, (x + y) % 2, size=4.0)  # two of each in every cell
    assert chess.variance == 0.0
    assert chess.index == pytest.approx(chess.separated / (chess.separated - chess.random))
    assert chess.index > 1.0


def test_lacey_of_a_random_mixture_is_one_on_average():
    """Over all ways to choose 4 of 8 grains in two cells of four: the expectation is exact, also for small numbers."""
    at = np.array([[x + 0.5, y + 0.5, 0.0] for x in range(4) for y in range(2)])
    frame = still(at, 0.4, dimension=2)
    every = [
        measure.lacey(frame, np.isin(np.arange(8), chosen).astype(int), size=2.0, least=1).index
        for chosen in itertools.combinations(range(8), 4)
    ]
    assert np.mean(every) == pytest.approx(1.0, abs=1e-12)
    three = [
        measure.lacey(frame, np.array(kinds), size=2.0, least=1).index
        for kinds in set(itertools.permutations([0, 0, 0, 0, 1, 1, 2, 2]))
    ]
    assert np.mean(three) == pytest.approx(1.0, abs=1e-12)


def test_segregation_of_a_chessboard_and_of_halves():
    frame = lattice()
    x, y = (frame.position[:, k].astype(int) // 2 for k in (0, 1))
    chess = measure.segregation(frame, (x + y) % 2)
    assert (chess.index, chess.neighbours) == (pytest.approx(-1.0), 2 * SIDE**2)
    halves = measure.segregation(frame, (x >= SIDE // 2).astype(int))
    # per row 8 pairs along x, of which two are of different kinds; none along y
    assert halves.pairs[0, 1] == pytest.approx(SIDE * 2 / (2 * 2 * SIDE**2))
    assert halves.index == pytest.approx(1.0 - 4.0 * halves.pairs[0, 1])
    two = still([[0, 0, 0], [2, 0, 0], [10, 0, 0], [12, 0, 0]], dimension=2)
    assert measure.segregation(two, np.array([0, 0, 1, 1])).index == 1.0


def test_segregation_of_random_kinds_is_nought_on_average():
    """Over all arrangements of equal numbers the mean is that of drawing without putting back, -1/(N - 1)."""
    ring = np.array([[np.cos(a), np.sin(a), 0.0] for a in 2.0 * np.pi * np.arange(8) / 8]) / np.sin(np.pi / 8)
    frame = still(ring, dimension=2)
    index = [
        measure.segregation(frame, np.isin(np.arange(8), some).astype(int)).index
        for some in itertools.combinations(range(8), 4)
    ]
    assert np.mean(index) == pytest.approx(-1.0 / 7.0)


def test_stratification_is_one_when_a_kind_is_on_top():
    at = np.array([[0.0, 2.0 * k, 0.0] for k in range(10)])
    frame = still(at, dimension=2)
    top = measure.stratification(frame, (np.arange(10) >= 7).astype(int))
    assert top.index == pytest.approx([-1.0, 1.0])
    even = measure.stratification(frame, np.array([0, 1, 1, 0, 0, 1, 1, 0, 0, 1]), along="x")
    assert even.index == pytest.approx([0.0, 0.0], abs=1e-12)  # all at one height
    core = measure.stratification(frame, (np.arange(10) >= 7).astype(int), along=-at[:, 1])
    assert core.index == pytest.approx([1.0, -1.0])
    big = still(at, np.where(np.arange(10) >= 7, 3.0, 1.0), dimension=2)  # by volume, however large
    assert measure.stratification(big, "radius").index == pytest.approx([-1.0, 1.0])


@pytest.mark.parametrize("function", [measure.lacey, measure.segregation, measure.stratification])
def test_one_kind_cannot_be_mixed(function):
    frame = pressed([[0, 0, 0], [2, 0, 0]], dimension=2)
    with pytest.raises(ValueError, match="there is one kind of grains, 1; two or more are needed"):
        function(frame, "radius")


def test_bad_words_of_mixing(mixture):
    for reach in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"reach = {reach} is no gap"):
            measure.segregation(mixture, reach=reach)
    with pytest.raises(TypeError, match="3 is no measurement; give a function"):
        measure.each(3, "group")
    with pytest.raises(ValueError, match="size = -1 is no edge"):
        measure.lacey(mixture, size=-1)
    with pytest.raises(ValueError, match="cells of 1 m hold"):
        measure.lacey(mixture, size=1.0)
    with pytest.raises(ValueError, match="give an axis, or a number"):
        measure.stratification(mixture, along=np.zeros(3))
    with pytest.raises(ValueError, match="more than 50 kinds"):
        measure.kinds(still(np.zeros((60, 3)), np.linspace(1, 2, 60), dimension=2), "radius")
    with pytest.raises(ValueError, match="of an earlier version, does not know groups"):
        measure.kinds(still(np.zeros((2, 3)), dimension=2))


def test_kinds_that_flow_in_later_have_rows_of_their_own(tmp_path):
    """A run that begins without grains: each column has a row for each look, nan before there is what it measures, and
    a resumed run goes on with them."""

    def simulation():
        scene = rg.Scene(dimension=2, run={"dt": 1e-2, "seed": 1})
        words = {"radius": 0.1, "rate": 100.0, "total": 6, "region": [[0, 0], [2, 2]]}
        scene.add_inflow("early", **words, since=0.1, velocity=(1.0, 0))
        scene.add_inflow("late", **words, since=0.3, velocity=(-1.0, 0))
        return rg.Simulation(scene)

    def record():
        speed = measure.each(lambda frame, only: frame.velocity[only, 0].mean(), "group")
        only = {"group": "late"}
        return rg.Measure(
            speed=speed, mixed=lambda frame: measure.segregation(frame, reach=50.0).index,
            heat=lambda frame: measure.temperature(frame, only=only), never=lambda frame: measure.lacey(frame, size=9),
        )  # fmt: skip

    one, path = record(), tmp_path / "run.vtkhdf"
    simulation().observe(one, every=5).run(steps=50)
    other = record()
    simulation().observe(other, every=5).observe(rg.TrajectoryWriter(path)).run(steps=20)
    other = record()
    rg.resume(path).observe(other, every=5).run(steps=30)
    early, late = [2, 10], [6, 10]  # first row and end, of ten at 0.05 s, 0.1 s, ...
    for kept in (one, other):
        assert kept["time"] == pytest.approx(0.05 * np.arange(1, 11))
        for name, (first, end), value in (("early", early, 1.0), ("late", late, -1.0)):
            expected = np.full(10, np.nan)
            expected[first:end] = value
            np.testing.assert_allclose(kept[f"speed.{name}"], expected)
        assert np.isnan(kept["mixed"]).tolist() == [True] * 6 + [False] * 4
        assert np.isnan(kept["heat"]).tolist() == [True] * 6 + [False] * 4
        assert np.isnan(kept["never"]).all()
        assert len(kept["never.index"]) == 10
    with pytest.raises(measure.TooFew, match="there are no grains"):
        measure.free_surface(simulation(), up=(0, 1))
    with pytest.raises(measure.TooFew, match="none of the 0 grains is meant"):
        measure.temperature(simulation())
