"""A funnel from a scene to a file, a picture and a certificate: a shape that views and files have never heard of."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.certificate import check, check_file, summary
from rigidgrains.measure import hull_volume
from rigidgrains.view.extent import box_around
from rigidgrains.view.page.wall_words import wall_words
from rigidgrains.view.wall_sheets import wall_sheets

G, RADIUS, LEAN = 10.0, 0.05, math.radians(40.0)  # of the wall from the axis


def funnel(**words) -> rg.Scene:
    """Circles of 0.2 and of 0.2 + tan LEAN, a metre apart."""
    scene = rg.Scene(dimension=3, gravity=(0, 0, -G))
    radii = (0.2, 0.2 + math.tan(LEAN))
    scene.add_cone("funnel", point=(0, 0, 0.5), radii=radii, length=1.0, **words)
    return scene


def test_a_sphere_rolls_down_a_funnel():
    """5/7 of g sin(slope) along a straight line of the cone, where friction is more than 2/7 of the slope's tangent."""
    scene = funnel(friction=0.5)
    foot = np.array([0.2 + 0.7 * math.tan(LEAN), 0.0, 0.7])
    inwards = np.array([-math.cos(LEAN), 0.0, math.sin(LEAN)])
    scene.add_grains(positions=[foot + RADIUS * inwards], radius=RADIUS)
    simulation = rg.Simulation(scene, dt=1e-4)
    start = simulation.bodies.position[0].copy()
    simulation.run(steps=1000)
    way = simulation.bodies.position[0] - start
    down = np.array([-math.sin(LEAN), 0.0, -math.cos(LEAN)])
    assert way @ down == pytest.approx(0.5 * 5.0 / 7.0 * G * math.cos(LEAN) * 0.1 * (0.1 + 1e-4), rel=1e-6)
    assert np.abs(way - (way @ down) * down).max() < 1e-9
    certificate = check(rg.Frame.of(simulation))
    assert certificate.passed, str(certificate)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Grains in a funnel that turns and swings: 40 steps in one go, and a file of the first 20."""
    folder = tmp_path_factory.mktemp("funnel")
    scene = funnel(friction=0.4, rotation=(0, 0.1, 2.0), velocity=(0.0, 0.0, "0.1*sin(9*t)"))
    scene.add_grains(count=60, radius=(0.03, 0.05), region=((-0.3, -0.3, 0.55), (0.3, 0.3, 1.2)))
    whole = rg.Simulation(scene, dt=2e-3)
    whole.observe(rg.TrajectoryWriter(folder / "whole.vtkhdf"), every=10)
    whole.run(steps=40)
    half = rg.Simulation(scene, dt=2e-3)
    half.observe(rg.TrajectoryWriter(folder / "half.vtkhdf"), every=10)
    half.run(steps=20)
    return folder, whole


def test_files_restart_to_the_bit_and_are_certified(run):
    folder, whole = run
    again = rg.resume(folder / "half.vtkhdf")
    again.run(steps=20)
    np.testing.assert_array_equal(again.bodies.position, whole.bodies.position)
    one, other = again.bodies.walls[0].shape, whole.bodies.walls[0].shape
    assert type(one) is type(other)
    assert one.words() == other.words()
    np.testing.assert_array_equal(one.axis, other.axis)
    certificates = list(check_file(folder / "whole.vtkhdf"))
    assert all(certificate.passed for certificate in certificates), summary(certificates)


def test_pictures_and_pages_show_it(run, tmp_path):
    """Every point that is drawn lies on the cone, and both rims are in view."""
    _, whole = run
    shape, frame = whole.bodies.walls[0].shape, rg.Frame.of(whole)
    box = box_around([frame])
    faces, rims = wall_sheets(frame.walls, box)
    (words,) = wall_words(frame.walls)
    assert words["shape"] == "cone"
    assert len(faces) == len(words["faces"]) > 20
    assert len(rims) == len(words["rims"]) == 2
    for points, close in (
        (np.vstack([rim for rim, _ in rims]), 1e-9),
        (shape.point + np.vstack([np.array(rim) for rim in words["rims"]]), 1e-6),
    ):
        gap, _ = shape.gaps(np.arange(len(points), dtype=np.int32), points, np.zeros(len(points)))
        assert np.abs(gap).max() < close
        assert (points > box.low - 0.05).all()
        assert (points < box.high + 0.05).all()
    assert {len(face) for face in faces} == {4}
    picture = tmp_path / "funnel.png"
    rg.draw_packing(frame, picture)
    assert picture.stat().st_size > 1000


def test_what_has_no_formula_is_told(run):
    _, whole = run
    with pytest.raises(ValueError, match="'funnel' has no simple formula"):
        hull_volume(whole)
    scene = funnel()
    with pytest.raises(rg.SceneError, match=r"cone\[0\]\.name: this wall has no images along x"):
        scene.set_cell(lower=(-3, -3, -3), upper=(3, 3, 3), periodic="x")
