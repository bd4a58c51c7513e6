"""Loops over contacts of plain friction, called with bare tables."""

from __future__ import annotations

import numpy as np

from rigidgrains.solve.kernels.factory import make_kernels
from rigidgrains.solve.kernels.kinds import FRICTION

FLOW = np.zeros((3, 8))


def sweep(sequence, motion, pairs, geometry, forces, dt):
    """Update the contacts of a sequence one after another."""
    make_kernels(FRICTION).sweep(sequence, motion, pairs, geometry, geometry, FLOW, forces, dt)


def apply_forces(motion, pairs, geometry, forces, dt):
    """Bring the velocities up to date with forces."""
    make_kernels(FRICTION).apply_forces(motion, pairs, geometry, geometry, FLOW, forces, dt)
