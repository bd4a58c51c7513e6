"""The chain as a picture: figures chain and oscill-start of the paper, from states of the simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from numpy.typing import NDArray

from .base import INKS, new_figure

Array = NDArray[np.float64]

WORDS = {
    0: "before the load: at rest, one diameter from the wall",
    30: "under the load F, on its way through the gap",
    48: "the blow: the wall has stopped the first disks, the others go on (blue: contact force)",
    400: "pressed against the wall, ringing",
}


@dataclass(frozen=True)
class State:
    """The chain after a step: x of the disks (d), and the force of each contact (d m/dt^2), that of the wall first."""

    step: int
    x: Array
    force: Array


def draw_chain(states: list[State], load: float) -> Figure:
    """Figure chain: the whole chain at several times, and four disks at the blow with the forces on them."""
    figure, axes = new_figure(len(states) + 1, 1, width=12.0, height=1.05 * len(states) + 2.4)
    axes[0].get_subplotspec().get_gridspec().set_height_ratios([1.0] * len(states) + [2.2])
    strips, close = axes[:-1], axes[-1]
    for panel, state in zip(strips, states):
        _row(panel, state, load if state.step else 0.0)
        panel.set_title(f"t = {state.step} dt: {WORDS[state.step]}", loc="left", fontsize=11)
    _close_up(close, states[-2], range(12, 16))
    return figure


def draw_start(time: Array, x: Array, state: State, landed: int, opened: int, start: float) -> Figure:
    """Figure oscill-start: the chain at t = 0, and its transient with the phases marked."""
    figure, (strip, panel) = new_figure(2, 1, width=11.0, height=6.8)
    grid: Any = strip.get_subplotspec().get_gridspec()
    grid.set_height_ratios([1.0, 5.0])
    _row(strip, state, 0.05)
    strip.set_title("t = 0: gap d, disks in contact and at rest; F acts from now on", loc="left", fontsize=11)
    end = 400
    panel.plot(np.concatenate([[0.0], time[:end]]), np.concatenate([[state.x[-1]], x[:end]]), ".-", color=INKS[0], ms=5,
               lw=0.6, label="measured, rightmost disk")  # fmt: skip
    flight = np.arange(0.0, landed + 1.0)
    n = len(state.x)
    panel.plot(flight, state.x[-1] - 0.05 / n * flight * (flight + 1.0) / 2.0, color=INKS[1], lw=2, alpha=0.7,
               label="rigid chain in free flight, $F\\,t\\,(t+dt)/2nm$")  # fmt: skip
    panel.axhline(n - 0.5, color=INKS[5], lw=1, ls=":", label="rigid chain at the wall")
    phases = ((0.0, landed, INKS[2], "flight through the gap"), (landed, opened, INKS[4], "bouncing: contacts open"),
              (opened, end, INKS[0], "ringing: all contacts closed"))  # fmt: skip
    for begin, finish, ink, name in phases:
        panel.axvspan(begin, finish, color=ink, alpha=0.10, lw=0)
        panel.text(0.5 * (begin + finish), 0.03, name.replace(": ", ":\n").replace("flight ", "flight\n"), ha="center",
                   va="bottom", color=ink, transform=panel.get_xaxis_transform())  # fmt: skip
    panel.axvline(start, color=INKS[1], lw=1, ls="--", label=f"fits begin, {start:g} dt")
    panel.set(xlabel="time (dt)", ylabel="position of the rightmost disk (d)", xlim=(0, end))
    low, high = float(x[:end].min()), float(state.x[-1])  # room for the names of the phases below
    panel.set_ylim(low - 0.25 * (high - low), high + 0.1)
    panel.legend(loc="upper right")
    return figure


def _row(panel: Any, state: State, load: float) -> None:
    """Disks, wall, gap and load, all to scale; disks are darker the more they are pressed."""
    n = len(state.x)
    pressed = np.maximum(state.force, np.append(state.force[1:], load))
    disks = PatchCollection([Circle((x, 0.0), 0.5) for x in state.x], cmap="Blues", ec="#1b1b1b", lw=0.7)
    disks.set_array(pressed)
    disks.set_clim(0.0, 0.4)
    panel.add_collection(disks)
    panel.add_patch(Rectangle((-1.2, -1.3), 1.2, 2.6, fc="#d9d9d9", ec="#1b1b1b", hatch="///", lw=0.8))
    gap = state.x[0] - 0.5
    if gap > 0.05:
        panel.annotate("", (0.0, -0.95), (gap, -0.95), arrowprops={"arrowstyle": "<->", "color": INKS[5]})
        panel.text(0.5 * gap + 0.1, -2.1, f"gap {gap:.2f} d", ha="left", color=INKS[5])
    if load:
        panel.annotate("F", (state.x[-1] + 0.5, 0.0), (n + 5.2, 0.0), va="center", ha="center", color=INKS[1],
                       fontsize=12, arrowprops={"arrowstyle": "-|>", "color": INKS[1], "lw": 2})  # fmt: skip
    elif state.step == 0:
        panel.text(n + 3.0, 0.0, "no load yet", va="center", ha="left", color=INKS[5])
    panel.set(xlim=(-1.5, n + 6.5), ylim=(-2.2, 1.4), aspect="equal", yticks=[])
    panel.grid(visible=False)
    panel.spines[["left", "bottom"]].set_visible(False)
    panel.set_xticks([])


def _close_up(panel: Any, state: State, disks: range) -> None:
    """Single disks with the contact forces on each of them, as in the paper's sketch."""
    first = state.x[disks[0]]
    unit = 0.4 / state.force.max()
    for i in disks:
        x = state.x[i] - first
        panel.add_patch(Circle((x, 0.0), 0.5, fc="#dbe7f3", ec="#1b1b1b", lw=1.0))
        panel.text(x, -0.02, f"{i + 1}", ha="center", va="center", fontsize=11)
        for force, side in ((state.force[i], -1.0), (state.force[i + 1], 1.0)):
            tip = x + 0.47 * side
            style = {"arrowstyle": "-|>", "color": INKS[1], "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
            panel.annotate("", (tip - side * unit * force, 0.2), (tip, 0.2), arrowprops=style)
    for i in range(disks[0], disks[-1] + 2):
        panel.text(state.x[i] - first - 0.5, 0.56, f"$R_{{{i}}}$ = {state.force[i]:.4f}", ha="center", color=INKS[1])
    panel.set_title(f"t = {state.step} dt, close: contact forces on disks {disks[0] + 1} to {disks[-1] + 1} (d m/dt²); "
                    "no other force acts on them", loc="left", fontsize=11)  # fmt: skip
    panel.set(xlim=(-1.1, len(disks) + 0.1), ylim=(-0.55, 0.8), aspect="equal", xticks=[], yticks=[])
    panel.grid(visible=False)
    panel.spines[["left", "bottom"]].set_visible(False)
