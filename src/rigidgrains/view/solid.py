"""A 3D frame: lit spheres and solids, forces as tubes, walls as translucent sheets."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from ..trajectory.frame import Frame
from .camera import Camera
from .caster import Solids, cast
from .colours import STATUS_INK, Scale
from .extent import Box
from .images import home, outline
from .layout import Layout
from .network import network
from .shape_pieces import shape_pieces
from .wall_sheets import wall_sheets

Array = NDArray[Any]

BEAD = 0.30  # of its radius: a grain that lets the forces be seen
TUBE = 0.5  # of the mean radius: a tube of the strong force
FORCE_INK, RIM, PISTON_RIM, CELL_RIM = "#b02a3c", "#8f99a6", "#3c4a5c", "#34507a"


def draw_solid(
    axes: Axes, frame: Frame, layout: Layout, box: Box, scale: Scale, camera: Camera,
    *, name: str, forces: bool, strong: float,
) -> None:  # fmt: skip
    """Draw one frame; with forces the grains shrink to beads, so that the network between them can be seen."""
    width, height = (round(side * layout.dpi) for side in layout.rectangle[2:])
    step = float(layout.high[0] - layout.low[0]) / width
    size = float(np.mean(frame.radius)) if len(frame) else box.diagonal
    solids = _solids(frame, box, scale, camera, name=name, forces=forces, strong=strong, size=size, step=step)
    image = cast(solids, layout.low, step, width, height, grain=size, haze=0.45 if forces else 0.18)
    extent = (layout.low[0], layout.high[0], layout.low[1], layout.high[1])
    pixels = (255.0 * np.clip(image, 0.0, 1.0)).astype(np.uint8)
    axes.imshow(pixels, extent=extent, interpolation="nearest", aspect="auto", gid="scene")


def _solids(
    frame: Frame, box: Box, scale: Scale, camera: Camera,
    *, name: str, forces: bool, strong: float, size: float, step: float,
) -> Solids:  # fmt: skip
    start, end, thickness, tint = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros(0)], [np.zeros((0, 3))]
    sheets, rims = wall_sheets(frame.walls, box)
    for rim, piston in rims:
        start.append(rim[:-1])
        end.append(rim[1:])
        thickness.append(np.full(len(rim) - 1, (1.3 if piston else 0.8) * step))
        tint.append(np.tile(to_rgb(PISTON_RIM if piston else RIM), (len(rim) - 1, 1)))
    edges = outline(frame, box)
    start.append(edges[:, 0])
    end.append(edges[:, 1])
    thickness.append(np.full(len(edges), 1.1 * step))
    tint.append(np.tile(to_rgb(CELL_RIM), (len(edges), 1)))
    if forces:
        net = network(frame)
        width = np.maximum(TUBE * size * np.minimum(net.force / (strong or 1.0), 1.3), 0.3 * step)
        inks = np.array([to_rgb(ink) for ink in STATUS_INK])
        ink = inks[net.status] if name == "status" else np.tile(to_rgb(FORCE_INK), (len(width), 1))
        last = net.start if net.via is None else net.via
        if net.via is not None:
            start.append(net.start)
            end.append(net.via)
            thickness.append(width)
            tint.append(ink)
        reach = net.end - last
        within = 1.0 - np.minimum(width / np.linalg.norm(reach, axis=1), 1.0) * net.at_wall
        start.append(last)
        end.append(last + within[:, None] * reach)
        thickness.append(width)
        tint.append(ink)
    centre, radius, colour = home(frame), np.asarray(frame.radius, float) * (BEAD if forces else 1.0), scale.rgb(frame)
    shaped, balls = None, np.ones(len(frame), bool)
    if frame.catalogue is not None and frame.shape is not None:
        balls = frame.catalogue.round[frame.shape]
        own = ~balls
        shaped = shape_pieces(
            frame.catalogue, frame.shape[own], centre[own], radius[own], frame.orientation[own], colour[own], camera
        )
    return Solids(
        centre=camera.project(centre[balls]),
        radius=radius[balls],
        colour=colour[balls],
        start=camera.project(np.concatenate(start)),
        end=camera.project(np.concatenate(end)),
        thickness=np.concatenate(thickness),
        tint=np.concatenate(tint),
        sheets=[camera.project(sheet) for sheet in sheets],
        shaped=shaped,
    )
