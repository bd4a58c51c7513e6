"""Writing a figure: whole or not at all, the same bytes for the same picture."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
# Fonts that journals accept, and names that do not change from one time to the next.
STYLE: dict[Any, Any] = {"pdf.fonttype": 42, "svg.hashsalt": "rigidgrains"}


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write PNG, SVG or PDF, by the ending of the name; an earlier file stays until the new one is whole."""
    path = Path(path)
    check_kind(path)
    kind = path.suffix.lower()[1:]
    metadata: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    part = path.with_name(path.name + ".part")
    try:
        with rc_context(STYLE):
            figure.savefig(part, format=kind, dpi=figure.dpi, metadata=metadata)
        os.replace(part, path)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def check_kind(path: Path) -> None:
    """Refuse an ending that no picture can have here."""
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"{path}: a picture ends in {', '.join(KINDS)}; call it so")
