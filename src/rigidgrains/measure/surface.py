"""Free surface of heaps, beds and drums, and their angle of repose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .images import home
from .shown import Shown
from .state import Array, Frame, Mask, TooFew, double, of, some

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

MOST = 10_000_000  # columns of a surface


@dataclass(frozen=True)
class Surface(Shown):
    """The highest point of the grains above each place of a grid, against gravity.

    at      : (k, 1) m in 2D, (k, 2) m in 3D, middles of the columns that hold grains, along `across`
    height  : (k,) m, of the highest point of any grain in the column, along `up`
    up      : (3,) unit vector against gravity; across : (1, 3) or (2, 3) unit vectors square to it
    width   : m, of a column
    """

    at: Array
    height: Array
    up: Array
    across: Array
    width: float


def free_surface(
    source: Frame | Simulation, *, width: float | None = None, touching: bool = True, up: Any = None
) -> Surface:
    """The upper surface, column by column; exact for disks and spheres, which reach from column to column.

    width    : m, of a column; the largest diameter if absent
    touching : leave out grains that touch nothing: they fly
    up       : (d,) direction; against gravity if absent
    """
    frame = of(source)
    d, up_ = frame.dimension, upwards(frame, up)
    across = _square(up_, d)
    kept = held(some(frame)) if touching else np.ones(len(some(frame)), np.bool_)
    position, radius = home(frame)[kept], double(frame.radius)[kept]
    if width is None:
        width = 2.0 * float(radius.max())
    if not width > 0.0:
        raise ValueError(f"width = {width} is no width of a column; give a positive number of metres")
    at, z = position @ across.T, position @ up_
    low, high = (at - radius[:, None]).min(axis=0), (at + radius[:, None]).max(axis=0)
    shape = np.maximum(np.ceil((high - low) / width - 1e-9), 1.0).astype(np.int64)
    if math.prod(shape.tolist()) > MOST:
        raise ValueError(f"width = {width:g} m makes more than {MOST:,} columns; give a wider one")
    low = 0.5 * (low + high) - 0.5 * width * shape
    top = np.full(shape, -np.inf)
    first = np.floor((at - radius[:, None] - low) / width).astype(np.int64)
    last = np.floor((at + radius[:, None] - low) / width).astype(np.int64)
    for steps in np.ndindex(*(last - first).max(axis=0) + 1):
        cell = first + np.array(steps)
        inside = ((cell <= last) & (cell < shape) & (cell >= 0)).all(axis=1)
        edge = low + width * cell
        nearest = np.clip(at, edge, edge + width)  # of the column, to the centre
        away = ((nearest - at) ** 2).sum(axis=1)
        inside &= away < radius**2
        rows = tuple(cell[inside].T)
        np.maximum.at(top, rows, z[inside] + np.sqrt(radius[inside] ** 2 - away[inside]))
    filled = np.argwhere(np.isfinite(top))
    return Surface(low + width * (filled + 0.5), top[tuple(filled.T)], up_, across, width)


@dataclass(frozen=True)
class Repose(Shown):
    """angle : degrees, mean of the flanks, or of the one slope; left, right : of the two flanks of a heap in 2D, in 3D
    both are the angle; peak : (d - 1,) m, place of the peak across; height : m, of the peak over the foot;
    error : degrees, of the fit"""

    angle: float
    left: float
    right: float
    peak: Array
    height: float
    error: float


def repose(
    source: Frame | Simulation, *, kind: str = "heap", ends: tuple[float, float] = (0.1, 0.8), **words: Any
) -> Repose:
    """The angle of repose, by straight lines through the free surface.

    kind  : "heap", a cone about the middle of the grains, or two flanks in 2D; "slope", one plane, as in a drum
    ends  : of a heap, shares of its height between which flanks are fitted, since peak and foot are round; of a slope,
            shares of its length, (0.25, 0.75) for the middle half
    words : of `free_surface`
    """
    frame = of(source)
    if kind not in ("heap", "slope"):
        raise ValueError(f"kind = {kind!r} is not known; it is 'heap' or 'slope'")
    low, high = ends
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"ends = {ends} are no shares; give two numbers between 0 and 1, the lower one first")
    found = free_surface(frame, **words)
    if kind == "slope":
        return _slope(found, low, high)
    z = found.height
    peak = _peak(found)
    away = np.linalg.norm(found.at - peak, axis=1)
    foot, top = float(z.min()), float(z.max())
    flank = (z >= foot + low * (top - foot)) & (z <= foot + high * (top - foot))
    sides = [flank & (found.at[:, 0] < peak[0]), flank & (found.at[:, 0] > peak[0])]
    if frame.dimension == 3:
        angle, error = _fit(away[flank], z[flank])
        return Repose(-angle, -angle, -angle, peak, top - foot, error)
    fits = [_fit(away[side], z[side]) for side in sides]
    (left, e_left), (right, e_right) = fits
    return Repose(-0.5 * (left + right), -left, -right, peak, top - foot, 0.5 * math.hypot(e_left, e_right))


def _slope(found: Surface, low: float, high: float) -> Repose:
    """A plane through the part of the surface that lies between two shares of its extent."""
    first, last = found.at.min(axis=0), found.at.max(axis=0)
    span = np.where(last > first, last - first, 1.0)
    share = (found.at - first) / span
    within = ((share >= low) & (share <= high)).all(axis=1)
    if within.sum() <= found.at.shape[1] + 1:
        raise TooFew(f"{int(within.sum())} columns are too few for a slope; give a smaller width or wider ends")
    middle = found.at[within].mean(axis=0)
    design = np.column_stack([np.ones(int(within.sum())), found.at[within] - middle])
    (_, *slopes), rest, _, _ = np.linalg.lstsq(design, found.height[within], rcond=None)
    steep = float(np.linalg.norm(slopes))
    spread = float(rest[0]) if len(rest) else 0.0
    error = math.sqrt(spread / max(len(design) - design.shape[1], 1) / float((design[:, 1:] ** 2).sum()))
    angle = math.degrees(math.atan(steep))
    at = found.at[np.argmax(found.height)]
    return Repose(angle, angle, angle, at, float(np.ptp(found.height)), math.degrees(error / (1.0 + steep**2)))


def _peak(found: Surface) -> Array:
    """(d - 1,) m, middle of what lies above half of the height: one grain on top does not move it."""
    z = found.height
    weight = np.maximum(z - 0.5 * (z.min() + z.max()), 0.0)
    if not weight.sum():
        raise TooFew("the surface is flat; kind='slope' measures an even one")
    return np.asarray(weight @ found.at / weight.sum())


def _fit(away: Array, z: Array) -> tuple[float, float]:
    """Angle of a line and its error (degrees)."""
    if len(away) < 2 or np.ptp(away) == 0.0:
        raise TooFew(f"{len(away)} columns are too few for a flank; give a smaller width or wider ends")
    x = away - away.mean()
    slope = float(x @ z / (x @ x))
    rest = z - z.mean() - slope * x
    error = math.sqrt(float(rest @ rest) / max(len(x) - 2, 1) / float(x @ x))
    return math.degrees(math.atan(slope)), math.degrees(error / (1.0 + slope**2))


def held(frame: Frame) -> Mask:
    """(n,) True for grains that touch something; all of them if none does, or a file does not know."""
    touching = np.zeros(len(frame), np.bool_)
    if frame.has_contacts and frame.whole and len(frame.contacts):
        bodies = frame.contacts.pair[frame.contacts.status > 0].ravel()
        touching[bodies[bodies < len(frame)]] = True
    return touching if touching.any() else ~touching


def upwards(frame: Frame, up: Any) -> Array:
    """(3,) unit vector."""
    way = np.zeros(3)
    if up is None:
        way = -double(frame.gravity)
        if not way.any():
            raise ValueError("there is no gravity, so nothing is up; give a direction, up=(0, 1) for instance")
    else:
        given = double(up)
        if given.shape != (frame.dimension,) or not given.any():
            raise ValueError(f"up = {up} is no direction in {frame.dimension}D; give {frame.dimension} numbers")
        way[: frame.dimension] = given
    return np.asarray(way / np.linalg.norm(way))


def _square(up: Array, d: int) -> Array:
    """(d - 1, 3) unit vectors square to `up`: close to x, and to y in 3D."""
    if d == 2:
        return np.array([[up[1], -up[0], 0.0]])
    first = np.eye(3)[int(np.argmin(np.abs(up)))] if abs(up[0]) > 0.9 else np.eye(3)[0]
    first = first - (first @ up) * up
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(up, first)])
