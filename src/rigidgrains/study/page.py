"""One HTML page of a study: its table, its plots, and links to the page of each run; it needs nothing but itself."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..files.outputs import whole
from .folder import RUNS, jobs_of
from .means import means_of, number
from .plot import draw_study
from .result import TRAJECTORY, state_of
from .table import rows_of

if TYPE_CHECKING:
    from .study import Study

PAGE, RUN_PAGE = "study.html", "run.html"
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
 body {{ font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
 h1 {{ font-size: 1.6rem; }} h2 {{ margin-top: 2.5rem; }} img {{ max-width: 100%; }}
 table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }}
 th, td {{ text-align: right; padding: .2rem .7rem; border-bottom: 1px solid #ddd; white-space: nowrap; }}
 td.t, th.t {{ text-align: left; white-space: normal; }} .failed {{ color: #b3382c; }}
 .scroll {{ overflow-x: auto; }} .note {{ color: #666; }}
</style></head><body>
"""
Tell = Callable[[int, int], None]


def write_study_page(study: Study, path: Path, *, pages: bool = True, tell: Tell | None = None) -> None:
    """Write the page; with `pages` also one beside each trajectory that has none newer than itself."""
    folder = study.status().folder
    if pages:
        make_run_pages(study, folder, tell)
    rows = rows_of(study, folder)
    title = study.title or folder.name
    parts = [HEAD.format(title=escape(title)), f"<h1>{escape(title)}</h1>", f"<p>{escape(str(study.status()))}</p>"]
    if study.measure:
        head, cells = means_of(study, rows)
        body = [[escape(cell) for cell in row] for row in cells]
        parts += [_picture(study), "<h2>Means over replicas</h2>", _table(head, body)]
    parts += ["<h2>Runs</h2>", _runs(study, rows, folder, path), "</body></html>\n"]
    with whole(path) as part:
        part.write_text("\n".join(parts), encoding="utf-8")


def make_run_pages(study: Study, folder: Path, tell: Tell | None = None) -> None:
    """The page of each run that has ended."""
    from ..trajectory.reader import Trajectory
    from ..view.page import write_page

    jobs = [job for _, job in jobs_of(study, folder) if state_of(job) in ("done", "unmeasured")]
    for k, job in enumerate(jobs):
        if tell is not None:
            tell(k, len(jobs))
        source, target = job.place / TRAJECTORY, job.place / RUN_PAGE
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            with Trajectory(source) as trajectory:
                write_page(trajectory, target, force=True)


def _picture(study: Study) -> str:
    try:
        figure = draw_study(study)
    except ValueError:  # nothing varies
        return ""
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return f'<img alt="measures" src="data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}">'


def _runs(study: Study, rows: list[dict[str, Any]], folder: Path, page: Path) -> str:
    """A row for each run, with a link to its page or, without one, to its folder."""
    head = ["run", *study.names, "replica", *study.measure, "state", "error"]
    body = []
    for row in rows:
        place = folder / RUNS / row["folder"]
        target = place / RUN_PAGE if (place / RUN_PAGE).exists() else place
        link = quote(os.path.relpath(target.resolve(), page.resolve().parent))
        cells = [f'<a href="{link}">{row["run"]}</a>'] + [escape(number(row[name])) for name in study.names]
        cells += [str(row["replica"])] + [escape(number(row[name])) for name in study.measure]
        cells += [f'<span class="{row["state"]}">{row["state"]}</span>', escape(row["error"])]
        body.append(cells)
    return _table(head, body)


def _table(head: list[str], body: list[list[str]]) -> str:
    """Cells of the body are HTML already."""
    kinds = ["t" if name == "error" else "" for name in head]
    top = "".join(f'<th class="{kind}">{escape(name)}</th>' for name, kind in zip(head, kinds))
    rows = "\n".join(
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for cell, kind in zip(row, kinds)) + "</tr>" for row in body
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'
