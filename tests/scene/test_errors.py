"""Mistakes: each is told with its place, its value and a remedy, and all of them at once."""

from __future__ import annotations

import numpy as np
import pytest

from rigidgrains import Simulation
from rigidgrains.scene import Scene, SceneError, settings
from rigidgrains.view.colours import COLOURS

GRAINS = {"positions": [[0.0, 1.0]], "radius": 0.5}
COUNT = {"count": 3, "radius": 0.1, "region": [[0, 0], [9, 9]]}
PLANE = {"name": "floor", "point": [0, 0], "normal": [0, 1]}
CONE = {"name": "funnel", "point": [0, 0, 0], "radii": [1, 5], "length": 4}
CYLINDER = {"name": "drum", "point": [0, 0], "radius": 9}
PISTON = {"name": "lid", "point": [0, 9], "normal": [0, -1]}

# words of the scene, place of the mistake, parts of the message
CASES = [
    ({"dimension": 4}, "dimension", ["must be 2 or 3", "4"]),
    ({"dimension": 2.0, "grains": [COUNT]}, "dimension", ["must be 2 or 3", "whole", "2.0"]),
    ({"dimension": "2"}, "dimension", ["must be 2 or 3", "'2'"]),
    ({"dimension": [2]}, "dimension", ["must be 2 or 3", "[2]"]),
    ({"run": {"seed": 2**64}}, "run.seed", ["must be at most 9223372036854775807", "18446744073709551616"]),
    (
        {"cell": {"lower": [0, 0], "upper": [0.02, 0.02], "tilt": {"xy": 1e8}}},
        "cell.tilt.xy",
        ["1000 sides of 0.02 m along x", "take whole sides away", "given: 100000000.0"],
    ),
    ({"gravity": [0, 0, -9.81]}, "gravity", ["2 components", "dimension = 2", "[0, 0, -9.81]"]),
    ({"gravity": 9.81}, "gravity", ["must be a vector", "9.81"]),
    ({"friction": -0.1}, "friction", ["must not be negative", "-0.1"]),
    ({"friction": float("-inf")}, "friction", ["finite"]),
    ({"friction": float("nan")}, "friction", ["finite", "nan"]),
    ({"friction": "rough"}, "friction", ["must be a number", "rough"]),
    ({"friction": True}, "friction", ["must be a number", "true"]),
    ({"grains": {"radius": 1}}, "grains", ["[[grains]]"]),
    ({"grains": [3]}, "grains[0]", ["must be a table", "3"]),
    ({"run": [{"dt": 1}]}, "run", ["[run]"]),
    ({"grains": [{"radius": 1}]}, "grains[0].count", ["missing", "positions"]),
    ({"grains": [{"count": 3, "radius": 1}]}, "grains[0].region", ["missing", "[[x0, y0], [x1, y1]]"]),
    ({"grains": [{"positions": [[0, 0]]}]}, "grains[0].radius", ["missing", "radii"]),
    ({"grains": [{**COUNT, "count": 0}]}, "grains[0].count", ["at least 1", "0"]),
    ({"grains": [{**COUNT, "count": 2.5}]}, "grains[0].count", ["whole number", "2.5"]),
    ({"grains": [{**COUNT, "positions": [[0, 0]]}]}, "grains[0].count", ["remove count or positions"]),
    ({"grains": [{**GRAINS, "placement": "random"}]}, "grains[0].placement", ["no meaning with positions", "random"]),
    ({"grains": [{**GRAINS, "jitter": 0.1}]}, "grains[0].jitter", ["no meaning with positions", "0.1"]),
    ({"grains": [{**GRAINS, "seed": 1}]}, "grains[0].seed", ["nothing is random"]),
    ({"grains": [{**COUNT, "jitter": 0.1, "placement": "random"}]}, "grains[0].jitter", ["belongs to a lattice"]),
    ({"grains": [{**COUNT, "jitter": 1.5}]}, "grains[0].jitter", ["between 0 and 1", "1.5"]),
    ({"grains": [{**COUNT, "placement": "latice"}]}, "grains[0].placement", ["did you mean 'lattice'?", "latice"]),
    ({"grains": [{**GRAINS, "radii": [0.5]}]}, "grains[0].radii", ["together with radius", "keep one"]),
    ({"grains": [{"positions": [[0, 0]], "radii": [1, 2]}]}, "grains[0].radii", ["each of the 1 grains", "2"]),
    ({"grains": [{**GRAINS, "radius": 0}]}, "grains[0].radius", ["greater than zero", "0"]),
    ({"grains": [{**GRAINS, "radius": [2, 1]}]}, "grains[0].radius", ["swap them", "[2, 1]"]),
    ({"grains": [{**GRAINS, "radius": [1, 2, 3]}]}, "grains[0].radius", ["radii = [...]"]),
    ({"grains": [{**GRAINS, "radius": {"mean": 1}}]}, "grains[0].radius.std", ["missing", "standard deviation"]),
    ({"grains": [{**GRAINS, "radius": {}}]}, "grains[0].radius", ["values and shares", "mean and std"]),
    (
        {"grains": [{**GRAINS, "radius": {"values": [1], "shares": [1, 2]}}]},
        "grains[0].radius.shares",
        ["one share for each value", "1 values and 2 shares", "remove some", "given: [1.0, 2.0]"],
    ),
    (
        {"grains": [{**COUNT, "radius": {"values": [0.1, 0.2, 0.3], "shares": [1, 2], "by": "mass"}}]},
        "grains[0].radius.shares",
        ["3 values and 2 shares", "add some"],
    ),
    (
        {"inflow": [{"name": "a", "rate": 1, "region": [[0, 0], [9, 9]], "radius": {"values": [1, 2], "shares": [1]}}]},
        "inflow[0].radius.shares",
        ["2 values and 1 shares"],
    ),
    (
        {"grains": [{**COUNT, "name": "g"}], "force": [{"grains": "g", "force": [0, 1], "index": []}]},
        "force[0].index",
        ["names no grain", "remove index"],
    ),
    (
        {
            "grains": [{**COUNT, "name": "g"}],
            "spring": [{"name": "s", "grains": "g", "stiffness": 1, "direction": [1, 0], "velocity": 1, "index": []}],
        },
        "spring[0].index",
        ["names no grain"],
    ),
    (
        {"grains": [{**GRAINS, "radius": {"mean": 1, "std": 0.1, "min": 3, "max": 2}}]},
        "grains[0].radius.min",
        ["smaller than max = 2.0", "3.0"],
    ),
    (
        {"grains": [{**GRAINS, "radius": {"mean": 1, "std": 0.1, "distribution": "normal"}}]},
        "grains[0].radius.min",
        ["reaches below zero"],
    ),
    ({"grains": [{**GRAINS, "density": -1}]}, "grains[0].density", ["greater than zero", "-1"]),
    ({"grains": [{**GRAINS, "velocity": [[1, 0], [2, 0]]}]}, "grains[0].velocity", ["each of the 1 grains", "2"]),
    ({"grains": [{**GRAINS, "velocity": [1, 0, 0]}]}, "grains[0].velocity", ["2 components"]),
    ({"grains": [{**GRAINS, "spin": [0, 0, 1]}]}, "grains[0].spin", ["each of the 1 grains"]),
    ({"dimension": 3, "grains": [{"positions": [[0, 0, 0]], "radius": 1, "spin": 1}]}, "grains[0].spin", ["vector"]),
    ({"grains": [{**GRAINS, "positions": [[0, 0, 0]]}]}, "grains[0].positions", ["2 components"]),
    ({"grains": [{**GRAINS, "positions": [[0, 0], [1]]}]}, "grains[0].positions", ["equal length"]),
    ({"grains": [{**GRAINS, "positions": [["a", 0]]}]}, "grains[0].positions", ["numbers"]),
    ({"grains": [{**GRAINS, "positions": []}]}, "grains[0].positions", ["numbers"]),
    ({"grains": [{**GRAINS, "positions": [[0, 0], [float("nan"), 0]]}]}, "grains[0].positions", ["finite", "entry 1"]),
    ({"grains": [{**COUNT, "region": [[9, 0], [0, 9]]}]}, "grains[0].region", ["swap them", "[[9.0, 0.0]"]),
    ({"grains": [{**COUNT, "region": [0, 9]}]}, "grains[0].region", ["list of vectors"]),
    ({"grains": [{**COUNT, "region": [[0, 0]]}]}, "grains[0].region", ["two corners"]),
    ({"grains": [{**GRAINS, "material": "gold"}]}, "grains[0].material", ["unknown material", "gold", "[[material]]"]),
    ({"grains": [{**GRAINS, "name": ""}]}, "grains[0].name", ["not empty"]),
    ({"plane": [{**PLANE, "normal": [0, 0]}]}, "plane[0].normal", ["no length", "[0, 0]"]),
    ({"plane": [{**PLANE, "normal": [0, 0, 1]}]}, "plane[0].normal", ["2 components"]),
    ({"plane": [{"name": "floor", "point": [0, 0]}]}, "plane[0].normal", ["missing", "into the grains"]),
    ({"plane": [PLANE, PLANE]}, "plane[1].name", ["already given by plane[0]", "choose another", "floor"]),
    ({"plane": [{**PLANE, "about": [0, 0]}]}, "plane[0].about", ["give rotation"]),
    ({"plane": [{**PLANE, "rotation": [0, 0, 1]}]}, "plane[0].rotation", ["a number in 2D"]),
    ({"plane": [{**PLANE, "size": [1, 2]}]}, "plane[0].size", ["one length in 2D"]),
    ({"plane": [{**PLANE, "along": [1, 0]}]}, "plane[0].along", ["finite plate in 3D"]),
    ({"plane": [{**PLANE, "oscillation": 3}]}, "plane[0].oscillation", ["must be a table", "frequency"]),
    (
        {"plane": [{**PLANE, "oscillation": {"amplitude": [0, 1], "frequency": 0}}]},
        "plane[0].oscillation.frequency",
        ["greater than zero", "0"],
    ),
    (
        {"dimension": 3, "plane": [{"name": "p", "point": [0, 0, 0], "normal": [0, 0, 1], "size": [1, 2]}]},
        "plane[0].along",
        ["missing", "first side"],
    ),
    (
        {
            "dimension": 3,
            "plane": [{"name": "p", "point": [0] * 3, "normal": [0, 0, 1], "size": [1, 2], "along": [0, 0, 3]}],
        },
        "plane[0].along",
        ["parallel to the normal"],
    ),
    ({"box": [{"lower": [1, 0], "upper": [0, 1]}]}, "box[0].lower", ["below upper", "swap them"]),
    ({"box": [{"lower": [0, 0], "upper": [1, 1], "open": ["front"]}]}, "box[0].open[0]", ["front", "left, right"]),
    ({"box": [{"lower": [0, 0], "upper": [1, 1], "open": "top"}]}, "box[0].open", ["must be a list", "top"]),
    ({"plane": [{**PLANE, "name": "left"}], "box": [{"lower": [0, 0], "upper": [1, 1]}]}, "box[0].name", ["plane[0]"]),
    ({"cone": [{**CONE, "point": [0, 0]}]}, "cone[0].name", ["no meaning in 2D", "two planes with size"]),
    ({"cone": [{**CONE, "radii": [1, 0]}]}, "cone[0].radii", ["greater than zero"]),
    ({"dimension": 3, "cone": [{**CONE, "radii": [1, 2, 3]}]}, "cone[0].radii", ["two numbers", "[0.01, 0.05]"]),
    ({"dimension": 3, "cone": [{**CONE, "axis": [0, 1]}]}, "cone[0].axis", ["3 components"]),
    ({"cylinder": [{**CYLINDER, "radius": -9}]}, "cylinder[0].radius", ["greater than zero", "-9"]),
    ({"cylinder": [{**CYLINDER, "axis": [0, 1]}]}, "cylinder[0].axis", ["circle", "remove axis"]),
    ({"cylinder": [{**CYLINDER, "length": 3}]}, "cylinder[0].length", ["circle", "remove length"]),
    ({"cylinder": [{**CYLINDER, "side": "in"}]}, "cylinder[0].side", ["'inside' or 'outside'"]),
    ({"piston": [PISTON]}, "piston[0].mass", ["missing", "load", "velocity"]),
    ({"piston": [{**PISTON, "mass": -1}]}, "piston[0].mass", ["greater than zero", "-1"]),
    ({"piston": [{**PISTON, "load": 5, "velocity": 1}]}, "piston[0].load", ["needs a mass", "5.0"]),
    ({"piston": [{**PISTON, "velocity": [0, 1]}]}, "piston[0].velocity", ["must be a number"]),
    ({"force": [{"grains": "sand", "force": [0, 1]}]}, "force[0].grains", ["no group", "sand"]),
    (
        {"grains": [{**GRAINS, "name": "sand"}], "force": [{"grains": "snad", "force": [0, 1]}]},
        "force[0].grains",
        ["'sand'"],
    ),
    (
        {"grains": [{**GRAINS, "name": "a"}], "force": [{"grains": "a", "force": [0, 1], "index": 1}]},
        "force[0].index",
        ["from 0 to 0", "[1]"],
    ),
    ({"grains": [{**GRAINS, "name": "a"}, {**GRAINS, "name": "a"}]}, "grains[1].name", ["already given by grains[0]"]),
    ({"material": [{"name": "a"}, {"name": "a"}]}, "material[1].name", ["already given by material[0]"]),
    ({"pair": [{"materials": ["default"], "friction": 0}]}, "pair[0].materials", ["two names"]),
    ({"pair": [{"materials": ["default", "default"]}]}, "pair[0].friction", ["missing", "coefficient"]),
    (
        {"material": [{"name": "a", "friction": 0.4, "static_friction": 0.3}]},
        "material[0].static_friction",
        ["less than friction = 0.4", "0.3"],
    ),
    ({"material": [{"name": "a", "restitution": 1.1}]}, "material[0].restitution", ["between 0 and 1", "1.1"]),
    (
        {"material": [{"name": "a", "restitution": 1, "tangential_restitution": -2}]},
        "material[0].tangential_restitution",
        ["between -1 and 1"],
    ),
    ({"material": [{"name": "a", "cohesion": -1}]}, "material[0].cohesion", ["must not be negative"]),
    ({"material": [{"name": "a", "rolling": -1}]}, "material[0].rolling", ["must not be negative"]),
    ({"material": [{"name": "a", "twisting": 1}]}, "material[0].twisting", ["no meaning in 2D"]),
    ({"material": [{"name": "a", "range": 0.1}]}, "material[0].range", ["give cohesion too"]),
    ({"material": [{"name": "a", "cohesion": 1, "decay": 0.1}]}, "material[0].range", ["missing", "bridge breaks"]),
    ({"material": [{"name": "a", "threshold": 0.1}]}, "material[0].threshold", ["give restitution too"]),
    ({"pair": [{"materials": ["default", "tin"], "friction": 0}]}, "pair[0].materials", ["unknown material", "tin"]),
    (
        {"pair": [{"materials": ["default", "default"], "friction": f} for f in (0, 1)]},
        "pair[1].materials",
        ["pair[0]"],
    ),
    ({"run": {"dt": 0}}, "run.dt", ["greater than zero", "0"]),
    ({"run": {"steps": 0}}, "run.steps", ["at least 1"]),
    ({"run": {"seed": -1}}, "run.seed", ["at least 0", "-1"]),
    ({"solver": {"order": "Random"}}, "solver.order", ["did you mean 'random'?"]),
    ({"solver": {"axis": "+x"}}, "solver.axis", ["belongs to order = 'ordered'"]),
    ({"solver": {"order": "ordered", "axis": "+z"}}, "solver.axis", ["x or y in 2D"]),
    ({"solver": {"block": 7}}, "solver.block", ["random_blocks"]),
    ({"solver": {"criterion": "fixed"}}, "solver.sweeps", ["missing", "number of sweeps"]),
    ({"solver": {"sweeps": 7}}, "solver.sweeps", ["criterion = 'fixed'", "max_sweeps"]),
    ({"solver": {"criterion": "global", "delta": 1}}, "solver.delta", ["criterion = 'local'"]),
    ({"solver": {"epsilon": 0}}, "solver.epsilon", ["greater than zero"]),
    ({"output": {"picture": 1}}, "output.picture", ["true or false"]),
    ({"output": {"colour": "red"}}, "output.colour", ["load, rotation, speed", "id, status, group", "red"]),
]

TYPOS = [
    ({"dimensoin": 2}, "dimensoin", "dimension"),
    ({"grains": [{**GRAINS, "raduis": 1}]}, "grains[0].raduis", "radius"),
    ({"grains": [{**GRAINS, "radius": {"valeus": [1]}}]}, "grains[0].radius.valeus", "values"),
    ({"grains": [{**GRAINS, "radius": {"mean": 1, "std": 1, "maxx": 2}}]}, "grains[0].radius.maxx", "max"),
    ({"plane": [{**PLANE, "frction": 1}]}, "plane[0].frction", "friction"),
    (
        {"plane": [{**PLANE, "oscillation": {"amplitude": [0, 1], "frequency": 1, "phse": 0}}]},
        "plane[0].oscillation.phse",
        "phase",
    ),
    ({"box": [{"lower": [0, 0], "upper": [1, 1], "opne": []}]}, "box[0].opne", "open"),
    ({"cylinder": [{**CYLINDER, "lenght": 1}]}, "cylinder[0].lenght", "length"),
    ({"piston": [{**PISTON, "mass": 1, "laod": 1}]}, "piston[0].laod", "load"),
    ({"force": [{"grains": "grains[0]", "force": [0, 1], "indx": 1}], "grains": [GRAINS]}, "force[0].indx", "index"),
    ({"material": [{"name": "a", "fricton": 1}]}, "material[0].fricton", "friction"),
    ({"pair": [{"materials": ["default"] * 2, "friction": 1, "material": 1}]}, "pair[0].material", "materials"),
    ({"run": {"untill": 1}}, "run.untill", "until"),
    ({"solver": {"epsilom": 1}}, "solver.epsilom", "epsilon"),
    ({"output": {"color": "load"}}, "output.color", "colour"),
]


@pytest.mark.parametrize(
    ("words", "place", "parts"), CASES, ids=[f"{place}-{k}" for k, (_, place, _) in enumerate(CASES)]
)
def test_a_mistake_is_told_with_place_value_and_remedy(words, place, parts):
    with pytest.raises(SceneError) as caught:
        Scene(**words)
    problem = next((problem for problem in caught.value.problems if problem.place == place), None)
    assert problem is not None, str(caught.value)
    for part in parts:
        assert part in str(problem)
    for jargon in ("Input should", "type=", "pydantic", "Value error"):
        assert jargon not in str(caught.value)


@pytest.mark.parametrize(("words", "place", "nearest"), TYPOS, ids=[place for _, place, _ in TYPOS])
def test_an_unknown_key_names_the_nearest_one(words, place, nearest):
    with pytest.raises(SceneError) as caught:
        Scene(**words)
    [message] = [problem.message for problem in caught.value.problems if problem.place == place]
    assert message == f"unknown key '{place.split('.')[-1]}'; did you mean '{nearest}'?"


def test_a_key_like_no_other_lists_the_known_ones():
    with pytest.raises(SceneError, match="unknown key 'zzz'; known are dt, until, steps, seed, stop_speed"):
        Scene(run={"zzz": 1})


def test_pictures_have_the_colours_that_a_scene_may_ask_for():
    assert set(settings.COLOURS) == set(COLOURS)


def test_words_are_checked_as_they_are_said():
    scene = Scene(dimension=2)
    scene.add_grains(**GRAINS)
    with pytest.raises(SceneError, match=r"grains\[1\]\.radius: must be greater than zero; given: -1"):
        scene.add_grains(positions=[[0, 0]], radius=-1)
    with pytest.raises(SceneError, match="friction: must not be negative; given: -2"):
        scene.friction = -2
    with pytest.raises(SceneError, match="seed: must be at least 0; given: -1"):
        scene.build(seed=-1)


def test_references_are_checked_when_building():
    scene = Scene(dimension=2)
    scene.add_grains(**GRAINS, material="gold")
    scene.add_force(grains="silt", force=(0, 1))
    with pytest.raises(SceneError) as caught:
        scene.build()
    assert [problem.place for problem in caught.value.problems] == ["grains[0].material", "force[0].grains"]


def built(**words):
    with pytest.raises(SceneError) as caught:
        Scene(**words).build()
    return str(caught.value)


def test_an_empty_scene_is_refused():
    assert "empty scene" in built(plane=[PLANE])


def test_overlapping_grains_name_the_worst_pair():
    message = built(grains=[{"positions": [[0, 0], [1.9, 0], [10, 0], [11, 0], [20, 0]], "radius": 1}])
    assert "grains[0].positions[2]: this grain and grains[0].positions[3] overlap by 1 of the smaller radius" in message
    assert "the deepest of 2 overlaps" in message
    assert "move them 1 m apart" in message
    assert "given: [10.0, 0.0, 0.0]" in message


def test_overlaps_across_groups_and_sizes_are_found():
    message = built(grains=[{"positions": [[0, 0]], "radius": 10}, {"positions": [[50, 0], [10.05, 0]], "radius": 0.1}])
    assert "grains[0].positions[0]: this grain and grains[1].positions[1] overlap by 0.5" in message


def test_grains_in_and_behind_walls_are_named():
    message = built(grains=[{"positions": [[0, 0.5], [5, 5]], "radius": 1}], plane=[PLANE])
    assert "grains[0].positions[0]: this grain overlaps wall 'floor' by 0.5 of its radius; move it by 0.5 m" in message
    message = built(grains=[{"positions": [[0, -5], [5, -6]], "radius": 1}], plane=[PLANE])
    assert "grains[0].positions[1]: this grain lies behind wall 'floor', the deepest of 2 such grains" in message
    message = built(grains=[{"positions": [[0, 8.5]], "radius": 1}], piston=[{**PISTON, "mass": 1}])
    assert "this grain overlaps piston 'lid' by 0.5 of its radius" in message


def test_beside_a_finite_tube_is_legal_but_across_its_wall_is_not():
    tube = {"name": "tube", "point": [0, 0, 0], "radius": 2, "length": 6}
    beside = {"positions": [[3, 0, 0]], "radius": 1}
    across = {"positions": [[2.5, 0, 0]], "radius": 1}
    assert Scene(dimension=3, cylinder=[tube], grains=[beside]).build().count == 1
    assert "overlaps wall 'tube' by 0.5" in built(dimension=3, cylinder=[tube], grains=[across])


def test_masses_beyond_the_range_of_numbers_are_refused():
    assert "check the units" in built(dimension=3, grains=[{"positions": [[0, 0, 0]], "radius": 1e-110}])


def test_many_positions_of_mixed_size_are_checked_quickly():
    side = np.arange(46) * 2.0
    positions = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    radii = np.where(np.arange(len(positions)) % 10, 0.1, 1.0)
    scene = Scene(dimension=3)
    scene.add_grains(positions=positions, radii=radii)
    assert scene.build().count == 46**3


@pytest.mark.parametrize(
    ("words", "place", "tables"),
    [
        ({"restitution": 0.5}, "restitution", "[[material]], [[pair]]"),
        ({"grains": [{"positions": [[0, 0]], "radius": 1.0, "accuracy": "fast"}]}, "grains[0].accuracy", "[solver]"),
    ],
)
def test_a_key_of_another_table_names_that_table(words, place, tables):
    with pytest.raises(SceneError) as caught:
        Scene(**words)
    [problem] = caught.value.problems
    assert (problem.place, problem.message) == (place, f"unknown key '{place.split('.')[-1]}'; it is a key of {tables}")


@pytest.mark.parametrize("key", ["rolling", "twisting"])
def test_levers_beyond_every_radius_are_refused(key):
    """A torque of more than r R_n needs a force beyond the surface; inf is the word for grains that never turn."""
    words = {"dimension": 3, "gravity": [0, 0, -1], "material": [{"name": "m"}]}
    words["grains"] = [{"positions": [[0, 0, 0]], "radius": 1e-3}]
    for lever in (1e-3, float("inf")):
        Simulation(Scene(**words | {"pair": [{"materials": ["m", "default"], "rolling": 1e-4, key: lever}]}))
    scene = Scene(**words | {"pair": [{"materials": ["m", "default"], "rolling": 1e-4, key: 1.1e-3}]})
    with pytest.raises(SceneError, match=rf"pair\[0\].{key}: is a length .*more than 0.001 m; .*0.0001, say"):
        Simulation(scene)
