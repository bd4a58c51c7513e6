"""Runs what a study lacks: on Dask workers, or one after another in this process. The folder alone is the truth."""

from __future__ import annotations

import queue
import re
import time as clock
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime import threads
from ..simulation.triggers import Interrupt
from .errors import StudyFailed
from .folder import Job, jobs_of, prepare
from .live import Watcher
from .perform import perform
from .result import Result, read_result, state_of
from .status import Status, status_of
from .table import write_tables

if TYPE_CHECKING:
    from distributed import Client, Future

    from .study import Study

FAREWELL = 60.0  # s, for runs to reach a checkpoint after Ctrl-C
LOST = "its worker died again and again, perhaps for want of memory; run the study again, with fewer workers"


def run_study(
    study: Study,
    folder: str | Path | None,
    *,
    workers: int | None = None,
    cluster: Any = None,
    part: str | None = None,
    limit: int | None = None,
    retry: bool = False,
    watcher: Watcher | None = None,
) -> Status:
    """Run and measure what is lacking, write the tables, and tell how the study stands."""
    place = study.folder if folder is None else Path(folder)
    if place is None:
        raise ValueError("a study needs a folder for its runs; give one: study.run('folder')")
    first, parts = read_part(part)
    _check(workers=workers, limit=limit)
    if (part is not None or workers == 0) and cluster is not None:
        raise ValueError("part and workers = 0 run in this process; leave out the cluster")
    prepare(study, place)
    place = place.resolve()
    study._folder = place
    stop = place / f"stop-{uuid.uuid4().hex[:8]}"
    jobs = [job for _, job in jobs_of(study, place, stop)][first::parts]
    lacking = [job for job in jobs if _lacks(job, retry)]
    chosen = lacking if limit is None else lacking[:limit]
    watcher = Watcher() if watcher is None else watcher
    interrupted = False
    if chosen:
        watcher.begin(len(jobs), len(jobs) - len(lacking), len(chosen))
        try:
            if part is not None or workers == 0:
                interrupted = _here(chosen, watcher)
            else:
                interrupted = _on_dask(chosen, watcher, workers, cluster, place)
        finally:
            stop.unlink(missing_ok=True)
            watcher.end()
            write_tables(study, place)
    else:
        write_tables(study, place)
    return replace(status_of(study, place), interrupted=interrupted)


def read_part(part: str | None) -> tuple[int, int]:
    """Index from 0 and number of parts, of "3/16"."""
    if part is None:
        return 0, 1
    found = re.fullmatch(r"(\d+)/(\d+)", part.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"part {part} is none; write it like 3/16, the third of sixteen")
    return int(found[1]) - 1, int(found[2])


def _check(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and (not isinstance(number, int) or number < 0):
            raise ValueError(
                f"{name} = {number!r} is no number of {'runs' if name == 'limit' else name}; give 0 or more"
            )


def _lacks(job: Job, retry: bool) -> bool:
    """Whether a run has something left to do; failures are tried again if asked."""
    state = state_of(job)
    if retry and state in ("failed", "unmeasured"):
        result = read_result(job)
        if result is not None:
            result.again = bool(result.error)
            result.measures = {name: one for name, one in result.measures.items() if not one["error"]}
            result.save(job.place)
        return True
    return state in ("begun", "waiting")


def _here(jobs: Sequence[Job], watcher: Watcher) -> bool:
    """One after another; True if interrupted."""
    with threads.only(1):
        for job in jobs:
            with Interrupt() as between:
                watcher.started(job.label)
                state = perform(job, lambda share, label=job.label: watcher.progress(label, share))  # type: ignore[misc]
                watcher.ended(job.label, state)
            if between.asked or (state == "begun" and job.stop.exists()):
                return True
            if state == "begun" and not _taken_by_another(job):
                return True
    return False


def _taken_by_another(job: Job) -> bool:
    from .alone import alone

    with alone(job.place, wait=0.0) as mine:
        return not mine


def _on_dask(jobs: Sequence[Job], watcher: Watcher, workers: int | None, cluster: Any, folder: Path) -> bool:
    """On workers; True if interrupted."""
    from .clusters import connected

    with connected(workers, cluster, folder, most=len(jobs)) as client:
        return drive(client, jobs, watcher)


def drive(client: Client, jobs: Sequence[Job], watcher: Watcher) -> bool:
    """Hand all jobs to the scheduler and follow them; Ctrl-C stops them between two steps."""
    from .worker import work

    topic = f"rigidgrains-study-{uuid.uuid4().hex[:8]}"
    client.subscribe_topic(topic, lambda event: watcher.progress(*event[1]))
    futures = client.map(work, jobs, topic=topic, key=[f"{job.label}-{topic[-8:]}" for job in jobs], pure=False)
    job_of = {future.key: job for future, job in zip(futures, jobs)}
    ended: queue.Queue[Future] = queue.Queue()
    for future in futures:
        future.add_done_callback(ended.put)
    left, last, stop = len(jobs), float("inf"), jobs[0].stop
    with Interrupt() as interrupt:
        while left and clock.monotonic() < last:
            with suppress(queue.Empty):
                future = ended.get(timeout=0.25)
                left -= 1
                watcher.ended(job_of[future.key].label, _outcome(future, job_of[future.key], interrupt.asked))
            if interrupt.asked and not stop.exists():
                stop.touch()
                last = clock.monotonic() + FAREWELL
                watcher.stopping()
    return interrupt.asked


def _outcome(future: Future, job: Job, stopping: bool) -> str:
    """State of a run whose future has come to its end."""
    from distributed import KilledWorker

    if future.status == "finished":
        return str(future.result())
    if stopping:
        return "begun"
    if future.status == "cancelled":
        raise StudyFailed("the Dask scheduler is gone; what is done is kept: run the same command again")
    problem = future.exception()
    if isinstance(problem, KilledWorker):
        job.place.mkdir(parents=True, exist_ok=True)
        if read_result(job) is None:
            Result(job.mark, error=LOST, again=True).save(job.place)
        return "failed"
    raise StudyFailed(f"{job.label}: {type(problem).__name__}: {problem}; what is done is kept")
