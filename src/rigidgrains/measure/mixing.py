"""How well kinds of grains are mixed: Lacey's index over cells, assortativity of neighbours, and along an axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..detect.images import find_pairs
from .images import cell_of, home
from .kinds import By, Kinds, kinds
from .shown import Shown
from .state import Array, Frame, Index, TooFew, axis_number, double, grain_volume, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Lacey(Shown):
    """Lacey's mixing index (s0^2 - s^2)/(s0^2 - sr^2): 0 when kinds are apart, 1 on average when they are random.

    variance  : s^2, of the shares of kinds in cells, weighted by grains and added over kinds
    separated : s0^2 = sum p (1 - p), if each cell held one kind; random : sr^2, its mean over all exchanges of grains
    cells     : how many hold grains enough
    """

    index: float
    variance: float
    separated: float
    random: float
    cells: int


def lacey(source: Frame | Simulation, by: By = "group", *, size: float | None = None, least: int = 4) -> Lacey:
    """Lacey's index over square or cubic cells, with the exact variance of a random mixture of a finite number.

    size  : m, edge of a cell; 6 mean diameters in 2D and 4 in 3D if absent. It is the scale on which mixing is judged
    least : a cell with fewer grains does not count
    """
    frame = of(source)
    found = _several(kinds(frame, by))
    d, kept = frame.dimension, found.number >= 0
    if size is None:
        size = (12.0 if d == 2 else 8.0) * float(double(frame.radius).mean())
    if not size > 0.0:
        raise ValueError(f"size = {size} is no edge of a cell; give a positive number of metres")
    at = home(frame)[kept][:, :d]
    cell = np.floor((at - at.min(axis=0)) / size).astype(np.int64)
    _, where = np.unique(cell, axis=0, return_inverse=True)
    where, number = where.ravel(), found.number[kept]
    table = np.zeros((int(where.max()) + 1, len(found.names)))
    np.add.at(table, (where, number), 1.0)
    table = table[table.sum(axis=1) >= least]
    each, total = table.sum(axis=1), float(table.sum())
    if len(each) < 2:
        raise TooFew(f"{len(each)} cells of {size:g} m hold {least} grains or more; give a smaller size")
    share = table.sum(axis=0) / total
    weight = each / total
    variance = float(weight @ ((table / each[:, None] - share) ** 2).sum(axis=1))
    separated = float((share * (1.0 - share)).sum())
    if separated == 0.0:
        raise TooFew("the cells hold grains of one kind alone; nothing can be mixed")
    random = separated * float((weight * (total - each) / (each * (total - 1.0))).sum())
    return Lacey((separated - variance) / (separated - random), variance, separated, random, len(each))


@dataclass(frozen=True)
class Segregation(Shown):
    """Assortativity of neighbours (Newman 2003), r = (sum e_ii - sum a_i^2)/(1 - sum a_i^2).

    index : r, 1 when neighbours are always of one kind, 0 on average when they are random, negative when they alternate
    pairs : (k, k) share e of pairs of neighbours, each from both ends; neighbours : pairs that were found
    """

    index: float
    pairs: Array
    neighbours: int


def segregation(source: Frame | Simulation, by: By = "group", *, reach: float = 0.2) -> Segregation:
    """How much grains have neighbours of their own kind. It needs no cells, and judges mixing on the scale of a grain.

    reach : gap up to which two grains are neighbours, over their mean radius; by the spheres around other shapes
    """
    frame = of(source)
    if not (math.isfinite(reach) and reach >= 0.0):
        raise ValueError(f"reach = {reach} is no gap; give a number of mean radii that is not negative")
    found = _several(kinds(frame, by))
    i, j = neighbours(frame, reach)
    a, b = found.number[i], found.number[j]
    some = (a >= 0) & (b >= 0)
    pairs = np.zeros((len(found.names),) * 2)
    np.add.at(pairs, (a[some], b[some]), 1.0)
    pairs += pairs.T
    if not pairs.sum():
        raise TooFew(f"no two grains are closer than reach = {reach:g} mean radii; give a wider one")
    e = pairs / pairs.sum()
    alike = float((e.sum(axis=0) ** 2).sum())
    index = (float(np.trace(e)) - alike) / (1.0 - alike) if alike < 1.0 else 1.0
    return Segregation(index, e, int(some.sum()))


@dataclass(frozen=True)
class Stratification(Shown):
    """index : (k,) of each kind, 1 when all of it is at the upper end, -1 at the lower, 0 when spread evenly;
    rank : (k,) mean share of the volume of all grains that lies below those of this kind"""

    index: Array
    rank: Array


def stratification(source: Frame | Simulation, by: By = "group", *, along: int | str | Array = "y") -> Stratification:
    """Where kinds are along an axis: at the top or the bottom, in the core or the rim.

    Grains are put in a row; what counts is the volume of others below each, so that the shape of the packing does not
    matter. along : an axis, or (n,) numbers, the distance from an axis of rotation for instance
    """
    frame = of(source)
    found, volume = _several(kinds(frame, by)), grain_volume(frame)
    if isinstance(along, (str, int, np.integer)):
        at = home(frame)[:, axis_number(frame, along)]
    else:
        at = double(along)
        if at.shape != (len(frame),):
            told = f"give an axis, or a number for each of the {len(frame)} grains"
            raise ValueError(f"along is an array {at.shape}; {told}")
    kept = found.number >= 0
    at, number, volume = at[kept], found.number[kept], volume[kept]
    _, level = np.unique(at, return_inverse=True)  # equal heights share one rank
    level = level.ravel()
    each = np.bincount(level, volume)
    rank = ((np.cumsum(each) - 0.5 * each) / each.sum())[level]
    own = np.bincount(number, volume)
    share, mean = own / own.sum(), np.bincount(number, volume * rank) / own
    return Stratification((mean - 0.5) / (0.5 * (1.0 - share)), mean)


def neighbours(frame: Frame, reach: float) -> tuple[Index, Index]:
    """Rows of the grains of each pair whose gap is at most `reach` mean radii, also across faces of a cell."""
    position, cell = home(frame), cell_of(frame)
    radius = double(frame.radius)
    if frame.catalogue is not None and frame.shape is not None:
        radius = radius * frame.catalogue.bound[frame.shape]
    near = find_pairs(position, radius + 0.5 * reach * float(radius.mean()) * (1.0 + 1e-9), cell)
    return np.repeat(np.arange(len(position)), np.diff(near.start)), near.partner[: near.start[-1]].astype(np.int64)


def _several(found: Kinds) -> Kinds:
    if len(found.names) < 2:
        there = found.names[0] if found.names else "none"
        raise TooFew(f"there is one kind of grains, {there}; two or more are needed: choose another `by`")
    return found
