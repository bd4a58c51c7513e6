"""Files name things by names of their own: classes may be renamed and moved, and files stay what they are."""

from __future__ import annotations

import json
from typing import get_args

import numpy as np
import pytest
from support.builders import RIGHT, UP, floor, grains, triangular

import rigidgrains as rg
from rigidgrains.laboratory.case import SECOND_ORDER
from rigidgrains.laboratory.matrix import SWEEPING
from rigidgrains.laws import LAWS
from rigidgrains.measure import Measure
from rigidgrains.model.shapes import SHAPES, Cone, Cylinder, Plate
from rigidgrains.model.walls import Wall
from rigidgrains.runtime.registry import Registry, UnknownName
from rigidgrains.scene import settings
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.simulation.triggers import OBSERVERS
from rigidgrains.solve.names import CRITERIA, KINDS, METHODS, NAMED_ORDERS, words_of
from rigidgrains.solve.orders import ORDERS
from rigidgrains.trajectory import law_table, store
from rigidgrains.trajectory.checkpoint import pack, unpack
from rigidgrains.trajectory.errors import Mismatch, TrajectoryError

ALL = [METHODS, NAMED_ORDERS, CRITERIA, LAWS, SHAPES, OBSERVERS]


class Fruit:
    pass


class Apple(Fruit):
    pass


class Pear(Fruit):
    pass


@pytest.fixture
def fruits():
    fruits: Registry[Fruit] = Registry("fruit", {"apple": Apple})
    fruits.register("pear", Pear, version=2, earlier=["Birne"])
    return fruits


def test_names_find_their_classes(fruits):
    assert list(fruits) == ["apple", "pear"]
    assert fruits["pear"] is fruits.find("pear") is fruits.find("pear/2") is fruits.find("Birne") is Pear
    assert fruits.find("pear", 1) is Pear  # of an earlier version
    assert [fruits.name_of(thing) for thing in (Apple(), Pear(), Fruit(), 3)] == ["apple", "pear", None, None]


def test_a_word_says_the_version_beyond_the_first(fruits):
    assert [fruits.word_of(thing) for thing in (Apple(), Pear(), Fruit())] == ["apple", "pear/2", "own.Fruit"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("plum", "the fruit 'plum' is unknown; there are apple, pear"),
        ("own.Apple", "the fruit 'own.Apple' is unknown; there are apple, pear"),
        ("pear/3", "the fruit 'pear' of version 3, newer than 2, the last that is known here; update rigidgrains"),
        ("apple/2", "the fruit 'apple' of version 2, newer than 1, the last that is known here; update rigidgrains"),
    ],
)
def test_what_is_not_known_is_told(fruits, said, told):
    with pytest.raises(UnknownName) as caught:
        fruits.find(said)
    assert str(caught.value) == told


def test_a_subclass_has_no_name_but_its_own(fruits):
    """Its settings may be others: what a file has of it is not taken for its base."""

    class Cox(Apple):
        pass

    assert fruits.name_of(Cox()) is None
    assert fruits.word_of(Cox()) == "own.Cox"
    assert not fruits.means("apple", Cox())


def test_words_mean_their_things(fruits):
    assert fruits.means("apple", Apple())
    assert fruits.means("Birne", Pear())
    assert fruits.means("own.Fruit", Fruit())
    assert fruits.means("Fruit", Fruit())  # as in earlier files
    assert not fruits.means("apple", Pear())
    assert not fruits.means("own.Apple", Apple())
    with pytest.raises(UnknownName, match="version 3"):
        fruits.means("pear/3", Pear())


@pytest.mark.parametrize(("name", "told"), [("apple", "already"), ("a/b", "without '/'"), ("own.pear", "no name")])
def test_a_name_is_given_once(fruits, name, told):
    with pytest.raises(ValueError, match=told):
        fruits.register(name, Fruit)
    fruits.register("apple", Apple)  # the same again


def test_names_are_those_that_files_have():
    """A name that is changed here must stay as an earlier one."""
    assert {registry.kind: sorted(registry) for registry in ALL} == {
        "solver": ["accelerated", "second-order", "sweeps"],
        "order": ["coloured", "ordered", "parallel", "random", "random_blocks", "random_sequential", "symmetric"],
        "criterion": ["fixed", "flow", "global", "local", "momentum", "overlap", "residual", "rigid"],
        "contact law": ["Cohesion", "Restitution", "Rolling", "SpeedFriction", "StaticFriction"],
        "wall shape": ["cone", "cylinder", "plane", "plate"],
        "observer": ["Measure", "StopWhenStatic"],
    }


def test_scenes_and_the_laboratory_use_the_same_names():
    assert set(get_args(settings.ORDERS)) == set(NAMED_ORDERS) == set(ORDERS)
    assert set(get_args(settings.CRITERIA)) == set(CRITERIA)
    method = settings.Solver.model_fields["method"].annotation
    assert set(get_args(method)) == set(METHODS)
    assert {SECOND_ORDER, *SWEEPING} <= {*METHODS, *ORDERS}


class Highest(rg.Observer):
    """Remembers something."""

    def __init__(self):
        self.height = 0.0

    def look(self, simulation):
        self.height = max(self.height, float(simulation.bodies.position[:, 1].max()))

    def state(self):
        return {"height": self.height}

    def restore(self, state):
        self.height = state["height"]


def count(frame):
    return len(frame)


def world():
    """Walls of all shapes, laws of all kinds that a file can hold, observers that remember."""
    laws = [rg.StaticFriction(0.6), rg.Restitution(0.5), rg.Cohesion(1e-2, 0.1), rg.Rolling(0.1, 0.1)]
    plate = Wall("shelf", Plate(np.array([0.0, 0.5, 0.0]), UP, RIGHT, (1.0, 1.0)))
    drum = Wall("drum", Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 20.0, True, np.inf))
    funnel = Wall("funnel", Cone(np.array([0.0, 9.0, 0.0]), UP, (1.0, 3.0), 1.0))
    position = [[0.0, 1.5, 0.0], [2.0, 1.0, 0.0], [4.0, 1.0, 0.0]]
    bodies = grains(
        position, dimension=2, friction=0.4, gravity=[0.0, -10.0, 0.0], walls=[floor(), plate, drum, funnel], laws=laws
    )
    simulation = Simulation(bodies, dt=1e-3, solver=rg.Sweeps(order=rg.Ordered(axis="+x")))
    for observer in (Highest(), rg.StopWhenStatic(1e-9), Measure(count)):
        simulation.observe(observer)
    return simulation


@pytest.fixture
def rename():
    """A function that gives every class of the registries another name and place, until the end of the test."""
    classes = [known for registry in ALL for known in registry.values()]
    kept = [(known, known.__name__, known.__module__) for known in classes]

    def change():
        for known in classes:
            known.__name__, known.__module__ = "Renamed", "moved.elsewhere"

    yield change
    for known, name, place in kept:
        known.__name__, known.__module__ = name, place


def test_files_do_not_know_what_classes_are_called(rename):
    """The same arrays and the same text, and the way back, after every class has got another name and place."""
    simulation = world()
    simulation.run(steps=3)
    simulation.tally.wall_time = 0.0
    arrays, text = pack(simulation)
    rename()
    again, told = pack(simulation)
    assert told == text
    assert again.keys() == arrays.keys()
    for word in ("rigidgrains.", "Renamed", "moved.", "Plane", "Cylinder", "Sweeps", "Ordered", "LocalCriterion"):
        assert word not in text
    back = unpack(arrays, text)
    assert pack(back)[0].keys() == arrays.keys()
    assert [type(law) for law in back.bodies.laws] == [type(law) for law in simulation.bodies.laws]
    assert [type(wall.shape) for wall in back.bodies.walls] == [type(wall.shape) for wall in simulation.bodies.walls]
    assert words_of(back.solver) == words_of(simulation.solver)
    highest, measured = Highest(), Measure(count)
    back.observe(highest).observe(rg.StopWhenStatic(1e-9)).observe(measured)
    assert highest.height == simulation._triggers[0].observer.height > 1.0
    assert measured["count"].tolist() == [3, 3, 3]


def test_earlier_files_have_observers_by_their_classes(tmp_path):
    """As they were written before there was a registry: resumed with what each observer remembers."""
    path = tmp_path / "run.vtkhdf"
    simulation = world()
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=3)
    writer = rg.TrajectoryWriter(path, resume=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OBSERVERS, "word_of", lambda observer: type(observer).__name__)
        writer.start(simulation, 0)
        writer.finish(simulation)
    _, text = read(path)
    assert json.loads(text)["observers"].keys() == {"Highest", "StopWhenStatic", "Measure"}
    again, highest, measured = rg.resume(path), Highest(), Measure(count)
    again.observe(measured).observe(highest)
    assert (highest.height, len(measured)) == (simulation._triggers[0].observer.height, 3)


def read(path):
    from rigidgrains.trajectory.resume import read_checkpoint

    with store.open_to_read(path) as file:
        return read_checkpoint(file["checkpoint"])


def test_several_observers_of_a_name_get_their_own_in_order():
    simulation = Simulation(triangular(2, 2), dt=1e-2)
    one, other = Highest(), Highest()
    one.height, other.height = 5.0, 7.0
    simulation.observe(one, every=100).observe(other, every=100)
    back = unpack(*pack(simulation))
    again = [Highest() for _ in range(3)]
    for observer in again:
        back.observe(observer)
    assert [observer.height for observer in again] == [5.0, 7.0, 0.0]


def test_newer_versions_are_refused_in_one_line():
    arrays, text = pack(world())
    newer = "of version 2, newer than 1, the last that is known here; update rigidgrains"
    with pytest.raises(TrajectoryError, match=f"'Rolling' {newer}, or pass the laws"):
        law_table.rebuild(["Rolling/2"], arrays)
    with pytest.raises(Mismatch, match=f"'plane' {newer}"):
        unpack(arrays, text.replace('"shape": "plane"', '"shape": "plane/2"'))
    simulation = unpack(arrays, text.replace('"StopWhenStatic":', '"StopWhenStatic/2":'))
    with pytest.raises(UnknownName, match=f"'StopWhenStatic' {newer}"):
        simulation.observe(rg.StopWhenStatic(1e-9))


EARLIER = {
    "method": ["Sweeps", "AcceleratedSweeps", "SecondOrder"],
    "order": ["Random", "RandomSequential", "Ordered", "RandomBlocks", "Symmetric", "Coloured", "Parallel"],
    "criterion": [
        "LocalCriterion", "GlobalCriterion", "FixedSweeps", "RigidSweeps", "ResidualCriterion", "MomentumCriterion",
        "OverlapCriterion",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", EARLIER)
def test_classes_of_earlier_files_are_found(kind):
    """They have {"class": "module.Class"}, and each of a kind once; the criterion of flow came later."""
    found = [KINDS[kind].find(word) for word in EARLIER[kind]]
    assert found == [known for name, known in KINDS[kind].items() if name != "flow"]
