"""Accelerated sweeps on W: the rule of the engine, with an L/d from what is coupled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rigidgrains.solve.matrix.general import BlockRows
from rigidgrains.solve.matrix.sweeps import accelerated_sweeps, extent_of, plain_sweeps


def row(*lengths: int) -> BlockRows:
    """Rows of equal disks side by side, each pressed together by two walls: the first and the last contact."""
    normal = sparse.block_diag([_chain(n) for n in lengths])
    W = sparse.kron(normal, [[1.0, 0.0], [0.0, 0.0]]) + sparse.kron(
        sparse.eye_array(len(q := _push(lengths))), np.eye(2)
    )
    return BlockRows.of(sparse.csr_array(W), np.column_stack([q, 0.0 * q]).ravel(), np.full(len(q), 0.3), 2)


def _chain(contacts: int):
    """Each contact shares a disk with the next; with the identity of tangents added this is 2, -1, -1."""
    return sparse.diags_array([-1.0, 1.0, -1.0], offsets=[-1, 0, 1], shape=(contacts, contacts))


def _push(lengths):
    return np.concatenate([-np.eye(n)[0] for n in lengths])


@pytest.mark.parametrize("contacts", [1, 2, 30])
def test_extent_of_a_row_is_its_length(contacts):
    assert extent_of(row(contacts)) == contacts


def test_extent_is_that_of_the_longest_cluster_wherever_it_stands():
    for lengths in ([3, 17, 5], [17, 3, 5], [5, 3, 17]):
        assert extent_of(row(*lengths)) == 17
    rows = row(23)
    shuffled = np.random.default_rng(1).permutation(23)
    W = sparse.csr_array((np.ones(len(rows.column)), rows.column, rows.start))[shuffled][:, shuffled]
    other = BlockRows.of(sparse.kron(W, np.eye(3), format="csr"), rows.q.ravel(), rows.mu, 3)
    assert extent_of(other) == 23


def test_sweeps_grow_with_length_and_not_with_its_square():
    """A row of 4 times as many disks: about 4 times the accelerated sweeps, and 16 times the plain ones."""
    made = {}
    for n in (20, 80):
        start = np.zeros((n, 3))
        for solve in (accelerated_sweeps, plain_sweeps):
            found = solve(row(n), start, 1e-6, 50_000)
            assert found.residual <= 1e-6
            made[solve, n] = found.sweeps
    assert made[accelerated_sweeps, 80] < 8 * made[accelerated_sweeps, 20]
    assert made[plain_sweeps, 80] > 8 * made[plain_sweeps, 20]


def test_the_seed_alone_decides_the_order():
    first, again, other = (accelerated_sweeps(row(40), np.zeros((40, 3)), 1e-9, 300, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.r, again.r)
    assert not np.array_equal(first.r, other.r)
    np.testing.assert_allclose(first.r, other.r, atol=1e-5)
    assert first.history[0][0] == 0


def test_sweeps_that_are_not_enough_are_told():
    for solve in (accelerated_sweeps, plain_sweeps):
        found = solve(row(40), np.zeros((40, 3)), 1e-9, 7)
        assert (found.sweeps, found.reason) == (7, "not within 7 sweeps")
        assert found.history[-1][0] == 7
