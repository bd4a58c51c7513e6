"""One HTML page with all figures and rows; it needs nothing but itself."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The contact dynamics method, reproduced</title>
<style>
 body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
 h1 { font-size: 1.6rem; } h2 { margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1.5rem; }
 img { max-width: 100%; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
 th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top; }
 td.n, th.n { text-align: right; white-space: nowrap; }
 .pass { color: #2f7d5b; } .fail { color: #b3382c; font-weight: bold; }
 .source { color: #666; font-size: .85rem; }
</style></head><body>
"""
TITLE = HEAD.splitlines()[2]  # by which a page of our making is known


def page(record: dict[str, Any], folder: Path) -> str:
    """The page for a record as in results.json; figures are read from the folder."""
    targets = record["targets"]
    passed = sum(target["passed"] for target in targets)
    parts = [HEAD, "<h1>The contact dynamics method, reproduced</h1>"]
    parts.append(f"<p>{passed} of {len(targets)} targets pass. ")
    parts.append("Paper: T. Unger and J. Kertész, <em>The contact dynamics method for granular media</em>.</p>")
    links = (f'<li><a href="#{t["target"]}">{escape(t["title"])}</a> {_verdict(t["passed"])}</li>' for t in targets)
    parts.append(f"<ul>{''.join(links)}</ul>")
    for target in targets:
        parts.append(f'<h2 id="{target["target"]}">{escape(target["title"])}</h2>')
        for name in target.get("figures", [target["target"]]):
            figure = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
            parts.append(f'<img alt="{escape(target["title"])}" src="data:image/png;base64,{figure}">')
        size = "quick" if target["quick"] else "full"
        parts.append(f"<p class='source'>rigidgrains {escape(target['version'])}, {size} run</p>")
        parts.append(_table(target["rows"]))
        parts += [f"<p>{escape(note)}</p>" for note in target["notes"]]
    parts.append("</body></html>\n")
    return "\n".join(parts)


def _table(rows: list[dict[str, Any]]) -> str:
    names = "".join(f'<th class="n">{name}</th>' for name in ("paper", "measured", "tolerance"))
    head = f"<tr><th>quantity</th>{names}<th></th></tr>"
    body = "".join(
        f"<tr><td>{escape(row['quantity'])}<br><span class='source'>{escape(row['source'])}</span></td>"
        f"<td class='n'>{escape(expected(row))}</td><td class='n'>{escape(measured(row))}</td>"
        f"<td class='n'>{escape(tolerance(row))}</td><td>{_verdict(row['verdict'] == 'pass')}</td></tr>"
        for row in rows
    )
    return f"<table>{head}{body}</table>"


def expected(row: dict[str, Any]) -> str:
    """What the paper says."""
    sign = {"equal": "", "above": "> ", "below": "< "}[row["rule"]]
    return f"{sign}{number(row['paper'])}"


def measured(row: dict[str, Any]) -> str:
    """What was measured, with its standard error where there is one and its unit."""
    error = "" if row["error"] is None else f" ± {row['error']:.1g}"
    return f"{number(row['measured'])}{error} {row['unit']}".strip()


def tolerance(row: dict[str, Any]) -> str:
    return number(row["tolerance"]) if row["rule"] == "equal" else ""


def number(value: float | None) -> str:
    """Four digits; what is no number is said so."""
    return "not finite" if value is None else f"{value:.4g}"


def _verdict(passed: bool) -> str:
    return '<span class="pass">pass</span>' if passed else '<span class="fail">fail</span>'
