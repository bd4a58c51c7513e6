"""Files that were changed at random: a proper result or one line, never a traceback, never a crash."""

from __future__ import annotations

import random
import signal
from contextlib import suppress

import h5py
import numpy as np
import pytest
from support.commands import command
from support.hdf5 import strip, targets

import rigidgrains as rg

FEW, MANY = 5, 400  # tampered files: always, and in the long test
LIMIT = 60  # s for one of them, on the slowest machine
CODES = {0, 1, 2, 3, 4}  # that are documented


pytestmark = pytest.mark.usefixtures("hurry")

# Ways to tamper with a data set or an attribute, given as an array; None takes it away


def negative(old):
    return -np.abs(old.astype(float)).astype(old.dtype) - np.ones((), old.dtype) if old.dtype.kind in "if" else b"-1"


def huge(old):
    if old.dtype.kind in "iu":
        return np.full(old.shape, min(2**40, np.iinfo(old.dtype).max), old.dtype)
    return np.full(old.shape, 1e300) if old.dtype.kind == "f" else b"9" * 1000


def nan(old):
    return np.full(old.shape, np.nan)


def zero(old):
    return np.zeros_like(old) if old.dtype.kind in "iuf" else b""


def text(old):
    return np.full(old.shape, b"words")


def whole(old):
    return old.astype(np.int64) if old.dtype.kind == "f" else np.full(old.shape, 0.5)


def longer(old):
    return np.concatenate([old, old, old]) if old.ndim else np.full(7, old)


def shorter(old):
    return old[: len(old) // 2] if old.ndim else b""


def deeper(old):
    return np.zeros((2, 2, 2))


def words(old):
    return b'{"unknown": [1, {"a": -3}]}'


def missing(old):
    return None


WAYS = [negative, huge, nan, zero, text, whole, longer, shorter, deeper, words, missing]


def tamper(path, seed):
    """One data set or attribute in one way, with checksums and without; says what."""
    rng = random.Random(seed)
    way, bare = rng.choice(WAYS), rng.random() < 0.6
    with h5py.File(path, "r+") as file:
        if bare:
            strip(file)
        names, marks = targets(file)
        if rng.random() < 0.75:
            name = rng.choice(names)
            new = way(np.asarray(file[name][()]))
            grown = {"maxshape": (None, *new.shape[1:])} if isinstance(new, np.ndarray) and new.ndim else {}
            del file[name]
            if new is not None:
                file.create_dataset(name, data=new, **grown)
        else:
            owner, name = rng.choice(marks)
            old = np.asarray(file[owner].attrs[name])
            new = way(old.astype("S") if old.dtype.kind == "U" else old)
            del file[owner].attrs[name]
            if new is not None:
                file[owner].attrs[name] = new
            name = f"{owner}:{name}"
    return f"{name} {way.__name__}{' without checksums' if bare else ''}"


def go_on(path):
    simulation = rg.resume(path)
    simulation.observe(rg.TrajectoryWriter(path, resume=True), every=1)
    simulation.run(steps=1)


def late(*_):
    raise AssertionError("it takes too long")


def survive(path, seed):
    """All that reads a file ends well or with one line; an error that is not refused goes through and fails."""
    what, folder = tamper(path, seed), path.parent
    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        for line in (
            ("info", path),
            ("check", path),
            ("render", path, "-o", folder / "s.png", "--size", 300, "--force"),
            ("repair", path, "-o", folder / "mended.vtkhdf", "--force"),
            ("export", path, "--to", "csv", "--frame", "last", "-o", folder / "s.csv", "--force"),
        ):
            code, told = command(*line)
            assert code in CODES, (what, line, code)
            assert len(told.strip().splitlines()) <= 1, (what, line, told)
            assert (code in (2, 3)) == bool(told.strip()), (what, line, told)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rg.Simulation, "run", lambda self, **_: self.step())
            with suppress(rg.TrajectoryError, rg.DivergenceError, rg.CellError, rg.StageError):
                go_on(path)
        code, told = command("resume", path, "--steps", 1, "--quiet")
        assert code in CODES, (what, "resume", code)
        assert len(told.strip().splitlines()) <= 1, (what, "resume", told)
    except AssertionError:
        raise
    except Exception as problem:
        raise AssertionError(what) from problem
    finally:
        signal.alarm(0)


@pytest.mark.parametrize("seed", [*range(FEW), *(pytest.param(k, marks=pytest.mark.slow) for k in range(FEW, MANY))])
def test_whatever_is_changed_there_is_no_traceback(path, seed):
    survive(path, seed)


def test_a_file_that_nobody_has_changed(path):
    """As all of these begin: every command comes to its end."""
    for line in (("info", path), ("render", path, "-o", path.with_suffix(".png"), "--size", 300), ("repair", path)):
        assert command(*line)[0] == 0
    go_on(path)
    assert rg.resume(path).steps == 51
