"""Frictional contact problems as FCLIB states them.

In the frames (n, t1, t2) of the contacts, u the relative velocity and r the impulse (or force) that acts on body 1:

    local    u = W r + q
    global   M v = H r + f,  u = H^T v + w

and at each contact Signorini's and Coulomb's conditions, written with De Saxce's velocity u' = u + mu |u_t| n:
u' in the dual of the cone |r_t| <= mu r_n, r in the cone, u' . r = 0. Plane problems have the rows (n, t1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]


@dataclass
class Info:
    """Words that go with a problem."""

    title: str = ""
    description: str = ""
    math_info: str = ""


@dataclass
class LocalProblem:
    """Find r with u = W r + q.

    W         : (d c, d c) sparse, positive semi-definite
    q         : (d c,) velocity without contact forces, plus g/dt along n
    mu        : (c,) friction coefficients
    dimension : d, 2 or 3
    """

    W: sparse.csr_array
    q: Array
    mu: Array
    dimension: int
    info: Info = field(default_factory=Info)

    def __post_init__(self) -> None:
        self.W = sparse.csr_array(self.W)
        self.q, self.mu = np.array(self.q, dtype=float).ravel(), np.array(self.mu, dtype=float).ravel()
        check_dimension(self.dimension)
        rows = self.dimension * len(self.mu)
        check_shape("W", self.W.shape, (rows, rows), f"{len(self.mu)} friction coefficients")
        check_shape("q", self.q.shape, (rows,), f"{len(self.mu)} friction coefficients")
        check_values(W=self.W.data, q=self.q)
        check_friction(self.mu)

    @property
    def count(self) -> int:
        """Number of contacts."""
        return len(self.mu)

    def local(self) -> LocalProblem:
        return self


@dataclass
class GlobalProblem:
    """Find r and v with M v = H r + f and u = H^T v + w.

    M         : (n, n) sparse mass matrix, positive definite
    H         : (n, d c) sparse
    f         : (n,) momentum without contact forces
    w         : (d c,) g/dt along n
    mu        : (c,) friction coefficients
    dimension : d, 2 or 3
    """

    M: sparse.csc_array
    H: sparse.csc_array
    f: Array
    w: Array
    mu: Array
    dimension: int
    info: Info = field(default_factory=Info)

    def __post_init__(self) -> None:
        self.M, self.H = sparse.csc_array(self.M), sparse.csc_array(self.H)
        self.f, self.w, self.mu = (np.array(x, dtype=float).ravel() for x in (self.f, self.w, self.mu))
        check_dimension(self.dimension)
        rows, n = self.dimension * len(self.mu), len(self.f)
        check_shape("M", self.M.shape, (n, n), f"{n} components of f")
        check_shape("H", self.H.shape, (n, rows), f"{n} components of f and {len(self.mu)} friction coefficients")
        check_shape("w", self.w.shape, (rows,), f"{len(self.mu)} friction coefficients")
        check_values(M=self.M.data, H=self.H.data, f=self.f, w=self.w)
        check_friction(self.mu)

    @property
    def count(self) -> int:
        """Number of contacts."""
        return len(self.mu)

    def local(self) -> LocalProblem:
        """The same problem without the bodies: W = H^T M^-1 H, Eq. (invM1), and q = H^T M^-1 f + w."""
        # M^-1 f is the free velocity, Eq. (discr-free-veloc)
        answers = divide(self.M, sparse.hstack([self.H, sparse.csc_array(self.f[:, None])], format="csc"))
        W, q = self.H.T @ answers[:, :-1], self.H.T @ answers[:, [-1]].toarray().ravel() + self.w
        return LocalProblem(W=0.5 * (W + W.T), q=q, mu=self.mu, dimension=self.dimension, info=self.info)

    def body_velocity(self, r: Array) -> Array:
        """(n,) v from the impulses, Eq. (discr-generalized-accel)."""
        return divide(self.M, sparse.csc_array((self.H @ r.ravel() + self.f)[:, None])).toarray().ravel()


Problem = LocalProblem | GlobalProblem


def divide(M: sparse.csc_array, right: sparse.csc_array) -> sparse.csc_array:
    """M^-1 times a sparse matrix; quick where M is diagonal."""
    diagonal = M.diagonal()
    if M.nnz == np.count_nonzero(diagonal) == len(diagonal):
        return sparse.csc_array(sparse.diags_array(1.0 / diagonal) @ right)
    try:
        from scipy.sparse.linalg import splu

        factors = splu(sparse.csc_matrix(M))
    except RuntimeError:
        raise ValueError("M is singular; every body needs a mass") from None
    return sparse.csc_array(factors.solve(right.toarray()))


def check_dimension(dimension: int) -> None:
    if dimension not in (2, 3):
        raise ValueError(f"dimension {dimension} is neither 2 nor 3; contacts lie in a plane or in space")


def check_shape(name: str, shape: tuple[int, ...], needed: tuple[int, ...], why: str) -> None:
    if tuple(shape) != needed:
        said, ask = ("x".join(map(str, size)) for size in (shape, needed))
        raise ValueError(f"{name} has the shape {said}, but {why} ask for {ask}; make them agree")


def check_values(**arrays: Array) -> None:
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise ValueError(f"{name} holds {bad}; give finite numbers")


def check_friction(mu: Array) -> None:
    bad = mu[~(np.isfinite(mu) & (mu >= 0.0))]
    if bad.size:
        raise ValueError(f"mu holds {bad[0]}; give finite friction coefficients, zero or more")
