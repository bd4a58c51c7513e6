"""With many workers, one per core, each takes two threads: threads of sweeps wait for each other and would starve."""

from __future__ import annotations

import os

if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 2:
    os.environ.setdefault("RIGIDGRAINS_THREADS", "2")
