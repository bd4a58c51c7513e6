"""The commands of a study as a user meets them."""

from __future__ import annotations

import re

import pytest
from support.commands import called
from support.studies import BOX, STUDY, write

import rigidgrains as rg
from rigidgrains.gallery import studies, study_files
from rigidgrains.study.live import LiveTable
from rigidgrains.study.means import spread


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a finished study."""
    folder = tmp_path_factory.mktemp("cli")
    write(folder, scene=BOX.replace("steps = 200", "steps = 100"))
    told = called(folder, "study", "run", "study.toml", "-o", "box", "--part", "1/1")
    assert "8 runs: 8 done" in told.stdout
    return folder


def test_status_table_plot_and_export(run):
    assert "8 runs: 8 done" in called(run, "study", "status", "box").stdout
    table = called(run, "study", "table", "box").stdout
    assert table.split("\n")[0].split() == ["friction", "grains.sand.radius", "runs", "z", "energy", "height"]
    assert len(table.strip().splitlines()) == 5
    assert table.count("2 of 2") == 4
    assert "±" in table
    runs = called(run, "study", "table", "box", "--runs").stdout.strip().splitlines()
    assert len(runs) == 9
    assert {len(line.split()) for line in runs} == {len(runs[0].split()) - 1, len(runs[0].split())}  # no error told
    assert "…" not in "".join(runs)
    called(
        run, "study", "plot", "box", "z,height", "--against", "grains.sand.radius", "--hue", "friction", "-o", "z.svg"
    )
    picture = (run / "z.svg").read_text()
    assert picture.startswith("<?xml")
    called(run, "study", "plot", "box")
    assert (run / "box/plot.png").read_bytes().startswith(b"\x89PNG")
    assert "exists and is left alone" in called(run, "study", "plot", "box", "-o", "z.svg", check=2).stderr


def test_the_page_has_table_plots_and_links_to_pages_of_the_runs(run):
    called(run, "study", "export", "box")
    page = (run / "box/study.html").read_text()
    links = re.findall(r'href="([^"]+)"', page)
    assert len(links) == 8
    from urllib.parse import unquote

    for link in links:
        target = run / "box" / unquote(link)
        assert target.name == "run.html"
        assert "<html" in target.read_text(encoding="utf-8")[:500].lower()
    assert page.count("<tr>") == 2 + 4 + 8
    assert 'src="data:image/png;base64,' in page
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert "grains in a box" in page


def test_export_for_other_programs(run):
    import pandas
    import xarray

    for name in ("t.csv", "t.parquet", "t.nc"):
        called(run, "study", "export", "box", "-o", name)
    table = rg.Study(run / "box").table()
    with xarray.open_dataset(run / "t.nc", engine="scipy") as read:
        assert read["z_mean"].values == pytest.approx(table["z_mean"].values, rel=0)
        assert read["friction"].values.tolist() == [0.1, 0.5]
    assert pandas.read_csv(run / "t.csv")["z"].tolist() == pandas.read_parquet(run / "t.parquet")["z"].tolist()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "gone.toml"], "no such file"),
        (["run", "study.toml", "--part", "3"], "write it like 3/16"),
        (["run", "study.toml", "--part", "1/2", "--cluster", "tcp://a:1"], "exclude each other"),
        (["run", "study.toml", "--part", "1/2", "--workers", "2"], "leave it out"),
        (["run", "study.toml", "--limit", "-1"], "limit = -1 is no number of runs"),
        (["run", "study.toml", "-o", "."], "is not empty and holds no runs of a study"),
        (["status", "gone"], "is no folder with the runs of a study"),
        (["table", "."], "is no folder with the runs of a study"),
        (["plot", "box", "zz"], "the study has no measure 'zz'"),
        (["plot", "box", "--hue", "frction"], "no varied word 'frction'; did you mean 'friction'?"),
        (["plot", "box", "-o", "a.txt"], "a picture ends in"),
        (["export", "box", "-o", "a.txt"], "a study is written as .csv"),
        (["new", "heap"], "no study is called 'heap'"),
    ],
)
def test_mistakes_on_the_command_line(run, words, told):
    assert told in " ".join(called(run, "study", *words, check=2).stderr.split())


def test_check_tells_how_many_runs(tmp_path):
    path = write(tmp_path)
    assert "8: 4 points, 2 replicas" in called(tmp_path, "study", "check", path).stdout
    path.write_text(STUDY.replace("[0.1, 0.5]", "[0.1, -0.5]"))
    told = called(tmp_path, "study", "check", path, check=2).stderr
    assert "vary.friction (line 7): at friction = -0.5" in told


@pytest.mark.parametrize("name", ["packing", "repose", "rheology"])
def test_studies_of_the_gallery_are_sound(tmp_path, name):
    """Files are written out, checked with every combination, and not overwritten."""
    assert set(studies()) == {"packing", "repose", "rheology"}
    for file, text in study_files(name).items():
        (tmp_path / file).write_text(text)
    study = rg.Study(tmp_path / "study.toml")
    assert len(study.runs) // study.replicas >= 3
    assert study.measure


def test_new_writes_a_study(tmp_path):
    assert "packing" in called(tmp_path, "study", "new", "--list").stdout
    called(tmp_path, "study", "new", "repose")
    assert sorted(path.name for path in (tmp_path / "repose").iterdir()) == ["scene.toml", "slope.py", "study.toml"]
    assert "left alone" in called(tmp_path, "study", "new", "repose", check=2).stderr


@pytest.mark.parametrize(
    ("mean", "error", "told"),
    [
        (0.63912, 0.0042, "0.6391 ± 0.0042"),
        (1234.5, 67.0, "1234 ± 67"),
        (2.0, float("nan"), "2"),
        (float("nan"),) * 2 + ("",),
    ],
)
def test_means_are_rounded_by_their_errors(mean, error, told):
    assert spread(mean, error) == told


def test_the_live_table_tells_rate_and_time_left():
    """2 of 10 runs in 30 s: four a minute, 8 left at 15 s each."""
    from rich.console import Console

    now = [0.0]
    console = Console(file=open("/dev/null", "w"), width=100)  # noqa: SIM115
    table = LiveTable(console, now=lambda: now[0])
    table.begin(12, 2, 10)
    for k in range(2):
        now[0] += 15.0
        table.progress(f"run {k}", 0.5)
        table.ended(f"run {k}", "done")
    assert table.line() == "4 of 12 runs done, 4 a minute, 0:02:00 left"
    table.ended("run 3", "failed")
    assert "5 of 12 runs done, 1 of them failed" in table.line()
    table.progress("run 4", 0.25)
    shown = Console(width=100)
    with shown.capture() as told:
        shown.print(table.table())
    assert "run 4" in told.get()
    assert "25 %" in told.get()
