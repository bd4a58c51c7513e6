"""A picture of a frame: the grains by load, speed, rotation and more, the force network, walls, scale and time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..trajectory.frame import Frame
from .camera import Camera, View, read_view
from .colours import Scale, find_colour, make_scale
from .extent import Box, box_around
from .flat import draw_flat
from .layout import (  # fmt: skip
    Layout,
    Size,
    add_axes_cross,
    add_colour_bar,
    add_scale_bar,
    add_time,
    make_figure,
    make_layout,
)
from .network import strong_force
from .picture import Picture
from .save import save_figure
from .solid import draw_solid

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


def draw_packing(
    state: Simulation | Frame, path: str | Path | None = None, *, colour: str = "load", forces: bool | None = None,
    size: Size = None, view: View = "default",
) -> Picture:  # fmt: skip
    """Draw a state; write it to `path` (PNG, SVG or PDF) when given.

    state  : a simulation as it is now, or a frame of a trajectory
    colour : load, radius, speed, peculiar, rotation, contacts, id, status, group, material or density of each grain, or
             the name of a scalar
    forces : draw contact forces as lines (2D) or tubes (3D) by strength; default: in 2D, where there are any
    size   : pixels of the longer side, or (width, height)
    view   : 3D: azimuth and elevation of the eye in degrees, or "front", "side", "top"
    """
    frame = state if isinstance(state, Frame) else Frame.of(state)
    if forces is None:
        forces = frame.dimension == 2 and frame.has_contacts
    figure = Look.at([frame], colour=colour, forces=forces, size=size, view=view).draw(frame)
    if path is not None:
        save_figure(figure, path)
    return figure


@dataclass(frozen=True)
class Look:
    """What all frames of a series share: camera, corners of the view, colour scale, width of the forces.

    strong : the force (N) that is drawn at full width; decimals : of the time stamp, None for a single picture
    """

    colour: str
    forces: bool
    box: Box
    camera: Camera
    layout: Layout
    scale: Scale
    strong: float
    decimals: int | None

    @classmethod
    def at(
        cls, frames: Sequence[Frame], *, colour: str = "load", forces: bool = False, size: Size = None,
        view: View = "default",
    ) -> Look:  # fmt: skip
        """The look under which all these frames can be compared; raises ValueError where it asks for what is absent."""
        find_colour(colour, frames)
        angles = read_view(view)
        if colour == "status" and not all(frame.has_contacts for frame in frames):
            raise ValueError(
                "colour 'status' needs contacts, and this file was written without them; run again with contacts"
            )
        flat = frames[0].dimension == 2
        strong = strong_force(frames) if forces else 1.0
        box = box_around(frames)
        box = box.grown(0.02 * box.diagonal) if not flat else box
        camera = Camera(np.eye(3)) if flat else Camera.looking(angles, frames[0].gravity)
        corners = camera.project(box.corners())[:, :2]
        low, high = corners.min(axis=0), corners.max(axis=0)
        margin = (0.02 if flat else 0.01) * float(max(high - low))
        scale = make_scale(colour, frames)
        if flat and forces and colour not in ("load", "status") and not scale.kinds:
            scale = scale.softened()
        layout = make_layout(low - margin, high + margin, size)
        return cls(colour, forces, box, camera, layout, scale, strong, _decimals(frames))

    def draw(self, frame: Frame) -> Picture:
        """The picture of one frame."""
        figure, axes = make_figure(self.layout)
        if frame.dimension == 2:
            draw_flat(
                axes, frame, self.layout, self.box, self.scale, name=self.colour, forces=self.forces, strong=self.strong
            )  # fmt: skip
        else:
            draw_solid(
                axes, frame, self.layout, self.box, self.scale, self.camera, name=self.colour, forces=self.forces,
                strong=self.strong,
            )  # fmt: skip
            add_axes_cross(figure, self.layout, self.camera)
        add_colour_bar(figure, self.layout, self.scale)
        add_scale_bar(figure, self.layout)
        add_time(figure, frame.time, self.decimals)
        return figure


def _decimals(frames: Sequence[Frame]) -> int | None:
    """Decimals that tell the times of a series apart; None for a single frame."""
    if len(frames) < 2:
        return None
    interval = (frames[-1].time - frames[0].time) / (len(frames) - 1)
    return max(0, math.ceil(-math.log10(interval) - 1e-9)) if interval > 0.0 else 3
