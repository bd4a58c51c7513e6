"""The sheet of paper: where the picture, colour bar, scale bar and time stamp stand, the same for all frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from numpy.typing import NDArray

from ..model.columns import Y
from .camera import Camera
from .colours import Scale, prefixed
from .picture import Picture

Array = NDArray[Any]
Size = int | tuple[int, int] | None

LONG_SIDE = 8.0  # inches; with more pixels the same picture is finer, not emptier
PIXELS = 1600
TOP, BOTTOM, SIDE = 0.55, 0.62, 0.22  # inches around the picture
BESIDE, BELOW = 1.30, 0.78  # inches for a colour bar beside or below the picture
LONGEST, MOST_SWATCHES = 14, 12  # letters of a name, and names, in a legend
INK, PALE_INK = "#222222", "#555555"


@dataclass(frozen=True)
class Layout:
    """Pixels of the figure, pixels per inch, the picture's rectangle in inches from the lower left, and what it shows.

    low, high : (2,) corners of the view (m); beside : True with the colour bar beside the picture, not below
    """

    pixels: tuple[int, int]
    dpi: float
    rectangle: tuple[float, float, float, float]
    low: Array
    high: Array
    beside: bool

    @property
    def metres_per_inch(self) -> float:
        return float(self.high[0] - self.low[0]) / self.rectangle[2]


def make_layout(low: Array, high: Array, size: Size = None) -> Layout:
    """A sheet for a view of these corners, of a given width and height; or with a longer side of so many pixels, and
    both sides even."""
    span = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-300))
    ratio = float(span[0] / span[1])
    if isinstance(size, tuple):
        pixels = size
        dpi = max(pixels) / LONG_SIDE
        beside = ratio < 2.4
        width = pixels[0] / dpi - 2.0 * SIDE - BESIDE * beside
        height = pixels[1] / dpi - TOP - BOTTOM - BELOW * (not beside)
        if min(width, height) < 0.4:
            raise ValueError(f"size {size[0]}x{size[1]} leaves no room for the picture; give a less extreme one")
    else:
        dpi, beside = (size or PIXELS) / LONG_SIDE, ratio < 2.4
        widest = LONG_SIDE - 2.0 * SIDE - BESIDE * beside
        highest = LONG_SIDE - TOP - BOTTOM - BELOW * (not beside)
        width = min(widest, highest * ratio)
        height = max(width / ratio, 2.2 if beside else 0.5)
        width = max(width, 1.8)
        inches = width + 2.0 * SIDE + BESIDE * beside, height + TOP + BOTTOM + BELOW * (not beside)
        pixels = 2 * round(inches[0] * dpi / 2.0), 2 * round(inches[1] * dpi / 2.0)
    scale = max(span[0] / width, span[1] / height)
    middle, half = 0.5 * (low + high), 0.5 * scale * np.array([width, height])
    rectangle = SIDE, BOTTOM + BELOW * (not beside), width, height
    return Layout(pixels, dpi, rectangle, middle - half, middle + half, beside)


def read_size(text: str) -> Size:
    """1600 is the longer side, 1920x1080 width and height, in pixels."""
    try:
        sides = [int(word) for word in text.lower().split("x")]
    except ValueError:
        sides = []
    if len(sides) not in (1, 2):
        raise ValueError(f"size {text!r} is no size; give the pixels of the longer side, or WIDTHxHEIGHT")
    if not all(200 <= side <= 10_000 for side in sides):
        raise ValueError(f"size {text} is out of range; give 200 to 10000 pixels a side")
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def make_figure(layout: Layout) -> tuple[Picture, Axes]:
    """An empty figure, and axes without frame in which one unit is one metre."""
    inches = layout.pixels[0] / layout.dpi, layout.pixels[1] / layout.dpi
    figure = Picture(figsize=inches, dpi=layout.dpi, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes(_fractions(layout.rectangle, inches))
    axes.set(xlim=(layout.low[0], layout.high[0]), ylim=(layout.low[1], layout.high[1]))
    axes.set_axis_off()
    return figure, axes


def add_legend(figure: Figure, layout: Layout, scale: Scale) -> None:
    """A swatch and a name for each kind of grains, beside the picture or below it."""
    left, bottom, width, height = layout.rectangle
    across, up = figure.get_size_inches()
    names = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in scale.kinds[:MOST_SWATCHES]]
    if (rest := len(scale.kinds) - len(names)) > 0:
        names.append(f"and {rest} more")
    rows = len(names) if layout.beside else -(-len(names) // 4)
    x, y = (left + width + 0.16, bottom + 0.5 * height + 0.13 * rows) if layout.beside else (left, 0.98)
    figure.text(x / across, (y + 0.22) / up, scale.label, fontsize=11, color=INK, va="center_baseline")
    for k, name in enumerate(names):
        row, column = (k, 0) if layout.beside else (k // 4, k % 4)
        place = x + column * width / 4.0, y - 0.26 * row - 0.08
        if k < len(scale.kinds[:MOST_SWATCHES]):
            shade = scale.cmap(scale.norm(k))
            swatch = Circle((0.5, 0.5), 0.44, facecolor=shade, edgecolor="#00000080", linewidth=0.5, gid=f"kind {k}")
            box = figure.add_axes(_fractions((place[0], place[1] - 0.08, 0.16, 0.16), (across, up)))
            box.set(xlim=(0, 1), ylim=(0, 1))
            box.set_axis_off()
            box.add_patch(swatch)
        figure.text(
            (place[0] + 0.22) / across, place[1] / up, name, fontsize=10, color=INK, va="center_baseline"
        )  # fmt: skip


def add_colour_bar(figure: Figure, layout: Layout, scale: Scale) -> None:
    """Beside the picture or below it, never as long as to dominate; a legend where colours have names."""
    if scale.kinds:
        add_legend(figure, layout, scale)
        return
    left, bottom, width, height = layout.rectangle
    inches = tuple(figure.get_size_inches())
    if layout.beside:
        long = min(height, max(0.7 * height, 1.8), 4.2)
        place = (left + width + 0.22, bottom + 0.5 * (height - long), 0.16, long)
    else:
        long = min(width, 4.2)
        place = (left + width - long - 0.1, 0.5, long, 0.16)
    bar = figure.colorbar(
        ScalarMappable(scale.norm, scale.cmap),
        cax=figure.add_axes(_fractions(place, inches)),
        orientation="vertical" if layout.beside else "horizontal",
        extend=scale.extend,
        extendfrac=0.04,
    )
    bar.set_label(scale.label, fontsize=11, color=INK, labelpad=5)
    bar.outline.set_linewidth(0.5)
    if scale.ticks is not None:
        bar.set_ticks(scale.ticks[0], labels=scale.ticks[1])
    bar.ax.tick_params(labelsize=10, length=3, width=0.6, colors=INK)
    bar.ax.minorticks_off()


def add_scale_bar(figure: Figure, layout: Layout) -> None:
    """A line of a round length, about a fifth of the picture, below its left corner."""
    per_inch = layout.metres_per_inch
    metres = round_length(min(0.25 * layout.rectangle[2], 1.6) * per_inch)
    factor, unit = prefixed(metres, "m")
    inches = tuple(figure.get_size_inches())
    y = 0.34 / inches[1]
    x = np.array([SIDE, SIDE + metres / per_inch]) / inches[0]
    figure.add_artist(Line2D(x, [y, y], color=INK, lw=2.2, solid_capstyle="butt", gid="scale bar"))
    figure.text(x[1] + 0.09 / inches[0], y, f"{factor * metres:g} {unit}", fontsize=11, color=INK, va="center_baseline")


def add_time(figure: Figure, time: float, decimals: int | None = None) -> None:
    """The time stamp, at the upper left; with a fixed number of decimals in a video."""
    text = f"{time:.4g}" if decimals is None else f"{time:.{decimals}f}"
    width, height = figure.get_size_inches()
    figure.text(SIDE / width, 1.0 - 0.30 / height, f"$t$ = {text} s", fontsize=12, color=INK, va="center_baseline")


def add_axes_cross(figure: Figure, layout: Layout, camera: Camera) -> None:
    """Small arrows for x, y and z, below the right corner of the picture."""
    width, height = figure.get_size_inches()
    arrows = 0.30 * camera.rows[:2].T
    x0 = layout.rectangle[0] + layout.rectangle[2] - 0.45
    y0 = layout.rectangle[1] - 0.40 - min(0.0, float(arrows[:, Y].min()))
    if not layout.beside:
        x0, y0 = layout.rectangle[0] + 3.0, 0.25 - min(0.0, float(arrows[:, Y].min()))
    for name, arrow in zip("xyz", arrows):
        if np.linalg.norm(arrow) < 0.03:  # points to the eye
            continue
        end = np.array([x0, y0]) + arrow
        line = Line2D([x0 / width, end[0] / width], [y0 / height, end[1] / height], color=PALE_INK, lw=1.1)
        figure.add_artist(line)
        at = end + 0.09 * arrow / np.linalg.norm(arrow)
        figure.text(
            at[0] / width, at[1] / height, f"${name}$", fontsize=9, color=PALE_INK, ha="center", va="center"
        )  # fmt: skip


def round_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not longer."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(digit * power for digit in (1.0, 2.0, 5.0) if digit * power <= length * (1.0 + 1e-9))


def _fractions(rectangle: tuple[float, ...], inches: tuple[float, ...]) -> tuple[float, float, float, float]:
    left, bottom, width, height = rectangle
    return left / inches[0], bottom / inches[1], width / inches[0], height / inches[1]
