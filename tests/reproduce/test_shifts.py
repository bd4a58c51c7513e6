"""Rows of `reproduce` could fail: a shift of 5 % in what was measured would break each, or a reason says why not."""

from __future__ import annotations

import json
import re

import pytest
from support import ROOT

from rigidgrains.reproduce.base import Row

RESULTS = ROOT / "docs" / "reproduce" / "results.json"
ROWS = [
    (f"{result['target']}: {row['quantity']}", row)
    for result in json.loads(RESULTS.read_text(encoding="utf-8"))["targets"]
    for row in result["rows"]
]
SHIFT = 0.05
ZERO = 0.01  # of its unit: how much a row whose expected value is 0 may allow
STATISTICS = "its standard error, not its tolerance, sets what it can tell apart"
# Patterns of rows that a shift of 5 % would not break, and why.
EXCEPTIONS = {
    r"collision: bed without friction: rise": "one-sided: the floor may push any amount, the bound is free flight",
    r"collision: .*collisions in the last 1e-9": "one-sided: a count that diverges",
    r"collision: .*time reached over the time of collapse": "one-sided: passed or not passed",
    r"collision: cluster: CD updates": "one-sided: Euler's bound on contacts in the plane",
    r"(oscillation|packing-waves): misfit": "one-sided: the bound is what a shift of 5 % in omega or tau would leave",
    r"springs: scatter of overlaps over their mean, contact": STATISTICS,
    r"packing-waves: D over c\^2 dt": STATISTICS,
    r"criteria: ln of": STATISTICS,
    r"criteria: chain, local criterion": STATISTICS,
}


def broken(row: dict, share: float) -> bool:
    """Whether a row would fail if the measured value were another by this share."""
    shifted = Row(row["quantity"], row["paper"], row["measured"] * (1.0 + share), row["tolerance"], row["rule"])
    return not shifted.passed


def reason(name: str) -> str | None:
    """Why a row may be exempt."""
    return next((why for pattern, why in EXCEPTIONS.items() if re.match(pattern, name)), None)


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_a_shift_of_five_per_cent_breaks_a_row(name, row):
    """In either direction. Of zero there are no 5 %: such rows allow next to nothing in their unit."""
    why = reason(name)
    if row["paper"] == 0.0:
        assert row["rule"] == "equal"
        assert row["tolerance"] <= ZERO
    elif why is None:
        assert broken(row, SHIFT), "a shift of +5 % would pass"
        assert broken(row, -SHIFT), "a shift of -5 % would pass"
    elif why == STATISTICS:
        assert row["rule"] == "equal"
        assert row["tolerance"] < 10.0 * row["error"]  # else it needs another tolerance, not an exception
        assert 3.0 * row["error"] > 0.5 * SHIFT * abs(row["paper"])
    else:
        assert row["rule"] != "equal"


def test_every_exception_is_needed():
    """Each pattern names a row, and one that a shift would not break."""
    for pattern in EXCEPTIONS:
        rows = [row for name, row in ROWS if re.match(pattern, name)]
        assert rows, pattern
        assert any(not broken(row, SHIFT) or not broken(row, -SHIFT) for row in rows), pattern


@pytest.mark.parametrize(
    ("tolerance", "rule", "passes"), [(0.06, "equal", False), (0.02, "equal", True), (0, "above", False)]
)
def test_a_row_that_could_not_fail_is_noticed(tolerance, rule, passes):
    """What the test rests on."""
    row = {
        "quantity": "a",
        "paper": 1.0 if rule == "equal" else 0.1,
        "measured": 1.0,
        "tolerance": tolerance,
        "rule": rule,
    }
    assert (broken(row, SHIFT) and broken(row, -SHIFT)) is passes
