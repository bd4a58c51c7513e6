"""On Dask: the same table bit by bit on any number of workers; kills lose nothing; clusters and queues."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from support.commands import called, process
from support.studies import STUDY, write

import rigidgrains as rg


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    """The study of the box, run in one process and never disturbed."""
    folder = tmp_path_factory.mktemp("reference")
    status = rg.Study(write(folder)).run(folder / "runs", workers=0)
    assert status.counts["done"] == 8
    return folder / "runs"


def same_tables(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in ("table.csv", "table.parquet"))


@pytest.mark.slow
def test_two_workers_give_the_same_table_and_killed_ones_too(reference, tmp_path):
    """A worker and the scheduler, with all its workers, are killed on the way; what was finished is not run again."""
    killed = survive(tmp_path, kills=3, seed=1)
    assert killed == 3
    assert same_tables(reference, tmp_path / "runs")


@pytest.mark.slow
def test_twenty_kills_lose_nothing(reference, tmp_path):
    study = STUDY.replace("replicas = 2", "replicas = 10").replace("steps = 2 }", "steps = 3 }")
    (tmp_path / "whole").mkdir()
    rg.Study(write(tmp_path / "whole", study=study)).run(tmp_path / "whole/runs", workers=2)
    (tmp_path / "killed").mkdir()
    assert survive(tmp_path / "killed", kills=20, seed=2, study=study) == 20
    assert same_tables(tmp_path / "whole/runs", tmp_path / "killed/runs")


def survive(folder: Path, *, kills: int, seed: int, study: str = STUDY) -> int:
    """Run a study while its processes are killed at random, until it is finished; gives how many were killed.

    Every run that was finished before a kill has the same result file, untouched, at the end.
    """
    path, draw, done = write(folder, study=study), random.Random(seed), 0
    finished: dict[Path, int] = {}
    while True:
        process = subprocess.Popen(
            [sys.executable, "-m", "rigidgrains", "study", "run", path, "-o", folder / "runs", "--workers", "2", "-q"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        while process.poll() is None and done < kills:
            if working(process.pid):
                time.sleep(draw.uniform(0.0, 0.6))
                finished |= {file: file.stat().st_mtime_ns for file in folder.glob("runs/runs/*/result.json")}
                # The first kills take one of each: a worker, then the scheduler; the others whatever comes.
                some = (
                    [process.pid]
                    if done == 1
                    else working(process.pid)
                    if done == 0
                    else [process.pid, *working(process.pid)]
                )
                done += bool(some) and kill(draw.choice(some))
                time.sleep(0.3)
            time.sleep(0.1)
        _, told = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, told.decode()
    assert {file: file.stat().st_mtime_ns for file in finished} == finished
    return done


def working(scheduler: int) -> list[int]:
    """Processes of workers that have a run in hand: those that hold the lock of one."""
    found = []
    for child in children(scheduler):
        try:
            if any(file.path.endswith("/lock") for file in child.open_files()):
                found.append(child.pid)
        except psutil.Error:
            continue
    return found


def children(process: int) -> list[psutil.Process]:
    try:
        return psutil.Process(process).children(recursive=True)
    except psutil.Error:
        return []


def kill(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_study_goes_on(reference, tmp_path):
    """Runs in hand come to a checkpoint; exit code 130; nothing of a traceback."""
    path = write(tmp_path)
    words = [
        sys.executable,
        "-m",
        "rigidgrains",
        "study",
        "run",
        str(path),
        "-o",
        str(tmp_path / "runs"),
        "--workers",
        "1",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not working(process.pid):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, out + err
    assert "Traceback" not in out + err
    assert "go on with: rigidgrains study run" in " ".join(err.split())
    assert not list((tmp_path / "runs").glob("stop-*"))
    assert rg.Study(tmp_path / "runs").run(workers=0).finished
    assert same_tables(reference, tmp_path / "runs")


def test_a_script_needs_no_guard(tmp_path):
    """Workers do not run the script of the user again; functions that it defines reach them."""
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import rigidgrains as rg
        from support.studies import BALL

        def grains(frame):
            return len(frame)

        print("once")
        study = rg.Study(scene=BALL, vary={"friction": [0.1, 0.2]}, measure={"n": grains})
        print(study.run("runs", workers=1).counts["done"], study.rows()["n"].tolist())
        """)
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": path})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["once", "2 [1.0, 1.0]"]


FEW = STUDY.replace("replicas = 2", "replicas = 1").replace("friction = [0.1, 0.5]", "friction = [0.1]")


@pytest.mark.slow
def test_a_scheduler_elsewhere_and_one_that_is_not_there(tmp_path):
    from distributed import LocalCluster

    path = write(tmp_path, study=FEW)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        told = process(tmp_path, "study", "run", path, "-o", "runs", "--cluster", cluster.scheduler_address).stdout
    assert "2 runs: 2 done" in told
    told = process(tmp_path, "study", "run", path, "-o", "other", "--cluster", "tcp://127.0.0.1:9", check=2).stderr
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in told


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["slurm", "pbs", "lsf"])
def test_workers_are_jobs_of_a_queue(tmp_path, monkeypatch, kind):
    """A queue that starts each job at once, in the place of a real one."""
    submit = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub"}[kind]
    answer = {"slurm": "Submitted batch job 17", "pbs": "17.queue", "lsf": "Job <17> is submitted."}[kind]
    keep = 'if [ -n "$1" ]; then cp "$1" job.sh; else cat > job.sh; fi'
    script = f"#!/bin/sh\n{keep}\nsh job.sh >job.log 2>&1 &\necho '{answer}'\n"
    for name, text in {submit: script, "scancel": "#!/bin/sh\n", "qdel": "#!/bin/sh\n", "bkill": "#!/bin/sh\n"}.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    path = write(tmp_path, study=FEW)
    told = process(
        tmp_path, "study", "run", path, "-o", "runs", f"--{kind}", "queue=long", f"--{kind}", "walltime=00:10:00"
    ).stdout
    assert "2 runs: 2 done" in told
    job = (tmp_path / "job.sh").read_text()
    assert "long" in job
    assert "RIGIDGRAINS_THREADS=1" in job


def test_options_of_a_queue_are_checked(tmp_path):
    path = write(tmp_path, study=FEW)
    told = called(tmp_path, "study", "run", path, "--slurm", "queue", check=2).stderr
    assert "--slurm queue is no option; write it like --slurm queue=long" in told
    told = called(tmp_path, "study", "run", path, "--slurm", "quue=long", check=2).stderr
    assert "quue" in told
    assert "dask_jobqueue.SLURMCluster" in told
    assert not (tmp_path / "study" / "runs").exists()
