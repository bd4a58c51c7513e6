"""What kernels on several threads need of each other: a place to meet, and the larger of two numbers kept."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import types
from numpy.typing import NDArray

from .compiled import kernel

intrinsic: Any = extending.intrinsic  # its callers leave out the typing context, of which mypy knows nothing

SPINS = 1000  # looks at the meeting before a thread lets others run

give_way = types.ExternalFunction("sched_yield" if os.name == "posix" else "SwitchToThread", types.int32())


ARRIVED, RELEASED, BROKEN = 0, 16, 32  # places in a meeting, each in a cache line of its own


def new_meeting() -> NDArray[np.int64]:
    """Arrivals so far, meetings that took place, and 1 when somebody will not come."""
    return np.zeros(48, np.int64)


@kernel
def meet(meeting, threads):
    """Wait until all threads have come as often as this one.

    Who waits looks at a line that is written once a meeting: arrivals would take it away each time.
    """
    if threads == 1:
        return
    meetings = look(meeting, RELEASED)
    if fetch_add(meeting, ARRIVED, 1) % threads == threads - 1:
        fetch_add(meeting, RELEASED, 1)
        return
    spins = 0
    while look(meeting, RELEASED) == meetings:
        spins += 1
        if spins > SPINS:
            if look(meeting, BROKEN) != 0:
                return
            give_way()


@kernel
def share(first, last, thread, threads):
    """The part of a range that a thread takes."""
    length = last - first
    return first + length * thread // threads, first + length * (thread + 1) // threads


@intrinsic
def fetch_add(typing: Any, array: Any, at: Any, amount: Any) -> Any:
    """Add to an int64 while nobody else can; returns what it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _place(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def look(typing: Any, array: Any, at: Any) -> Any:
    """The present value of an int64 that other threads change."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, args), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def raise_to(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """Raise a float64 that is not negative to a value, while others may do the same: their bits sort like integers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        place = builder.bitcast(_place(context, builder, signature, args), whole.as_pointer())
        builder.atomic_rmw("umax", place, builder.bitcast(args[2], whole), "seq_cst")
        return context.get_dummy_value()

    return types.void(array, types.intp, types.float64), generate


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where in memory an element lies."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])
