"""Groups, materials, densities and scalars as colours: in pictures, on the page and in the live view."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from support.browser import open_page, wait_for

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.view.colours import make_scale
from rigidgrains.view.kinds import KINDS
from rigidgrains.view.live.packet import live_packet
from rigidgrains.view.page import write_page
from rigidgrains.view.page.species_words import LEVELS, levels_of, live_words

SELECT = "const s = document.getElementById('colour'); s.value = name; s.dispatchEvent(new Event('input'));"
COLOUR = f"(name) => {{ {SELECT} }}"


@pytest.fixture(scope="module", params=[2, 3])
def species(request):
    """Two groups in a row, two densities, a material without grains, and a scalar that one grain does not have."""
    d, n = request.param, 6
    scene = rg.Scene(dimension=d, run={"dt": 1e-3})
    scene.add_material("unused")
    scene.add_material("glass", density=1000.0)
    scene.add_material("steel", density=3000.0)
    at = np.zeros((n, d))
    at[:, 0] = 3e-3 * np.arange(n)
    scene.add_grains(name="left", positions=at[:3], radius=1e-3, material="glass", scalars={"dye": [1.0, 2.0, 3.0]})
    scene.add_grains(name="right", positions=at[3:], radius=1e-3, material={"glass": 1, "steel": 2})
    simulation = Simulation(scene)
    simulation.scalars["dye"][3:5] = [-5.0, 0.0]
    return simulation


def test_kinds_have_a_colour_and_a_name_each(species):
    frame = measure.of(species)
    group = make_scale("group", [frame])
    assert group.kinds == ("left", "right")
    assert group.rgb(frame) == pytest.approx(np.array([to_rgb(KINDS[k]) for k in (0, 0, 0, 1, 1, 1)]))
    material = make_scale("material", [frame])
    assert material.kinds == ("glass", "steel")  # only those that grains are made of
    steel = np.array(species.bodies.material_names)[frame.material] == "steel"
    assert material.rgb(frame) == pytest.approx(np.array([to_rgb(KINDS[int(k)]) for k in steel]))
    density = make_scale("density", [frame])
    assert density.kinds == ("1000", "3000")
    assert density.rgb(frame) == pytest.approx(material.rgb(frame))


def test_a_scalar_has_a_bar_and_none_is_grey(species):
    picture = rg.draw_packing(species, colour="dye", size=300)
    frame = measure.of(species)
    scale = make_scale("dye", [frame])
    assert (scale.norm.vmin, scale.norm.vmax, scale.kinds) == (-5.0, 3.0, ())
    assert scale.rgb(frame)[5] == pytest.approx(to_rgb("#c9c9c9"))
    assert "dye" in [axes.get_ylabel() for axes in picture.axes] + [axes.get_xlabel() for axes in picture.axes]


def test_a_legend_names_the_kinds(species):
    picture = rg.draw_packing(species, colour="group", size=300)
    assert {"group", "left", "right"} <= {text.get_text() for text in picture.texts}


def test_an_unknown_colour_is_answered_with_the_nearest(species):
    with pytest.raises(ValueError, match=r"colour 'dyes' is unknown; did you mean 'dye'\? choose one of load.*dye"):
        rg.draw_packing(species, colour="dyes")


def test_many_densities_have_a_bar():
    scene = rg.Scene(dimension=2)
    at = [[3e-3 * k, 0.0] for k in range(12)]
    scene.add_grains(positions=at, radius=1e-3, density=np.linspace(1000.0, 2000.0, 12))
    frame = measure.of(Simulation(scene, dt=1e-3))
    assert make_scale("density", [frame]).kinds == ()


def test_levels_of_a_scalar():
    values = np.array([-1.0, 0.0, 1.0, np.nan, 9.0])
    assert levels_of(values, [-1.0, 1.0]).tolist() == [0, round(0.5 * LEVELS), LEVELS, -1, LEVELS]
    assert levels_of(np.array([2.0, np.nan]), [2.0, 2.0]).tolist() == [0, -1]


def test_the_live_view_tells_of_species(species):
    words = {word["name"]: word for word in live_words(species.bodies)}
    assert words["group"]["kinds"] == ["left", "right"]
    assert words["dye"] == {"name": "dye", "scalar": True}
    frame = measure.of(species)
    assert b"scalar dye" in live_packet(frame, np.zeros(3))


def test_the_page_shows_species(species, browser, tmp_path):
    """Places in the colour map, names in the legend and the range of a scalar, frame by frame."""
    path = tmp_path / "run.vtkhdf"

    def paint(simulation):
        simulation.scalars["dye"][0] = 1.0 + simulation.steps

    simulation = rg.Simulation(species.bodies, dt=1e-3)
    simulation.observe(paint)
    simulation.observe(rg.TrajectoryWriter(path), every=1)
    simulation.run(steps=3)
    trajectory = rg.Trajectory(path)
    page = open_page(browser, write_page(trajectory, tmp_path / "page.html").as_uri())
    page.evaluate(f"({COLOUR})('group')")
    assert page.inner_text("#legend .kinds").split() == ["left", "right"]
    for k, frame in enumerate(trajectory):
        page.evaluate(f"view.go({k})")
        wait_for(page, f"view.index === {k}")
        assert page.evaluate("[...view.frame.group]") == frame.group.tolist()
        assert page.evaluate("[...view.frame.density]") == pytest.approx(frame.density.tolist(), rel=1e-4)
        seen = np.array(page.evaluate("[...view.frame.scalars.dye].map((x) => Number.isNaN(x) ? null : x)"), float)
        assert seen == pytest.approx(frame.scalars["dye"], abs=9.0 / LEVELS, nan_ok=True)
    page.evaluate(f"({COLOUR})('dye')")
    assert page.evaluate("document.querySelector('#legend .kinds').children.length") == 0
    assert page.complaints == []
    page.close()
