"""What the head of a page says of species: groups, materials and densities by name, scalars with their range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.bodies import Bodies
from ...trajectory.frame import Frame
from ..kinds import MOST_DENSITIES, densities, kind_names, kind_numbers
from .codec import Packet

Array = NDArray[Any]
Words = list[dict[str, Any]]

LEVELS = 4095  # of a scalar between the ends of its range


class Species:
    """Looks at frames one after the other."""

    def __init__(self) -> None:
        self._kinds: dict[str, set[Any]] = {"group": set(), "material": set(), "density": set()}
        self._names: dict[str, list[str]] = {}
        self._ranges: dict[str, list[float]] = {}

    def add(self, frame: Frame) -> None:
        """See what there is."""
        for name in ("group", "material") if frame.group is not None else ("material",):
            self._kinds[name] |= set(kind_numbers(name, [frame]))
            self._names[name] = kind_names(name, frame)
        if len(self._kinds["density"]) <= MOST_DENSITIES:
            self._kinds["density"] |= set(np.unique(densities(frame)).tolist())
        for name, values in frame.scalars.items():
            some = values[np.isfinite(values)]
            ends = [float(some.min()), float(some.max())] if len(some) else []
            known = self._ranges.setdefault(name, [])
            self._ranges[name] = [min(known[0], ends[0]), max(known[1], ends[1])] if known and ends else known or ends

    def words(self) -> Words:
        """Of what tells some grains from others."""
        words: Words = []
        for name in ("group", "material"):
            rows = sorted(self._kinds[name])
            if len(rows) > 1:
                known = self._names[name]
                told = [known[row] if row < len(known) else f"{name} {row}" for row in rows]
                words.append({"name": name, "rows": rows, "kinds": told})
        dense = sorted(self._kinds["density"])
        if 1 < len(dense) <= MOST_DENSITIES:
            words.append({"name": "density", "rows": dense, "kinds": [f"{value:.4g} kg/m\u00b3" for value in dense]})
        elif dense and len(dense) > 1:
            words.append({"name": "density", "unit": "kg/m\u00b3"})
        return words + [{"name": name, "scalar": True, "range": ends} for name, ends in self._ranges.items()]


def live_words(bodies: Bodies) -> Words:
    """Of a run that goes on: all groups and materials there may be; ranges are those of each frame."""
    words: Words = []
    for name, names in (("group", list(bodies.groups)), ("material", bodies.material_names)):
        if len(names) > 1:
            words.append({"name": name, "rows": list(range(len(names))), "kinds": names})
    if bodies.count and np.ptp(bodies.mass / bodies.radius**bodies.dimension) > 1e-6 * bodies.mass.max():
        words.append({"name": "density", "unit": "kg/m\u00b3"})
    return words + [{"name": name, "scalar": True} for name in bodies.scalar_names]


def add_species(packet: Packet, frame: Frame) -> None:
    """Group, material and density of each grain, of a set of grains that stays."""
    if frame.group is not None:
        packet.add("group", frame.group.astype(np.int32))
    packet.add("material", frame.material.astype(np.int32))
    packet.add_floats("density", densities(frame))


def levels_of(values: Array, ends: list[float]) -> NDArray[np.int32]:
    """(n,) whole numbers from 0 to LEVELS between the ends, -1 for no value."""
    known = np.isfinite(values)
    low, high = ends if ends else (0.0, 0.0)
    share = np.where(known, values - low, 0.0) / (high - low or 1.0)
    return np.where(known, np.rint(LEVELS * np.clip(share, 0.0, 1.0)), -1).astype(np.int32)
