"""The team: plain Python threads that wait for loops in compiled code, and for Python tasks in Python.

Threads come when there is work, and go back to sleep when there is none for some milliseconds. Loops find them waiting
at the board, see board.py, and cost a few microseconds; who sleeps is woken through a queue, which takes 25.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import _dispatcher, typeof
from numba.core import types

from .barrier import BROKEN, new_meeting
from .board import DISMISSED, LARGEST, OPEN, begin_together, dismiss, finish, new_board, run_parts, serve


class Team:
    """The threads of a process. One loop at a time is handed to it."""

    def __init__(self) -> None:
        self._board, self._room = new_board()
        self._inboxes: list[SimpleQueue[Any]] = []
        self._called = 0
        self._known: dict[Any, tuple[int, Any, int]] = {}
        self._making = threading.Lock()

    @property
    def waits(self) -> bool:
        """Whether threads wait at the board."""
        return bool(self._board[OPEN] != DISMISSED)

    def run(self, loop: Any, threads: int, rows: int, part: int, what: tuple[Any, ...]) -> list[Any]:
        """What a loop returns for each part of its rows."""
        address, like, numbers = self._find(loop, what)
        parts, threads = -(-rows // part), min(threads, LARGEST)
        results = np.empty((parts, numbers))
        self._call(threads)
        if run_parts(self._board, self._room, threads, address, like, rows, part, results, what):
            raise RuntimeError(f"the loop {loop.__name__} failed on some thread")
        if like is None:
            return [None] * parts
        columns = [list(map(type(each), column)) for each, column in zip(_all(like), results.T.tolist())]
        return list(zip(*columns)) if isinstance(like, tuple) else columns[0]

    def run_together(self, loop: Any, threads: int, what: tuple[Any, ...]) -> Any:
        """What a loop returns on the first of so many threads, which begin it at once."""
        meeting = new_meeting()
        threads, what = min(threads, LARGEST), (meeting, *what)
        address, like, _ = self._find(loop, what)
        self._call(threads)
        try:
            if not begin_together(self._board, self._room, threads, address, like, what):
                self._wake(threads)
            return loop(0, threads, *what)
        except BaseException:
            meeting[BROKEN] = 1  # nobody waits for one who does not come
            raise
        finally:
            finish(self._board)

    def share(self, task: Callable[[int], None], threads: int) -> None:
        """task(thread) in Python, on this thread, as number 0, and on others; returns once all have done."""
        if self.waits:
            dismiss(self._board)
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for thread, inbox in zip(range(1, threads), self._workers(threads - 1)):
            inbox.put((task, thread, done))
        try:
            task(0)
        finally:
            errors = [done.get() for _ in range(threads - 1)]
        for error in errors:
            if error is not None:
                raise error

    def _find(self, loop: Any, what: tuple[Any, ...]) -> tuple[int, Any, int]:
        """Address of a kernel for such arguments, something like what it returns, and how many numbers that is."""
        key: Any
        try:
            key = loop, _dispatcher.compute_fingerprint(what)
        except NotImplementedError:  # of what is rare
            key = loop, tuple(map(typeof, what))
        if key not in self._known:
            kinds = types.intp, types.intp, *(typeof(each) for each in what)
            loop.compile(kinds)
            found = loop.overloads[kinds]
            address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
            like = _like(found.signature.return_type)
            self._known[key] = address, like, 0 if like is None else len(_all(like))
        return self._known[key]

    def _call(self, threads: int) -> None:
        """Call so many threads to the board, this one included, unless they are there."""
        if not self.waits:
            self._board[OPEN] = 0  # nobody else is there
            self._wake(threads)
        elif threads - 1 > self._called:
            self._wake(threads, self._called)

    def _wake(self, threads: int, there: int = 0) -> None:
        """Send threads to the board, but for the first ones; who has not left it yet comes again later."""
        for thread, inbox in list(enumerate(self._workers(threads - 1), start=1))[there:]:
            inbox.put(thread)
        self._called = threads - 1

    def _workers(self, number: int) -> list[SimpleQueue[Any]]:
        """Where other threads get their tasks; they are made when they are first needed."""
        with self._making:
            while len(self._inboxes) < number:
                inbox: SimpleQueue[Any] = SimpleQueue()
                name = f"rigidgrains-{len(self._inboxes)}"
                threading.Thread(target=self._serve, args=(inbox,), name=name, daemon=True).start()
                self._inboxes.append(inbox)
            return self._inboxes[:number]

    def _serve(self, inbox: SimpleQueue[Any]) -> None:
        """Take tasks as they come."""
        while True:
            given = inbox.get()
            if isinstance(given, int):
                serve(self._board, self._room, given)
                continue
            task, thread, done = given
            error = None
            try:
                task(thread)
            except BaseException as problem:
                error = problem
            done.put(error)
            del task, done, given  # what they hold is not kept until the next one comes


def _all(like: Any) -> tuple[Any, ...]:
    return like if isinstance(like, tuple) else (like,)


def _like(kind: Any) -> Any:
    """A value of a type that kernels return."""
    if isinstance(kind, types.NoneType):
        return None
    if hasattr(kind, "types"):  # a tuple
        made = getattr(kind, "instance_class", lambda *values: values)
        return made(*map(_like, kind.types))
    if isinstance(kind, types.Boolean):
        return False
    number = np.dtype(kind.name).type(0)
    return number.item() if kind in (types.int64, types.float64) else number
