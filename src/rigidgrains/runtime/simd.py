"""Lanes: four or eight numbers side by side, as one number of the compiler.

The text of a law that is written with + - * /, sqrt and `choose` compiles for one contact and for several at a time.
Every lane is rounded like a number on its own, so the bits are the same for any number of lanes. Eight fill a register
of AVX-512, four one of AVX2 or two of NEON and SSE2; sweeps take eight where one register has room, else four. Sums
are rounded otherwise with other lanes: they take eight everywhere, so that results do not depend on the machine.

`read_rows` brings rows of a table, one for each lane, into columns of lanes, and `write_rows` brings them back: whole
rows move between memory and registers, and are transposed there.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import llvmlite.binding
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

WIDTH = 8  # lanes of sums


def _wide() -> bool:
    """Whether registers have room for eight numbers; where the compiler does not know its host, they have not."""
    try:
        return bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))
    except RuntimeError:
        return False


SIDE_BY_SIDE = 8 if _wide() else 4  # contacts in the lanes of a sweep

intrinsic: Any = numba.extending.intrinsic  # what is made of it is called with other arguments than it is written with

_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(32)


class Lanes(types.Type):
    """So many numbers side by side."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")

    def can_convert_from(self, context: Any, other: types.Type) -> Conversion | None:
        """A single number stands in every lane."""
        return Conversion.safe if isinstance(other, types.Float) else None


class Truths(types.Type):
    """What is true of each lane."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Truths({width})")


def _vector(width: int) -> Any:
    return ir.VectorType(_DOUBLE, width)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector(kind.width))


@register_model(Truths)
class _TruthsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.width))


def choose(condition, then, otherwise):
    """One of two numbers, in every lane its own. Both are worked out."""
    return then if condition else otherwise


@type_callable(choose)
def _type_choose(context: Any) -> Callable[..., Any]:
    def typer(condition: Any, then: Any, otherwise: Any) -> Any:
        if isinstance(condition, Truths):
            lanes = Lanes(condition.width)
            return lanes(condition, lanes, lanes)
        return types.float64(types.boolean, types.float64, types.float64)

    return typer


@lower_builtin(choose, types.Boolean, types.Float, types.Float)
@lower_builtin(choose, Truths, Lanes, Lanes)
def _choose(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.select(*args)


@lower_cast(types.Float, Lanes)
def _spread(context: Any, builder: Any, one: Any, many: Any, value: Any) -> Any:
    number = context.cast(builder, value, one, types.float64)
    first = builder.insert_element(ir.Constant(_vector(many.width), ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(first, first, _mask([0] * many.width))


def _lanes_among(a: Any, b: Any) -> Lanes | None:
    """Lanes on which an operation on these is one; None if it is on others."""
    if isinstance(a, Lanes) and (a == b or isinstance(b, types.Float)):
        return a
    return b if isinstance(b, Lanes) and isinstance(a, types.Float) else None


def _teach(symbol: Any, result: type[Lanes | Truths], instruction: Callable[[Any, Any, Any], Any]) -> None:
    """Let the compiler use an operator between lanes, or a lane and a number."""

    @type_callable(symbol)
    def typer(context: Any) -> Callable[[Any, Any], Any]:
        def found(a: Any, b: Any) -> Any:
            lanes = _lanes_among(a, b)
            return None if lanes is None else result(lanes.width)(lanes, lanes)

        return found

    @lower_builtin(symbol, Lanes, Lanes)
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return instruction(builder, *args)


_teach(operator.add, Lanes, lambda builder, a, b: builder.fadd(a, b))
_teach(operator.sub, Lanes, lambda builder, a, b: builder.fsub(a, b))
_teach(operator.mul, Lanes, lambda builder, a, b: builder.fmul(a, b))
_teach(operator.truediv, Lanes, lambda builder, a, b: builder.fdiv(a, b))
_teach(operator.gt, Truths, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_teach(operator.le, Truths, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))


@type_callable(math.sqrt)
def _type_sqrt(context: Any) -> Callable[[Any], Any]:
    return lambda x: x if isinstance(x, Lanes) else None


@lower_builtin(math.sqrt, Lanes)
def _sqrt(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    width = signature.args[0].width
    kind = ir.FunctionType(_vector(width), [_vector(width)])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{width}f64"), args)


@intrinsic
def lanes_of(typing: Any, numbers: Any, at: Any) -> Any:
    """The numbers of an array side by side, from a place on, as many as sums take."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature, args, 0)
        place = builder.bitcast(builder.gep(data, [args[1]]), _vector(WIDTH).as_pointer())
        return builder.load(place, align=8)

    return Lanes(WIDTH)(numbers, types.intp), generate


@intrinsic
def lanes_with(typing: Any, number: Any) -> Any:
    """The same number in every lane of a sum."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(context, builder, types.float64, Lanes(WIDTH), args[0])

    return Lanes(WIDTH)(types.float64), generate


@intrinsic
def side_by_side(typing: Any, number: Any) -> Any:
    """The same number in every lane of a sweep."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(context, builder, types.float64, Lanes(SIDE_BY_SIDE), args[0])

    return Lanes(SIDE_BY_SIDE)(types.float64), generate


@intrinsic
def sum_of(typing: Any, lanes: Any) -> Any:
    """Of all lanes, halves first."""
    return types.float64(lanes), _fold(lambda builder, a, b: builder.fadd(a, b))


@intrinsic
def max_of(typing: Any, lanes: Any) -> Any:
    """The largest of all lanes."""
    return types.float64(lanes), _fold(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


def _fold(join: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """One number from all lanes: each of the first half joined with one of the second, and so on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = [builder.extract_element(args[0], _INDEX(k)) for k in range(signature.args[0].width)]
        while len(numbers) > 1:
            half = len(numbers) // 2
            numbers = [join(builder, a, b) for a, b in zip(numbers[:half], numbers[half:])]
        return numbers[0]

    return generate


@intrinsic(prefer_literal=True)
def rows_from(typing: Any, first: Any, number: Any) -> Any:
    """So many numbers in turn."""
    many = number.literal_value
    result = types.UniTuple(types.intp, many)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return packed(context, builder, result, [builder.add(args[0], args[0].type(k)) for k in range(many)])

    return result(types.intp, number), generate


@intrinsic(prefer_literal=True)
def next_of(typing: Any, sequence: Any, at: Any, number: Any) -> Any:
    """So many numbers of an int32 array, from a place on."""
    many = number.literal_value
    result = types.UniTuple(types.intp, many)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature, args, 0)
        return packed(context, builder, result, [_number(builder, data, args[1], k) for k in range(many)])

    return result(sequence, types.intp, number), generate


@intrinsic
def column_of(typing: Any, pairs: Any, rows: Any, side: Any) -> Any:
    """One column of the rows of an int32 array with two columns."""
    result = types.UniTuple(types.intp, rows.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature, args, 0)
        picked = []
        for row in cgutils.unpack_tuple(builder, args[1]):
            place = builder.add(builder.shl(row, row.type(1)), args[2])
            picked.append(_number(builder, data, place, 0))
        return packed(context, builder, result, picked)

    return result(pairs, rows, types.intp), generate


@intrinsic(prefer_literal=True)
def read_rows(typing: Any, table: Any, rows: Any, columns: Any) -> Any:
    """Columns of lanes from whole rows of a table: say how many columns it has."""
    width, many = columns.literal_value, rows.count
    result = types.UniTuple(Lanes(many), width)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, at, lanes = data_of(context, builder, signature, args, 0), cgutils.unpack_tuple(builder, args[1]), []
        for first in range(0, width, many):
            some = min(many, width - first)
            read = [_load_row(builder, place_of(builder, data, row, width, first), some, many) for row in at]
            lanes += _into_columns(builder, read)[:some]
        return packed(context, builder, result, lanes)

    return result(table, rows, columns), generate


@intrinsic(prefer_literal=True)
def read_column(typing: Any, table: Any, rows: Any, columns: Any, column: Any) -> Any:
    """Lanes from one column of some rows of a table: say how many columns it has, and which one."""
    width, number = columns.literal_value, column.literal_value

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, lanes = data_of(context, builder, signature, args, 0), ir.Constant(_vector(rows.count), ir.Undefined)
        for k, row in enumerate(cgutils.unpack_tuple(builder, args[1])):
            lanes = builder.insert_element(lanes, builder.load(place_of(builder, data, row, width, number)), _INDEX(k))
        return lanes

    return Lanes(rows.count)(table, rows, columns, column), generate


@intrinsic
def write_rows(typing: Any, table: Any, rows: Any, columns: Any) -> Any:
    """Whole rows of a table from columns of lanes, one after the other."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, at = data_of(context, builder, signature, args, 0), cgutils.unpack_tuple(builder, args[1])
        lanes, many = cgutils.unpack_tuple(builder, args[2]), rows.count
        width = len(lanes)
        for first in range(0, width, many):
            some = lanes[first : first + many]
            filled = some if len(some) in (4, many) else some + [some[-1]] * (many - len(some))  # this is not written
            for row, numbers in zip(at, _into_rows(builder, filled, many)):
                _store_row(builder, place_of(builder, data, row, width, first), numbers, len(some))
        return context.get_dummy_value()

    return types.void(table, rows, columns), generate


# What the compiler's instructions need


def _mask(order: list[int]) -> Any:
    """Constant for a shuffle."""
    return ir.Constant(ir.VectorType(_INDEX, len(order)), [_INDEX(k) for k in order])


def data_of(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    """Where the numbers of an array begin."""
    return context.make_array(signature.args[k])(context, builder, args[k]).data


def _number(builder: Any, data: Any, at: Any, ahead: int) -> Any:
    """An int32 as an index."""
    return builder.sext(builder.load(builder.gep(data, [builder.add(at, at.type(ahead))])), at.type)


def packed(context: Any, builder: Any, kind: Any, values: list[Any]) -> Any:
    return context.make_tuple(builder, kind, values)


def place_of(builder: Any, data: Any, row: Any, width: int, first: int) -> Any:
    """Where a column of a row is."""
    return builder.gep(data, [builder.add(builder.mul(row, row.type(width)), row.type(first))])


def _pieces(width: int) -> list[tuple[int, int]]:
    """Where vectors begin that cover a row of this width and nothing beyond it, and their size; two may overlap."""
    size = max(power for power in (1, 2, 4, 8) if power <= width)
    return [(0, size)] if size == width else [(0, size), (width - size, size)]


def _load_row(builder: Any, place: Any, width: int, many: int) -> Any:
    """Four numbers, or as many as lanes; shorter rows are filled up."""
    parts = []
    for first, size in _pieces(width):
        kind = _vector(size).as_pointer()
        parts.append(builder.load(builder.bitcast(builder.gep(place, [_INDEX(first)]), kind), align=8))
    if width in (4, many):
        return parts[0]
    size, last = parts[0].type.count, parts[-1]
    order = [*range(size), *(2 * size - width + k for k in range(size, width))]
    return builder.shuffle_vector(parts[0], last, _mask(order + [0] * (many - width)))


def _store_row(builder: Any, place: Any, row: Any, width: int) -> None:
    """The first numbers of a row; where vectors overlap both write the same."""
    for first, size in _pieces(width):
        kind = _vector(size).as_pointer()
        part = row if row.type.count == size else builder.shuffle_vector(row, row, _mask([*range(first, first + size)]))
        builder.store(part, builder.bitcast(builder.gep(place, [_INDEX(first)]), kind), align=8)


def _into_columns(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose: as many rows as lanes; where rows are half as long, two of them stand side by side first."""
    short, many = rows[0].type.count, len(rows)
    if short < many:
        half = _mask(list(range(many)))
        rows = [builder.shuffle_vector(rows[k], rows[k + short], half) for k in range(short)]
    return _transposed(builder, rows, short, many)


def _into_rows(builder: Any, columns: list[Any], many: int) -> list[Any]:
    """The way back."""
    short = len(columns)
    rows = _transposed(builder, columns, short, many)
    if short == many:
        return rows
    halves = [_mask(list(range(first, first + short))) for first in (0, short)]
    return [builder.shuffle_vector(row, row, half) for half in halves for row in rows]


def _transposed(builder: Any, rows: list[Any], size: int, many: int) -> list[Any]:
    """Square blocks of a size turned over: numbers change places at distance 1, 2, 4."""
    distance = 1
    while distance < size:
        low = [k if not k & distance else many + k - distance for k in range(many)]
        high = [k + distance if not k & distance else many + k for k in range(many)]
        turned = list(rows)
        for k in range(size):
            if not k & distance:
                pair = rows[k], rows[k + distance]
                turned[k] = builder.shuffle_vector(*pair, _mask(low))
                turned[k + distance] = builder.shuffle_vector(*pair, _mask(high))
        rows, distance = turned, 2 * distance
    return rows
