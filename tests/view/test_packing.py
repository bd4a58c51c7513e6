"""Pictures: of the right size, and true to the state, to the pixel."""

from __future__ import annotations

import math
import re
import warnings
import xml.etree.ElementTree as xml
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from support.builders import floor, grains, plane
from support.pictures import pixels, probe, still

from rigidgrains import Frame, History, Scene, Simulation, draw_history, draw_packing
from rigidgrains.model.shapes import Cylinder, Plate
from rigidgrains.model.walls import Wall
from rigidgrains.view import flat, time_panels
from rigidgrains.view.camera import Camera, read_view
from rigidgrains.view.caster import Solids, cast
from rigidgrains.view.colours import COLOURS, grain_status, make_scale, prefixed
from rigidgrains.view.extent import Box, box_around
from rigidgrains.view.layout import make_layout, read_size, round_length
from rigidgrains.view.network import network
from rigidgrains.view.packing import Look
from rigidgrains.view.wall_sheets import cut, wall_sheets


def settle(dimension: int) -> Simulation:
    scene = Scene(dimension=dimension, gravity=(0, -9.81) if dimension == 2 else (0, 0, -9.81))
    corner = (0.02,) * dimension
    scene.add_grains(count=40, radius=(0.8e-3, 1.2e-3), region=((0,) * dimension, corner))
    scene.add_box(lower=(0,) * dimension, upper=corner, open=["top"])
    simulation = Simulation(scene, dt=2e-4)
    simulation.run(steps=400)
    return simulation


@pytest.fixture(scope="module")
def settled() -> dict[int, Simulation]:
    return {dimension: settle(dimension) for dimension in (2, 3)}


def nothing() -> dict[str, np.ndarray]:
    """No tubes and no spheres."""
    empty = np.zeros((0, 3))
    names = ("centre", "colour", "start", "end", "tint")
    return dict.fromkeys(names, empty) | {"radius": np.zeros(0), "thickness": np.zeros(0), "sheets": []}


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_every_colour_can_be_drawn(settled, dimension, colour, tmp_path):
    path = tmp_path / "packing.png"
    figure = draw_packing(settled[dimension], path, colour=colour, forces=True, size=300)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["packing.png"]
    assert max(pixels(figure).shape) == 300
    told = [text.get_text() for text in figure.texts] + [axes.get_ylabel() for axes in figure.axes]
    assert any(COLOURS[colour].label in text for text in told)


def test_a_disk_has_its_colour_at_its_place_and_ends_at_its_rim():
    radius = np.array([1.0, 1.5, 2.0])
    bodies = grains([[0, 0, 0], [4, 1, 0], [9, 3, 0]], radius, dimension=2)
    pixel_at = probe(draw_packing(still(bodies), colour="radius", forces=False))
    for position, r in zip(bodies.position, radius):
        colour = np.array(colormaps["viridis"](r - 1.0)[:3])
        assert pixel_at(position) == pytest.approx(colour, abs=0.01)
        for angle in np.linspace(0.0, 2.0 * math.pi, 7):
            out = np.array([math.cos(angle), math.sin(angle)])
            assert pixel_at(position[:2] + 0.93 * r * out) == pytest.approx(colour, abs=0.01)
            assert pixel_at(position[:2] + 1.05 * r * out) == pytest.approx(np.ones(3), abs=0.01)


def test_a_sphere_has_its_hue_at_its_place_and_the_nearer_one_is_seen():
    """Seen from the front, +x is to the right, +z upwards, and -y is nearer to the eye."""
    bodies = grains([[0, 0, 0], [6, 0, 4], [6, -3, 4]], [1.0, 1.0, 0.9])
    frame = still(bodies)
    pixel_at = probe(draw_packing(frame, colour="id", view="front"))
    for where, seen in (([0.0, 0.0], 0), ([6.0, 4.0], 2)):
        found, true = pixel_at(where), np.array(colormaps["viridis"](seen / 2.0)[:3])
        assert np.argsort(found).tolist() == np.argsort(true).tolist()
        assert found == pytest.approx(true, abs=0.2)
    assert pixel_at([3.0, 2.0]) == pytest.approx(np.ones(3))


def test_disks_and_forces_are_those_of_the_state(settled):
    simulation = settled[2]
    axes = draw_packing(simulation).axes[0]
    (disks,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    (lines,) = (c for c in axes.collections if isinstance(c, LineCollection))
    assert np.array_equal(disks.get_offsets(), simulation.bodies.position[:, :2])
    force = np.linalg.norm(simulation.contacts.force, axis=1)
    force = force[simulation.contacts.forces[:, 0] > 0]
    width = np.array(lines.get_linewidths())
    weak = force < np.quantile(force, 0.9)
    assert len(width) == len(force)
    assert width[weak] / width[weak].max() == pytest.approx(force[weak] / force[weak].max(), rel=1e-9)


def test_a_stronger_force_darkens_more_pixels():
    """Two pairs of disks on a floor, the right one ten times as heavy; its lines are wider in the picture."""
    bodies = grains(
        [[0, 1, 0], [0, 3, 0], [8, 1, 0], [8, 3, 0]], 1.0, np.array([1.0, 1.0, 10.0, 10.0]), dimension=2,
        gravity=[0, -9.81, 0], walls=[floor()],
    )  # fmt: skip
    simulation = Simulation(bodies, dt=1e-3)
    simulation.run(steps=20)
    figure = draw_packing(simulation, colour="id", forces=True)
    image = pixels(figure)
    dark = image.max(axis=2) < 0.35

    def width(x: float) -> int:
        (left, row), (right, _) = (figure.axes[0].transData.transform((x + side, 1.5)) for side in (-0.8, 0.8))
        return int(dark[len(image) - 1 - int(row), int(left) : int(right)].sum())

    assert width(8.0) > 5 * max(width(0.0), 1)


def test_a_tube_covers_its_rectangle_and_a_sheet_only_tints():
    tube = nothing() | {
        "start": np.array([[-0.5, 0.0, 0.0]]), "end": np.array([[0.5, 0.0, 0.3]]), "thickness": np.array([0.1]),
        "tint": np.array([[1.0, 0.0, 0.0]]),
    }  # fmt: skip
    square = np.array([[-1.0, -1.0, 5.0], [1.0, -1.0, 5.0], [1.0, 1.0, 5.0], [-1.0, 1.0, 5.0]])
    low = np.array([-1.0, -1.0])
    image = cast(Solids(**tube), low, 0.01, 200, 200, grain=0.1, haze=0.0)
    red = image[:, :, 0] > 2.0 * image[:, :, 1]
    assert red.sum() * 0.01**2 == pytest.approx(1.0 * 0.2 + math.pi * 0.1**2, rel=0.03)
    before = cast(Solids(**nothing()), low, 0.01, 200, 200, grain=0.1, haze=0.0)
    assert (before == 1.0).all()
    for sheet in (square, square[::-1]):
        tinted = cast(Solids(**(nothing() | {"sheets": [sheet]})), low, 0.01, 200, 200, grain=0.1, haze=0.0)
        assert (tinted < 1.0).all()
        assert (tinted > 0.9).all()
    hidden = cast(Solids(**(tube | {"sheets": [square - [0, 0, 10]]})), low, 0.01, 200, 200, grain=0.1, haze=0.0)
    inner = red.copy()
    for axis, shift in ((0, 2), (0, -2), (1, 2), (1, -2)):  # away from the rim, which is blended
        inner &= np.roll(red, shift, axis)
    assert inner.sum() > 0.7 * red.sum()
    assert np.array_equal(hidden[inner], image[inner])


def test_a_sphere_covers_its_disk_and_hides_what_is_behind():
    """One sphere fills pi/4 of its square; a nearer small one takes pi/4 of its own."""
    spheres = nothing() | {
        "centre": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.5]]), "radius": np.array([1.0, 0.5]),
        "colour": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    }  # fmt: skip
    image = cast(Solids(**spheres), np.array([-1.0, -1.0]), 0.01, 200, 200, grain=1.0, haze=0.0)
    assert image.shape == (200, 200, 3)
    assert (image.min(axis=2) < 0.99).mean() == pytest.approx(math.pi / 4, abs=0.01)
    assert (image[..., 2] > image[..., 0]).mean() == pytest.approx(math.pi / 16, abs=0.01)


def test_an_svg_has_one_true_circle_for_each_grain(tmp_path):
    """Each is closed and made of eight curves; its width is the diameter."""
    bodies = grains([[0, 0, 0], [3, 0, 0], [7, 0, 0]], [1.0, 1.2, 2.0], dimension=2)
    path = tmp_path / "grains.svg"
    draw_packing(still(bodies), path, forces=False)
    (group,) = (g for g in xml.parse(path).iter("{http://www.w3.org/2000/svg}g") if g.get("id") == "grains")
    circles = [p.get("d") for p in group.iter("{http://www.w3.org/2000/svg}path")]
    assert len(circles) == 3
    assert all(d.count("C") == 8 and d.strip().endswith("z") and "L" not in d for d in circles)
    widths = []
    for d in circles:
        x = [float(word) for word in re.findall(r"[-\d.]+", d)][::2]
        widths.append(max(x) - min(x))
    assert np.array(widths) / widths[0] == pytest.approx([1.0, 1.2, 2.0], rel=1e-3)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_picture_has_the_same_bytes(settled, suffix, tmp_path):
    for name in ("a", "b"):
        draw_packing(settled[3], tmp_path / f"{name}.{suffix}", size=300)
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_the_scale_bar_is_as_long_as_it_says():
    bodies = grains([[0, 0, 0], [0.05, 0.03, 0]], 0.004, dimension=2)
    figure = draw_packing(still(bodies))
    pixels(figure)
    (bar,) = (artist for artist in figure.get_children() if artist.get_gid() == "scale bar")
    (left, _), (right, _) = bar.get_transform().transform(bar.get_xydata())
    metres = np.ptp(figure.axes[0].transData.inverted().transform([(left, 0), (right, 0)])[:, 0])
    (text,) = (text.get_text() for text in figure.texts if text.get_text().endswith(" mm"))
    assert float(text.split()[0]) * 1e-3 == pytest.approx(metres, rel=1e-9)
    assert float(text.split()[0]) in (1, 2, 5, 10, 20, 50)


def test_a_frame_of_a_later_time_keeps_the_look():
    """One look for two frames: the same grain is at the same pixel, in the same colour."""
    frames = [still(grains([[0, 0, 0], [x, 0, 0]], [1.0, 2.0], dimension=2)) for x in (4.0, 20.0)]
    look = Look.at(frames, colour="radius")
    first, second = (probe(look.draw(frame))([0.0, 0.0]) for frame in frames)
    assert np.array_equal(first, second)
    assert look.layout.low[0] < -1.0
    assert look.layout.high[0] > 22.0


def test_a_picture_is_as_large_as_asked_for(settled):
    assert pixels(draw_packing(settled[3], size=(640, 360))).shape == (360, 640, 3)
    layout = make_layout(np.zeros(2), np.array([1.0, 0.37]), 777)
    assert all(side % 2 == 0 for side in layout.pixels)
    for low, high in (([0, 0], [50, 1]), ([0, 0], [1, 50]), ([0, 0], [0, 0])):
        view = make_layout(np.array(low, float), np.array(high, float))
        assert np.all(view.low <= low)
        assert np.all(view.high >= high)
    with pytest.raises(ValueError, match="leaves no room"):
        make_layout(np.zeros(2), np.ones(2), (2000, 200))


def test_walls_are_drawn_where_they_are():
    """A floor, a piston above, a drum around; dark where they are."""
    drum = Wall("drum", Cylinder(np.array([0.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0]), 4.0, True, math.inf))
    piston = plane([0, 5, 0], [0, -1, 0], "piston", mass=1.0)
    frame = still(grains([[0, 1, 0]], 1.0, dimension=2, walls=[floor(), piston, drum]))
    pixel_at = probe(draw_packing(frame, colour="radius", forces=False))
    for point in ([2.0, 0.0], [-1.0, 0.0], [1.0, 5.05], [4.0, 2.0], [-4.0, 2.0]):
        assert pixel_at(point).max() < 0.75, point
    for point in ([2.0, 1.0], [-2.0, 3.0]):
        assert pixel_at(point).min() > 0.99, point


def test_planes_of_a_box_are_cut_to_each_other():
    bodies = grains([[1, 1, 1]], 0.5, walls=[floor(), plane([0, 0, 0], [1, 0, 0]), plane([3, 0, 0], [-1, 0, 0])])
    sheets, rims = wall_sheets(bodies.walls, Box(np.array([-1.0, -1.0, 0.0]), np.array([4.0, 2.0, 2.0])))
    assert len(sheets) == len(rims) == 3
    ground, left, right = sheets
    assert ground.min(axis=0) == pytest.approx([0, 0, 0])
    assert ground.max(axis=0) == pytest.approx([3, 0, 2])
    assert left[:, 1].min() == pytest.approx(0.0)
    assert right[:, 0] == pytest.approx(np.full(len(right), 3.0))
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert len(cut(square, np.array([2.0, 0, 0]), np.array([1.0, 0, 0]))) == 0


def test_a_drum_ends_at_the_planes_across_it():
    drum = Wall("drum", Cylinder(np.zeros(3), np.array([0.0, 1.0, 0.0]), 3.0, True, math.inf))
    ends = [plane([0, -1, 0], [0, 1, 0], "front"), plane([0, 1, 0], [0, -1, 0], "back")]
    sheets, _ = wall_sheets([drum, *ends], Box(np.full(3, -4.0), np.full(3, 4.0)))
    every = np.concatenate(sheets)
    assert np.ptp(every, axis=0) == pytest.approx([6, 2, 6], abs=0.02)
    assert np.linalg.norm(every[:, ::2], axis=1).max() == pytest.approx(3.0, abs=0.01)


def test_plates_and_rods_are_sheets():
    plate = Wall("plate", Plate(np.zeros(3), np.array([0.0, 0, 1]), np.array([1.0, 0, 0]), (2.0, 1.0)))
    rod = Wall("rod", Cylinder(np.array([0.0, 0, 3]), np.array([0.0, 0, 1]), 0.5, False, 1.0))
    frame = still(grains([[0, 0, 5]], 1.0, walls=[plate, rod]))
    box = box_around([frame])
    assert box.low == pytest.approx([-2, -1, 0])
    assert box.high == pytest.approx([2, 1, 6])
    sheets, _ = wall_sheets(frame.walls, box)
    assert np.ptp(sheets[0], axis=0) == pytest.approx([4, 2, 0])
    assert np.ptp(np.concatenate(sheets[1:]), axis=0) == pytest.approx([1, 1, 2], abs=2e-3)
    pixels(draw_packing(frame, size=300))


def test_an_escaped_grain_is_not_followed():
    position = np.array([[x, y, 0.0] for x in range(6) for y in range(6)]) * 2.0
    position[7] = [1e5, 0.0, 0.0]
    box = box_around([still(grains(position, 1.0, dimension=2))])
    assert box.high[0] == pytest.approx(11.0)


def test_the_camera_is_right_handed_and_looks_against_gravity():
    for gravity in ([0, 0, -9.81], [0, -9.81, 0], [3, 0, 0], [0, 0, 1], None):
        for view in ("default", "front", "top", (12.0, -80.0)):
            rows = Camera.looking(view, None if gravity is None else np.array(gravity, float)).rows
            assert rows @ rows.T == pytest.approx(np.eye(3), abs=1e-12)
            assert np.linalg.det(rows) == pytest.approx(1.0)
        if gravity is not None:
            front = Camera.looking("front", np.array(gravity, float)).rows
            assert front[1] == pytest.approx(-np.array(gravity) / np.linalg.norm(gravity), abs=1e-12)
    assert read_view("-30,40") == (-30.0, 40.0)
    for wrong in ("behind", "1,2,3", (0.0, 91.0), "nan,0"):
        with pytest.raises(ValueError, match=r"unknown|out of range"):
            read_view(wrong)


def test_the_status_of_a_grain_is_that_of_its_contacts(settled):
    frame = Frame.of(settled[2])
    status, pairs = grain_status(frame), frame.contacts.pair
    for i in range(len(frame)):
        own = frame.contacts.status[(pairs == i).any(axis=1)]
        assert status[i] == (2 if (own == 2).any() else 1 if (own == 1).any() else 0)


def test_scales_tell_their_unit_and_do_not_wash_out():
    bodies = grains([[4.0 * k, 0, 0] for k in range(400)], 1.0, velocity=[[0.0, 0, 1e-3]] * 399 + [[0, 0, 5.0]])
    scale = make_scale("speed", [still(bodies)])
    assert scale.label == "speed (mm/s)"
    assert scale.norm.vmax == pytest.approx(1.0)
    assert scale.extend == "max"
    assert make_scale("status", []).rgb(still(bodies))[0] == pytest.approx(to_rgb("#c9c9c9"))
    assert prefixed(0.0015, "m") == (pytest.approx(1e3), "mm")
    assert prefixed(0.5, "m") == (1.0, "m")
    assert prefixed(0.0, "m") == (1.0, "m")
    assert [round_length(x) for x in (1.0, 0.0199, 7.0, 49.0)] == pytest.approx([1.0, 0.01, 5.0, 20.0])


def test_wrong_words_are_answered_with_a_remedy(settled, tmp_path):
    with pytest.raises(ValueError, match="'mood' is unknown; choose one of load"):
        draw_packing(settled[2], colour="mood")
    with pytest.raises(ValueError, match="did you mean 'rotation'"):
        draw_packing(settled[2], colour="rotatoin")
    with pytest.raises(ValueError, match=r"ends in .png, .svg, .pdf"):
        draw_packing(settled[2], tmp_path / "picture.jpg")
    with pytest.raises(OSError, match=r"picture.png'$"):
        draw_packing(settled[2], tmp_path / "nowhere" / "picture.png")
    assert read_size("1600") == 1600
    assert read_size("640x480") == (640, 480)
    for wrong in ("big", "1x2x3", "10", "99999", ""):
        with pytest.raises(ValueError, match="size"):
            read_size(wrong)


def test_a_state_before_its_first_step_is_drawn_without_forces():
    frame = still(grains([[0, 0, 0], [2, 0, 0]], 1.0, dimension=2))
    assert len(network(frame).force) == 0
    pixels(draw_packing(frame, size=300))
    pixels(draw_packing(frame, size=300, forces=True, colour="status"))


def test_the_history_is_drawn(tmp_path):
    scene = Scene(dimension=2, gravity=(0, -9.81))
    scene.add_grains(positions=[(0, 0.011)], radius=0.01)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    history = History()
    simulation = Simulation(scene, dt=1e-3).observe(history)
    simulation.run(steps=40)
    figure = draw_history(history, tmp_path / "history.png")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[:5] == [
        "energy (J)", "overlap / mean radius", "sweeps per step", "residual (relative)", "force on wall (N)"
    ]  # fmt: skip
    assert figure.axes[0].lines[0].get_xdata() == pytest.approx(1e-3 * np.arange(1, 41))
    weight = 9.81 * float(simulation.bodies.mass.sum())
    assert figure.axes[4].lines[0].get_ydata()[-1] == pytest.approx(weight, rel=1e-6)
    assert len(history) == 40


def test_stages_and_unequal_stresses_are_drawn():
    """A line at the last row of a stage; normal stresses where they differ from the pressure by more than 2 %."""
    time = np.arange(6.0)
    columns = {"time": time, "stage": np.array([1, 1, 1, 2, 2, 3.0]), "pressure": np.full(6, 10.0)}
    columns |= {"shear_stress": np.zeros(6), "stress_xx": np.full(6, 10.0), "stress_yy": np.full(6, 10.1)}
    for apart, drawn in ((0.0, ["pressure"]), (1.0, ["pressure", "xx", "yy"])):
        columns["stress_yy"] = columns["stress_yy"] + apart
        axes, record = Figure().add_subplot(), time_panels.Record(columns, np.zeros((6, 0, 3)), [])
        time_panels.stress(axes, record)
        assert [line.get_label() for line in axes.lines] == drawn
        time_panels.stages(axes, record)
        assert [line.get_xdata()[0] for line in axes.lines if line.get_gid() == "stage"] == [2.0, 4.0]


def test_names_in_a_legend_are_text(tmp_path):
    """Dollars begin no mathematics: a wall may have any name."""
    scene = Scene(dimension=2, gravity=(0, -9.81))
    scene.add_grains(positions=[(0, 0.01)], radius=0.01)
    scene.add_plane(r"5 $ and $\frac", point=(0, 0), normal=(0, 1))
    history = History()
    Simulation(scene, dt=1e-3).observe(history).run(steps=5)
    figure = draw_history(history, tmp_path / "history.png")
    assert figure.axes[4].get_legend().get_texts()[0].get_text() == r"5 \$ and \$\frac"


def test_a_force_line_without_length_is_no_division_by_zero(monkeypatch):
    """Where positions are so large that a radius is lost in rounding."""
    place = np.full((2, 3), 1e20)
    net = SimpleNamespace(
        start=place, end=place * np.array([[1.0], [1.5]]), force=np.ones(2), status=[1, 1], at_wall=np.ones(2, bool),
        via=None,
    )  # fmt: skip
    monkeypatch.setattr(flat, "network", lambda frame: net)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = flat.force_lines(None, "load", 3.0, 1.0, 100.0)
    assert np.isfinite(lines.get_segments()).all()
