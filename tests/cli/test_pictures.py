"""The commands render, video and plot: what they write, and what they say when they cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import h5py
import imageio_ffmpeg
import matplotlib.image
import numpy as np
import pytest
from support.builders import grains, triangular

from rigidgrains import History, Simulation, Trajectory, TrajectoryWriter
from rigidgrains.cli import app
from rigidgrains.cli.words import BAD_INPUT, INTERRUPTED
from rigidgrains.view.series import OF_CELL, PANELS, draw_history, draw_plots
from rigidgrains.view.video import write_video


def record(path, bodies, *, steps=6, every=2, **options) -> None:
    history = History()
    simulation = Simulation(bodies, dt=1e-2).observe(history)
    simulation.observe(TrajectoryWriter(path, history=history, **options), every=every)
    simulation.run(steps=steps)


def spheres():
    return grains([[0, 0, 0], [1.9, 0, 0], [0, 3, 1]], [1.0, 0.9, 0.7], velocity=[[0.5, 0, 0], [-0.5, 0, 0], [0, 0, 0]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs in 2D and 3D, one without contacts, and a file of another kind."""
    folder = tmp_path_factory.mktemp("runs")
    record(folder / "press.vtkhdf", triangular(4, 5, mu=0.3, g=9.81))
    record(folder / "spheres.vtkhdf", spheres())
    record(folder / "bare.vtkhdf", triangular(3, 3), contacts=False)
    with h5py.File(folder / "other.vtkhdf", "w") as file:
        file["something"] = 1
    (folder / "text.vtkhdf").write_text("no trajectory\n")
    return folder


@pytest.fixture
def cli(folder, tmp_path, monkeypatch, capsys):
    """Call a command in a fresh folder that has the runs in it; returns what was printed."""
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object, check: int = 0) -> str:
        try:
            app([str(word) for word in words], exit_on_error=False)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        printed = capsys.readouterr()
        assert code == check, printed.out + printed.err
        return printed.err if check else printed.out

    return call


def made(folder) -> set[str]:
    return {file.name for file in folder.iterdir() if not file.is_symlink()}


def size_of(path) -> tuple[int, int]:
    height, width = matplotlib.image.imread(path).shape[:2]
    return width, height


def test_render_writes_beside_the_file(cli, tmp_path):
    assert "press.png" in cli("render", "press.vtkhdf", "--size", 400)
    assert made(tmp_path) == {"press.png"}
    assert max(size_of("press.png")) == 400


def test_render_knows_its_options(cli, tmp_path):
    cli("render", "spheres.vtkhdf", "--size", "480x360", "--view", "-30,40", "--forces", "--output", "a.png")
    assert size_of("a.png") == (480, 360)
    cli("render", "press.vtkhdf", "--frame", 1, "--colour", "rotation", "-o", "b.svg")
    assert xml.parse("b.svg").getroot().tag.endswith("svg")
    cli("render", "press.vtkhdf", "--frame", "-1", "--color", "status", "--forces", "-o", "c.pdf")
    pdf = (tmp_path / "c.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert pdf.rstrip().endswith(b"%%EOF")
    cli("render", "press.vtkhdf", "-o", "b.svg", "--force", "--size", 300)
    assert made(tmp_path) == {"a.png", "b.svg", "c.pdf"}


def test_render_all_makes_a_folder_of_equal_pictures(cli, tmp_path):
    cli("render", "spheres.vtkhdf", "--frame", "all", "--size", 300)
    pictures = sorted((tmp_path / "spheres-frames").iterdir())
    assert [picture.name for picture in pictures] == [f"frame-{k:04d}.png" for k in range(4)]
    assert len({size_of(picture) for picture in pictures}) == 1
    (tmp_path / "spheres-frames" / "frame-0099.png").touch()
    assert "left alone" in cli("render", "spheres.vtkhdf", "--frame", "all", check=BAD_INPUT)
    cli("render", "spheres.vtkhdf", "--frame", "all", "--size", 300, "--force")
    assert sorted((tmp_path / "spheres-frames").iterdir()) == pictures


@pytest.mark.parametrize(("file", "pixels"), [("press", "401x301"), ("spheres", "301")])
def test_a_video_has_even_sides_and_all_frames(cli, tmp_path, file, pixels):
    cli("video", f"{file}.vtkhdf", "--size", pixels, "--fps", 10, "--colour", "speed")
    assert made(tmp_path) == {f"{file}.mp4"}
    frames = imageio_ffmpeg.read_frames(f"{file}.mp4")
    about = next(frames)
    width, height = about["size"]
    assert width % 2 == height % 2 == 0
    assert abs(max(width, height) - int(pixels[:3])) <= 1
    assert about["fps"] == pytest.approx(10.0)
    images = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in frames]
    assert len(images) == 4
    assert all((image[:2, -2:] > 245).all() for image in images)


def test_a_video_shows_the_grain_where_it_is(tmp_path):
    """One disk flies to the right: its pixels move with it, at its own speed."""
    flying = grains([[0, 0, 0], [0, 5, 0]], 1.0, dimension=2, velocity=[[100.0, 0, 0], [0, 0, 0]])
    record(tmp_path / "fly.vtkhdf", flying, steps=8, every=4)
    trajectory = Trajectory(tmp_path / "fly.vtkhdf")
    assert write_video(trajectory, tmp_path / "fly.mp4", colour="id", size=600, every=1) == 3
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "fly.mp4"))
    width, height = next(frames)["size"]
    places = []
    for frame in frames:
        image = np.frombuffer(frame, np.uint8).reshape(height, width, 3).astype(int)
        purple = (image[:, :, 2] - image[:, :, 1] > 40) & (np.arange(width) < 0.8 * width)
        places.append(np.nonzero(purple)[1].mean())
    steps = np.diff(places)
    assert steps[0] > 20
    assert steps[1] == pytest.approx(steps[0], abs=1.5)


def test_an_interrupted_video_leaves_nothing(folder, tmp_path):
    words = [
        sys.executable,
        "-m",
        "rigidgrains",
        "video",
        str(folder / "press.vtkhdf"),
        "-o",
        "video.mp4",
        "--size",
        "4000",
    ]
    for number in (signal.SIGINT, signal.SIGTERM):
        job = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 60.0
        while not list(tmp_path.iterdir()) and time.monotonic() < limit and job.poll() is None:
            time.sleep(0.02)
        assert not (tmp_path / "video.mp4").exists()
        job.send_signal(number)
        _, told = job.communicate(timeout=60)
        assert job.returncode == INTERRUPTED, told
        assert "Traceback" not in told
        assert list(tmp_path.iterdir()) == []


def test_a_failing_video_leaves_nothing(folder, tmp_path):
    def tell(done: int, total: int) -> None:
        if done == 2:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_video(Trajectory(folder / "spheres.vtkhdf"), tmp_path / "video.mp4", size=300, tell=tell)
    assert list(tmp_path.iterdir()) == []


def test_a_video_without_its_writer_names_the_remedy(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert "pip install 'rigidgrains[view]'" in cli("video", "spheres.vtkhdf", check=BAD_INPUT)
    assert made(tmp_path) == set()


def test_plot_draws_what_was_recorded(folder):
    trajectory = Trajectory(folder / "press.vtkhdf")
    figure = draw_plots(trajectory)
    assert len(figure.axes) == len(PANELS) - len((*OF_CELL, "springs"))
    by_label = {axes.get_ylabel(): axes for axes in figure.axes}
    assert by_label["energy (J)"].lines[0].get_xdata() == pytest.approx(trajectory.history["time"])
    walls = by_label["force on wall (N)"]
    assert {line.get_label() for line in walls.lines} == {"floor", "left", "right", "piston"}
    bottom = next(line for line in walls.lines if line.get_label() == "floor").get_ydata()
    assert bottom == pytest.approx(np.linalg.norm(trajectory.history["wall_force"][:, 0], axis=1))
    assert sum(patch.get_height() for patch in by_label["grains"].patches) == len(trajectory[-1])


def test_distributions_are_normalised(folder):
    trajectory = Trajectory(folder / "press.vtkhdf")
    forces, rose = draw_plots(trajectory, what=["forces", "rose"]).axes
    middle, density = forces.lines[0].get_data()
    width = np.diff(middle).min()
    assert (density * width).sum() == pytest.approx(1.0)
    assert (density * width * middle).sum() == pytest.approx(1.0, rel=0.1)
    assert np.mean([bar.get_height() for bar in rose.patches]) == pytest.approx(1.0)


def test_plot_chooses_panels(cli, tmp_path):
    cli("plot", "press.vtkhdf")
    cli("plot", "press.vtkhdf", "energies,forces", "sizes", "-o", "a.svg")
    cli("plot", "press.vtkhdf", "--what", "rose", "--frame", 2, "-o", "b.pdf")
    cli("plot", "bare.vtkhdf", "-o", "c.png")
    assert made(tmp_path) == {"press-plots.png", "a.svg", "b.pdf", "c.png"}


def test_a_history_of_a_file_is_drawn(folder, tmp_path):
    draw_history(Trajectory(folder / "spheres.vtkhdf"), tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("render absent.vtkhdf", "no such file"),
        ("render other.vtkhdf", "no trajectory of rigidgrains"),
        ("render text.vtkhdf", "no trajectory"),
        ("render .", "this is a folder"),
        ("render press.vtkhdf --frame 4", "there is no frame 4; it has 4, 0 to 3"),
        ("render press.vtkhdf --frame first", "--frame first is no frame; give a number or last or all"),
        ("render press.vtkhdf --colour spead", "did you mean 'speed'?"),
        ("render press.vtkhdf --size huge", "size 'huge' is no size"),
        ("render press.vtkhdf --view above", "view 'above' is unknown"),
        ("render press.vtkhdf -o picture.gif", "ends in .png, .svg, .pdf"),
        ("render press.vtkhdf -o press.vtkhdf", "ends in .png, .svg, .pdf"),
        ("render press.vtkhdf -o nowhere/a.png", "there is no folder nowhere"),
        ("render press.vtkhdf -o /proc/a.png", "/proc/a.png cannot be written"),
        ("render press.vtkhdf --frame all -o press.vtkhdf", "is a file"),
        ("render bare.vtkhdf --forces", "written without contacts"),
        ("render bare.vtkhdf --colour status", "written without"),
        ("video absent.vtkhdf", "no such file"),
        ("video press.vtkhdf --fps 0", "0 frames per second is out of range"),
        ("video press.vtkhdf --every 0", "every 0 frames is no interval"),
        ("video press.vtkhdf --colour contatcs", "did you mean 'contacts'?"),
        ("video press.vtkhdf -o film.avi", "ends in .mp4"),
        ("video press.vtkhdf -o /proc/film.mp4", "/proc/film.mp4 cannot be written"),
        ("plot absent.vtkhdf", "no such file"),
        ("plot press.vtkhdf energy", "did you mean 'energies'?"),
        ("plot press.vtkhdf --frame 9", "there is no frame 9"),
        ("plot press.vtkhdf --frame all", "a plot shows one frame"),
        ("plot bare.vtkhdf forces", "written without contacts"),
        ("plot press.vtkhdf rose --frame 0", "no contact of frame 0 carries a force"),
        ("plot spheres.vtkhdf walls", "the scene has no walls"),
    ],
)
def test_mistakes_are_told_in_one_line(cli, tmp_path, words, told):
    printed = cli(*words.split(), check=BAD_INPUT)
    assert told in printed
    assert printed.count("\n") == 1
    assert made(tmp_path) == set()


@pytest.mark.parametrize(
    "words", ["render press.vtkhdf -o a.png", "video press.vtkhdf -o a.mp4", "plot press.vtkhdf -o a.png"]
)
def test_what_is_there_is_left_alone(cli, tmp_path, words):
    path = tmp_path / words.split()[-1]
    path.write_text("mine")
    assert "exists and is left alone" in cli(*words.split(), check=BAD_INPUT)
    assert path.read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(cli, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    for command, name in (("render", "a.png"), ("video", "a.mp4"), ("plot", "a.png")):
        assert "Permission denied" in cli(command, "press.vtkhdf", "-o", f"closed/{name}", check=BAD_INPUT)


def test_help_loads_no_plotting():
    code = (
        "import sys, rigidgrains, rigidgrains.cli as c\n"
        "for words in (['--help'], ['render', '--help'], ['video', '--help'], ['plot', '--help']):\n"
        "    try: c.app(words)\n"
        "    except SystemExit: pass\n"
        "print([m for m in ('matplotlib', 'numba', 'pyvista', 'imageio_ffmpeg') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("solver", "label"), [(None, "share of the load missing"), ("sweeps", "extent of cluster")])
def test_a_history_is_judged_as_its_report(solver, label):
    """By the momentum error where the criterion measured it, else by the diffusion length."""
    history = History()
    report = Simulation(triangular(4, 4), dt=1e-2, solver=solver).observe(history).run(steps=4)
    assert (report.rigidity["momentum_error"] is not None) is (solver is None)
    labels = [axes.get_ylabel() for axes in draw_history(history).axes]
    assert sum(label in text for text in labels) == 1
