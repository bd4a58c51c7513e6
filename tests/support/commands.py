"""The command line as a process."""

from __future__ import annotations

import os
import subprocess
import sys


def rigidgrains(folder, *words, code=2):
    """What the command says on its error stream; by default it refuses, and always without a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "rigidgrains", *map(str, words)],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "400"},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr
