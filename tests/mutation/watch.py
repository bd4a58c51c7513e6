"""A plugin for pytest: notes which functions and kernels of the package each test runs, or runs chosen tests in order.

MUTATION_NOTES=file     write there, as JSON: test -> [seconds of CPU, {file: [first lines of functions]}]
MUTATION_CHOSEN=file    a JSON list of tests; all others are left out
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

_PACKAGE = os.environ.get("MUTATION_PACKAGE", "")
_notes: dict[str, tuple[float, dict[str, list[int]]]] = {}
_seen: set[tuple[str, int]] = set()


def _note(frame: FrameType, event: str, argument: Any) -> None:
    code = frame.f_code
    if code.co_filename.startswith(_PACKAGE):
        _seen.add((code.co_filename, code.co_firstlineno))


def _note_kernels() -> None:
    """Kernels leave no trace in Python: they are noted where Python calls them."""
    from numba.core.registry import CPUDispatcher

    call = CPUDispatcher.__call__

    def noted(self: Any, *arguments: Any, **named: Any) -> Any:
        code = self.py_func.__code__
        if code.co_filename.startswith(_PACKAGE):
            _seen.add((code.co_filename, code.co_firstlineno))
        return call(self, *arguments, **named)

    CPUDispatcher.__call__ = noted  # type: ignore[method-assign,assignment]


def pytest_configure(config: pytest.Config) -> None:
    if "MUTATION_NOTES" in os.environ:
        _note_kernels()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    if "MUTATION_NOTES" not in os.environ:
        return (yield)
    _seen.clear()
    begin = time.process_time()
    threading.settrace(_note)  # type: ignore[arg-type]
    sys.settrace(_note)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        functions: dict[str, list[int]] = {}
        for file, line in sorted(_seen):
            functions.setdefault(file[len(_PACKAGE) + 1 :], []).append(line)
        _notes[item.nodeid] = time.process_time() - begin, functions


def pytest_sessionfinish(session: pytest.Session) -> None:
    if file := os.environ.get("MUTATION_NOTES"):
        Path(file).write_text(json.dumps(_notes))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if file := os.environ.get("MUTATION_CHOSEN"):
        place = {name: at for at, name in enumerate(json.loads(Path(file).read_text()))}
        others = [item for item in items if item.nodeid not in place]
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])
        config.hook.pytest_deselected(items=others)
