"""Scenes, frames, packings, histories and records show themselves in a notebook, and lines grow while a run goes on."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support.builders import triangular

import rigidgrains as rg
from rigidgrains import Simulation, measure
from rigidgrains.view.notebook_more import line


@pytest.fixture(scope="module")
def simulation():
    made = Simulation(triangular(3, 4), dt=1e-2)
    made.history = rg.History()
    made.record = rg.Measure(top=lambda frame: frame.position[:, 1].max(), **{"<b>": lambda frame: frame.position})
    made.observe(made.history).observe(made.record)
    made.run(steps=5)
    return made


def test_everything_shows_itself(simulation):
    frame = rg.Frame.of(simulation)
    scene = rg.Scene(dimension=2, friction=0.5, gravity=(0, -9.81))
    scene.add_material("sand", density=2600.0)
    words = {"material": {"sand": 1, "default": 3}, "scalars": {"dye": "x"}}
    scene.add_grains(name="<script>", count=30, radius=(1e-3, 2e-3), region=((0, 0), (0.1, 0.1)), **words)
    scene.add_inflow("rain", radius=1e-3, rate=9.0, region=((0, 0.1), (0.1, 0.2)), since="pour")
    scene.add_stage("wait", when={"column": "kinetic_energy", "falling": 1e-3}, limit=1.0)
    scene.add_stage("pour", until=2.0, gravity=(0, -1))
    for shown, words in [
        (frame, ["data:image/png;base64,", "11 disks", "floor, left, right, piston", "t = ", "carry a force"]),
        (rg.Packing(simulation), ["data:image/png;base64,", "Packing(11 grains in 2D"]),
        (simulation.history, ["rows", "5, t = 0.01 to 0.05 s", "kinetic_energy", "<polyline"]),
        (simulation.record, ["rows", "top", "&lt;b&gt;"]),
        (scene, ["&lt;script&gt;", "30, radius (0.001, 0.002)", "0.5", "auto", "since pour", "scalars dye"]),
        (scene, ["material (sand 1, default 3)", "density 2600", "when (column kinetic_energy, falling 0.001)"]),
        (rg.History(), ["rows"]),
    ]:
        html = shown._repr_html_()
        assert "<script>" not in html
        for word in words:
            if word != "t = ":
                assert word in html, word


def test_results_of_measurements_show_themselves(simulation):
    """Numbers as they are, arrays over grains by their range, profiles as lines; what is derived, too."""
    stress = measure.stress(simulation)
    html = stress._repr_html_()
    assert f">{stress.pressure:.4g}<" in html
    for word in ("Stress", "contact", "kinetic", "pressure", "deviator", "directions"):
        assert f">{word}<" in html, word
    html = measure.coordination(simulation)._repr_html_()
    assert "11 numbers, " in html
    assert "% true" in html
    html = measure.profile(simulation, "y", bins=12)._repr_html_()
    assert html.count("<polyline") == 2  # packing and temperature; vectors are told by their range
    assert ">packing<" in html
    html = measure.networks(simulation)._repr_html_()
    assert ">strong.share<" in html
    names = [name for name in measure.__all__ if isinstance(getattr(measure, name), type)]
    others = {"Box", "ContactLifetimes", "Kinds", "Measure", "ResidenceTimes", "TooFew", "Tracers", "Blocking"}
    assert not [name for name in set(names) - others if not hasattr(getattr(measure, name), "_repr_html_")]


def test_a_record_of_arrays_over_grains_that_come_shows_itself():
    """Its rows have different lengths, of which no array can be made."""
    scene = rg.Scene(dimension=2, run={"dt": 1e-2})
    scene.add_inflow("rain", radius=0.1, rate=50.0, region=((0, 0), (5, 5)))
    simulation, record = rg.Simulation(scene), rg.Measure(speed=lambda frame: frame.velocity[:, 0], n=len)
    simulation.observe(record).run(steps=20)
    html = record._repr_html_()
    assert ">n<" in html
    assert "speed" in html


def test_words_of_a_live_plot_are_looked_at():
    for seconds in (-1.0, float("nan"), "1"):
        with pytest.raises(ValueError, match="is no time between two drawings"):
            rg.LivePlot(seconds=seconds)
    with pytest.raises(TypeError, match="x = 3 is no function of the simulation"):
        rg.LivePlot(x=3)


def test_lines_are_drawn_from_the_numbers():
    points = line(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0])).split('points="')[1].split('"')[0]
    heights = [float(pair.split(",")[1]) for pair in points.split()]
    assert heights[1] == min(heights)  # the highest value, downwards on a screen
    assert heights[2] == pytest.approx(0.5 * (heights[0] + heights[1]))
    assert not line(np.zeros(1), np.ones(1))
    assert not line(np.arange(3.0), np.full(3, np.nan))


def test_lines_grow_while_a_run_goes_on(simulation, monkeypatch):
    display = pytest.importorskip("IPython.display")
    seen = []
    handle = SimpleNamespace(update=lambda html: seen.append(html.data))
    monkeypatch.setattr(display, "display", lambda html, display_id: seen.append(html.data) or handle)
    plot = rg.LivePlot("kinetic_energy", seconds=0.0, height=lambda sim: sim.bodies.position[:, 1].max())
    simulation.observe(plot)
    simulation.run(steps=3)
    assert len(seen) == 1 + 3 + 1
    assert "height: " in seen[-1]
    assert "<polyline" in seen[-1]
    height = simulation.bodies.position[:, 1].max()
    assert f"{height:.4g}" in seen[-1].split("height: ")[1]
    assert "t = 0.06 to 0.08 s" in seen[-1]
    with pytest.raises(ValueError, match="'energy' is no figure; there are step, time"):
        rg.LivePlot("energy").start(simulation, 1)
