"""Energy and work of a cell that deforms."""

from __future__ import annotations

import numpy as np

from .images import cell_before, pushed, rate_begun, velocity_gradient
from .links import Links
from .state import Array, Frame, double

EACH, SIDES = slice(0, 3), 3  # columns of `cell_mobility`: 1/M of each component of L, and of all sides as one


def cell_energy(frame: Frame, rate: Array) -> float:
    """J, kinetic energy of the components of L (3, 3) that follow a stress."""
    if frame.cell_mobility is None:
        return 0.0
    mobility = double(frame.cell_mobility)
    each, sides = mobility[:, EACH], mobility[:, SIDES]
    energy = float((rate[each > 0.0] ** 2 / each[each > 0.0]).sum())
    return 0.5 * (energy + float((np.diag(rate)[sides > 0.0] ** 2 / sides[sides > 0.0])[:1].sum()))


def cell_work(frame: Frame, found: Links) -> float:
    """J, in the last step, of whoever prescribes rates and stresses of the cell.

    Where rates are prescribed it is -dt sum of (R b + m c c):L, where stresses P are -dt V P:L. The flow takes
    dt m c L c from grains; a component under stress gets it, with c before and after averaged as the engine does.
    """
    if frame.cell_rate_before is None:
        return 0.0
    mass, dt, rate = double(frame.mass)[:, None], frame.dt, velocity_gradient(frame)
    stress = double(frame.cell_stress)
    free = ~np.isnan(stress)
    kick = dt * (double(frame.gravity) + double(frame.external_force) / mass)
    given = double(frame.peculiar_velocity_before) + kick  # before the flow acts
    carried = double(frame.peculiar_velocity) - dt * pushed(frame) / mass  # and after
    agitation = (0.5 * mass * (given + carried)).T @ carried
    volume = abs(float(np.linalg.det(cell_before(frame))))
    by_stress = np.where(free, rate * (agitation - volume * np.where(free, stress, 0.0)), 0.0).sum()
    by_rate = np.where(free, 0.0, rate * (found.force.T @ found.branch)).sum()
    by_flow = (mass * double(frame.peculiar_velocity) * (carried @ rate_begun(frame).T)).sum()
    return dt * float(by_stress - by_rate - by_flow)
