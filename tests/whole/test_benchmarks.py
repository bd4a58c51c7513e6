"""The scripts in benchmarks/ run, small; their figures are not judged here."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest
from support import ROOT

FOLDER = ROOT / "benchmarks"
SMALL = 4  # cubes along a side: 89 grains


@pytest.fixture(scope="module")
def cells() -> ModuleType:
    return load("cells")


@pytest.mark.slow
def test_study(capsys):
    module = load("study")
    told = {**module.overhead(2), **module.throughput(2, 5)}
    assert told["run in a study (ms)"] > 0.0
    assert told["throughput of 2 over 1"] > 0.0


def load(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_cells_are_raced_against_walls(cells, capsys):
    rows = cells.race({"walls": cells.in_walls, "cell": cells.in_cell, "sheared": cells.sheared}, SMALL, 2)
    assert [row["name"] for row in rows] == ["walls", "cell", "sheared"]
    assert rows[0]["detection"] == rows[0]["step"] == rows[0]["list"] == 1.0
    assert all(row[key] > 0.0 for row in rows for key in ("detection", "list", "step"))
    assert "grains" in capsys.readouterr().out


def test_manifolds_are_raced(capsys):
    module = load("manifolds")
    sides, start, pairs, offset = module.polygons(5, 49)
    assert len(start) == 50
    assert len(sides) == 5 * 49
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (np.linalg.norm(offset, axis=1) < module.REACH).all()


def test_box_and_cell_hold_the_same_packing(cells):
    """The lattice goes on through the faces of the cell: no overlap, and more pairs touch than in the box."""
    box, cell = cells.in_walls(SMALL), cells.in_cell(SMALL)
    for simulation in (box, cell):
        simulation.step()
        assert simulation.contacts.deepest < 1e-9
    assert np.array_equal(box.bodies.radius, cell.bodies.radius)
    between = box.contacts.wall_rows[0].start
    assert cell.contacts.count > between > 0


def test_laws_that_no_grain_has_change_no_bit(cells):
    plain, unused = cells.Watched(cells.plain(SMALL)), cells.Watched(cells.unused(SMALL))
    for run in (plain, unused):
        for k in range(3):
            run.step(k, counted=True)
    assert unused.simulation.bodies.laws == []
    assert np.array_equal(plain.simulation.bodies.motion, unused.simulation.bodies.motion)
    assert plain.simulation.contacts.count > 0


def test_numberings_are_raced():
    found = load("sorting").race(300, 1)
    assert found["curve"] == 1.0
    assert all(cost > 0.0 for cost in found.values())
    assert found["apart, curve"] < found["apart, one diameter"] < found["apart, random"]


def test_what_got_slower_is_told(tmp_path):
    """Against lines of the same machine, beyond their scatter; rates the other way round than times."""
    slower = load("slower").slower
    lines = [
        {"commit": str(k), "machine": "a", "figures": {"kinds.plain": rate, "start.first": 2.0, "noisy": noisy}}
        for k, (rate, noisy) in enumerate([(100.0, 1.0), (101.0, 2.0), (99.0, 3.0), (100.0, 4.0)])
    ]
    lines.append({"commit": "other", "machine": "b", "figures": {"kinds.plain": 1000.0, "start.first": 0.1}})
    now = {"commit": "now", "machine": "a"}
    same = {"kinds.plain": 95.0, "start.first": 2.1, "noisy": 5.0, "new": 1.0, "threads": 1.0}
    assert slower([*lines, now | {"figures": same}]) == []
    worse = same | {"kinds.plain": 80.0, "start.first": 2.5}
    found = slower([*lines, now | {"figures": worse}])
    assert found == [("kinds.plain", 100.0, 80.0), ("start.first", 2.0, 2.5)]
    assert slower([now | {"figures": worse}]) == []


def test_a_line_for_each_commit(tmp_path, monkeypatch):
    module = load("record")
    monkeypatch.setattr(module, "commit", lambda: "abc")
    path = tmp_path / "history.jsonl"
    module.record({"updates_per_second": {"random": {"10": 12345.6}}, "outside_sweeps": {"10": [0.5, 3.0]}}, path)
    line = module.record({"updates_per_second": {"random": {"10": 2.0}}, "name": "not a number"}, path)
    assert line["figures"] == {"updates_per_second.random.10": 2.0}
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert module.flat({"a": [0.5, 3.0]}) == {"a.0": 0.5, "a.1": 3.0}
