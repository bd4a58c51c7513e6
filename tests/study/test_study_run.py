"""Runs of a study: the right numbers in the table, nothing twice, the same bits however it was run."""

from __future__ import annotations

import csv
import json
import math
import statistics

import numpy as np
import pytest
from support.studies import BALL, DT, STEPS, falling, write

import rigidgrains as rg
from rigidgrains.study.folder import jobs_of
from rigidgrains.study.perform import perform
from rigidgrains.study.table import mean_and_error

MASS = 100 * math.pi * 0.1**2
END = DT * STEPS


def seed_of(trajectory: rg.Trajectory) -> int:
    return trajectory.seed % 1000


def broken(frame: rg.Frame) -> float:
    raise ZeroDivisionError("no such thing")


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A study of a ball that falls for 20 steps: each step adds g dt to its speed."""
    measure = {
        "energy": "column:kinetic_energy",
        "speed": {"of": f"column:sqrt(2 * kinetic_energy / {MASS!r})"},
        "mean_time": {"of": "column:time", "from": "50%"},
        "latest": {"of": "column:time", "take": "max"},
        "seed_mark": {"of": seed_of, "gets": "trajectory"},
    }
    study = falling(replicas=3, measure=measure, set={"output.every": 1})
    folder = tmp_path_factory.mktemp("fallen") / "study"
    status = study.run(folder, workers=0)
    assert str(status).startswith("6 runs: 6 done")
    assert status.finished
    return study, folder


def test_measures_are_what_theory_says(fallen):
    """E = m (g t)^2/2; times of the second half of 20 rows, 10 to 20 steps, have the mean 15 dt."""
    rows = fallen[0].rows()
    for g, some in rows.groupby("gravity[1]"):
        assert some["energy"].to_numpy() == pytest.approx(0.5 * MASS * (g * END) ** 2)
        assert some["speed"].to_numpy() == pytest.approx(abs(g) * END)
    assert rows["mean_time"].to_numpy() == pytest.approx(15 * DT)
    assert rows["latest"].to_numpy() == pytest.approx(END)
    assert rows["steps"].tolist() == [STEPS] * 6
    assert rows["seed"].mod(1000).tolist() == rows["seed_mark"].tolist() == [run.seed % 1000 for run in fallen[0].runs]


def test_the_dataset_has_varied_words_as_coordinates_and_errors_over_replicas(fallen):
    study, folder = fallen
    data = rg.Study(folder).table()
    assert dict(data.sizes) == {"gravity[1]": 2, "replica": 3}
    assert data["gravity[1]"].values.tolist() == [-10.0, -20.0]
    marks = [run.seed % 1000 for run in study.runs[3:]]
    there = data.sel({"gravity[1]": -20.0})
    assert there["seed_mark"].values.tolist() == marks
    assert float(there["seed_mark_mean"]) == pytest.approx(statistics.mean(marks))
    assert float(there["seed_mark_error"]) == pytest.approx(statistics.stdev(marks) / math.sqrt(3))
    assert data["runs"].values.tolist() == [3, 3]
    assert data["energy_error"].values == pytest.approx([0.0, 0.0])
    assert set(data.to_dataframe().reset_index().columns) >= {"gravity[1]", "replica", "energy", "energy_mean"}


def test_means_leave_out_what_is_missing():
    mean, error = mean_and_error(np.array([[1.0, 3.0, math.nan], [2.0, math.nan, math.nan], [math.nan] * 3]))
    assert mean.tolist()[:2] == [2.0, 2.0]
    assert error[0] == pytest.approx(1.0)
    assert np.isnan([mean[2], error[1], error[2]]).all()


def test_csv_and_parquet_hold_the_same_table(fallen):
    import pandas

    study, folder = fallen
    rows, stored = study.rows(), pandas.read_parquet(folder / "table.parquet")
    pandas.testing.assert_frame_equal(rows, stored, check_dtype=False)
    with open(folder / "table.csv", newline="", encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    assert [float(row["energy"]) for row in told] == rows["energy"].tolist()
    assert [row["folder"] for row in told] == rows["folder"].tolist()
    assert not {"host", "seconds", "began"} & set(told[0])
    assert (folder / "times.csv").read_text().startswith("run,folder,host,began,seconds,")


def test_finished_runs_are_not_repeated_and_a_larger_study_runs_the_rest(fallen):
    study, folder = fallen
    before = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/scene.vtkhdf")}
    assert study.run(workers=0).counts["done"] == 6
    larger = falling(
        vary={"gravity[1]": [-10.0, -20.0, -30.0]}, replicas=3, set={"output.every": 1},
        measure={"energy": "column:kinetic_energy"},
    )  # fmt: skip
    table = (folder / "table.csv").read_bytes()
    status = larger.run(folder, workers=0)
    assert (status.total, status.counts["done"]) == (9, 9)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert larger.rows()["energy"].tolist()[:6] == study.rows()["energy"].tolist()
    assert study.run(folder, workers=0).others == 3
    assert (folder / "table.csv").read_bytes() == table


def test_a_folder_can_be_opened_and_gone_on_with(tmp_path):
    path = write(tmp_path)
    study = rg.Study(path)
    status = study.run(tmp_path / "runs", workers=0, limit=1)
    assert (status.counts["done"], status.counts["waiting"]) == (1, 7)
    path.unlink()
    (tmp_path / "scene.toml").unlink()
    (tmp_path / "own.py").unlink()
    again = rg.Study(tmp_path / "runs")
    assert again.runs == study.runs
    assert again.run(workers=0, limit=1).counts["done"] == 2
    assert again.rows()["height"][0] > 0.0
    assert np.isnan(again.rows()["height"][5])


def test_a_failed_run_is_a_row_and_not_the_end(tmp_path):
    """28 disks have less area than the region, and still do not fit: that is found when they are placed."""
    scene = {**BALL, "grains": [{"name": "sand", "count": 2, "radius": 0.1, "region": [[0, 0], [1, 1]]}]}
    study = rg.Study(scene=scene, vary={"grains.sand.count": [2, 28, 3]}, measure={"t": "column:time"})
    status = study.run(tmp_path / "study", workers=0)
    assert (status.counts["done"], status.counts["failed"]) == (2, 1)
    rows = study.rows()
    assert rows["state"].tolist() == ["done", "failed", "done"]
    assert "grains[0]" in rows["error"][1]
    assert str(tmp_path) not in rows["error"][1]
    assert np.isnan(rows["t"][1])
    assert study.run(workers=0).counts["failed"] == 1  # it is not tried again unless asked
    entries = json.loads((tmp_path / "study/runs" / rows["folder"][1] / "times.json").read_text())
    assert len(entries) == 1
    study.run(workers=0, retry=True)
    entries = json.loads((tmp_path / "study/runs" / rows["folder"][1] / "times.json").read_text())
    assert len(entries) == 2


def test_a_measure_that_fails_is_told_and_measured_again_when_it_is_mended(tmp_path):
    """Without a step of the simulation: the trajectories stay as they are."""
    study = falling(measure={"bad": broken, "t": "column:time"})
    status = study.run(tmp_path / "study", workers=0)
    assert status.counts["unmeasured"] == 2
    assert study.rows()["error"].tolist() == ["bad: ZeroDivisionError: no such thing"] * 2
    assert study.rows()["t"].to_numpy() == pytest.approx(END)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("runs/*/scene.vtkhdf")}
    mended = falling(measure={"bad": seed_of_frame, "t": "column:time"})
    assert mended.run(tmp_path / "study", workers=0).counts["done"] == 2
    assert mended.rows()["bad"].tolist() == [1.0, 1.0]
    assert {path: path.stat().st_mtime_ns for path in files} == files


def seed_of_frame(frame: rg.Frame) -> float:
    return float(len(frame))


def test_changed_code_of_a_function_is_measured_again(tmp_path):
    study = 'scene = "scene.toml"\n[measure]\nheight = "own:height"\n'
    path = write(tmp_path, study=study)
    rg.Study(path).run(tmp_path / "runs", workers=0)
    first = rg.Study(tmp_path / "runs").rows()["height"][0]
    (tmp_path / "own.py").write_text("def height(frame):\n    return 2.0 * frame.position[:, 1].mean()\n")
    rg.Study(path).run(tmp_path / "runs", workers=0)
    assert rg.Study(tmp_path / "runs").rows()["height"][0] == 2.0 * first


def test_a_stopped_run_goes_on_to_the_bit(tmp_path):
    """Stopped after each of its looks at the clock, and taken up again, it ends as one that was never stopped."""
    from rigidgrains.study import perform as room

    study = rg.Study(write(tmp_path))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    study.run(whole, workers=0, limit=1)
    study.run(parts, workers=0, limit=0)
    (_, job) = jobs_of(study, parts)[0]

    class Often(room.Asked):
        looks = 0

        @property
        def asked(self) -> bool:
            self.looks += 1
            return self.looks > 47

    states, kept = [], room.Asked
    room.Asked = Often
    try:
        while not states or states[-1] == "begun":
            states.append(perform(job))
    finally:
        room.Asked = kept
    assert states == ["begun"] * 4 + ["done"]
    one, other = (json.loads((place / "runs" / job.label / "result.json").read_text()) for place in (whole, parts))
    assert one == other
    with (
        rg.Trajectory(whole / "runs" / job.label / "scene.vtkhdf") as a,
        rg.Trajectory(job.place / "scene.vtkhdf") as b,
    ):
        assert len(a) == len(b)
        assert all((a.history[name] == b.history[name])[~np.isnan(a.history[name])].all() for name in a.history)
        assert (a[-1].position == b[-1].position).all()


def test_a_run_that_came_to_rest_is_not_carried_on(tmp_path):
    """Killed after its last step and before its result was written."""
    study = falling(scene={**BALL, "gravity": [0, 0]}, vary={}, end={"steps": 30, "stop_speed": 1e-3},
                    measure={"t": "column:time"})  # fmt: skip
    study.run(tmp_path / "study", workers=0)
    first = study.rows()
    assert first["steps"][0] < 30
    (_, job) = jobs_of(study, tmp_path / "study")[0]
    (job.place / "result.json").unlink()
    study.run(workers=0)
    assert study.rows().equals(first)


def test_a_damaged_trajectory_is_run_anew(tmp_path):
    study = falling(vary={}, measure={"t": "column:time"})
    study.run(tmp_path / "study", workers=0)
    first = study.rows()
    (_, job) = jobs_of(study, tmp_path / "study")[0]
    (job.place / "result.json").unlink()
    (job.place / "scene.vtkhdf").write_bytes(b"nothing of use")
    assert study.run(workers=0).counts["done"] == 1
    assert study.rows().equals(first)


def test_parts_together_are_the_whole(tmp_path):
    study = falling(replicas=3, measure={"energy": "column:kinetic_energy"})
    study.run(tmp_path / "whole", workers=0)
    for part in ("1/4", "2/4", "3/4", "4/4"):
        status = study.run(tmp_path / "parts", part=part)
    assert status.finished
    assert (tmp_path / "parts/table.csv").read_bytes() == (tmp_path / "whole/table.csv").read_bytes()


@pytest.mark.parametrize("part", ["0/4", "5/4", "4", "a/b", "1/0", "-1/4"])
def test_what_is_no_part_is_told(tmp_path, part):
    with pytest.raises(ValueError, match="is none; write it like 3/16"):
        falling().run(tmp_path / "study", part=part)


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(rg.OutputError, match="is not empty and holds no runs of a study"):
        falling().run(tmp_path, workers=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


@pytest.mark.slow
def test_a_run_that_another_worker_has_is_left_to_it(tmp_path, monkeypatch):
    from rigidgrains.study import alone

    monkeypatch.setattr(alone, "PATIENCE", 0.2)
    study = falling(vary={}, measure={"t": "column:time"})
    study.run(tmp_path / "study", workers=0, limit=0)
    (_, job) = jobs_of(study, tmp_path / "study")[0]
    job.place.mkdir()
    with alone.alone(job.place) as mine:
        assert mine
        assert perform(job) == "begun"
    assert perform(job) == "done"
