"""Arrays of grains and contacts are declared once: one that a test adds goes wherever its grains and contacts go."""

from __future__ import annotations

import csv
import json
import re

import h5py
import numpy as np
import pytest
from support.builders import triangular

import rigidgrains as rg
from rigidgrains.contacts.contacts import Contacts
from rigidgrains.events.population import Crowd
from rigidgrains.formats.export import export
from rigidgrains.model import arrays
from rigidgrains.model.arrays import PER_CONTACT, PER_GRAIN, PerContact, PerGrain
from rigidgrains.simulation import sorting
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory import layout, verify_state
from rigidgrains.trajectory.checkpoint import pack, unpack
from rigidgrains.trajectory.errors import Mismatch, TrajectoryError

FRESH, PLAIN = 0.125, (7, -7)  # of new grains


@pytest.fixture
def dye(monkeypatch):
    """A number for each grain, in every frame, and a pair of whole numbers that rarely changes."""
    number = PerGrain(name="dye", unit="kg", exported=True, default=FRESH, values="finite")
    label = PerGrain(name="label", row=(2,), dtype=np.int32, frames="once", exported=True, default=PLAIN)
    monkeypatch.setitem(PER_GRAIN, "dye", number)
    monkeypatch.setitem(PER_GRAIN, "label", label)


@pytest.fixture
def age(monkeypatch):
    """A number for each contact, and a vector that acts on body 1."""
    monkeypatch.setitem(PER_CONTACT, "age", PerContact(name="age", unit="s", exported=True))
    monkeypatch.setitem(PER_CONTACT, "slip", PerContact(name="slip", row=(3,), unit="m", turned=slice(None)))


def hopper(*, recycle=None, rate=400.0):
    """Disks rain into a box with a hole in its floor; below the hole is an outlet."""
    scene = rg.Scene(dimension=2, gravity=[0, -9.81], friction=0.4, run={"dt": 5e-4, "seed": 5})
    scene.add_grains(name="bed", count=40, radius=[1.5e-3, 2.2e-3], region=[[0, 0.002], [0.04, 0.04]])
    scene.add_plane("left", point=[0, 0], normal=[1, 0])
    scene.add_plane("right", point=[0.04, 0], normal=[-1, 0])
    scene.add_plane("floor left", point=[0.006, 0], normal=[0, 1], size=0.012)
    scene.add_plane("floor right", point=[0.034, 0], normal=[0, 1], size=0.012)
    own = {"radius": [1.5e-3, 2.2e-3], "rate": rate} if rate else {}
    scene.add_inflow("rain", region=[[0.002, 0.06], [0.038, 0.08]], velocity=[0, -0.5], **own)
    scene.add_outlet("drain", point=[0, -0.01], normal=[0, 1], recycle=recycle)
    return Simulation(scene)


def paint(bodies):
    """Rows that tell whose they are."""
    bodies.dye[:] = 1000.0 + bodies.id
    bodies.label[:] = np.stack([bodies.id, -bodies.id], axis=1)


def check_paint(bodies, first_new):
    """Grains that were painted have their own rows still, new ones those of new grains."""
    old = bodies.id < first_new
    assert bodies.dye.tolist() == np.where(old, 1000.0 + bodies.id, FRESH).tolist()
    assert bodies.label[old].tolist() == np.stack([bodies.id, -bodies.id], axis=1)[old].tolist()
    assert (bodies.label[~old] == PLAIN).all()


def test_nothing_is_left_undeclared():
    """What has as many rows as there are grains, or contacts, is declared; the numbers of rows are those of nothing
    else."""
    simulation = hopper()
    simulation.run(steps=60)
    bodies, contacts = simulation.bodies, simulation.contacts
    n, c = bodies.count, contacts.count
    assert len({n, c, len(bodies.walls), 3, 8}) == 5
    found = {name for name, array in vars(bodies).items() if isinstance(array, np.ndarray) and len(array) == n}
    assert {"position", "radius", "mass", "orientation", "material", "id"} <= found <= set(PER_GRAIN)
    declared = {column.place for column in PER_CONTACT.values()}
    rows = {name for name, array in vars(contacts).items() if isinstance(array, np.ndarray) and len(array) >= c}
    assert {"_pairs", "_geometry", "_forces"} <= rows <= declared | {"_numbers"}  # 0, 1, 2, ...


@pytest.mark.parametrize("dimension", [2, 3])
def test_new_grains_are_whole(dye, dimension):
    """A grain that an inflow makes has a row of each array, and the words of a file give it back."""
    grain = Crowd.of_one(0.5, 2.0, 3, dimension, "rain")
    assert set(grain.rows) == {column.name for column in arrays.grain_arrays()}
    assert (grain.dye[0], tuple(grain.label[0])) == (FRESH, PLAIN)
    again = Crowd.from_words(json.loads(json.dumps(grain.words())))
    for name, rows in grain.rows.items():
        assert (again.rows[name].dtype, again.rows[name].tobytes()) == (rows.dtype, rows.tobytes())


def test_rows_follow_their_grains_through_a_sort(dye):
    simulation = Simulation(triangular(6, 7, mu=0.3, g=10.0), dt=1e-2)
    simulation.run(steps=3)
    bodies = simulation.bodies
    paint(bodies)
    rows = np.random.default_rng(1).permutation(bodies.count)
    sorting.renumber(bodies, simulation.neighbours, simulation.contacts, rows)
    assert bodies.id.tolist() == rows.tolist()
    check_paint(bodies, bodies.count)


def test_rows_follow_their_grains_in_and_out(dye):
    """New grains get the default; those that leave take theirs along, and no other row moves to another grain."""
    simulation = hopper()
    bodies = simulation.bodies
    first_new = bodies.count
    paint(bodies)
    for _ in range(500):
        simulation.step()
        check_paint(bodies, first_new)
    (rain,), (drain,) = bodies.events.inflows, bodies.events.outlets
    assert min(rain.made, drain.count) > 5
    assert (bodies.id >= first_new).any()


def test_grains_that_come_back_bring_their_rows(dye):
    simulation = hopper(recycle="rain", rate=None)
    bodies = simulation.bodies
    total = bodies.count
    paint(bodies)
    simulation.run(steps=600)
    (rain,) = bodies.events.inflows
    assert rain.again > 5
    check_paint(bodies, total)


def test_a_restart_has_the_rows_to_the_bit(dye, age, tmp_path):
    """In the middle of a run with grains that come, leave, and are on their way back."""
    path = tmp_path / "run.vtkhdf"
    simulation = hopper(recycle="rain")
    paint(simulation.bodies)
    simulation.observe(rg.TrajectoryWriter(path), every=100)
    simulation.observe(grow_older)
    simulation.run(steps=400)
    half = rg.resume(path)
    assert half.steps == 400
    half.observe(grow_older)
    assert state_of(half) == state_of(simulation)
    simulation.run(steps=100)
    half.run(steps=100)
    assert state_of(half) == state_of(simulation)


def grow_older(simulation):
    """Contacts grow older by a step, and slide by what tells their pair."""
    contacts = simulation.contacts
    contacts.age += 1.0
    contacts.slip += contacts.normal


def state_of(simulation):
    kept, _ = pack(simulation)
    assert {"dye", "label", "contact_age", "contact_slip"} <= kept.keys()
    waiting = [grain.words() for inflow in simulation.bodies.events.inflows for grain in inflow.waiting]
    return {name: array.tobytes() for name, array in kept.items()}, waiting


def test_a_file_that_lacks_the_rows_is_resumed_with_the_default(monkeypatch, tmp_path):
    """As files of before an array was declared."""
    path = tmp_path / "run.vtkhdf"
    simulation = hopper(recycle="rain")
    simulation.observe(rg.TrajectoryWriter(path), every=200)
    simulation.run(steps=400)
    monkeypatch.setitem(PER_GRAIN, "dye", PerGrain(name="dye", exported=True, default=FRESH))
    monkeypatch.setitem(PER_CONTACT, "age", PerContact(name="age"))
    again = rg.resume(path)
    assert again.bodies.dye.tolist() == [FRESH] * again.bodies.count
    assert again.contacts.age.tolist() == [0.0] * again.contacts.count
    again.observe(rg.TrajectoryWriter(path, resume=True), every=100)
    again.run(steps=200)
    with rg.Trajectory(path) as trajectory:
        assert trajectory[-1].step == 600
        assert trajectory[-1].column("dye") is None


def test_a_frame_without_an_array_says_none(tmp_path):
    """Also where the array is known by name: velocities before the step are in files with contacts alone."""
    simulation = Simulation(triangular(2, 2), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf", contacts=False))
    simulation.run(steps=1)
    with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
        assert trajectory[-1].column("velocity_before") is None
        assert trajectory[-1].column("velocity").tolist() == trajectory[-1].velocity.tolist()


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("dye", np.zeros(3), r"dye is float64 \(3,\), and should be numbers \(40,\)"),
        ("dye", np.zeros(40, int), "dye is int64"),
        ("dye", np.full(40, np.nan), "dye has numbers that are not finite"),
        ("label", np.zeros((40, 3), int), "label is int64"),
        ("contact_age", np.zeros((2, 2)), "contact_age is float64"),
    ],
)
def test_rows_that_do_not_fit_are_refused(dye, age, name, rows, told):
    simulation = hopper()
    simulation.step()
    kept, text = pack(simulation)
    verify_state.state(kept, text)
    with pytest.raises(Mismatch, match=told):
        verify_state.state({**kept, name: rows}, text)


@pytest.mark.parametrize("name", ["position", "force", "contact_pairs", "contact_geometry", "contact_forces"])
def test_rows_that_every_file_has_must_be_there(name):
    kept, text = pack(hopper())
    del kept[name]
    with pytest.raises(Mismatch, match=f"{name} is missing"):
        verify_state.state(kept, text)


def test_a_grain_on_its_way_back_is_whole():
    """A radius of nought is no default."""
    words = Crowd.of_one(0.5, 2.0, 3, 2, "rain").words()
    del words["torque"]  # as in files of before there were torques
    assert Crowd.from_words(words).torque.tolist() == [[0.0, 0.0, 0.0]]
    del words["radius"]
    with pytest.raises(KeyError, match="radius"):
        Crowd.from_words(words)


@pytest.fixture
def trajectory(dye, age, tmp_path):
    """A run whose grains are sorted in the middle of it: frames are in the order of ids."""
    simulation = Simulation(triangular(4, 5, mu=0.3, g=10.0), dt=1e-2)
    paint(simulation.bodies)
    simulation.observe(grow_older)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=2)
    simulation.run(steps=2)
    rows = np.random.default_rng(1).permutation(simulation.bodies.count)
    sorting.renumber(simulation.bodies, simulation.neighbours, simulation.contacts, rows)
    simulation.run(steps=2)
    with rg.Trajectory(tmp_path / "run.vtkhdf") as opened:
        yield opened


def test_frames_have_the_rows(trajectory):
    for frame in (*trajectory, rg.Frame.of(rg.resume(trajectory.path))):
        assert frame.column("dye").tolist() == (1000.0 + frame.id).tolist()
        assert frame.column("label").tolist() == np.stack([frame.id, -frame.id], axis=1).tolist()
    assert trajectory.array("dye").shape == (len(trajectory), len(trajectory[0]))
    assert trajectory[-1].contacts.law("age").max() == 4.0
    with pytest.raises(TrajectoryError, match="no array of frame 0 is called 'hue'"):
        trajectory.array("hue")
    with h5py.File(trajectory.path) as file:
        units = json.loads(file.attrs["units"])
        assert (units["dye"], units["label"], units["age"]) == ("kg", "1", "s")
        assert len(file["VTKHDF/PointData/label"]) == len(trajectory[0])  # once


def test_frames_that_do_not_fit_are_refused(trajectory, tmp_path):
    with h5py.File(trajectory.path, "r+") as file:
        del file["frames/array_checksum"]
        file["VTKHDF/PointData/dye"].resize(3, 0)
    with rg.Trajectory(trajectory.path) as opened, pytest.raises(TrajectoryError, match=r"dye is float64 \(3,\)"):
        opened[0].column("dye")


def test_csv_has_the_rows(trajectory, tmp_path):
    export(trajectory, "csv", tmp_path / "last.csv", frames="last")
    with (tmp_path / "last.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["dye [kg]"]) for row in rows] == [1000.0 + int(row["id"]) for row in rows]
    assert [int(row["label_1"]) for row in rows] == [-int(row["id"]) for row in rows]
    with (tmp_path / "last-contacts.csv").open() as file:
        assert [float(row["age [s]"]) for row in csv.DictReader(file)] == trajectory[-1].contacts.law("age").tolist()


def test_extxyz_has_the_rows(trajectory, tmp_path):
    export(trajectory, "extxyz", tmp_path / "run.xyz", frames="last")
    lines = (tmp_path / "run.xyz").read_text().splitlines()
    properties = re.search(r"Properties=(\S+)", lines[1])[1].split(":")
    names = [name for name, width in zip(properties[::3], properties[2::3]) for _ in range(int(width))]
    assert properties[-6:] == ["dye", "R", "1", "label", "I", "2"]
    for line in lines[2:]:
        row = line.split()
        i = int(row[names.index("id")])
        assert (float(row[names.index("dye")]), row[-2:]) == (1000.0 + i, [str(i), str(-i)])


def test_vtu_has_the_rows(trajectory, tmp_path):
    export(trajectory, "vtu", tmp_path / "run.vtu", frames="last")
    content, n = (tmp_path / "run.vtu").read_bytes(), len(trajectory[-1])
    told = rb'type="Float64" Name="dye" NumberOfComponents="1" format="appended" offset="(\d+)"'
    place = int(re.search(told, content)[1])
    start = content.index(b'encoding="raw">\n_') + len(b'encoding="raw">\n_') + place
    assert int.from_bytes(content[start : start + 8], "little") == 8 * n
    assert np.frombuffer(content, float, n, start + 8).tolist() == (1000.0 + trajectory[-1].id).tolist()


def test_lammps_has_the_rows(trajectory, tmp_path):
    export(trajectory, "lammps", tmp_path / "run.dump", frames="last")
    lines = (tmp_path / "run.dump").read_text().splitlines()
    (head,) = (k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS"))
    names = lines[head].split()[2:]
    for row in map(str.split, lines[head + 1 :]):
        assert float(row[names.index("dye")]) == 999.0 + int(row[names.index("id")])  # ids count from 1


def test_gsd_and_xarray_have_the_rows(trajectory, tmp_path):
    hoomd = pytest.importorskip("gsd.hoomd")
    export(trajectory, "gsd", tmp_path / "run.gsd")
    with hoomd.open(str(tmp_path / "run.gsd")) as file:
        assert file[-1].log["particles/dye"].tolist() == trajectory[-1].column("dye").tolist()
    pytest.importorskip("xarray")
    data = trajectory.to_xarray()
    assert data["dye"].dims == ("frame", "grain")
    assert data["label"].dims == ("grain", "label_component")


def keys_of(bodies, contacts):
    """Identity of each contact: ids of both grains, or of a grain and the name of a wall."""
    names = np.full(contacts.count, "", object)
    for wall, rows in zip(bodies.walls, contacts.wall_rows):
        names[rows] = wall.name
    return [
        (int(bodies.id[i]), name) if name else tuple(sorted((int(bodies.id[i]), int(bodies.id[j]))))
        for (i, j), name in zip(contacts.pairs.tolist(), names)
    ]


@pytest.mark.parametrize("sort", [False, True])
def test_rows_follow_their_contacts(age, monkeypatch, sort):
    """Through steps with grains that come and go, and sorts: whenever contacts are gathered, those that were there the
    time before have the rows they had, by ids, and others begin at zero."""
    if sort:
        monkeypatch.setattr(sorting, "LEAST", 1)
        monkeypatch.setattr(sorting, "EVERY", 2)
        monkeypatch.setattr(sorting, "WORTH", 0.0)
    known, gather = {}, Contacts.gather

    def watched(contacts, bodies, *rest, **named):
        gather(contacts, bodies, *rest, **named)
        keys = keys_of(bodies, contacts)
        assert contacts.age.tolist() == [known.get(key, 0.0) for key in keys]
        known.clear()
        known.update(zip(keys, contacts.age.tolist()))

    monkeypatch.setattr(Contacts, "gather", watched)
    simulation = hopper()
    simulation.sort = sort
    for _ in range(400):
        simulation.step()
        simulation.contacts.age += 1.0
        known.update(zip(keys_of(simulation.bodies, simulation.contacts), simulation.contacts.age.tolist()))
    assert max(known.values()) > 50.0
    assert len(set(known.values())) > 5
    assert min(stream.count for stream in simulation.bodies.events.outlets) > 5


def test_vectors_of_contacts_turn_with_them(age):
    """What acts on body 1 is the opposite when the two have changed places; a mere number stays."""
    simulation = Simulation(triangular(6, 7, mu=0.3, g=10.0), dt=1e-2)
    simulation.run(steps=3)
    bodies, contacts = simulation.bodies, simulation.contacts
    contacts.slip[:], contacts.age[:] = contacts.normal, np.arange(contacts.count)
    between = contacts.wall_rows[0].start
    before = bodies.id[contacts.pairs[:between]]
    slip = contacts.slip.copy()
    sorting.renumber(bodies, simulation.neighbours, contacts, np.random.default_rng(1).permutation(bodies.count))
    after = bodies.id[contacts.pairs[:between]]
    turned = after[:, 0] != before[:, 0]
    assert 0 < turned.sum() < between
    assert (after[turned] == before[turned][:, ::-1]).all()
    sign = np.ones(contacts.count)
    sign[:between][turned] = -1.0
    assert contacts.slip.tolist() == (sign[:, None] * slip).tolist()
    assert contacts.age.tolist() == list(range(contacts.count))


def test_arrays_of_files_are_those_of_before():
    """Names of data sets and units as files of version 1 have them."""
    kept, text = pack(hopper())
    grains = {"position", "radius", "mass", "motion", "orientation", "material", "force", "torque", "id"}
    contacts = {f"contact_{name}" for name in ("pairs", "geometry", "forces", "image", "memory", "wall_rows")}
    assert grains | contacts | {"gravity", "friction"} <= kept.keys()
    assert "pull" not in kept
    assert "image" not in kept
    units = layout._units()
    assert (units["Points"], units["material"], units["id"], units["mu"]) == ("m", "row of friction", "1", "1")
    assert unpack(kept, text).bodies.count == 40
