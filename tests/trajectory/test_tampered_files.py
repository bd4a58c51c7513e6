"""Files that make no sense, whoever wrote them: a proper result or one line, never a traceback, never a crash."""

from __future__ import annotations

import io
import json
import random
import shutil
import signal
import zlib
from contextlib import redirect_stderr, redirect_stdout, suppress

import h5py
import numpy as np
import pytest
from support.builders import triangular
from support.scenes import SCENE

import rigidgrains as rg
from rigidgrains.app.runner import resume_run, run_scene
from rigidgrains.cli import app
from rigidgrains.cli.words import err, out
from rigidgrains.fclib import ProblemFileError, read_problem
from rigidgrains.trajectory import store
from rigidgrains.trajectory.repair import repair

FEW, MANY = 5, 400  # tampered files: always, and in the long test
LIMIT = 60  # s for one of them, on the slowest machine
CODES = {0, 1, 2, 3, 4}  # that are documented


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    """Nobody is writing these files: there is nothing to wait for."""
    monkeypatch.setattr(store, "PAUSE", 0.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tampered")
    (folder / "s.toml").write_text(SCENE + "[output]\npicture = false\nplot = false\nframe_every = 25\n")
    return run_scene(folder / "s.toml", output=folder / "s", progress=False).trajectory


@pytest.fixture
def path(run, tmp_path):
    shutil.copyfile(run, tmp_path / "s.vtkhdf")
    return tmp_path / "s.vtkhdf"


# Ways to tamper with a data set or an attribute, given as an array; None takes it away


def negative(old):
    return -np.abs(old.astype(float)).astype(old.dtype) - np.ones((), old.dtype) if old.dtype.kind in "if" else b"-1"


def huge(old):
    if old.dtype.kind in "iu":
        return np.full(old.shape, min(2**40, np.iinfo(old.dtype).max), old.dtype)
    return np.full(old.shape, 1e300) if old.dtype.kind == "f" else b"9" * 1000


def nan(old):
    return np.full(old.shape, np.nan)


def zero(old):
    return np.zeros_like(old) if old.dtype.kind in "iuf" else b""


def text(old):
    return np.full(old.shape, b"words")


def whole(old):
    return old.astype(np.int64) if old.dtype.kind == "f" else np.full(old.shape, 0.5)


def longer(old):
    return np.concatenate([old, old, old]) if old.ndim else np.full(7, old)


def shorter(old):
    return old[: len(old) // 2] if old.ndim else b""


def deeper(old):
    return np.zeros((2, 2, 2))


def words(old):
    return b'{"unknown": [1, {"a": -3}]}'


def missing(old):
    return None


WAYS = [negative, huge, nan, zero, text, whole, longer, shorter, deeper, words, missing]


def targets(file):
    """Names of all data sets, and of all attributes with their owner."""
    names, marks = [], [("/", name) for name in file.attrs]

    def see(name, thing):
        names.extend([name] if isinstance(thing, h5py.Dataset) else [])
        marks.extend((name, mark) for mark in thing.attrs)

    file.visititems(see)
    return names, marks


def strip(file):
    """Without checksums, as whoever tampers with care would leave it."""
    file.pop("frames/array_checksum", None)
    for owner, mark in targets(file)[1]:
        if mark == "checksum":
            del file[owner].attrs[mark]


def tamper(path, seed):
    """One data set or attribute in one way, with checksums and without; says what."""
    rng = random.Random(seed)
    way, bare = rng.choice(WAYS), rng.random() < 0.6
    with h5py.File(path, "r+") as file:
        if bare:
            strip(file)
        names, marks = targets(file)
        if rng.random() < 0.75:
            name = rng.choice(names)
            new = way(np.asarray(file[name][()]))
            grown = {"maxshape": (None, *new.shape[1:])} if isinstance(new, np.ndarray) and new.ndim else {}
            del file[name]
            if new is not None:
                file.create_dataset(name, data=new, **grown)
        else:
            owner, name = rng.choice(marks)
            old = np.asarray(file[owner].attrs[name])
            new = way(old.astype("S") if old.dtype.kind == "U" else old)
            del file[owner].attrs[name]
            if new is not None:
                file[owner].attrs[name] = new
            name = f"{owner}:{name}"
    return f"{name} {way.__name__}{' without checksums' if bare else ''}"


def command(*line):
    """Exit code and what is said on stderr by a command, run here."""
    told = io.StringIO()
    out.file, err.file = io.StringIO(), told
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(told):
            app([str(word) for word in line], exit_on_error=False)
        return 0, told.getvalue()
    except SystemExit as end:
        return end.code or 0, told.getvalue()
    finally:
        out.file = err.file = None


def go_on(path):
    simulation = rg.resume(path)
    simulation.observe(rg.TrajectoryWriter(path, resume=True), every=1)
    simulation.run(steps=1)


def late(*_):
    raise AssertionError("it takes too long")


def survive(path, seed):
    """All that reads a file ends well or with one line; an error that is not refused goes through and fails."""
    what, folder = tamper(path, seed), path.parent
    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        for line in (
            ("info", path),
            ("check", path),
            ("render", path, "-o", folder / "s.png", "--size", 300, "--force"),
            ("repair", path, "-o", folder / "mended.vtkhdf", "--force"),
            ("export", path, "--to", "csv", "--frame", "last", "-o", folder / "s.csv", "--force"),
        ):
            code, told = command(*line)
            assert code in CODES, (what, line, code)
            assert len(told.strip().splitlines()) <= 1, (what, line, told)
            assert (code in (2, 3)) == bool(told.strip()), (what, line, told)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rg.Simulation, "run", lambda self, **_: self.step())
            with suppress(rg.TrajectoryError, rg.DivergenceError, rg.CellError, rg.StageError):
                go_on(path)
        code, told = command("resume", path, "--steps", 1, "--quiet")
        assert code in CODES, (what, "resume", code)
        assert len(told.strip().splitlines()) <= 1, (what, "resume", told)
    except AssertionError:
        raise
    except Exception as problem:
        raise AssertionError(what) from problem
    finally:
        signal.alarm(0)


@pytest.mark.parametrize("seed", [*range(FEW), *(pytest.param(k, marks=pytest.mark.slow) for k in range(FEW, MANY))])
def test_whatever_is_changed_there_is_no_traceback(path, seed):
    survive(path, seed)


# What can be said for sure


def test_a_file_that_nobody_has_changed(path):
    """As all of these begin: every command comes to its end."""
    for line in (("info", path), ("render", path, "-o", path.with_suffix(".png"), "--size", 300), ("repair", path)):
        assert command(*line)[0] == 0
    go_on(path)
    assert rg.resume(path).steps == 51


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
    store.put_text(file["walls"], "0", json.dumps(walls))


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
        words = json.loads(store.get_text(group, "text"))
        deed(arrays, words)
        for name, array in arrays.items():
            store.replace(group, name, array)
        store.put_text(group, "text", json.dumps(words))
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
        plan = json.loads(store.get_text(file["texts"], "run"))
        store.put_text(file["texts"], "run", json.dumps(plan | {key: value}))

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
