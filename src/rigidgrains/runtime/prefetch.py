"""Prefetch: ask for a row of a table long before it is needed. It changes no number, only when memory answers."""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils, types

intrinsic: Any = numba.extending.intrinsic  # what is made of it is called with other arguments than it is written with


LINE = 64  # bytes of the cache that come at once


@intrinsic
def prefetch(typing: Any, table: Any, row: Any) -> Any:
    """Bring the row of a table, or the number of an array, into the cache."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _ask(context, builder, signature, args, 1)
        return context.get_dummy_value()

    return types.void(table, types.intp), generate


@intrinsic(prefer_literal=True)
def prefetch_wide(typing: Any, table: Any, row: Any, columns: Any) -> Any:
    """The same for a row of so many columns, which takes several lines."""
    lines = -(-8 * columns.literal_value // LINE)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _ask(context, builder, signature, args, lines)
        return context.get_dummy_value()

    return types.void(table, types.intp, columns), generate


def _ask(context: Any, builder: Any, signature: Any, args: Any, lines: int) -> None:
    view = context.make_array(signature.args[0])(context, builder, args[0])
    stride = cgutils.unpack_tuple(builder, view.strides)[0]
    byte, whole = ir.IntType(8), ir.IntType(32)
    place = builder.gep(builder.bitcast(view.data, byte.as_pointer()), [builder.mul(args[1], stride)])
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), whole, whole, whole])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    for line in range(lines):  # to read, and keep in all levels, data
        builder.call(ask, [builder.gep(place, [whole(line * LINE)]), whole(0), whole(3), whole(1)])
