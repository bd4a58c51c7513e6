"""Lanes: eight numbers side by side, as one number of the compiler.

The text of a law that is written with + - * /, sqrt and `choose` compiles for one contact and for eight at a time.
Every lane is rounded like a number on its own, so the bits are the same. Eight fill a register of AVX-512; with
narrower ones the compiler takes two or four, and results do not depend on the machine.

`read_rows` brings rows of a table, one for each lane, into columns of lanes, and `write_rows` brings them back: whole
rows move between memory and registers, and are transposed there.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.extending import (
    lower_builtin,
    lower_cast,
    models,
    register_model,
    type_callable,
)

WIDTH = 8

intrinsic: Any = numba.extending.intrinsic  # what is made of it is called with other arguments than it is written with

_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(32)
_LANES, _TRUTHS = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(ir.IntType(1), WIDTH)


class Lanes(types.Type):
    """Numbers side by side."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({WIDTH})")

    def can_convert_from(self, context: Any, other: types.Type) -> Conversion | None:
        """A single number stands in every lane."""
        return Conversion.safe if isinstance(other, types.Float) else None


class Truths(types.Type):
    """What is true of each lane."""

    def __init__(self) -> None:
        super().__init__(name=f"Truths({WIDTH})")


LANES, TRUTHS = Lanes(), Truths()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _LANES)


@register_model(Truths)
class _TruthsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _TRUTHS)


def choose(condition, then, otherwise):
    """One of two numbers, in every lane its own. Both are worked out."""
    return then if condition else otherwise


@type_callable(choose)
def _type_choose(context: Any) -> Callable[..., Any]:
    def typer(condition: Any, then: Any, otherwise: Any) -> Any:
        if isinstance(condition, Truths):
            return LANES(TRUTHS, LANES, LANES)
        return types.float64(types.boolean, types.float64, types.float64)

    return typer


@lower_builtin(choose, types.Boolean, types.Float, types.Float)
@lower_builtin(choose, Truths, Lanes, Lanes)
def _choose(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.select(*args)


@lower_cast(types.Float, Lanes)
def _spread(context: Any, builder: Any, one: Any, many: Any, value: Any) -> Any:
    number = context.cast(builder, value, one, types.float64)
    first = builder.insert_element(ir.Constant(_LANES, ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(first, first, _mask([0] * WIDTH))


def _has_lanes(a: Any, b: Any) -> bool:
    """Whether an operation on these is one of lanes."""
    return {type(a), type(b)} in ({Lanes}, {Lanes, types.Float})


def _teach(symbol: Any, result: types.Type, instruction: Callable[[Any, Any, Any], Any]) -> None:
    """Let the compiler use an operator between lanes, or a lane and a number."""

    @type_callable(symbol)
    def typer(context: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: result(LANES, LANES) if _has_lanes(a, b) else None

    @lower_builtin(symbol, Lanes, Lanes)
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return instruction(builder, *args)


_teach(operator.add, LANES, lambda builder, a, b: builder.fadd(a, b))
_teach(operator.sub, LANES, lambda builder, a, b: builder.fsub(a, b))
_teach(operator.mul, LANES, lambda builder, a, b: builder.fmul(a, b))
_teach(operator.truediv, LANES, lambda builder, a, b: builder.fdiv(a, b))
_teach(operator.gt, TRUTHS, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_teach(operator.le, TRUTHS, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))


@type_callable(math.sqrt)
def _type_sqrt(context: Any) -> Callable[[Any], Any]:
    return lambda x: LANES if isinstance(x, Lanes) else None


@lower_builtin(math.sqrt, Lanes)
def _sqrt(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = ir.FunctionType(_LANES, [_LANES])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{WIDTH}f64"), args)


@intrinsic
def lanes_of(typing: Any, numbers: Any, at: Any) -> Any:
    """The numbers of an array side by side, from a place on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        place = builder.bitcast(builder.gep(data, [args[1]]), _LANES.as_pointer())
        return builder.load(place, align=8)

    return LANES(numbers, types.intp), generate


@intrinsic
def lanes_with(typing: Any, number: Any) -> Any:
    """The same number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(context, builder, types.float64, LANES, args[0])

    return LANES(types.float64), generate


@intrinsic
def sum_of(typing: Any, lanes: Any) -> Any:
    """Of all lanes, halves first."""
    return types.float64(LANES), _fold(lambda builder, a, b: builder.fadd(a, b))


@intrinsic
def max_of(typing: Any, lanes: Any) -> Any:
    """The largest of all lanes."""
    return types.float64(LANES), _fold(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


def _fold(join: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """One number from all lanes: each of the first half joined with one of the second, and so on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = [builder.extract_element(args[0], _INDEX(k)) for k in range(WIDTH)]
        while len(numbers) > 1:
            half = len(numbers) // 2
            numbers = [join(builder, a, b) for a, b in zip(numbers[:half], numbers[half:])]
        return numbers[0]

    return generate


@intrinsic
def rows_from(typing: Any, first: Any) -> Any:
    """As many numbers in turn as there are lanes."""
    result = types.UniTuple(types.intp, WIDTH)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _pack(context, builder, result, [builder.add(args[0], args[0].type(k)) for k in range(WIDTH)])

    return result(types.intp), generate


@intrinsic
def next_of(typing: Any, sequence: Any, at: Any) -> Any:
    """As many numbers of an int32 array as there are lanes, from a place on."""
    result = types.UniTuple(types.intp, WIDTH)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        return _pack(context, builder, result, [_number(builder, data, args[1], k) for k in range(WIDTH)])

    return result(sequence, types.intp), generate


@intrinsic
def column_of(typing: Any, pairs: Any, rows: Any, side: Any) -> Any:
    """One column of the rows of an int32 array with two columns."""
    result = types.UniTuple(types.intp, WIDTH)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        picked = []
        for row in cgutils.unpack_tuple(builder, args[1]):
            place = builder.add(builder.shl(row, row.type(1)), args[2])
            picked.append(_number(builder, data, place, 0))
        return _pack(context, builder, result, picked)

    return result(pairs, rows, types.intp), generate


@intrinsic(prefer_literal=True)
def read_rows(typing: Any, table: Any, rows: Any, columns: Any) -> Any:
    """Columns of lanes from whole rows of a table: say how many columns it has."""
    width = columns.literal_value
    result = types.UniTuple(LANES, width)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, at, lanes = _data(context, builder, signature, args, 0), cgutils.unpack_tuple(builder, args[1]), []
        for first in range(0, width, WIDTH):
            some = min(WIDTH, width - first)
            read = [_load_row(builder, _place(builder, data, row, width, first), some) for row in at]
            lanes += _into_columns(builder, read)[:some]
        return _pack(context, builder, result, lanes)

    return result(table, rows, columns), generate


@intrinsic
def write_rows(typing: Any, table: Any, rows: Any, columns: Any) -> Any:
    """Whole rows of a table from columns of lanes, one after the other."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, at = _data(context, builder, signature, args, 0), cgutils.unpack_tuple(builder, args[1])
        lanes = cgutils.unpack_tuple(builder, args[2])
        width = len(lanes)
        if width not in (4, WIDTH):  # what fills up is not written
            lanes += [lanes[-1]] * (WIDTH - width)
        for row, numbers in zip(at, _into_rows(builder, lanes)):
            _store_row(builder, _place(builder, data, row, width, 0), numbers, width)
        return context.get_dummy_value()

    return types.void(table, rows, columns), generate


# What the compiler's instructions need


def _mask(order: list[int]) -> Any:
    """Constant for a shuffle."""
    return ir.Constant(ir.VectorType(_INDEX, len(order)), [_INDEX(k) for k in order])


def _data(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    """Where the numbers of an array begin."""
    return context.make_array(signature.args[k])(context, builder, args[k]).data


def _number(builder: Any, data: Any, at: Any, ahead: int) -> Any:
    """An int32 as an index."""
    return builder.sext(builder.load(builder.gep(data, [builder.add(at, at.type(ahead))])), at.type)


def _pack(context: Any, builder: Any, kind: Any, values: list[Any]) -> Any:
    return context.make_tuple(builder, kind, values)


def _place(builder: Any, data: Any, row: Any, width: int, first: int) -> Any:
    """Where a column of a row is."""
    return builder.gep(data, [builder.add(builder.mul(row, row.type(width)), row.type(first))])


def _pieces(width: int) -> list[tuple[int, int]]:
    """Where vectors begin that cover a row of this width and nothing beyond it, and their size; two may overlap."""
    size = max(power for power in (1, 2, 4, 8) if power <= width)
    return [(0, size)] if size == width else [(0, size), (width - size, size)]


def _load_row(builder: Any, place: Any, width: int) -> Any:
    """Four or eight numbers; shorter rows are filled up."""
    parts = []
    for first, size in _pieces(width):
        kind = ir.VectorType(_DOUBLE, size).as_pointer()
        parts.append(builder.load(builder.bitcast(builder.gep(place, [_INDEX(first)]), kind), align=8))
    if width in (4, WIDTH):
        return parts[0]
    size, last = parts[0].type.count, parts[-1]
    order = [*range(size), *(2 * size - width + k for k in range(size, width))]
    return builder.shuffle_vector(parts[0], last, _mask(order + [0] * (WIDTH - width)))


def _store_row(builder: Any, place: Any, row: Any, width: int) -> None:
    """The first numbers of a row; where vectors overlap both write the same."""
    for first, size in _pieces(width):
        kind = ir.VectorType(_DOUBLE, size).as_pointer()
        part = row if row.type.count == size else builder.shuffle_vector(row, row, _mask([*range(first, first + size)]))
        builder.store(part, builder.bitcast(builder.gep(place, [_INDEX(first)]), kind), align=8)


def _into_columns(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose: as many rows as lanes; where rows are half as long, two of them stand side by side first."""
    short = rows[0].type.count
    if short < WIDTH:
        half = _mask(list(range(WIDTH)))
        rows = [builder.shuffle_vector(rows[k], rows[k + short], half) for k in range(short)]
    return _transposed(builder, rows, short)


def _into_rows(builder: Any, columns: list[Any]) -> list[Any]:
    """The way back."""
    short = len(columns)
    rows = _transposed(builder, columns, short)
    if short == WIDTH:
        return rows
    halves = [_mask(list(range(first, first + short))) for first in (0, short)]
    return [builder.shuffle_vector(row, row, half) for half in halves for row in rows]


def _transposed(builder: Any, rows: list[Any], size: int) -> list[Any]:
    """Square blocks of a size turned over: numbers change places at distance 1, 2, 4."""
    distance = 1
    while distance < size:
        low = [k if not k & distance else WIDTH + k - distance for k in range(WIDTH)]
        high = [k + distance if not k & distance else WIDTH + k for k in range(WIDTH)]
        turned = list(rows)
        for k in range(size):
            if not k & distance:
                pair = rows[k], rows[k + distance]
                turned[k] = builder.shuffle_vector(*pair, _mask(low))
                turned[k + distance] = builder.shuffle_vector(*pair, _mask(high))
        rows, distance = turned, 2 * distance
    return rows
