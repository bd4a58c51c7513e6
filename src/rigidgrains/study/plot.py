"""Plots of a study: measures against one varied word, hue by another, small multiples, standard errors as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scene.errors import suggestion

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from .study import Study

SIZE = (4.0, 3.2)  # inches of a panel
MOST = 8  # panels of a row or column, and hues


def draw_study(
    study: Study,
    what: Sequence[str] = (),
    *,
    against: str | None = None,
    hue: str | None = None,
    panels: str | None = None,
) -> Figure:
    """A panel for each measure, or a row of them; means over replicas, and over varied words that are not shown.

    what    : measures; all of them if none is named
    against : the varied word on the axis; the first with several values that are numbers if absent
    hue     : the varied word that colours tell; the second by default
    panels  : the varied word that has a panel for each value; the third by default
    """
    from ..view.picture import Picture

    data = study.table()
    keys = _keys(data)
    wanted = [_known(name, study.measure, "measure") for name in what] or list(study.measure)
    if not wanted or not keys:
        raise ValueError("there is nothing to plot: the study needs a [measure] and something that varies")
    chosen = [None if key is None else _known(key, keys, "varied word") for key in (against, hue, panels)]
    across, coloured, split = _fill(data, keys, chosen)
    columns = _values(data, split)
    shape = (len(wanted), len(columns)) if split is not None else (1, len(wanted))  # without panels side by side
    figure = Picture(figsize=(SIZE[0] * shape[1] + 0.4, SIZE[1] * shape[0]), layout="constrained", dpi=200)
    axes = figure.subplots(*shape, squeeze=False, sharex=True, sharey="row" if split is not None else False)
    for row, name in zip(axes if split is not None else axes.T, wanted):
        for axis, value in zip(row, columns):
            _panel(axis, data, name, across, (coloured, split), value)
            axis.set(ylabel=name if axis is row[0] else "", title="" if split is None else f"{split} = {_told(value)}")
    for axis in axes[-1]:
        axis.set_xlabel(across)
    if coloured is not None:
        axes[0][0].legend(title=coloured, frameon=False, fontsize="small")
    if study.title:
        figure.suptitle(study.title, fontsize="medium")
    return figure


def _keys(data: xarray.Dataset) -> list[str]:
    """Varied words, those of a table of points as one axis each."""
    return [str(name) for name in data.coords if name != "replica"]


def _fill(data: xarray.Dataset, keys: list[str], chosen: list[str | None]) -> list[str | None]:
    """Choose what was left open: numbers for the axis, then those with the fewest values."""
    taken = [data[key].dims for key in chosen if key is not None]
    left = [key for key in keys if key not in chosen and data[key].dims not in taken and data[key].size > 1]
    across = chosen[0] or next((key for key in left if data[key].dtype.kind in "if"), (left or keys)[0])
    left = [key for key in left if data[key].dims != data[across].dims]
    hue = chosen[1] or (left.pop(0) if left and data[left[0]].size <= MOST else None)
    left = [key for key in left if key != hue]
    split = chosen[2] or (left.pop(0) if left and data[left[0]].size <= MOST else None)
    return [across, hue, split]


def _panel(axis: Any, data: xarray.Dataset, name: str, across: str | None, keys: Any, value: Any) -> None:
    """One panel: a line for each hue."""
    from .table import mean_and_error

    coloured, split = keys
    part = data[name] if split is None else _where(data[name], split, value)
    position, numbers = _positions(data, across)
    for k, hue in enumerate(_values(data, coloured)):
        some = part if coloured is None else _where(part, coloured, hue)
        rest = [dim for dim in some.dims if dim != data[across].dims[0]]
        values = some.transpose(data[across].dims[0], *rest).values.reshape(len(position), -1)
        mean, error = mean_and_error(values)
        order = np.argsort(position, kind="stable")
        bars = np.where(np.isfinite(error), error, 0.0)
        axis.errorbar(
            position[order], mean[order], bars[order], fmt="o-" if numbers else "o", ms=4, lw=1, capsize=2,
            color=f"C{k % 10}", label=None if coloured is None else _told(hue),
        )  # fmt: skip
    if not numbers:
        axis.set_xticks(position, [_told(one) for one in data[across].values])
    elif (position > 0).all() and len(position) > 2 and position.max() / position.min() >= 30:
        axis.set_xscale("log")


def _positions(data: xarray.Dataset, across: str | None) -> tuple[Any, bool]:
    """Where the values lie on the axis, and whether they are numbers."""
    values = data[across].values
    if values.dtype.kind in "if" and all(map(math.isfinite, values)):
        return values.astype(float), True
    return np.arange(len(values), dtype=float), False


def _values(data: xarray.Dataset, key: str | None) -> list[Any]:
    """Values of a varied word, each once; a single None without one."""
    return [None] if key is None else list(dict.fromkeys(data[key].values.tolist()))


def _where(array: xarray.DataArray, key: str, value: Any) -> xarray.DataArray:
    """The part with this value of a varied word; values elsewhere are left out of means."""
    return array.where(array[key] == value) if key not in array.dims else array.sel({key: [value]})


def _known(name: str, known: Any, kind: str) -> str:
    if name not in known:
        hint = suggestion(name, known) or f"; there are {', '.join(known)}"
        raise ValueError(f"the study has no {kind} '{name}'{hint}")
    return name


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
