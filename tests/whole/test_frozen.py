"""Frozen test problems are whole, are what `store` writes, and the two sets have no packing in common."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from support import ROOT

FOLDER = ROOT / "benchmarks" / "solvers"


@pytest.fixture(scope="module")
def frozen() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        import frozen
    finally:
        sys.path.remove(str(FOLDER))
    return frozen


@pytest.fixture(scope="module")
def sets(frozen):
    return {name: frozen.load(name) for name in frozen.SETS}


def test_sets_are_kept_apart(sets):
    choosing, judging = ({f.seed for f in problems} for problems in sets.values())
    assert not choosing & judging


def test_problems_are_lawful(sets):
    for found in (*sets["choosing"], *sets["judging"]):
        p = found.problem
        assert np.allclose(np.linalg.norm(p.normal, axis=1), 1.0, atol=1e-15)
        assert np.abs((p.normal * p.tangential_force).sum(axis=1)).max() <= 1e-15 * np.abs(p.forces).max(initial=1.0)
        assert p.forces[:, 0].min() >= 0.0
        assert (p.normal_mass > 0.0).all()
        assert p.pairs.max() < len(p.motion)
        assert np.isfinite(p.motion).all()


def test_what_is_stored_is_read_again(frozen, sets, tmp_path, monkeypatch):
    monkeypatch.setattr(frozen, "FOLDER", tmp_path)
    some = [next(f for f in sets["choosing"] if f.kind == kind) for kind in ("wedge", "drum", "collapse")]
    frozen.store("again", some)
    for before, after in zip(some, frozen.load("again")):
        assert before.name == after.name
        for field in ("motion", "pairs", "geometry", "forces", "position", "radius", "extra"):
            ours, theirs = getattr(before.problem, field), getattr(after.problem, field)
            same = ours is theirs is None if ours is None else np.allclose(ours, theirs, rtol=4e-5, atol=1e-12)
            assert same, field
