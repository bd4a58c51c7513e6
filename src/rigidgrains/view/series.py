"""Plots of a run: what was recorded against time, and distributions over grains and contacts of one frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ..observe.history import History
from ..runtime.arguments import check_series
from . import state_panels, time_panels
from .picture import Picture
from .save import save_figure
from .time_panels import Record

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from ..trajectory.reader import Trajectory

OverTime = Callable[[Axes, Record], None]
OfFrame = Callable[[Axes, "Frame"], None]

OVER_TIME: dict[str, OverTime] = {
    "energies": time_panels.energies,
    "overlap": time_panels.overlap,
    "sweeps": time_panels.sweeps,
    "residual": time_panels.residual,
    "walls": time_panels.walls,
    "springs": time_panels.springs,
    "rigidity": time_panels.rigidity,
    "packing": time_panels.packing,
    "stress": time_panels.stress,
}
OF_FRAME: dict[str, OfFrame] = {
    "forces": state_panels.forces,
    "rose": state_panels.rose,
    "sizes": state_panels.sizes,
}
PANELS = (*OVER_TIME, *OF_FRAME)
NEEDS_CONTACTS = ("forces", "rose")
OF_CELL = ("packing", "stress")
WIDTH, HEIGHT = 3.9, 2.75  # inches of one panel among several


def draw_history(history: History | Trajectory, path: str | Path | None = None) -> Picture:
    """What was recorded against time: energies, overlap, sweeps, residual, forces on walls, springs, rigidity, cell."""
    record = Record.of(history)
    absent = _not_recorded(record)
    figure = _figure([name for name in OVER_TIME if name not in absent], record, None, columns=2)
    if path is not None:
        save_figure(figure, path)
    return figure


def draw_plots(
    trajectory: Trajectory, path: str | Path | None = None, *, what: Sequence[str] = (), frame: int = -1
) -> Picture:
    """Panels of a trajectory on one sheet; write it to `path` (PNG, SVG or PDF) when given.

    what  : names of PANELS; default: all that the file has something for
    frame : the frame of which forces, directions and sizes are shown
    """
    check_series(trajectory)
    for name in what:
        check_panel(name)
    state = trajectory[frame]
    record = Record.of(trajectory)
    absent = _absent(record, state)
    for name in what:
        if name in absent:
            raise ValueError(f"{trajectory.path}: there is nothing to plot as {name!r}: {absent[name]}")
    figure = _figure(list(what) or [name for name in PANELS if name not in absent], record, state, columns=3)
    if path is not None:
        save_figure(figure, path)
    return figure


def check_panel(name: str) -> None:
    """Refuse a name that is none, with the nearest."""
    if name not in PANELS:
        near = get_close_matches(name, PANELS, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"plot {name!r} is unknown; {hint}choose among {', '.join(PANELS)}")


def _not_recorded(record: Record) -> dict[str, str]:
    """Panels against time that would be empty, and why."""
    absent = {} if record.wall_force.size else {"walls": "the scene has no walls"}
    if not record.springs:
        absent["springs"] = "the scene has no springs"
    if "packing_fraction" not in record.columns:
        absent |= dict.fromkeys(OF_CELL, "the history has nothing of a periodic cell")
    return absent


def _absent(record: Record, state: Frame) -> dict[str, str]:
    """Panels that would be empty, and why."""
    absent = _not_recorded(record)
    if not state.has_contacts:
        absent |= dict.fromkeys(NEEDS_CONTACTS, "it was written without contacts; run again with contacts")
    elif not state_panels.carrying(state).any():
        absent |= dict.fromkeys(NEEDS_CONTACTS, f"no contact of frame {state.index} carries a force")
    elif not state_panels.between_grains(state).any():
        absent["rose"] = f"no two grains press on each other in frame {state.index}"
    return absent


def _figure(names: list[str], record: Record, state: Frame | None, *, columns: int) -> Picture:
    columns = min(columns, len(names))
    rows = math.ceil(len(names) / columns)
    single = len(names) == 1
    inches = (6.0, 4.2) if single else (columns * WIDTH, rows * HEIGHT)
    figure = Picture(figsize=inches, dpi=200, facecolor="white")
    FigureCanvasAgg(figure)
    for k, name in enumerate(names):
        polar = {"projection": "polar"} if name == "rose" else {}
        axes = figure.add_subplot(rows, columns, k + 1, **polar)
        if name in OVER_TIME:
            OVER_TIME[name](axes, record)
            time_panels.stages(axes, record)
        else:
            assert state is not None
            OF_FRAME[name](axes, state)
        _tidy(axes)
    ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08).execute(figure)  # once; as a part of the figure, at each draw
    return figure


def _tidy(axes: Axes) -> None:
    axes.tick_params(which="both", labelsize=8.5, width=0.6)
    axes.xaxis.label.set_fontsize(9.5)
    axes.yaxis.label.set_fontsize(9.5)
    axes.title.set_fontsize(9.5)
    axes.grid(color="#8a8a8a", alpha=0.22, lw=0.5)
    axes.set_axisbelow(True)
    if axes.name != "polar":
        axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_linewidth(0.6)
    legend = axes.get_legend()
    if legend is not None:
        legend.set_frame_on(False)
        for text in legend.get_texts():
            text.set_fontsize(8)
