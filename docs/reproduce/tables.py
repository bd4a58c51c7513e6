"""Write the tables of rows on these pages from results.json, so that they cannot drift.

    python docs/reproduce/tables.py FOLDER [FOLDER ...]    # take the results of full runs over, then write all pages
    python docs/reproduce/tables.py                        # write all pages from the results that are here

Each FOLDER is one that `rigidgrains reproduce` has written; results of a target replace earlier ones. A page has its
table between `<!-- rows: TARGET -->` and `<!-- end -->`; where these are missing they are added at its end.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from rigidgrains.reproduce import TARGETS

HERE = Path(__file__).parent
RECORD = HERE / "results.json"
END = "<!-- end -->"


def begin(name: str) -> str:
    return f"<!-- rows: {name} -->"


def table(result: dict[str, Any]) -> str:
    """The rows of a target in Markdown."""
    lines = ["| quantity | paper or theory | measured | within |", "|---|---|---|---|"]
    for row in result["rows"]:
        unit = f" ({row['unit']})" if row["unit"] else ""
        sign = {"equal": "", "above": "> ", "below": "< "}[row["rule"]]
        source = f", {row['source']}" if row["source"] else ""
        verdict = "" if row["verdict"] == "pass" else " (**fails**)"
        within = f"{row['tolerance']:.2g}" if row["rule"] == "equal" else ""
        cells = (row["quantity"] + unit, f"{sign}{number(row['paper'])}{source}", measured(row) + verdict, within)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.5g}"


def measured(row: dict[str, Any]) -> str:
    """To the digits of its standard error, two of them where the first is a one."""
    value, error = row["measured"], row["error"]
    if value is None or not error:
        return number(value)
    first = math.floor(math.log10(error))
    digits = max(0, (1 if error < 2.0 * 10.0**first else 0) - first)
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def with_table(text: str, result: dict[str, Any]) -> str:
    """A page with its table as the results have it."""
    name = result["target"]
    if begin(name) not in text:
        text = f"{text.rstrip()}\n\n## Rows of the full run\n\n{begin(name)}\n{END}\n"
    pattern = re.compile(re.escape(begin(name)) + r".*?" + re.escape(END), re.S)
    return pattern.sub(lambda _: f"{begin(name)}\n{table(result)}\n{END}", text)


def merged(folders: list[Path]) -> dict[str, Any]:
    """All results, those of the folders in place of what is here; in the order of the paper."""
    known: dict[str, Any] = {}
    for file in [RECORD, *(folder / "results.json" for folder in folders)]:
        if file == RECORD and not file.exists():
            continue
        for result in json.loads(file.read_text(encoding="utf-8"))["targets"]:
            if result["quick"]:
                raise SystemExit(f"{file}: {result['target']} is of a quick run; make a full one")
            known[result["target"]] = {key: value for key, value in result.items() if key != "seconds"}
    return {"targets": [known[name] for name in TARGETS if name in known]}


def main(folders: list[Path]) -> None:
    """Merge, and write the record and the pages."""
    record = merged(folders)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for result in record["targets"]:
        page = HERE / f"{result['target']}.md"
        page.write_text(with_table(page.read_text(encoding="utf-8"), result), encoding="utf-8")


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]])
