"""What is compared: the laws at all contacts of a problem, lists of pairs, files and folders."""

from __future__ import annotations

import json

import h5py
import numpy as np


def check_constraints(problem, tolerance=1e-8):
    """Signorini, cone and slip direction for all contacts at the velocities found."""
    i, j = problem.pairs.T
    n, gap, mu = problem.geometry[:, :3], problem.geometry[:, 3], problem.geometry[:, 6]
    motion = problem.motion
    v = motion[j, :3] - motion[i, :3] - np.cross(motion[i, 3:6] + motion[j, 3:6], n)
    v_n = (v * n).sum(axis=1)
    v_t = v - v_n[:, None] * n
    r_n, r_t = problem.forces[:, 0], problem.forces[:, 1:]
    opening = v_n * problem.dt + gap
    assert (r_n >= 0.0).all()
    assert (opening >= -tolerance).all()
    assert (np.minimum(r_n, opening) < tolerance).all()
    assert (np.linalg.norm(r_t, axis=1) <= mu * r_n + tolerance).all()
    sticking = np.linalg.norm(r_t, axis=1) < mu * r_n - 1e-6
    assert np.abs(v_t[sticking]).max(initial=0.0) < tolerance
    assert ((v_t * r_t).sum(axis=1) <= tolerance).all()


def listed(pairs):
    """Pairs of a list as (low, high), in list order."""
    i = np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))
    return [(int(min(a, b)), int(max(a, b))) for a, b in zip(i, pairs.partner)]


def differences(one: dict, other: dict) -> list[str]:
    return [name for name in one if one[name] != other[name]]


def content(path) -> dict:
    """All arrays of a file, and its checkpoint; not the text with the seconds it took."""
    found = {}

    def keep(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("texts") and name != "checkpoint/text":
            found[name] = item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(keep)
        words = json.loads(bytes(file["checkpoint/text"][()]).decode())
    for name in ("seconds", "compiling"):
        words["tally"].pop(name)
    found["words"] = json.dumps(words, sort_keys=True)
    return found


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
