"""Kinds of grains: the groups, materials and densities that some frames have, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trajectory.frame import Frame

Array = NDArray[Any]

# Paul Tol's bright and muted colours, told apart by everybody; also in web/src/colours.js.
KINDS = (
    "#4477aa", "#ee7733", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999933", "#332288", "#cc6677", "#44aa99",
)  # fmt: skip
MOST_DENSITIES = 8  # that have a colour each; more have a colour bar


def kind_names(name: str, frame: Frame) -> list[str]:
    """What groups or materials are called, by their numbers."""
    names = frame.names.groups if name == "group" else frame.names.materials
    return list(names) or [f"{name} {k}" for k in range(len(frame.friction) if name == "material" else 0)]


def kind_numbers(name: str, frames: Iterable[Frame]) -> list[int]:
    """Numbers of the groups or materials that some grain of these frames has, in their order."""
    found: set[int] = set()
    for frame in frames:
        found |= set(np.unique(getattr(frame, name)).tolist())
    return sorted(found - {-1})


def densities(frame: Frame) -> Array:
    """(n,) to five digits: what rounding makes of one density is one."""
    values, place = np.unique(frame.density, return_inverse=True)
    return np.array([float(f"{value:.5g}") for value in values])[place]


def few_densities(frames: Iterable[Frame]) -> Array | None:
    """The densities of these frames, if they are few."""
    found = np.unique(np.concatenate([np.zeros(0), *(np.unique(densities(frame)) for frame in frames)]))
    return found if 0 < len(found) <= MOST_DENSITIES else None
