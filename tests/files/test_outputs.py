"""Nothing that is there is lost unasked: commands refuse before they do anything, and say what is in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.checks import contents
from support.commands import rigidgrains
from support.scenes import SCENE

import rigidgrains as rg
from rigidgrains.app.runner import run_scene
from rigidgrains.fclib import read_problem
from rigidgrains.files.outputs import check_outputs, whole
from rigidgrains.reproduce import run as reproduction
from rigidgrains.trajectory.repair import repair
from rigidgrains.view.page import PageError, write_page

MINE = "not to be lost"


def test_all_files_in_the_way_are_named_at_once(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(MINE)
    with pytest.raises(rg.OutputError) as told:
        check_outputs(*(tmp_path / name for name in "abcd"), force=False)
    for name in "abc":
        assert str(tmp_path / name) in str(told.value)
    assert str(tmp_path / "d") not in str(told.value)
    assert "force=True" in str(told.value)
    check_outputs(tmp_path / "a", force=True)
    with pytest.raises(rg.OutputError, match="file to be read"):
        check_outputs(tmp_path / "a", force=True, source=tmp_path / "a")


def test_links_and_folders_count_as_files_do(tmp_path):
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "other").symlink_to(tmp_path / "source")
    (tmp_path / "source").write_text(MINE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(rg.OutputError, match="nowhere exists"):
        check_outputs(tmp_path / "nowhere", tmp_path / "empty", force=False)
    with pytest.raises(rg.OutputError, match="file to be read"):
        check_outputs(tmp_path / "other", force=True, source=tmp_path / "source")


def test_a_file_comes_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a"
    path.write_text(MINE)

    def fail():
        with whole(path) as part:
            part.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == MINE
    with whole(path) as part:
        part.write_text("all")
    assert path.read_text() == "all"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_run_overwrites_nothing_in_its_folder(scene):
    folder = scene.parent / "both"
    folder.mkdir()
    for name in ("scene.toml", "report.json", "packing.png", "history.png", "s-contacts.vtkhdf"):
        (folder / name).write_text(MINE)
    before = contents(folder)
    with pytest.raises(rg.OutputError) as told:
        run_scene(scene, output=folder, progress=False)
    for path in before:
        assert path.name in str(told.value)
    assert contents(folder) == before


def test_a_picture_that_is_not_wanted_is_not_deleted_either(scene):
    scene.write_text(SCENE + "[output]\npicture = false\nplot = false\n")
    (scene.parent / "packing.png").write_text(MINE)
    with pytest.raises(rg.OutputError, match=r"packing\.png exists"):
        run_scene(scene, output=scene.parent, steps=2, progress=False)
    assert (scene.parent / "packing.png").read_text() == MINE
    run_scene(scene, output=scene.parent, steps=2, force=True, progress=False)
    assert not (scene.parent / "packing.png").exists()  # it would be taken for one of this run


def test_two_scenes_in_one_folder(scene):
    other = scene.with_name("other.toml")
    other.write_text(SCENE.replace("count = 30", "count = 20"))
    run_scene(scene, output=scene.parent / "both", steps=2, progress=False)
    with pytest.raises(rg.OutputError, match=r"scene\.toml.*report\.json"):
        run_scene(other, output=scene.parent / "both", steps=2, progress=False)
    assert (scene.parent / "both" / "scene.toml").read_text() == SCENE


def test_a_scene_may_be_run_where_it_is(scene):
    path = scene.rename(scene.with_name("scene.toml"))
    run_scene(path, output=path.parent, steps=2, progress=False)
    assert path.read_text() == SCENE


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"save_problems": 0}, "--save-problems 0"),
        ({"checkpoint_every": 0}, "--checkpoint-every 0"),
        ({"checkpoint_every": -5}, "--checkpoint-every -5"),
        ({"rigid": -1.0}, "rigid"),
        ({"solver": "magic"}, "--solver magic"),
    ],
)
def test_options_are_checked_before_a_folder_is_made(scene, wrong, says):
    with pytest.raises(ValueError, match=says):
        run_scene(scene, progress=False, **wrong)
    assert [path.name for path in scene.parent.iterdir()] == ["s.toml"]


def test_a_trajectory_is_not_replaced_by_a_link(tmp_path, scene):
    """a-contacts.vtkhdf may be somebody's trajectory, not the link that belongs to a.vtkhdf."""
    (tmp_path / "a-contacts.vtkhdf").write_text(MINE)
    with pytest.raises(rg.OutputError, match=r"a-contacts\.vtkhdf exists"):
        rg.TrajectoryWriter(tmp_path / "a.vtkhdf")
    rg.TrajectoryWriter(tmp_path / "a.vtkhdf", contacts=False)


def test_a_page_is_no_picture_and_no_trajectory(made, tmp_path):
    file = made / "s.vtkhdf"
    before = file.read_bytes()
    with rg.Trajectory(file) as trajectory:
        with pytest.raises(rg.OutputError, match="file to be read"):
            write_page(trajectory, file, force=True)
        with pytest.raises(PageError, match=r"q\.png: a page ends in \.html"):
            write_page(trajectory, tmp_path / "q.png")
    assert file.read_bytes() == before
    assert not (tmp_path / "q.png").exists()


def test_repair_never_replaces_what_it_reads(made):
    before = contents(made)
    with pytest.raises(rg.OutputError, match="file to be read"):
        repair(made / "s.vtkhdf", made / "s.vtkhdf", force=True)
    assert contents(made) == before


def test_problems_overwrite_nothing(made, tmp_path):
    simulation, trajectory = rg.resume(made / "s.vtkhdf"), made / "s.vtkhdf"
    before = trajectory.read_bytes()
    with pytest.raises(rg.OutputError, match=r"s\.vtkhdf exists.*force=True"):
        rg.save_problem(simulation, trajectory)
    assert trajectory.read_bytes() == before
    problem = tmp_path / "p.hdf5"
    rg.save_problem(simulation, problem)
    rg.save_problem(simulation, problem, force=True)
    before = problem.read_bytes()
    assert "file to be read" in rigidgrains(tmp_path, "solve", problem, "--output", problem, "--force")
    (tmp_path / "there.hdf5").write_text(MINE)
    told = rigidgrains(tmp_path, "solve", problem, "--output", "there.hdf5")
    assert "there.hdf5 exists" in told
    assert "--force" in told
    assert problem.read_bytes() == before
    assert (tmp_path / "there.hdf5").read_text() == MINE
    assert read_problem(problem).count == simulation.contacts.count


def test_a_problem_without_contacts_is_none(tmp_path, scene):
    simulation = rg.Simulation(rg.load_scene(scene))
    with pytest.raises(ValueError, match="no step has been made"):
        rg.save_problem(simulation, tmp_path / "p.hdf5")
    assert not (tmp_path / "p.hdf5").exists()


def test_texts_overwrite_nothing(scene):
    assert "s.toml exists" in rigidgrains(scene.parent, "schema", "-o", "s.toml")
    assert "s.toml exists" in rigidgrains(scene.parent, "new", "drum", "-o", "s.toml")
    assert scene.read_text() == SCENE


def test_views_do_not_replace_what_they_show(made, tmp_path):
    """A trajectory may have any name when it is read."""
    odd = tmp_path / "odd.png"
    odd.write_bytes((made / "s.vtkhdf").read_bytes())
    before = odd.read_bytes()
    for words in (("render", odd), ("plot", odd)):
        assert "file to be read" in rigidgrains(tmp_path, *words, "-o", odd, "--force")
    assert odd.read_bytes() == before


def test_reproduce_knows_its_own_pages(tmp_path, monkeypatch):
    targets = reproduction.check_names(["graphs"])
    (tmp_path / "index.html").write_text(MINE)
    (tmp_path / "graphs.png").write_text(MINE)
    with pytest.raises(rg.OutputError, match=r"graphs\.png and .*index\.html exist"):
        reproduction.reproduce(targets, tmp_path, quick=True)
    assert (tmp_path / "index.html").read_text() == MINE
    reproduction.reproduce(targets, tmp_path, quick=True, force=True)
    page = tmp_path / "results.json"
    record = json.loads(page.read_text())
    record["targets"].append(record["targets"][0] | {"target": "springs", "quick": False})
    page.write_text(json.dumps(record))
    (tmp_path / "springs.png").write_bytes((tmp_path / "graphs.png").read_bytes())
    reproduction.reproduce(targets, tmp_path, quick=True)  # its own pages, with what others left there
    kept = json.loads(page.read_text())["targets"]
    assert [(one["target"], one["quick"]) for one in kept] == [("graphs", True), ("springs", False)]
    assert "2 of 2 targets pass" in (tmp_path / "index.html").read_text()


def test_a_step_beyond_the_end_of_a_scene(scene):
    assert "ends at step 50, before step 1,000,000" in rigidgrains(scene.parent, "compare", "s.toml", "--step", 1000000)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="memory is bounded as in Linux")
def test_what_does_not_fit_into_memory_is_told(scene):
    text = SCENE.replace("count = 30", "count = 100000000").replace("[0.02, 0.02]", "[900, 900]")
    scene.write_text(text.replace("[0.02, 0.03]", "[900, 900]"))
    code = (
        "import resource, sys\n"
        "from rigidgrains.cli import main\n"
        "import rigidgrains.scene.load\n"
        "room = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + 600_000_000\n"
        "resource.setrlimit(resource.RLIMIT_AS, (room, room))\n"  # less than an array of 1e8 numbers
        "sys.argv = ['rigidgrains', 'info', 's.toml']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=scene.parent, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "more memory than there is" in done.stderr
    assert "Traceback" not in done.stderr
