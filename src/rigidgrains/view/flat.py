"""A 2D frame: true circles and outlines, walls, and forces as lines whose width follows the force."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, EllipseCollection, LineCollection
from numpy.typing import NDArray

from ..trajectory.frame import Frame
from .colours import STATUS_INK, Scale
from .extent import Box
from .images import Shown, home, outline, shown
from .layout import Layout
from .network import network
from .shape_paths import ShapeCollection, mark_reach
from .wall_lines import wall_artists

Array = NDArray[Any]

FORCE_INK = {"load": "#7a1024"}  # on its pale map; elsewhere nearly black
CELL_INK = "#4a5a70"
WIDEST = 9.0  # points
MARKED = 3000  # up to so many grains show a spoke when their colour is the angle


def draw_flat(
    axes: Axes, frame: Frame, layout: Layout, box: Box, scale: Scale, *, name: str, forces: bool, strong: float
) -> None:
    """Draw one frame; name : what the colour means; strong : the force (N) of a line at full width."""
    points_per_metre = 72.0 / layout.metres_per_inch
    radius = float(np.mean(frame.radius)) * points_per_metre if len(frame) else 1.0
    axes.add_collection(_grains(axes, frame, scale, min(0.45, 0.07 * radius)))
    if frame.cell is not None:
        axes.add_collection(_outline(frame, box))
    if name == "rotation" and len(frame) <= MARKED:
        axes.add_collection(_spokes(frame, min(0.9, 0.12 * radius)))
    if forces:
        axes.add_collection(force_lines(frame, name, min(0.75 * radius, WIDEST), strong, points_per_metre))
    for artist in wall_artists(frame.walls, box):
        artist.set_clip_on(False)
        axes.add_artist(artist)


def _grains(axes: Axes, frame: Frame, scale: Scale, edge: float) -> Collection:
    """All grains; images behind, paler and with a paler rim."""
    seen = shown(frame)
    order = np.argsort(~seen.pale, kind="stable")
    grains = _outlines(axes, frame, seen, order)
    rims = np.where(seen.pale[order, None], [0.0, 0.0, 0.0, 0.2], [0.0, 0.0, 0.0, 0.5])
    grains.set(facecolor=seen.tint(scale.rgb(frame))[order], edgecolor=rims, linewidth=edge, zorder=2)
    return grains


def _outlines(axes: Axes, frame: Frame, seen: Shown, order: Array) -> Collection:
    """Circles where all grains are disks, else paths."""
    owner, offsets = seen.owner[order], seen.position[order, :2]
    radius = np.asarray(frame.radius, float)[owner]
    if frame.catalogue is not None and frame.shape is not None:
        return ShapeCollection(
            frame.catalogue, frame.shape[owner], radius, frame.orientation[owner], offsets=offsets,
            offset_transform=axes.transData, joinstyle="round", gid="grains",
        )  # fmt: skip
    return EllipseCollection(
        2.0 * radius, 2.0 * radius, np.zeros(len(radius)), units="xy", offsets=offsets,
        offset_transform=axes.transData, gid="grains",
    )  # fmt: skip


def _outline(frame: Frame, box: Box) -> LineCollection:
    """The faces of a periodic cell, dashed: they are no walls."""
    return LineCollection(
        list(outline(frame, box)[:, :, :2]), linewidths=1.1, colors=CELL_INK, linestyles=[(0, (5, 3))], zorder=3.5,
        gid="cell",
    )  # fmt: skip


def _spokes(frame: Frame, width: float) -> LineCollection:
    """A line from the centre of each grain to its rim, which turns with it."""
    centre, turn = home(frame)[:, :2], np.asarray(frame.orientation, float)
    reach = frame.radius
    if frame.catalogue is not None and frame.shape is not None:
        reach = reach * mark_reach(frame.catalogue)[frame.shape]
    rim = centre + reach[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    lines = np.stack([centre, rim], axis=1)
    outline = np.where(np.abs(np.mod(turn, 2.0 * np.pi) - np.pi) < 0.5 * np.pi, "#ffffff", "#222222")
    return LineCollection(list(lines), linewidths=width, colors=list(outline), zorder=2.5, gid="spokes")


def force_lines(frame: Frame, name: str, widest: float, strong: float, points_per_metre: float) -> LineCollection:
    """Lines whose width (points) is proportional to the force; round ends stay within the walls."""
    net = network(frame)
    width = widest * np.minimum(net.force / (strong or 1.0), 1.3)
    ink = [STATUS_INK[k] for k in net.status] if name == "status" else FORCE_INK.get(name, "#1b1b1b")
    last = net.start if net.via is None else net.via
    reach = net.end - last
    length, cap = np.linalg.norm(reach, axis=1), 0.5 * width / points_per_metre
    within = 1.0 - np.minimum(cap, length) / np.maximum(length, np.finfo(float).tiny) * net.at_wall
    stations = [net.start, last + within[:, None] * reach]
    if net.via is not None:
        stations.insert(1, net.via)
    lines = np.stack(stations, axis=1)[:, :, :2]
    return LineCollection(
        list(lines), linewidths=width, colors=ink, alpha=0.85, capstyle="round", zorder=3,
        joinstyle=None if net.via is None else "round", gid="forces",
    )  # fmt: skip
