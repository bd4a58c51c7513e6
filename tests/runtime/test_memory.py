"""Steps ask for no memory that grows with the number of grains: what they need is kept from one to the next."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from support import TESTS
from support.builders import plane

from rigidgrains import FixedSweeps, Simulation, Sweeps
from rigidgrains.app.bench import dense_bodies
from rigidgrains.contacts import contacts
from rigidgrains.model.bodies import Bodies
from rigidgrains.runtime import memory
from rigidgrains.runtime.memory import Workspace, copy_rows, new_bytes
from rigidgrains.solve.accelerated import AcceleratedSweeps

BOUND = 6.0  # bytes per grain: less than one number for each


def test_steps_of_a_dense_packing_ask_for_no_memory():
    """Steps that keep their lists never do; those that make lists do if these grow.

    What is left: rows of grains near walls, parts of loops, one at a time, and counts of each part. One number more for
    each grain, made and forgotten, would be seen, be it in Python or in a kernel.
    """
    program = Path(__file__).with_name("allocated.py")
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, program], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    asked = json.loads(done.stdout)
    for solver in ("plain", "accelerated"):
        kept, made = asked[solver]["kept"], asked[solver]["made"]
        assert len(kept) > 10
        assert len(made) > 1
        assert sorted(kept)[-2] < BOUND  # now and then something grows
        assert min(made) < BOUND
    for where in ("array", "kernel"):
        assert min(asked[where]["kept"] + asked[where]["made"]) > BOUND


# What has to be there, in bytes: for each grain, each listed pair and each candidate.
MOTION = 8 * 8 + 6 * 8  # rows, and v and s before the step
GRAIN = 3 * 8 + 4 * 8 + 8 + 8 + 8 + 4  # position, orientation, radius, mass, id, material
LISTS = 3 * 8 + 8 + 2 * 4 + 4  # reference, skin, block and leaders; where rows begin
PAIR = 4 + 1 + 1 + 9 / 8 * 4  # partner, image, colour; last row, with room for an eighth more
# While lists are made: radius with skin (later speed), again in the order of cells (gaps before), cell, level, member,
# and where the old rows begin; of each pair what the old list has, and one column of what is found
GRID, OLD = 3 * 8 + 2 * 4 + 4, 4 + 1 + 4 + 9 / 8 * 4
CANDIDATE = 8 * 8 + 4 * 8 + 2 * 4 + 1 + 4  # geometry, force, pair, image, place in the sweep
CARRIED = 4 * 8  # force of the last step, where a number of sweeps is given
EXTRAPOLATED = 6 * 8 + 8 * 8 + 4 + 8  # of accelerated sweeps, each grain: free and second velocity, cluster, mass on it
TABLES = 2 * 4 * 8 + 1  # ... each candidate: second and best forces, a share in two tables of sums
# Lists are made where the best forces are in a solve: nothing of that is to be seen with accelerated sweeps.


@pytest.mark.parametrize("accelerated", [False, True])
def test_a_packing_holds_what_has_to_be_there_and_no_more(monkeypatch, accelerated):
    """All arrays of a simulation against an account by hand: one number more for each grain would be seen."""
    for module in (memory, contacts):
        monkeypatch.setattr(module, "ROOM", 10**9)  # nothing to grow into
    dense, n = dense_bodies(16_000), 16_000
    bodies = Bodies.assemble(
        dimension=3, position=dense.position, radius=dense.radius, density=1.0, velocity=dense.velocity, friction=0.3,
        walls=[plane(dense.position.min(axis=0) - dense.radius[0], [0, 0, 1.0], "floor")],
    )  # fmt: skip
    solver = AcceleratedSweeps() if accelerated else Sweeps(order="coloured", criterion=FixedSweeps(5))
    simulation = Simulation(bodies, dt=0.02, solver=solver)
    listed = candidates = 0
    while simulation.neighbours.builds < 4:
        simulation.step()
        listed = max(listed, len(simulation.neighbours.pairs.partner))
        candidates = max(candidates, simulation.contacts.count)
    buckets = 4 * 2 ** math.ceil(math.log2(2 * n))
    needed = n * (MOTION + GRAIN + LISTS) + listed * PAIR + candidates * CANDIDATE
    if accelerated:
        needed += candidates * TABLES + n * EXTRAPOLATED
    else:
        needed += candidates * CARRIED + buckets + n * GRID + listed * OLD
    assert held(simulation) / n < needed / n + 4.0
    simulation.more = np.zeros(n)
    assert held(simulation) / n > needed / n + 4.0


def held(thing):
    """Bytes of all arrays that can be reached from here."""
    arrays, seen, ahead = {}, set(), [thing]
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if isinstance(one.base, np.ndarray):
                ahead.append(one.base)
            else:
                arrays[id(one)] = one.nbytes
        elif isinstance(one, dict):
            ahead += one.values()
        elif isinstance(one, (list, tuple)):
            ahead += one
        elif hasattr(one, "__dict__") and not callable(one):
            ahead += vars(one).values()
    return sum(arrays.values())


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


SIZES = (1, 1000, memory.LARGE - 1, memory.LARGE, memory.HUGE + 1)


def test_what_is_lent_is_borrowed_while_there_is_room():
    work = Workspace()
    own = work.borrow("a", 10)
    table = work.take("table", 8, 4)
    work.lend("table")
    a, b = work.borrow("a", 10), work.borrow("b", 5, kind=np.int8)
    assert not np.shares_memory(a, own)
    assert np.shares_memory(a, table)
    assert np.shares_memory(b, table)
    assert not np.shares_memory(a, b)
    assert (len(b), b.dtype) == (5, np.int8)
    assert b.ctypes.data % memory.LINE == 0
    assert np.shares_memory(work.borrow("a", 6), a)
    many = work.borrow("c", 100)
    assert len(many) == 100
    assert not np.shares_memory(many, table)
    assert np.shares_memory(work.borrow("c", 50), many)  # kept as its own
    work.lend("table")
    assert np.shares_memory(work.borrow("c", 32), table)  # from the beginning again


def test_memory_begins_at_a_cache_line_and_can_be_written():
    for size in SIZES:
        kept = [new_bytes(size) for _ in range(3)]  # at several places
        for number, one in enumerate(kept):
            assert (one.shape, one.dtype) == ((size,), np.uint8)
            assert one.ctypes.data % memory.LINE == 0
            one[:] = number
        assert all((one == number).all() for number, one in enumerate(kept))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_splits_off_has_memory_of_its_own():
    """What the child writes is not seen here: a mapping that is shared would be one memory for both."""
    code = (
        "import os\n"
        "from rigidgrains.runtime.memory import new_bytes\n"
        f"tables = [new_bytes(size) for size in {SIZES}]\n"
        "for table in tables: table[:] = 1\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    for table in tables: table[:] = 2\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "print(all((table == 1).all() for table in tables))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_rows_are_copied_in_parts():
    rows = np.random.default_rng(1).normal(size=(20_000, 8))
    to = np.empty_like(rows)
    copy_rows(rows, to)
    np.testing.assert_array_equal(to, rows)
