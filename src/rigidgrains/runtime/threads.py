"""Threads: how many there are, and how work is shared among them. The bits of a result do not depend on their number.

Kernels let go of Python's lock, so that plain Python threads run them side by side. Loops over rows are cut into parts
of a fixed length, whatever the number of threads; results come back in the order of the parts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, reduce
from itertools import count as counter
from math import ceil, isqrt
from operator import add
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


PART = 4096  # least rows in a part of a light loop: some ten microseconds
PARTS = 64  # most parts of a loop: Python hands them out one by one
WORTH = 4096  # rows of a light loop that take as long as to wake a thread: 25 us
MOST = 1024
BROKEN = 32  # place in a meeting that says that somebody will not come, see barrier.py
VARIABLES = ("RIGIDGRAINS_THREADS", "NUMBA_NUM_THREADS")

_chosen: int | None = None
_team: list[SimpleQueue[Any]] = []
_team_of = 0
_gathering, _making = threading.Lock(), threading.Lock()


class ThreadsError(ValueError):
    """A number of threads that is none."""


def set_threads(number: int | None) -> None:
    """Use so many threads from now on; None: as many as RIGIDGRAINS_THREADS says, or one for each physical core."""
    global _chosen
    _chosen = None if number is None else _checked("threads", number)


def get_threads() -> int:
    """How many threads are used."""
    if _chosen is not None:
        return _chosen
    for name in VARIABLES:
        if given := os.environ.get(name, "").strip():  # empty is as good as not set
            return _checked(name, given)
    return physical_cores()


@contextmanager
def only(number: int) -> Iterator[None]:
    """So many threads for a while."""
    global _chosen
    before = _chosen
    set_threads(number)
    try:
        yield
    finally:
        _chosen = before


@cache
def physical_cores() -> int:
    """Cores that this process may use, each counted once however many threads it runs by itself."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = {_siblings(cpu) for cpu in allowed}
    return max(1, min(len(cores), _quota()))


def in_parts(
    task: Callable[[int, int], Result], rows: int, *, weight: int = 1, part: int | None = None
) -> list[Result]:
    """task(first, last) for each part of the rows, on several threads if there are many; results in order.

    weight : work for a row, in units of a light loop. Tasks must not touch each other's results.
    part   : rows in a part, where that is known; by default as `part_of` says
    """
    part = part_of(rows, weight) if part is None else part
    if rows <= part:
        return [task(0, rows)]
    parts = ceil(rows / part)
    found: list[Any] = [None] * parts
    turn: Iterator[int] = counter()  # next() is undivided

    def work() -> None:
        while (at := next(turn)) < parts:
            found[at] = task(at * part, min(rows, (at + 1) * part))

    _share(lambda thread: work(), min(worth(weight * rows), parts))
    return found


def part_of(rows: int, weight: int) -> int:
    """Rows in a part of a loop: what they are depends on the loop alone, not on how many threads there are."""
    return max(1, PART // weight, -(-rows // PARTS))


def total(parts: list[Any]) -> Any:
    """The sum of what parts have found, number by number, in their order."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(reduce(add, numbers) for numbers in zip(*parts))
    return reduce(add, parts)


def worth(rows: int, share: int = 1) -> int:
    """How many threads are worth waking for a loop over so many rows, if each takes a share at least.

    They are woken one after another, Python's lock goes from hand to hand: on T threads a loop takes time/T + T * wake,
    which is least for T = sqrt(time/wake).
    """
    return max(1, min(get_threads(), isqrt(rows // WORTH), rows // max(share, 1)))


def together(task: Callable[[int, int], Result], meeting: Any, threads: int) -> Result:
    """task(thread, threads) on so many threads at once; they may wait for each other at a meeting, see barrier.py.

    What the first of them returns. One such task at a time: a second one, asked for by another Python thread meanwhile,
    runs alone.
    """
    if threads == 1 or not _gathering.acquire(blocking=False):
        return task(0, 1)

    def work(thread: int) -> Result:
        try:
            return task(thread, threads)
        except BaseException:
            meeting[BROKEN] = 1  # nobody waits for one who does not come
            raise

    try:
        return _share(work, threads)
    finally:
        _gathering.release()


def _share(task: Callable[[int], Result], threads: int) -> Result:
    """task(thread) on this thread, as number 0, and on others; what it returns here, once all have done."""
    if threads == 1:
        return task(0)
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    for thread, inbox in zip(range(1, threads), _workers(threads - 1)):
        inbox.put((task, thread, done))
    try:
        found = task(0)
    finally:
        errors = [done.get() for _ in range(threads - 1)]
    for error in errors:
        if error is not None:
            raise error
    return found


def _workers(number: int) -> list[SimpleQueue[Any]]:
    """Where other threads get their tasks; they are made when they are first needed, and anew in a forked process.

    Queues wake sixteen threads in a third of the time of a pool of the standard library.
    """
    global _team, _team_of
    with _making:
        if _team_of != os.getpid():
            _team, _team_of = [], os.getpid()
        while len(_team) < number:
            inbox: SimpleQueue[Any] = SimpleQueue()
            threading.Thread(target=_serve, args=(inbox,), name=f"rigidgrains-{len(_team)}", daemon=True).start()
            _team.append(inbox)
        return _team[:number]


def _serve(inbox: SimpleQueue[Any]) -> None:
    """Take tasks as they come."""
    while True:
        task, thread, done = inbox.get()
        error = None
        try:
            task(thread)
        except BaseException as problem:
            error = problem
        done.put(error)
        del task, done  # what they hold is not kept until the next one comes


def _checked(name: str, value: int | str) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST or (isinstance(value, float) and value != number):
        raise ThreadsError(f"{name} = {value} is no number of threads; give a whole number from 1 to {MOST}")
    return number


def _siblings(cpu: int) -> str:
    """What a processor shares its core with, in the words of the system."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return str(cpu)


def _quota() -> int:
    """Processors that a container grants."""
    try:
        granted, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, ceil(int(granted) / int(period)))
    except (OSError, ValueError):  # none is set
        return MOST
