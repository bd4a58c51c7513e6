"""Kinds of grains: by group, material, density, radius or a scalar of the user; some of the grains, and one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import Array, Frame, Index, Mask, double, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Only = Mapping[str, Any] | Mask | None  # which grains: a selection such as {"group": "small"}, (n,) True, or all
By = str | Index

SAME = 1e-5  # relative: values of one kind that differ by less are one
MOST = 50  # kinds that are told apart


@dataclass(frozen=True)
class Kinds:
    """names : of the kinds; number : (n,) kind of each grain, -1 of none"""

    names: list[str]
    number: Index

    @property
    def count(self) -> Index:
        """(k,) grains of each kind."""
        return np.bincount(self.number[self.number >= 0], minlength=len(self.names))


def kinds(source: Frame | Simulation, by: By = "group") -> Kinds:
    """The kinds of grains that there are.

    by : "group", "material", "density", "radius", the name of a scalar, or (n,) whole numbers, negative for none.
         Values of density, radius and scalars are kinds where they are equal; there may be 50 at most.
    """
    frame = of(source)
    if not isinstance(by, str):
        given = np.asarray(by)
        if given.shape != (len(frame),) or given.dtype.kind not in "biu":
            raise ValueError(f"by is {given.dtype} {given.shape}; give a name, or a whole number for each grain")
        given = given.astype(np.int64)
        found, place = np.unique(given, return_inverse=True)
        shift = int((found < 0).sum())
        return Kinds([str(value) for value in found[shift:]], np.maximum(place.ravel() - shift, -1))
    if by in ("group", "material"):
        number, names = _numbers(frame, by)
        used = np.unique(number[number >= 0])
        place = np.full(int(number.max(initial=-1)) + 2, -1)
        place[used] = np.arange(len(used))
        return Kinds([names[k] if k < len(names) else f"{by} {k}" for k in used], place[number])
    values = _values(frame, by)
    known = np.isfinite(values)
    sorted_, order = np.sort(values[known]), np.argsort(values[known], kind="stable")
    scale = float(np.abs(sorted_).max(initial=0.0)) or 1.0
    step = np.diff(sorted_, prepend=sorted_[:1]) > SAME * scale
    if step.sum() >= MOST:
        told = f"{by} has {int(step.sum()) + 1} values, more than {MOST} kinds"
        raise ValueError(f"{told}; give by = an array with the number of a kind for each grain")
    number = np.full(len(frame), -1)
    number[np.flatnonzero(known)[order]] = np.cumsum(step)
    return Kinds([f"{value:.5g}" for value in sorted_[np.flatnonzero(step | (np.arange(len(step)) == 0))]], number)


def select(source: Frame | Simulation, only: Only) -> Mask:
    """(n,) True for the grains that are meant.

    only : {"group": "small"}, {"material": ["glass", "steel"]}, {"density": [900, 1100]}, {"dye": 1.0} or several of
           them, which all must hold; a pair of numbers is a range, ends included, a text or a list of texts names
           groups or materials, a single number is met to 1e-5. Or (n,) True or False; None for all.
    """
    frame = of(source)
    if only is None:
        return np.ones(len(frame), np.bool_)
    if not isinstance(only, Mapping):
        mask = np.asarray(only)
        if mask.shape != (len(frame),) or mask.dtype != np.bool_:
            raise ValueError(
                f"only is {mask.dtype} {mask.shape}; give True or False for each of the {len(frame)} grains, or a"
                " selection such as {'group': 'small'}"
            )
        return mask
    out = np.ones(len(frame), np.bool_)
    for key, wanted in only.items():
        if key in ("group", "material"):
            number, names = _numbers(frame, key)
            rows = [_row(key, name, names) for name in ([wanted] if isinstance(wanted, (str, int)) else wanted)]
            out &= np.isin(number, rows)
            continue
        values, ends = _values(frame, key), np.atleast_1d(double(wanted))
        if ends.shape not in ((1,), (2,)) or ends[0] > ends[-1]:
            raise ValueError(f"only {key} = {wanted!r} is no number and no range; give one number, or [least, most]")
        room = SAME * max(float(np.abs(ends).max()), 1e-300) if len(ends) == 1 else 0.0
        out &= (values >= ends[0] - room) & (values <= ends[-1] + room)
    return out


def each(function: Callable[..., Any], by: str = "group", **options: Any) -> Callable[[Frame], dict[str, Any]]:
    """A measurement of each kind of grains: a function of a frame, for `Measure` and `over` too.

    >>> Measure(measure.each(measure.profile, "group", axis="y"))["profile.small.velocity"]

    function : one that has the option `only`; options : are handed on to it
    """

    if not callable(function):
        raise TypeError(f"{function!r} is no measurement; give a function of a frame, measure.profile for instance")

    @wraps(function)
    def of_each(frame: Frame) -> dict[str, Any]:
        frame = of(frame)
        found = kinds(frame, by)
        return {name: function(frame, only=found.number == k, **options) for k, name in enumerate(found.names)}

    return of_each


def _numbers(frame: Frame, by: str) -> tuple[Index, list[str]]:
    """Number of each grain's group or material, and their names."""
    if by == "material":
        names = frame.names.materials or [f"material {k}" for k in range(len(frame.friction))]
        return frame.material.astype(np.int64), names
    if frame.group is None:
        raise ValueError("this file, of an earlier version, does not know groups; take material, density or radius")
    return frame.group.astype(np.int64), frame.names.groups


def _row(key: str, name: Any, names: list[str]) -> int:
    if isinstance(name, str) and name in names:
        return names.index(name)
    if not isinstance(name, str) and name in range(len(names)):
        return int(name)
    near = get_close_matches(str(name), names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"no {key} is called {name!r}; {hint}there are {', '.join(names)}")


def _values(frame: Frame, name: str) -> Array:
    """(n,) densities, radii or a scalar."""
    if name in ("density", "radius"):
        return double(getattr(frame, name))
    if name in frame.scalars:
        return double(frame.scalars[name])
    known = ["group", "material", "density", "radius", *frame.scalars]
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"grains have no {name!r} by which they could be told apart; {hint}there are {', '.join(known)}")
