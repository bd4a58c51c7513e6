"""Forces that pull both bodies of a contact together, given to the motion before the solve."""

from __future__ import annotations

from ..model.cell import drag
from ..model.columns import INV_MASS, MOVING, N_X, N_Y, N_Z
from ..runtime.compiled import kernel


@kernel
def attract(motion, pairs, geometry, pull, dt):
    """Pull both bodies together along the normal."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        for k in range(3):
            p = dt * pull[c] * geometry[c, k]
            motion[i, k] += motion[i, INV_MASS] * p
            motion[j, k] -= motion[j, INV_MASS] * p


@kernel
def contract(flow, geometry, branch, pull, dt):
    """The part of the attraction in the stress on a cell that forces move."""
    for c in range(len(pull)):
        n_x, n_y, n_z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
        drag(flow, branch[c, MOVING], n_x, n_y, n_z, -dt * pull[c], 0.0, 0.0, 0.0)
