"""Calls without a way out for errors: the same numbers, and nobody counts who holds an array."""

from __future__ import annotations

import numpy as np

from rigidgrains.runtime.calls import certainly
from rigidgrains.runtime.compiled import inside, kernel


@inside
def far(a, b, share):
    """A law that is called."""
    return share * b[0] - a[0], a[1] * b[1]


def filled(rows, out):
    """Some rows, with arrays that are used after the call."""
    for k in range(len(rows)):
        a, b = (rows[k, 0], rows[k, 1]), (rows[k, 2], rows[k, 3])
        x, y = certainly(far, (a, b, 0.5))
        out[k, 0], out[k, 1] = x, y


def test_a_certain_call_returns_what_the_law_returns():
    rows, out = np.random.default_rng(1).normal(size=(5, 4)), np.empty((5, 2))
    kernel(filled)(rows, out)
    np.testing.assert_array_equal(out[:, 0], 0.5 * rows[:, 2] - rows[:, 0])
    np.testing.assert_array_equal(out[:, 1], rows[:, 1] * rows[:, 3])
