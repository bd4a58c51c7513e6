"""Packings under operations: momentum, stress and certificates follow exactly, and forces stay where they hold."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.cells import cell_of, gas, under
from support.frames import falling
from support.scenes import drum

import rigidgrains as rg
from rigidgrains import Packing, PackingError, Simulation, measure
from rigidgrains.certificate import check
from rigidgrains.certificate.laws import NaturalMap
from rigidgrains.packing.figures import links_of
from rigidgrains.packing.sample import Sample


@cache
def layer(dimension: int = 2) -> Packing:
    """Grains of two groups and materials that settle on a floor of a periodic cell; leaning in 3D."""
    flat = dimension == 2
    cell = {"lower": (0, 0, 0)[:dimension], "upper": (0.02, 0.012, 0.03)[:dimension] if not flat else (0.03, 0.06)}
    cell |= {"periodic": "x"} if flat else {"periodic": "xy", "tilt": {"xy": 0.004}}
    scene = rg.Scene(dimension=dimension, gravity=(0, -9.81) if flat else (0, 0, -9.81), friction=0.5, cell=cell)
    scene.add_material("glass", friction=0.3)
    top = (0.03, 0.03) if flat else (0.02, 0.012, 0.02)
    scene.add_grains(name="sand", count=30, radius=(1e-3, 2e-3), region=((0, 0, 0)[:dimension], top))
    scene.add_grains(
        name="beads", count=20, radius=1.2e-3, region=((0, 0, 0)[:dimension], top), material="glass", placement="random"
    )
    up = np.eye(3)[dimension - 1, :dimension]
    scene.add_plane("floor", point=np.zeros(dimension), normal=up)
    simulation = Simulation(scene, dt=1e-3)
    simulation.run(steps=60)
    return Packing(simulation)


@cache
def tumult(dimension: int) -> Packing:
    """A crowd in flight with a driven floor and forces from outside."""
    simulation = Simulation(falling(dimension), dt=0.02)
    simulation.run(steps=3)
    return Packing(simulation)


@cache
def sheared(kind: str, lean: float = 3.0) -> Packing:
    """A gas in a leaning cell that is sheared, or follows a pressure."""
    control = {"rate": 0.4 * np.eye(3)[[1, 2, 0]] * [[1], [0], [0]]} if kind == "rate" else under(5.0)
    simulation = Simulation(gas(cell=cell_of(12.0, 12.0, lean=lean, **control)), dt=0.01)
    simulation.run(steps=4)
    return Packing(simulation)


@cache
def rotating() -> Packing:
    """Spheres in a turning drum."""
    simulation = drum()
    simulation.run(steps=30)
    return Packing(simulation)


ALL = [
    pytest.param(layer, 2, id="layer"), pytest.param(layer, 3, id="layer 3D"), pytest.param(tumult, 2, id="tumult"),
    pytest.param(tumult, 3, id="tumult 3D"), pytest.param(sheared, "rate", id="sheared"),
    pytest.param(sheared, "pressure", id="pressed"),
]  # fmt: skip


def violated(packing: Packing) -> dict[str, str]:
    """What a certificate finds in a packing, of laws that hold to rounding."""
    certificate = check(packing.frame)
    assert packing.whole == (not certificate.unchecked)
    return {one.name: one.worst for one in certificate.checks if not one.passed and one.kind == "exact"}


def same(a: Packing, b: Packing) -> None:
    """All arrays alike, to the bit."""
    one, other = a._sample, b._sample
    for part in ("grains", "contacts", "tables"):
        mine, theirs = getattr(one, part), getattr(other, part)
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert np.array_equal(mine[name], theirs[name], equal_nan=mine[name].dtype.kind == "f"), name
    for wall, twin in zip(one.walls, other.walls, strict=True):
        assert repr(wall) == repr(twin)


def momentum(packing: Packing) -> np.ndarray:
    frame = packing.frame
    return (frame.mass[:, None] * frame.velocity).sum(axis=0)


def moment(packing: Packing) -> np.ndarray:
    """(3, 3) J, sum of R b, the volume times the stress of contacts among grains."""
    links = links_of(packing._sample)
    return np.asarray(links.force.T @ links.branch)


@pytest.mark.parametrize(("make", "word"), ALL)
def test_mirror_twice_is_the_same_to_the_bit(make, word):
    packing = make(word)
    for axis in "xyz"[: packing.dimension]:
        once = packing.mirror(axis)
        assert not violated(once)
        k, twice = "xyz".index(axis), once.mirror(axis)
        assert np.array_equal(once.frame.position[:, k], -packing.frame.position[:, k])
        sign = 1.0 - 2.0 * np.eye(3)[k]
        assert np.allclose(moment(once), moment(packing) * np.outer(sign, sign), rtol=1e-10, atol=1e-12)
        if packing.cell is not None:  # the origin is the sum of two numbers, which rounds unless it is zero
            assert np.allclose(twice.cell.origin, packing.cell.origin, atol=1e-15)
            vectors = packing.cell.vectors
            assert np.array_equal(twice.cell.vectors, vectors)
            if packing._sample.flows or packing.cell.origin.any() or vectors[k][:k].any():
                continue
        same(twice, packing)


@pytest.mark.parametrize(("make", "word"), ALL)
def test_moved_and_scaled(make, word):
    packing = make(word)
    moved = packing.move([0.25, -0.5, 2.0][: packing.dimension])
    assert not violated(moved)
    assert np.allclose(momentum(moved), momentum(packing), rtol=1e-9, atol=1e-12)
    assert np.allclose(moment(moved), moment(packing), rtol=1e-9, atol=1e-12)
    larger, d = packing.scale(3.0), packing.dimension
    assert not violated(larger)
    weighs = packing.frame.gravity.any()
    time, force = (np.sqrt(3.0), 3.0**d) if weighs else (3.0, 3.0 ** (d - 1))
    assert np.array_equal(larger.frame.gravity, packing.frame.gravity)
    assert np.allclose(momentum(larger), 3.0 ** (d + 1) / time * momentum(packing), rtol=1e-12)
    assert np.allclose(moment(larger), 3.0 * force * moment(packing), rtol=1e-9)
    density = packing.frame.mass / packing.frame.radius**d
    assert np.allclose(larger.frame.mass / larger.frame.radius**d, density, rtol=1e-12)
    assert np.allclose(larger.scale(1 / 3).frame.position, packing.frame.position, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "word", "copies"),
    [(layer, 2, (3, 1)), (layer, 3, (2, 3, 1)), (sheared, "rate", (2, 3)), (sheared, "pressure", (3, 2))],
)
def test_replicas_have_the_certificate_of_the_first_at_every_contact(make, word, copies):
    packing = make(word)
    many, larger = int(np.prod(copies)), packing.replicate(*copies)
    assert len(larger) == many * len(packing)
    assert not violated(larger)
    first, second = (links_of(one._sample) for one in (packing, larger))
    a, b = NaturalMap.of(first), NaturalMap.of(second)
    force = np.abs(first.force).max()
    for name in ("v_n", "gap", "r_n", "mu", *(["m_n"] if word != "pressure" else [])):
        scale = np.abs(getattr(first, name)).max() or 1.0
        assert np.allclose(getattr(second, name), np.tile(getattr(first, name), many), atol=1e-9 * scale), name
    if word != "pressure":  # cells under stress weigh more: their share in the mass of a contact is smaller
        assert np.allclose(b.size, np.tile(a.size, many), atol=1e-8 * force)
    assert np.allclose(momentum(larger) - _flow(larger), many * (momentum(packing) - _flow(packing)), atol=1e-9)
    # R b adds up over copies, and so does the volume: the stress is the same
    volume = np.linalg.det(larger.cell.vectors) / np.linalg.det(packing.cell.vectors)
    assert np.allclose(moment(larger) / volume, moment(packing), atol=1e-12 + 1e-9 * np.abs(moment(packing)).max())
    figures = measure.coordination(packing.frame), measure.coordination(larger.frame)
    assert np.isclose(figures[0].z_all, figures[1].z_all)
    assert len(np.unique(larger.frame.id)) == len(larger)


def _flow(packing: Packing) -> np.ndarray:
    """Momentum of the flow of the cell alone."""
    frame = packing.frame
    return (frame.mass[:, None] * (frame.velocity - frame.peculiar_velocity)).sum(axis=0)


def test_replicas_of_a_sheared_cell_are_exact():
    """As many images touch as before, through the vectors of the larger cell."""
    packing = sheared("rate")
    larger = packing.replicate(2, 2)
    assert np.array_equal(larger.cell.vectors[:2], 2.0 * packing.cell.vectors[:2])
    again = larger.cut(((None, None), (None, None)))  # nothing is cut
    same(again, larger)
    assert np.abs(larger.frame.contacts.image).sum() < 4 * np.abs(packing.frame.contacts.image).sum()


@pytest.mark.parametrize(("make", "word"), ALL)
def test_what_is_cut_off_acts_from_outside(make, word):
    packing = make(word)
    low, high = packing.box
    half = 0.5 * (low + high)
    part = packing.cut(([None] * packing.dimension, [half[0], *[None] * (packing.dimension - 1)]))
    assert (part.frame.position[:, 0] <= half[0]).all()
    assert 0 < len(part) < len(packing)
    assert not violated(part)
    if packing._sample.flows:
        assert not part.whole
        assert "forces are dropped" in part.notes[0]
        return
    kept = packing.frame.position[:, 0] <= half[0]
    pair = packing.frame.contacts.pair
    inside = np.append(kept, np.ones(len(packing.frame.walls), bool))[pair].all(axis=1)
    if packing.cell is not None:
        inside &= packing.frame.contacts.image[:, 0] == 0
    assert np.array_equal(part.frame.contacts.force, packing.frame.contacts.force[inside])
    # the weight of what is left is borne by contacts with walls and by forces from outside, as it was
    gained = part.frame.mass @ (part.frame.velocity - part.frame.velocity_before) / part.frame.dt
    outer = part.frame.external_force.sum(axis=0) - part.frame.wall_force.sum(axis=0)
    assert np.allclose(gained, part.frame.mass.sum() * part.frame.gravity + outer, atol=1e-9 * np.abs(outer).max())


def test_selections():
    packing = layer(2)
    assert set(packing.groups) == {"sand", "beads"}
    beads = packing.select("beads")
    assert len(beads) == 20
    assert not violated(beads)
    assert len(packing.remove("beads")) == 30
    assert len(packing.select(np.arange(7))) == 7
    assert len(packing.select(packing.frame.radius > 1.5e-3)) == (packing.frame.radius > 1.5e-3).sum()
    thin = packing.thin(0.3, of="sand", seed=4)
    assert len(thin) == 50 - 9
    assert len(thin.groups["beads"]) == 20
    same(thin, packing.thin(0.3, of="sand", seed=4))
    assert not violated(thin)
    assert len(packing) == 50  # the packing itself is what it was


def test_walls_taken_away_act_from_outside():
    for packing in (layer(3), rotating()):
        bare = packing.without_walls()
        assert not violated(bare)
        assert not bare.frame.walls
        before = packing.frame.external_force.sum(axis=0) - packing.frame.wall_force.sum(axis=0)
        assert np.allclose(bare.frame.external_force.sum(axis=0), before, rtol=1e-12)


def test_a_drum_in_a_mirror_turns_the_other_way():
    packing = rotating()
    seen = packing.mirror("x")
    assert not violated(seen)
    spins = {wall.name: wall.drive.spin for wall in seen.frame.walls}
    assert np.array_equal(spins["drum"], [0.0, -1.0, 0.0])
    assert np.array_equal(seen.frame.spin[:, 0], packing.frame.spin[:, 0])
    same(seen.mirror("x"), packing)


def test_glued_packings_keep_their_forces():
    whole = layer(2).cut(((0.004, None), (0.026, None)))
    left, right = whole.cut(((None, None), (0.015, None))), whole.cut(((0.015, None), (None, None)))
    assert len(left) + len(right) == len(whole)
    assert left.glue(right).notes[-1].startswith("forces are dropped: grains of both packings touch")
    both = left.glue(right.move([1e-5, 0]))
    assert not violated(both)
    assert np.isclose(both.frame.mass.sum(), whole.frame.mass.sum())
    assert len(both.frame.contacts) == len(left.without_walls().frame.contacts) + len(
        right.without_walls().frame.contacts
    )
    assert {name: len(rows) for name, rows in both.groups.items()} == {
        name: len(rows) for name, rows in whole.groups.items()
    }
    on_top = whole.glue(whole, side="top")
    low, high = whole.box
    assert np.isclose(on_top.box[1][1], high[1] + (high[1] - low[1]))
    assert not violated(on_top)
    with pytest.raises(PackingError, match=r"pairs of grains of both packings overlap, by 2 of the smaller radius"):
        whole.glue(whole)


def test_glued_periodic_layers():
    packing = layer(3)
    two = packing.glue(packing, side="top")
    assert not violated(two)
    assert two.cell.periodic.tolist() == [True, True, False]
    with pytest.raises(PackingError, match=r"side 'left': the packing is periodic along x; cut it there first"):
        packing.glue(packing, side="left")
    with pytest.raises(PackingError, match="one packing is periodic and the other is not"):
        packing.glue(packing.cut(((0, None, None), (0.01, None, None))).cut(((None, 0, None), (None, 0.006, None))))


def test_species():
    packing = layer(2)
    heavy = packing.swap("sand", density=5000.0, share=0.5, group="heavy", seed=2)
    assert len(heavy.groups["heavy"]) == 15
    rows = heavy.groups["heavy"]
    assert np.allclose(heavy.frame.mass[rows], 2.0 * packing.frame.mass[rows])
    assert heavy.notes == ("forces are dropped: other grains bear others",)
    assert not violated(heavy)
    renamed = packing.swap("sand", group="gravel")
    assert renamed.whole
    assert len(renamed.groups["gravel"]) == 30
    made = packing.swap("beads", material="steel")
    assert made.materials[-1] == "steel"
    assert made.frame.friction.shape == (3, 3)


def test_what_cannot_be():
    packing = layer(2)
    for wrong, told in [
        (lambda: packing.replicate(1, 2), "replicate 2 times along y: the packing is not periodic along y"),
        (lambda: packing.replicate(2), "give 2 whole numbers of copies"),
        (lambda: packing.replicate(0, 1), "1 or more each"),
        (lambda: packing.mirror("z"), "axis 'z' is none of a packing in 2D; give x or y"),
        (lambda: packing.scale(0), "factor = 0 is none; give a positive number"),
        (lambda: packing.thin(1.5), "share = 1.5 is none; give a number from 0 to 1"),
        (lambda: packing.select("sant"), "no group or material is called 'sant'; there are sand, beads"),
        (lambda: packing.select([99]), "chooses no grains"),
        (lambda: packing.cut(((1, 1), (2, 2))), r"the cut leaves none of 50 grains, which lie from \("),
        (lambda: packing.cut(((1, 1), (0, 2))), "the first corner must lie below the second"),
        (lambda: packing.cut((1, 2)), "has no two corners in 2D"),
        (lambda: packing.swap("sand"), "nothing to change"),
        (lambda: packing.swap("sand", density=-1.0), "density = -1 is none"),
        (lambda: packing.move([1, 2, 3]), "is no vector in 2D"),
        (lambda: packing.glue(layer(3)), "a packing in 2D and one in 3D cannot be glued"),
        (lambda: rotating().replicate(2, 1, 1), "not periodic along x"),
        (lambda: packing.scale(1e200), "factor = 1e[+]200 is no number|is beyond all units"),
        (lambda: packing.scale(1e-60), r"factor = 1e-60 is beyond all units; give one from 1e-12 to 1e\+12"),
        (lambda: packing.scale(float("inf")), "factor = inf is no number; give a finite one"),
        (lambda: packing.scale(10**400), "is no number"),
        (
            lambda: packing.move((1e30, 0)),
            r"way = 1e\+30 m is so far that rounding displaces grains; give 4.* m at most",
        ),
        (lambda: packing.mirror("x", at=1e30), r"at = 1e\+30 m is so far"),
        (lambda: packing.glue(packing, side="top", overlap=float("nan")), "overlap = nan is no number"),
        (lambda: packing.glue(packing, side="top", overlap=-0.1), "overlap = -0.1 is none; give a share"),
        (lambda: packing.swap("sand", material=""), "material = '' is no name"),
        (lambda: packing.swap("sand", group=3), "group = 3 is no name"),
        (lambda: packing.swap("sand", density="heavy"), "density = 'heavy' is none"),
        (lambda: packing.swap("sand", density=1e300), r"density = 1e\+300 is none"),
    ]:
        with pytest.raises(PackingError, match=told):
            wrong()
    for seed in (-1, "a", 1.5):
        with pytest.raises(ValueError, match="starts no random numbers; give a whole number"):
            packing.thin(0.1, seed=seed)
        with pytest.raises(ValueError, match="starts no random numbers; give a whole number"):
            packing.swap(density=1.0, seed=seed)


def test_a_broken_force_is_seen():
    """The certificate of a packing can fail: one force of a replica is changed."""
    larger = layer(2).replicate(2, 1)
    sample = larger._sample
    row = int(np.argmax(np.linalg.norm(sample.contacts["force"], axis=1)))
    sample.contacts["force"][row] *= 1.01
    assert "momentum" in violated(larger)
    assert isinstance(sample, Sample)
