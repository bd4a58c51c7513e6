"""What the colour of a grain can mean: its value, unit, colour map and the scale that several frames share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, ListedColormap, Normalize
from numpy.typing import NDArray

from ..trajectory.frame import Frame
from .kinds import KINDS, densities, few_densities, kind_names, kind_numbers

Array = NDArray[Any]

# Okabe and Ito's colours, told apart by everybody: no contact, sticking, sliding.
STATUS_COLOURS = ("#c9c9c9", "#56b4e9", "#e69f00")
STATUS_INK = ("#8a8a8a", "#0072b2", "#d55e00")
NO_CONTACT, STICKING, SLIDING = 0, 1, 2
FEW = 200  # values, of which none is too extreme for the scale


NO_VALUE = "#c9c9c9"


@dataclass(frozen=True)
class Colour:
    """A quantity of each grain: what stands at the colour bar, its unit, its map, its value."""

    label: str
    unit: str
    cmap: str
    value: Callable[[Frame], Any]


@dataclass(frozen=True)
class Scale:
    """From values to colours, the same for all frames that it was made for.

    colour : the quantity; factor : from its unit to the one at the colour bar; label : with that unit
    ticks  : places and texts at the colour bar, None for those that Matplotlib chooses
    extend : "max" when a few grains lie beyond the upper end
    kinds  : what the colours are called where each stands for itself, in a legend; then values count them, NaN none
    """

    colour: Colour
    factor: float
    label: str
    cmap: Colormap
    norm: Normalize
    ticks: tuple[list[float], list[str]] | None = None
    extend: str = "neither"
    kinds: tuple[str, ...] = ()

    def rgb(self, frame: Frame) -> NDArray[np.float64]:
        """(n, 3) colour of each grain."""
        return np.asarray(self.cmap(self.norm(self.factor * self.colour.value(frame))))[:, :3]

    def softened(self) -> Scale:
        """The same with lighter colours, on which dark lines can be seen."""
        shades = np.asarray(self.cmap(np.arange(self.cmap.N)))
        shades[:, :3] = 0.5 + 0.5 * shades[:, :3]
        return replace(self, cmap=listed(shades))


def make_scale(name: str, frames: Sequence[Frame]) -> Scale:
    """The scale on which the values of all these frames find room; a few extreme grains do not wash out the rest."""
    colour = find_colour(name, frames)
    if name in ("group", "material"):
        return _names_scale(colour, frames)
    if name == "density" and (few := few_densities(frames)) is not None:
        return _values_scale(colour, few)
    if name not in COLOURS:
        return _scalar_scale(colour, frames)
    if name == "status":
        return _status_scale(colour)
    if name == "rotation":
        return _angle_scale(colour, frames[0].dimension)
    if name == "id":
        last = max(1, max(int(frame.id.max(initial=0)) for frame in frames))
        return Scale(colour, 1.0, colour.label, colormaps[colour.cmap], Normalize(0, last))
    if name == "contacts":
        return _count_scale(colour, frames)
    values = np.concatenate([colour.value(frame) for frame in frames] or [np.zeros(0)])
    most = float(values.max(initial=0.0))
    top = (float(np.quantile(values, 0.99)) if len(values) > FEW else most) or most or 1.0
    low = float(values.min()) if name == "radius" and len(values) else 0.0
    if name == "radius":
        top = most or 1.0
        low, top = (low, top) if top > 1.001 * low else (0.0, 1.25 * top)  # grains of one size are not the lowest
    label = colour.label
    if name == "radius" and any(frame.catalogue is not None for frame in frames):
        label = "radius at equal area" if frames[0].dimension == 2 else "radius at equal volume"
    factor, unit = prefixed(top, colour.unit)
    extend = "max" if most > 1.001 * top else "neither"
    norm = Normalize(factor * low, factor * top, clip=True)
    return Scale(colour, factor, f"{label} ({unit})", colormaps[colour.cmap], norm, extend=extend)


def find_colour(name: str, frames: Sequence[Frame]) -> Colour:
    """The quantity of this name, also a scalar of the user; an unknown one is answered with the nearest."""
    if name in COLOURS:
        if name == "group" and any(frame.group is None for frame in frames):
            raise ValueError("colour 'group' is not in this file, of an earlier version; take 'id', or run again")
        return COLOURS[name]
    known = [*COLOURS, *dict.fromkeys(scalar for frame in frames for scalar in frame.names.scalars)]
    if name in known:
        return Colour(name, "", "viridis", lambda frame: frame.scalars[name])
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"colour {name!r} is unknown; {hint}choose one of {', '.join(known)}")


def prefixed(value: float, unit: str) -> tuple[float, str]:
    """Factor and unit that bring a value to a handy size: 0.0015 m gives 1000 and mm."""
    power = 3 * math.floor(math.log10(abs(value) / 0.1) / 3) if value else 0
    prefix = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}.get(power)
    return (1.0, unit) if prefix is None else (10.0**-power, prefix + unit)


def amount(value: float, unit: str) -> str:
    """A value of handy size with its unit: 1.5 mm."""
    factor, unit = prefixed(value, unit)
    return f"{factor * value:.3g} {unit}"


def grain_status(frame: Frame) -> Array:
    """(n,) 0 without a force-carrying contact, 1 when all of them stick, 2 when at least one slides."""
    status, contacts = np.zeros(len(frame), np.int64), frame.contacts
    if len(contacts):
        for value in (STICKING, SLIDING):
            bodies = contacts.pair[contacts.status == value].ravel()
            status[bodies[bodies < len(frame)]] = value
    return status


def _turned(frame: Frame) -> Array:
    """Angle turned (rad): modulo one turn in 2D; in 3D the angle of the rotation, at most pi."""
    turn = frame.orientation
    if frame.dimension == 2:
        return np.mod(turn, 2.0 * np.pi)
    return 2.0 * np.arccos(np.clip(np.abs(turn[:, 0]), 0.0, 1.0))


def _status_scale(colour: Colour) -> Scale:
    ticks = [0.0, 1.0, 2.0], ["none", "sticking", "sliding"]
    return Scale(colour, 1.0, colour.label, ListedColormap(STATUS_COLOURS), Normalize(-0.5, 2.5), ticks)


def listed(shades: Any) -> ListedColormap:
    """These colours, one after the other; what has no value is grey."""
    return ListedColormap(shades).with_extremes(bad=NO_VALUE)  # type: ignore[return-value]


def _names_scale(colour: Colour, frames: Sequence[Frame]) -> Scale:
    """One colour for each group or material that some grain has."""
    name = colour.label
    names = kind_names(name, frames[0])
    rows = kind_numbers(name, frames)
    place = np.full(max([*rows, -1]) + 2, np.nan)  # the last one serves -1
    place[rows] = np.arange(len(rows))
    told = replace(colour, value=lambda frame: place[colour.value(frame)])
    return _kinds_scale(told, [names[row] if row < len(names) else f"{name} {row}" for row in rows])


def _values_scale(colour: Colour, values: Array) -> Scale:
    """One colour for each value."""
    told = replace(colour, value=lambda frame: np.searchsorted(values, densities(frame)).astype(float))
    return _kinds_scale(told, [f"{value:.4g}" for value in values], f"{colour.label} ({colour.unit})")


def _kinds_scale(colour: Colour, names: Sequence[str], label: str = "") -> Scale:
    shades = [KINDS[k % len(KINDS)] for k in range(max(1, len(names)))]
    norm = Normalize(-0.5, len(shades) - 0.5)
    return Scale(colour, 1.0, label or colour.label, listed(shades), norm, kinds=tuple(names))


def _scalar_scale(colour: Colour, frames: Sequence[Frame]) -> Scale:
    """From the least to the most, a few extreme grains left out; NaN is grey."""
    parts = [colour.value(frame) for frame in frames]
    values = np.concatenate([part[np.isfinite(part)] for part in parts]) if parts else np.zeros(0)
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    low, top = np.quantile(values, [0.01, 0.99]).tolist() if len(values) > FEW else (least, most)
    if not top > low:
        low, top = (least, most) if most > least else (least - 0.5, least + 0.5)
    beyond = 1e-3 * (top - low)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(
        (least < low - beyond, most > top + beyond), "neither"
    )
    cmap = colormaps[colour.cmap].with_extremes(bad=NO_VALUE)
    return Scale(colour, 1.0, colour.label, cmap, Normalize(low, top, clip=True), extend=extend)


def _angle_scale(colour: Colour, dimension: int) -> Scale:
    if dimension == 2:
        ticks = [k * math.pi / 2.0 for k in range(5)], ["0", "π/2", "π", "3π/2", "2π"]
        return Scale(colour, 1.0, "angle turned (rad)", colormaps["twilight"], Normalize(0.0, 2.0 * math.pi), ticks)
    ticks = [k * math.pi / 4.0 for k in range(5)], ["0", "π/4", "π/2", "3π/4", "π"]
    return Scale(colour, 1.0, "angle turned (rad)", colormaps[colour.cmap], Normalize(0.0, math.pi), ticks)


def _count_scale(colour: Colour, frames: Sequence[Frame]) -> Scale:
    """One colour for each number; grains without a contact are grey."""
    most = max(1, max(int(frame.contact_number.max(initial=0)) for frame in frames))
    shades = [(0.79, 0.79, 0.79, 1.0), *colormaps[colour.cmap](np.linspace(0.0, 1.0, most))]
    step = 1 + most // 9
    places = [float(k) for k in range(0, most + 1, step)]
    norm = Normalize(-0.5, most + 0.5)
    return Scale(colour, 1.0, colour.label, ListedColormap(shades), norm, (places, [f"{k:.0f}" for k in places]))


COLOURS = {
    "load": Colour("load: sum of normal forces", "N", "YlGnBu", lambda frame: frame.load),
    "radius": Colour("radius", "m", "viridis", lambda frame: frame.radius),
    "speed": Colour("speed", "m/s", "viridis", lambda frame: np.linalg.norm(frame.velocity, axis=1)),
    "peculiar": Colour(
        "speed about the flow", "m/s", "viridis", lambda frame: np.linalg.norm(frame.peculiar_velocity, axis=1)
    ),
    "rotation": Colour("angle turned", "rad", "cividis", _turned),
    "contacts": Colour("force-carrying contacts", "", "viridis", lambda frame: frame.contact_number),
    "id": Colour("number of the grain", "", "viridis", lambda frame: frame.id),
    "status": Colour("contacts of the grain", "", "", grain_status),
    "group": Colour("group", "", "", lambda frame: frame.group),
    "material": Colour("material", "", "", lambda frame: frame.material),
    "density": Colour("density", "kg/m³", "viridis", lambda frame: frame.density),
}
