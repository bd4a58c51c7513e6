"""Files of LAMMPS: data files, scaled dumps, dumps without radii, and exports that are thinned."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from support.commands import called

import rigidgrains as rg
from rigidgrains import Packing, formats

WRITTEN = """LAMMPS data file via write_data, version 29 Aug 2024, timestep = 1000, units = si

3 atoms
2 atom types

0 10 xlo xhi
0 8 ylo yhi
-1 1 zlo zhi
2 0 0 xy xz yz

Atoms # sphere

2 1 1.0 2000 0.5 0.5 0.25 0 0 0
1 2 2.0 1000 3.0 4.0 0.0 1 0 0
3 1 1.0 2000 7.5 2.0 -0.25 0 0 0

Velocities

1 1 0 0 0 0 3
3 0 0 -1 0 0 0
2 0 2 0 0.5 0 0
"""
SCALED = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS xy xz yz pp pp ff
0 15 5
0 10 0
-1 1 0
ITEM: ATOMS id type xs ys zs
2 1 0.5 0.5 0.5
1 1 0 0.25 1
"""


@pytest.fixture
def grains(tmp_path):
    """A packing of spheres with velocities, as a trajectory."""
    rng = np.random.default_rng(4)
    rows = [[*(3.0 * rng.normal(size=3) + [20 * k, 0, 0]), 0.5 + 0.1 * k, *rng.normal(size=6)] for k in range(6)]
    names = "x,y,z,radius,vx,vy,vz,spin_x,spin_y,spin_z"
    (tmp_path / "g.csv").write_text("\n".join([names, *(",".join(map(repr, map(float, row))) for row in rows)]))
    return Packing(tmp_path / "g.csv", density=7.0).save(tmp_path / "g.vtkhdf")


def test_a_file_of_write_data_is_read(tmp_path):
    (tmp_path / "w.data").write_text(WRITTEN)
    state = formats.read_state(tmp_path / "w.data", periodic="xy")
    assert state.ids.tolist() == [1, 2, 3]
    assert state.radius.tolist() == [1.0, 0.5, 0.5]
    assert state.position[0].tolist() == [3.0, 4.0, 0.0]
    assert np.allclose(state.mass, np.array([1000, 2000, 2000]) * 4 / 3 * np.pi * state.radius**3, rtol=1e-15)
    assert state.velocity[1].tolist() == [0, 2, 0]
    assert state.spin[0].tolist() == [0, 0, 3]
    assert state.cell.periodic.tolist() == [True, True, False]
    assert state.cell.vectors.tolist() == [[10, 0, 0], [2, 8, 0], [0, 0, 2]]
    assert formats.read_state(tmp_path / "w.data").cell is None  # the file does not say what is periodic


def test_data_files_there_and_back(grains, tmp_path):
    path = formats.export(grains, "lammps-data")
    assert path.name == "g.data"
    state, packing = formats.read_state(path), Packing(grains)
    for name in ("position", "radius", "velocity", "spin"):
        assert np.array_equal(getattr(state, name), getattr(packing.frame, name)), name
    assert np.allclose(state.mass, packing.frame.mass, rtol=1e-14)


def test_data_files_of_periodic_packings(tmp_path):
    (tmp_path / "w.data").write_text(WRITTEN)
    called(tmp_path, "import", "w.data", "--periodic", "xy", "--overlap", "1")
    scene = rg.load_scene(tmp_path / "w.toml")
    assert scene.cell.periodic == "xy"


@pytest.mark.skipif(shutil.which("lmp") is None, reason="LAMMPS is not installed")
def test_lammps_reads_what_is_written(grains, tmp_path):
    formats.export(grains, "lammps-data")
    script = "atom_style sphere\nread_data g.data\npair_style zero 0.1\npair_coeff * *\nrun 0\nwrite_data back.data\n"
    (tmp_path / "in.lmp").write_text(script)
    subprocess.run(["lmp", "-in", "in.lmp"], cwd=tmp_path, check=True, capture_output=True)
    back, packing = formats.read_state(tmp_path / "back.data"), Packing(grains)
    assert np.allclose(back.position, packing.frame.position, rtol=1e-12)
    assert np.allclose(back.mass, packing.frame.mass, rtol=1e-12)


def test_scaled_dumps_and_radii_that_are_given(tmp_path):
    (tmp_path / "s.dump").write_text(SCALED)
    state = formats.read_state(tmp_path / "s.dump", radius=0.3)
    assert state.position.tolist() == [[1.25, 2.5, 1.0], [7.5, 5.0, 0.0]]
    assert state.radius.tolist() == [0.3, 0.3]
    (tmp_path / "f.dump").write_text(
        SCALED.replace(" xy xz yz pp pp ff", "").replace(" 5\n", "\n").replace(" 0\n", "\n")
    )
    assert formats.read_state(tmp_path / "f.dump", radius=0.3).position[1].tolist() == [7.5, 5.0, 0.0]
    called(tmp_path, "import", "s.dump", "--radius", "0.3", "--overlap", "1")
    assert "radius = 0.3" in (tmp_path / "s.toml").read_text()
    assert len(Packing(tmp_path / "s.dump", radius=0.3)) == 2


def test_what_is_wrong_is_told(grains, tmp_path):
    (tmp_path / "s.dump").write_text(SCALED)
    (tmp_path / "w.data").write_text(WRITTEN)
    for text, told in [
        (WRITTEN.replace("# sphere", "# ellipsoid"), "Atoms of style 'ellipsoid' hold no spheres"),
        (WRITTEN.replace("\n3 0 0 -1 0 0 0", "\n7 0 0 -1 0 0 0"), "Velocities has none of atom 3"),
        (WRITTEN.replace("7.5 2.0", "7.5 a"), "line 15: y = 'a', and must be a number"),
        (WRITTEN.replace("3 1 1.0", "3 1 0.0"), "line 15: diameter = 0, and must be greater than zero"),
    ]:
        (tmp_path / "bad.data").write_text(text)
        with pytest.raises(formats.FormatError, match=told):
            formats.read_state(tmp_path / "bad.data")
    with pytest.raises(formats.FormatError, match=r"no column radius or diameter; give a radius .*--radius"):
        formats.read_state(tmp_path / "s.dump")
    with pytest.raises(formats.FormatError, match="has radii of its own; leave out the radius"):
        formats.read_state(tmp_path / "w.data", radius=1.0)
    with pytest.raises(rg.SceneError, match="must be one number with a file"):
        rg.Scene(dimension=3, grains=[{"file": str(tmp_path / "s.dump"), "radius": [0.1, 0.2]}])
    assert (
        "--radius -1.0 cannot be; give a positive number"
        in called(tmp_path, "import", "s.dump", "--radius", "-1", check=2).stderr
    )
    assert "--periodic q cannot be" in called(tmp_path, "import", "w.data", "--periodic", "q", check=2).stderr
    assert "--every 0 cannot be" in called(tmp_path, "export", grains, "--to", "csv", "--every", "0", check=2).stderr
