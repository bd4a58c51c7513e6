"""The races: the task is what it says, its judge is right, and who is absent is named."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support import ROOT

import rigidgrains as rg

PEERS = ROOT / "benchmarks" / "peers"
NAMES = ("column", "drum", "silo2d", "silo3d", "heap", "shear")
GRAINS = 40


def load(name):
    """A module of benchmarks/peers, with those beside it."""
    sys.path.insert(0, str(PEERS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(PEERS))


def make(name, grains=GRAINS, short=True):
    return load("plain_scenes").SCENES[name](grains, 101, short=short)


def state(position, radius=0.5, **more):
    position = np.asarray(position, dtype=float)
    n = len(position)
    return load("plain_measures").State(0.0, position, np.zeros((n, 3)), np.full(n, radius), 0, 0, **more)


def keys(words: Any) -> Iterator[str]:
    """All keys of nested tables."""
    for key, value in words.items() if isinstance(words, dict) else ():
        yield key
        for one in value if isinstance(value, list) else [value]:
            yield from keys(one)


def test_the_column_is_the_one_stated():
    """1000 spheres, radii in [0.4, 0.6], box 8 wide, T = 4 sqrt(H0); nothing overlaps at the start."""
    column = load("column").Column(1000)
    assert column.width == pytest.approx(8.0)
    assert column.time == pytest.approx(4.0 * np.sqrt(column.height))
    assert 0.4 <= column.radius.min() < 0.42
    assert 0.58 < column.radius.max() <= 0.6
    assert column.judge(column.position)["contacts"] == 0
    assert column.position[:, 2].max() < column.height


def test_the_judge_sees_overlaps_energy_and_imbalance():
    column = load("column").Column(1000)
    position = column.position.copy()
    position[0, 2] = column.radius[0] - 0.01  # into the floor
    left = column.judge(position, np.full((1000, 3), (0.0, 0.0, 2.0)), np.full((1000, 3), (3.0, 0.0, 4.0)))
    assert left["contacts"] == 1
    assert left["mean_overlap"] == pytest.approx(0.02)
    assert left["energy"] == pytest.approx(2.0)
    assert left["imbalance"] == pytest.approx(5.0)


@pytest.mark.parametrize(
    "script", ["column_bullet.py", "column_mujoco.py", "bullet_updates.py", "solids_bullet.py", "solids_mujoco.py"]
)
def test_absent_peers_are_named(script):
    """Workers need a package that is not there: they say so, and how to get it."""
    done = subprocess.run([sys.executable, "-S", PEERS / script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "absent" in done.stdout
    assert "pip install" in done.stdout


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("short", [True, False])
def test_plain_scenes_have_no_word_about_solver_or_step(name, short):
    scene = make(name, short=short)
    assert "solver" not in scene.words
    assert set(scene.words["run"]) == {"until", "seed"}
    assert not {"dt", "dt_max", "dt_min", "travel", "accuracy", "criterion", "sweeps", "method"} & set(
        keys(scene.words)
    )
    assert not scene.scene().solver.model_fields_set


@pytest.mark.parametrize("name", NAMES)
def test_plain_scenes_run_and_nothing_overlaps_at_the_start(name):
    scene = make(name)
    start = scene.start()
    begun = state(start.position)
    begun.radius = start.radius
    assert scene.overlaps(begun).max(initial=0.0) < 1e-9 if len(start.radius) else True
    simulation = rg.Simulation(scene.scene())
    simulation.run(steps=3)
    assert simulation.time > 0.0


@pytest.mark.parametrize("name", NAMES)
def test_scripts_of_lammps_end_when_ours_does(name, tmp_path):
    lammps, scene = load("plain_lammps"), make(name)
    steps = 2000
    dt, every = scene.unit / steps, round(scene.interval / scene.unit * steps)
    words = lammps.script(scene, scene.start(), tmp_path, 1e4, 0.01, dt, steps)
    words += lammps.stages(scene, str(tmp_path), dt, every)
    made = sum(int(line.split()[1]) for line in words.splitlines() if line.startswith("run "))
    assert made * dt == pytest.approx(scene.until, rel=1e-3)
    assert ("unfix gate" in words) == name.startswith("silo")
    assert "{" not in words


def test_disks_have_the_mass_of_disks(tmp_path):
    lammps, scene = load("plain_lammps"), make("silo2d")
    lammps.write_data(tmp_path / "data", scene, scene.start())
    rows = [line.split() for line in (tmp_path / "data").read_text().split("Atoms")[1].split("\n") if line]
    diameter, density = np.array(rows, dtype=float)[:, 2:4].T
    assert density * math.pi / 6.0 * diameter**3 == pytest.approx(math.pi / 4.0 * diameter**2)
    assert len(rows) == GRAINS


def test_the_search_follows_a_power_law():
    """Overlap ~ k^p: the first guess is p = -1, from two runs on p is known."""
    better = load("plain_lammps").better
    soft = {"stiffness": 100.0, "mean_overlap": 1e-2}
    assert better([soft], 1e-3) == pytest.approx(1e3)
    stiff = [{"stiffness": k, "mean_overlap": 1e-2 * (k / 100.0) ** -0.75} for k in (1e3, 2e3)]
    for tried in ([soft, stiff[0]], [soft, *stiff]):
        assert better(tried, 1e-3) == pytest.approx(100.0 * 10.0 ** (1.0 / 0.75))


def test_frames_of_a_dump_are_read(tmp_path):
    head = "ITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\nITEM: ATOMS id x\n"
    text = "ITEM: TIMESTEP\n0\n" + head.format(2) + "1 0.5\n2 0.25\nITEM: TIMESTEP\n10\n" + head.format(0)
    (tmp_path / "dump").write_text(text)
    found = load("plain_lammps").frames(tmp_path / "dump", 2)
    assert found[0].tolist() == [[1.0, 0.5], [2.0, 0.25]]
    assert found[10].shape == (0, 2)


def test_overlaps_are_seen_through_the_sides_of_a_cell():
    pair_overlaps = load("plain_measures").pair_overlaps
    apart = state([[0.1, 1.0, 1.0], [7.2, 1.0, 1.0]])
    assert len(pair_overlaps(apart)) == 0
    assert pair_overlaps(apart, period=8.0) == pytest.approx([0.1])


def test_angles_of_surfaces_are_seen():
    measures = load("plain_measures")
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(-8.0, 8.1, 0.5), np.arange(-8.0, 8.1, 0.5)))
    slope = state(np.stack([x, y, 0.4 * x], axis=1))
    assert math.tan(measures.surface_angle(slope, 6.0)) == pytest.approx(0.4, rel=0.05)
    pyramid = state(np.stack([x, y, 5.0 - 0.4 * np.maximum(abs(x), abs(y))], axis=1))
    angle, error = measures.heap_angle(pyramid, 7.0)
    assert math.tan(math.radians(angle)) == pytest.approx(0.4, rel=0.1)
    assert error < 0.5


def test_blocks_give_the_standard_error_of_white_noise():
    values = np.random.default_rng(0).normal(1.0, 1.0, (200, 100))
    errors = [load("plain_measures").blocks(row)[1] for row in values]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(0.1, rel=0.1)


def test_the_worker_tells_cost_and_results():
    command = [sys.executable, PEERS / "plain_own.py", "heap", "20", "101", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    record = json.loads(done.stdout.splitlines()[-1])
    assert record["steps"] > 0
    assert {"seconds", "sweeps", "mean_overlap", "overlap_99", "imbalance", "certificate"} <= set(record)
    assert {"angle (degrees)", "z", "sliding"} <= set(record["results"])


def test_scenes_and_sizes_are_chosen():
    race = load("default")
    wanted = race.arguments(["--scenes", "column,silo", "--sizes", "100,200"])
    assert [case[:2] for case in race.cases(wanted)] == [
        ("column", 100), ("column", 200), ("silo2d", 1000), ("silo3d", 4000)
    ]  # fmt: skip
    assert (
        min(seed for case in race.cases(wanted) for seed in case[2]) > 100
    )  # none of those that settings were chosen by
    with pytest.raises(SystemExit):
        race.arguments(["--scenes", "sandpit"])


def test_the_table_has_a_row_for_each_code_and_result():
    race = load("default")
    run = {
        "seconds": 2.0, "steps": 10, "mean_overlap": 1e-4, "overlap_99": 1e-3, "results": {"z": (4.0, 0.5)}
    }  # fmt: skip
    codes = {"rigidgrains": [run | {"sweeps": 7.0}], "lammps": [run | {"seconds": 6.0}]}
    text = "\n".join(race.tell([{"label": "column of 10", "codes": codes, "search": [], "found": True}]))
    assert "3.00" in text
    assert text.count("4 ± 0.5") == 2
    assert race.paired({"rigidgrains": [run, run], "exact": [run, run]}, "z") == "+0.0% ± 0.0%"
    absent = "\n".join(race.tell([{"label": "drum", "codes": {"rigidgrains": [run]}, "absent": "no lammps"}]))
    assert "drum, LAMMPS: no lammps" in absent


def solids_overlap(name, place, turn):
    """Overlaps of two solids of a kind, over the radius."""
    scene = load("solids_scene").Scene("tower", 10)
    scene.names = [name, name]
    return scene.overlaps(np.asarray(place, float), np.asarray(turn, float))


def test_solids_have_the_volume_and_inertia_they_should():
    """The volume of a sphere of diameter 1; of a cube of side s I/m = s^2/6; the others as the package has them."""
    solids = load("solids_scene")
    simulation, _ = load("solids_own").simulation_of(solids.Scene("dice", 10), "free", "balanced")
    catalogue = simulation.bodies.catalogue
    assert set(catalogue.names) == set(solids.SOLIDS)
    for name, gyration in zip(catalogue.names, catalogue.gyration):
        np.testing.assert_allclose(0.25 * gyration**2, solids.SOLIDS[name].inertia, rtol=1e-9)
    side = (np.pi / 6.0) ** (1.0 / 3.0)
    assert solids.SOLIDS["cube"].inertia == pytest.approx(side**2 / 6.0)
    assert np.ptp(solids.SOLIDS["cube"].vertices[:, 0]) == pytest.approx(side)
    assert len(solids.SOLIDS["dodecahedron"].normals) == 6
    assert len(solids.SOLIDS["dodecahedron"].edges) == 15


def test_the_judge_of_solids_sees_depths():
    """Cubes side by side 0.01 into each other, one turned by 45 degrees edge on face, edges that cross; the floor."""
    side = (np.pi / 6.0) ** (1.0 / 3.0)
    none, c = [1.0, 0.0, 0.0, 0.0], np.cos(np.pi / 8)
    about_z, about_x = [c, 0.0, 0.0, np.sin(np.pi / 8)], [c, np.sin(np.pi / 8), 0.0, 0.0]
    high = 5.0
    for turns, apart in (((none, none), side), ((none, about_z), side * 0.5 * (1.0 + np.sqrt(2.0)))):
        found = solids_overlap("cube", [[0, 0, high], [apart - 0.01, 0.05, high + 0.1]], turns)
        np.testing.assert_allclose(found, [0.02], atol=1e-12)
        found = solids_overlap("cube", [[0, 0, high], [apart + 1e-6, 0.05, high + 0.1]], turns)
        assert not len(found)
    about_y = [c, 0.0, np.sin(np.pi / 8), 0.0]  # edges along x and along y, that meet in the middle
    found = solids_overlap("cube", [[0, 0, high], [0, 0, high + np.sqrt(2.0) * side - 0.01]], [about_x, about_y])
    np.testing.assert_allclose(found, [0.02], atol=1e-12)
    found = solids_overlap("cube", [[0, 0, 0.5 * side - 0.01], [3, 0, high]], [none, none])
    np.testing.assert_allclose(found, [0.02], atol=1e-12)


def test_solids_start_apart_and_within_their_box():
    solids = load("solids_scene")
    for name in ("cubes", "dice"):
        scene = solids.Scene(name, 50)
        assert not len(scene.overlaps(scene.position, scene.quaternion))
    tower = solids.Scene("tower", 10)
    assert tower.overlaps(tower.position, tower.quaternion).max(initial=0.0) < 1e-12


def test_our_solids_are_told_in_the_axes_of_the_drawing():
    """Before the first step positions and orientations are those of the scene."""
    own, solids = load("solids_own"), load("solids_scene")
    scene = solids.Scene("dice", 10)
    simulation, order = own.simulation_of(scene, "free", "balanced")
    fixed = own.product(own.conjugate(simulation.bodies.orientation), scene.quaternion[order])
    turned = own.product(simulation.bodies.orientation, fixed)
    np.testing.assert_allclose(np.abs((turned * scene.quaternion[order]).sum(axis=1)), 1.0)
    for k, number in enumerate(order):
        name = scene.names[number]
        drawn = solids.SOLIDS[name].vertices @ solids.matrices(turned[[k]])[0].T
        shape = simulation.bodies.catalogue.shapes[simulation.bodies.shape[k]]
        kept = 0.5 * shape.parts[0].vertices @ solids.matrices(simulation.bodies.orientation[[k]])[0].T
        np.testing.assert_allclose(*(points[np.lexsort(np.round(points, 6).T)] for points in (kept, drawn)), atol=1e-9)
