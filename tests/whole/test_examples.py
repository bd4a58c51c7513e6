"""The examples run as they stand, and their numbers are right; so does the code of the README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import ROOT

import rigidgrains as rg


def run(path: Path, folder: Path) -> str:
    done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first(tmp_path):
    """The floor and side walls of a resting box carry the weight of 300 disks."""
    told = run(ROOT / "examples" / "first.py", tmp_path)
    assert (tmp_path / "packing.png").stat().st_size > 10_000
    lift = -sum(float(y) for y in re.findall(r"force on \w+ +\([^,]+, ([^)]+)\) N", told))
    # Radii uniform in [a, b] have <r^2> = (a^2 + a b + b^2)/3; 300 draws scatter by a few per cent.
    weight = 9.81 * 2500 * 3.14159 * 300 * (1 + 2 + 4) / 3 * 1e-6
    assert lift == pytest.approx(weight, rel=0.1)


@pytest.mark.slow
def test_press(tmp_path):
    """Smooth walls: the floor carries everything."""
    told = run(ROOT / "examples" / "press.py", tmp_path)
    carried, weight = map(float, re.search(r"floor carries ([\d.]+) N of ([\d.]+) N", told).groups())
    assert carried == pytest.approx(weight, rel=2e-3)
    assert (tmp_path / "press.png").exists()
    assert (tmp_path / "press-history.png").exists()


def test_species(tmp_path):
    """Kinds that are drawn at random are mixed: Lacey's index is 1 but for the scatter of 20 cells."""
    told = run(ROOT / "examples" / "species.py", tmp_path)
    start, rest = map(float, re.search(r"index ([\d.]+) at the start, ([\d.]+) at rest", told).groups())
    assert start == pytest.approx(1.0, abs=0.15)
    assert rest == pytest.approx(1.0, abs=0.15)
    light, heavy = (float(p) for p in re.findall(r"pressure of ([\d.]+) N/m", told))
    assert min(light, heavy) > 0.0
    assert {path.name for path in tmp_path.iterdir()} == {"materials.png", "layers.png"}


@pytest.mark.slow
def test_stages(tmp_path):
    """Pressed alike from all sides, then stronger along the axis by what friction allows; see the gallery."""
    told = run(ROOT / "examples" / "stages.py", tmp_path)
    stress = [tuple(map(float, pair)) for pair in re.findall(r"axial stress ([\d.]+), lateral stress ([\d.]+)", told)]
    assert stress[0] == pytest.approx((100.0, 100.0), rel=0.02)
    assert 0.15 < float(re.search(r"sin phi = ([\d.]+)", told)[1]) < 0.45


@pytest.mark.slow
def test_forces(tmp_path):
    """Stokes: 2/9 (rho - rho_w) g r^2/eta."""
    told = run(ROOT / "examples" / "forces.py", tmp_path)
    speed, theory = map(float, re.search(r"settles with ([\d.]+) m/s, theory ([\d.]+) m/s", told).groups())
    assert speed == pytest.approx(theory, rel=1e-3)
    assert float(re.search(r"has given (\S+) J", told)[1]) > 0.0


def test_study(tmp_path):
    """Sliding blocks have v = g (sin a - mu cos a) t; from mu = tan 30 = 0.577 on they stay."""
    told = run(ROOT / "examples" / "study.py", tmp_path)
    assert "6 runs: 6 done" in told
    speeds = {float(mu): float(v) for mu, v in re.findall(r"^(0\.\d) +(\S+)$", told, re.M)}
    assert list(speeds) == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    for mu, v in speeds.items():
        assert v == pytest.approx(max(0.0, (4.905 - mu * 8.495) * 0.1), abs=1e-4)


def test_million(tmp_path):
    """The same column with 2000 spheres: it falls, spreads, and is certified to be a heap on the floor."""
    text = (ROOT / "examples" / "million.toml").read_text()
    small = {"1_000_000": "2000", "[[-0.1, -0.1, 0], [0.1, 0.1, 0.28]]": "[[-0.013, -0.013, 0], [0.013, 0.013, 0.04]]"}
    for word, other in small.items():
        assert text.count(word) == 1
        text = text.replace(word, other)
    (tmp_path / "column.toml").write_text(text)
    simulation = rg.Simulation(rg.load_scene(tmp_path / "column.toml"))
    assert simulation.solver.coloured
    height = simulation.bodies.position[:, 2].mean()
    simulation.run(until=0.15)
    position = simulation.bodies.position
    assert position[:, 2].mean() < 0.7 * height
    assert np.abs(position[:, :2]).max() > 0.015
    assert (position[:, 2] > 0.95 * simulation.bodies.radius).all()


def test_the_readme_shows_the_first_example():
    """Word for word, without its docstring."""
    code = (ROOT / "examples" / "first.py").read_text().split('"""\n\n', 1)[1]
    assert code in (ROOT / "README.md").read_text()
