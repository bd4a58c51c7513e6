"""The command line as a user meets it: a process, its output and its exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from support.commands import called, process
from support.scenes import SCENE

from rigidgrains import Trajectory
from rigidgrains.gallery import scene_text

FIELDS = {
    "grains", "steps", "time", "contacts", "sweeps_mean", "converged_steps", "mean_overlap", "max_overlap",
    "kinetic_energy", "max_displacement_over_radius", "wall_force", "seconds",
}  # fmt: skip

BARE = (
    SCENE
    + """[output]
picture = false
plot = false
"""
)


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "scene.toml").write_text(BARE)


@pytest.fixture
def cli(scene, tmp_path):
    """A command within this process."""
    return partial(called, tmp_path)


@pytest.fixture
def alone(scene, tmp_path):
    """A command as a process of its own."""
    return partial(process, tmp_path)


@pytest.fixture
def refused(cli):
    """What is told of words that end with exit code 2."""

    def call(*words: object) -> str:
        told = cli(*words, check=2)
        return told.stderr + told.stdout

    return call


def test_help_loads_no_compiler():
    code = (
        "import sys, rigidgrains.cli as c\n"
        "try: c.app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted(m for m in ('numba', 'llvmlite', 'scipy', 'matplotlib') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "run" in done.stdout
    assert "bench" in done.stdout


def test_run_prints_one_json_object(cli, tmp_path):
    done = cli("run", "scene.toml", "--json")
    report = json.loads(done.stdout)
    assert report.keys() >= FIELDS
    assert report["grains"] == 30
    assert report["steps"] == 50
    assert report["time"] == pytest.approx(5e-3)
    assert set(report["wall_force"]) == {"left", "right", "bottom"}
    assert json.loads((tmp_path / "scene" / "report.json").read_text()) == report


def test_run_tells_and_keeps_everything(alone, tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    done = alone("run", "scene.toml", "--threads", 2)
    assert "grains" in done.stdout
    assert "force on bottom" in done.stdout
    assert {f.name for f in (tmp_path / "scene").iterdir()} == {
        "report.json", "history.png", "packing.png", "scene.toml", "scene.vtkhdf", "scene-contacts.vtkhdf"
    }  # fmt: skip
    assert (tmp_path / "scene" / "scene.toml").read_text() == SCENE


def test_a_second_run_leaves_the_first_alone(cli, tmp_path):
    cli("run", "scene.toml", "--quiet", "--steps", 5)
    first = (tmp_path / "scene" / "report.json").read_text()
    done = cli("run", "scene.toml", "--quiet", "--steps", 6)
    assert done.stdout == ""
    assert (tmp_path / "scene" / "report.json").read_text() == first
    assert json.loads((tmp_path / "scene-2" / "report.json").read_text())["steps"] == 6


def test_command_line_wins_over_the_scene(cli):
    assert json.loads(cli("run", "scene.toml", "--json", "--steps", 7).stdout)["steps"] == 7
    assert json.loads(cli("run", "scene.toml", "--json", "--until", 2e-3).stdout)["steps"] == 20
    first = json.loads(cli("run", "scene.toml", "--json", "--seed", 1).stdout)
    again = json.loads(cli("run", "scene.toml", "--json", "--seed", 1).stdout)
    other = json.loads(cli("run", "scene.toml", "--json", "--seed", 2).stdout)
    assert first["kinetic_energy"] == again["kinetic_energy"] != other["kinetic_energy"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "missing.toml"), "missing.toml"),
        (("run",), "SCENE"),
        (("run", "scene.toml", "--steps", "2.5"), "not a whole number"),
        (("run", "scene.toml", "--steps", "-3"), "--steps -3"),
        (("run", "scene.toml", "--until", "nan"), "--until nan"),
        (("run", "scene.toml", "--until", "soon"), "soon"),
        (("run", "scene.toml", "--speed", "3"), "--speed"),
        (("run", "scene.toml", "--seed", "-1"), "-1"),
        (("run", "scene.toml", "--seed", 2**64), "must be at most 9223372036854775807; given: 18446744073709551616"),
        (("run", "scene.toml", "--rigid", -1), "-1.0 times the extent of a cluster makes nothing rigid"),
        (("run", "scene.toml", "--output", "scene.toml"), "scene.toml"),
        (("new", "pistn"), "did you mean 'piston'?"),
        (("info", "missing.toml"), "missing.toml"),
        (("dance",), "dance"),
    ],
)
def test_wrong_words_end_with_exit_code_2(refused, words, says):
    assert says in refused(*words)


def test_all_mistakes_of_a_file_at_once(alone, tmp_path):
    text = SCENE.replace("radius", "raduis").replace("dt = 1e-4", "dt = 0").replace('"top"', '"tpo"')
    (tmp_path / "bad.toml").write_text(text)
    told = alone("run", "bad.toml", check=2).stderr
    for piece in ("did you mean 'radius'?", "run.dt", "tpo", "line "):
        assert piece in told


def test_a_scene_needs_an_end_and_no_time_step(cli, tmp_path):
    (tmp_path / "endless.toml").write_text(SCENE.replace("steps = 50", ""))
    assert "--until or --steps" in cli("run", "endless.toml", check=2).stderr
    (tmp_path / "empty.toml").write_text("")
    told = cli("run", "empty.toml", check=2).stderr
    assert all(piece in told for piece in ("2 mistakes", "no grains", "--until or --steps"))
    (tmp_path / "free.toml").write_text(SCENE.replace("dt = 1e-4", ""))
    report = json.loads(cli("run", "free.toml", "--accuracy", "fast", "--json").stdout)
    assert report["dt_range"][0] > 0.0
    assert report["accuracy"] == "fast"
    assert "solver.accuracy" in cli("run", "free.toml", "--accuracy", "best", "--force", check=2).stderr


def test_divergence_is_told_and_the_last_good_state_kept(cli, tmp_path):
    """The parallel update blows up in a compressed packing."""
    text = BARE.replace("count = 30", "count = 40").replace("steps = 50", "steps = 2000")
    text += '[solver]\norder = "parallel"\ncriterion = "fixed"\nsweeps = 100\n'
    (tmp_path / "jacobi.toml").write_text(text)
    done = cli("run", "jacobi.toml", "--quiet", check=3)
    assert "diverged" in done.stderr
    last = Trajectory(tmp_path / "jacobi" / "jacobi.vtkhdf")[-1]
    assert np.isfinite(last.velocity).all()
    assert not last.whole


def test_new_writes_a_scene_once(cli, tmp_path):
    assert "drum" in cli("new", "--list").stdout
    cli("new", "column")
    assert "exists" in cli("new", "column", check=2).stderr
    assert json.loads(cli("run", "column.toml", "--json", "--steps", 5).stdout)["grains"] == 20


def test_info_and_schema(cli, tmp_path):
    assert "numba" in cli("info").stdout
    assert "30" in cli("info", "scene.toml").stdout
    schema = json.loads(cli("schema").stdout)
    assert {"grains", "plane", "piston", "cylinder", "solver"} <= set(schema["properties"])
    cli("schema", "--output", "scene.schema.json")
    assert json.loads((tmp_path / "scene.schema.json").read_text()) == schema


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_cleanly_with_the_report_so_far(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE.replace("steps = 50", "steps = 100000000"))
    process = subprocess.Popen(
        [sys.executable, "-m", "rigidgrains", "run", "scene.toml", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (tmp_path / "scene" / "scene.vtkhdf").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert report["stopped"] == "interrupted"
    assert report["steps"] > 0
    assert "rigidgrains resume scene/scene.vtkhdf" in err
    assert Trajectory(tmp_path / "scene" / "scene.vtkhdf").steps[-1] == report["steps"]


def test_files_are_told_of_repaired_and_resumed(cli, tmp_path):
    cli("run", "scene.toml", "-q")
    told = cli("info", "scene/scene.vtkhdf").stdout
    for piece in ("51, t = 0 to 0.005 s, every 1 steps", "left, right, bottom", "30, radius", "step 50"):
        assert piece in told
    assert "exist and are left alone" in cli("run", "scene.toml", "-o", "scene", check=2).stderr
    cli("run", "scene.toml", "-q", "-o", "scene", "--force")
    report = json.loads(cli("resume", "scene/scene.vtkhdf", "--steps", 7, "--json").stdout)
    assert report["steps"] == 57
    cli("export", "scene/scene.vtkhdf", "--to", "csv", "--frame", "-1", "-o", "last.csv")
    assert len((tmp_path / "last.csv").read_text().splitlines()) == 31
    whole = (tmp_path / "scene" / "scene.vtkhdf").read_bytes()
    (tmp_path / "cut.vtkhdf").write_bytes(whole[: len(whole) - 30_000])
    assert "rigidgrains repair cut.vtkhdf" in cli("info", "cut.vtkhdf", check=2).stderr
    assert "written to cut-repaired.vtkhdf" in cli("repair", "cut.vtkhdf").stdout
    assert "exists and is left alone" in cli("repair", "cut.vtkhdf", check=2).stderr


@pytest.mark.parametrize("command", ["info", "resume", "repair"])
@pytest.mark.parametrize(
    ("file", "says"),
    [("missing.vtkhdf", "no such file"), ("folder.vtkhdf", "this is a folder"), ("text.vtkhdf", "no trajectory")],
)
def test_files_of_another_kind(refused, tmp_path, command, file, says):
    (tmp_path / "folder.vtkhdf").mkdir()
    (tmp_path / "text.vtkhdf").write_text(SCENE)
    told = refused(command, file)
    assert says in told
    assert len(told.splitlines()) == 1


def test_threads_that_are_none(cli, monkeypatch):
    """Bad numbers are told, from the command line and from the environment; a good one runs above."""
    assert "--threads = 0 is no number of threads" in cli("run", "scene.toml", "--threads", 0, check=2).stderr
    assert "1.5 is not a whole number" in cli("bench", "--threads", 1.5, check=2).stderr
    monkeypatch.setenv("RIGIDGRAINS_THREADS", "many")
    assert "RIGIDGRAINS_THREADS = many is no number" in cli("info", check=2).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--accuracy", "best"], "must be 'fast', 'balanced' or 'exact'"),
        (["--accuracy", "fast", "--solver", "sweeps"], "--accuracy fast is a level of accelerated sweeps"),
        (["--accuracy", "fast", "--rigid", "2"], "--accuracy fast is a level of accelerated sweeps"),
        (["--solver", "relaxed"], "'relaxed' is gone"),
        (["--accuracy", "fast", "--set", "solver.order=random"], "belongs to method = 'accelerated', not to 'sweeps'"),
    ],
)
def test_an_accuracy_that_does_not_fit_is_told_in_one_line(cli, tmp_path, words, told):
    (tmp_path / "drum.toml").write_text(scene_text("drum"))
    done = cli("run", "drum.toml", "--steps", 1, *words, check=2)
    assert told in " ".join(done.stderr.split())
    assert done.stderr.strip().count("\n") == 0
    assert not (tmp_path / "drum").exists()
