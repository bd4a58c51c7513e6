"""What is physically wrong with grains at given positions: overlaps, and grains in or behind walls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..detect.images import find_pairs
from ..model.bodies import Bodies
from ..model.cell import CellError
from .cells import Array
from .errors import Problem
from .room import wall_gaps
from .values import FARTHEST

if TYPE_CHECKING:
    from .forms import Forms
    from .grains import Grains
    from .scene import Scene

# Positions are written with rounded decimals: grains may overlap by this share of the smaller radius.
TOLERANCE = 1e-6


def lever_mistakes(scene: Scene, bodies: Bodies) -> Iterator[Problem]:
    """Rolling and twisting friction are lengths: the lever of a force that acts somewhere on the surface of a grain."""
    most = float(bodies.radius.max(initial=0.0))
    if not most or scene.inflow:
        return
    for name, tables in (("material", scene.material), ("pair", scene.pair)):
        for k, table in enumerate(tables):
            for key in ("rolling", "twisting"):
                length = getattr(table, key) or 0.0
                if most < length < math.inf:
                    yield Problem(
                        f"{name}[{k}].{key}", length,
                        f"is a length (m), and no grain has a radius of more than {most:g} m; give a tenth of a radius,"
                        f" {0.1 * most:.2g}, say, or inf for grains that never turn",
                    )  # fmt: skip


class Groups:
    """Places of the grains of all groups: which group and which index a grain number belongs to.

    allowed : (n,) share of the radius by which each grain may overlap; more for states of soft grains, read from files,
              which always do: with g_pos such overlaps do not grow
    """

    def __init__(self, slices: list[slice], tables: list[Grains]) -> None:
        self.tables, self.starts = tables, np.array([piece.start for piece in slices])
        share = [TOLERANCE if table.file is None else max(table.overlap, TOLERANCE) for table in tables]
        self.allowed = np.repeat(share, [table.number for table in tables])

    def place(self, i: int) -> str:
        """Place such as grains[0].positions[3]."""
        group = self._group(i)
        kind = "positions" if self.tables[group].file is None else "file"
        return f"grains[{group}].{kind}[{i - self.starts[group]}]"

    def permit(self, depth: float, *grains: int) -> str:
        """The key that would let grains of a file overlap so deeply, up to their radius."""
        share = math.ceil(100.0 * depth) / 100.0
        may = share <= 1.0 and any(self.tables[self._group(i)].file is not None for i in grains)
        return f"; or start with the overlap: overlap = {share:g}" if may else ""

    def _group(self, i: int) -> int:
        return int(np.searchsorted(self.starts, i, side="right")) - 1


def overlap_mistakes(bodies: Bodies, forms: Forms | None, groups: Groups) -> Iterator[Problem]:
    """The deepest overlap of two grains and how many there are."""
    position, radius = bodies.position, bodies.radius
    i, j, gap = overlapping_pairs(bodies, forms)
    depth = -gap / np.minimum(radius[i], radius[j])
    deep = depth > np.maximum(groups.allowed[i], groups.allowed[j])
    if deep.any():
        worst = int(np.argmax(np.where(deep, depth, 0.0)))
        first, second = sorted((int(i[worst]), int(j[worst])))
        others = f", the deepest of {deep.sum()} overlaps" if deep.sum() > 1 else ""
        message = (
            f"this grain and {groups.place(second)} overlap by {depth[worst]:.2g} of the smaller radius{others};"
            f" move them {-gap[worst]:.3g} m apart or make them smaller{groups.permit(depth[worst], first, second)}"
        )
        yield Problem(groups.place(first), tidy(position[first]), message)


def overlapping_pairs(bodies: Bodies, forms: Forms | None) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Both grains and the gap of every pair that overlaps, through any image; by the narrow phase with other shapes."""
    pairs = find_pairs(bodies.position, bodies.bound, bodies.cell)
    i, j = np.repeat(np.arange(bodies.count), np.diff(pairs.start)), pairs.partner.astype(np.int64)
    shift = np.zeros((len(i), 3)) if bodies.cell is None else bodies.cell.shifts[pairs.image]
    if forms is None:
        away = bodies.position[j] - bodies.position[i] + shift
        return i, j, np.linalg.norm(away, axis=1) - bodies.radius[i] - bodies.radius[j]
    from .narrow import Narrow

    gap, _ = Narrow(forms).gaps(bodies.position, i, j, shift, 0.0)
    met = np.isfinite(gap)
    return i[met], j[met], gap[met]


def cell_mistakes(bodies: Bodies, groups: Groups) -> Iterator[Problem]:
    """A cell too small for its grains, and grains beyond its ends where it is not periodic."""
    cell = bodies.cell
    assert cell is not None
    try:
        cell.check(float(bodies.bound.max(initial=0.0)))
    except CellError as problem:
        yield Problem("cell.upper", tidy(cell.origin + np.diag(cell.vectors)), str(problem))
    ends = ~cell.periodic & (np.arange(3) < bodies.dimension)
    at = cell.fractions(bodies.position)
    out = np.flatnonzero((((at < 0.0) | (at > 1.0)) & ends).any(axis=1))
    if len(out):
        others = f", the first of {len(out)} such grains" if len(out) > 1 else ""
        message = f"this grain lies outside the cell{others}; move it, or widen the cell"
        yield Problem(groups.place(int(out[0])), tidy(bodies.position[out[0]]), message)


def wall_mistakes(bodies: Bodies, forms: Forms | None, groups: Groups) -> Iterator[Problem]:
    """For each wall the grain deepest in it."""
    position, radius = bodies.position, bodies.radius
    for wall in bodies.walls:
        gap, _ = wall_gaps(wall, position, radius) if forms is None else forms.wall_gaps(wall, position)
        depth = -gap / radius
        deep = depth > groups.allowed
        if not deep.any():
            continue
        i, count = int(np.argmax(np.where(deep, depth, 0.0))), int(deep.sum())
        others = f", the deepest of {count} such grains" if count > 1 else ""
        kind = "piston" if wall.guided else "wall"
        how = f"overlaps {kind} '{wall.name}' by {depth[i]:.2g} of its radius"
        if depth[i] >= 2.0:
            how = f"lies behind {kind} '{wall.name}'"
        message = (
            f"this grain {how}{others}; move it by {-gap[i]:.3g} m, or the {kind}, whose normal points to the grains"
            f"{groups.permit(depth[i], i)}"
        )
        yield Problem(groups.place(i), tidy(position[i]), message)


def mass_mistakes(mass: Array, groups: list[slice]) -> Iterator[Problem]:
    """Groups whose grains are too light or too heavy for the range of numbers."""
    for index, piece in enumerate(groups):
        with np.errstate(all="ignore"):
            inverse = 1.0 / mass[piece]
        if not ((mass[piece] <= FARTHEST) & (inverse <= FARTHEST)).all():
            worst = float(mass[piece].min())
            yield Problem(
                f"grains[{index}].radius", worst, "the mass of such a grain cannot be computed; check the units"
            )


def tidy(x: Array) -> list[float]:
    return [float(f"{component:.6g}") for component in x]
