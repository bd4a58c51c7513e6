"""What holds for all tests: threads of many workers, and which slow tests run.

With many workers, one per core, each takes two threads: threads of sweeps wait for each other and would starve.
Workers that start cold do not compile the same kernels: the first begins with those of the solver, the others with
their tests, and each kernel is compiled by one of them alone, see support/turns.py.
SHARE=k/n runs one of n shares of the slow tests, of about equal time, TURN says with which of them it begins;
SLOW_SECONDS starts none of them any more after so many seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 2:
    os.environ.setdefault("RIGIDGRAINS_THREADS", "2")
if "PYTEST_XDIST_WORKER" in os.environ:  # other workers compile meanwhile: a process more would do it twice
    os.environ.setdefault("RIGIDGRAINS_AHEAD", "1")
    from support.turns import take_turns

    take_turns()

MANY, FEW = 1000, 10  # tests to which a quarter of a minute is nothing; kernels that another worker may have by then
BEGUN = time.monotonic()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With SHARE: of the slow tests those of one share, begun with another one in each TURN."""
    if not (given := os.environ.get("SHARE", "")):
        return
    from support.shares import measured, shares_of, turned

    share, shares = (int(part) for part in given.split("/"))
    turn = int(os.environ.get("TURN", "0"))
    slow = {item.nodeid: item for item in items if item.get_closest_marker("slow")}
    of = shares_of(slow, shares, measured())
    kept = [slow[name] for name in turned([name for name in slow if of[name] == share % shares], turn)]
    config.hook.pytest_deselected(items=[slow[name] for name in slow if of[name] != share % shares])
    items[:] = [item for item in items if item.nodeid not in slow] + kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before many tests, if nothing is compiled yet, one worker compiles what finds the forces."""
    if os.environ.get("PYTEST_XDIST_WORKER") != "gw0" or session.testscollected < MANY:
        return
    from rigidgrains.app import ahead
    from rigidgrains.runtime.compiled import cached_kernels

    if cached_kernels()[0] < FEW:
        ahead.main()


def pytest_runtest_setup(item: pytest.Item) -> None:
    limit = float(os.environ.get("SLOW_SECONDS", "inf"))
    if item.get_closest_marker("slow") and time.monotonic() - BEGUN > limit:
        pytest.skip(f"the {limit:g} seconds for slow tests are over")


@pytest.fixture(scope="session", autouse=True)
def _no_array_without_owner() -> Iterator[None]:
    """Kernels that count no owners hand out no arrays: of a slice Python would get the whole; asked of all compiled."""
    yield
    from support.owners import hand_out_arrays

    assert hand_out_arrays() == []
