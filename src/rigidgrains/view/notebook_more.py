"""What notebooks show of a scene, a frame, a packing, a history and a record of measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .notebook import _card, _grains, _range, _table, _whatever, quantity, shown_picture

if TYPE_CHECKING:
    from ..observe.history import History
    from ..trajectory.frame import Frame

Array = NDArray[np.float64]
Columns = dict[str, Array]

FEW = 9  # numbers of an array that is told whole
MOST = 12  # columns of a record that are drawn
PICTURED = 20_000  # grains, of a frame that is drawn unasked
INTERESTING = ("kinetic_energy", "contacts", "max_overlap", "sweeps")  # of a history
WIDE, HIGH = 260.0, 44.0  # pixels of a line


def scene_html(scene: Any) -> str:
    """What a scene holds, table by table; nothing is built."""
    return _card(f"Scene in {scene.dimension}D", [_table(_whatever(_scene_rows, scene))])


def frame_html(frame: Frame) -> str:
    """A picture of a frame beside its figures."""
    title = f"Frame {frame.index} of {_grains(len(frame), frame.dimension if frame.catalogue is None else None)}"
    return shown_picture(frame, _card(title, [_table(_whatever(_frame_rows, frame))]), draw=len(frame) <= PICTURED)


def packing_html(packing: Any) -> str:
    """The same of a packing, with what became of its forces."""
    frame = packing.frame
    rows = [("packing", repr(packing)), *_whatever(_frame_rows, frame)]
    rows += [("groups", ", ".join(f"{name} ({len(some):,})" for name, some in packing.groups.items()))]
    rows += [("note", line) for line in packing.notes]
    return shown_picture(frame, _card("Packing", [_table(rows)]), draw=len(frame) <= PICTURED)


def history_html(history: History) -> str:
    """How many rows, and lines of some columns against time."""
    columns = {name: history[name] for name in history.names} if len(history) else {}
    return record_html("History", columns, [name for name in INTERESTING if name in columns])


def record_html(kind: str, columns: Columns, names: Iterable[str] | None = None) -> str:
    """Columns of numbers as lines against time, with their last values."""
    rows = len(columns["step"]) if "step" in columns else 0
    time = columns.get("time", np.zeros(0))
    told = [("rows", f"{rows:,}" + (f", t = {time[0]:g} to {time[-1]:g} s" if rows else ""))]
    wanted = [name for name in columns if name not in ("step", "time")] if names is None else list(names)
    numbers = [name for name in wanted if columns[name].ndim == 1][:MOST]
    told += [(name, f"{float(columns[name][-1]):.4g}") for name in numbers if rows]
    rest = [name for name in columns if name not in (*numbers, "step", "time")]
    told += [("columns", ", ".join(rest))] if rest else []
    return _card(kind, [_table(told, {name: line(time, columns[name]) for name in numbers})])


def result_html(result: Any) -> str:
    """The fields of a measurement and what it makes of them; profiles as lines against their edges."""
    told = dict(_fields(result))
    edges = np.asarray(told.get("edges", ()))
    drawn = {name: line(edges[:-1], value) for name, value in told.items() if name != "centres" and _over(value, edges)}
    return _card(type(result).__name__, [_table([(name, _value(value)) for name, value in told.items()], drawn)])


def _fields(result: Any) -> Iterable[tuple[str, Any]]:
    """Fields and properties by name; those of a result within it as `strong.share`."""
    names = [field.name for field in fields(result)]
    names += [name for name in dir(type(result)) if isinstance(getattr(type(result), name), property)]
    for name in names:
        value = getattr(result, name)
        if is_dataclass(value):
            yield from ((f"{name}.{own}", one) for own, one in _fields(value))
        elif not name.startswith("_"):
            yield name, value


def _over(value: Any, edges: Array) -> bool:
    """Whether these are numbers of the intervals between edges."""
    return isinstance(value, np.ndarray) and value.shape == (len(edges) - 1,)


def _value(value: Any) -> str:
    """A number, a small array, or the shape and range of a large one."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(one)}" for name, one in value.items())
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return str(value)
    if array.size <= FEW:
        return np.array2string(array, formatter={"float_kind": "{:.4g}".format})
    told = f"{' x '.join(f'{n:,}' for n in array.shape)} numbers"
    if array.dtype.kind == "b":
        return f"{told}, {array.mean():.1%} true"
    good = array[np.isfinite(array)]
    return f"{told}, {good.min():.4g} to {good.max():.4g}, mean {good.mean():.4g}" if good.size else told


def line(x: Array, y: Array) -> str:
    """A drawing of y against x as a line without axes; empty where there is none."""
    good = np.isfinite(x) & np.isfinite(y)
    x, y = x[good].astype(float), y[good].astype(float)
    if len(x) < 2 or not x[-1] > x[0]:
        return ""
    few = slice(None, None, max(1, len(x) // 400))
    x, y = x[few], y[few]
    low, high = min(float(y.min()), 0.0), max(float(y.max()), 0.0)
    across = 1.0 + (WIDE - 2.0) * (x - x[0]) / (x[-1] - x[0])
    up = HIGH - 2.0 - (HIGH - 4.0) * (y - low) / (high - low) if high > low else np.full(len(y), HIGH - 2.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up))
    return (
        f'<svg width="{WIDE:g}" height="{HIGH:g}" style="display:block;margin-top:4px">'
        f'<polyline points="{points}" fill="none" stroke="#1f6fb2" stroke-width="1.6" stroke-linejoin="round"/></svg>'
    )


def drawn_lines(title: str, time: Array, columns: Columns) -> str:
    """Lines with their names, last values and ranges, while a run goes on."""
    return _card(title, ["".join(_drawn(name, time, column) for name, column in columns.items())])


def _drawn(name: str, time: Array, column: Array) -> str:
    """One line; below it from when to when it goes, and between which values."""
    good = column[np.isfinite(column)]
    last, told = float(column[-1]) if len(column) else np.nan, ""
    if len(good) and len(time) > 1:
        told = f"t = {time[0]:.3g} to {time[-1]:.3g} s, {good.min():.3g} to {good.max():.3g}"
    return (
        f'<div style="display:inline-block;margin:0 24px 8px 0"><div style="font-size:12px">{escape(name)}: {last:.4g}'
        f'</div>{line(time, column)}<div style="font-size:10px;opacity:0.65">{told}</div></div>'
    )


def _scene_rows(scene: Any) -> Iterable[tuple[str, str]]:
    for k, group in enumerate(scene.grains):
        count = group.count if group.count is not None else None if group.positions is None else len(group.positions)
        what = f"from {group.file}" if group.file is not None else f"{count:,}" if count is not None else ""
        radius = "" if group.radius is None else f", radius {group.radius}"
        yield f"grains {group.name or k}", f"{what}{radius}"
        told = [f"{word} {_said(getattr(group, word))}" for word in ("material", "density") if group.given(word)]
        told += [f"scalars {', '.join(group.scalars)}"] if group.scalars else []
        if told:
            yield "", "; ".join(told)
    for stream in (*scene.inflow, *scene.outlet):
        yield f"{'inflow' if stream in scene.inflow else 'outlet'} {stream.name}", _present(stream)
    walls = [name for wall in scene.surfaces() if (name := getattr(wall, "name", None))]
    yield "walls", ", ".join(walls) or "none"
    yield from ((f"motion {motion.name}", f"of {motion.grains}") for motion in scene.motion)
    yield "friction", f"{scene.friction:g}"
    yield from ((f"material {one.name}", _given(one)) for one in scene.material)
    if scene.gravity is not None:
        yield "gravity", f"{scene.gravity} m/s²"
    if scene.cell is not None:
        yield "cell", f"{scene.cell.lower} to {scene.cell.upper} m"
    yield from ((f"stage {stage.name}", _given(stage)) for stage in scene.stage)
    yield "time step", str(scene.run.dt or "auto")


def _given(table: Any) -> str:
    """The words that a table of a scene was given, but for its name."""
    told = {word: getattr(table, word) for word in sorted(table.model_fields_set - {"name"})}
    return ", ".join(f"{word} {_said(value)}" for word, value in told.items() if value is not None)


def _said(value: Any) -> str:
    """A word of a scene; tables as their own words."""
    if hasattr(value, "model_fields_set"):
        return f"({_given(value)})"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{word} {_said(one)}" for word, one in value.items()) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _present(stream: Any) -> str:
    """When something is open."""
    ends = [f"{word} {value}" for word in ("since", "until") if (value := getattr(stream, word)) is not None]
    return ", ".join(ends) or "all the time"


def _frame_rows(frame: Frame) -> Iterable[tuple[str, str]]:
    yield "time", f"{frame.time:g} s, step {frame.step:,}"
    if len(frame):
        yield "radius", _range(float(frame.radius.min()), float(frame.radius.max()), "m")
        yield "mass", quantity(float(frame.mass.sum()), "kg")
    yield "walls", ", ".join(wall.name for wall in frame.walls) or "none"
    if frame.has_contacts:
        forces = int((frame.contacts.force != 0.0).any(axis=1).sum())
        yield "contacts", f"{forces:,} carry a force, of {len(frame.contacts):,} candidates"
    yield "kinetic energy", quantity(frame.figures["kinetic_energy"], "J")
