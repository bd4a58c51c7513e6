"""One flipped bit anywhere in a file: it is told, or what is read is what was written; never a traceback."""

from __future__ import annotations

import shutil
import zlib
from functools import partial

import h5py
import numpy as np
import pytest
from support.scenes import SCENE

import rigidgrains as rg
from rigidgrains.app.about import trajectory_facts
from rigidgrains.app.runner import run_scene
from rigidgrains.certificate import check_file
from rigidgrains.fclib import ProblemFileError, read_problem
from rigidgrains.formats import FormatError, export, read_state
from rigidgrains.trajectory.repair import repair

FEW, FLIPS = 12, 40  # files with a flipped bit: always, and all of them
GRAINS = ("position", "orientation", "velocity", "spin", "radius", "mass", "id", "load", "external_force", "wall_force")
CONTACTS = ("pair", "point", "normal", "gap", "force", "status")


pytestmark = pytest.mark.usefixtures("hurry")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    (folder / "s.toml").write_text(SCENE + "[output]\npicture = false\nplot = false\nframe_every = 10\n")
    return run_scene(folder / "s.toml", output=folder / "s", progress=False).trajectory


@pytest.fixture(scope="module")
def pristine(run):
    return everything(run)


@pytest.fixture(scope="module")
def later(run, tmp_path_factory):
    """Positions two steps after the end of the run."""
    path = tmp_path_factory.mktemp("later") / "s.vtkhdf"
    shutil.copyfile(run, path)
    return go_on(path)


def everything(path):
    """All that is told about a file, in a form that can be compared."""
    with rg.Trajectory(path) as trajectory:
        told = [trajectory.scene, trajectory.run, trajectory.report, trajectory.dimension, trajectory.seed]
        arrays = [trajectory.figures(name) for name in trajectory.names]
        arrays += [column for _, column in sorted(trajectory.history.items())]
        for frame in trajectory:
            told.append([repr(wall) for wall in frame.walls])
            arrays += [getattr(frame, name) for name in GRAINS]
            arrays += [getattr(frame.contacts, name) for name in CONTACTS]
    return told, [zlib.crc32(np.ascontiguousarray(array).data) for array in arrays]


def go_on(path):
    """Two steps more, from the checkpoint."""
    simulation = rg.resume(path)
    history = rg.History()
    simulation.observe(history, every=1)
    simulation.observe(rg.TrajectoryWriter(path, resume=True, history=history), every=1)
    simulation.run(steps=2)
    return simulation.bodies.position.copy()


def flip(path, place, bit=0):
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ (1 << bit)]))


def told(use, *refusals):
    """What is said when something is used; empty if nothing is."""
    try:
        use()
    except refusals as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("seed", [*range(FEW), *(pytest.param(k, marks=pytest.mark.slow) for k in range(FEW, FLIPS))])
def test_a_flipped_bit_is_told_or_does_no_harm(run, pristine, later, tmp_path, seed):
    rng, path, mended = np.random.default_rng(seed), tmp_path / "s.vtkhdf", tmp_path / "mended.vtkhdf"
    shutil.copyfile(run, path)
    flip(path, int(rng.integers(path.stat().st_size)), int(rng.integers(8)))
    before, found = path.read_bytes(), []

    def read():
        assert everything(path) == pristine

    def resume():
        assert (go_on(path) == later).all()

    uses = [read, partial(trajectory_facts, path), partial(read_state, path), lambda: list(check_file(path, [-1]))]
    found = [told(use, rg.TrajectoryError, FormatError) for use in (*uses, partial(repair, path, mended))]
    assert path.read_bytes() == before
    if mended.exists():
        everything(mended)
    found.append(told(resume, rg.TrajectoryError))
    for text in filter(None, found):
        assert str(path) in text
        assert "damaged" in text or "no trajectory" in text or "nothing can be recovered" in text


def place_of(path, name, row=0):
    """Where in the file the bytes of a data set are."""
    with h5py.File(path, "r") as file:
        data = file[name].id
        if data.get_create_plist().get_layout() == h5py.h5d.CHUNKED:
            return data.get_chunk_info(row).byte_offset
        return data.get_offset()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("VTKHDF/Points", r"Points of frame 0 is not what was written"),
        ("VTKHDF/PointData/radius", r"radius of frame 0 is not what was written"),
        ("contacts/PointData/force", r"force of frame \d+ is not what was written"),
        ("VTKHDF/FieldData/kinetic_energy", r"figures of frame 0 is not what was written"),
        ("history/kinetic_energy", r"kinetic_energy of the history is not what was written"),
        ("texts/scene", r"text scene is not what was written"),
        ("walls/0", r"text 0 is not what was written"),
    ],
)
def test_each_part_has_its_checksum(run, tmp_path, name, says):
    path = tmp_path / "s.vtkhdf"
    shutil.copyfile(run, path)
    everything(path)
    flip(path, place_of(path, name) + 3)
    with pytest.raises(rg.TrajectoryError, match=f"damaged: {says}.*rigidgrains repair"):
        everything(path)


def test_a_changed_checkpoint_is_not_resumed(run, tmp_path):
    path = tmp_path / "s.vtkhdf"
    shutil.copyfile(run, path)
    flip(path, place_of(path, "checkpoint/position") + 3)
    before = path.read_bytes()
    with pytest.raises(rg.TrajectoryError, match="the checkpoint is not what was written"):
        rg.resume(path)
    assert path.read_bytes() == before
    found = repair(path, tmp_path / "mended.vtkhdf")
    assert not found.checkpoint
    assert not found.lost
    with pytest.raises(rg.TrajectoryError, match="no checkpoint"):
        rg.resume(tmp_path / "mended.vtkhdf")
    assert everything(tmp_path / "mended.vtkhdf") == everything(run)


def test_a_lost_history_begins_anew(run, tmp_path):
    path, mended = tmp_path / "s.vtkhdf", tmp_path / "mended.vtkhdf"
    shutil.copyfile(run, path)
    flip(path, place_of(path, "history/time") + 3)
    assert repair(path, mended).checkpoint
    assert len(rg.Trajectory(mended).history["time"]) == len(rg.Trajectory(mended))  # the figures of the frames
    go_on(mended)
    assert rg.Trajectory(mended).history["step"].tolist() == [51, 52]


def test_files_without_these_checksums_are_read_and_resumed(run, pristine, later, tmp_path):
    """As earlier versions wrote them."""
    path = tmp_path / "s.vtkhdf"
    shutil.copyfile(run, path)
    with h5py.File(path, "r+") as file:
        del file["frames/array_checksum"]
        for name in ("checkpoint", "history", "checkpoint/text", "texts/scene", "texts/run", "texts/report", "walls/0"):
            del file[name].attrs["checksum"]
    assert everything(path) == pristine
    assert (go_on(path) == later).all()
    everything(path)


def test_what_is_damaged_can_be_read_if_one_insists(run, tmp_path):
    path = tmp_path / "s.vtkhdf"
    shutil.copyfile(run, path)
    flip(path, place_of(path, "VTKHDF/Points"))
    assert len(rg.Trajectory(path, verify=False)[0].position) == 30


def test_half_a_file_is_told_so_without_promises(run, tmp_path):
    path = tmp_path / "s.vtkhdf"
    path.write_bytes(run.read_bytes()[: run.stat().st_size // 2])
    with pytest.raises(rg.TrajectoryError, match=r"ends too early; rigidgrains repair .* may recover its frames"):
        rg.Trajectory(path)
    with pytest.raises(rg.TrajectoryError, match="nothing can be recovered"):
        repair(path)
    assert [file.name for file in tmp_path.iterdir()] == ["s.vtkhdf"]


def test_a_damaged_file_of_another_program_is_told(run, tmp_path):
    pytest.importorskip("gsd")
    path = export(run, "gsd", tmp_path / "one.gsd", "last")
    whole, rng, found = path.read_bytes(), np.random.default_rng(0), []
    for place in rng.integers(len(whole), size=150):
        path.write_bytes(whole)
        flip(path, int(place), int(rng.integers(8)))
        found.append(told(partial(read_state, path), FormatError))
    assert any("one.gsd: is damaged" in text for text in found)
    assert any("no room for 67,108,894 particles" in text for text in found)  # not filled with so many rows


def test_a_damaged_problem_is_told(tmp_path, run):
    path = tmp_path / "p.hdf5"
    rg.save_problem(rg.resume(run), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(3)
    for place in rng.integers(len(whole), size=FLIPS):
        path.write_bytes(whole)
        flip(path, int(place), 3)
        text = told(partial(read_problem, path), ProblemFileError)
        assert not text or str(path) in text
