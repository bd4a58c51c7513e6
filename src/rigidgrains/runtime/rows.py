"""One row of a table, read and written whole: item by item that takes several times as long to compile."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types

from .simd import data_of, intrinsic, packed, place_of


@intrinsic(prefer_literal=True)
def read_row(typing: Any, table: Any, row: Any, columns: Any) -> Any:
    """The numbers of one row of a table: say how many columns it has."""
    width = columns.literal_value
    result = types.UniTuple(types.float64, width)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature, args, 0)
        numbers = [builder.load(place_of(builder, data, args[1], width, k)) for k in range(width)]
        return packed(context, builder, result, numbers)

    return result(table, types.intp, columns), generate


@intrinsic(prefer_literal=True)
def write_row(typing: Any, table: Any, row: Any, columns: Any, numbers: Any) -> Any:
    """Replace the first numbers of a row: say how many columns the table has."""
    width = columns.literal_value

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature, args, 0)
        for k, number in enumerate(cgutils.unpack_tuple(builder, args[3])):
            builder.store(number, place_of(builder, data, args[1], width, k))
        return context.get_dummy_value()

    return types.void(table, types.intp, columns, types.UniTuple(types.float64, numbers.count)), generate
