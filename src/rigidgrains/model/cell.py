"""The cell: periodic vectors in which grains and their images live. A pair of grains may touch through any image.

Image k of a grain at x sits at x + k . vectors. Vectors are those of a sheared box: a along x, b in the plane of x and
y. Positions are wrapped into the cell only when neighbour lists are made; counts of each grain tell where it really is.

A cell may deform, with a velocity gradient L: see deforming.py. L is upper triangular like the vectors, so that the
cell never turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import allocating, inlined, kernel
from .columns import ALL, INV_M, INV_M_ALL, INV_M_X, INV_M_Y, INV_M_Z, L_X, L_Y, L_Z, L, X, Y, Z
from .time_functions import TimeFunction

Array = NDArray[np.float64]

A, B, C = range(3)  # the vectors, rows of a cell
STEEPEST = 1e4  # vectors that a vector may lean over: whole numbers of them are counted, and multiplied
FURTHEST = 2  # images on either side along each vector
# Images are written as codes of one byte; 0 is the grain itself.
IMAGES = np.array(sorted(product(range(-FURTHEST, FURTHEST + 1), repeat=3), key=lambda k: (k != (0, 0, 0), k)))
CODES = np.zeros((2 * FURTHEST + 1,) * 3, np.int8)
CODES[tuple((IMAGES + FURTHEST).T)] = np.arange(len(IMAGES))
NOWHERE = np.int8(-1)  # code of an image out of reach


class CellError(ArithmeticError):
    """A cell became too small for its grains. The simulation holds the last good state."""


@dataclass
class Cell:
    """Periodic vectors and where they begin.

    vectors  : (3, 3) m, rows a, b, c; in 2D c is (0, 0, 1), so that the volume is the area
    origin   : (3,) m, the lower corner
    periodic : (3,) directions with images; others are open, or ended by walls
    rate     : (3, 3) 1/s, prescribed components of L
    free     : (3, 3) components of L that follow the stress instead
    stress   : (3, 3) Pa (N/m in 2D), prescribed for those; pressure is positive
    isotropic : the diagonal of L is one number: the cell keeps its shape
    inertia  : of the free components, over that of the grains which move along with them
    functions  : rates and stresses in the course of time by their words, "rate.xy" or "pressure"; `rate` and `stress`
               then hold those of the present step
    strain   : (3, 3) what the cell has been strained by so far, the integral of L over time; set by those who move it
    """

    vectors: Array
    origin: Array = field(default_factory=lambda: np.zeros(3))
    periodic: NDArray[np.bool_] = field(default_factory=lambda: np.ones(3, np.bool_))
    rate: Array = field(default_factory=lambda: np.zeros((3, 3)))
    free: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((3, 3), np.bool_))
    stress: Array = field(default_factory=lambda: np.zeros((3, 3)))
    isotropic: bool = False
    inertia: float = 1.0
    functions: dict[str, TimeFunction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rate, self.stress = np.array(self.rate, dtype=float), np.array(self.stress, dtype=float)
        self.free = np.array(self.free, dtype=np.bool_)
        self.vectors, self.origin = np.array(self.vectors, dtype=float), np.array(self.origin, dtype=float)
        self.periodic = np.array(self.periodic, dtype=np.bool_)
        if self.vectors.shape != (3, 3) or np.triu(self.vectors, 1).any() or not (np.diag(self.vectors) > 0.0).all():
            raise ValueError(
                f"cell vectors {self.vectors.tolist()} are no cell; give rows (a, 0, 0), (b_x, b, 0), (c_x, c_y, c)"
                " with positive a, b, c"
            )
        if (np.abs(np.tril(self.vectors, -1)) > STEEPEST * np.diag(self.vectors)).any():
            raise ValueError(
                f"cell vectors {self.vectors.tolist()} lean over more than {STEEPEST:g} of each other; take whole ones"
                " away"
            )
        self._outside = ~np.triu(np.outer(self.periodic, self.periodic))
        self.strain = np.zeros((3, 3))
        self._check_control()
        self.moves = bool(self.rate.any() or self.free.any() or self.functions)

    def control(
        self, rate: Array, free: NDArray[np.bool_], stress: Array, isotropic: bool, inertia: float,
        functions: dict[str, TimeFunction],
    ) -> None:  # fmt: skip
        """Prescribe other rates and stresses of a cell that was made to move; what they are is said at the top."""
        self.rate, self.free, self.stress = rate.copy(), free.copy(), stress.copy()
        self.isotropic, self.inertia, self.functions = isotropic, inertia, dict(functions)
        self._check_control()

    def _check_control(self) -> None:
        """Raise for rates and stresses that do not fit; remember which components are free."""
        if not (self.spans(self.rate) and self.spans(self.free)):
            raise ValueError(
                "rate or stress of a component that the cell does not have; give those above the diagonal, along"
                " periodic directions"
            )
        if (self.rate[self.free] != 0.0).any():
            raise ValueError("a component cannot have both a rate and a stress; choose one for each")
        if self.isotropic and not self.free[self.periodic, self.periodic].all():
            raise ValueError("an isotropic cell is free along all its periodic directions; set free there")
        if not 0.0 < self.inertia < np.inf:
            raise ValueError(f"inertia = {self.inertia} moves nothing; give a positive number, such as 1")
        self._made_free = self.free.copy()

    def prescribe(self, time: float, dt: float) -> None:
        """Set the rates and stresses of the step that begins: means over it, so that the strain is exact."""
        for words, function in self.functions.items():
            value, (name, *component) = function.mean(time, dt), words.split(".")
            if name == "pressure":
                self.stress[self.periodic, self.periodic] = value
            else:
                getattr(self, name)[tuple("xyz".index(axis) for axis in component[0])] = value

    def spans(self, components: NDArray[Any]) -> bool:
        """True if components (3, 3) are zero wherever the cell has none."""
        return not components[self._outside].any()

    @property
    def volume(self) -> float:
        """m^3, in 2D the area in m^2."""
        return float(np.prod(np.diag(self.vectors)))

    @property
    def widths(self) -> Array:
        """(3,) m, distances between opposite faces."""
        return np.asarray(1.0 / np.linalg.norm(np.linalg.inv(self.vectors), axis=0))

    @property
    def shifts(self) -> Array:
        """(codes, 3) m, displacement of each image."""
        return np.asarray(IMAGES @ self.vectors)

    def fractions(self, position: Array) -> Array:
        """(n, 3) coordinates along the vectors; 0 to 1 within the cell."""
        return np.asarray((position - self.origin) @ np.linalg.inv(self.vectors))

    def wrap(self, position: Array) -> NDArray[np.int32]:
        """Bring positions into the cell; returns (n, 3) by how many vectors each was away."""
        away = np.where(self.periodic, np.floor(self.fractions(position)), 0.0)
        if not np.isfinite(away).all():
            raise CellError(f"grain {int(np.argmin(np.isfinite(away).all(axis=1)))} has no position: it is not finite")
        gone = away.any(axis=1)
        position[gone] -= away[gone] @ self.vectors
        return away.astype(np.int32)

    def straighten(self) -> NDArray[np.int32] | None:
        """Take shorter vectors for the same images if the cell leans by more than half; None if it does not.

        Returns (3, 3): image k of the vectors before is image k @ this matrix of the new ones.
        """
        turned = np.eye(3, dtype=np.int32)
        for row, along in ((C, B), (C, A), (B, A)):
            if self.periodic[row] and self.periodic[along]:
                lean = int(np.rint(self.vectors[row, along] / self.vectors[along, along]))
                self.vectors[row] -= lean * self.vectors[along]
                step = np.eye(3, dtype=np.int32)
                step[row, along] = lean
                turned = turned @ step
        return None if (turned == np.eye(3)).all() else turned

    def check(self, largest: float) -> None:
        """Raise if the cell is narrower than two of the largest diameters, or has got a control it was not made for."""
        if (
            (self.free != self._made_free).any()
            or not self.spans(self.rate)
            or (self.rate.any() and (not self.moves or self.rate[self.free].any()))
        ):
            raise ValueError(
                "a rate or stress was set for a component that the cell was not made for; give it when it is made"
            )
        width = narrowest(self.vectors.tolist(), self.periodic.tolist())
        if not width >= 4.0 * largest * (1.0 - 1e-9):
            raise CellError(
                f"the cell is {width:.4g} m wide, less than two of its largest grains, of radius {largest:.4g} m:"
                " images of a grain would get in its way. Take more grains, or stop before"
            )

    def ghosts(self, position: Array, reach: Array) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Owner and image code of the images within reach of any grain, one of each two opposite images.

        reach : (n,) m, radius of each grain with its skin
        """
        inverse, per_width = np.linalg.inv(self.vectors), np.where(self.periodic, 1.0 / self.widths, 0.0)
        low, high = _extent(position, self.origin, inverse)
        widest = float(reach.max(initial=0.0))
        if (high - low + 2.0 * widest * per_width > FURTHEST + 0.5)[self.periodic].any():
            raise CellError(
                f"grains move so far in one step that they meet images beyond the next of a cell"
                f" {self.widths[self.periodic].min():.4g} m wide; use a smaller dt, or a dt_max"
            )
        what = position, reach, widest, self.origin, inverse, per_width, low, high, CODES
        room = len(position) // 2 + 64
        while True:
            owner, code = np.empty(room, np.int32), np.empty(room, np.int8)
            found = _near_images(*what, owner, code)
            if found <= room:
                return owner[:found], code[:found]
            room = found


def narrowest(vectors: list[list[float]], periodic: list[bool]) -> float:
    """m, least distance between opposite faces once the cell is straightened; infinite if it is not periodic."""
    (a, _, _), (b_x, b, _), (c_x, c_y, c) = vectors
    x, y, z = periodic
    if y and z:
        lean = round(c_y / b)
        c_x, c_y = c_x - lean * b_x, c_y - lean * b
    if x and z:
        c_x -= round(c_x / a) * a
    if x and y:
        b_x -= round(b_x / a) * a
    widths = a / math.hypot(1.0, b_x / b, (b_x * c_y / b - c_x) / c), b / math.hypot(1.0, c_y / c), c
    return min((width for width, has in zip(widths, periodic) if has), default=math.inf)


def encode(images: NDArray[np.int32]) -> NDArray[np.int8]:
    """(n,) codes of images (n, 3); NOWHERE for those out of reach."""
    known = (np.abs(images) <= FURTHEST).all(axis=1)
    codes = np.full(len(images), NOWHERE)
    codes[known] = CODES[tuple((images[known] + FURTHEST).T)]
    return codes


def make_cell_rows(cell: Cell | None, mass: float) -> Array:
    """(3, 8) motion rows of a cell that deforms: L, mobility of each component, of the isotropic one, 1 where it acts.

    (0, 8) for a cell that keeps still.
    The inertia of component ab is that of the grains, of a mass in all, spread evenly along vector b: m b^2/12.
    """
    if cell is None or not cell.moves:
        return np.zeros((0, 8))
    rows = np.zeros((3, 8))
    inertia = cell.inertia * mass * (cell.vectors**2).sum(axis=1) / 12.0
    each = cell.free & ~(np.eye(3, dtype=np.bool_) & cell.isotropic)
    rows[:, L] = cell.rate
    rows[:, INV_M] = np.where(each, 1.0 / inertia, 0.0)
    if cell.isotropic:
        rows[cell.periodic, INV_M_ALL], rows[cell.periodic, ALL] = 1.0 / inertia[cell.periodic].sum(), 1.0
    return rows


@inlined
def drag(flow, branch, n_x, n_y, n_z, p_n, p_x, p_y, p_z):
    """What an impulse p_n n + p_t does to L: the moment p b over the inertia of each component that is free."""
    p_x, p_y, p_z = branch * (p_x + p_n * n_x), branch * (p_y + p_n * n_y), branch * (p_z + p_n * n_z)
    swell = flow[X, INV_M_ALL] * p_x * n_x + flow[Y, INV_M_ALL] * p_y * n_y + flow[Z, INV_M_ALL] * p_z * n_z
    flow[X, L_X] += flow[X, INV_M_X] * p_x * n_x + flow[X, ALL] * swell
    flow[Y, L_Y] += flow[Y, INV_M_Y] * p_y * n_y + flow[Y, ALL] * swell
    flow[Z, L_Z] += flow[Z, INV_M_Z] * p_z * n_z + flow[Z, ALL] * swell
    flow[X, L_Y] += flow[X, INV_M_Y] * p_x * n_y
    flow[X, L_Z] += flow[X, INV_M_Z] * p_x * n_z
    flow[Y, L_Z] += flow[Y, INV_M_Z] * p_y * n_z


@kernel
def _fractions(position, i, origin, inverse):
    """Coordinates of a grain along the vectors."""
    x, y, z = position[i, X] - origin[X], position[i, Y] - origin[Y], position[i, Z] - origin[Z]
    return (
        x * inverse[X, A] + y * inverse[Y, A] + z * inverse[Z, A],
        y * inverse[Y, B] + z * inverse[Z, B],
        z * inverse[Z, C],
    )


@allocating
def _extent(position, origin, inverse):
    """Lowest and highest coordinates of any grain."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(position)):
        a, b, c = _fractions(position, i, origin, inverse)
        low[A], low[B], low[C] = min(low[A], a), min(low[B], b), min(low[C], c)
        high[A], high[B], high[C] = max(high[A], a), max(high[B], b), max(high[C], c)
    return low, high


@allocating
def _near_images(position, reach, widest, origin, inverse, per_width, low, high, codes, owner, code):
    """List the images within reach; returns how many there are, also beyond the space given."""
    found, room = 0, owner.size
    first, last = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for i in range(len(position)):
        at = _fractions(position, i, origin, inverse)
        several = False
        for d in range(3):
            margin = (reach[i] + widest) * per_width[d]
            if margin > 0.0:
                first[d] = np.int64(np.ceil(low[d] - margin - at[d]))
                last[d] = np.int64(np.floor(high[d] + margin - at[d]))
                several = several or first[d] < last[d]
        if not several:
            continue
        for k in range(0, last[A] + 1):
            for m in range(first[B] if k > 0 else 0, last[B] + 1):
                for p in range(first[C] if k > 0 or m > 0 else 1, last[C] + 1):
                    if found < room:
                        owner[found], code[found] = i, codes[k + FURTHEST, m + FURTHEST, p + FURTHEST]
                    found += 1
    return found
