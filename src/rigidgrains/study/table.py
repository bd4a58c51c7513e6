"""The table of a study: one row for each run, in files, for pandas, and as an xarray dataset over the varied words.

It is made of the results in the folders of the runs alone. When and where they ran is in a table of its own.
"""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.outputs import whole
from ..runtime.version import __version__
from .alone import alone
from .folder import jobs_of
from .result import read_result, state_of, times_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from .study import Study

CSV, PARQUET, TIMES = "table.csv", "table.parquet", "times.csv"
NEEDS = "needs {name}; pip install 'rigidgrains[study]'"
Row = dict[str, Any]


def rows_of(study: Study, folder: Path) -> list[Row]:
    """The rows, in the order of the runs."""
    rows = []
    for run, job in jobs_of(study, folder):
        result = read_result(job)
        rows.append(
            {
                "run": run.number,
                **({} if run.row is None else {"point": run.row}),
                **{name: plain(run.point[name]) for name in study.names},
                "replica": run.replica,
                "seed": run.seed,
                "state": state_of(job),
                **{name: math.nan if result is None else result.value(name) for name in study.measure},
                "steps": 0 if result is None else result.steps,
                "time": math.nan if result is None or result.error else result.time,
                "error": "" if result is None else result.told(job),
                "folder": job.label,
            }
        )
    return rows


def write_tables(study: Study, folder: Path) -> list[Row]:
    """Bring the files up to date: the table in CSV and, if pyarrow is there, in Parquet; times and hosts apart."""
    with alone(folder, wait=math.inf):  # of several parts of a study the last one sees the results of all
        rows = rows_of(study, folder)
        write_csv(rows, folder / CSV)
        write_csv(timing_rows(study, folder), folder / TIMES)
        try:
            write_parquet(rows, folder / PARQUET)
        except ImportError:
            (folder / PARQUET).unlink(missing_ok=True)  # none is better than an old one
    return rows


def write_csv(rows: list[Row], path: Path) -> None:
    """Numbers with all their digits, NaN and None as nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        writer.writerow(["" if value is None or value != value else _written(value) for value in row.values()])
    with whole(path) as part:
        part.write_text(text.getvalue(), encoding="utf-8")


def write_parquet(rows: list[Row], path: Path) -> None:
    """For pandas, Polars, DuckDB and the like."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{path.name} " + NEEDS.format(name="pyarrow")) from None
    columns = {name: _column([row[name] for row in rows]) for name in rows[0]}
    with whole(path) as part:
        pyarrow.parquet.write_table(pyarrow.table(columns), part)


def timing_rows(study: Study, folder: Path) -> list[Row]:
    """Every time that a worker had a run: when, where, for how long."""
    return [
        {"run": run.number, "folder": job.label, **{name: entry.get(name) for name in
         ("host", "began", "seconds", "version", "state")}}
        for run, job in jobs_of(study, folder)
        for entry in times_of(job.place)
    ]  # fmt: skip


def frame_of(study: Study, folder: Path) -> pandas.DataFrame:
    """The rows for pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("Study.rows() " + NEEDS.format(name="pandas")) from None
    rows = rows_of(study, folder)
    return pandas.DataFrame({name: _column([row[name] for row in rows]) for name in rows[0]})


def dataset_of(study: Study, folder: Path) -> xarray.Dataset:
    """Measures over the varied words and the replicas, with mean and standard error over replicas."""
    try:
        import xarray
    except ImportError:
        raise ImportError("Study.table() " + NEEDS.format(name="xarray")) from None
    rows = rows_of(study, folder)
    lengths = {**({"point": len(study.points)} if study.points else {}), **{k: len(v) for k, v in study.vary.items()}}
    dims, shape = [*lengths], [*lengths.values(), study.replicas]
    coords: dict[str, Any] = {
        name: (name, _column([plain(one) for one in values])) for name, values in study.vary.items()
    }
    for name in study.points[0] if study.points else ():
        coords[name] = ("point", _column([plain(row[name]) for row in study.points]))
    coords["replica"] = ("replica", np.arange(study.replicas))
    data: dict[str, Any] = {}
    for name, one in study.measure.items():
        values = np.array([row[name] for row in rows], dtype=float).reshape(shape)
        mean, error = mean_and_error(values)
        about = {"of": json.dumps(one.words())}
        data[name] = ([*dims, "replica"], values, about)
        data[f"{name}_mean"] = (dims, mean, {"long_name": f"mean of {name} over replicas"})
        data[f"{name}_error"] = (dims, error, {"long_name": f"standard error of {name}_mean"})
    done = np.array([row["state"] == "done" for row in rows]).reshape(shape)
    data["runs"] = (dims, done.sum(axis=-1), {"long_name": "replicas that are done and measured"})
    data["seed"] = ([*dims, "replica"], np.array([row["seed"] or 0 for row in rows], dtype=np.int64).reshape(shape))
    return xarray.Dataset(data, coords, {"title": study.title or "", "version": __version__})


def mean_and_error(values: Any) -> tuple[Any, Any]:
    """Mean and standard error s/sqrt(n) along the last axis, NaN left out; no error of a single value."""
    there = np.isfinite(values)
    n = there.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=-1) / n
        square = np.where(there, values - mean[..., None], 0.0) ** 2
        error = np.sqrt(square.sum(axis=-1) / (n - 1) / n)
    return np.where(n > 0, mean, np.nan), np.where(n > 1, error, np.nan)


def plain(value: Any) -> Any:
    """A value as it can stand in a table: lists and tables as texts."""
    return json.dumps(value) if isinstance(value, (list, tuple, dict)) else value


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _column(values: list[Any]) -> Any:
    """An array of one kind: numbers where all are, texts otherwise."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=float)
    if all(isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array(["" if value is None else str(value) for value in values], dtype=object)
