"""What is run when the site is built: quick scenes of the gallery, examples and notebooks.

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

from .paths import ROOT
from .play import mark

PLAYER = Path(__file__).with_name("play.py")


def asked() -> list[str] | None:
    """Names in SITE_SCENES; None if all that is quick is to be run."""
    return os.environ["SITE_SCENES"].split() if os.environ.get("SITE_SCENES") else None


def run(names: Iterable[str], made: Path, slow: Iterable[str] = ()) -> set[str]:
    """Run those that are asked for and have changed; all of them can be shown then."""
    some = asked()
    chosen = [name for name in names if (name in some if some is not None else name not in slow)]
    todo = [name for name in chosen if _made(made / name) != mark(name)]
    for name in todo:
        shutil.rmtree(made / name, ignore_errors=True)
    if todo:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run([sys.executable, PLAYER, made, *todo], capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(f"a scene or an example of the gallery: {done.stderr}")
    return set(chosen)


def _made(folder: Path) -> str:
    path = folder / "mark"
    return path.read_text(encoding="utf-8") if path.exists() else ""
