"""What runs that go on, begin anew or are finished do to the results that are there."""

from __future__ import annotations

import json
import shutil

import pytest
from support.checks import contents
from support.commands import rigidgrains
from support.scenes import SCENE

import rigidgrains as rg
from rigidgrains.app import runner
from rigidgrains.app.runner import resume_run, run_scene

RESULTS = ("report.json", "packing.png", "history.png")

MINE = "not to be lost"


def test_a_run_is_not_resumed_to_an_end_that_it_has_passed(made):
    before, file = contents(made), made / "s.vtkhdf"
    for words in ({"until": 1e-3}, {"until": 5e-3}):
        with pytest.raises(rg.TrajectoryError, match=r"already at t = 0\.005 s, step 50; .*--until"):
            resume_run(file, progress=False, **words)
    assert contents(made) == before


def test_a_run_in_steps_of_its_own_is_not_resumed_either(scene):
    scene.write_text(SCENE.replace("dt = 1e-4\nsteps = 50", 'dt = "auto"\nuntil = 5e-3'))
    file = run_scene(scene, progress=False).trajectory
    with pytest.raises(rg.TrajectoryError, match=r"already at t = 0\.005 s"):
        resume_run(file, until=5e-3, progress=False)
    assert resume_run(file, progress=False).finished == []
    assert resume_run(file, until=6e-3, progress=False).report.time == pytest.approx(6e-3)


def test_a_resumed_run_goes_on_with_its_own_files(scene):
    file = run_scene(scene, steps=4, progress=False).trajectory
    resume_run(file, steps=3, progress=False)
    assert json.loads((file.parent / "report.json").read_text())["steps"] == 7


@pytest.mark.parametrize("lost", [(), ("packing.png",), ("packing.png", "history.png"), RESULTS])
def test_a_finished_run_gets_what_is_missing(made, tmp_path, lost):
    """As after a kill between the last checkpoint and the pictures: the same bytes as if nothing had happened."""
    folder = shutil.copytree(made, tmp_path / "s")
    before = contents(folder)
    for name in lost:
        (folder / name).unlink()
    outcome = resume_run(folder / "s.vtkhdf", progress=False)
    assert outcome.finished == [name for name in RESULTS if name in lost]
    assert outcome.report.steps == 50
    assert contents(folder) == before


def test_a_finished_run_gets_pictures_of_its_end(scene):
    """Killed at the end of a resumed run, it has a report and pictures of an earlier end."""
    file = run_scene(scene, steps=40, progress=False).trajectory
    old = {name: (file.parent / name).read_bytes() for name in RESULTS}
    resume_run(file, steps=10, progress=False)
    new = {name: (file.parent / name).read_bytes() for name in RESULTS}
    assert all(old[name] != new[name] for name in RESULTS)
    for name in RESULTS:
        (file.parent / name).write_bytes(old[name])
    assert resume_run(file, progress=False).finished == list(RESULTS)
    assert {name: (file.parent / name).read_bytes() for name in RESULTS} == new


def test_resume_tells_that_a_run_is_finished(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "s")
    (folder / "packing.png").unlink()
    for told in (r"the run is finished, made packing.png; to go on, ", "the run is finished, nothing is missing; "):
        assert told in rigidgrains(folder, "resume", "s.vtkhdf", code=0)


@pytest.mark.parametrize("beside", [
    ("report.json", "history.png"),
    *(pytest.param(files, marks=pytest.mark.slow) for files in (("report.json",), ("packing.png",))),
])  # fmt: skip
def test_a_copied_trajectory_leaves_results_of_others_alone(made, scene, beside):
    """Of a run of the same scene with another seed, or of nobody knows what."""
    run_scene(scene, seed=7, output=scene.parent / "other", progress=False)
    shutil.copy(made / "s.vtkhdf", scene.parent / "s.vtkhdf")
    for name in beside:
        shutil.copy(scene.parent / "other" / name, scene.parent / name)
    before = contents(scene.parent)
    with pytest.raises(rg.OutputError) as told:
        resume_run(scene.parent / "s.vtkhdf", steps=5, progress=False)
    assert all(name in str(told.value) for name in beside)
    assert "as far as s.vtkhdf knows: resume that in a folder of its own, or overwrite" in str(told.value)
    assert "--force" in rigidgrains(scene.parent, "resume", "s.vtkhdf")
    assert contents(scene.parent) == before
    resume_run(scene.parent / "s.vtkhdf", steps=5, force=True, progress=False)
    assert json.loads((scene.parent / "report.json").read_text())["steps"] == 55


def test_a_copied_trajectory_goes_on_where_nothing_is_in_the_way(made, tmp_path):
    shutil.copy(made / "s.vtkhdf", tmp_path / "s.vtkhdf")
    resume_run(tmp_path / "s.vtkhdf", steps=5, progress=False)
    assert {path.name for path in tmp_path.iterdir()} == {"s.vtkhdf", *RESULTS}


def test_a_run_that_replaces_another_can_be_killed_and_resumed(scene, monkeypatch):
    """Nothing of the earlier run is left that would be in the way."""

    def kill(*_: object, **__: object) -> None:
        raise SystemExit

    run_scene(scene, steps=3, progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_save", kill)
        with pytest.raises(SystemExit):
            run_scene(scene, output=scene.parent / "s", seed=7, steps=3, force=True, progress=False)
    assert not any((scene.parent / "s" / name).exists() for name in RESULTS)
    assert resume_run(scene.parent / "s" / "s.vtkhdf", progress=False).finished == list(RESULTS)


@pytest.mark.parametrize("again", [None, 20])
def test_problems_of_an_earlier_run_are_not_mixed_with_new_ones(scene, again):
    run_scene(scene, save_problems=15, progress=False)
    problems = scene.parent / "s" / "problems"
    earlier = sorted(problems.iterdir())
    assert earlier[-1].name == "step-000045.hdf5"
    for name in ("step-notes.hdf5", "step-000045.txt"):
        (problems / name).write_text(MINE)
    for name in ("s.vtkhdf", "scene.toml", "s-contacts.vtkhdf", *RESULTS):
        (problems.parent / name).unlink()
    before = contents(problems)
    with pytest.raises(rg.OutputError, match="problems exists and is left alone"):
        run_scene(scene, output=problems.parent, save_problems=again, progress=False)
    assert contents(problems) == before
    run_scene(scene, output=problems.parent, save_problems=again, force=True, progress=False)
    left = {path.name for path in problems.iterdir()}
    assert not left & {path.name for path in earlier}
    assert ("step-000040.hdf5" in left) == (again == 20)
    for name in ("step-notes.hdf5", "step-000045.txt"):
        assert (problems / name).read_text() == MINE


def test_a_folder_for_problems_that_is_none(scene):
    (scene.parent / "problems").write_text(MINE)
    with pytest.raises(ValueError, match="problems cannot be used: File exists; choose another with --output"):
        run_scene(scene, output=scene.parent, save_problems=5, force=True, progress=False)
    assert (scene.parent / "problems").read_text() == MINE
