"""Shortcuts through Numba's compiler: what it has found out once it need not find out again for every kernel.

Kernels stay the same, instruction for instruction. A version of Numba that has not been tried, or whose parts look
different, is left as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from numba import version_info
from numba.core import transforms, types
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.inline_closurecall import InlineWorker
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.types.functions import BaseFunction

PACKAGE = __name__.partition(".")[0]
TRIED = (0, 61), (0, 68)  # versions of Numba, the first and the last, with which kernels have been compared
WRAPPER = "_ZN7cpython"  # how names of functions begin that Python calls: they unpack arguments and call a kernel


def take_shortcuts() -> None:
    """A fifth of the seconds of compiling, or more."""
    if not TRIED[0] <= version_info.short <= TRIED[1]:
        return
    _replace(BaseFunction, "get_call_type", ["self", "context", "args", "kws"], _remember_operators)
    _replace(InlineWorker, "run_untyped_passes", ["self", "func", "enable_ssa"], _remember_inlined)
    _replace(PostProcessor, "run", ["self", "emit_dels", "extend_lifetimes"], _find_lifetimes_when_asked)
    if _is_known(CPUCodegen, "_function_pass_manager", ["self", "kwargs"]):  # until 0.61 made once for the whole module
        _replace(CPUCodeLibrary, "_optimize_functions", ["self", "ll_module"], _pass_over_declarations)


def _replace(owner: Any, name: str, parameters: list[str], make: Callable[[Any], Any]) -> None:
    """A method by one made of it, if it is the one that is known here."""
    if _is_known(owner, name, parameters):
        setattr(owner, name, make(getattr(owner, name)))


def _is_known(owner: Any, name: str, parameters: list[str]) -> bool:
    known = getattr(owner, name, None)
    return known is not None and list(inspect.signature(known).parameters) == parameters


def _remember_operators(ask: Any) -> Any:
    """Of + between two floats Numba tries dozens of meanings, each time. Those it has built in are remembered.

    Meanings that are compiled themselves depend on the options of the kernel, and are asked for again.
    """

    of_function: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or any(isinstance(kind, types.Callable) for kind in args):
            return ask(self, context, args, kws)
        known = of_function.setdefault(self, {})
        signature = known.get((context, args))
        if signature is None:
            signature = ask(self, context, args, kws)
            if self.get_impl_key(signature) == self.typing_key:
                known[context, args] = signature
        return signature

    return get_call_type


def _remember_inlined(read: Any) -> Any:
    """A function of this package that is inlined at many places is read from its bytecode once; each place copies."""
    known: dict[Any, Any] = {}

    def run_untyped_passes(self: Any, func: Any, enable_ssa: bool = False) -> Any:
        if not func.__module__.startswith(f"{PACKAGE}."):
            return read(self, func, enable_ssa)
        if (func, enable_ssa) not in known:
            known[func, enable_ssa] = read(self, func, enable_ssa)
        return known[func, enable_ssa]

    return run_untyped_passes


def _find_lifetimes_when_asked(find: Any) -> Any:
    """After each of ten passes Numba finds out where variables live, for generators and for Python objects: kernels,
    which know neither, ask once, in the end."""

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        ir = self.func_ir
        if ir.is_generator or not ir.func_id.modname.startswith(f"{PACKAGE}."):
            find(self, emit_dels, extend_lifetimes)
            return
        ir.blocks = transforms.canonicalize_cfg(ir.blocks)
        ir.variable_lifetime, ir.generator_info = VariableLifetime(ir.blocks), None
        if emit_dels:
            self._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return run


def _pass_over_declarations(optimise: Any) -> Any:
    """Passes over one function are made anew for each; of ten functions of a module, eight are only declared.

    What Python calls unpacks arguments one after another: passes over the module are enough for that.
    """

    class Defined:
        """A module that shows the functions that it defines."""

        module: Any

        def __init__(self, module: Any) -> None:
            object.__setattr__(self, "module", module)

        @property
        def functions(self) -> list[Any]:
            return [
                function
                for function in self.module.functions
                if not function.is_declaration and not function.name.startswith(WRAPPER)
            ]

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.module, name, value)

    def optimize_functions(self: Any, ll_module: Any) -> None:
        optimise(self, Defined(ll_module))

    return optimize_functions
