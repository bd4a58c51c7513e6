"""Where workers come from: this machine, a Dask scheduler that runs already, or the queue of a cluster."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime.threads import physical_cores
from .errors import StudyFailed

if TYPE_CHECKING:
    from distributed import Client

QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
DEFAULTS: dict[str, Any] = {"cores": 1, "processes": 1, "memory": "2GB"}
FAILURES = 100  # deaths of its worker that a run survives: it goes on from its checkpoint
ONE_THREAD = {"RIGIDGRAINS_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
PATIENCE = "20s"  # for a scheduler to answer


@contextmanager
def connected(workers: int | None, cluster: Any, folder: Path, *, most: int) -> Iterator[Client]:
    """A client of the workers; those that were started here end with it.

    workers : on this machine, one for each core by default, not more than `most`
    cluster : address or file of a scheduler, or a cluster of Dask, in place of them
    """
    try:
        import dask
        import distributed
    except ImportError:
        needs = "studies on several workers need Dask; pip install 'rigidgrains[study]'"
        raise ImportError(f"{needs}, or run the study in this process: --part 1/1") from None
    quiet = {
        "distributed.scheduler.allowed-failures": FAILURES,
        "distributed.admin.log-format": "%(message)s",
        "distributed.comm.timeouts.connect": PATIENCE,
    }
    with dask.config.set(quiet), _main_hidden():
        if cluster is None:
            number = min(workers or physical_cores(), most)
            with _local(number) as local, distributed.Client(local) as client:
                yield client
            return
        try:
            client = _client(cluster)
        except (OSError, ValueError) as problem:
            told = " ".join(str(problem).split())
            raise ValueError(f"no Dask scheduler answers at {cluster}: {told}; check its address") from None
        with client:
            if not isinstance(cluster, (str, Path)) and workers is not None:
                cluster.scale(workers)
            _check_folder(client, folder)
            yield client


def queue_cluster(kind: str, options: Sequence[str]) -> Any:
    """A Dask cluster whose workers are jobs of a queue. options : "queue=long", "walltime=12:00:00", ..."""
    try:
        import dask_jobqueue
    except ImportError:
        raise ImportError(f"--{kind} needs dask-jobqueue; pip install 'rigidgrains[cluster]'") from None
    words = dict(DEFAULTS)
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name.isidentifier() or not value:
            raise ValueError(f"--{kind} {option} is no option; write it like --{kind} queue=long")
        words[name] = int(value) if value.isdigit() else value
    words["job_script_prologue"] = [f"export {name}={value}" for name, value in ONE_THREAD.items()]
    words.setdefault("python", sys.executable)
    try:
        return getattr(dask_jobqueue, QUEUES[kind])(**words)
    except (TypeError, ValueError) as problem:
        told = " ".join(str(problem).split())
        raise ValueError(f"--{kind}: {told}; its options are those of dask_jobqueue.{QUEUES[kind]}") from None


@contextmanager
def _local(number: int) -> Iterator[Any]:
    """Processes of one thread each on this machine; they end when this process does, however that ends."""
    from distributed import LocalCluster

    for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        env=ONE_THREAD,
        preload=["rigidgrains.study.worker"],
    ) as cluster:
        yield cluster


def _client(cluster: Any) -> Client:
    from distributed import Client

    if isinstance(cluster, (str, Path)) and str(cluster).endswith(".json"):
        if not Path(cluster).is_file():
            raise ValueError("there is no such file")
        return Client(scheduler_file=str(cluster), timeout=PATIENCE)
    return Client(cluster, timeout=PATIENCE)


def _check_folder(client: Client, folder: Path) -> None:
    """Refuse workers that do not see the folder of the study; those that come later are not asked."""
    seen = client.run(os.path.isdir, str(folder))
    if blind := [worker for worker, there in seen.items() if not there]:
        raise StudyFailed(
            f"{len(blind)} of {len(seen)} workers, {blind[0]} for one, do not see {folder}; choose a folder that all "
            "machines share with --output"
        )


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Workers do not run the user's script again: without this it would need `if __name__ == "__main__":`."""
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        with suppress(KeyError):
            del main.__dict__["__spec__"]
        main.__dict__.update(kept)
