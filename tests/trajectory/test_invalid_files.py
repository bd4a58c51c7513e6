"""Files that make no sense, whoever wrote them: each is refused with what is wrong."""

from __future__ import annotations

import json
import shutil
import zlib

import h5py
import numpy as np
import pytest
from support.builders import triangular
from support.commands import command
from support.hdf5 import strip

import rigidgrains as rg
from rigidgrains.app.runner import resume_run
from rigidgrains.fclib import ProblemFileError, read_problem
from rigidgrains.trajectory.repair import repair
from rigidgrains.trajectory.texts import get_text, put_text, replace

pytestmark = pytest.mark.usefixtures("hurry")


def change(path, deed):
    with h5py.File(path, "r+") as file:
        deed(file)


def set_frames(count):
    def deed(file):
        for name in ("VTKHDF", "contacts"):
            file[name]["Steps"].attrs.modify("NSteps", np.int64(count))

    return deed


@pytest.mark.parametrize("count", [-3, 0, 2, 2**40])
def test_a_number_of_frames_that_is_none(path, count):
    """Nothing is read, and all that is there can be recovered, in as many looks as there are frames."""
    change(path, set_frames(count))
    for use in (rg.Trajectory, rg.TrajectoryWriter(path, resume=True).start):
        with pytest.raises(rg.TrajectoryError, match=f"damaged: its index tells of {count} frames"):
            use(path) if use is rg.Trajectory else use(rg.resume(path), 1)
    found = repair(path)
    assert (found.frames, found.lost, found.checkpoint) == (3, [], True)
    assert rg.Trajectory(found.path).steps.tolist() == [0, 25, 50]


def set_dimension(file):
    file.attrs["dimension"] = 7


def set_material(file):
    strip(file)
    file["VTKHDF/PointData/material"][0] = 10**6


def set_pair(file):
    strip(file)
    file["contacts/PointData/pair"][-1] = 10**6


def set_wall_table(file):
    strip(file)
    file["VTKHDF/FieldData/wall_table"][:] = 5


def set_shape(file):
    strip(file)
    walls = json.loads(bytes(file["walls/0"][()]))
    walls[0]["shape"] = "torus"
    put_text(file["walls"], "0", json.dumps(walls))


@pytest.mark.parametrize(
    ("deed", "says"),
    [
        (set_dimension, "its dimension is 7, neither 2 nor 3"),
        (set_material, "material goes from 0 to 1000000, beyond 0 to 0"),
        (set_pair, r"pair goes from \d+ to 1000000, beyond 0 to"),
        (set_wall_table, "what it holds makes no sense|describes"),
        (set_shape, "a wall of the unknown shape 'torus'"),
    ],
)
def test_what_points_nowhere_is_refused(path, deed, says):
    change(path, deed)

    def read():
        for frame in rg.Trajectory(path):
            assert len(frame.material) == len(frame)
            assert len(frame.contacts.pair) == len(frame.contacts)
            assert len(frame.walls) > 0

    with pytest.raises(rg.TrajectoryError, match=says):
        read()


def change_state(path, deed):
    """Tamper with a checkpoint so that its checksum holds."""

    def renew(file):
        group = file["checkpoint"]
        arrays = {name: group[name][()] for name in group if name != "text"}
        words = json.loads(get_text(group, "text"))
        deed(arrays, words)
        for name, array in arrays.items():
            replace(group, name, array)
        put_text(group, "text", json.dumps(words))
        del group.attrs["checksum"]

    change(path, renew)


STATES = {
    "material goes from 0 to 1000000": lambda arrays, words: arrays["material"].__setitem__(3, 10**6),
    "material of walls goes from 0 to 4": lambda arrays, words: words["walls"][0].__setitem__("material", 4),
    "contact_pairs goes from": lambda arrays, words: arrays["contact_pairs"].__setitem__(0, 999),
    "pair_partner goes from": lambda arrays, words: arrays["pair_partner"].__setitem__(0, -1),
    "pair_last goes from": lambda arrays, words: arrays["pair_last"].__setitem__(0, 10**6),
    "pair_start does not cut": lambda arrays, words: arrays["pair_start"].__setitem__(1, 10**6),
    "wall_grains goes from": lambda arrays, words: arrays["wall_grains"].__setitem__(0, 30),
    "block goes from": lambda arrays, words: arrays["block"].__setitem__(0, 2**20),
    "radius goes from -1": lambda arrays, words: arrays["radius"].__setitem__(0, -1.0),
    "position has numbers that are not finite": lambda arrays, words: arrays["position"].__setitem__(0, np.nan),
    "its dimension is 7": lambda arrays, words: words.__setitem__("dimension", 7),
    "orientation is": lambda arrays, words: words.__setitem__("dimension", 3),
    "group .* goes from 0 to 99": lambda arrays, words: words["groups"].update(all=[0, 99]),
    "cannot go on from its checkpoint.*KeyError: 'random'": lambda arrays, words: words.pop("random"),
    "cannot go on .* sweeps is 'many'": lambda arrays, words: words["tally"].__setitem__("sweeps", "many"),
}


@pytest.fixture(scope="module")
def pressed(tmp_path_factory):
    """A run with contacts of all kinds."""
    path = tmp_path_factory.mktemp("pressed") / "run.vtkhdf"
    simulation = rg.Simulation(triangular(3, 4, mu=0.3, g=5.0), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    return path


@pytest.mark.parametrize("says", STATES)
def test_a_state_that_makes_no_sense_is_not_resumed(pressed, tmp_path, says):
    path = shutil.copyfile(pressed, tmp_path / "run.vtkhdf")
    assert rg.resume(path).steps == 2
    change_state(path, STATES[says])
    with pytest.raises(rg.TrajectoryError, match=says):
        rg.resume(path)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("novelty", 1, "unknown key 'novelty', of a later version; update rigidgrains"),
        ("every", "often", "it was run with every = 'often'"),
        ("frame_every", 0, "it was run with frame_every = 0"),
        ("last_step", 2.5, "it was run with last_step = 2.5"),
        ("until", -1.0, "it was run with until = -1.0"),
    ],
)
def test_a_plan_of_a_later_version_is_refused(path, key, value, says):
    def deed(file):
        plan = json.loads(get_text(file["texts"], "run"))
        put_text(file["texts"], "run", json.dumps(plan | {key: value}))

    change(path, deed)
    with pytest.raises(rg.TrajectoryError, match=says):
        resume_run(path, progress=False)


def external_link(file, other):
    del file["VTKHDF/PointData/mass"]
    file["VTKHDF/PointData/mass"] = h5py.ExternalLink(other.name, "/secret")


def soft_link(file, other):
    del file["VTKHDF/PointData/mass"]
    file["VTKHDF/PointData/mass"] = h5py.SoftLink("/VTKHDF/PointData/radius")


def kept_elsewhere(file, other):
    del file["VTKHDF/PointData/mass"]
    (other.parent / "raw").write_bytes(bytes(30 * 8))
    file["VTKHDF/PointData"].create_dataset("mass", (30,), float, external=[(str(other.parent / "raw"), 0, 240)])


def virtual(file, other):
    del file["VTKHDF/PointData/mass"]
    layout = h5py.VirtualLayout((30,), float)
    layout[:] = h5py.VirtualSource(str(other), "secret", (30,))
    file["VTKHDF/PointData"].create_virtual_dataset("mass", layout)


def empty_claim(file, other):
    del file["VTKHDF/PointData/mass"]
    file["VTKHDF/PointData"].create_dataset("mass", (2**37,), float, chunks=(256,), maxshape=(None,))


LEADS = {
    external_link: "VTKHDF/PointData/mass is a link to another file",
    soft_link: "VTKHDF/PointData/mass is a symbolic link",
    kept_elsewhere: "the data of VTKHDF/PointData/mass are in another file",
    virtual: "VTKHDF/PointData/mass is made of data sets of other files",
    empty_claim: "VTKHDF/PointData/mass claims 1.1e+03 GB, of which the file has 0 bytes",
}


@pytest.mark.parametrize("deed", LEADS, ids=lambda deed: deed.__name__)
def test_files_that_lead_elsewhere_are_not_read(path, deed):
    """What is on this disk is not for a file from elsewhere to show, nor arrays that nobody has stored."""
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["secret"] = np.arange(30.0)
    with h5py.File(path, "r+") as file:
        deed(file, other)
    for line in (("info", path), ("check", path), ("resume", path), ("repair", path)):
        code, told = command(*line)
        assert code == 2, told
        assert LEADS[deed] in told
        assert len(told.splitlines()) == 1
    assert {one.suffix for one in path.parent.iterdir()} <= {".vtkhdf", ".h5", ""}


def test_problems_that_lead_elsewhere_are_not_read(tmp_path, run):
    problem = tmp_path / "problem.hdf5"
    rg.save_problem(rg.resume(run), problem)
    read_problem(problem)
    with h5py.File(problem, "r+") as file:
        name = next(name for name in ("fclib_local", "fclib_global") if name in file)
        del file[f"{name}/vectors/mu"]
        file[f"{name}/vectors/mu"] = h5py.ExternalLink("other.h5", "/secret")
    with pytest.raises(ProblemFileError, match="vectors/mu is a link to another file"):
        read_problem(problem)


def test_a_checksum_that_was_made_to_fit_does_not_help(path):
    """Whoever tampers may renew it."""

    def deed(file):
        data = b"{}"
        del file["texts/run"]
        file["texts/run"] = np.array(data, dtype=h5py.string_dtype("utf-8", len(data)))
        file["texts/run"].attrs["checksum"] = np.uint32(zlib.crc32(data))

    change(path, deed)
    with pytest.raises(rg.TrajectoryError, match="was written by a program"):
        resume_run(path, progress=False)
