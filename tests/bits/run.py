"""Do two revisions compute the same, to the bit? `python tests/bits/run.py BEFORE [AFTER] [--steps 60] [--only WORD]`

BEFORE and AFTER are whatever git calls a revision; without AFTER, the files as they are now. Every scene of the gallery
and of examples/, and those of scenes.py, run for some steps with forces, each in a process of its own, from copies in
build/bits that keep what they have compiled. After each step positions, velocities, spins, contact forces, sweeps are
compared. One line per scene; exit code 0 if all are equal, 1 if any differs or could not be run, 2 for a wrong command.

Scenes are those of AFTER, also for BEFORE; one that BEFORE does not know is told and not counted.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from scenes import inline, large

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "bits"
NEEDED = ("src", "examples")
MOST = 20_000  # grains; scenes with more only if asked for
FEW = 4  # steps of those
EQUAL, DIFFERS, UNKNOWN, FAILED = "equal", "DIFFERS", "not known before", "FAILED"


def main() -> int:
    asked = read_command()
    before, after = copy(asked.before), copy(asked.after)
    if before is None or after is None:
        wrong = asked.before if before is None else asked.after
        print(f"error '{wrong}' is no revision with a src folder; give a commit, a tag or a branch", file=sys.stderr)
        return 2
    scenes = {name: text for name, text in gather(after, before, asked.large).items() if asked.only in name}
    if not scenes:
        print(f"error no scene has '{asked.only}' in its name; leave --only out to see them all", file=sys.stderr)
        return 2
    counts = dict.fromkeys((EQUAL, DIFFERS, UNKNOWN, FAILED), 0)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in scenes.items():
            steps = FEW if grains(text) > MOST else asked.steps
            verdict, told = compare(*run_both(Path(folder), text, (before, after), steps, asked.threads))
            counts[verdict] += 1
            print(f"{verdict:8s} {name}: {told}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
    return 1 if counts[DIFFERS] or counts[FAILED] else 0


def read_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--steps", type=int, default=60, help="steps with forces between bodies")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="scenes with this in their name")
    parser.add_argument("--large", action="store_true", help="scenes of many grains too")
    asked = parser.parse_args()
    if asked.steps < 1 or asked.threads < 1:
        parser.error("steps and threads must be 1 or more")
    return asked


def copy(revision: str | None) -> Path | None:
    """The folder with the sources of a revision, or with the files as they are now; None if git knows no such one."""
    if revision is None:
        return copy_files()
    found = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.returncode:
        return None
    folder = KEPT / found.stdout.decode().strip()
    if not folder.is_dir():
        packed = git("archive", folder.name, *NEEDED)
        if packed.returncode:
            return None
        half = folder.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            files.extractall(half, filter="data")
        half.rename(folder)
    return folder


def copy_files() -> Path:
    """A copy of what git knows or does not ignore; files that have not changed stay, with what was compiled of them."""
    folder = KEPT / "now"
    said = git("ls-files", "--cached", "--others", "--exclude-standard", "-z", *NEEDED).stdout.decode()
    names = {name for name in said.split("\0") if name and (ROOT / name).is_file()}
    for old in [file for top in NEEDED for file in (folder / top).rglob("*") if file.is_file()]:
        if old.parent.name != "__pycache__" and str(old.relative_to(folder)) not in names:
            old.unlink()
    for name in names:
        new = folder / name
        if not (new.is_file() and new.read_bytes() == (ROOT / name).read_bytes()):
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, new)  # it is as new as the copy, so that nothing compiled before counts
    return folder


def git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)


def gather(after: Path, before: Path, all_sizes: bool) -> dict[str, str]:
    """Scenes by name, as TOML; those that were there before and are gone come last."""
    found: dict[str, str] = {}
    for folder in (after, before):
        for file in sorted((*folder.glob("src/**/gallery/*.toml"), *folder.glob("examples/*.toml"))):
            found.setdefault(f"{file.parent.name}/{file.stem}", file.read_text(encoding="utf-8"))
        if folder == after:
            found |= inline() | (large() if all_sizes else {})
    return {name: text for name, text in found.items() if all_sizes or grains(text) <= MOST}


def grains(text: str) -> int:
    """How many a scene asks for at the start."""
    return sum(group.get("count", len(group.get("positions", []))) for group in tomllib.loads(text).get("grains", []))


def run_both(folder: Path, text: str, copies: tuple[Path, Path], steps: int, threads: int) -> list[dict[str, Any]]:
    """What the same scene gives with both, side by side."""
    scene, worker = folder / "scene.toml", Path(__file__).with_name("worker.py")
    scene.write_text(text, encoding="utf-8")
    running = []
    for k, copied in enumerate(copies):
        here = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        here |= {"PYTHONPATH": str(copied / "src"), "RIGIDGRAINS_AHEAD": "1"}  # compile in one process
        here.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, str(worker), str(scene), str(folder / f"{k}.npz"), str(steps), str(threads)]
        running.append(subprocess.Popen(command, env=here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        if copies[0] == copies[1]:
            running[-1].wait()  # they share what they compile
    found = []
    for k, process in enumerate(running):
        _, said = process.communicate()
        if process.returncode:
            last = said.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            found.append({"refused": np.array(last[0])})
            continue
        with np.load(folder / f"{k}.npz") as kept:
            found.append(dict(kept))
    return found


def compare(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    """The verdict, and what to say: the first array that differs, or how much there was to compare."""
    if "refused" in after:
        return FAILED if "refused" in before else DIFFERS, f"now refused: {after['refused']}"
    if "refused" in before:
        return UNKNOWN, str(before["refused"]).splitlines()[0]
    common = sorted({key.split("/")[1] for key in before} & {key.split("/")[1] for key in after})
    for key in sorted({key for key in before.keys() | after.keys() if key.split("/")[1] in (*common, "error")}):
        step, name = int(key.split("/")[0]), key.split("/")[1]
        if key not in before or key not in after:
            return DIFFERS, f"step {step}: {name} only {'before' if key in before else 'after'}"
        if told := difference(before[key], after[key]):
            return DIFFERS, f"step {step}: {name}, {told}"
    last = max(key.split("/")[0] for key in after)
    ended = f", ended by {after[f'{last}/error']}" if f"{last}/error" in after else ""
    sweeps = sum(int(value) for key, value in after.items() if key.endswith("/sweeps"))
    touching = [int(value.any(axis=1).sum()) for key, value in after.items() if key.endswith("/force")]
    return EQUAL, f"{int(last)} steps, up to {max(touching, default=0)} forces, {sweeps} sweeps{ended}"


def difference(before: Any, after: Any) -> str:
    """What differs between two arrays; nothing if they have the same bits. Whole numbers may have other lengths."""
    if before.shape != after.shape:
        return f"shape {before.shape} before, {after.shape} after"
    if before.dtype.kind in "iub" and after.dtype.kind in "iub":
        before, after = before.astype(np.int64), after.astype(np.int64)
    if before.dtype != after.dtype:
        return f"{before.dtype} before, {after.dtype} after"
    if before.tobytes() == after.tobytes():
        return ""
    if before.dtype.kind not in "if":
        return f"{before} before, {after} after"
    kind = np.dtype(f"V{before.itemsize}")
    other = np.ascontiguousarray(before).reshape(-1).view(kind) != np.ascontiguousarray(after).reshape(-1).view(kind)
    return f"{other.sum()} of {other.size} numbers, by up to {np.nanmax(np.abs(after - before)):.3g}"


if __name__ == "__main__":
    sys.exit(main())
