"""Figures of the laboratory: residual and momentum error against updates and seconds; performance profiles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from ..view.layout import INK, PALE_INK
from ..view.picture import Picture
from ..view.save import save_figure
from .case import Trial
from .compare import COSTS, Comparison, costs
from .profiles import profiles

# Okabe and Ito's colours, told apart by everybody; each solver has its own, and its own mark, in every figure.
LOOKS = {
    "random": ("#222222", "o"),
    "symmetric": ("#56b4e9", "s"),
    "coloured": ("#009e73", "^"),
    "accelerated": ("#d55e00", "v"),
    "second-order": ("#0072b2", "*"),
}
OTHERS = (("#8a8a8a", "X"), ("#7a5c00", "<"), ("#5b3a8c", ">"), ("#006d77", "h"))
LEAST = 1e-17  # below, values are rounding and lie on the axis
FEW_DECADES = 300.0  # ratios up to which numbers between powers of ten are written
BEYOND = 1.6  # times the largest ratio: where profiles end


def draw_comparison(comparison: Comparison, path: str | Path | None = None) -> Picture:
    """Four panels: residual and momentum error, against contact updates and against seconds."""
    figure, panels = _sheet(2, 2, 9.0, 6.4)
    looks = _looks([trial.solver for trial in comparison.trials])
    for row, measure in enumerate(("residual", "momentum_error")):
        for column, cost in enumerate(COSTS):
            axes = panels[row, column]
            for trial in comparison.trials:
                _curve(axes, trial, cost, measure, looks[trial.solver])
            axes.set(xscale="log", yscale="log")
            axes.yaxis.set_minor_locator(NullLocator())
            if measure == "residual":
                axes.axhline(comparison.tolerance, color=PALE_INK, lw=0.9, ls=(0, (4, 3)), zorder=1)
    for axes, cost in zip(panels[1], COSTS):
        axes.set_xlabel(_words(comparison, cost))
    for axes, word in zip(panels[:, 0], ("residual", "momentum error")):
        axes.set_ylabel(word)
    _share_limits(panels)
    panels[0, 0].text(
        0.02, comparison.tolerance, "tolerance", transform=panels[0, 0].get_yaxis_transform(), fontsize=8,
        color=PALE_INK, va="bottom",
    )  # fmt: skip
    title = f"{comparison.name}: {comparison.contacts:,} contacts" + (comparison.about and f", {comparison.about}")
    missed = [trial.solver for trial in comparison.trials if not trial.converged]
    _finish(figure, title, looks, missed=missed, points=[t.solver for t in comparison.trials if len(t.curve) == 1])
    if path is not None:
        save_figure(figure, path)
    return figure


def draw_profiles(comparisons: Sequence[Comparison], path: str | Path | None = None) -> Picture:
    """Two panels: the share of problems solved within so many times the least updates, and the least seconds."""
    figure, panels = _sheet(1, 2, 9.0, 4.0)
    looks = _looks([trial.solver for trial in comparisons[0].trials])
    for axes, cost in zip(panels[0], COSTS):
        ratios = profiles(costs(comparisons, cost))
        end = BEYOND * max((float(row[np.isfinite(row)].max(initial=1.0)) for row in ratios.values()), default=1.0)
        end = max(end, 2.0)
        for name, row in ratios.items():
            solved = row[np.isfinite(row)]
            share = np.arange(len(solved) + 1) / len(row)
            ink, mark = looks[name]
            tau = np.concatenate([[1.0], solved, [end]])
            axes.step(tau, np.concatenate([share, share[-1:]]), where="post", color=ink, lw=1.7)
            if len(solved):  # where the climb ends: there lines that run on together are still apart
                axes.plot(solved[-1], share[-1], mark, color=ink, ms=9 if mark == "*" else 6, clip_on=False, zorder=3)
        axes.set(
            xscale="log",
            xlim=(1.0, end),
            ylim=(-0.02, 1.03),
            xlabel=f"{_words(comparisons[0], cost)} / least of any solver",
        )
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if end < FEW_DECADES else (1.0,)))
        axes.xaxis.set_major_formatter(lambda tau, _: f"{tau:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda share, _: f"{100.0 * share:.0f} %")
    panels[0, 0].set_ylabel("problems solved")
    first = comparisons[0]
    _finish(figure, f"{len(comparisons)} problems, residual {first.tolerance:g}", looks)
    if path is not None:
        save_figure(figure, path)
    return figure


def _words(comparison: Comparison, cost: str) -> str:
    return comparison.clock if cost == "seconds" else "contact updates"


def _curve(axes: Axes, trial: Trial, cost: str, measure: str, look: tuple[str, str]) -> None:
    x = np.array([getattr(sample, cost) for sample in trial.curve], dtype=float)
    y = np.array([getattr(sample, measure) for sample in trial.curve], dtype=float)
    y = np.where(np.isfinite(y), np.maximum(y, LEAST), np.nan)
    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (x > 0.0))
    if not len(seen):
        return
    ink, mark = look
    axes.plot(x[seen], y[seen], color=ink, lw=1.5, zorder=2)
    face = ink if trial.converged else "white"
    axes.plot(x[seen[-1]], y[seen[-1]], mark, color=ink, mfc=face, mew=1.4, ms=8 if mark == "*" else 6, zorder=3)


def _share_limits(panels: Any) -> None:
    """The same height along a row, the same width along a column."""
    for row in panels:
        low, high = (f(axes.get_ylim()[k] for axes in row) for k, f in ((0, min), (1, max)))
        for axes in row:
            axes.set_ylim(low, high)
    for column in panels.T:
        low, high = (f(axes.get_xlim()[k] for axes in column) for k, f in ((0, min), (1, max)))
        for axes in column:
            axes.set_xlim(low, high)
    for axes in panels[0]:
        axes.tick_params(labelbottom=False)
    for axes in panels[:, 1]:
        axes.tick_params(labelleft=False)


def _looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    others = [name for name in names if name not in LOOKS]
    return {name: LOOKS.get(name) or OTHERS[others.index(name) % len(OTHERS)] for name in names}


def _sheet(rows: int, columns: int, width: float, height: float) -> tuple[Picture, Any]:
    engine = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    figure = Picture(figsize=(width, height), dpi=200, layout=engine, facecolor="white")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _finish(
    figure: Figure,
    title: str,
    looks: dict[str, tuple[str, str]],
    *,
    missed: Sequence[str] = (),
    points: Sequence[str] = (),
) -> None:
    """House look, a title, and one legend below for all panels; `missed` are hollow, `points` have no line."""
    for axes in figure.axes:
        axes.tick_params(which="both", labelsize=8.5, width=0.6)
        axes.xaxis.label.set_fontsize(9.5)
        axes.yaxis.label.set_fontsize(9.5)
        axes.grid(color="#8a8a8a", alpha=0.22, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        for spine in axes.spines.values():
            spine.set_linewidth(0.6)
    figure.suptitle(title, fontsize=10.5, color=INK)
    marks = [
        Line2D(
            [], [], color=ink, marker=mark, lw=0 if name in points else 1.7, ms=6,
            mfc="white" if name in missed else ink, mew=1.4,
            label=name.replace("_", " ") + (" (not converged)" if name in missed else ""),
        )
        for name, (ink, mark) in looks.items()
    ]  # fmt: skip
    figure.legend(handles=marks, loc="outside lower center", ncols=min(len(marks), 6), frameon=False, fontsize=8.5)
