"""Lanes: each is rounded like a number on its own, and whole rows come and go unchanged."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from support.kernels import apply_forces, sweep

from rigidgrains.app.bench import dense_problem
from rigidgrains.laws.shock import shock_law
from rigidgrains.runtime.barrier import new_meeting
from rigidgrains.runtime.memory import LINE, new_table, on_lines
from rigidgrains.runtime.simd import (
    SIDE_BY_SIDE,
    WIDTH,
    choose,
    column_of,
    lanes_of,
    lanes_with,
    max_of,
    next_of,
    read_column,
    read_rows,
    rows_from,
    sum_of,
    write_rows,
)
from rigidgrains.solve.kernels.factory import make_kernels
from rigidgrains.solve.kernels.kinds import FRICTION

law = njit(shock_law)
numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


def lanes(many):
    """Loops over so many lanes: some arithmetic on columns, rows of four that change places, three columns of seven."""

    @njit
    def compute(table, sequence, out):
        rows = next_of(sequence, 1, many)
        a, b, c, d, e, f, g, h = read_rows(table, rows, 8)
        less = choose(a > b, a - b, 2.0 * c)
        write_rows(out, rows, (a + b, a - b, a * b, a / b, math.sqrt(d * d), less, choose(e <= f, g, 0.5), h))

    @njit
    def swap_ends(pairs, sequence, table):
        c = next_of(sequence, 0, many)
        first, second = read_rows(table, column_of(pairs, c, 0), 4), read_rows(table, column_of(pairs, c, 1), 4)
        write_rows(table, column_of(pairs, c, 1), first)
        write_rows(table, column_of(pairs, c, 0), second)

    @njit
    def turn_over(table, out):
        rows = rows_from(2, many)
        _, b, c, d, e, f, g = read_rows(table, rows, 7)
        write_rows(out, rows, (g, f, e, d, c, b, read_column(table, rows, 7, 0)))

    return compute, swap_ends, turn_over


LANES = {many: lanes(many) for many in (4, 8)}


def one_by_one(row):
    a, b, c, d, e, f, g, h = row
    return a + b, a - b, a * b, a / b, np.sqrt(d * d), a - b if a > b else 2.0 * c, g if e <= f else 0.5, h


@pytest.mark.parametrize("many", LANES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_lanes_round_like_single_numbers(many, data):
    table = np.array(data.draw(st.lists(st.lists(numbers, min_size=8, max_size=8), min_size=12, max_size=12)))
    sequence = np.array(data.draw(st.permutations(range(12))), np.int32)
    out = np.full_like(table, 7.0)
    LANES[many][0](table, sequence, out)
    touched = sequence[1 : 1 + many]
    with np.errstate(all="ignore"):
        expected = np.array([one_by_one(table[k]) for k in touched])
    np.testing.assert_array_equal(out[touched], expected)
    np.testing.assert_array_equal(np.delete(out, touched, axis=0), 7.0)


@pytest.mark.parametrize("many", LANES)
def test_short_rows_are_read_and_written_by_the_pairs_of_a_sequence(many):
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 4))
    pairs = rng.permutation(40).reshape(20, 2).astype(np.int32)
    sequence = rng.permutation(20).astype(np.int32)
    expected = table.copy()
    for c in sequence[:many]:
        expected[pairs[c]] = expected[pairs[c, ::-1]]
    LANES[many][1](pairs, sequence, table)
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("many", LANES)
def test_rows_of_an_odd_length_are_written_and_nothing_beyond_them(many):
    table = np.random.default_rng(4).normal(size=(12, 7))
    out = np.full_like(table, 7.0)
    LANES[many][2](table, out)
    expected = np.full_like(table, 7.0)
    expected[2 : 2 + many] = table[2 : 2 + many, ::-1]
    np.testing.assert_array_equal(out, expected)


@njit
def law_in_lanes(table, out):
    """The shock law for eight columns read as three."""
    rows = next_of(np.arange(WIDTH).astype(np.int32), 0, WIDTH)
    r_n, r_tt, mu, zero = read_rows(table, rows, 4)
    r_n, factor = law(r_n, r_tt, mu)
    write_rows(out, rows, (r_n, factor, zero, zero))


@pytest.mark.parametrize("seed", range(3))
def test_the_shock_law_has_one_text_for_one_contact_and_for_many(seed):
    rng = np.random.default_rng(seed)
    table = np.zeros((WIDTH, 4))
    table[:, 0], table[:, 1] = rng.normal(size=WIDTH), rng.exponential(size=WIDTH)
    table[:, 2] = rng.choice([0.0, 0.3, 1.0, np.inf], WIDTH)
    table[0, :3], table[1, :3], table[2, 0] = (0.0, 0.0, np.inf), (1.0, 0.0, 0.0), np.nan
    out = np.empty_like(table)
    law_in_lanes(table, out)
    np.testing.assert_array_equal(out[:, :2], [shock_law(*row[:3]) for row in table.tolist()])


@pytest.mark.parametrize("grains", [30, 500])
def test_a_sweep_in_lanes_has_the_bits_of_the_same_sweep_contact_by_contact(grains):
    _, problem = dense_problem(grains, coloured=True)
    by = problem.colouring
    colours = np.random.default_rng(1).permutation(by.count)
    motion, forces = problem.motion.copy(), problem.forces.copy()
    for _ in range(5):
        make_kernels(FRICTION).coloured_sweep(
            0, 1, new_meeting(), colours, by.sequence, by.start, by.alone, by.inner, by.tiles, *problem.arrays,
            problem.dt, False,
        )  # fmt: skip
        sweep(by.arranged(colours), motion, problem.pairs, problem.geometry, forces, problem.dt)
    assert (np.diff(by.start) >= SIDE_BY_SIDE).any() or grains < 100
    np.testing.assert_array_equal(problem.forces, forces)
    np.testing.assert_array_equal(problem.motion, motion)
    assert forces.any()


@njit
def folded(numbers):
    """Sum and largest of lanes from place 1 on, and of lanes with one number; rows in turn."""
    some, same = lanes_of(numbers, 1), lanes_with(0.25)
    return sum_of(some), max_of(some), sum_of(same), rows_from(5, WIDTH)


def test_lanes_are_folded_to_one_number():
    """Whole numbers, whose sums are exact."""
    numbers = np.random.default_rng(5).permutation(2.0 * np.arange(-10, 10))
    some = numbers[1 : 1 + WIDTH]
    assert folded(numbers) == (some.sum(), some.max(), 0.25 * WIDTH, tuple(range(5, 5 + WIDTH)))


def test_forces_that_act_in_lanes_leave_the_bits_of_those_that_act_one_by_one():
    _, problem = dense_problem(400, coloured=True)
    by, p = problem.colouring, problem
    p.forces[:] = np.random.default_rng(2).normal(size=p.forces.shape)
    motion = p.motion.copy()
    apply_forces(motion, p.pairs, p.geometry, p.forces, p.dt)
    make_kernels(FRICTION).coloured_forces(0, 1, new_meeting(), by.start, by.alone, *p.arrays, p.dt)
    np.testing.assert_array_equal(p.motion, motion)


def test_tables_begin_at_cache_lines():
    for rows in (1, 7, 1000):
        table = new_table(rows, 8)
        assert table.shape == (rows, 8)
        assert table.ctypes.data % LINE == 0
    table = new_table(10, 8)
    table[:] = np.arange(80.0).reshape(10, 8)
    assert on_lines(table) is table
    shifted = table.reshape(-1)[2:74].reshape(9, 8)
    moved = on_lines(shifted)
    assert moved.ctypes.data % LINE == 0
    np.testing.assert_array_equal(moved, shifted)
