"""Files of other programs as the start of a scene: what is read, and what cannot be is told."""

from __future__ import annotations

import os

import numpy as np
import pytest
from support.exports import CSV, STATE

import rigidgrains as rg
from rigidgrains.formats import export, read_state
from rigidgrains.scene import Scene, SceneError, load_scene
from rigidgrains.trajectory import store

DUMP = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
-0.5 0.5
ITEM: ATOMS id type x y z radius
2 1 0.5 0.25 0 0.1
1 1 0.25 0.75 0 0.2
"""


XYZ = """2
Properties=species:S:1:pos:R:3:radius:R:1
X 0.5 0.25 0 0.1
X 0.25 0.75 0 0.2
"""


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("to", ["vtkhdf", "lammps", "extxyz", "csv", "gsd"])
def test_the_run_goes_on_from_an_import(cli, runs, tmp_path, dimension, to):
    """The last state, exported and imported, is a scene that runs; its grains are those of the file."""
    file = runs[dimension, "double"]
    if to != "vtkhdf":
        cli("export", file, "--to", to, "--frame", "last", "--output", f"state.{to}")
        file = f"state.{to}"
    cli("import", file, "--output", "scene.toml")
    scene = load_scene(tmp_path / "scene.toml")
    simulation, frame = rg.Simulation(scene), rg.Trajectory(runs[dimension, "double"])[-1]
    assert simulation.bodies.dimension == dimension
    for name in STATE:
        assert getattr(simulation.bodies, name) == pytest.approx(getattr(frame, name), rel=1e-6, abs=1e-8), name
    before = simulation.bodies.position.copy()
    simulation.run(steps=5)
    assert 0.0 < np.abs(simulation.bodies.position - before).max() < 1e-3
    assert simulation.report().max_overlap < 0.05


@pytest.mark.parametrize(("name", "text"), [("a.dump", DUMP), ("a.xyz", XYZ), ("a.csv", CSV)])
def test_python_and_toml_name_a_file_alike(tmp_path, monkeypatch, name, text):
    """Relative to the scene in TOML, to the working folder in Python; densities as for other grains."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).write_text(text)
    (tmp_path / "deep" / "scene.toml").write_text(f'[[grains]]\nname = "sand"\nfile = "{name}"\ndensity = 1000\n')
    monkeypatch.chdir(tmp_path)
    bodies = load_scene("deep/scene.toml").build()
    scene = Scene(dimension=2)
    scene.add_grains(name="sand", file=tmp_path / "deep" / name, density=1000)
    scene.add_force(grains="sand", index=1, force=(1, 0))
    assert np.array_equal(scene.build().position, bodies.position)
    order = [1, 0] if name == "a.dump" else [0, 1]  # by ids, where there are any
    assert np.array_equal(bodies.position, np.array([[0.5, 0.25, 0], [0.25, 0.75, 0]])[order])
    assert bodies.mass == pytest.approx(1000 * np.pi * np.array([0.1, 0.2])[order] ** 2)
    with pytest.raises(SceneError, match="numbered from 0 to 1"):
        Scene(
            grains=[{"name": "sand", "file": f"deep/{name}"}], force=[{"grains": "sand", "index": 2, "force": [0, 1]}]
        )


def test_masses_velocities_and_spins_of_the_file_hold_unless_others_are_given(tmp_path):
    path = tmp_path / "state.csv"
    path.write_text("x,y,z,radius,mass,vx,vy,vz,spin_z\n0,0,0,1,7,1,2,0,3\n")
    bodies = Scene(grains=[{"file": path}]).build()
    assert bodies.mass == pytest.approx([7])
    assert bodies.velocity == pytest.approx(np.array([[1, 2, 0]]))
    assert bodies.spin == pytest.approx(np.array([[0, 0, 3]]))
    bodies = Scene(dimension=3, grains=[{"file": path, "density": 1, "velocity": [0, 0, 5], "spin": [1, 0, 0]}]).build()
    assert bodies.mass == pytest.approx([4 / 3 * np.pi])
    assert bodies.velocity == pytest.approx(np.array([[0, 0, 5]]))
    assert bodies.spin == pytest.approx(np.array([[1, 0, 0]]))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("radius;x;y\n0.5;1;2\n", [1, 2, 0]),
        ("# made by hand\n#x\ty\tz\tdiameter\n1\t2\t3\t1\n", [1, 2, 3]),
        ("\ufeffX (m) , Y (m) , Radius (m)\n\n1, 2, 0.5\n", [1, 2, 0]),
        ("x y z r\n1 2 3 0.5\n", [1, 2, 3]),
    ],
)
def test_tables_of_many_hands_are_read(tmp_path, text, position):
    (tmp_path / "state.csv").write_text(text, encoding="utf-8")
    state = read_state(tmp_path / "state.csv")
    assert np.array_equal(state.position, [position])
    assert np.array_equal(state.radius, [0.5])


def test_dimension_is_told_by_z_and_by_the_user(cli, tmp_path):
    (tmp_path / "flat.csv").write_text("x,y,z,radius\n0,0,0.5,0.1\n1,0,0.5,0.1\n")
    (tmp_path / "deep.csv").write_text("x,y,z,radius\n0,0,0,0.1\n1,0,0.5,0.1\n")
    (tmp_path / "rising.csv").write_text("x,y,z,radius,vz\n0,0,0,0.1,1\n")
    assert read_state(tmp_path / "flat.csv").dimension == 2
    assert read_state(tmp_path / "deep.csv").dimension == 3
    assert read_state(tmp_path / "rising.csv").dimension == 3
    cli("import", "flat.csv")
    assert not load_scene("flat.toml").build().position[:, 2].any()
    cli("import", "flat.csv", "--dimension", 3, "--force")
    assert np.array_equal(load_scene("flat.toml").build().position[:, 2], [0.5, 0.5])
    assert "is not flat, its z run from 0 to 0.5 m; set dimension = 3" in cli(
        "import", "deep.csv", "--dimension", 2, check=2
    )
    assert "its grains move along z" in cli("import", "rising.csv", "--dimension", 2, check=2)


def pair_of(tmp_path, distance):
    (tmp_path / "pair.csv").write_text(f"x,y,radius\n0,0,1\n{distance},0,2\n")
    return tmp_path / "pair.csv"


def test_small_overlaps_are_taken_over_and_gross_ones_refused(tmp_path):
    assert Scene(grains=[{"file": pair_of(tmp_path, 2.96)}]).build().count == 2
    file = pair_of(tmp_path, 2.8)
    with pytest.raises(SceneError) as caught:
        Scene(grains=[{"file": file}]).build()
    told = "grains[0].file[0]: this grain and grains[0].file[1] overlap by 0.2 of the smaller radius"
    assert told in str(caught.value)
    assert "start with the overlap: overlap = 0.2" in str(caught.value)
    assert Scene(grains=[{"file": file, "overlap": 0.21}]).build().count == 2
    floor = {"name": "floor", "point": [0, -1.5], "normal": [0, 1]}
    with pytest.raises(SceneError, match=r"file\[1\]: this grain overlaps wall 'floor' by 0.25 of its radius"):
        Scene(grains=[{"file": pair_of(tmp_path, 3)}], plane=[floor]).build()
    assert Scene(grains=[{"file": file, "overlap": 0.25}], plane=[floor]).build().count == 2
    with pytest.raises(SceneError, match=r"grains\[1\]\.positions\[0\].*overlap by 1 of the smaller radius; move them"):
        Scene(grains=[{"file": file, "overlap": 0.25}, {"positions": [[9, 0], [10, 0]], "radius": 1}]).build()


def test_an_overlap_that_was_imported_does_not_grow(tmp_path):
    """Two grains pressed together by their velocities: g_pos lets the overlap stand."""
    (tmp_path / "pair.csv").write_text("x,y,radius,vx\n0,0,1,1\n1.96,0,1,-1\n")
    simulation = rg.Simulation(Scene(grains=[{"file": tmp_path / "pair.csv"}]), dt=1e-3, accuracy="exact")
    simulation.run(steps=20)
    assert np.diff(simulation.bodies.position[:, 0])[0] == pytest.approx(1.96, abs=1e-9)


BAD = [
    ("a.csv", None, "no such file"),
    ("a.csv", "", "has no column x"),
    ("a.csv", CSV.replace("0.75", "abc"), "line 3: y [m] = 'abc', and must be a number"),
    ("a.csv", CSV.replace(",0.75", ""), "line 3: has 2 columns instead of 3"),
    ("a.csv", CSV.replace("0.75", "nan"), "line 3: y = nan, and must be a finite number"),
    ("a.csv", CSV.replace("0.2\n", "0\n"), "line 3: radius = 0, and must be greater than zero"),
    ("a.csv", CSV.replace("radius", "size"), "has no column radius or diameter"),
    ("a.csv", CSV.replace("radius [m]", "radius [mm]"), "'radius [mm]': other units than SI"),
    ("a.csv", "x,y,radius\n", "has no grains"),
    ("a.csv", b"x,y\xff\n", "not a text file"),
    ("a.csv", "id,x,y,radius\n1,0,0,1\n1,5,0,1\n", "id 1 is given to two grains"),
    ("a.csv", "id,x,y,radius\n1.5,0,0,1\n", "line 2: id = 1.5, and must be a whole number"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\n3"), "ends after 2 of its 3 grains; choose an earlier frame"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\n1"), "line 11: the frame has more rows than its 1 grains"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\ntwo"), "line 4: 'two' should be the number of grains"),
    ("a.dump", DUMP.replace("x y z", "xs ys zs").replace("BOX BOUNDS", "BOX BOUNDS abc"), "scaled coordinates"),
    ("a.dump", DUMP.replace("ATOMS", "ENTRIES"), "dump of contacts"),
    ("a.dump", DUMP.replace("0.25 0.75 0 0.2", "0.25 inf 0 0.2"), "line 11: y = inf"),
    ("a.dump", "ITEM: TIMESTEP\n0\n", "there is no frame last; it has no frame"),
    ("a.xyz", XYZ.replace(":radius:R:1", ""), "line 3: has 5 columns instead of 4"),
    ("a.xyz", XYZ.replace("Properties=", "nothing "), "line 2: must say Properties="),
    ("a.xyz", XYZ.replace("2\nP", "3\nP"), "ends after 2 of its 3 grains"),
    ("a.xyz", XYZ + "more\n", "line 5: 'more' should be the number of grains"),
    ("a.bin", b"\0\1\2", "no state of grains can be read from it"),
    ("a.vtkhdf", b"\x89HDF\r\n\x1a\n and no more", "is damaged"),
    ("a.gsd", b"\xdf\x65" * 4 + b"\0" * 300, "cannot be read"),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD, ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(BAD)])
def test_bad_files_are_told_in_one_line(cli, tmp_path, monkeypatch, name, content, says):
    """By import, and as a mistake of the scene, at the line of the key."""
    monkeypatch.setattr(store, "PAUSE", 0.0)  # nobody is writing these files
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in cli("import", name, check=2)
    assert not (tmp_path / "a.toml").exists()
    (tmp_path / "scene.toml").write_text(f'dimension = 2\n[[grains]]\nfile = "{name}"\n')
    with pytest.raises(SceneError) as caught:
        load_scene(tmp_path / "scene.toml")
    [problem] = caught.value.problems
    assert (problem.place, problem.line) in (("grains[0].file", 3), ("grains[0].frame", 2))
    assert says in " ".join(str(problem).split())


@pytest.mark.parametrize(
    ("words", "place", "says"),
    [
        ({"count": 3}, "count", "has no meaning with file"),
        ({"region": [[0, 0], [1, 1]]}, "region", "has no meaning with file"),
        ({"positions": [[0, 0]]}, "positions", "has no meaning with file"),
        ({"radii": [1.0]}, "radii", "has no meaning with file"),
        ({"radius": 1.0}, "file", "has radii of its own; leave out the radius"),
        ({"seed": 1}, "seed", "has no meaning with file"),
        ({"frame": 2}, "frame", "there is no frame 2; it has 1, 0 to 0"),
        ({"frame": "first"}, "frame", "must be a whole number or 'last'"),
        ({"frame": 1.5}, "frame", "must be a whole number"),
        ({"overlap": 2}, "overlap", "must lie between 0 and 1"),
        ({"file": 7}, "file", "must be the path of a file"),
        ({"file": "."}, "file", "this is a folder"),
        ({"velocity": [[0, 1]] * 3}, "velocity", "needs one value for each of the 2 grains"),
        ({"file": None, "count": 1, "radius": 1, "region": [[0, 0], [3, 3]], "frame": 1}, "frame", "belongs to file"),
    ],
)
def test_keys_that_do_not_go_with_a_file(tmp_path, words, place, says):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(SceneError) as caught:
        Scene(grains=[{"file": str(tmp_path / "a.csv"), **words}])
    assert [problem.place for problem in caught.value.problems] == [f"grains[0].{place}"]
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--frame", "soon"), "--frame soon is no frame"),
        (("--frame", "1"), "there is no frame 1; it has 1"),
        (("--density", "-1"), "--density -1.0 cannot be; give a positive number"),
        (("--density", "nan"), "--density nan"),
        (("--dimension", "4"), "--dimension 4 cannot be; give 2 or 3"),
        (("--overlap", "2"), "--overlap 2.0 cannot be"),
        (("--output", "there.toml"), "there.toml exists and is left alone"),
        (("--output", "a.csv", "--force"), "this is the file to be read"),
        (("--output", "no/scene.toml"), "there is no folder no"),
    ],
)
def test_bad_imports_end_with_exit_code_2(cli, tmp_path, words, says):
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "there.toml").write_text("kept")
    assert says in cli("import", "a.csv", *words, check=2)
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "there.toml"]
    assert (tmp_path / "there.toml").read_text() == "kept"


def test_import_refuses_gross_overlaps_or_writes_what_is_allowed(cli, tmp_path):
    pair_of(tmp_path, 2.8)
    assert "overlap = 0.2" in cli("import", "pair.csv", check=2)
    cli("import", "pair.csv", "--overlap", 0.3)
    assert "overlap = 0.3" in (tmp_path / "pair.toml").read_text()
    assert load_scene("pair.toml").build().count == 2


def test_the_chosen_frame_is_written_into_the_scene(cli, run, tmp_path):
    export(run, "lammps", tmp_path / "run.dump")
    for frame, index in (("0", 0), ("2", 2), ("last", 3), ("-3", 1)):
        cli("import", "run.dump", f"--frame={frame}", "--force")
        assert f"frame = {index}\n" in (tmp_path / "run.toml").read_text()
        assert np.array_equal(load_scene("run.toml").build().radius, run[index].radius)
        assert load_scene("run.toml").build().position == pytest.approx(run[index].position)
