"""A picture of the packing: grains by load, rotation, speed or size, and the force network by line width."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..detect.shapes import Cylinder, Plate
from ..observe.measure import loads
from .spheres import VIEW, cast_spheres
from .wall_lines import wall_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..simulation import Simulation

Array = NDArray[np.float64]

# What a colour means, its colour map (safe for the colour-blind) and a line colour that stands out on it.
COLOURS = {
    "load": ("sum of normal forces on a grain / mean", "YlGnBu", "#7a1024"),
    "rotation": ("angle turned (rad)", "twilight", "#1b1b1b"),
    "speed": ("speed (m/s)", "YlOrBr", "#17294d"),
    "radius": ("radius (m)", "BuPu", "#1b1b1b"),
}
SIDE = 7.0  # inches, the longer side of the picture


def draw_packing(
    simulation: Simulation, path: str | Path | None = None, *, colour: str = "load", forces: bool = True
) -> Figure:
    """Draw the present state; write it to `path` (PNG, SVG or PDF) when given.

    colour : "load", "rotation", "speed" or "radius" of each grain
    forces : draw each contact force as a line whose width follows the force; beside the grains in 3D
    """
    if colour not in COLOURS:
        raise ValueError(f"colour {colour!r} is unknown; choose one of {', '.join(COLOURS)}")
    label, cmap, ink = COLOURS[colour]
    bodies = simulation.bodies
    forces = forces and bool((simulation.contacts.forces[:, 0] > 0.0).any())
    value = _value(simulation, colour)
    norm = Normalize(value.min() if colour == "radius" else 0.0, _top(value, colour))
    flat = bodies.position[:, :2] if bodies.dimension == 2 else bodies.position @ VIEW[:2].T
    low, high = _frame(simulation, flat)
    size = SIDE * (high - low) / max(high - low)
    flat_figure = size[1] < 3.0  # too low for a colour bar at its side
    panels = 2 if bodies.dimension == 3 and forces else 1
    width = panels * max(size[0], 4.0) + (0.5 if flat_figure else 1.5)
    figure = Figure(figsize=(width, max(size[1], 0.6) + (2.0 if flat_figure else 0.8)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for panel in axes:
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    if bodies.dimension == 2:
        axes[0].add_collection(_disks(axes[0], flat, bodies.radius, value, cmap, norm))
        for line, style in wall_lines(bodies.walls, low, high):
            axes[0].plot(line[:, 0], line[:, 1], **style)
        axes[0].set(xlabel="x (m)", ylabel="y (m)")
    else:
        image = cast_spheres(
            bodies.position, bodies.radius, colormaps[cmap](norm(value))[:, :3], low, high, int(SIDE * 250)
        )
        axes[0].imshow(image, extent=(low[0], high[0], low[1], high[1]), interpolation="antialiased")
        for panel in axes:
            panel.set_axis_off()
    if forces:
        axes[-1].add_collection(_force_lines(simulation, flat, ink, SIDE * 72.0 / max(high - low)))
    figure.colorbar(
        ScalarMappable(norm, cmap),
        ax=axes[0] if panels == 1 else list(axes),
        label=label,
        shrink=0.7,
        pad=0.02,
        orientation="horizontal" if flat_figure else "vertical",
    )
    if panels == 1:
        axes[0].set_title(_caption(simulation, forces), fontsize=11)
    else:
        figure.suptitle(_caption(simulation, forces), fontsize=11)
    if path is not None:
        figure.savefig(path, dpi=180)
    return figure


def _value(simulation: Simulation, colour: str) -> Array:
    """What the colour of each grain stands for."""
    bodies = simulation.bodies
    if colour == "load":
        load = loads(bodies, simulation.contacts)
        return load / (load.mean() or 1.0)
    if colour == "rotation":
        turn = bodies.orientation
        return np.mod(turn if bodies.dimension == 2 else 2.0 * np.arccos(np.clip(turn[:, 0], -1.0, 1.0)), 2.0 * np.pi)
    if colour == "speed":
        return np.linalg.norm(bodies.velocity, axis=1)
    return bodies.radius


def _top(value: Array, colour: str) -> float:
    """Upper end of the colour scale: a few extreme grains do not wash out the rest."""
    if colour == "rotation":
        return 2.0 * np.pi
    return float(np.quantile(value, 0.99)) or float(value.max()) or 1.0


def _caption(simulation: Simulation, forces: bool) -> str:
    carrying = int((simulation.contacts.forces[:, 0] > 0.0).sum())
    text = f"{simulation.bodies.count:,} grains at t = {simulation.time:.3g} s"
    return f"{text}, {carrying:,} contact forces (line width)" if forces else text


def _frame(simulation: Simulation, flat: Array) -> tuple[Array, Array]:
    """Corners of the view: all grains, and in 2D the plates and circles around them."""
    bodies = simulation.bodies
    corners = [flat - bodies.radius[:, None], flat + bodies.radius[:, None]]
    for wall in bodies.walls if bodies.dimension == 2 else ():
        shape = wall.shape
        if isinstance(shape, Cylinder):
            corners.append(shape.point[:2] + shape.radius * np.array([[-1.0, -1.0], [1.0, 1.0]]))
        elif isinstance(shape, Plate):
            corners.append(shape.point[:2] + np.outer([-shape.half[0], shape.half[0]], shape.along[:2]))
    every = np.concatenate(corners)
    low, high = every.min(axis=0), every.max(axis=0)
    margin = 0.03 * max(high - low)
    return low - margin, high + margin


def _disks(axes: Axes, flat: Array, radius: Array, value: Array, cmap: str, norm: Normalize) -> EllipseCollection:
    """Circles in data units."""
    disks = EllipseCollection(
        2.0 * radius, 2.0 * radius, np.zeros(len(radius)), units="xy", offsets=flat, offset_transform=axes.transData
    )
    disks.set(array=value, cmap=cmap, norm=norm, edgecolor="#00000066", linewidth=0.3)
    return disks


def _force_lines(simulation: Simulation, flat: Array, ink: str, scale: float) -> LineCollection:
    """Lines from centre to centre, or from centre to wall; the strongest as wide as a radius (scale: points per m)."""
    bodies, contacts = simulation.bodies, simulation.contacts
    carrying = contacts.forces[:, 0] > 0.0
    pairs, force = contacts.pairs[carrying], np.linalg.norm(contacts.force[carrying], axis=1)
    first = flat[pairs[:, 0]]
    reach = bodies.radius[pairs[:, 0], None] * contacts.normal[carrying]
    touch = first + (reach[:, :2] if bodies.dimension == 2 else reach @ VIEW[:2].T)
    among_grains = pairs[:, 1] < bodies.count
    second = np.where(among_grains[:, None], flat[np.where(among_grains, pairs[:, 1], 0)], touch)
    strong = float(np.quantile(force, 0.995)) if len(force) else 1.0
    width = min(bodies.radius.mean() * scale, 12.0) * np.minimum(force / (strong or 1.0), 1.3)
    return LineCollection(
        list(np.stack([first, second], axis=1)), linewidths=width, colors=ink, alpha=0.8, capstyle="round"
    )
