"""What Numba is spared to find out again is what it would find; kernels come out the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CODE = """
import json, re, sys
import rigidgrains.runtime.shortcuts as shortcuts
if sys.argv[1] == "without":
    shortcuts.take_shortcuts = lambda: None
from rigidgrains.runtime.compiled import inlined
from numba import njit

def twice(x):
    return 2.0 * x if x > 0.0 else x

def loop(a, k):
    total = 0.0
    for i in range(len(a)):
        total += twice(a[i]) + k * twice(total) / (i + 1)
        a[i] = max(total, -(a[i] ** 2))
    return total, k + 1, k < len(a)

twice.__module__ = loop.__module__ = "rigidgrains.of_the_package"  # functions of others take the long way
twice, loop = inlined(twice), njit(no_cfunc_wrapper=True, no_cpython_wrapper=True)(loop)
signatures = "(float64[::1], int64)", "(float64[::1], float64)"
for signature in signatures:
    loop.compile(signature)
bodies = []
for text in loop.inspect_asm().values():
    lines = [line.strip() for line in text.splitlines() if re.match(r"\\t[^.]", line)]
    bodies.append([re.sub(r"[.\\w$]*(loop|numba|LBB|LCPI)[.\\w$]*", "@", line) for line in lines])
print(json.dumps(bodies))
"""


@pytest.fixture(scope="module")
def machine_code() -> dict[str, list[list[str]]]:
    told = {}
    for how in ("with", "without"):
        done = subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told[how] = json.loads(done.stdout)
    return told


def test_shortcuts_change_no_instruction(machine_code):
    assert machine_code["with"] == machine_code["without"]
    assert all(len(body) > 20 for body in machine_code["with"])


def test_unknown_methods_stay_as_they_are():
    from rigidgrains.runtime.shortcuts import _replace

    class Newer:
        def read(self, func, ssa):
            return func, ssa

    known = Newer.read
    for parameters in (["self", "func"], ["self", "func", "ssa", "more"]):
        _replace(Newer, "read", parameters, lambda method: None)
        _replace(Newer, "absent", parameters, lambda method: None)
    assert Newer.read is known
    assert not hasattr(Newer, "absent")
    _replace(Newer, "read", ["self", "func", "ssa"], lambda method: "another")
    assert Newer.read == "another"


def test_passes_that_are_made_for_a_module_need_its_own_object(monkeypatch):
    """Until Numba 0.61: those cannot be made of a stand-in for the module."""
    from numba.core import codegen

    from rigidgrains.runtime import shortcuts

    def of_module(self, llvm_module, **kwargs):
        raise AssertionError

    before = codegen.CPUCodeLibrary._optimize_functions
    for name in ("get_call_type", "run_untyped_passes"):
        owner = shortcuts.BaseFunction if name == "get_call_type" else shortcuts.InlineWorker
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(codegen.CPUCodeLibrary, "_optimize_functions", before)
    monkeypatch.setattr(codegen.CPUCodegen, "_function_pass_manager", of_module)
    shortcuts.take_shortcuts()
    assert codegen.CPUCodeLibrary._optimize_functions is before
