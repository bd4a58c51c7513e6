"""What Dask workers do: one run at a time, on one thread, telling how far they are."""

from __future__ import annotations

import signal
from typing import Any

from ..runtime.threads import set_threads
from .folder import Job
from .perform import perform


def work(job: Job, topic: str) -> str:
    """A run of a study on this worker; gives its state."""
    from distributed import get_worker

    worker = get_worker()
    set_threads(1)
    worker.log_event(topic, (job.label, 0.0))
    return perform(job, lambda share: worker.log_event(topic, (job.label, share)))


def dask_setup(worker: Any) -> None:
    """Ctrl-C in a terminal reaches every process of it; workers leave the answer to the one who started them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
