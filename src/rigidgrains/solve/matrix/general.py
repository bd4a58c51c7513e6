"""Sweeps of the general shock law over a problem given by its matrix: u = W r + q with 3x3 blocks, one row per contact.

Impulses r and velocities u stand in the frames (n, t1, t2) of the contacts; q holds the free velocity and g/dt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...laws.shock import general_shock_law
from ...runtime.compiled import kernel, law

Array = NDArray[np.float64]
Index = NDArray[np.int32]

shock = law(general_shock_law)


@dataclass
class BlockRows:
    """W in sparse rows of 3x3 blocks, and what else a sweep needs.

    start  : (c + 1,) first block of each row
    column : (k,) contact that each block multiplies
    block  : (k, 9) 1/kg
    own    : (c, 6) symmetric part of the block on the diagonal, as `general_shock_law` takes it
    q      : (c, 3) m/s
    mu     : (c,)
    """

    start: Index
    column: Index
    block: Array
    own: Array
    q: Array
    mu: Array

    @classmethod
    def of(cls, W: sparse.csr_array, q: Array, mu: Array, dimension: int) -> BlockRows:
        """From a matrix with 2 or 3 rows per contact. In the plane a tangent is added along which nothing moves."""
        contacts = len(mu)
        entries = sparse.coo_array(W)
        row, column = (3 * (at // dimension) + at % dimension for at in (entries.row, entries.col))
        # A zero on every diagonal keeps the block there.
        each, none = np.arange(3 * contacts), np.zeros(3 * contacts)
        place = (np.concatenate([row, each]), np.concatenate([column, each]))
        values = np.concatenate([entries.data, none])
        blocks = sparse.coo_array((values, place), shape=2 * (3 * contacts,)).tobsr((3, 3))
        blocks.sort_indices()
        of_row = np.repeat(np.arange(contacts), np.diff(blocks.indptr))
        own = blocks.data[blocks.indices == of_row]
        own = 0.5 * (own + own.transpose(0, 2, 1))
        if dimension == 2:
            own[:, 2, 2] = own[:, 1, 1]
        free = np.zeros((contacts, 3))
        free[:, :dimension] = q.reshape(contacts, dimension)
        return cls(
            start=blocks.indptr.astype(np.int32),
            column=blocks.indices.astype(np.int32),
            block=np.ascontiguousarray(blocks.data).reshape(-1, 9),
            own=np.ascontiguousarray(own[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]),
            q=free,
            mu=np.ascontiguousarray(mu, dtype=float),
        )

    @property
    def count(self) -> int:
        return len(self.mu)

    def sweep(self, r: Array, sequence: Index) -> None:
        """Update the impulses (c, 3) one after another."""
        sweep(sequence, self.start, self.column, self.block, self.own, self.q, self.mu, r)

    def velocity(self, r: Array) -> Array:
        """(c, 3) u = W r + q."""
        u = np.empty_like(r)
        velocity(self.start, self.column, self.block, self.q, r, u)
        return u


@kernel
def contact_velocity(c, start, column, block, q, r):
    """u of one contact, its own impulse included."""
    u_n, u_1, u_2 = q[c, 0], q[c, 1], q[c, 2]
    for k in range(start[c], start[c + 1]):
        d = column[k]
        r_n, r_1, r_2 = r[d, 0], r[d, 1], r[d, 2]
        u_n += block[k, 0] * r_n + block[k, 1] * r_1 + block[k, 2] * r_2
        u_1 += block[k, 3] * r_n + block[k, 4] * r_1 + block[k, 5] * r_2
        u_2 += block[k, 6] * r_n + block[k, 7] * r_1 + block[k, 8] * r_2
    return u_n, u_1, u_2


@kernel
def sweep(sequence, start, column, block, own, q, mu, r):
    """Update the contacts of a sequence one after another, each new impulse stored at once.

    Its own impulse is taken out with the symmetric part of its block: where sweeps come to rest, W itself counts.
    """
    for c in sequence:
        w = (own[c, 0], own[c, 1], own[c, 2], own[c, 3], own[c, 4], own[c, 5])
        r_n, r_1, r_2 = r[c, 0], r[c, 1], r[c, 2]
        u_n, u_1, u_2 = contact_velocity(c, start, column, block, q, r)
        u_n -= w[0] * r_n + w[1] * r_1 + w[2] * r_2
        u_1 -= w[1] * r_n + w[3] * r_1 + w[4] * r_2
        u_2 -= w[2] * r_n + w[4] * r_1 + w[5] * r_2
        r[c, 0], r[c, 1], r[c, 2] = shock(0.0, (u_n, u_1, u_2), w, mu[c], 1.0)


@kernel
def velocity(start, column, block, q, r, u):
    """u = W r + q."""
    for c in range(len(r)):
        u[c, 0], u[c, 1], u[c, 2] = contact_velocity(c, start, column, block, q, r)


@kernel
def natural_map(r, u, mu, scale):
    """|r - P(r - u')| over all contacts, with r in units of velocity, r * scale.

    u' = u + mu |u_t| n is De Saxce's velocity, P the projection onto Coulomb's cone |r_t| <= mu r_n.
    """
    total = 0.0
    for c in range(len(r)):
        r_n, r_1, r_2 = scale * r[c, 0], scale * r[c, 1], scale * r[c, 2]
        slip = math.sqrt(u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2])
        x_n, x_1, x_2 = r_n - u[c, 0] - mu[c] * slip, r_1 - u[c, 1], r_2 - u[c, 2]
        x_t = math.sqrt(x_1 * x_1 + x_2 * x_2)
        if mu[c] * x_t <= -x_n:
            x_n, x_1, x_2 = 0.0, 0.0, 0.0
        elif x_t > mu[c] * x_n:
            x_n = (x_n + mu[c] * x_t) / (1.0 + mu[c] * mu[c])
            x_1, x_2 = mu[c] * x_n * x_1 / x_t, mu[c] * x_n * x_2 / x_t
        total += (r_n - x_n) ** 2 + (r_1 - x_1) ** 2 + (r_2 - x_2) ** 2
    return math.sqrt(total)
