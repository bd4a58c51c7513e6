"""Periodic cells as scenes: placement through faces, words, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from support.cells import SHEAR, by_brute_force, cell_of, gas, under

from rigidgrains import Scene, SceneError, Trajectory
from rigidgrains.app.runner import RunFailed, run_scene
from rigidgrains.model.cell import CellError
from rigidgrains.simulation.simulation import Simulation


@pytest.mark.parametrize("placement", ["lattice", "random", "dense"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_placement_knows_the_faces(placement, dimension):
    """No grain overlaps another through a face, and the whole cell is used."""
    scene = Scene(dimension=dimension)
    edge = 10.0 if dimension == 2 else 6.0
    scene.set_cell(lower=[0.0] * dimension, upper=[edge] * dimension)
    count = {"lattice": 40, "random": 40, "dense": 70}[placement] if dimension == 2 else 60
    scene.add_grains(count=count, radius=(0.4, 0.6), placement=placement)
    bodies = scene.build()
    assert by_brute_force(bodies.position, bodies.radius * (1 - 1e-9), bodies.cell) == set()
    out = (bodies.position[:, :dimension] - 0.4 < 0.0) | (bodies.position[:, :dimension] + 0.4 > edge)
    assert placement == "lattice" or out.any()  # some reach through a face


def test_groups_keep_clear_of_each_other_through_faces():
    scene = Scene()
    scene.set_cell(lower=[0, 0], upper=[8, 8])
    scene.add_grains(positions=[[0.1, 4.0]], radius=1.5)
    scene.add_grains(count=20, radius=0.4, placement="random")
    scene.add_grains(count=10, radius=0.3, placement="lattice")
    scene.add_grains(count=20, radius=0.3, placement="dense")
    bodies = scene.build()
    assert by_brute_force(bodies.position, bodies.radius * (1 - 1e-9), bodies.cell) == set()


CELL = {"lower": [0, 0], "upper": [10, 10]}
GRAINS = {"count": 3, "radius": 0.5}
WALL = {"name": "wall", "point": [0, 0]}
MISTAKES = [
    ({"cell": {**CELL, "upper": [10, -1]}}, "cell.lower", ["swap them"]),
    ({"cell": {"lower": [0, 0]}}, "cell.upper", ["missing", "highest corner"]),
    ({"cell": {**CELL, "periodic": "xz"}}, "cell.periodic", ["x, y", "'xz'"]),
    ({"cell": {**CELL, "periodic": ""}}, "cell.periodic", ["some of the directions"]),
    ({"cell": {**CELL, "perodic": "x"}}, "cell.perodic", ["did you mean 'periodic'?"]),
    ({"cell": [CELL]}, "cell", ["[cell]", "single brackets"]),
    ({"cell": {**CELL, "lower": [0, 0, 0]}}, "cell.lower", ["2 components"]),
    ({"cell": CELL, "plane": [{**WALL, "normal": [1, 1]}]}, "plane[0].normal", ["cuts through", "xy"]),
    ({"cell": CELL, "piston": [{**WALL, "normal": [0, 1], "mass": 1}]}, "piston[0].normal", ["cuts"]),
    ({"cell": {**CELL, "periodic": "x"}, "box": [{"lower": [0, 0], "upper": [9, 9]}]}, "box[0].open", ["left, right"]),
    ({"cell": CELL, "cylinder": [{"name": "w", "point": [0, 0], "radius": 4}]}, "cylinder[0].axis", ["no images"]),
    ({"cell": CELL, "grains": [{**GRAINS, "region": [[0, 0], [11, 10]]}]}, "grains[0].region", ["out of the cell"]),
    ({"cell": {**CELL, "tilt": 0.1}}, "cell.tilt", ["must be a table", "{ xy = 0.1 }"]),
    ({"cell": {**CELL, "tilt": {"xx": 0.1}}}, "cell.tilt.xx", ["leans along another"]),
    ({"cell": {**CELL, "tilt": {"xz": 0.1}}}, "cell.tilt.xz", ["periodic along xy alone"]),
    ({"cell": {**CELL, "periodic": "y", "tilt": {"xy": 1}}}, "cell.tilt.xy", ["periodic along y alone"]),
    ({"cell": {**CELL, "periodic": "x", "rate": {"yy": 1}}}, "cell.rate.yy", ["periodic along x alone"]),
    ({"cell": {**CELL, "rate": {"yx": 1}}}, "cell.rate.yx", ["unknown key", "yx"]),
    ({"cell": {**CELL, "rate": {"xy": "fast"}}}, "cell.rate.xy", ["unknown name 'fast'"]),
    ({"cell": {**CELL, "rate": {"yy": 1}, "stress": {"yy": 1}}}, "cell.rate.yy", ["has a stress too"]),
    ({"cell": {**CELL, "pressure": 1, "stress": {"xx": 1}}}, "cell.stress.xx", ["pressure acts on this"]),
    ({"cell": {**CELL, "pressure": 1, "rate": {"yy": 1}}}, "cell.rate.yy", ["pressure acts on this"]),
    ({"cell": {**CELL, "shape": "free"}}, "cell.shape", ["belongs to pressure"]),
    ({"cell": {**CELL, "inertia": 2}}, "cell.inertia", ["belongs to stress or pressure"]),
    ({"cell": {**CELL, "pressure": 1, "inertia": 0}}, "cell.inertia", ["greater than zero"]),
    ({"cell": {**CELL, "pressure": 1}, "gravity": [0, -9.81]}, "gravity", ["a cell that deforms has no gravity"]),
    ({"cell": {**CELL, "pressure": -1}}, "cell.pressure", ["without cohesion"]),
    ({"cell": {**CELL, "stress": {"yy": -1, "xy": -1}}}, "cell.stress.yy", ["without cohesion"]),
    ({"cell": {**CELL, "pressure": 1}, "plane": [{**WALL, "normal": [0, 1]}]}, "plane[0]", ["has no walls"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "place", "parts"), MISTAKES)
def test_mistakes_are_told(words, place, parts):
    with pytest.raises(SceneError) as caught:
        Scene(**{"grains": [GRAINS], **words})
    told = {problem.place: str(problem) for problem in caught.value.problems}
    assert place in told
    assert all(part in told[place] for part in parts), told[place]
    assert len(told) == 1


def test_words_of_a_cell_make_its_control():
    """Tilt, rates, stresses and pressure end up in their components."""
    scene = Scene(grains=[{"positions": [[5, 5]], "radius": 0.5}])
    scene.set_cell(lower=[1, 2], upper=[11, 12], tilt={"xy": 3}, rate={"xy": 0.5}, stress={"yy": 7}, inertia=2)
    cell = scene.build().cell
    assert cell.vectors.tolist() == [[10, 0, 0], [3, 10, 0], [0, 0, 1]]
    assert cell.rate.tolist() == [[0, 0.5, 0], [0, 0, 0], [0, 0, 0]]
    assert cell.free.tolist() == [[False] * 3, [False, True, False], [False] * 3]
    assert (cell.stress[1, 1], cell.isotropic, cell.inertia, cell.moves) == (7.0, False, 2.0, True)
    for shape in ("kept", "free"):
        scene.set_cell(lower=[0, 0], upper=[9, 9], pressure=5, shape=shape)
        cell = scene.build().cell
        assert np.diag(cell.stress).tolist() == [5.0, 5.0, 0.0]
        assert np.diag(cell.free).tolist() == [True, True, False]
        assert cell.isotropic == (shape == "kept")
    scene.set_cell(lower=[0, 0], upper=[9, 9], rate={"xy": 0})
    assert not scene.build().cell.moves


def test_placement_in_a_leaning_cell():
    """Images are where the lean puts them."""
    for placement in ("lattice", "random", "dense"):
        scene = Scene(cell={"lower": [0, 0], "upper": [6, 6], "tilt": {"xy": 2.5}})
        scene.add_grains(count=20, radius=(0.4, 0.6), placement=placement)
        bodies = scene.build()
        assert by_brute_force(bodies.position, bodies.radius * (1 - 1e-9), bodies.cell) == set()


def test_a_cell_too_small_and_grains_outside_are_told():
    scene = Scene(cell={"lower": [0, 0], "upper": [3.9, 9]}, grains=[{"positions": [[1, 1]], "radius": 1.0}])
    with pytest.raises(SceneError, match=r"3.9 m wide, less than two of its largest grains"):
        scene.build()
    scene = Scene(
        cell={"lower": [0, 0], "upper": [9, 9], "periodic": "x"},
        grains=[{"positions": [[30, 1], [1, 9.5]], "radius": 1}],
    )
    with pytest.raises(SceneError, match=r"positions\[1\].*outside the cell"):
        scene.build()
    scene = Scene(cell=CELL, grains=[{"positions": [[0.2, 1], [9.5, 1]], "radius": 0.5}])
    with pytest.raises(SceneError, match=r"overlap by 0\.6"):
        scene.build()


def test_a_cell_that_is_too_small_stops_the_run():
    bodies = gas(5)
    simulation = Simulation(bodies, dt=0.01)
    simulation.step()
    bodies.cell.vectors *= 0.2
    with pytest.raises(CellError, match="less than two"):
        simulation.step()
    assert simulation.whole


def test_grains_that_hold_together_may_be_pulled():
    scene = Scene(grains=[GRAINS], cell={**CELL, "stress": {"xy": -1}})  # a shear stress has any sign
    scene.set_cell(**CELL, pressure=-1)
    with pytest.raises(SceneError, match="without cohesion"):
        scene.build()
    scene.add_material("sticky", friction=0.3, cohesion=1.0)
    assert scene.build().cell.stress[0, 0] == -1.0


def test_a_cell_that_becomes_too_small_ends_a_run_without_a_traceback(tmp_path):
    """What was there before is saved."""
    (tmp_path / "crush.toml").write_text(
        "[cell]\nlower = [0, 0]\nupper = [5, 5]\nrate = { xx = -1 }\n"
        "[[grains]]\npositions = [[1, 1]]\nradius = 0.5\n[run]\ndt = 0.05\nuntil = 2\n"
    )
    with pytest.raises(RunFailed, match=r"less than two of its largest grains.*Saved in"):
        run_scene(tmp_path / "crush.toml", output=tmp_path / "out", progress=False)
    with Trajectory(tmp_path / "out" / "crush.vtkhdf") as trajectory:
        assert 1.9 <= trajectory[-1].cell[0, 0] < 2.0  # after the step that made it too small


@pytest.mark.parametrize(("made", "word", "at"), [
    ({}, "rate", (0, 1)), ({}, "free", (1, 1)),  # one that keeps still cannot begin to move
    ({"rate": SHEAR}, "rate", (1, 0)),  # L stays upper triangular
    ({"rate": SHEAR}, "free", (1, 1)), (under(5.0), "rate", (0, 0)),
])  # fmt: skip
def test_a_cell_takes_no_control_that_it_was_not_made_for(made, word, at):
    bodies = gas(5, cell=cell_of(12.0, 12.0, **made))
    simulation = Simulation(bodies, dt=1e-3)
    simulation.step()
    getattr(bodies.cell, word)[at] = 1.0
    with pytest.raises(ValueError, match="not made for"):
        simulation.step()
    assert simulation.whole


def test_a_step_that_a_cell_cannot_hold_is_taken_back():
    """Grains that fly through several images in a step: the state before is kept, and a shorter step goes on."""
    bodies = gas(5)
    bodies.velocity[0, 0] = 4000.0
    before, position = bodies.motion.copy(), bodies.position.copy()
    simulation = Simulation(bodies, dt=0.01)
    with pytest.raises(CellError, match="smaller dt"):
        simulation.step()
    assert np.array_equal(bodies.motion, before)
    assert np.array_equal(bodies.position, position)
    assert not simulation.midway
    simulation.dt = 1e-5
    simulation.step()
    assert simulation.whole
    bodies.position[1, 0] = np.nan
    bodies.velocity[0, 0] = 1e4  # lists are made anew
    with pytest.raises(CellError, match="grain 1 has no position"):
        simulation.step()
