"""How a loop is handed to threads that wait inside compiled code: its address, and its arguments in a table.

Python's lock lets one thread at a time call a kernel, which takes each some ten microseconds. Here one call does for
all: it packs the arguments into a table, and threads call the loop by its address.
"""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.packer import DataPacker

from .barrier import intrinsic

_I64, _BYTES, _DOUBLE = ir.IntType(64), ir.IntType(8).as_pointer(), ir.DoubleType()
_PAUSES = platform.machine() in ("x86_64", "AMD64")


@intrinsic
def pack(typing: Any, room: Any, address: Any, like: Any, rows: Any, part: Any, results: Any, args: Any) -> Any:
    """Pack a loop and its arguments into a table of bytes; returns the address of what unpacks them and runs a part.

    room    : (bytes,) uint8 that outlives the run
    address : of a compiled loop(first, last, *args), which returns what is like `like`
    results : (parts, numbers) takes what it returns for each part; None: it is loop(thread, threads, *args), of which
              `rows` run at once, and what it returns is dropped
    """
    kinds = [types.intp, types.intp, *args.types]
    signature = types.intp(room, address, like, rows, part, results, args)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        values = [builder.extract_value(given[6], k) for k in range(len(args.types))]
        packer = DataPacker(context.data_model_manager, args.types)
        table = context.make_array(signature.args[0])(context, builder, given[0])
        if isinstance(results, types.NoneType):
            kept = ir.Constant(_DOUBLE.as_pointer(), None)
        else:
            kept = context.make_array(results)(context, builder, given[5]).data
        struct = cgutils.make_anonymous_struct(
            builder, [given[1], given[3], given[4], kept, packer.as_data(builder, values)]
        )
        if context.get_abi_sizeof(struct.type) > ROOM:
            raise ValueError(f"arguments of a loop take more than {ROOM} bytes")
        builder.store(struct, builder.bitcast(table.data, struct.type.as_pointer()))
        run = _runner(context, builder.module, struct.type, packer, kinds, like, results)
        return builder.ptrtoint(run, _I64)

    return signature, generate


ROOM = 4096  # bytes for the arguments of a loop


def _runner(context: Any, module: Any, struct: Any, packer: Any, kinds: Any, like: Any, results: Any) -> Any:
    """A function that unpacks the arguments and runs one part; it returns whether the loop has failed."""
    run = ir.Function(module, ir.FunctionType(_I64, [_BYTES, _I64]), module.get_unique_name("run part"))
    run.linkage = "internal"
    builder = ir.IRBuilder(run.append_basic_block())
    place = builder.bitcast(run.args[0], struct.as_pointer())
    address, rows, part, kept = (builder.load(cgutils.gep_inbounds(builder, place, 0, k)) for k in range(4))
    if isinstance(results, types.NoneType):
        first, last = run.args[1], rows
    else:
        first = builder.mul(run.args[1], part)
        last = builder.add(first, part)
        last = builder.select(builder.icmp_signed("<", last, rows), last, rows)
    given = packer.load(builder, cgutils.gep_inbounds(builder, place, 0, 4))
    args = [first, last, *(_borrowed(context, builder, *each) for each in given)]
    kind = context.call_conv.get_function_type(like, kinds)
    loop = builder.inttoptr(address, kind.as_pointer())
    status, found = context.call_conv.call_function(builder, loop, like, kinds, args)
    if not isinstance(results, types.NoneType):
        numbers = list(_flat(context, builder, like, found))
        to = builder.mul(run.args[1], ir.Constant(_I64, len(numbers)))
        for k, number in enumerate(numbers):
            builder.store(number, builder.gep(kept, [builder.add(to, ir.Constant(_I64, k))]))
    builder.ret(builder.zext(status.is_error, _I64))
    return run


def _borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An argument without an owner: who has called may have returned, and counts of owners are in its memory."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo, array.parent = (cgutils.get_null_value(each.type) for each in (array.meminfo, array.parent))
    return array._getvalue()


def _flat(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Numbers of a number, or of a tuple of such, as float64."""
    if hasattr(kind, "types"):  # a tuple
        for k, each in enumerate(kind.types):
            yield from _flat(context, builder, each, builder.extract_value(value, k))
    elif not isinstance(kind, types.NoneType):
        yield context.cast(builder, value, kind, types.float64)


@intrinsic
def call(typing: Any, runner: Any, room: Any, part: Any) -> Any:
    """Run one part of what is packed; returns whether that has failed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = context.make_array(signature.args[1])(context, builder, args[1])
        run = builder.inttoptr(args[0], ir.FunctionType(_I64, [_BYTES, _I64]).as_pointer())
        return builder.call(run, [builder.bitcast(table.data, _BYTES), args[2]])

    return types.int64(types.int64, room, types.int64), generate


@intrinsic
def pause(typing: Any) -> Any:
    """Tell the processor that this thread is waiting."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _PAUSES:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def exchange(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """Put a value into an int64 that other threads change; returns what was there."""
    return _swap(array, "xchg")


@intrinsic
def take_bits(typing: Any, array: Any, at: Any, mask: Any) -> Any:
    """Keep the bits of a mask alone; returns what was there."""
    return _swap(array, "and")


def _swap(array: Any, operation: str) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw(operation, builder.gep(table.data, [args[1]]), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def replace(typing: Any, array: Any, at: Any, old: Any, new: Any) -> Any:
    """Put a new whole number where the old one is; returns whether it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.gep(table.data, [args[1]])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "seq_cst"), 1)

    return types.boolean(array, types.intp, array.dtype, array.dtype), generate


@intrinsic
def move(typing: Any, to: Any, array: Any, first: Any, last: Any) -> Any:
    """Copy some numbers of an array without gaps to the same places of another one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b = (context.make_array(signature.args[k])(context, builder, args[k]).data for k in range(2))
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        places = builder.gep(a, [args[2]]), builder.gep(b, [args[2]])
        cgutils.raw_memcpy(builder, *places, builder.sub(args[3], args[2]), size)
        return context.get_dummy_value()

    return types.void(to, array, types.intp, types.intp), generate
