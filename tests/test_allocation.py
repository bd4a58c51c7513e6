"""Steps ask for no memory that grows with the number of grains: what they need is kept from one to the next."""

from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np

from rigidgrains.memory import Workspace, copy_rows

BOUND = 6.0  # bytes per grain: less than one number for each


def test_steps_of_a_dense_packing_ask_for_no_memory():
    """Steps that keep their lists never do; those that make lists do if these grow.

    What is left: rows of grains near walls, parts of loops, one at a time, and counts of each part. One number more for
    each grain, made and forgotten, would be seen, be it in Python or in a kernel.
    """
    program = Path(__file__).with_name("allocated.py")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    asked = json.loads(done.stdout)
    for solver in ("plain", "accelerated"):
        kept, made = asked[solver]["kept"], asked[solver]["made"]
        assert len(kept) > 10
        assert len(made) > 1
        assert sorted(kept)[-2] < BOUND  # now and then something grows
        assert min(made) < BOUND
    for where in ("array", "kernel"):
        assert min(asked[where]["kept"] + asked[where]["made"]) > BOUND


def test_a_workspace_gives_the_same_memory_until_more_is_needed():
    work = Workspace()
    first = work.take("a", 10, 3)
    assert first.shape == (10, 3)
    assert np.shares_memory(work.take("a", 4, 3), first)
    assert not np.shares_memory(work.take("b", 4, 3), first)
    larger = work.take("a", 100, 3)
    assert not np.shares_memory(larger, first)
    assert np.shares_memory(work.take("a", 110, 3), larger)  # some more than was needed
    assert work.take("c", 5, kind=np.int8).dtype == np.int8
    assert not np.shares_memory(deepcopy(work).take("a", 10, 3), larger)


def test_rows_are_copied_in_parts():
    rows = np.random.default_rng(1).normal(size=(20_000, 8))
    to = np.empty_like(rows)
    copy_rows(rows, to)
    np.testing.assert_array_equal(to, rows)
