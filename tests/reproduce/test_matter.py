"""Matter made of grains: the quick versions of four targets pass all their rows."""

from __future__ import annotations

import importlib

import pytest

from rigidgrains.reproduce import TARGETS


@pytest.mark.parametrize("name", [
    "iterations", "order_bias",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("springs", "packing_waves")),
])  # fmt: skip
def test_rows_pass(name: str) -> None:
    shares: list[float] = []
    result = importlib.import_module(f"rigidgrains.reproduce.{name}").run(True, shares.append)
    assert [row for row in result.rows if not row.passed] == []
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in result.figure.axes)
    assert any(axes.get_legend() for axes in result.figure.axes)
    target = next(target for target in TARGETS.values() if target.module == name)
    assert set(target.more) == set(result.more)
