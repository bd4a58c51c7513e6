"""Figures: a picture alone in its paragraph gets its description as caption; thumbnails of pictures for cards."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

# Not with a caption of its own below, in italics.
ALONE = re.compile(r"^!\[([^]]+)\]\(([^)\s]+)\)[ \t]*$(?!\n\n\*)", re.M)
EDGE, WHITE = 480, 245  # pixels of a thumbnail's longer side; what counts as background
NEAR, SMALL = 0.012, 0.12  # parts belong together at this share of the width; those below this share are labels


def captioned(text: str) -> str:
    """Markdown, without code, with pictures as figures."""
    return ALONE.sub(lambda match: figure(match[2], match[1]), text)


def figure(picture: str, caption: str, kind: str = "") -> str:
    told = caption[0].upper() + caption[1:] + ("" if caption[-1] in ".?!" else ".")
    options = f":alt: {caption}\n" + (f":figclass: {kind}\n" if kind else "")
    return f"```{{figure}} {picture}\n{options}\n{told}\n```\n"


def thumbnail(picture: Path, path: Path) -> None:
    """The picture without its margin, and without time, scales and colour bars where what they belong to is large."""
    image = Image.open(picture).convert("RGB")
    image = image.crop(content(np.asarray(image)))
    image.thumbnail((EDGE, EDGE))
    image.save(path)


def content(pixels: np.ndarray) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of all large parts of a picture (height, width, 3)."""
    ink = (pixels < WHITE).any(axis=2)
    reach = max(1, round(NEAR * pixels.shape[1]))
    labels, _ = ndimage.label(ndimage.maximum_filter(ink, size=reach))
    parts = ndimage.find_objects(labels)
    if not parts:
        return 0, 0, pixels.shape[1], pixels.shape[0]
    area = [(y.stop - y.start) * (x.stop - x.start) for y, x in parts]
    large = [part for part, size in zip(parts, area, strict=True) if size >= SMALL * max(area)]
    top, bottom = min(y.start for y, _ in large), max(y.stop for y, _ in large)
    left, right = min(x.start for _, x in large), max(x.stop for _, x in large)
    return left, top, right, bottom
