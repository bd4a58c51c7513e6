"""A real browser, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.browser import CHROMIUM, FLAGS


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def browser(chromium: Any) -> Iterator[Any]:
    """Started once; pages that a module leaves open are closed after it."""
    yield chromium
    for context in chromium.contexts:
        context.close()
