"""What notebooks show: figures of a run as a small table, and views that a saved notebook keeps.

Tables are made from what is known already: nothing is solved, nothing is written, and no state makes them fail. Every
text is escaped in one place, `_table` and `_card`. A view holds all it needs and asks no server and no network.
"""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..simulation.report import elasticity

if TYPE_CHECKING:
    from ..simulation.report import Report
    from ..simulation.simulation import Simulation
    from ..trajectory.frame import Frame
    from ..trajectory.reader import Trajectory
    from .camera import View
    from .layout import Size

Rows = list[tuple[str, str]]

FRAMES = 120  # of an embedded view at most, unless asked for
MEGABYTES = 4.0  # of an embedded view at most, unless asked for
PER_GRAIN = 7.2  # bytes of a grain in a frame of a page, for a first guess
INK = {"rigid": "#1b7a4b", "transition": "#a86200", "soft": "#b3261e", "loose": "#5b6878", "flowing": "#1f5a92"}
FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-variant-numeric:tabular-nums"
CELL = "text-align:left;vertical-align:top;padding:3px 18px 3px 0;border:0;background:transparent;font-size:13px"
SANDBOX = "allow-scripts allow-downloads"  # its own origin: the page cannot reach the notebook


def report_html(report: Report) -> str:
    """The figures of a run, its verdict and its warnings."""
    title = f"Report of {_grains(report.grains)}"
    return _card(title, [_table(_whatever(_report_rows, report)), *map(_warning, report.warnings)], _verdict(report))


def simulation_html(simulation: Simulation) -> str:
    """The present state of a simulation."""
    title = f"Simulation of {_counted(simulation)}"
    rows = _whatever(_setting_rows, simulation)
    report, state = None, "before the first step"
    if simulation.midway:
        state = "within a step that was broken off"
    elif simulation.steps:
        state = "cannot be measured"
        with suppress(Exception):
            report = simulation.report()
    if report is None:
        return _card(title, [_table([*rows, ("state", state)])])
    rows += _whatever(_report_rows, report)
    return _card(title, [_table(rows), *map(_warning, report.warnings)], _verdict(report))


def trajectory_html(trajectory: Trajectory) -> str:
    """What a file holds, also if it was closed or is empty."""
    title = f"Trajectory {trajectory.path.name}"
    rows = _whatever(_frame_rows, trajectory)
    if not _is_open(trajectory):
        return _card(title, [_table([*rows, ("file", "closed; trajectory.refresh() opens it again")])])
    rows = _whatever(_grain_rows, trajectory) + rows + _whatever(_file_rows, trajectory)
    return _card(title, [_table(rows, {"kinetic energy": _energy_line(trajectory)})], _kept_verdict(trajectory))


@dataclass(frozen=True)
class Shown:
    """Something to look at in a notebook: the value of a cell, or an argument of IPython's `display`.

    text : what it is, in a line
    """

    text: str
    html: str = field(repr=False)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def show_trajectory(
    trajectory: Trajectory, *, every: int | None = None, height: int = 520, megabytes: float = MEGABYTES
) -> Shown:
    """The page of a trajectory within the notebook; see Trajectory.show."""
    from ..trajectory.errors import TrajectoryError

    name, count = trajectory.path.name, len(trajectory)
    if not count:
        raise TrajectoryError(f"{trajectory.path}: there is no frame to show")
    if not _is_open(trajectory):
        raise TrajectoryError(f"{trajectory.path} is closed; trajectory.refresh() opens it again")
    page, every = _page(trajectory, every, megabytes)
    taken = len({*range(0, count, every), count - 1})
    which = "all" if taken == count else f"every {_ordinal(every)} of"
    caption = f"{name}: {which} {count:,} frames, {len(page) / 1e6:.1f} MB"
    frame = (
        f'<iframe title="{escape(name)}" sandbox="{SANDBOX}" loading="lazy" srcdoc="{escape(page)}" '
        f'style="width:100%;height:{int(height)}px;border:1px solid #8884;border-radius:10px;display:block"></iframe>'
    )
    return Shown(f"View of {caption}", f'<div style="{FONT}">{frame}{_caption(caption)}</div>')


def show_simulation(
    simulation: Simulation, *, colour: str = "load", forces: bool | None = None, size: Size = 900,
    view: View = "default",
) -> Shown:  # fmt: skip
    """A picture of a simulation as it is now beside its figures; see Simulation.show."""
    from .packing import draw_packing

    figure = draw_packing(simulation, colour=colour, forces=forces, size=size, view=view)
    text = f"Picture of {_counted(simulation)} at t = {simulation.time:g} s"
    return Shown(text, _beside(figure, text, simulation_html(simulation)))


def shown_picture(frame: Frame, card: str, *, draw: bool) -> str:
    """A picture of a frame beside a card of figures; the card alone where it is not to be, or cannot be, drawn."""
    from .packing import draw_packing

    with suppress(Exception):
        if draw:
            return _beside(draw_packing(frame, size=900), f"Picture of frame {frame.index}", card)
    return card


def _beside(figure: Any, text: str, card: str) -> str:
    image, _ = figure._repr_png_()
    data = base64.b64encode(image).decode("ascii")
    width = int(figure.get_size_inches()[0] * 60)  # about half its pixels: sharp on fine screens
    picture = f'<img alt="{escape(text)}" src="data:image/png;base64,{data}" style="width:{width}px;max-width:100%">'
    box = "display:flex;flex-wrap:wrap;gap:8px 28px;align-items:center"
    beside = "flex:1 1 340px"  # the table wraps its lines before it goes below the picture
    return f'<div style="{box}">{picture}<div style="{beside}">{card}</div></div>'


# What the tables say


def _setting_rows(simulation: Simulation) -> Iterable[tuple[str, str]]:
    bodies, solver = simulation.bodies, simulation.solver
    if bodies.count:
        yield "radius", _range(float(bodies.radius.min()), float(bodies.radius.max()), "m")
    yield "walls", ", ".join(wall.name for wall in bodies.walls) or "none"
    asked = [f"accuracy {solver.accuracy}"] if hasattr(solver, "accuracy") else []
    asked += [_name(solver.criterion)] if not asked or "criterion" in getattr(solver, "own", ()) else []
    yield "solver", ", ".join([type(solver).__name__, f"order {type(solver.order).__name__}", *asked])
    yield "seed", str(simulation.seed)
    if not simulation.steps:
        yield "time step", quantity(simulation.dt, "s")


def _report_rows(report: Report) -> Iterable[tuple[str, str]]:
    yield "time", f"{report.time:g} s in {report.steps:,} steps of {quantity(report.dt, 's')}"
    yield "contacts", f"{report.contacts:,} carry a force, of {report.candidates:,} candidates"
    yield "sweeps", f"{report.sweeps_mean:.1f} a step on average, {report.sweeps_max:,} at most"
    yield from report.outcome()
    yield (
        "overlap",
        f"{_number(report.mean_overlap)} mean, {_number(report.max_overlap)} largest "
        f"({_number(report.max_overlap_of_run)} of the run), over the mean radius",
    )
    yield "rigidity", _rigidity(report.rigidity)
    if told := "; ".join(text for _, text in elasticity(report.rigidity)):
        yield "elasticity", told
    yield "kinetic energy", quantity(report.kinetic_energy, "J")
    yield "displacement", f"{_number(report.max_displacement_over_radius)} radii in one step at most"
    for wall, force in report.wall_force.items():
        yield f"force on {wall}", f"({', '.join(_number(component, 4) for component in force)}) N"
    for name, flow in report.inflows.items():
        yield f"into {name}", f"{flow['grains']:,.0f} grains, {quantity(flow['mass'], 'kg')}"
    for name, flow in report.outlets.items():
        yield f"out of {name}", f"{flow['grains']:,.0f} grains, {quantity(flow['mass'], 'kg')}"
    yield "cost", report.cost()
    if report.stopped:
        yield "stopped", report.stopped


def _rigidity(meter: dict[str, Any]) -> str:
    if meter["cluster"] < 2:
        return "no cluster carries a force"
    cluster = f"largest cluster {meter['cluster']:,} grains over {quantity(meter['extent'], 'm')}"
    if meter["momentum_error"] is not None:
        return f"{meter['momentum_error']:.1%} of the load missing in the last step; {cluster}"
    reach = "diffusion length" if meter["plain"] else "as many plain sweeps would reach"
    return f"{reach} {quantity(meter['diffusion_length'], 'm')}; {cluster}"


def _grain_rows(trajectory: Trajectory) -> Iterable[tuple[str, str]]:
    last = trajectory[-1]
    radius = last.radius
    grains = _grains(len(radius), None if last.catalogue is not None else trajectory.dimension)
    sizes = f", radius {_range(float(radius.min()), float(radius.max()), 'm')}" if len(radius) else ""
    yield "grains", f"{grains}{sizes}"


def _frame_rows(trajectory: Trajectory) -> Iterable[tuple[str, str]]:
    yield "frames", f"{len(trajectory):,}"
    times, steps = trajectory.times, trajectory.steps
    yield "time", f"{times[0]:g} to {times[-1]:g} s, steps {steps[0]:,} to {steps[-1]:,}"
    yield "contacts", f"{int(trajectory.figures('contacts')[-1]):,} carry a force at the end"
    energy = trajectory.figures("kinetic_energy")
    highest, last = float(energy.max()), float(energy[-1])
    yield "kinetic energy", f"{quantity(highest, 'J')} at most, {quantity(last, 'J')} at the end"


def _file_rows(trajectory: Trajectory) -> Iterable[tuple[str, str]]:
    kept = "with" if trajectory.has_contacts else "without"
    yield "file", f"{_number(os.path.getsize(trajectory.path) / 1e6)} MB, {kept} contacts"
    yield "written by", f"rigidgrains {trajectory.version}, seed {trajectory.seed}"
    if stopped := trajectory.report.get("stopped"):
        yield "stopped", str(stopped)


def _verdict(report: Report) -> str:
    return str(report.rigidity.get("verdict", ""))


def _kept_verdict(trajectory: Trajectory) -> str:
    """The verdict in the report that a file keeps; empty if its run was killed."""
    with suppress(Exception):
        return str(trajectory.report["rigidity"]["verdict"])
    return ""


def _is_open(trajectory: Trajectory) -> bool:
    """h5py tells a closed file by several kinds of error."""
    try:
        return trajectory.dimension in (2, 3)
    except Exception:
        return False


def _whatever(rows: Callable[[Any], Iterable[tuple[str, str]]], state: Any) -> Rows:
    """The rows up to the first that cannot be told: a display must not fail."""
    told: Rows = []
    with suppress(Exception):
        for row in rows(state):
            told.append(row)
    return told


# The page


def _page(trajectory: Trajectory, every: int | None, megabytes: float) -> tuple[str, int]:
    """The page, and every how many frames were taken: as asked, or as many as there is room for."""
    from .page.html import page_parts

    def page_of(every: int) -> str:
        return "".join(page_parts(trajectory, every=every))

    if every is not None:
        if every < 1:
            raise ValueError(f"every = {every} is no interval; take every 1 frame or more")
        return page_of(every), every
    if not megabytes > 0.0:
        raise ValueError(f"megabytes = {megabytes} leaves no room for a view; give a positive number")
    count, room = len(trajectory), 1e6 * megabytes
    least = math.ceil(count / FRAMES)
    every = max(least, math.ceil(PER_GRAIN * len(trajectory[-1]) * count / room))
    page = page_of(every)
    if every > least and len(page) < 0.5 * room:  # the guess was too careful
        every = max(least, math.ceil(1.2 * every * len(page) / room))
        page = page_of(every)
    while len(page) > room and every < count - 1:
        every = min(count - 1, math.ceil(1.2 * every * len(page) / room))
        page = page_of(every)
    return page, every


# HTML, in which every text is escaped


def _card(title: str, parts: list[str], verdict: str = "") -> str:
    colour = INK.get(verdict, "#5b6878")
    pill = f"background:{colour};color:#fff;border-radius:9px;padding:1px 9px;font-size:12px;margin-left:10px"
    told = f'<span style="{pill}">{escape(verdict)}</span>' if verdict else ""
    head = f'<div style="font-size:14px;margin:0 0 6px"><b>{escape(title)}</b>{told}</div>'
    return f'<div style="{FONT};margin:4px 0 8px">{head}{"".join(parts)}</div>'


def _table(rows: Rows, pictures: dict[str, str] | None = None) -> str:
    """Names and texts, escaped; pictures: drawings made here, by the name of the row they follow."""
    lines = []
    for name, text in rows:
        drawn = (pictures or {}).get(name, "")
        lines.append(
            f'<tr style="background:transparent"><th style="{CELL};font-weight:400;opacity:.65;white-space:nowrap">'
            f'{escape(name)}</th><td style="{CELL}">{escape(text)}{drawn}</td></tr>'
        )
    return f'<table style="border-collapse:collapse;border:0;margin:0"><tbody>{"".join(lines)}</tbody></table>'


def _warning(text: str) -> str:
    bar = "border-left:3px solid #b3261e;padding:2px 10px;margin:6px 0 0;font-size:13px;max-width:62em"
    return f'<div style="{bar}"><b>warning</b> {escape(text)}</div>'


def _caption(text: str) -> str:
    return f'<div style="font-size:12px;opacity:.65;margin:4px 2px 0">{escape(text)}</div>'


def _energy_line(trajectory: Trajectory) -> str:
    """Kinetic energy against time as a line without axes, from zero to its largest value."""
    if len(trajectory) < 2:
        return ""
    few = slice(None, None, max(1, len(trajectory) // 400))
    x, y = trajectory.times[few], trajectory.figures("kinetic_energy")[few]
    if not (np.isfinite(y).all() and y.max() > 0.0 and x[-1] > x[0]):
        return ""
    across, up = 1.0 + 258.0 * (x - x[0]) / (x[-1] - x[0]), 32.0 - 30.0 * y / y.max()
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up))
    return (
        '<svg width="260" height="34" style="display:block;margin-top:4px">'
        f'<polyline points="{points}" fill="none" stroke="#1f6fb2" stroke-width="1.6" stroke-linejoin="round"/></svg>'
    )


# Words and numbers


def _counted(simulation: Simulation) -> str:
    bodies = simulation.bodies
    return _grains(bodies.count, bodies.dimension if bodies.catalogue is None else None)


def _grains(count: int, dimension: int | None = None) -> str:
    kind = {2: "disk", 3: "sphere"}.get(dimension or 0, "grain")
    return f"{count:,} {kind}" + ("s" if count != 1 else "")


def _name(thing: Any) -> str:
    """LocalCriterion(epsilon=0.001, delta=None) as it is; classes without a text of their own by their name."""
    text = repr(thing)
    return type(thing).__name__ if text.startswith("<") else text


def quantity(value: float, unit: str) -> str:
    """With a prefix, 0.5 mJ for instance."""
    factor, unit = _prefixed(value, unit)
    return f"{_number(factor * value)} {unit}"


def _range(low: float, high: float, unit: str) -> str:
    """In the unit of its upper end."""
    factor, unit = _prefixed(high, unit)
    low, high = factor * low, factor * high
    return f"{_number(high)} {unit}" if low == high else f"{_number(low)} to {_number(high)} {unit}"


def _prefixed(value: float, unit: str) -> tuple[float, str]:
    """Factor and unit in which a value has one to three digits before the point."""
    prefixes = {-3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}
    power = math.floor(math.log10(abs(value)) / 3.0 + 1e-9) if value and math.isfinite(value) else 0
    return (1000.0**-power, prefixes[power] + unit) if power in prefixes else (1.0, unit)


def _number(value: float, digits: int = 3) -> str:
    """Powers of ten as they are written by hand."""
    if value == 0.0 or not math.isfinite(value) or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.{digits}g}"
        return f"{value:,.0f}" if "e" in text else text
    factor, power = f"{value:.{digits - 1}e}".split("e")
    return f"{factor}\u00a0×\u00a010{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def _ordinal(number: int) -> str:
    last = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"
