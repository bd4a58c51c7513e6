"""A kernel that makes no arrays does not count who holds them: it may read and write arrays, and return none."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
from support.owners import hand_out_arrays

from rigidgrains.runtime.compiled import allocating, kernel


def half(table):
    return table[: len(table) // 2]


def test_a_kernel_that_returns_a_part_of_a_table_is_found(monkeypatch):
    module = ModuleType("rigidgrains.of_this_test")
    module.wrong, module.right = kernel(half), allocating(half)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert len(module.right(np.zeros(4))) == 2
    assert hand_out_arrays() == []
    module.wrong(np.zeros(4))
    assert len(hand_out_arrays()) == 1
