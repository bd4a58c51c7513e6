"""Kernels for other processors: ARM without x86 vectors, and a host that the compiler does not know."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit, types

from rigidgrains.runtime import compiled, simd
from rigidgrains.runtime.barrier import meet
from rigidgrains.runtime.prefetch import prefetch
from rigidgrains.runtime.signals import STOPPING
from rigidgrains.runtime.simd import choose, lanes_of, lanes_with, max_of, read_rows, rows_from, sum_of, write_rows

TABLE = types.Array(types.float64, 2, "C")
APPLE = "arm64-apple-macosx11.0.0"


def lanes(table, out):
    """All that sweeps do with lanes."""
    prefetch(table, 8)
    rows = rows_from(0, 4)
    a, b, c, d = read_rows(table, rows, 4)
    write_rows(out, rows, (a + b, choose(a > b, a, c), a * d, a / b))


def sums(numbers):
    """Eight lanes, whatever registers hold."""
    eight = lanes_of(numbers, 0) * lanes_with(3.0)
    return sum_of(eight) + max_of(eight)


def assembly(function, signature) -> str:
    """Of a function, for Apple's processors."""
    compiled_here = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    compiled_here.compile(signature)
    text = next(iter(compiled_here.inspect_llvm().values()))
    text = re.sub(r'(target triple = )".*"', rf'\1"{APPLE}"', text)
    text = re.sub(r'target datalayout = ".*"\n', "", text)
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        machine = llvm.Target.from_triple(APPLE).create_target_machine(cpu="apple-m1", opt=2)
    except RuntimeError as problem:
        pytest.skip(f"this LLVM has no ARM: {problem}")
    return machine.emit_assembly(llvm.parse_assembly(text))


def test_sweeps_compile_for_arm():
    """Four lanes are two registers of NEON; prefetch has its instruction."""
    told = assembly(lanes, (TABLE, TABLE))
    assert re.search(r"fadd\.2d|fmul\.2d", told)
    assert "prfm" in told
    assert "ymm" not in told


def test_sums_compile_for_arm():
    assert re.search(r"fmul\.2d", assembly(sums, (types.float64[::1],)))


def test_barriers_keep_their_order_on_arm():
    """Arrivals are acquired and released there, which x86 does anyway."""
    told = assembly(meet.py_func, (types.int64[::1], types.int64))
    assert re.search(r"\bldar|ldaddal|ldaxr", told)
    assert re.search(r"ldaddal|stlxr", told)


def test_a_host_without_known_features(monkeypatch):
    """Four contacts at a time."""

    def unknown():
        raise RuntimeError("failed to get host cpu features")

    monkeypatch.setattr(simd.llvmlite.binding, "get_host_cpu_features", unknown)
    assert not simd._wide()


@pytest.mark.parametrize(
    ("platform", "place"),
    [("linux", ".cache/numba"), ("darwin", "Library/Caches/numba"), ("win32", "AppData/Local/numba/Cache")],
)
def test_where_numba_keeps_kernels(tmp_path, monkeypatch, platform, place):
    """A package that cannot be written beside has its kernels below the home folder, in the system's place."""
    monkeypatch.setattr(compiled.sys, "platform", platform)
    monkeypatch.setattr(compiled.Path, "home", lambda: tmp_path)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert compiled._user_cache() == tmp_path / place


def test_stops_are_signals():
    assert len(STOPPING) >= 2


def test_the_twins_agree_here():
    numbers = np.arange(1.0, 9.0)
    assert njit(sums)(numbers) == 3.0 * 36.0 + 24.0
