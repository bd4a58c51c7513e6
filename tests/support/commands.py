"""The command line: as a process, and within this one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

from rigidgrains.cli import app
from rigidgrains.cli.words import err, out


def rigidgrains(folder, *words, code=2):
    """What the command says on its error stream; by default it refuses, and always without a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "rigidgrains", *map(str, words)],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "400"},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def command(*line):
    """Exit code and what is said on stderr by a command, run here."""
    told = io.StringIO()
    out.file, err.file = io.StringIO(), told
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(told):
            app([str(word) for word in line], exit_on_error=False)
        return 0, told.getvalue()
    except SystemExit as end:
        return end.code or 0, told.getvalue()
    finally:
        out.file = err.file = None
