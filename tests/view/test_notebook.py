"""What notebooks show: the right numbers, every text escaped, nothing from outside; and the notebooks of the docs."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import os
import re
import struct
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import ROOT
from support.builders import column, floor, grains, plane, triangular

import rigidgrains as rg
from rigidgrains.trajectory.errors import TrajectoryError
from rigidgrains.view import notebook

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NASTY = "<script>alert(\"1\")</script> & 'co'"


class Cells(HTMLParser):
    """Texts of table cells, and the tags that were met; tags that stay open are found too."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: dict[str, str] = {}
        self._open: list[str] = []
        self._texts: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in ("img", "polyline"):
            self._open.append(tag)
        if tag in ("th", "td"):
            self._texts.append("")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "tr":
            name, text = self._texts
            self.rows[name], self._texts = text, []

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("th", "td"):
            self._texts[-1] += data


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A pair of disks that comes to rest on a floor with a nasty name, and the file of it."""
    bodies = grains(
        [[0, 1.2, 0], [3, 1.1, 0]],
        dimension=2,
        gravity=[0, -10, 0],
        walls=[floor(), plane([-9, 0, 0], [1, 0, 0], NASTY)],
    )
    simulation = rg.Simulation(bodies, dt=0.01)
    path = tmp_path_factory.mktemp("run") / "it's <b>.vtkhdf"
    simulation.observe(rg.TrajectoryWriter(path, scene=f"title = {json.dumps(NASTY)}"), every=2)
    return SimpleNamespace(simulation=simulation, report=simulation.run(steps=41), path=path)


# Figures


def test_a_report_shows_its_numbers(run: Any) -> None:
    told = Cells(run.report._repr_html_()).rows
    assert told["time"] == "0.41 s in 41 steps of 10 ms"
    assert told["contacts"] == "2 carry a force, of 2 candidates"
    assert told["accuracy"] == "balanced"
    assert told["at rest"].endswith("steps, asked 0.1 % of the load; left less than 0.01 % in the last one")
    assert "converged" not in told
    assert told["force on floor"] == "(0, -20) N"  # two disks of 1 kg at 10 m/s^2
    assert told[f"force on {NASTY}"] == "(0, 0) N"
    assert "2 grains" in run.report._repr_html_()


def test_a_simulation_shows_its_state(run: Any) -> None:
    html = run.simulation._repr_html_()
    told = Cells(html).rows
    assert "Simulation of 2 disks" in html
    assert told["radius"] == "1 m"
    assert told["solver"] == "AcceleratedSweeps, order Coloured, accuracy balanced"
    assert told["walls"] == f"floor, {NASTY}"
    assert told["contacts"] == "2 carry a force, of 2 candidates"
    assert repr(run.simulation).startswith("<rigidgrains.simulation.")


def test_a_simulation_can_be_shown_before_and_amid_a_step() -> None:
    simulation = rg.Simulation(grains([[0, 5, 0]]), dt=0.01)
    assert Cells(simulation._repr_html_()).rows["state"] == "before the first step"
    simulation.step()
    assert "no cluster carries a force" in simulation._repr_html_()
    simulation.midway = True
    assert Cells(simulation._repr_html_()).rows["state"] == "within a step that was broken off"


def test_displays_change_nothing(run: Any) -> None:
    simulation, before = run.simulation, run.simulation.bodies.motion.copy()
    state, steps, files = simulation.rng.bit_generator.state, simulation.steps, sorted(os.listdir(run.path.parent))
    simulation._repr_html_(), run.report._repr_html_(), simulation.show(size=300)
    assert np.array_equal(simulation.bodies.motion, before)
    assert (simulation.rng.bit_generator.state, simulation.steps) == (state, steps)
    assert sorted(os.listdir(run.path.parent)) == files


def test_elasticity_is_told_where_sweeps_have_one() -> None:
    for solver, there in ((rg.Sweeps(), True), (rg.AcceleratedSweeps(), False)):
        rows = Cells(rg.Simulation(column(3), dt=0.01, solver=solver).run(steps=2)._repr_html_()).rows
        assert ("lambda_c = " in rows.get("elasticity", "")) == there == ("elasticity" in rows)


def test_warnings_stand_out_and_are_escaped(run: Any) -> None:
    report = rg.Simulation(grains([[0, 5, 0]]), dt=0.01).report()
    report.warnings, report.stopped = [NASTY], NASTY
    html = report._repr_html_()
    assert "script" not in Cells(html).tags
    assert html.count("&lt;script&gt;") == 2
    assert Cells(html).rows["stopped"] == NASTY


def test_a_trajectory_shows_what_it_holds(run: Any) -> None:
    with rg.Trajectory(run.path) as trajectory:
        html = trajectory._repr_html_()
        told = Cells(html).rows
        assert told["grains"] == "2 disks, radius 1 m"
        assert told["frames"] == "22"
        assert told["time"] == "0 to 0.41 s, steps 0 to 41"
        assert told["contacts"] == "2 carry a force at the end"
        assert told["file"] == f"{run.path.stat().st_size / 1e6:.3g} MB, with contacts"
        assert "polyline" in Cells(html).tags
        assert "it&#x27;s &lt;b&gt;.vtkhdf" in html
        assert str(run.path.parent) not in html
        assert repr(trajectory).startswith("Trajectory(")


def test_a_closed_or_empty_trajectory_is_shown_all_the_same(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trajectory = rg.Trajectory(run.path)
    trajectory.close()
    told = Cells(trajectory._repr_html_()).rows
    assert told["frames"] == "22"
    assert told["file"] == "closed; trajectory.refresh() opens it again"
    with pytest.raises(TrajectoryError, match="is closed"):
        trajectory.show()
    with rg.Trajectory(run.path) as trajectory:
        monkeypatch.setattr(trajectory, "_count", 0)
        monkeypatch.setattr(trajectory, "_figures", {name: column[:0] for name, column in trajectory._figures.items()})
        assert Cells(trajectory._repr_html_()).rows["frames"] == "0"
        with pytest.raises(TrajectoryError, match="no frame"):
            trajectory.show()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 J"),
        (2.5e-7, "250 nJ"),
        (1e-3, "1 mJ"),
        (0.9996, "1,000 mJ"),
        (12.345, "12.3 J"),
        (4e15, "4.00\u00a0×\u00a010¹⁵ J"),
    ],
)
def test_numbers_are_written_as_by_hand(value: float, text: str) -> None:
    assert notebook.quantity(value, "J") == text


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_can_be_shown(value: float) -> None:
    assert str(value) in notebook.quantity(value, "J")


# Views


def frame_of(html: str) -> tuple[str, dict[str, str]]:
    """The page within the frame, and the frame's attributes."""
    attributes = dict(re.findall(r'(\w+)="([^"]*)"', re.search(r"<iframe ([^>]*)>", html)[1]))
    return unescape(attributes["srcdoc"]), attributes


def test_the_embedded_page_stands_alone(run: Any) -> None:
    with rg.Trajectory(run.path) as trajectory:
        shown = trajectory.show(height=300)
    page, attributes = frame_of(shown._repr_html_())
    assert attributes["sandbox"] == "allow-scripts allow-downloads"  # and not allow-same-origin
    assert "height:300px" in attributes["style"]
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", shown.html)
    assert "<script>alert" not in page
    assert page.count('id="frame') == 22
    assert repr(shown) == f"View of {run.path.name}: all 22 frames, {len(page) / 1e6:.1f} MB"
    assert "it&#x27;s &lt;b&gt;.vtkhdf: all 22 frames" in shown.html


def test_frames_are_thinned_until_there_is_room_and_the_view_says_so(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "FRAMES", 6)
    with rg.Trajectory(run.path) as trajectory:
        shown = trajectory.show()
        assert "every 4th of 22 frames" in repr(shown)
        assert frame_of(shown.html)[0].count('id="frame') == 7  # the last is always there
        assert "all 22 frames" in repr(trajectory.show(every=1))
        monkeypatch.setattr(notebook, "PER_GRAIN", 1e6)
        assert "every 4th" in repr(trajectory.show())  # a guess that is too careful is taken back
        small = trajectory.show(megabytes=0.001)  # less than the script alone: the first and the last
        assert frame_of(small.html)[0].count('id="frame') == 2
        for wrong in ({"every": 0}, {"megabytes": 0}):
            with pytest.raises(ValueError, match=r"give a positive|every 1 frame"):
                trajectory.show(**wrong)


def test_a_simulation_is_shown_as_a_picture_with_figures(run: Any) -> None:
    shown = run.simulation.show(size=400, colour="radius")
    data = re.search(r'src="data:image/png;base64,([^"]*)"', shown._repr_html_())[1]
    from matplotlib.image import imread

    assert max(imread(io.BytesIO(base64.b64decode(data))).shape) == 400
    assert "2 carry a force" in shown.html
    assert "script" not in Cells(shown.html).tags
    assert repr(shown) == "Picture of 2 disks at t = 0.41 s"


def test_the_embedded_view_works_in_a_browser(run: Any, browser: Any, tmp_path: Path) -> None:
    """In a page of another origin, as a notebook is, without a request and without an error."""
    with rg.Trajectory(run.path) as trajectory:
        (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{trajectory.show().html}")
    page, complaints = browser.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    page.on("request", lambda request: complaints.append(request.url) if "http" in request.url[:5] else None)
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.query_selector("iframe").content_frame()
    inside.wait_for_selector("body.ready", timeout=20_000)
    assert inside.inner_text("h1") == NASTY
    assert "2 grains" in inside.inner_text("#facts")
    assert complaints == []
    page.close()


def test_figures_show_themselves() -> None:
    """What IPython asks of the value of a cell where nothing was said of Matplotlib: a picture, and its size."""
    history = rg.History()
    simulation = rg.Simulation(triangular(3, 3), dt=1e-2).observe(history)
    simulation.run(steps=3)
    for figure in (rg.draw_packing(simulation), rg.draw_history(history)):
        data, shown = figure._repr_png_()
        assert data.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", data[16:24])  # of the header
        assert shown["width"] / shown["height"] == pytest.approx(width / height, rel=0.01)
        assert width / 3 < shown["width"] < width


# The notebooks of the docs


def outputs_of(path: Path) -> list[Any]:
    return [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", [])]


def test_there_are_four_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first-packing", "measure", "study", "trajectory"]
    readme = (FOLDER / "README.md").read_text()
    assert all(path.name in readme for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_executed_in_order_and_without_error(path: Path) -> None:
    told = json.loads(path.read_text())
    assert told["nbformat"] == 4
    code = [cell for cell in told["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert sum("assert " in "".join(cell["source"]) for cell in code) >= 3
    kinds = {output["output_type"] for output in outputs_of(path)}
    assert kinds <= {"display_data", "execute_result", "stream"}
    assert all(output.get("name") != "stderr" for output in outputs_of(path))
    assert path.stat().st_size < 2e6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_name_no_machine_and_load_nothing(path: Path) -> None:
    for output in outputs_of(path):
        images = {name: data for name, data in output.get("data", {}).items() if name.startswith("image/")}
        rest = json.dumps({**output, "data": {k: v for k, v in output.get("data", {}).items() if k not in images}})
        assert not re.search(
            r"(?<![\w+/=])/(home|tmp|work|usr|root|Users|var|opt)/|[A-Z]:\\\\|site-packages| at 0x", rest
        )
        assert not re.search(r"(src|href)\s*=\s*[\\\"']*(https?:)?//", rest)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their assertions hold anew."""
    pytest.importorskip("nbclient", reason="nbclient is not installed; pip install 'rigidgrains[docs]'")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed; pip install 'rigidgrains[docs]'")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(rg.__file__).parents[1]), *sys.path[1:]]))
    there = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    script = importlib.util.module_from_spec(there)
    there.loader.exec_module(script)
    done = script.execute(path)
    assert len(done.cells) == len(json.loads(path.read_text())["cells"])
