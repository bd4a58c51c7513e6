"""Kernels that count no owners of arrays, and what they hand out."""

from __future__ import annotations

import sys


def hand_out_arrays() -> list[str]:
    """Of all kernels compiled so far, those that return an array though they count no owners."""
    if "rigidgrains.runtime.compiled" not in sys.modules:
        return []
    from numba.core.dispatcher import Dispatcher

    modules = [module for name, module in sys.modules.items() if name.startswith("rigidgrains.")]
    kernels = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    return sorted(
        f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__} returns {compiled.signature.return_type}"
        for kernel in kernels
        for compiled in kernel.overloads.values()
        if not kernel.targetoptions.get("_nrt", True) and "array" in str(compiled.signature.return_type)
    )
