"""What is run when the site is built: scenes of the gallery, examples and notebooks.

Results are kept in docs/_build until their source changes. SITE_SCENES="dice 07_drum notebooks" runs these alone,
SITE_SCENES=0 nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .paths import ROOT
from .play import mark

PLAYER = Path(__file__).with_name("play.py")
PIPES: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}


def asked() -> list[str] | None:
    """Names in SITE_SCENES; None if all are to be run."""
    return os.environ["SITE_SCENES"].split() if os.environ.get("SITE_SCENES") else None


def run(names: Iterable[str], made: Path) -> set[str]:
    """Run those that are asked for and have changed; all of them can be shown then."""
    some = asked()
    chosen = [name for name in names if some is None or name in some]
    todo = [name for name in chosen if _made(made / name) != mark(name)]
    for name in todo:
        shutil.rmtree(made / name, ignore_errors=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, str(PLAYER), str(made)]
    for name in todo[:1]:  # alone: it compiles what the others need as well
        _finish(subprocess.Popen([*line, name], env=environment, **PIPES))
    others = [todo[1 + k :: cores] for k in range(cores)]
    players = [subprocess.Popen([*line, *part], env=environment, **PIPES) for part in others if part]
    for player in players:
        _finish(player)
    return set(chosen)


def _finish(player: subprocess.Popen[str]) -> None:
    told = player.communicate()[1]
    if player.returncode:
        raise RuntimeError(f"a scene or an example of the gallery: {told}")


def _made(folder: Path) -> str:
    path = folder / "mark"
    return path.read_text(encoding="utf-8") if path.exists() else ""
