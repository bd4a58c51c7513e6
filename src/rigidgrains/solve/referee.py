"""The referee: a second-order solver that certifies forces, for problems up to a few thousand contacts.

An interior point comes close whatever the size and however many forces are indeterminate; Newton steps take it to
rounding. Each step factorises a sparse matrix: W itself, or the bodies and contacts together where they are known,
which fills in less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from .interior import Interior
from .polish import into_cone, polish

Array = NDArray[np.float64]

NEAR = 1e-2  # residual from which polishing is tried
# Where to begin: from given impulses or from none, how deep inside the cones, and for how many steps. Forces of a
# packing at rest are large against those of a single collision, so the first begins with large ones.
BEGINNINGS = (
    (False, 100.0, 40), (True, 0.3, 50), (False, 10.0, 120), (True, 0.03, 50), (False, 1.0, 80), (True, 0.1, 80),
    (True, 1.0, 80),
)  # fmt: skip
HALT = 10.0  # forces held so firmly that nothing moves


@dataclass
class Verdict:
    """What the referee found: impulses (c, 3), steps, the least residual so far, and why it ended without success."""

    r: Array
    iterations: int
    history: list[float] = field(default_factory=list)
    reason: str = ""


def referee(
    system: LocalSystem | GlobalSystem, q: Array, mu: Array, dimension: int, mobility: Array,
    residual: Callable[[Array], float], start: Array, *, tolerance: float = 1e-10, max_iterations: int = 500,
) -> Verdict:  # fmt: skip
    """Find r with u = W r + q and Signorini's and Coulomb's conditions; the best point found is returned.

    q        : (c, 3)
    mobility : (c,) w_nn
    residual : of impulses (c, 3); the problem counts as solved when it is at most the tolerance
    start    : (c, 3) impulses, from sweeps for instance
    """
    best = _Best(start, residual(start), [])
    best.add(np.zeros_like(start), residual(np.zeros_like(start)), 0)

    def finish(r: Array) -> None:
        best.add(*polish(system, q, mu, mobility, r, residual, 0.01 * tolerance))

    if tolerance < best.residual <= NEAR:
        finish(best.r)
    unit_w, unit_u = float(mobility.mean()), float(np.sqrt(np.mean(q**2))) or 1.0  # to work with numbers near 1
    for warm, depth, steps in BEGINNINGS:
        if best.residual <= tolerance or best.steps >= max_iterations:
            break
        at = start * (unit_w / unit_u) if warm else np.zeros_like(start)
        point, tried = Interior.around(_Scaled(system, unit_w), q / unit_u, mu, dimension, at, depth), NEAR
        for _ in range(min(steps, max_iterations - best.steps)):
            try:
                reach = point.step()
            except RuntimeError:  # a singular matrix
                break
            r = into_cone(point.r() * (unit_u / unit_w), mu)
            value = residual(r)
            best.add(r, value, 1)
            if value <= tried:
                tried = 0.1 * value
                finish(r)
            if best.residual <= tolerance or not reach > 0.0 or point.hold > HALT:
                break
    reason = "" if best.residual <= tolerance else f"no interior point led to a solution within {best.steps} steps"
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
        self._M, self._H = M, H
        self._mass = splu(sparse.csc_matrix(M))

    def times(self, r: Array) -> Array:
        return (self._H.T @ self._mass.solve(self._H @ r.ravel())).reshape(-1, 3)

    def factorise(self, left: Array, right: Array, scale: Array) -> _Factors:
        H = self._H @ sparse.diags_array(scale.ravel())
        both = sparse.block_array([[self._M, -H], [_diagonal(right) @ H.T, _diagonal(left)]])
        return _Factors(both, len(self._M.indptr) - 1)


class _Factors:
    """Solves with the last unknowns; those before are bodies, on which nothing else acts."""

    def __init__(self, matrix: sparse.sparray, bodies: int) -> None:
        self._matrix = sparse.csc_matrix(matrix)
        if not np.isfinite(self._matrix.data).all():
            raise RuntimeError("the matrix is not finite")
        self._factors, self._bodies = splu(self._matrix), bodies

    def solve(self, b: Array) -> Array:
        full = np.concatenate([np.zeros(self._bodies), b.ravel()])
        x = self._factors.solve(full)
        x += self._factors.solve(full - self._matrix @ x)
        return x[self._bodies :].reshape(b.shape)


class _Scaled:
    """A system with W divided by a number."""

    def __init__(self, system: LocalSystem | GlobalSystem, unit: float) -> None:
        self._system, self._unit = system, unit

    def times(self, r: Array) -> Array:
        return self._system.times(r) / self._unit

    def factorise(self, left: Array, right: Array, scale: Array) -> _Factors:
        return self._system.factorise(left, right, scale / np.sqrt(self._unit))


def _diagonal(blocks: Array) -> sparse.bsr_array:
    c = len(blocks)
    return sparse.bsr_array((blocks, np.arange(c), np.arange(c + 1)), shape=(3 * c, 3 * c))
