"""Grains of other shapes on the page, in a real browser: turned, drawn and picked as the file says."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
import pytest
from support.browser import open_page, wait_for
from support.builders import floor
from support.shaped_frames import FLAT, SOLID, shaped, still_file

import rigidgrains as rg
from rigidgrains.model.bodies import Bodies
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.poses import matrices
from rigidgrains.view.live.packet import live_head, live_packet
from rigidgrains.view.page import write_page
from rigidgrains.view.page.frames import POINTS, numbered
from rigidgrains.view.page.html import GROUP
from rigidgrains.view.page.scales import DETAILS

FRAMES = GROUP + 3


@pytest.fixture(scope="module", params=[2, 3], ids=["2D", "3D"])
def page(request, tmp_path_factory, browser):
    """A page of one grain of each shape, and the frames it was made from."""
    path = tmp_path_factory.mktemp("page") / "shapes.vtkhdf"
    bodies = shaped(FLAT if request.param == 2 else SOLID, apart=4.5)
    frames = still_file(path, bodies, frames=FRAMES)
    with rg.Trajectory(path) as trajectory:
        address = write_page(trajectory, path.with_suffix(".html")).as_uri()
    page = open_page(browser, address, viewport={"width": 1400, "height": 500})
    page.written = frames
    page.select_option("#colour", "id")
    page.add_style_tag(content=".glass { display: none !important; }")
    yield page
    assert page.complaints == []
    page.close()


def show(page: Any, index: int) -> rg.Frame:
    page.evaluate(f"view.go({index})")
    wait_for(page, f"view.index === {index}")
    return page.written[index]


def picture(page: Any) -> np.ndarray:
    from PIL import Image

    page.wait_for_timeout(60)
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def places(page: Any, points: np.ndarray) -> np.ndarray:
    """(n, 2) pixels of points (m)."""
    camera = page.evaluate("view.camera()")
    matrix = np.array(camera["matrix"]).reshape(4, 4).T
    seen = np.column_stack([points - camera["origin"], np.ones(len(points))]) @ matrix.T
    flat = seen[:, :2] / seen[:, 3:]
    return np.column_stack([(0.5 + 0.5 * flat[:, 0]) * camera["width"], (0.5 - 0.5 * flat[:, 1]) * camera["height"]])


@pytest.mark.parametrize("index", [FRAMES - 1, 1, 0, GROUP - 1, GROUP])
def test_orientations_are_those_of_the_file(page, index):
    frame = show(page, index)
    assert page.evaluate("Array.from(view.frame.shape)") == frame.shape.tolist()
    if frame.dimension == 2:
        turn = np.array(page.evaluate("Array.from(view.frame.turn)"))
        assert np.exp(1j * turn) == pytest.approx(np.exp(1j * frame.orientation), abs=2.0 * math.pi / DETAILS[0].turns)
    else:
        told = np.array(page.evaluate("Array.from(view.frame.quaternion)")).reshape(-1, 4)[:, [3, 0, 1, 2]]
        assert told == pytest.approx(frame.orientation, abs=1.0 / DETAILS[0].sides)
        turn = np.array(page.evaluate("Array.from(view.frame.turn)"))
        assert np.cos(0.5 * turn) == pytest.approx(frame.orientation[:, 0], abs=2e-3)


def test_grains_are_drawn_with_their_shape(page):
    """Just inside of a vertex there is grain, just beyond it there is paper."""
    frame = show(page, FRAMES - 1)
    image, turn = picture(page), matrices(frame.orientation)
    paper = image[5, 5]
    checked = 0
    for k, shape in enumerate(frame.catalogue.shapes):
        if len(shape.parts) > 1:
            continue
        part = shape.parts[0]
        place = frame.position[k] + frame.radius[k] * part.vertices @ turn[k].T
        middle = places(page, frame.position[k : k + 1])[0]
        at = places(page, place)
        far = int(np.argmax(np.linalg.norm(at - middle, axis=1)))  # the vertex that stands out most
        way = at[far] - middle
        beside = places(page, frame.position[[k]] + np.array([[frame.radius[k], 0.0, 0.0]]))[0]
        pixel = np.linalg.norm(beside - middle)
        way = way / np.linalg.norm(way) if np.linalg.norm(way) > 1.0 else np.array([0.0, 1.0])
        reach = np.linalg.norm(at[far] - middle) + part.rounding * pixel
        inner, outer = (middle + share * reach * way for share in (0.85, 1.15))
        inside, beyond = (image[int(spot[1]), int(spot[0])] for spot in (inner, outer))
        assert np.abs(inside - paper).max() > 25, frame.catalogue.names[k]
        assert np.abs(beyond - paper).max() <= 3, frame.catalogue.names[k]
        checked += 1
    assert checked >= 4


def test_a_grain_is_picked_by_its_shape_not_by_its_sphere(page):
    """Beside a long capsule, but within its bounding sphere, there is nothing to pick."""
    frame = show(page, FRAMES - 1)
    k = frame.catalogue.names.index("capsule")
    turn, tip = matrices(frame.orientation[k : k + 1])[0], frame.catalogue.shapes[k].parts[0].vertices[1]
    along = frame.radius[k] * turn @ tip
    camera = np.array(page.evaluate("view.camera()")["matrix"]).reshape(4, 4).T
    right, up = camera[0, :3] / np.linalg.norm(camera[0, :3]), camera[1, :3] / np.linalg.norm(camera[1, :3])
    aside = np.linalg.norm(along) * (up * (along @ right) - right * (along @ up)) / np.hypot(along @ right, along @ up)
    on, off = places(page, frame.position[k] + np.array([0.9 * along, 0.9 * aside]))
    page.mouse.click(*on)
    card = page.locator("#card")
    assert card.locator("h2").text_content() == f"grain {frame.id[k]}"
    assert card.locator("[data-name=shape]").text_content() == "capsule"
    marked = picture(page)
    page.keyboard.press("Escape")
    changed = np.argwhere(np.abs(picture(page) - marked).sum(axis=2) > 40)[:, ::-1]
    middle, reach = places(page, frame.position[[k]])[0], np.linalg.norm(off - places(page, frame.position[[k]])[0])
    assert len(changed) > 50
    assert np.linalg.norm(changed - middle, axis=1).max() < 2.0 * reach  # it alone
    page.mouse.click(*off)
    assert card.get_attribute("hidden") is not None


def test_contact_points_are_those_of_the_file(tmp_path, browser):
    """Squares that lie on a floor and on each other: two points a pair, told apart, each with its force."""
    square, side = build.box([1.0, 1.0]), math.sqrt(math.pi)
    position = [[0.0, (k + 0.5) * side, 0.0] for k in range(3)] + [[3.0, 0.5 * side, 0.0]]
    bodies = Bodies.assemble(
        dimension=2, position=np.array(position), radius=np.ones(4), density=1.0, friction=0.5,
        catalogue=Catalogue.of({"square": square}), gravity=np.array([0, -9.81, 0]), walls=[floor()],
    )  # fmt: skip
    simulation = rg.Simulation(bodies, dt=1e-3)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "tower.vtkhdf"), every=2)
    simulation.run(steps=8)
    with rg.Trajectory(tmp_path / "tower.vtkhdf") as trajectory:
        page = open_page(browser, write_page(trajectory, tmp_path / "tower.html").as_uri())
        for index in (len(trajectory) - 1, 1):
            page.evaluate(f"view.go({index})")
            wait_for(page, f"view.index === {index}")
            contacts, frame = trajectory[index].contacts, trajectory[index]
            carrying = np.flatnonzero(contacts.status > 0)
            assert len(carrying) == 8
            told = page.evaluate(
                "(({a, b, force, way}) => [a, b, force, way].map((x) => Array.from(x)))(view.frame.contacts)"
            )
            way = np.array(told[3]).reshape(-1, 3)
            pair = contacts.pair[carrying]
            assert sorted(zip(told[0], told[1])) == sorted(map(tuple, pair.tolist()))
            exact = contacts.point[carrying] - frame.position[pair[:, 0]]
            strength = np.linalg.norm(contacts.force[carrying], axis=1)
            for a, b, force, there in zip(*told[:3], way):
                same = np.flatnonzero((pair == [a, b]).all(axis=1))
                c = same[np.argmin(np.linalg.norm(exact[same] - there, axis=1))]
                assert there == pytest.approx(exact[c], abs=0.006)
                assert force == pytest.approx(strength[c], abs=2e-3 * strength.max())
        before = picture(page)
        page.keyboard.press("f")
        assert np.abs(picture(page) - before).max() > 60
        assert page.complaints == []
        page.close()


def test_a_page_from_the_future_is_refused_in_one_line(tmp_path, browser):
    still_file(tmp_path / "run.vtkhdf", shaped({"square": FLAT["square"]}))
    with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
        text = write_page(trajectory, tmp_path / "run.html").read_text()
    assert '"codec":2' in text
    (tmp_path / "new.html").write_text(text.replace('"codec":2', '"codec":99'))
    page = browser.new_page()
    page.goto((tmp_path / "new.html").as_uri())
    page.wait_for_selector("#problem:not([hidden])", timeout=20_000)
    assert "newer rigidgrains" in page.inner_text("#problem")
    page.close()


# What the packets hold, without a browser


def test_points_of_a_pair_are_numbered_by_their_feature():
    key = np.array([7, 3, 7, 7, 3])
    feature = np.array([5, 1, 2, 9, 0])
    keep = np.ones(5, bool)
    assert numbered(key, feature, keep).tolist() == [
        7 * POINTS + 1,
        3 * POINTS + 1,
        7 * POINTS,
        7 * POINTS + 2,
        3 * POINTS,
    ]
    assert numbered(np.zeros(0, np.int64), None, np.zeros(0, bool)).tolist() == []


def test_round_grains_have_a_head_without_shapes(tmp_path):
    bodies = Bodies.assemble(dimension=3, position=np.zeros((1, 3)), radius=np.ones(1), density=1.0)
    (frame,) = still_file(tmp_path / "run.vtkhdf", bodies)
    with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
        text = write_page(trajectory, tmp_path / "run.html").read_text()
    assert '"codec"' not in text
    assert "codec" not in live_head("one", 3, np.zeros(3), "run", True)
    assert b'"shape"' not in live_packet(frame, np.zeros(3))


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_live_view_is_told_shapes_and_orientations(tmp_path, dimension):
    bodies = shaped(FLAT if dimension == 2 else SOLID)
    (frame,) = still_file(tmp_path / "run.vtkhdf", bodies)
    head = live_head("one", dimension, np.zeros(3), "run", True, bodies.catalogue, bodies.count)
    assert [shape["name"] for shape in head["shapes"]] == list(bodies.catalogue.names)
    assert [shape["round"] for shape in head["shapes"]] == bodies.catalogue.round.tolist()
    packet = live_packet(frame, np.zeros(3))
    length = int.from_bytes(packet[:4], "little")
    channels = json.loads(packet[4 : 4 + length])["channels"]
    ends = np.cumsum([4 * count for _, _, _, count in channels])
    found = {
        name: np.frombuffer(packet[4 + length + end - 4 * count :][: 4 * count], "<f4")
        for (name, _, _, count), end in zip(channels, ends)
    }
    assert found["shape"].astype(int).tolist() == frame.shape.tolist()
    if dimension == 3:
        assert found["quaternion"].reshape(-1, 4) == pytest.approx(frame.orientation, abs=1e-6)
