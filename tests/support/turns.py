"""Each kernel is compiled by one worker; others that need it meanwhile wait, and read it from the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from zlib import crc32


def take_turns() -> None:
    """A lock for each kernel, from the look into the cache to what is written there.

    Locks are bytes beyond the end of this file. Processes that would wait for each other in a circle are told so by the
    system; then both compile.
    """
    with suppress(ImportError, OSError):
        from fcntl import LOCK_EX, LOCK_UN, lockf

        import_module("rigidgrains.runtime.compiled")  # before Numba: it says where kernels are kept
        from numba.core.dispatcher import Dispatcher

        locks, held, compile_it = open(__file__, "r+b"), [], Dispatcher.compile  # noqa: SIM115

        @contextmanager
        def turn(kernel: Any) -> Iterator[None]:
            name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}".encode()
            place = os.path.getsize(__file__) + crc32(name)
            with suppress(OSError):
                lockf(locks, LOCK_EX, 1, place)
            held.append(place)
            try:
                yield
            finally:
                held.remove(place)
                if place not in held:  # it may be compiled for other types within itself
                    with suppress(OSError):
                        lockf(locks, LOCK_UN, 1, place)

        def compile_in_turn(self: Any, types: Any) -> Any:
            with turn(self):
                return compile_it(self, types)

        Dispatcher.compile = compile_in_turn
