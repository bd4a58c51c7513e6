"""The second-order method: interior point and Newton steps, for problems up to a few thousand contacts.

An interior point comes close whatever the size and however many forces are indeterminate; Newton steps take it to
rounding. Where it gets stuck, as under heavy bodies, a path is followed that may turn back, see path.py. Each step
factorises a sparse matrix: W itself, or the bodies and contacts together where they are known, which fills in less. No
sweep is made: it is independent of the methods that it is held against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from .interior import Interior
from .path import Path
from .polish import into_cone, polish

Array = NDArray[np.float64]

NEAR = 1e-2  # residual from which Newton steps are tried
# Where to begin, and for how many steps: an interior point from no impulses, with contacts so soft, or from those that
# are given, so deep inside the cones; then paths, with contacts so soft.
BEGINNINGS = (("none", 1e-2, 150), ("given", 0.3, 50), ("path", 1e-4, 400), ("path", 1e-3, 400))
HALT = 100.0  # forces held so firmly that nothing moves
EXACT = 1e-24  # tau, in units of q: what is left is rounding, and another beginning would lead no further


@dataclass
class Verdict:
    """What was found: impulses (c, 3), steps, the least residual so far, and why it ended without success.

    iterations : steps of the interior point and of Newton's method, each with one factorisation
    """

    r: Array
    iterations: int
    history: list[float] = field(default_factory=list)
    reason: str = ""


def second_order(
    system: LocalSystem | GlobalSystem, q: Array, mu: Array, dimension: int, mobility: Array,
    residual: Callable[[Array], float], start: Array | None = None, *, tolerance: float = 1e-10,
    max_iterations: int = 1000, enough: Callable[[Array], bool] | None = None,
) -> Verdict:  # fmt: skip
    """Find r with u = W r + q and Signorini's and Coulomb's conditions; the best point found is returned.

    q        : (c, 3)
    mobility : (c,) w_nn
    residual : of impulses (c, 3); the problem counts as solved when it is at most the tolerance
    start    : (c, 3) impulses that may be near, those of the step before for instance
    enough   : whether impulses (c, 3) will do, of a path that ends before their residual is so small
    """
    none = np.zeros_like(q)
    best = _Best(none, residual(none), [])
    best.history.append(best.residual)
    start = start if start is not None and start.any() else None

    def finish(r: Array) -> None:
        best.add(*polish(system, q, mu, mobility, r, residual, 0.01 * tolerance))

    if start is not None:
        best.add(start, residual(start), 0)
    if tolerance < best.residual <= NEAR:
        finish(best.r)
    point, will_do = Interior.of(system, q, mu, dimension, mobility), None
    for begin, how, steps in BEGINNINGS:
        if best.residual <= tolerance or best.steps >= max_iterations or point.tau < EXACT:
            break
        if begin == "given" and start is None:
            continue
        tried = NEAR
        try:
            if begin == "given" and start is not None:
                point.begin_at(start, how)
            else:
                point = (Path if begin == "path" else Interior).of(system, q, mu, dimension, mobility)
                point.begin(how)
                best.steps += 1
            for _ in range(min(steps, max_iterations - best.steps)):
                reach = point.step()
                r = into_cone(point.r(), mu)
                value = residual(r)
                best.add(r, value, 1)
                if (begin == "path" or value <= tried) and enough is not None and enough(r):
                    will_do = r
                if value <= tried:
                    tried = 0.1 * value
                    finish(r)
                if best.residual <= tolerance or not reach > 0.0 or point.hold > HALT or point.tau < EXACT:
                    break
        except RuntimeError:  # a singular matrix
            pass
        if will_do is not None and best.residual > tolerance:
            return Verdict(will_do, best.steps, best.history)
    reason = f"neither interior point nor path led to a solution within {best.steps} steps"
    if point.tau < EXACT:
        reason = "the tolerance is below rounding"
    if best.residual <= tolerance:
        reason = ""
    return Verdict(best.r, best.steps, best.history, reason)


@dataclass
class _Best:
    """The best impulses so far."""

    r: Array
    residual: float
    history: list[float]
    steps: int = 0

    def add(self, r: Array, residual: float, steps: int) -> None:
        if residual < self.residual:
            self.r, self.residual = r, residual
        self.steps += steps
        self.history.append(self.residual)


class LocalSystem:
    """W given as a matrix (3 c, 3 c)."""

    def __init__(self, W: sparse.csr_array) -> None:
        self._W = W

    def times(self, r: Array) -> Array:
        return (self._W @ r.ravel()).reshape(-1, 3)

    def factorise(self, left: Array, right: Array, scale: Array) -> _Factors:
        D = sparse.diags_array(scale.ravel())
        return _Factors(_diagonal(left) + _diagonal(right) @ (D @ self._W @ D), 0)


class GlobalSystem:
    """W = H^T M^-1 H by its bodies: M (n, n), H (n, 3 c)."""

    def __init__(self, M: sparse.csc_array, H: sparse.csc_array) -> None:
        light = sparse.diags_array(1.0 / np.sqrt(M.diagonal()))  # velocities times sqrt(m): heavy and light are alike
        self._M, self._H = light @ M @ light, sparse.csc_array(light @ H)
        self._mass = splu(sparse.csc_matrix(self._M))

    def times(self, r: Array) -> Array:
        return (self._H.T @ self._mass.solve(self._H @ r.ravel())).reshape(-1, 3)

    def factorise(self, left: Array, right: Array, scale: Array) -> _Factors:
        H = self._H @ sparse.diags_array(scale.ravel())
        both = sparse.block_array([[self._M, -H], [_diagonal(right) @ H.T, _diagonal(left)]])
        return _Factors(both, self._M.shape[0])


class _Factors:
    """Solves with the last unknowns; those before are bodies, on which nothing else acts."""

    def __init__(self, matrix: sparse.sparray, bodies: int) -> None:
        self._matrix = sparse.csc_matrix(matrix)
        if not np.isfinite(self._matrix.data).all():
            raise RuntimeError("the matrix is not finite")
        self._factors, self._bodies = splu(self._matrix), bodies

    @property
    def sign(self) -> int:
        """Of the determinant."""
        lu = self._factors
        odd = _parity(lu.perm_r) + _parity(lu.perm_c) + int((lu.U.diagonal() < 0.0).sum())
        return -1 if odd % 2 else 1

    def solve(self, b: Array) -> Array:
        full = np.concatenate([np.zeros(self._bodies), b.ravel()])
        x = self._factors.solve(full)
        x += self._factors.solve(full - self._matrix @ x)
        return x[self._bodies :].reshape(b.shape)


def _parity(order: NDArray[np.int32]) -> int:
    """1 for an odd permutation: its length less its cycles is odd."""
    rows = np.arange(len(order))
    cycles, _ = connected_components(sparse.coo_array((np.ones(len(order)), (rows, order)), shape=2 * (len(order),)))
    return (len(order) - int(cycles)) % 2


def _diagonal(blocks: Array) -> sparse.bsr_array:
    c = len(blocks)
    return sparse.bsr_array((blocks, np.arange(c), np.arange(c + 1)), shape=(3 * c, 3 * c))
