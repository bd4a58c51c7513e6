"""Scenes: TOML and Python say the same, masses and friction follow theory, walls are what was said."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from rigidgrains.model import shapes
from rigidgrains.model.sizes import Spread
from rigidgrains.scene import Scene, SceneError, load_scene

TOML = """
title = "everything"
dimension = 3
gravity = [0, 0, -9.81]
friction = 0.3

[run]
dt = 1e-4
until = 0.5
seed = 4

[solver]
order = "ordered"
axis = "+z"
criterion = "fixed"
sweeps = 20

[output]
every = 5
colour = "speed"

[[material]]
name = "glass"
friction = 0.2

[[pair]]
materials = ["glass", "default"]
friction = 0.7

[[grains]]
name = "bed"
count = 40
radius = { values = [0.01, 0.02], shares = [3, 1], by = "number" }
region = [[-0.4, -0.4, 0.1], [0.4, 0.4, 0.9]]
material = "glass"
spin = [0, 0, 2]

[[grains]]
name = "intruder"
positions = [[0, 0, 0.95]]
radius = 0.03
density = 7800
velocity = [0, 0, -1]

[[box]]
name = "box"
lower = [-0.5, -0.5, 0]
upper = [0.5, 0.5, 1.2]
open = ["top"]

[[plane]]
name = "shaker"
point = [0, 0, 0.02]
normal = [0, 0, 2]
oscillation = { amplitude = [0, 0, 0.001], frequency = 50 }

[[cylinder]]
name = "rod"
point = [0.45, 0, 0]
radius = 0.01
side = "outside"
rotation = [0, 0, 3]

[[piston]]
name = "lid"
point = [0, 0, 1.1]
normal = [0, 0, -1]
mass = 2
load = 20
velocity = 0.5

[[force]]
grains = "intruder"
force = [1, 0, 0]
"""


def python_scene() -> Scene:
    scene = Scene(
        title="everything",
        dimension=3,
        gravity=(0, 0, -9.81),
        friction=0.3,
        run={"dt": 1e-4, "until": 0.5, "seed": 4},
        solver={"order": "ordered", "axis": "+z", "criterion": "fixed", "sweeps": 20},
        output={"every": 5, "colour": "speed"},
    )
    scene.add_material("glass", friction=0.2)
    scene.add_pair(materials=("glass", "default"), friction=0.7)
    scene.add_grains(
        name="bed",
        count=40,
        radius={"values": np.array([0.01, 0.02]), "shares": (3, 1), "by": "number"},
        region=np.array([[-0.4, -0.4, 0.1], [0.4, 0.4, 0.9]]),
        material="glass",
        spin=(0, 0, 2),
    )
    intruder = np.array([[0, 0, 0.95]])
    scene.add_grains(name="intruder", positions=intruder, radius=0.03, density=7800, velocity=(0, 0, -1))
    scene.add_box(name="box", lower=(-0.5, -0.5, 0), upper=(0.5, 0.5, 1.2), open=["top"])
    oscillation = {"amplitude": (0, 0, 0.001), "frequency": 50}
    scene.add_plane("shaker", point=(0, 0, 0.02), normal=(0, 0, 2), oscillation=oscillation)
    scene.add_cylinder("rod", point=(0.45, 0, 0), radius=0.01, side="outside", rotation=(0, 0, 3))
    scene.add_piston("lid", point=(0, 0, 1.1), normal=(0, 0, -1), mass=2, load=20, velocity=0.5)
    scene.add_force(grains="intruder", force=(1, 0, 0))
    return scene


def test_toml_and_python_build_the_same_bits(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(TOML)
    a, b = load_scene(path).build(), python_scene().build()
    for name in ("position", "radius", "mass", "motion", "orientation", "material", "force", "gravity", "friction"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.groups == b.groups == {"bed": slice(0, 40), "intruder": slice(40, 41)}
    assert [repr(wall) for wall in a.walls] == [repr(wall) for wall in b.walls]


def test_everything_that_was_said_arrives():
    bodies = python_scene().build()
    walls = {wall.name: wall for wall in bodies.walls}
    assert list(walls) == ["shaker", "box.left", "box.right", "box.front", "box.back", "box.bottom", "rod", "lid"]
    assert walls["shaker"].shape.normal == pytest.approx([0, 0, 1])
    assert walls["shaker"].drive.amplitude == pytest.approx([0, 0, 0.001])
    assert walls["box.back"].shape.normal == pytest.approx([0, -1, 0])
    assert walls["rod"].drive.spin == pytest.approx([0, 0, 3])
    assert (walls["lid"].mass, walls["lid"].load) == (2.0, 20.0)
    assert bodies.motion[bodies.count + 7, 0:3] == pytest.approx([0, 0, -0.5])
    assert bodies.force[40] == pytest.approx([1, 0, 0])
    assert not bodies.force[:40].any()
    assert bodies.spin[:40] == pytest.approx(np.tile([0.0, 0.0, 2.0], (40, 1)))
    assert bodies.velocity[40] == pytest.approx([0, 0, -1])
    assert sorted(bodies.radius[:40]) == pytest.approx([0.01] * 30 + [0.02] * 10)


@pytest.mark.parametrize(("dimension", "volume"), [(2, math.pi * 0.04), (3, 4 / 3 * math.pi * 0.008)])
def test_masses_follow_from_density_and_dimension(dimension, volume):
    scene = Scene(dimension=dimension)
    scene.add_grains(positions=[[0.0] * dimension], radius=0.2, density=1000)
    scene.add_grains(positions=[[1.0] * dimension], radius=0.2)
    assert scene.build().mass == pytest.approx([1000 * volume, 2500 * volume])


def test_a_flat_scene_lies_in_the_plane_z_0():
    scene = Scene(dimension=2, gravity=(0, -9.81))
    scene.add_grains(positions=[[1, 2]], radius=0.2, velocity=(3, 4), spin=5)
    bodies = scene.build()
    assert bodies.gravity == pytest.approx([0, -9.81, 0])
    assert bodies.position[0] == pytest.approx([1, 2, 0])
    assert bodies.velocity[0] == pytest.approx([3, 4, 0])
    assert bodies.spin[0] == pytest.approx([0, 0, 5])


@pytest.mark.parametrize(
    ("grain", "wall", "expected"),
    [
        ({}, {}, 0.5),  # the scene's
        ({}, {"friction": 0.0}, 0.0),  # the wall's own
        ({"material": "glass"}, {"material": "glass"}, 0.2),  # two of a kind
        ({"material": "wood"}, {"material": "wood"}, 0.5),  # two of a kind without a coefficient
        ({"material": "glass"}, {"material": "glass", "friction": 0.9}, 0.9),  # own wins over two of a kind
        ({"material": "glass"}, {"material": "steel"}, 0.1),  # the pair's
        ({"material": "glass"}, {"material": "steel", "friction": 0.9}, 0.1),  # the pair wins over the wall's own
        ({"material": "steel"}, {"material": "steel"}, 0.4),  # a pair of one material
        ({"material": "glass"}, {}, 0.6),  # a pair with the default
        ({"material": "wood"}, {"material": "glass"}, 0.5),  # strangers
    ],
)
def test_friction_rule(grain, wall, expected):
    scene = Scene(dimension=2, friction=0.5)
    scene.add_material("glass", friction=0.2)
    scene.add_material("steel", friction=0.3)
    scene.add_material("wood")
    scene.add_pair(materials=["glass", "steel"], friction=0.1)
    scene.add_pair(materials=["steel", "steel"], friction=0.4)
    scene.add_pair(materials=["default", "glass"], friction=0.6)
    scene.add_grains(positions=[[0, 1]], radius=0.5, **grain)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1), **wall)
    bodies = scene.build()
    assert bodies.friction[bodies.material[0], bodies.walls[0].material] == expected
    assert np.array_equal(bodies.friction, bodies.friction.T)


@pytest.mark.parametrize("normal", [0, 1])
@pytest.mark.parametrize("tangential", [-1, 1])
def test_limits_of_restitution_belong_to_it(normal, tangential):
    """Perfectly elastic and perfectly plastic, smooth and rough: 0, 1 and -1 themselves are allowed."""
    scene = Scene(dimension=2)
    scene.add_material("a", restitution=normal, tangential_restitution=tangential)
    scene.add_grains(positions=[[0, 0]], radius=1.0, material="a")
    bodies = scene.build()
    (law,), own = bodies.laws, bodies.material[0]
    assert law.normal[own, own] == normal
    assert law.tangential[own, own] == tangential


def test_plates_and_tubes_have_the_size_that_was_said():
    scene = Scene(dimension=3)
    scene.add_plane("plate", point=(0, 0, 0), normal=(0, 0, 1), size=[4, 2], along=(1, 0, 1))
    scene.add_cylinder("tube", point=(0, 0, 9), axis=(0, 0, 5), radius=2, length=6)
    scene.add_grains(positions=[[0, 0, 1], [0, 0, 9], [3, 0, 9]], radius=0.5)
    plate, tube = (wall.shape for wall in scene.build().walls)
    assert isinstance(plate, shapes.Plate)
    assert plate.half == (2.0, 1.0)
    assert plate.along == pytest.approx([1, 0, 0])
    assert isinstance(tube, shapes.Cylinder)
    assert (tube.half, tube.inside) == (3.0, True)


def test_a_flat_plate_is_a_segment():
    scene = Scene(dimension=2)
    scene.add_plane("step", point=(0, 0), normal=(0, 1), size=4)
    scene.add_grains(positions=[[2.5, 0], [0, 0.6]], radius=0.5)
    bodies = scene.build()
    gap, _ = bodies.walls[0].shape.gaps(np.arange(2, dtype=np.int32), bodies.position, bodies.radius)
    assert gap == pytest.approx([0.0, 0.1])


def test_a_piston_without_mass_is_driven_along_its_normal():
    scene = Scene(dimension=2)
    scene.add_piston("ram", point=(0, 0), normal=(3, 4), velocity=10)
    scene.add_grains(positions=[[3, 4]], radius=1)
    wall = scene.build().walls[0]
    assert not wall.guided
    assert wall.drive.velocity == pytest.approx([6, 8, 0])


def test_shares_by_mass_are_shares_of_the_mass():
    scene = Scene(dimension=3)
    radius = {"values": [1, 2], "shares": [1, 1], "by": "mass"}
    scene.add_grains(count=900, radius=radius, region=[[0, 0, 0], [50, 50, 50]])
    radius = scene.build().radius
    assert (radius == 1).sum() == 800  # equal masses of two sizes: eight small grains for one large
    assert (radius == 2).sum() == 100


@pytest.mark.parametrize(("distribution", "cube"), [("lognormal", 1.25**3), ("normal", 1.0 + 3.0 * 0.25)])
def test_moments_of_a_spread(distribution, cube):
    """<r^2> = m^2 + s^2 for any spread; <r^3> = m^3 (1 + s^2/m^2)^3 and m^3 + 3 m s^2; cuts bound the mean."""
    spread = Spread(mean=2.0, std=1.0, distribution=distribution)
    assert spread.mean_power(2) == pytest.approx(5.0)
    assert spread.mean_power(3) == pytest.approx(8.0 * cube)
    assert Spread(mean=2.0, std=1.0, max=2.1, distribution=distribution).mean_power(3) == pytest.approx(2.1**3)


@pytest.mark.parametrize("distribution", ["lognormal", "normal"])
def test_a_spread_has_its_mean_and_deviation_and_keeps_its_cuts(distribution):
    words = {"mean": 1.0, "std": 0.1, "distribution": distribution}
    region = [[0, 0], [400, 400]]
    scene = Scene(dimension=2)
    scene.add_grains(name="wide", count=10_000, radius={**words, "min": 1e-3}, region=region)
    scene.add_grains(name="cut", count=1_000, radius={**words, "min": 0.9, "max": 1.1}, region=[[400, 0], [800, 400]])
    bodies = scene.build()
    wide, cut = bodies.radius[bodies.groups["wide"]], bodies.radius[bodies.groups["cut"]]
    assert wide.mean() == pytest.approx(1.0, abs=5 * 0.1 / 100)  # five standard errors
    assert wide.std() == pytest.approx(0.1, rel=0.05)
    assert cut.min() >= 0.9
    assert cut.max() <= 1.1


def test_forces_on_chosen_grains_add_up():
    scene = Scene(dimension=2)
    scene.add_grains(positions=[[0, 0], [2, 0], [4, 0]], radius=1)
    scene.add_force(grains="grains[0]", force=(1, 0))
    scene.add_force(grains="grains[0]", force=(0, 2), index=[0, 2])
    assert scene.build().force[:, :2] == pytest.approx(np.array([[1, 2], [1, 0], [1, 2]]))


def test_touching_grains_and_walls_are_legal_with_rounded_decimals():
    scene = Scene(dimension=2)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_grains(positions=[[0, 0.1], [0.1, 0.1 + 0.1732050]], radius=0.1)
    assert scene.build().count == 2


def test_a_failed_word_leaves_the_scene_as_it_was():
    scene = Scene(dimension=2)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    with pytest.raises(SceneError):
        scene.add_plane("floor", point=(0, 1), normal=(0, 1))
    assert [plane.name for plane in scene.plane] == ["floor"]


def test_the_schema_describes_every_table_and_field():
    schema = Scene.json_schema()
    json.dumps(schema)
    tables = ["grains", "plane", "box", "cylinder", "cone", "piston", "force", "material", "pair", "run", "solver"]
    tables.append("output")
    assert set(tables) <= set(schema["properties"])
    for name, definition in [("Scene", schema), *schema["$defs"].items()]:
        assert definition["additionalProperties"] is False, name
        for key, field in definition["properties"].items():
            assert field.get("description"), f"{name}.{key}"


def test_describing_a_scene_loads_no_compiler():
    describe = "s.Scene().add_grains(positions=[[0, 0]], radius=1)"
    code = f"import sys, rigidgrains.scene as s; {describe}; print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
