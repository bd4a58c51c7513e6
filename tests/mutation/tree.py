"""A copy of the checkout in which mutants live: the checkout itself is never touched, and only those kernels are
compiled anew that may contain a mutant.

All files of the copy are as old as each other, and a mutant keeps the age and length of its file, so that Numba takes
compiled kernels for valid; those that may contain the mutant are deleted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mutants import COMPILED

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path("src/rigidgrains")
AGE = 1_500_000_000.0  # the time of all files of the copy; any time before now will do


@dataclass
class Outcome:
    """passed : all tests did; by : the first that did not, or what happened instead; seconds : it took"""

    passed: bool
    by: str
    seconds: float


class Tree:
    """A copy of all files that git knows or does not ignore, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, folder / PACKAGE
        self.kept = folder.with_name(folder.name + ".kept")  # what was compiled and noted, for these sources alone
        self._originals: dict[str, str] = {}

    def copy(self) -> None:
        """Bring the copy up to date with the checkout; what was kept of other sources goes."""
        asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(asked, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
        package = hashlib.sha256()
        for name in sorted(name for name in names if name and (ROOT / name).is_file()):
            new, content = self.folder / name, (ROOT / name).read_bytes()
            if PACKAGE in new.relative_to(self.folder).parents:
                package.update(name.encode() + content)
            if not (new.is_file() and new.read_bytes() == content):
                new.parent.mkdir(parents=True, exist_ok=True)
                new.write_bytes(content)
                for bytecode in new.parent.glob(f"__pycache__/{new.stem}.*.pyc"):
                    bytecode.unlink()
            os.utime(new, (AGE, AGE))
        for stray in self.source.rglob("*.py"):
            if not (ROOT / PACKAGE / stray.relative_to(self.source)).is_file():
                stray.unlink()
        stamp = self.kept / "stamp"
        if not stamp.is_file() or stamp.read_text() != package.hexdigest():
            shutil.rmtree(self.kept, ignore_errors=True)
            self.kept.mkdir()
            stamp.write_text(package.hexdigest())
        self._restore_kernels()

    def keep_kernels(self) -> None:
        """Remember what has been compiled from the sources as they are."""
        for cache in self.source.rglob("__pycache__"):
            shutil.copytree(cache, self.kept / "compiled" / cache.parent.relative_to(self.source), dirs_exist_ok=True)

    def test(self, tests: list[str], limit: float, **wishes: str) -> Outcome:
        """Run test files, up to the first failure; what takes longer than a limit (s) is stopped and has failed.

        wishes : for the plugin watch.py
        """
        here = {
            "PYTHONPATH": os.pathsep.join(str(self.folder / place) for place in ("src", "tests/mutation")),
            "MUTATION_PACKAGE": str(self.source),
            "RIGIDGRAINS_AHEAD": "1",  # compile in one process
        }
        command = [
            sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "watch", "-p", "no:cacheprovider", "--tb=no", "-rfE",
            *tests,
        ]  # fmt: skip
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, **here, **wishes}, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            said = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        seconds = time.monotonic() - begin
        if said is None:
            return Outcome(False, f"stopped after {limit:.0f} s", seconds)
        return Outcome(process.returncode == 0, _culprit(said, process.returncode), seconds)

    def mutate(self, name: str, text: str, kernels: set[tuple[str, str, int]]) -> None:
        """Replace the text of a file of the package, and forget given kernels, by file and name, that were compiled."""
        file = self.source / name
        self._originals[name] = file.read_text()
        for place, kernel, _ in kernels:
            home = self.source / place
            for index in home.parent.glob(f"__pycache__/{home.stem}.{kernel}-*.nb[ic]"):
                index.unlink()
        for bytecode in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            bytecode.unlink()
        file.write_text(_of_length(text, file.stat().st_size) if has_kernels(file) else text)
        os.utime(file, (AGE, AGE))

    def restore(self, name: str) -> None:
        """Put the file back, and what had been compiled."""
        (self.source / name).write_text(self._originals.pop(name))
        os.utime(self.source / name, (AGE, AGE))
        self._restore_kernels()

    def _restore_kernels(self) -> None:
        for cache in list(self.source.rglob("__pycache__")):
            shutil.rmtree(cache)
        for file in (self.kept / "compiled").rglob("*.*"):
            if file.is_file():
                cache = self.source / file.parent.relative_to(self.kept / "compiled") / "__pycache__"
                cache.mkdir(exist_ok=True)
                shutil.copy2(file, cache)


def has_kernels(file: Path) -> bool:
    text = file.read_text()
    return any(f"@{word}" in text for word in COMPILED)


def _of_length(text: str, size: int) -> str:
    """The same program in so many bytes: Numba takes a file of another length for another one."""
    more = len(text.encode()) - size
    if more <= 0:
        return text + "\n" * -more
    at = text.index('"""') + 3
    if not text[at : at + more].isascii() or any(mark in text[at : at + more] for mark in '"\n\\'):
        raise ValueError(f"the first words of the file are too short to lose {more} letters")
    return text[:at] + text[at + more :]


def _culprit(said: str, code: int) -> str:
    for line in said.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" - ")[0].split(" ", 1)[1]
    return "" if code == 0 else f"exit code {code}"
