"""Panels of one frame: distribution of forces, directions of contacts, sizes of grains."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ..model.columns import X, Y
from ..trajectory.frame import Frame
from .camera import Camera
from .colours import amount, prefixed
from .time_panels import BLUE, RED

Array = NDArray[Any]

SECTORS = 36


def forces(axes: Axes, frame: Frame) -> None:
    """Probability density of f / <f>, f the size of a contact force, on a logarithmic axis."""
    force = np.linalg.norm(frame.contacts.force[carrying(frame)], axis=1)
    ratio = force / force.mean()
    edges = np.linspace(0.0, max(float(ratio.max()), 1e-9) * (1.0 + 1e-9), _bins(len(ratio)) + 1)
    count, _ = np.histogram(ratio, edges)
    density, middle = count / (len(ratio) * np.diff(edges)), 0.5 * (edges[1:] + edges[:-1])
    filled = count > 0
    axes.plot(middle[filled], density[filled], "o", ms=3.5, mec="none", color=BLUE)
    axes.set(xlabel=r"contact force $f\,/\,\langle f\rangle$", ylabel=r"$P(f/\langle f\rangle)$", xlim=(0.0, None))
    axes.set_yscale("log")
    _stamp(axes, frame, f"$\\langle f\\rangle$ = {amount(float(force.mean()), 'N')}")


def rose(axes: Axes, frame: Frame) -> None:
    """Directions of contacts among grains, both ways; in 3D as seen from the front. Dashed: no direction preferred."""
    normal = np.asarray(frame.contacts.normal[between_grains(frame)], float)
    seen = normal if frame.dimension == 2 else Camera.looking("front", frame.gravity).project(normal)
    angle = np.arctan2(seen[:, Y], seen[:, X])
    angle = np.mod(np.concatenate([angle, angle + np.pi]), 2.0 * np.pi)
    width = 2.0 * np.pi / SECTORS
    count, edges = np.histogram(angle, SECTORS, (0.0, 2.0 * np.pi))
    density = count / (len(angle) / SECTORS)
    axes.bar(edges[:-1] + 0.5 * width, density, width=width, color=BLUE, alpha=0.75, ec="white", lw=0.4)
    circle = np.linspace(0.0, 2.0 * np.pi, 181)
    axes.plot(circle, np.ones_like(circle), color=RED, lw=1.0, ls="--")
    axes.set_yticks([])
    axes.set_xticks(np.arange(0.0, 2.0 * np.pi, np.pi / 4.0))
    axes.set_title("directions of contacts")


def sizes(axes: Axes, frame: Frame) -> None:
    """Number of grains by radius."""
    factor, unit = prefixed(float(frame.radius.max(initial=0.0)), "m")
    radius = factor * np.asarray(frame.radius, float)
    low, high = (float(radius.min()), float(radius.max())) if len(radius) else (1.0, 1.0)
    if high - low < 1e-6 * high:
        low, high = 0.5 * low, 1.5 * high
    axes.hist(radius, bins=_bins(len(radius)), range=(low, high), color=BLUE, alpha=0.75, ec="white", lw=0.4)
    axes.set(xlabel=f"radius ({unit})", ylabel="grains")
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def carrying(frame: Frame) -> Array:
    """(c,) True for contacts that carry a force."""
    return frame.contacts.normal_force > 0.0 if len(frame.contacts) else np.zeros(0, bool)


def between_grains(frame: Frame) -> Array:
    """(c,) True for contacts among grains that carry a force."""
    return carrying(frame) & (frame.contacts.pair[:, 1] < len(frame)) if len(frame.contacts) else np.zeros(0, bool)


def _bins(count: int) -> int:
    return int(np.clip(round(np.sqrt(count)), 5, 30))


def _stamp(axes: Axes, frame: Frame, text: str) -> None:
    axes.text(
        0.97, 0.95, f"$t$ = {frame.time:.4g} s\n{text}", transform=axes.transAxes, ha="right", va="top", fontsize=8
    )  # fmt: skip
