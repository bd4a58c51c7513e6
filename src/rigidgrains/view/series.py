"""A plot of energy, overlap and sweeps against time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..observe.history import History

BLUE, RED, GREY = "#1f5a92", "#b3382c", "#8a8a8a"


def draw_history(history: History, path: str | Path | None = None) -> Figure:
    """Three panels over time: kinetic energy, mean and largest overlap, sweeps per step."""
    figure = Figure(figsize=(8.0, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    time = history["time"]
    top.plot(time, _positive(history["kinetic_energy"]), color=BLUE)
    top.set(ylabel="kinetic energy (J)", yscale="log")
    middle.plot(time, _positive(history["max_overlap"]), color=RED, label="largest")
    middle.plot(time, _positive(history["mean_overlap"]), color=BLUE, label="mean")
    middle.set(ylabel="overlap / mean radius", yscale="log")
    middle.legend(frameon=False, loc="best")
    sweeps, missed = history["sweeps"], history["converged"] == 0.0
    bottom.plot(time, sweeps, color=BLUE, lw=0.8)
    if missed.any():
        bottom.plot(time[missed], sweeps[missed], ".", ms=3, color=RED, label="criterion not met")
        bottom.legend(frameon=False, loc="best")
    bottom.set(ylabel="sweeps per step", xlabel="time (s)", ylim=(0.0, None))
    for axes in (top, middle, bottom):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=GREY, alpha=0.25, lw=0.5)
        axes.margins(x=0.01)
    figure.align_ylabels()
    if path is not None:
        figure.savefig(path, dpi=180)
    return figure


def _positive(value: np.ndarray) -> np.ndarray:
    """Zeros have no place on a logarithmic axis: leave them out."""
    return np.where(value > 0.0, value, np.nan)
