"""Pages of runs that are made up: their size, and how well numbers are kept."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rigidgrains.trajectory.frame import Contacts, Frame
from rigidgrains.view.page import html
from rigidgrains.view.page.html import GROUP, page_parts
from rigidgrains.view.page.scales import DETAILS, compress, expand, exponent


class Made:
    """A trajectory that is made up frame by frame: grains of a shaken lattice whose contacts come and go."""

    def __init__(self, side: int, dimension: int, frames: int) -> None:
        self.dimension, self._frames, self._side = dimension, frames, side
        self.path, self.scene, self.has_contacts = Path("made.vtkhdf"), "", True
        self.times = np.arange(frames) * 0.01
        self.history = {"time": self.times, "sweeps": np.ones(frames)}
        rng = np.random.default_rng(1)
        n = self._n = side**dimension
        grid = np.stack(np.meshgrid(*[np.arange(side)] * dimension, indexing="ij"), axis=-1).reshape(n, dimension)
        at, number = np.zeros((n, 3)), np.arange(n).reshape([side] * dimension)
        at[:, :dimension] = grid * 2.1e-3
        pairs = [
            np.stack([np.moveaxis(number, a, 0)[:-1].ravel(), np.moveaxis(number, a, 0)[1:].ravel()], 1)
            for a in range(dimension)
        ]
        self._pairs = np.concatenate(pairs).astype(np.int32)
        velocity, spin = np.zeros((n, 3)), np.zeros((n, 3))
        force = rng.exponential(1.0, len(self._pairs))
        self._radius = rng.uniform(0.7e-3, 1e-3, n)
        self._states = []
        for _ in range(frames):  # a quarter of a diameter a frame, a fifth of it forgotten by the next
            velocity[:, :dimension] = 0.8 * velocity[:, :dimension] + rng.normal(0.0, 0.03, (n, dimension))
            spin[:, 2 if dimension == 2 else slice(None)] = 0.8 * spin[
                :, 2 if dimension == 2 else slice(None)
            ] + rng.normal(0.0, 10.0, n if dimension == 2 else (n, 3))
            at = at + 0.01 * velocity
            force = force * rng.lognormal(0.0, 0.3, len(force))
            on = rng.random(len(force)) < 0.7
            self._states.append((at.copy(), velocity.copy(), spin.copy(), force.copy(), on))

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, index: int) -> Frame:
        at, velocity, spin, force, on = self._states[index]
        n, pair = self._n, self._pairs[on]
        normal = np.zeros((len(pair), 3))
        normal[:, 0] = 1.0
        load = np.bincount(pair.ravel(), np.repeat(force[on], 2), n)
        turn = np.arange(n) % 7 + 0.01 * index * spin[:, 2]
        grains = {
            "Points": at, "PointData/velocity": velocity, "PointData/spin": spin, "PointData/load": load,
            "PointData/radius": self._radius, "PointData/id": np.arange(n),
            "PointData/material": np.zeros(n, np.int32), "PointData/mass": self._radius**self.dimension,
            "FieldData/friction": np.zeros((1, 1)), "FieldData/gravity": np.zeros((1, 3)),
            "PointData/contact_number": np.bincount(pair.ravel(), minlength=n),
            "PointData/orientation": turn if self.dimension == 2 else np.column_stack([np.cos(turn / 2), 0 * at]),
            **{f"FieldData/wall_{name}": np.zeros((0, 3)) for name in ("point", "normal", "along", "about")},
        }  # fmt: skip
        contacts = {
            "PointData/pair": pair, "PointData/normal": normal, "PointData/force": force[on, None] * normal,
            "PointData/status": (1 + (np.arange(len(force)) % 5 == 0)[on]).astype(np.uint8), "Points": at[pair[:, 0]],
        }  # fmt: skip
        figures = {"time": float(self.times[index]), "step": float(index), "dt": 1e-3}
        return Frame(
            index, self.dimension, grains.__getitem__, figures, Contacts(contacts.__getitem__, len(pair)), "[]"
        )


def size_of(made: Made) -> int:
    return sum(len(text) for text in page_parts(made))  # type: ignore[arg-type]


def test_a_thousand_disks_and_300_frames_stay_below_3_mb() -> None:
    assert size_of(Made(32, 2, 300)) < 3_000_000


def test_a_hundred_thousand_spheres_and_100_frames_stay_below_80_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged by a part of them: 4,096 spheres and 24 frames, which are given no more room than their share."""
    monkeypatch.setattr(html, "LEAST", 0)
    made = Made(16, 3, 2 * GROUP)
    script = len(zlib.compress(Path(sys.modules["rigidgrains.view.page"].__path__[0], "page.js").read_bytes())) * 4 / 3
    text = size_of(made) - script
    assert text / (4096 * len(made)) * 1e7 + script < 80_000_000


@pytest.mark.parametrize("detail", DETAILS, ids=lambda detail: detail.name)
def test_numbers_are_kept_to_a_level(detail: Any) -> None:
    """Levels follow the square root: |v| is known to |v|^(1/2) of the top, over the number of levels."""
    value = np.concatenate([[0.0, -3.7], np.random.default_rng(0).normal(0.0, 1.0, 1000)])
    k = exponent(value)
    got = expand(compress(value, k, detail.levels), k, detail.levels)
    top = 4.0**k
    bound = (np.sqrt(np.abs(value) / top) + 0.5 / detail.levels) / detail.levels * top
    assert (np.abs(got - value) <= bound * (1 + 1e-9)).all()
