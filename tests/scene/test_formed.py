"""[[grains]] with a shape: shares, sizes, orientations, files; and what is refused."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from rigidgrains.app.about import scene_facts
from rigidgrains.formats.state import State
from rigidgrains.scene import Scene, SceneError
from rigidgrains.scene.forms import Forms
from rigidgrains.scene.shape import ROUND
from rigidgrains.shapes.build import polygon
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory.writer import TrajectoryWriter

PENTAGON = {"name": "pentagon", "polygon": 5}
BRICK = {"name": "brick", "vertices": [[0, 0], [2, 0], [2, 1], [0, 1]]}
COUNT = {"count": 40, "radius": 0.1, "region": [[0, 0], [9, 9]]}
SOLID_COUNT = {"count": 40, "radius": 0.1, "region": [[0, 0, 0], [9, 9, 9]]}


def corners(bodies, i: int) -> np.ndarray:
    """Vertices of a grain in space, sorted."""
    forms = Forms(bodies.catalogue, bodies.shape, bodies.radius, bodies.orientation)
    owner, place, _ = forms.corners
    points = (bodies.position[owner] + place)[owner == i]
    return points[np.lexsort(points.round(9).T)]


def test_round_scenes_have_no_catalogue():
    """Whatever they are called: the same bits as without a word about shapes."""
    plain = Scene(grains=[COUNT]).build()
    for words in ({"shape": "disk"}, {"shape": "sphere"}, {"shape": {"disk": 1, "ball": 2}}):
        scene = Scene(shape=[{"name": "ball", "capsule": 1}, PENTAGON], grains=[{**COUNT, **words}])
        bodies = scene.build()
        assert bodies.catalogue is None
        if len(np.atleast_1d(words["shape"])) == 1 and isinstance(words["shape"], str):
            assert bodies.position.tobytes() == plain.position.tobytes()
    drawn = Scene(
        shape=[{"name": "ball", "centres": [[3, 3]], "radii": 0.7}],
        grains=[{"positions": [[0, 0]], "shape": "ball", "size": "as drawn"}],
    )
    assert drawn.build().radius == pytest.approx([0.7])


def test_round_grains_beside_others_are_in_the_catalogue_and_stand_where_they_stood():
    alone = Scene(grains=[COUNT]).build()
    bodies = Scene(
        shape=[PENTAGON], grains=[COUNT, {"positions": [[20, 20]], "shape": "pentagon", "radius": 1}]
    ).build()
    assert bodies.catalogue.names == ("disk", "pentagon")
    assert bodies.shape.tolist() == [0] * 40 + [1]
    assert bodies.position[:40].tobytes() == alone.position.tobytes()
    assert bodies.bound[:40].tobytes() == bodies.radius[:40].tobytes()


def test_shares_are_of_the_number_and_the_seed_decides_who():
    def build(seed):
        grains = {**COUNT, "shape": {"pentagon": 7, "disk": 3}, "radius": [0.1, 0.2]}
        return Scene(shape=[PENTAGON], grains=[grains]).build(seed)

    one, same, other = build(1), build(1), build(2)
    assert np.bincount(one.shape).tolist() == [12, 28]
    for name in ("shape", "orientation", "position", "radius"):
        assert getattr(one, name).tobytes() == getattr(same, name).tobytes()
        assert getattr(one, name).tobytes() != getattr(other, name).tobytes()
    assert one.mass == pytest.approx(2500 * math.pi * one.radius**2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_grains_in_a_region_are_turned_at_random(dimension):
    """Uniformly: means of cos and sin, or of rotated axes, are zero within 5 / sqrt(n)."""
    count, edge = 2000, 30.0
    words = {"count": count, "radius": 0.1, "region": [[0] * dimension, [edge] * dimension], "shape": "rod"}
    bodies = Scene(dimension=dimension, shape=[{"name": "rod", "capsule": 1.2}], grains=[words]).build()
    forms = Forms(bodies.catalogue, bodies.shape, bodies.radius, bodies.orientation)
    axis = forms.rotations()[:, :dimension, 0]
    assert np.abs(axis.mean(axis=0)).max() < 5.0 / math.sqrt(count)
    assert (axis**2).mean(axis=0) == pytest.approx(1.0 / dimension, abs=5.0 / math.sqrt(count))
    assert len(np.unique(bodies.orientation, axis=0)) == count
    if dimension == 3:
        assert np.linalg.norm(bodies.orientation, axis=1) == pytest.approx(1.0)


def test_a_grain_that_is_not_turned_stands_as_drawn():
    bodies = Scene(shape=[BRICK], grains=[{"positions": [[1, 0.5]], "shape": "brick", "size": "as drawn"}]).build()
    assert corners(bodies, 0)[:, :2] == pytest.approx(np.array([[0, 0], [2, 0], [0, 1], [2, 1]]), abs=1e-12)


def test_angles_turn_the_drawing_counterclockwise():
    drawing = np.array([[-1.0, -1.0], [2.0, -1.0], [-1.0, 2.0]])  # a triangle about its centre
    scene = Scene(shape=[{"name": "wedge", "vertices": drawing}])
    scene.add_grains(positions=[[0, 0], [9, 0]], shape="wedge", size="as drawn", angles=[0.3, 0.0])
    bodies = scene.build()
    turned = (drawing @ [1, 1j]) * np.exp(0.3j)
    expected = np.stack([turned.real, turned.imag, np.zeros(3)], axis=1)
    assert corners(bodies, 0) == pytest.approx(expected[np.lexsort(expected.round(9).T)], abs=1e-12)
    assert bodies.orientation == pytest.approx([0.3, 0.0])


@pytest.mark.parametrize("turn", [None, [1, 0, 0, 0], [2, 2, 0, 0]])
def test_quaternions_turn_the_drawing_and_not_the_principal_axes(turn):
    """An oblique slab, whose principal axes are not those of the drawing; [2, 2, 0, 0] is a quarter turn about x."""
    drawing = np.array([[x, y, z] for x, y in ((0, 0), (3, 1), (4, 4), (1, 3)) for z in (0.0, 1.0)])
    scene = Scene(dimension=3)
    shape = scene.add_shape("slab", vertices=drawing)
    scene.add_grains(
        positions=[[10, 20, 30]], shape="slab", size="as drawn", **({} if turn is None else {"quaternions": turn})
    )
    bodies = scene.build()
    assert np.abs(bodies.catalogue.shapes[0].axes - np.eye(3)).max() > 0.1
    offset = drawing - shape.centre
    if turn == [2, 2, 0, 0]:
        offset = np.stack([offset[:, 0], -offset[:, 2], offset[:, 1]], axis=1)
    expected = offset + np.array([10.0, 20.0, 30.0])
    expected = expected[np.lexsort(expected.round(9).T)]
    assert corners(bodies, 0) == pytest.approx(expected, abs=1e-9)


def test_lists_stay_together_when_grains_are_placed():
    radii = np.linspace(0.1, 0.3, 20)
    scene = Scene(shape=[PENTAGON])
    scene.add_grains(count=20, radii=radii, region=[[0, 0], [9, 9]], shape="pentagon", angles=10 * radii)
    bodies = scene.build()
    assert bodies.orientation == pytest.approx(10 * bodies.radius)


def test_a_brick_as_drawn_has_its_lengths():
    scene = Scene(shape=[{"name": "brick", "box": [0.2, 0.1]}])
    scene.add_grains(positions=[[0, 0]], shape="brick", size="as drawn", density=2)
    bodies = scene.build()
    assert np.ptp(corners(bodies, 0), axis=0) == pytest.approx([0.2, 0.1, 0.0])
    assert bodies.radius == pytest.approx([math.sqrt(0.02 / math.pi)])
    assert bodies.mass == pytest.approx([0.04])


SHAPED = {"positions": [[0, 1]], "radius": 0.5, "shape": "pentagon"}
SOLID = {"positions": [[0, 0, 1]], "radius": 0.5, "shape": "cube"}
CASES = [
    (2, {"shape": "pentagn"}, "grains[0].shape", ["unknown shape", "did you mean 'pentagon'?"]),
    (2, {"shape": "stone"}, "grains[0].shape", ["unknown shape", "[[shape]]", "disk, pentagon, sphere", "stone"]),
    (2, {"shape": {"pentagon": 1, "stone": 2}}, "grains[0].shape", ["unknown shape", "stone"]),
    (2, {"shape": {"pentagon": 0}}, "grains[0].shape", ["greater than zero"]),
    (2, {"shape": {}}, "grains[0].shape", ["name of a shape", "shares"]),
    (2, {"shape": 5}, "grains[0].shape", ["name of a shape", "5"]),
    (2, {"size": "as drawn"}, "grains[0].radius", ["no meaning with size", "remove radius", "0.5"]),
    (2, {"size": "as drawn", "radius": None, "shape": "disk"}, "grains[0].shape", ["no drawing", "centres and radii"]),
    (2, {"size": "drawn"}, "grains[0].size", ["'equal volume' or 'as drawn'"]),
    (2, {"shape": None, "size": "as drawn"}, "grains[0].size", ["belongs to shape"]),
    (2, {"shape": None, "angles": 1}, "grains[0].angles", ["belongs to shape"]),
    (2, {"orientation": "aligned"}, "grains[0].orientation", ["must be 'random'"]),
    (2, {"orientation": "random", "angles": 1}, "grains[0].angles", ["together with orientation", "keep one"]),
    (2, {"angles": [1, 2]}, "grains[0].angles", ["each of the 1 grains", "2"]),
    (2, {"angles": [[1]]}, "grains[0].angles", ["must be a number (rad)"]),
    (2, {"quaternions": [1, 0, 0, 0]}, "grains[0].quaternions", ["no meaning in 2D", "angles"]),
    (3, {"angles": 1}, "grains[0].angles", ["no meaning in 3D", "quaternions"]),
    (3, {"quaternions": [0, 0, 0, 0]}, "grains[0].quaternions", ["must not be zero", "[1, 0, 0, 0]"]),
    (3, {"quaternions": [[1, 0, 0, 0], [0, 0, 0, 0]]}, "grains[0].quaternions", ["entry 1 is zero"]),
    (3, {"quaternions": [1, 0, 0]}, "grains[0].quaternions", ["four numbers"]),
    (3, {"quaternions": [[1, 0, 0, 0]] * 2}, "grains[0].quaternions", ["each of the 1 grains"]),
    (2, {"seed": 3}, "grains[0].seed", ["nothing is random"]),
]


@pytest.mark.parametrize(("dimension", "words", "place", "parts"), CASES)
def test_each_mistake_has_place_value_and_remedy(dimension, words, place, parts):
    shapes = [PENTAGON] if dimension == 2 else [{"name": "cube", "solid": "cube"}]
    grains = {key: value for key, value in ((SHAPED if dimension == 2 else SOLID) | words).items() if value is not None}
    with pytest.raises(SceneError) as caught:
        Scene(dimension=dimension, shape=shapes, grains=[grains])
    problem = next(one for one in caught.value.problems if one.place == place)
    for part in parts:
        assert part in str(problem)
    assert len(caught.value.problems) == 1 or words.get("shape", "") is None


def test_a_seed_has_a_meaning_where_orientations_are_drawn():
    words = {**SHAPED, "orientation": "random", "seed": 3}
    one, other = (Scene(shape=[PENTAGON], grains=[{**words, "seed": s}]).build().orientation for s in (3, 4))
    assert one != other


def test_an_unreadable_shape_is_not_unknown_as_well():
    with pytest.raises(SceneError) as caught:
        Scene(shape=[{"name": "pentagon", "polygon": 2}], grains=[SHAPED])
    assert [problem.place for problem in caught.value.problems] == ["shape[0].polygon"]


CELL = {"lower": [-5, -5], "upper": [5, 5]}
INFLOW = {"name": "rain", "radius": 0.1, "rate": 1, "region": [[0, 5], [1, 6]]}
FLOOR = {"name": "floor", "point": [0, 0], "normal": [0, 1]}
ROD = {"name": "rod", "point": [5, 5], "radius": 1}
REFUSED = [
    (
        {"material": [{"name": "m", "rolling": 1e-3}]},
        "material[0].rolling",
        ["rolling friction is for scenes where all grains are round"],
    ),
    ({"material": [{"name": "m", "cohesion": 1e-3}]}, "material[0].cohesion", ["cohesion is for scenes"]),
    (
        {"material": [{"name": "m", "restitution": 0.5, "tangential_restitution": 0.5}]},
        "material[0].tangential_restitution",
        ["all grains are round", "remove it or the shape"],
    ),
    (
        {"material": [{"name": "m"}], "pair": [{"materials": ["m", "default"], "rolling": 0.1}]},
        "pair[0].rolling",
        ["grains[0] has shape 'pentagon'"],
    ),
    ({"material": [{"name": "m"}], "cell": {**CELL, "rate": {"xy": 0.1}}}, "cell.rate", ["all grains are round"]),
    ({"material": [{"name": "m"}], "cell": {**CELL, "stress": {"xx": 5}}}, "cell.stress", ["remove stress"]),
    ({"material": [{"name": "m"}], "cell": {**CELL, "pressure": 5}}, "cell.pressure", ["remove pressure"]),
]


@pytest.mark.parametrize(("words", "place", "parts"), REFUSED)
def test_what_wants_round_grains_is_refused_in_one_line(words, place, parts):
    """And goes with round ones."""
    with pytest.raises(SceneError) as caught:
        Scene(shape=[PENTAGON], grains=[{**SHAPED, "material": "m"}], **words)
    (problem,) = caught.value.problems
    assert problem.place == place
    for part in parts:
        assert part in str(problem)
    Scene(shape=[PENTAGON], grains=[{**SHAPED, "material": "m", "shape": "disk"}], **words).build()


def test_twisting_is_refused_also_where_only_round_grains_have_it():
    words = {"dimension": 3, "shape": [{"name": "cube", "solid": "cube"}], "material": [{"name": "m", "twisting": 0.1}]}
    ball = {"positions": [[5, 5, 5]], "radius": 0.5, "material": "m"}
    for grains in ([{**SOLID, "material": "m"}], [SOLID, ball]):
        with pytest.raises(SceneError, match="twisting friction is for scenes"):
            Scene(**words, grains=grains)


def test_a_grain_in_the_side_of_a_tube_is_told_and_one_within_is_not():
    """By sides and faces: the corners of this cube are outside of the tube, its sides cross it."""
    words = {"dimension": 3, "shape": [{"name": "cube", "solid": "cube"}], "grains": [SOLID]}
    tube = {"name": "tube", "point": [0, 0, 0], "radius": 9, "length": 9}
    assert Scene(**words, cylinder=[tube]).build().count == 1
    with pytest.raises(SceneError, match="overlaps wall 'tube'"):
        Scene(**words, cylinder=[{**tube, "radius": 0.3}]).build()


def test_what_enters_has_a_shape_that_is_known():
    inflow = {**INFLOW, "shape": {"pentagon": 1, "disk": 2}}
    bodies = Scene(shape=[PENTAGON], inflow=[inflow]).build()
    assert bodies.catalogue.names == ("disk", "pentagon")
    with pytest.raises(SceneError, match="unknown shape"):
        Scene(shape=[PENTAGON], inflow=[{**inflow, "shape": "hexagon"}])
    with pytest.raises(SceneError, match="reaches"):
        Scene(shape=[PENTAGON], inflow=[{**inflow, "radius": 0.49}]).build()
    with pytest.raises(SceneError, match="has shape 'pentagon'"):
        Scene(shape=[PENTAGON], inflow=[inflow], material=[{"name": "m", "rolling": 0.1}])


def test_a_fixed_cell_is_allowed():
    bodies = Scene(shape=[PENTAGON], grains=[SHAPED], cell=CELL).build()
    assert bodies.cell is not None
    assert bodies.catalogue is not None


@pytest.fixture
def kept(monkeypatch) -> State:
    """A file with a pentagon and a disk, of which nobody else knows."""
    catalogue = Catalogue.of({"disk": polygon(50), "pentagon": polygon(5)})
    state = State(
        np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]), np.array([1.0, 1.2]), 2, catalogue=catalogue,
        shape=np.array([1, 0], np.int32), orientation=np.array([0.3, 0.7]),
    )  # fmt: skip
    monkeypatch.setattr("rigidgrains.formats.state.read_state", lambda path, frame, radius=None: state)
    return state


def test_shapes_of_a_file_are_taken_over(kept):
    """Those that have the name of another shape get one of their own."""
    scene = Scene(shape=[PENTAGON, {"name": "square", "box": [1, 1]}])
    scene.add_grains(file="run.vtkhdf", name="old")
    scene.add_grains(positions=[[9, 9]], radius=1, shape="square")
    scene.add_grains(positions=[[19, 19]], radius=1)
    bodies = scene.build()
    assert bodies.catalogue.names == ("disk", "square", "disk of old", "pentagon")
    assert bodies.shape.tolist() == [3, 2, 1, 0]
    assert bodies.orientation.tolist() == [0.3, 0.7, 0.0, 0.0]
    assert bodies.radius.tolist() == [1.0, 1.2, 1.0, 1.0]


@pytest.mark.parametrize("key", ["shape", "size", "orientation", "angles"])
def test_a_file_with_shapes_wants_no_others(kept, key):
    value = {"shape": "disk", "size": "equal volume", "orientation": "random", "angles": 0.1}[key]
    with pytest.raises(SceneError, match=f"shapes and orientations of its own.*remove {key}"):
        Scene(grains=[{"file": "run.vtkhdf", key: value}])


def test_a_file_with_shapes_has_their_dimension(kept):
    with pytest.raises(SceneError, match="set dimension = 2"):
        Scene(dimension=3, grains=[{"file": "run.vtkhdf"}])


def test_another_file_may_be_given_shapes(tmp_path):
    path = tmp_path / "grains.csv"
    path.write_text("x,y,radius\n0,0,0.5\n3,0,0.6\n")
    scene = Scene(shape=[PENTAGON])
    scene.add_grains(file=str(path), shape="pentagon", angles=[0.1, 0.2])
    bodies = scene.build()
    assert bodies.radius.tolist() == [0.5, 0.6]
    assert bodies.orientation.tolist() == [0.1, 0.2]
    with pytest.raises(SceneError, match="the file says how large grains are"):
        scene.add_grains(file=str(path), shape="pentagon", size="as drawn")
    with pytest.raises(SceneError, match="has no meaning with file; remove seed"):
        scene.add_grains(file=str(path), shape="pentagon", seed=1)
    assert scene.add_grains(file=str(path), shape="pentagon", orientation="random", seed=1).seed == 1


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_run_goes_on_from_its_own_file(dimension, tmp_path):
    """Shapes and orientations as they were, to the bit."""
    named = [{"name": "stone", "polygon": 5}] if dimension == 2 else [{"name": "stone", "box": [1, 2, 3]}]
    region = [[0] * dimension, [9] * dimension]
    scene = Scene(dimension=dimension, shape=named, run={"dt": 1e-3})
    scene.add_grains(count=6, radius=0.5, region=region, shape={"stone": 2, ROUND[dimension]: 1})
    simulation = Simulation(scene)
    simulation.observe(TrajectoryWriter(tmp_path / "run.vtkhdf"), every=1)
    simulation.run(steps=1)
    old = simulation.bodies
    new = Scene(dimension=dimension, grains=[{"file": str(tmp_path / "run.vtkhdf")}]).build()
    assert new.catalogue.words() == old.catalogue.words()
    for name in ("shape", "orientation", "position", "radius"):
        assert getattr(new, name).tobytes() == getattr(old, name).tobytes(), name


def test_describing_shapes_loads_no_compiler():
    describe = "x = s.Scene(); x.add_shape('a', polygon=5); x.add_grains(positions=[[0, 0]], radius=1, shape='a')"
    code = f"import sys, rigidgrains.scene as s; {describe}; print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_info_counts_shapes(tmp_path):
    path = tmp_path / "scene.toml"
    text = (
        '[[shape]]\nname = "pentagon"\npolygon = 5\n[[grains]]\ncount = 10\nradius = 0.1\nregion = [[0, 0], [5, 5]]\n'
    )
    path.write_text(text + "shape = { pentagon = 7, disk = 3 }\n")
    facts = dict(scene_facts(path))
    assert facts["shapes"] == "3 disk, 7 pentagon; radius is that of equal volume"
    assert facts["radius"] == "0.1 m"
