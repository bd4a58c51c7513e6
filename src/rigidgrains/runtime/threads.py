"""Threads: how many there are, and how work is shared among them. The bits of a result do not depend on their number.

Loops over rows are cut into parts of a fixed length, whatever the number of threads; results come back in the order of
the parts. Kernels are handed to a team that waits for them in compiled code, see team.py.
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
from typing import Any, TypeVar

Result = TypeVar("Result")


PART = 4096  # least rows in a part of a light loop: some ten microseconds
PARTS = 64  # most parts of a loop: Python hands them out one by one
LEAST = 1024  # rows of a light loop that a thread takes at least: some 5 us
WORTH = 4096  # rows of a light loop that take as long as to wake a thread: 25 us
MOST = 1024
VARIABLES = ("RIGIDGRAINS_THREADS", "NUMBA_NUM_THREADS")

_chosen: int | None = None
_crew: Any = None
_crew_of = 0
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


def spread(loop: Any, rows: int, *what: Any, weight: int = 1, part: int | None = None) -> list[Any]:
    """loop(first, last, *what) for each part of the rows, on several threads if there are many; results in order.

    loop   : a kernel that returns nothing, a number or a tuple of numbers; parts must not touch each other's results
    weight : work for a row, in units of a light loop
    part   : rows in a part, where that is known; by default as `part_of` says
    """
    if rows * weight <= PART and part is None:  # one part, whatever `part_of` says
        return [loop(0, rows, *what)]
    part = part_of(rows, weight) if part is None else part
    if rows <= part:
        return [loop(0, rows, *what)]
    parts = ceil(rows / part)
    threads = min(worth(weight * rows), parts)
    if threads == 1 or not _gathering.acquire(blocking=False):
        return [loop(at, min(rows, at + part), *what) for at in range(0, rows, part)]
    try:
        return _team().run(loop, threads, rows, part, what)
    finally:
        _gathering.release()


def in_parts(
    task: Callable[[int, int], Result], rows: int, *, weight: int = 1, part: int | None = None
) -> list[Result]:
    """The same of a task in Python, task(first, last), which lets go of Python's lock where it takes long."""
    part = part_of(rows, weight) if part is None else part
    if rows <= part:
        return [task(0, rows)]
    parts = ceil(rows / part)
    found: list[Any] = [None] * parts
    turn: Iterator[int] = counter()  # next() is undivided

    def work(thread: int) -> None:
        while (at := next(turn)) < parts:
            found[at] = task(at * part, min(rows, (at + 1) * part))

    threads = min(_worth_waking(weight * rows), parts)
    if threads == 1:
        work(0)
    else:
        _team().share(work, threads)
    return found


def together(loop: Any, threads: int, *what: Any) -> Any:
    """loop(thread, threads, meeting, *what) on so many threads at once; they may wait for each other, see barrier.py.

    loop : a kernel; what it returns on the first of them. One such loop at a time: a second one, asked for by another
    Python thread meanwhile, runs alone.
    """
    if threads == 1 or not _gathering.acquire(blocking=False):
        return loop(0, 1, _meeting_of_one(), *what)
    try:
        return _team().run_together(loop, threads, what)
    finally:
        _gathering.release()


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
    """How many threads are worth their while for a loop over so many rows, if each takes a share at least.

    A team that waits costs next to nothing. One that does not has to be worth waking first.
    """
    most = rows // max(share, LEAST)
    if most <= 1 or not (_worth_waking(rows) > 1 or (_crew is not None and _crew.waits)):
        return 1
    return min(get_threads(), most)


def _worth_waking(rows: int) -> int:
    """How many threads are worth waking for a loop over so many rows.

    They are woken one after another, Python's lock goes from hand to hand: on T threads a loop takes time/T + T * wake,
    which is least for T = sqrt(time/wake).
    """
    most = isqrt(rows // WORTH)
    return 1 if most <= 1 else min(get_threads(), most)  # how many there are takes longer to find out


@cache
def _meeting_of_one() -> Any:
    """Nobody writes into it: who is alone does not wait."""
    from .barrier import new_meeting

    return new_meeting()


def _team() -> Any:
    """The team of this process; a forked one has another."""
    global _crew, _crew_of
    with _making:
        if _crew is None or _crew_of != os.getpid():
            from .team import Team

            _crew, _crew_of = Team(), os.getpid()
        return _crew


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
