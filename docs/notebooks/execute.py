"""Run the notebooks of this folder anew and keep their outputs.

    python docs/notebooks/execute.py                       # all
    python docs/notebooks/execute.py first-packing.ipynb   # one
    python docs/notebooks/execute.py --check               # run all, keep nothing

Needs `pip install 'rigidgrains[docs]'`. Files that a notebook writes go to a temporary folder. A cell that fails stops
everything, and the notebook on the disk stays as it was.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT = 300  # seconds for a cell, also on a busy machine that has to compile first
KEPT = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def execute(path: Path) -> Any:
    """The notebook with fresh outputs, free of what differs from machine to machine."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": folder}},
            record_timing=False,
        )  # fmt: skip
        client.execute()
        tidy(notebook, [folder, str(HERE), str(Path.home()), sys.prefix])
    return notebook


def tidy(notebook: Any, paths: list[str]) -> None:
    """Drop warnings and marks of the machine; refuse outputs that name its folders."""
    notebook.metadata = dict(KEPT)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if output.output_type in ("display_data", "execute_result"):
                output.metadata = {}
                output.data["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", output.data.get("text/plain", ""))
            told = [name for name in paths if len(name) > 1 and name in str(output)]
            if told:
                raise ValueError(f"an output names the folder {told[0]}; show the name of the file alone")


def save(notebook: Any, path: Path) -> None:
    """Whole or not at all."""
    import nbformat

    part = path.with_name(path.name + ".part")
    try:
        nbformat.write(notebook, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the notebooks of this folder anew and keep their outputs.")
    parser.add_argument("names", nargs="*", help="notebooks; default: all")
    parser.add_argument("--check", action="store_true", help="run them and keep nothing")
    asked = parser.parse_args()
    for path in [HERE / Path(name).name for name in asked.names] or sorted(HERE.glob("*.ipynb")):
        started = time.perf_counter()
        notebook = execute(path)
        if not asked.check:
            save(notebook, path)
        print(f"{path.name}: {time.perf_counter() - started:.0f} s, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
