"""A 2D frame: true circles, walls, and forces as lines whose width follows the force."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from numpy.typing import NDArray

from ..trajectory.frame import Frame
from .colours import STATUS_INK, Scale
from .extent import Box
from .images import home, outline, shown
from .layout import Layout
from .network import network
from .wall_lines import wall_artists

Array = NDArray[Any]

FORCE_INK = {"load": "#7a1024"}  # on its pale map; elsewhere nearly black
CELL_INK = "#4a5a70"
WIDEST = 9.0  # points
MARKED = 3000  # up to so many disks show a spoke when their colour is the angle


def draw_flat(
    axes: Axes, frame: Frame, layout: Layout, box: Box, scale: Scale, *, name: str, forces: bool, strong: float
) -> None:
    """Draw one frame; name : what the colour means; strong : the force (N) of a line at full width."""
    points_per_metre = 72.0 / layout.metres_per_inch
    radius = float(np.mean(frame.radius)) * points_per_metre if len(frame) else 1.0
    axes.add_collection(_disks(axes, frame, scale, min(0.45, 0.07 * radius)))
    if frame.cell is not None:
        axes.add_collection(_outline(frame, box))
    if name == "rotation" and len(frame) <= MARKED:
        axes.add_collection(_spokes(frame, min(0.9, 0.12 * radius)))
    if forces:
        axes.add_collection(force_lines(frame, name, min(0.75 * radius, WIDEST), strong, points_per_metre))
    for artist in wall_artists(frame.walls, box):
        artist.set_clip_on(False)
        axes.add_artist(artist)


def _disks(axes: Axes, frame: Frame, scale: Scale, edge: float) -> EllipseCollection:
    """All disks; images behind, paler and with a paler rim."""
    seen = shown(frame)
    order = np.argsort(~seen.pale, kind="stable")
    diameter = 2.0 * np.asarray(frame.radius, float)[seen.owner][order]
    disks = EllipseCollection(
        diameter, diameter, np.zeros(len(diameter)), units="xy", offsets=seen.position[order, :2],
        offset_transform=axes.transData, gid="grains",
    )  # fmt: skip
    rims = np.where(seen.pale[order, None], [0.0, 0.0, 0.0, 0.2], [0.0, 0.0, 0.0, 0.5])
    disks.set(facecolor=seen.tint(scale.rgb(frame))[order], edgecolor=rims, linewidth=edge, zorder=2)
    return disks


def _outline(frame: Frame, box: Box) -> LineCollection:
    """The faces of a periodic cell, dashed: they are no walls."""
    return LineCollection(
        list(outline(frame, box)[:, :, :2]), linewidths=1.1, colors=CELL_INK, linestyles=[(0, (5, 3))], zorder=3.5,
        gid="cell",
    )  # fmt: skip


def _spokes(frame: Frame, width: float) -> LineCollection:
    """A radius of each disk, which turns with it."""
    centre, turn = home(frame)[:, :2], np.asarray(frame.orientation, float)
    rim = centre + frame.radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    lines = np.stack([centre, rim], axis=1)
    outline = np.where(np.abs(np.mod(turn, 2.0 * np.pi) - np.pi) < 0.5 * np.pi, "#ffffff", "#222222")
    return LineCollection(list(lines), linewidths=width, colors=list(outline), zorder=2.5, gid="spokes")


def force_lines(frame: Frame, name: str, widest: float, strong: float, points_per_metre: float) -> LineCollection:
    """Lines whose width (points) is proportional to the force; round ends stay within the walls."""
    net = network(frame)
    width = widest * np.minimum(net.force / (strong or 1.0), 1.3)
    ink = [STATUS_INK[k] for k in net.status] if name == "status" else FORCE_INK.get(name, "#1b1b1b")
    reach = net.end - net.start
    length, cap = np.linalg.norm(reach, axis=1), 0.5 * width / points_per_metre
    within = 1.0 - np.minimum(cap, length) / np.maximum(length, np.finfo(float).tiny) * net.at_wall
    lines = np.stack([net.start, net.start + within[:, None] * reach], axis=1)[:, :, :2]
    return LineCollection(
        list(lines), linewidths=width, colors=ink, alpha=0.85, capstyle="round", zorder=3, gid="forces"
    )  # fmt: skip
