"""What lasts: contacts between grains, and stays of grains in a region, from look to look of a run or a file.

These measurements have a memory: they are objects that are called with frame after frame. `Measure` keeps what they
remember in checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .images import unwrapped
from .kinds import Only, select
from .links import links
from .region import Box
from .shown import Shown
from .state import Array, Frame, Index, double

WALLS = 1 << 31  # ids of grains are below; wall w of the run counts down from here
BESIDE = 32  # bits by which the lower of two numbers is shifted


@dataclass(frozen=True)
class Spells(Shown):
    """present : how many there are at this look; begun, ended : since the look before; mean : s, mean duration of those
    that ended at this look and whose beginning was seen, not a number if none did; age : s, mean age of those present
    whose beginning was seen"""

    present: int
    begun: int
    ended: int
    mean: float
    age: float


class _Durations:
    """Begins, ends and durations of whatever is known by a number."""

    __name__ = ""

    def __init__(self) -> None:
        self._keys: Index = np.zeros(0, np.int64)
        self._since: Array = np.zeros(0)
        self._ended: list[float] = []
        self._looked = False

    @property
    def durations(self) -> Array:
        """(k,) s, of all that have ended and whose beginning was seen, in the order of their ends.

        From the look that first saw it to the look that first missed it: beginnings and ends are each known to within
        an interval of looks, and with equal intervals the mean is right.
        """
        return np.array(self._ended)

    def surviving(self, times: Any) -> Array:
        """Share of those that ended which lasted longer than each of these times (s)."""
        ended = np.sort(self.durations)
        return 1.0 - np.searchsorted(ended, double(times), side="right") / max(len(ended), 1)

    def _see(self, keys: Index, time: float) -> Spells:
        keys = np.unique(keys)
        stays = np.isin(self._keys, keys)
        over = time - self._since[~stays]
        seen = over[np.isfinite(over)]
        since = np.full(len(keys), time if self._looked else -np.inf)
        since[np.isin(keys, self._keys)] = self._since[stays]
        begun, ended = len(keys) - int(stays.sum()), int((~stays).sum())
        if not self._looked:
            begun = 0
        self._ended += np.sort(seen).tolist()
        self._keys, self._since, self._looked = keys, since, True
        ages = time - since[np.isfinite(since)]
        mean, age = float(seen.mean()) if len(seen) else np.nan, float(ages.mean()) if len(ages) else 0.0
        return Spells(len(keys), begun, ended, mean, age)

    def state(self) -> dict[str, Any]:
        keys, since = self._keys.tolist(), self._since.tolist()
        return {"keys": keys, "since": since, "ended": list(self._ended), "looked": self._looked}

    def restore(self, state: dict[str, Any]) -> None:
        self._keys, self._since = np.array(state["keys"], np.int64), np.array(state["since"], float)
        self._ended, self._looked = list(state["ended"]), bool(state["looked"])


class ContactLifetimes(_Durations):
    """How long contacts last that carry a force.

    >>> lifetimes = ContactLifetimes()
    >>> over(trajectory, lifetimes); lifetimes.durations.mean(), lifetimes.surviving(0.01)

    walls : with those at walls. Points of the same two bodies are one contact; each image of a grain is the same grain
    """

    __name__ = "contact_lifetimes"

    def __init__(self, *, walls: bool = True) -> None:
        super().__init__()
        self._walls, self._names = walls, dict[str, int]()

    def __call__(self, frame: Frame) -> Spells:
        found = links(frame, walls=self._walls)
        for wall in frame.walls:
            self._names.setdefault(wall.name, WALLS - 1 - len(self._names))
        number = np.concatenate([frame.id.astype(np.int64), [self._names[wall.name] for wall in frame.walls]])
        a, b = number[found.i].astype(np.int64), number[found.j].astype(np.int64)
        return self._see((np.minimum(a, b) << BESIDE) | np.maximum(a, b), frame.time)

    def state(self) -> dict[str, Any]:
        return super().state() | {"walls": self._names}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._names = dict(state["walls"])


class ResidenceTimes(_Durations):
    """How long grains stay: in a box by their centres, or in the run, from an inflow to an outlet.

    >>> residence = ResidenceTimes(Box((0, 0), (0.1, 0.02)), only={"group": "small"})

    box : a Box, or its two corners. A grain that comes back begins a new stay.
    """

    __name__ = "residence_times"

    def __init__(self, box: Any = None, *, only: Only = None) -> None:
        super().__init__()
        self._box, self._only = None if box is None else Box.of(box), only

    def __call__(self, frame: Frame) -> Spells:
        inside = select(frame, self._only)
        if self._box is not None:
            low, high = self._box.corners(frame.dimension)
            inside = inside & ((frame.position >= low) & (frame.position <= high)).all(axis=1)
        return self._see(frame.id[inside].astype(np.int64), frame.time)


def contact_lifetime(frames: Iterable[Frame], *, walls: bool = True) -> float:
    """s, mean lifetime of the contacts whose beginning and end the frames show; see ContactLifetimes."""
    return _mean(frames, ContactLifetimes(walls=walls), "contact")


def residence_time(frames: Iterable[Frame], *, box: Any = None, only: Only = None) -> float:
    """s, mean stay of grains in a box, or in the run, whose beginning and end the frames show; see ResidenceTimes.

    box : a Box, or its two corners
    """
    return _mean(frames, ResidenceTimes(box, only=only), "stay")


def _mean(frames: Iterable[Frame], spells: ContactLifetimes | ResidenceTimes, what: str) -> float:
    for frame in frames:
        spells(frame)
    if not len(spells.durations):
        raise ValueError(f"no {what} begins and ends within the frames; give more of them, or a longer run")
    return float(spells.durations.mean())


def _ids(which: Any) -> Index:
    """(k,) numbers of grains."""
    ids = np.atleast_1d(np.asarray(which))
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or (ids < 0).any():
        raise ValueError(f"{which!r} are no ids of grains; give whole numbers from 0 on, as frame.id has them")
    return ids.astype(np.int64)


class Tracers:
    """The paths of some grains: (k, 3) m at each look, after all faces of a cell they have crossed; NaN once gone.

    >>> record = over(trajectory, Tracers(only={"group": "intruder"})); record["tracers"]

    which : (k,) ids; or only : the grains of the first look that are meant
    """

    __name__ = "tracers"

    def __init__(self, which: Any = None, *, only: Only = None) -> None:
        if which is not None and only is not None:
            raise ValueError("Tracers are given both ids and a selection; give one of them")
        self._ids = None if which is None else _ids(which)
        self._only = only

    @property
    def ids(self) -> Index:
        """(k,) of the grains that are followed."""
        return np.zeros(0, np.int64) if self._ids is None else self._ids

    def __call__(self, frame: Frame) -> Array:
        if self._ids is None:
            self._ids = np.sort(frame.id[select(frame, self._only)]).astype(np.int64)
        order = np.argsort(frame.id, kind="stable")
        place = np.minimum(np.searchsorted(frame.id[order], self._ids), max(len(order) - 1, 0))
        out = np.full((len(self._ids), 3), np.nan)
        if len(order):
            rows = order[place]
            there = frame.id[rows] == self._ids
            out[there] = unwrapped(frame)[rows[there]]
        return out

    def state(self) -> dict[str, Any]:
        return {"ids": None if self._ids is None else self._ids.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        self._ids = None if state["ids"] is None else np.array(state["ids"], np.int64)
