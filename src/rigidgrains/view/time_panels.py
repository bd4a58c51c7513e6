"""Panels against time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ..observe.history import History
from ..runtime.arguments import check_series
from ..simulation.rigidity import MISSES, RIGID
from .colours import amount

if TYPE_CHECKING:
    from ..trajectory.reader import Trajectory

Array = NDArray[Any]

# Okabe and Ito's colours, told apart by everybody.
BLUE, ORANGE, GREEN, RED, SKY, PINK, BLACK = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#222222",
)  # fmt: skip
INKS = (BLUE, RED, GREEN, ORANGE, PINK, SKY, BLACK)
ROUNDING = 1e-15  # a residual below is zero
FEW = 50  # rows, of which none is left beyond the axis
LITTLE = 1e-9  # of the pressure: a shear stress below is zero
UNLIKE = 0.02  # of the pressure: normal stresses that are no more apart are not shown
NOTHING = 1e-6  # of a load: less is not shown
FORCE = ".force"  # ends the column of a spring
MOST_WALLS = 6  # curves; the walls that carry least are left out


@dataclass(frozen=True)
class Record:
    """Columns of a history by name, and the forces on walls (rows, walls, 3) in N with the walls' names.

    by_momentum : the run is judged by its momentum error, not by the diffusion length of plain sweeps
    """

    columns: Mapping[str, Array]
    wall_force: Array
    wall_names: list[str]
    by_momentum: bool = False

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    @property
    def springs(self) -> list[str]:
        """Names of the springs; walls that move have a power besides their force."""
        names = [name.removesuffix(FORCE) for name in self.columns if name.endswith(FORCE)]
        return [name for name in names if f"{name}.power" not in self.columns]

    @classmethod
    def of(cls, source: History | Trajectory) -> Record:
        """From a history, or from a trajectory with or without one."""
        check_series(source, has="wall_names", other=" or a History")
        if isinstance(source, History):
            if not len(source):
                raise ValueError(
                    "the history has no rows, so there is nothing to draw; simulation.observe(history) before a run"
                )
            rows = np.array(source.rows, dtype=float).reshape(-1, len(source.names))
            force = np.array(source.wall_force, dtype=float).reshape(len(rows), -1, 3)
            return cls(dict(zip(source.names, rows.T)), force, source.wall_names, source.by_momentum)
        columns = dict(source.history)
        force, names = columns.pop("wall_force") if "wall_force" in columns else source.wall_force, source.wall_names
        meter = source.report.get("rigidity", {})
        return cls(columns, force.reshape(len(force), -1, 3), names, meter.get("momentum_error") is not None)


def energies(axes: Axes, record: Record) -> None:
    potential = record["potential_energy"]
    potential = potential - potential.min(initial=np.inf) if len(potential) else potential
    _line(axes, record, _positive(record["kinetic_energy"]), BLUE, "kinetic")
    if potential.any():
        _line(axes, record, _positive(potential), ORANGE, "potential, above its lowest")
    if "spring_energy" in record.columns:
        _line(axes, record, _positive(record["spring_energy"]), GREEN, "springs")
    axes.set(ylabel="energy (J)")
    _logarithmic(axes)


def overlap(axes: Axes, record: Record) -> None:
    _line(axes, record, _positive(record["max_overlap"]), RED, "largest")
    _line(axes, record, _positive(record["mean_overlap"]), BLUE, "mean")
    axes.set(ylabel="overlap / mean radius")
    _logarithmic(axes)


def sweeps(axes: Axes, record: Record) -> None:
    number, missed = record["sweeps"], record["converged"] == 0.0
    _line(axes, record, number, BLUE, "")
    if (missed & (number > 0)).any():
        shown = missed & (number > 0)
        axes.plot(record["time"][shown], number[shown], ".", ms=3, color=RED, label="criterion not met")
        axes.legend(loc="best")
    axes.set(ylabel="sweeps per step", ylim=(0.0, None))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def residual(axes: Axes, record: Record) -> None:
    _line(axes, record, _positive(record["residual"], ROUNDING), BLUE, "contact laws")
    _line(axes, record, _positive(record["momentum_error"], ROUNDING), GREEN, "momentum")
    axes.set(ylabel="residual (relative)")
    _logarithmic(axes)


def walls(axes: Axes, record: Record) -> None:
    force = np.linalg.norm(record.wall_force, axis=2)
    order = np.argsort(-force.max(axis=0), kind="stable")[:MOST_WALLS]
    peak = float(force.max(initial=0.0))
    top = 1.25 * float(np.quantile(force.max(axis=1), 0.98)) if len(force) > FEW else 1.05 * peak
    for ink, w in zip(INKS, sorted(order)):
        _line(axes, record, force[:, w], ink, record.wall_names[w])
    axes.set(ylabel="force on wall (N)", ylim=(0.0, top if top > 0.0 else None))
    title = f"peak {amount(peak, 'N')}" if peak > top else None  # a blow does not flatten everything else
    axes.legend(loc="best", ncols=2 if len(order) > 3 else 1, title=title, title_fontsize=8)


def springs(axes: Axes, record: Record) -> None:
    names = record.springs
    for ink, name in zip(INKS, names):
        _line(axes, record, record[f"{name}{FORCE}"], ink, name)
    axes.set(ylabel="force of spring (N)")
    axes.legend(loc="best", ncols=2 if len(names) > 3 else 1)


def packing(axes: Axes, record: Record) -> None:
    _line(axes, record, record["packing_fraction"], BLUE, "")
    axes.set(ylabel="packing fraction of the cell")


def stress(axes: Axes, record: Record) -> None:
    """Pressure and shear stress; the normal stresses too where they differ."""
    _line(axes, record, record["pressure"], BLUE, "pressure")
    normal = {k: record[name] for k in ("xx", "yy", "zz") if (name := f"stress_{k}") in record.columns}
    apart = np.ptp(np.array([*normal.values()]), axis=0) if normal else np.zeros(1)
    if apart.max(initial=0.0) > UNLIKE * np.abs(record["pressure"]).max(initial=0.0):
        for ink, (name, value) in zip((GREEN, ORANGE, PINK), normal.items()):
            _line(axes, record, value, ink, name)
    if np.abs(record["shear_stress"]).max(initial=0.0) > LITTLE * np.abs(record["pressure"]).max(initial=0.0):
        _line(axes, record, record["shear_stress"], RED, "shear xy")
    axes.set(ylabel="stress in the cell (Pa, N/m in 2D)")
    axes.legend(loc="best", ncols=2 if len(axes.lines) > 3 else 1)


def rigidity(axes: Axes, record: Record) -> None:
    if record.by_momentum:
        _line(axes, record, _positive(record["momentum_error"]), BLUE, "")
        axes.axhline(MISSES[0], color=GREEN, lw=0.9, ls="--", label="rigid below")
        axes.axhline(MISSES[1], color=RED, lw=0.9, ls="--", label="soft above")
        axes.set(ylabel="share of the load missing")
        _logarithmic(axes)
        axes.set_ylim(bottom=max(axes.get_ylim()[0], NOTHING))
        return
    extent = np.where(record["cluster"] >= 2.0, record["cluster_extent"], np.nan)
    _line(axes, record, _positive(record["diffusion_length"] / extent), BLUE, "")
    if np.isfinite(extent).any():
        axes.axhline(RIGID, color=GREEN, lw=0.9, ls="--", label="rigid above")
        axes.axhline(1.0, color=RED, lw=0.9, ls="--", label="soft below")
    axes.set(ylabel=r"$\ell_\mathrm{diff}$ / extent of cluster")
    _logarithmic(axes, "no two grains press on each other")


def stages(axes: Axes, record: Record) -> None:
    """A line where one stage ends and the next begins."""
    number, time = record.columns.get("stage", np.zeros(0)), record["time"]
    for row in np.flatnonzero(np.diff(number) > 0.0):
        axes.axvline(time[row], color=BLACK, lw=0.8, ls=":", zorder=0.5, gid="stage")


def _line(axes: Axes, record: Record, value: Array, ink: str, label: str) -> None:
    few = np.isfinite(value).sum() < 3
    time, name = record["time"], label.replace("$", r"\$") or None  # a name is no formula
    axes.plot(time, value, color=ink, lw=1.1, marker="o" if few else None, ms=3, label=name)
    axes.set_xlabel("time (s)")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    if len(time) > 1 and time[-1] > time[0]:
        axes.set_xlim(0.0 if 0.0 < time[0] < 0.05 * time[-1] else time[0], time[-1])


def _logarithmic(axes: Axes, otherwise: str = "zero throughout") -> None:
    """A logarithmic axis with a legend; a word where there is nothing to see on it."""
    if any(np.isfinite(line.get_ydata()).any() for line in axes.lines):
        axes.set_yscale("log")
        axes.legend(loc="best")
        return
    axes.set_yticks([])
    axes.text(0.5, 0.5, otherwise, transform=axes.transAxes, ha="center", va="center", fontsize=9, color=BLACK)


def _positive(value: Array, least: float = 0.0) -> Array:
    """Zeros, and what is only rounding, have no place on a logarithmic axis: leave them out."""
    return np.where(value > least, value, np.nan)
