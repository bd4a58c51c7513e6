"""The page in a real browser, held against the file it was made from; and its size."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.browser import open_page, wait_for
from support.commands import called

import rigidgrains as rg
from rigidgrains.view.page import PageError, write_page
from rigidgrains.view.page.html import GROUP, fill_template

NAMES = [
    "4477aa",
    "ee6677",
    "228833",
    "ccbb44",
    "66ccee",
    "aa3377",
    "ee8866",
    "44bb99",
    "bbcc33",
    "99ddff",
    "ffaabb",
    "7768ae",
]


# Pages of real runs


def box_of_disks(path: Path) -> Path:
    """40 disks fall into a box under a piston; frames with contacts."""
    scene = rg.Scene.model_validate(
        {
            "title": "disks & <walls>",
            "dimension": 2,
            "gravity": [0, -9.81],
            "friction": 0.3,
            "grains": [{"count": 40, "radius": [0.8e-2, 1.2e-2], "density": 2500, "region": [[0, 0], [0.16, 0.2]]}],
            "box": [{"lower": [0, 0], "upper": [0.16, 0.3], "open": ["top"]}],
            "piston": [{"name": "lid", "point": [0, 0.21], "normal": [0, -1], "mass": 20.0}],
            "run": {"dt": 1e-3, "until": 0.4},
        }
    )
    return write_run(scene, path, steps=300, every=20)


def box_of_spheres(path: Path) -> Path:
    scene = rg.Scene.model_validate(
        {
            "dimension": 3,
            "gravity": [0, 0, -9.81],
            "friction": 0.4,
            "grains": [{"count": 60, "radius": 1e-2, "density": 2500, "region": [[0, 0, 0], [0.1, 0.1, 0.12]]}],
            "box": [{"lower": [0, 0, 0], "upper": [0.1, 0.1, 0.2], "open": ["top"]}],
            "run": {"dt": 1e-3, "until": 0.3},
        }
    )
    return write_run(scene, path, steps=250, every=20)


def write_run(scene: rg.Scene, path: Path, *, steps: int, every: int) -> Path:
    simulation = rg.Simulation(scene)
    toml = f"title = {json.dumps(scene.title)}\n" if scene.title else ""
    simulation.observe(rg.TrajectoryWriter(path, scene=toml), every=every)
    simulation.run(steps=steps)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {2: box_of_disks(folder / "disks.vtkhdf"), 3: box_of_spheres(folder / "spheres.vtkhdf")}


@pytest.fixture(scope="module", params=[2, 3])
def shown(request: pytest.FixtureRequest, runs: dict[int, Path], browser: Any) -> Iterator[Any]:
    """A trajectory and its page in the browser."""
    path = runs[request.param]
    with rg.Trajectory(path) as trajectory:
        page = open_page(browser, write_page(trajectory, path.with_suffix(".html")).as_uri())
        yield SimpleNamespace(trajectory=trajectory, page=page, dimension=request.param)
        assert page.complaints == []
        page.close()


def slide(page: Any, index: int) -> None:
    """Move the slider, as a user does."""
    page.eval_on_selector("#time", f"(s) => {{ s.value = {index}; s.dispatchEvent(new Event('input')); }}")
    wait_for(page, f"view.index === {index}")


def pixels_of(page: Any) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def places(page: Any, position: np.ndarray) -> np.ndarray:
    """(n, 2) pixels of points (m), from the camera's matrix and the file's numbers."""
    camera = page.evaluate("view.camera()")
    matrix = np.array(camera["matrix"]).reshape(4, 4).T
    points = np.column_stack([position - camera["origin"], np.ones(len(position))]) @ matrix.T
    flat = points[:, :2] / points[:, 3:]
    return np.column_stack([(0.5 + 0.5 * flat[:, 0]) * camera["width"], (0.5 - 0.5 * flat[:, 1]) * camera["height"]])


def clear_view(page: Any) -> None:
    """Menus away, so that only the scene is seen."""
    page.add_style_tag(content=".glass { display: none !important; }")


def test_the_slider_shows_every_frame_of_the_file(shown: Any) -> None:
    trajectory, page = shown.trajectory, shown.page
    for index in (len(trajectory) - 1, 3, 0, GROUP - 1, GROUP):
        slide(page, index)
        frame = trajectory[index]
        got = np.array(page.evaluate("Array.from(view.frame.position)")).reshape(-1, 3)
        origin = np.array(page.evaluate("view.frame.origin"))
        np.testing.assert_allclose(got + origin, frame.position, atol=0.011 * frame.radius.min())
        speed = np.abs(frame.velocity).max()
        velocity = np.array(page.evaluate("Array.from(view.frame.velocity)")).reshape(-1, 3)
        np.testing.assert_allclose(velocity, frame.velocity, atol=2e-3 * speed)
        assert page.evaluate("Array.from(view.frame.number)") == frame.contact_number.tolist()
        assert f"step {frame.step:,}" in page.inner_text("#facts")
        assert f"{frame.time:.3f}" in page.inner_text("#stamp")


def test_contacts_and_their_status_are_those_of_the_file(shown: Any) -> None:
    trajectory, page = shown.trajectory, shown.page
    for index in (len(trajectory) - 1, len(trajectory) - 2):
        slide(page, index)
        contacts = trajectory[index].contacts
        carrying = contacts.status > 0
        pair = np.sort(contacts.pair[carrying], axis=1)
        order = np.lexsort(pair.T[::-1])
        force = np.linalg.norm(contacts.force[carrying], axis=1)[order]
        told = page.evaluate(
            "(({a, b, force, status}) => [a, b, force, status].map((x) => Array.from(x)))(view.frame.contacts)"
        )
        assert np.array_equal(np.column_stack(told[:2]), pair[order])
        assert told[3] == contacts.status[carrying][order].tolist()
        np.testing.assert_allclose(told[2], force, atol=2e-3 * force.max())


def test_a_picked_grain_shows_its_data(shown: Any) -> None:
    trajectory, page, flat = shown.trajectory, shown.page, shown.dimension == 2
    frame = trajectory[-1]
    slide(page, len(trajectory) - 1)
    page.keyboard.press("m")  # the menu out of the way
    nearest = int(np.argmax(frame.position[:, 2 if not flat else 1]))  # nothing lies before the topmost
    x, y = places(page, frame.position)[nearest]
    page.mouse.click(x, y)
    card = page.locator("#card")
    assert card.locator("h2").inner_text() == f"grain {frame.id[nearest]}"

    def told(name: str) -> np.ndarray:
        numbers, unit = card.locator(f"[data-name={name}]").inner_text().replace("\u2212", "-").split("\u202f")
        factor = {"m": 1e-3, "\u00b5": 1e-6, "k": 1e3, "n": 1e-9}.get(unit[0], 1.0) if unit not in ("m", "m/s") else 1.0
        return np.array([float(number) for number in numbers.split(",")]) * factor

    axes = slice(0, shown.dimension)
    top = np.abs(frame.velocity).max()
    np.testing.assert_allclose(told("position"), frame.position[nearest, axes], atol=0.012 * frame.radius.min())
    np.testing.assert_allclose(told("radius"), frame.radius[nearest], rtol=1e-3)
    np.testing.assert_allclose(told("velocity"), frame.velocity[nearest, axes], atol=2e-3 * top)
    spin = frame.spin[nearest, 2:] if flat else frame.spin[nearest]
    np.testing.assert_allclose(told("spin"), spin, atol=2e-3 * np.abs(frame.spin).max())
    np.testing.assert_allclose(told("load"), frame.load[nearest], atol=2e-3 * frame.load.max())
    assert card.locator("[data-name=contacts]").inner_text().startswith(f"{frame.contact_number[nearest]} (")
    page.keyboard.press("Escape")
    assert card.is_hidden()


def test_grains_are_drawn_where_the_file_says(shown: Any) -> None:
    """Each grain in view has the colour of its number at its place, and the paper shows where there is none."""
    trajectory, page = shown.trajectory, shown.page
    slide(page, len(trajectory) - 1)
    page.select_option("#colour", "id")
    clear_view(page)
    frame, picture = trajectory[-1], pixels_of(page)
    where = places(page, frame.position)
    colours = np.array([[int(name[k : k + 2], 16) for k in (0, 2, 4)] for name in NAMES])[frame.id % len(NAMES)]
    if shown.dimension == 2:
        away = frame.orientation + np.pi  # opposite to the mark
        where = places(
            page, frame.position + 0.4 * frame.radius[:, None] * np.column_stack([np.cos(away), np.sin(away), 0 * away])
        )
        found = picture[where[:, 1].astype(int), where[:, 0].astype(int)]
        assert np.abs(found - colours).max() <= 2
    else:
        eye_side = frame.position[:, 2] > np.quantile(frame.position[:, 2], 0.95)  # seen whole, from above
        found = picture[where[eye_side, 1].astype(int), where[eye_side, 0].astype(int)]
        hue = found / np.linalg.norm(found, axis=1)[:, None]
        want = colours[eye_side] / np.linalg.norm(colours[eye_side], axis=1)[:, None]
        assert (hue * want).sum(axis=1).min() > 0.98  # lit, but of that colour
    assert np.abs(picture[5, 5] - picture[-5, -5]).max() == 0


def test_the_picked_grain_is_marked_in_the_picture(shown: Any) -> None:
    trajectory, page = shown.trajectory, shown.page
    slide(page, len(trajectory) - 1)
    clear_view(page)
    frame = trajectory[-1]
    top = int(np.argmax(frame.position[:, 2 if shown.dimension == 3 else 1]))
    before = pixels_of(page)
    page.mouse.click(*places(page, frame.position)[top])
    changed = np.argwhere(np.abs(pixels_of(page) - before).sum(axis=2) > 60)
    middle = changed.mean(axis=0)[::-1]
    edge = places(page, frame.position[[top]] + [[frame.radius[top], 0, 0]])[0]
    reach = np.linalg.norm(edge - places(page, frame.position)[top])
    assert np.linalg.norm(middle - places(page, frame.position)[top]) < 0.35 * reach
    page.keyboard.press("Escape")


def test_controls_change_what_is_drawn(shown: Any) -> None:
    page = shown.page
    slide(page, len(shown.trajectory) - 1)
    before = pixels_of(page)
    for key in ("f", "s", "c", "w", "t", "g"):
        page.keyboard.press(key)
        after = pixels_of(page)
        assert np.abs(after - before).sum() > 0, key
        before = after
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    slide(page, 0)
    page.keyboard.press("Space")
    wait_for(page, "view.index > 1")
    page.keyboard.press("Space")
    with page.expect_download() as saved:
        page.keyboard.press("p")
    assert saved.value.suggested_filename.endswith(".png")


@pytest.mark.parametrize(("words", "colour"), [("", "radius"), ('[output]\ncolour = "speed"', "speed")])
def test_a_page_opens_with_the_colour_of_the_scene(words: str, colour: str, tmp_path: Path, browser: Any) -> None:
    """Radius, if the scene has no wish and nothing carries a load in the first frame."""
    scene = {
        "dimension": 2,
        "grains": [{"positions": [[0, 0], [1, 0]], "radius": 0.1, "density": 1.0}],
        "run": {"dt": 1e-2, "until": 1.0},
    }
    simulation = rg.Simulation(rg.Scene.model_validate(scene))
    simulation.observe(rg.TrajectoryWriter(tmp_path / "two.vtkhdf", scene=words))
    simulation.run(steps=2)
    with rg.Trajectory(tmp_path / "two.vtkhdf") as trajectory:
        page = open_page(browser, write_page(trajectory, tmp_path / "two.html").as_uri())
    assert page.evaluate("document.getElementById('colour').value") == colour
    assert page.complaints == []
    page.close()


def test_a_narrow_page_fits(runs: dict[int, Path], browser: Any) -> None:
    with rg.Trajectory(runs[2]) as trajectory:
        path = write_page(trajectory, runs[2].with_name("narrow.html"), every=5)
    page = open_page(browser, path.as_uri(), viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.inner_text("h1") == "disks & <walls>"
    assert page.evaluate("view.source.count") == len(
        {*range(0, len(rg.Trajectory(runs[2])), 5), len(rg.Trajectory(runs[2])) - 1}
    )
    assert page.complaints == []
    page.close()


# The command


def test_the_command_writes_a_page_beside_you(runs: dict[int, Path], tmp_path: Path) -> None:
    called(tmp_path, "view", runs[2], "--no-open", "--every", "4")
    page = (tmp_path / "disks.html").read_text(encoding="utf-8")
    assert page.count('id="frame') == len({*range(0, len(rg.Trajectory(runs[2])), 4), len(rg.Trajectory(runs[2])) - 1})
    assert "http://" not in page.replace('"http://www.w3.org', "")
    assert "three.js" in page


def test_bad_requests_are_refused_in_one_line(runs: dict[int, Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trajectory")
    (tmp_path / "there.html").write_text("mine")
    with rg.Trajectory(runs[2]) as trajectory:
        for path, reason in (
            (tmp_path, "folder"),
            (tmp_path / "no/p.html", "cannot be"),
        ):
            with pytest.raises(PageError, match=reason):
                write_page(trajectory, path)
        with pytest.raises(rg.OutputError, match="exists"):
            write_page(trajectory, tmp_path / "there.html")
        with pytest.raises(PageError, match="no interval"):
            write_page(trajectory, tmp_path / "p.html", every=0)
        assert (tmp_path / "there.html").read_text() == "mine"
        write_page(trajectory, tmp_path / "there.html", force=True, every=10)
    assert [file.name for file in tmp_path.glob("*.part")] == []
    told = called(tmp_path, "view", "notes.txt", check=2).stderr
    assert "no trajectory" in told
    assert told.count("\n") == 1


WILD = [
    "{{frames}}",
    "{{head}}",
    "{{script}} {{nonce}}",
    "{{what}}",
    "</script><script>alert(1)</script>",
    "<!-- a",
    "\\1 $& '\"",
]


def page_called(name: str, folder: Path) -> str:
    """The page of a scene in which everything has one name."""
    scene = rg.Scene(dimension=2, title=name, run={"dt": 1e-3})
    scene.add_grains(name=name, positions=[[0.0, 1.0]], radius=0.5)
    scene.add_plane(name, point=[0, 0], normal=[0, 1])
    with rg.Trajectory(write_run(scene, folder / "page.vtkhdf", steps=1, every=1)) as trajectory:
        return write_page(trajectory, folder / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_called("a title", tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("title", WILD)
def test_titles_and_names_are_text_whatever_they_look_like(title: str, plain: str, tmp_path: Path) -> None:
    """Marks of the template and tags: the title is shown, comes back from the JSON as it was, and all else stays."""
    text = page_called(title, tmp_path)
    shown = Texts()
    shown.feed(text)
    assert shown.texts["title"] == shown.texts["h1"] == title
    head = json.loads(shown.texts["head"])
    assert head["title"] == title
    assert text.count("<script") == plain.count("<script")
    top, bottom = fill_template({"title": title}, policy="", nonce="secret")
    assert "secret" not in Texts.of(top + bottom)["h1"]


class Texts(HTMLParser):
    """Text of the title, of headings and of scripts with an id, as a browser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self._at = ""

    @classmethod
    def of(cls, text: str) -> dict[str, str]:
        parser = cls()
        parser.feed(text)
        return parser.texts

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._at = dict(attrs).get("id") or "" if tag == "script" else tag

    def handle_endtag(self, tag: str) -> None:
        self._at = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._at] = self.texts.get(self._at, "") + data


def test_the_scene_script_is_the_built_one() -> None:
    """The committed script is not older than its sources say: it carries the notice of three.js."""
    script = Path(sys.modules["rigidgrains.view.page"].__path__[0], "page.js").read_text(encoding="ascii")
    assert "Three.js Authors" in script
    assert "SPDX-License-Identifier: MIT" in script
