"""The command line: within this process, and as one of its own, which takes two seconds to start."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from rigidgrains.cli import app, main
from rigidgrains.cli.words import err, out

WIDE = {"COLUMNS": "400"}  # no line is broken


def called(folder: Path, *words: object, check: int = 0) -> subprocess.CompletedProcess[str]:
    """What a command says, run here; `check` is its exit code."""
    told, complained, code = io.StringIO(), io.StringIO(), 0
    with (
        chdir(folder),
        mock.patch.dict(os.environ, WIDE),
        mock.patch.object(sys, "argv", ["rigidgrains", *map(str, words)]),
        redirect_stdout(told),
        redirect_stderr(complained),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    assert code == check, told.getvalue() + complained.getvalue()
    return subprocess.CompletedProcess(words, code, told.getvalue(), complained.getvalue())


def process(folder: Path, *words: object, check: int = 0) -> subprocess.CompletedProcess[str]:
    """The same as a user meets it: a process, its streams and its exit code."""
    line = [sys.executable, "-m", "rigidgrains", *map(str, words)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, env=os.environ | WIDE)
    assert done.returncode == check, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def rigidgrains(folder: Path, *words: object, code: int = 2) -> str:
    """What the command says on its error stream; by default it refuses."""
    return called(folder, *words, check=code).stderr


def command(*line):
    """Exit code and what is said on stderr by a command, run here; errors of ours are raised."""
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
