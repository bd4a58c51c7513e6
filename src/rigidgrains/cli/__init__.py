"""The command line. Everything heavy is imported inside the commands: help loads no compiler."""

from __future__ import annotations

import gc
import os
import sys

from cyclopts import CycloptsError

from . import about, check, compare, edit, export, files, page, pictures, run, solve, study
from .words import BAD_INPUT, app, fail, notices, refuse, use_threads

__all__ = [
    "about",
    "app",
    "check",
    "compare",
    "edit",
    "export",
    "files",
    "main",
    "page",
    "pictures",
    "run",
    "solve",
    "study",
]

GARBAGE = 10_000  # objects between two searches for garbage: imports make 300,000, and none of them is


def main() -> None:
    """Entry point: wrong words on the command line and bad input end with exit code 2."""
    gc.set_threshold(GARBAGE)
    if {"RIGIDGRAINS_THREADS", "NUMBA_NUM_THREADS"} & set(os.environ):
        use_threads(None)  # bad ones are told before anything else
    try:
        with notices():
            app(sys.argv[1:], exit_on_error=False, print_error=True)
    except CycloptsError:
        sys.exit(BAD_INPUT)
    except BrokenPipeError:  # the reader went away, as with `| head`
        sys.stderr.close()
        sys.exit(1)
    except MemoryError as problem:  # before anything was run: runs tell by themselves
        needed = f": {problem}" if str(problem) else ""
        refuse(f"this takes more memory than there is{needed}; take fewer grains, or look whether the file is damaged")
    except OSError as problem:
        fail(f"{problem.filename or 'output'}: {problem.strerror or problem}")
