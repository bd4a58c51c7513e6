"""[[shape]]: each word makes what it says, rounding is a share of the grain's radius, mistakes have a remedy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rigidgrains.scene import Scene, SceneError, Shape, load_scene
from rigidgrains.scene.toml import write_toml

TRIANGLE = [[0, 0], [3, 0], [0, 4]]
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
CROSS = [{"vertices": [[-1, 0], [1, 0]]}, {"vertices": [[0, -1], [0, 1]]}]

# dimension, words of the shape, its area or volume as drawn
DRAWN = [
    (2, {"polygon": 6}, 1.5 * math.sqrt(3.0)),
    (2, {"vertices": TRIANGLE}, 6.0),
    (2, {"box": [0.2, 0.1]}, 0.02),
    (3, {"box": [1, 2, 3]}, 6.0),
    (2, {"capsule": 3}, 2.0 + math.pi / 4.0),
    (3, {"capsule": 3}, math.pi / 2.0 + math.pi / 6.0),
    (3, {"vertices": TETRAHEDRON}, 1.0 / 6.0),
    (3, {"solid": "cube"}, 8.0 / 3.0**1.5),
    (3, {"solid": "octahedron"}, 4.0 / 3.0),
    (2, {"centres": [[0, 0], [2, 0]], "radii": 1}, 2.0 * math.pi),
    (3, {"centres": [[0, 0, 0], [3, 0, 0]], "radii": [2, 1]}, 12.0 * math.pi),
    (2, {"centres": [[0, 0], [0, 0]], "radii": [2, 1]}, 4.0 * math.pi),
    (2, {"centres": [[0, 0], [0, 0]], "radii": [2, 1], "mass": "parts"}, 5.0 * math.pi),
    (2, {"parts": [{"vertices": TRIANGLE}, {"vertices": [[0, 0], [0, -1], [3, -1], [3, 0]]}]}, 9.0),
]


@pytest.mark.parametrize(("dimension", "words", "volume"), DRAWN)
def test_a_drawing_has_its_volume_and_the_grain_its_mass(dimension, words, volume):
    """As drawn: masses are density times the exact area or volume."""
    scene = Scene(dimension=dimension)
    scene.add_shape("drawn", **words)
    scene.add_grains(shape="drawn", size="as drawn", positions=[[0.0] * dimension], density=3.0)
    assert scene.build().mass == pytest.approx([3.0 * volume], rel=1e-7)


@pytest.mark.parametrize(("dimension", "words", "volume"), DRAWN)
def test_a_grain_has_the_volume_of_the_round_one_of_its_radius(dimension, words, volume):
    scene = Scene(dimension=dimension)
    scene.add_shape("drawn", **words)
    scene.add_grains(shape="drawn", radius=0.2, positions=[[0.0] * dimension], density=3.0)
    bodies = scene.build()
    shape = bodies.catalogue.shapes[bodies.shape[0]]
    ball = math.pi * 0.2**2 if dimension == 2 else 4.0 / 3.0 * math.pi * 0.2**3
    assert bodies.radius == pytest.approx([0.2], rel=1e-15)
    assert bodies.mass == pytest.approx([3.0 * ball])
    assert shape.volume * 0.2**dimension == pytest.approx(ball)


@pytest.mark.parametrize(
    ("dimension", "words"),
    [
        (2, {"polygon": 5}),
        (2, {"vertices": TRIANGLE}),
        (2, {"vertices": [[0, 0], [70, 0]]}),
        (3, {"box": [1, 2, 3]}),
        (3, {"solid": "tetrahedron"}),
        (2, {"parts": CROSS}),
    ],
)
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_rounding_is_a_share_of_the_radius_in_whatever_units_one_draws(dimension, words, share):
    parts = Shape(name="a", rounding=share, **words).make(dimension).parts
    assert [part.rounding for part in parts] == pytest.approx([share] * len(parts), rel=1e-6)


def test_a_part_has_a_rounding_of_its_own():
    parts = [{**CROSS[0], "rounding": 0.3}, CROSS[1]]
    made = Shape(name="a", rounding=0.1, parts=parts).make(2).parts
    assert [part.rounding for part in made] == pytest.approx([0.3, 0.1], rel=1e-6)


def test_a_rounded_square_by_its_area():
    """Side a, rounding s r with r the radius of equal area: a^2 + 4 a s r + pi (s r)^2 = pi r^2."""
    share, a = 0.1, 2.0
    r = (4 * a * share + math.sqrt((4 * a * share) ** 2 + 4 * a**2 * math.pi * (1 - share**2))) / (
        2 * math.pi * (1 - share**2)
    )
    assert 1.0 / Shape(name="a", box=[a, a], rounding=share).make(2).scale == pytest.approx(r, rel=1e-12)


def test_the_centre_of_a_drawing():
    assert Shape(name="a", vertices=[[0, 0], [3, 0], [0, 3]]).centre == pytest.approx([1.0, 1.0])
    assert Shape(name="a", vertices=TETRAHEDRON).centre == pytest.approx([0.25] * 3)
    assert Shape(name="a", capsule=2).centre == pytest.approx([0.0, 0.0])
    assert Shape(name="a", solid="cube").centre == pytest.approx([0.0, 0.0, 0.0])


def write_stl(path: Path, corners: list[list[float]]) -> None:
    """A tetrahedron as text."""
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    lines = [f"vertex {' '.join(map(str, corners[v]))}" for face in faces for v in face]
    path.write_text("solid a\n" + "\n".join(lines) + "\nendsolid a\n")


def test_a_file_lies_beside_the_scene(tmp_path, monkeypatch):
    write_stl(tmp_path / "stone.stl", TETRAHEDRON)
    (tmp_path / "scene.toml").write_text(
        'dimension = 3\n[[shape]]\nname = "stone"\nfile = "stone.stl"\n'
        '[[grains]]\nshape = "stone"\nsize = "as drawn"\npositions = [[0, 0, 0]]\ndensity = 6\n'
    )
    assert load_scene(tmp_path / "scene.toml").build().mass == pytest.approx([1.0])


CASES = [
    (2, {}, "shape[0].polygon", ["missing", "vertices", "parts"]),
    (2, {"polygon": 5, "box": [1, 2]}, "shape[0].box", ["together with polygon", "keep one", "[1.0, 2.0]"]),
    (2, {"polygn": 5}, "shape[0].polygn", ["unknown key", "did you mean 'polygon'?"]),
    (2, {"polygon": 2}, "shape[0].polygon", ["at least 3", "2"]),
    (2, {"polygon": 3.5}, "shape[0].polygon", ["whole number"]),
    (3, {"polygon": 5}, "shape[0].polygon", ["no volume in 3D", "dimension = 2", "5"]),
    (2, {"solid": "cube"}, "shape[0].solid", ["no shape in 2D", "dimension = 3", "cube"]),
    (3, {"solid": "dodecaeder"}, "shape[0].solid", ["did you mean 'dodecahedron'?"]),
    (2, {"file": "a.stl"}, "shape[0].file", ["no shape in 2D"]),
    (3, {"file": "a.stl"}, "shape[0].file", ["cannot be read", "check the path"]),
    (3, {"file": 3}, "shape[0].file", ["path of a file"]),
    (2, {"vertices": [[0, 0], [0, 1], [1, 0]]}, "shape[0].vertices", ["clockwise", "opposite order"]),
    (2, {"vertices": [[0, 0], [1, 1], [2, 2]]}, "shape[0].vertices", ["one line"]),
    (2, {"vertices": [[0, 0], [2, 0], [0.5, 0.5], [0, 2]]}, "shape[0].vertices", ["not convex at vertex 2", "parts"]),
    (2, {"vertices": [[0, 0], [1, 1], [1, 0], [0, 1]]}, "shape[0].vertices", ["cross", "order the vertices"]),
    (2, {"vertices": [[0, 0], [1, 0]]}, "shape[0].vertices", ["segment", "rounding above 0"]),
    (2, {"vertices": [[0, 0], [1]]}, "shape[0].vertices", ["equal length"]),
    (2, {"vertices": TETRAHEDRON}, "shape[0].vertices", ["points of 2 numbers", "dimension = 2"]),
    (3, {"vertices": TRIANGLE}, "shape[0].vertices", ["points of 3 numbers", "dimension = 3"]),
    (3, {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}, "shape[0].vertices", ["in one plane"]),
    (2, {"vertices": [[0, 0]], "rounding": 0.5}, "shape[0].vertices", ["points alone", "centres and radii"]),
    (2, {"box": [1, 2, 3]}, "shape[0].box", ["must have 2 lengths", "[1.0, 2.0, 3.0]"]),
    (2, {"box": [1, -2]}, "shape[0].box", ["greater than zero", "[1, -2]"]),
    (2, {"capsule": 0.5}, "shape[0].capsule", ["1 (round) or more", "0.5"]),
    (2, {"capsule": 2, "rounding": 0.1}, "shape[0].rounding", ["no meaning with capsule", "remove it"]),
    (2, {"polygon": 5, "rounding": 1}, "shape[0].rounding", ["at least 0", "less than 1"]),
    (2, {"polygon": 5, "rounding": -0.1}, "shape[0].rounding", ["at least 0", "-0.1"]),
    (2, {"polygon": 5, "radii": 1}, "shape[0].radii", ["belongs to centres"]),
    (2, {"polygon": 5, "mass": "union"}, "shape[0].mass", ["belongs to centres or parts"]),
    (2, {"centres": [[0, 0]], "radii": 1, "mass": "sum"}, "shape[0].mass", ["'union' or 'parts'"]),
    (2, {"centres": [[0, 0], [1, 0]]}, "shape[0].radii", ["missing", "one for each centre"]),
    (2, {"centres": [[0, 0], [1, 0]], "radii": [1, 2, 3]}, "shape[0].radii", ["each of the 2 centres", "3"]),
    (2, {"centres": [[0, 0], [1, 0]], "radii": 0}, "shape[0].radii", ["greater than zero"]),
    (2, {"centres": [[0, 0], [1, 0]], "radii": 0.3}, "shape[0].centres", ["part 1 does not touch", "closer"]),
    (3, {"centres": [[0, 0], [1, 0]], "radii": 0.3}, "shape[0].centres", ["points of 3 numbers"]),
    (2, {"parts": []}, "shape[0].parts", ["list of tables"]),
    (2, {"parts": [3]}, "shape[0].parts[0]", ["must be a table", "3"]),
    (2, {"parts": [{"vertices": 3}]}, "shape[0].parts[0].vertices", ["list of vectors"]),
    (2, {"parts": [{**CROSS[0], "rond": 1}]}, "shape[0].parts[0].rond", ["unknown key", "did you mean 'rounding'?"]),
    (2, {"parts": [{"vertices": TETRAHEDRON}]}, "shape[0].parts[0].vertices", ["points of 2 numbers"]),
    (2, {"name": "disk", "polygon": 5}, "shape[0].name", ["round grains", "choose another", "disk"]),
    (2, {"name": "", "polygon": 5}, "shape[0].name", ["not empty"]),
]


@pytest.mark.parametrize(("dimension", "words", "place", "parts"), CASES)
def test_each_mistake_has_place_value_and_remedy(dimension, words, place, parts):
    with pytest.raises(SceneError) as caught:
        Scene(dimension=dimension, shape=[{"name": "a", **words}])
    (problem,) = caught.value.problems
    assert problem.place == place
    for part in parts:
        assert part in str(problem)
    assert "\n" not in str(problem)


def test_all_mistakes_of_parts_are_told_at_once():
    parts = [CROSS[0], {"vertices": [[0, 0], [1, 1], [2, 2]]}]
    with pytest.raises(SceneError) as caught:
        Scene(shape=[{"name": "a", "parts": parts}, {"name": "a", "polygon": 5}])
    places = [problem.place for problem in caught.value.problems]
    assert places == ["shape[0].parts[0].vertices", "shape[0].parts[1].vertices", "shape[1].name"]


def test_python_and_toml_say_the_same_words(tmp_path):
    """Also what is written of the words again is the same, to the bit."""
    words = {
        "dimension": 2,
        "shape": [
            {"name": "pentagon", "polygon": 5, "rounding": 0.02},
            {"name": "cross", "parts": [{**CROSS[0], "rounding": 0.3}, CROSS[1]], "rounding": 0.25},
            {"name": "pair", "centres": [[0, 0], [1, 0]], "radii": [0.6, 0.5], "mass": "parts"},
        ],
        "grains": [
            {
                "count": 30,
                "radius": [0.1, 0.2],
                "region": [[0, 0], [5, 5]],
                "shape": {"pentagon": 3, "cross": 2, "pair": 1, "disk": 1},
            },
            {"positions": [[7, 7], [9, 9]], "shape": "pentagon", "size": "as drawn", "angles": [0.1, 0.2]},
        ],
    }
    path = tmp_path / "scene.toml"
    path.write_text(write_toml(words), encoding="utf-8")
    scene = Scene(dimension=2)
    for shape in words["shape"]:
        scene.add_shape(**shape)
    for grains in words["grains"]:
        scene.add_grains(**grains)
    loaded = load_scene(path)
    dumped = {
        key: [table.model_dump(exclude_unset=True) for table in getattr(loaded, key)] for key in ("shape", "grains")
    }
    again = Scene(dimension=2, **dumped)
    first, *others = [one.build() for one in (scene, loaded, again)]
    for other in others:
        assert other.catalogue.words() == first.catalogue.words()
        for name in ("position", "radius", "orientation", "shape", "mass"):
            assert getattr(other, name).tobytes() == getattr(first, name).tobytes(), name


def test_the_schema_knows_shapes():
    schema = Scene.json_schema()
    assert "shape" in schema["properties"]
    shape = schema["$defs"]["Shape"]["properties"]
    assert {"polygon", "vertices", "box", "capsule", "solid", "file", "centres", "radii", "parts"} <= set(shape)
    assert "rounding" in shape["parts"]["anyOf"][0]["items"]["properties"]
    assert {"shape", "size", "orientation", "angles", "quaternions"} <= set(schema["$defs"]["Grains"]["properties"])
    assert np.array(shape["solid"]["anyOf"][0]["enum"]).size == 5
