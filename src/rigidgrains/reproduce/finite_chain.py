"""Waves of a finite chain, exactly: the mean of a random sweep over all orders, ends included.

Contacts 0 to n - 1 of n disks; contact 0 is that with the wall, beyond contact n - 1 the load acts. The new force of a
contact is that of Eq. (1d-update): half of each neighbour's (all of the only one's at the wall). Followed back as on
the page of `dispersion`, a walk goes on over contacts that were updated before the present one: l of them in a row
with probability 1/(l + 1)!. Here it also ends where the chain does. Units d = m = dt = 1.
"""

from __future__ import annotations

import cmath
import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def slowest_wave(disks: int, sweeps: int) -> tuple[float, float]:
    """omega and tau of the longest wave of a chain at a wall, N_I sweeps a step: an eigenvalue of `step_matrix`."""
    roots = np.linalg.eigvals(step_matrix(disks, sweeps))
    root = cmath.log(complex(roots[np.argmax(np.abs(roots))]))
    return abs(root.imag), -1.0 / root.real


def step_matrix(disks: int, sweeps: int) -> Array:
    """(2n, 2n) what a step makes of forces and velocities, on average; both are deviations from equilibrium."""
    keep, take = mean_sweep(disks)
    differ = np.eye(disks) - np.eye(disks, k=-1)  # V_i = v_i - v_i-1
    mass = np.where(np.arange(disks) == 0, 1.0, 0.5)
    left, sources = np.eye(disks), np.zeros((disks, disks))
    for _ in range(sweeps):
        sources += left
        left = left @ keep
    force = np.hstack([left, -sources @ take @ (mass[:, None] * differ)])  # R' of R and v
    return np.vstack([force, np.eye(disks, 2 * disks, k=disks) + differ.T @ force])  # Eq. (dv2)


def mean_sweep(disks: int) -> tuple[Array, Array]:
    """(n, n) S and B of R' = S R + B b, the mean over all orders of a sweep R_i := b_i + half of each neighbour's."""
    keep, take = np.zeros((disks, disks)), np.eye(disks)
    for i in range(disks):
        for way in (-1, 1):
            weight, run, j = 1.0, 0, i
            while 0 <= j + way < disks:
                weight *= 1.0 if j == 0 else 0.5
                j, run = j + way, run + 1
                earlier = weight / math.factorial(run + 1)  # j and all between were updated before, each after the next
                keep[i, j] += weight / math.factorial(run) - earlier
                take[i, j] += earlier
                keep[i, j - way] += earlier * (1.0 if j == 0 else 0.5)  # back to one that was updated later
    return keep, take
