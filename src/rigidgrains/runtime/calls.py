"""Calls of laws that cannot fail.

Behind every call the compiler puts a way out for errors, and as long as there is one it counts, atomically, who holds
each array that is used afterwards: four times the work of a contact. A law raises nothing, so there is no way out here.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils

from .simd import intrinsic


@intrinsic
def certainly(typing: Any, law: Any, arguments: Any) -> Any:
    """What a law returns for a tuple of arguments."""
    inner = law.get_call_type(typing, tuple(arguments), {})

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        compiled = law.dispatcher.overloads[inner.args]
        context.add_linking_libs([compiled.library])
        numbers = cgutils.unpack_tuple(builder, args[1])
        _, result = context.call_internal_no_propagate(builder, compiled.fndesc, inner, numbers)
        return result

    return inner.return_type(law, arguments), generate
