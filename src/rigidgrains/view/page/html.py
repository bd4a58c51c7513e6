"""Writes the page: template, script and packed frames in one file."""

from __future__ import annotations

import base64
import json
import re
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...files.outputs import check_outputs, whole
from ...runtime.arguments import check_series
from ...trajectory.reader import Trajectory
from .frames import FramePacker
from .scales import DETAILS, Detail, Scales
from .summary import Extent, summary

KINDS = (".html", ".htm")
GROUP = 12  # frames from one key frame to the next: a jump reads half of them on average
BYTES = 5.4  # of a grain in a frame, compressed, that a page aims at: 1e5 grains and 100 frames in 72 MB of text
LEAST = 1_200_000  # bytes that a page may always have
ALONE = (  # the page loads nothing, from nowhere
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:\">"
)
MARK = re.compile(r"\{\{(\w+)\}\}")

Tell = Callable[[int, int], None]


class PageError(ValueError):
    """A page that cannot be written; the text says why, and the remedy."""


def write_page(
    trajectory: Trajectory, path: str | Path, *, every: int = 1, force: bool = False, tell: Tell | None = None
) -> Path:
    """Write a trajectory as one HTML file; returns its path.

    every : take every so many frames; the last is always there
    force : overwrite a file that is there
    tell  : called with the frames done and their number
    """
    check_series(trajectory)
    path = Path(path)
    if every < 1:
        raise PageError(f"every = {every} is no interval; take every 1 frame or more")
    if path.is_dir():
        raise PageError(f"{path} is a folder; give the name of a file in it, such as {path / 'page.html'}")
    check_outputs(path, force=force, source=trajectory.path)
    if path.suffix.lower() not in KINDS:
        raise PageError(f"{path}: a page ends in {' or '.join(KINDS)}; call it so")
    try:
        with whole(path) as part, part.open("w", encoding="utf-8") as file:
            for text in page_parts(trajectory, every=every, tell=tell):
                file.write(text)
    except OSError as problem:
        raise PageError(f"{path} cannot be written: {problem.strerror}; choose another place") from None
    return path


def page_parts(trajectory: Trajectory, *, every: int = 1, tell: Tell | None = None) -> Iterator[str]:
    """The text of the page, piece by piece; frames come last and are read when they are needed."""
    chosen = sorted({*range(0, len(trajectory), every), len(trajectory) - 1})
    extent = Extent.of(trajectory, chosen)
    scales = _choose(trajectory, chosen, extent)
    head = summary(trajectory, chosen, extent) | {"scales": scales.describe(), "group": GROUP}
    top, bottom = fill_template(head)
    yield top
    packer = FramePacker(scales, head["species"])
    for place, index in enumerate(chosen):
        frame = trajectory[index]
        static, told = packer.static(frame)
        if told is not None:
            yield _blob(f"static{static}", told)
        yield _blob(f"frame{place}", packer.pack(frame, static, key=place % GROUP == 0))
        if tell is not None:
            tell(place + 1, len(chosen))
    yield bottom


def fill_template(head: dict[str, Any], *, policy: str = ALONE, nonce: str = "") -> tuple[str, str]:
    """What stands before and after the frames.

    The script is kept deflated, as the frames are: it is a third of its size. policy: a tag that limits what the page
    may load; nonce: word that allows its own scripts where a server forbids others.
    """
    text, script = _assets()
    words = json.dumps(head, separators=(",", ":")).replace("<", "\\u003c")
    fill = {"title": escape(str(head["title"])), "nonce": nonce, "policy": policy, "script": script, "head": words}
    # all places of a part are filled at once: what a title brings along is text, whatever it looks like
    top, bottom = (MARK.sub(lambda mark: fill[mark[1]], part) for part in text.split("{{frames}}"))
    return top, bottom


@cache
def _assets() -> tuple[str, str]:
    """The template, and the script deflated."""
    here = files(__package__)
    return (here / "template.html").read_text(encoding="utf-8"), _packed((here / "page.js").read_bytes(), level=9)


def _choose(trajectory: Trajectory, chosen: list[int], extent: Extent) -> Scales:
    """The finest detail with which the page is small enough, judged by a few frames in a row at three places."""
    few = chosen[:: max(1, len(chosen) // 10)]
    room = max(LEAST, BYTES * len(chosen) * sum(len(trajectory[index]) for index in few) / len(few))

    details = DETAILS if trajectory[chosen[0]].catalogue is None else tuple(detail.seen() for detail in DETAILS)

    def fits(detail: Detail) -> bool:
        return _estimate(trajectory, chosen, _scales(extent, detail), extent) <= room

    return _scales(extent, details[bisect_left(details, True, hi=len(details) - 1, key=fits)])


def _scales(extent: Extent, detail: Detail) -> Scales:
    return Scales.of(extent.low, extent.high, extent.least, detail)


def _estimate(trajectory: Trajectory, chosen: list[int], scales: Scales, extent: Extent) -> float:
    """Bytes of all frames together, before base64."""
    starts = sorted({int(share * max(0, len(chosen) - 4)) for share in (0.1, 0.4, 0.8)})
    total = 0.0
    for start in starts:
        packer = FramePacker(scales, extent.species.words())
        sizes: list[int] = []
        for index in chosen[start : start + 4]:
            frame = trajectory[index]
            static, _ = packer.static(frame)
            sizes.append(len(zlib.compress(packer.pack(frame, static, key=not sizes))))
        later = sizes[-1]  # by then both frames that predictions need are known
        total += (sizes[0] + (GROUP - 1) * later) / GROUP * len(chosen) / len(starts)
    return total


def _blob(name: str, packet: bytes) -> str:
    return f'<script type="text/plain" id="{name}">{_packed(packet)}</script>\n'


def _packed(data: bytes, level: int = 6) -> str:
    return base64.b64encode(zlib.compress(data, level)).decode("ascii")
