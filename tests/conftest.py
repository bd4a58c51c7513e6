"""What holds for all tests: threads of many workers, and which slow tests run.

With many workers, one per core, each takes two threads: threads of sweeps wait for each other and would starve.
Workers that start cold do not compile the same kernels: the first begins with those of the solver, the others with
their tests, and each kernel is compiled by one of them alone, see support/turns.py.
SHARE=k/n runs one of n shares of the slow tests; SLOW_SECONDS starts none of them any more after so many seconds.
"""

from __future__ import annotations

import os
import time
from zlib import crc32

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
    """Shares are made of whole functions, by their names: a new test moves no other one."""
    if not (given := os.environ.get("SHARE", "")):
        return
    share, shares = (int(part) for part in given.split("/"))
    others = [
        item
        for item in items
        if item.get_closest_marker("slow") and crc32(item.nodeid.partition("[")[0].encode()) % shares != share % shares
    ]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]


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
