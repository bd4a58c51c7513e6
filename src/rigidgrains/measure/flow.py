"""Mean flow and what goes with it: granular temperature, shear rate, inertial number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .images import affine_flow, cell_of, home, velocity_gradient
from .kinds import Only, select
from .packing import bin_edges
from .region import Box, enclosure
from .state import Array, Frame, TooFew, axis_number, double, grain_volume, of, some
from .stress import stress, whole_flow

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


def mean_flow(source: Frame | Simulation, axis: int | str, bins: int | Array = 10) -> Array:
    """(n, 3) m/s, the flow at each grain: within each bin along an axis a straight line fitted to the velocities.

    Grains belong to the bin of their centre, those beyond the last edge to the nearest one; masses are weights. A flow
    that varies linearly along the axis is found exactly, whatever the bins. A fit takes two numbers per bin and
    component from the velocities, so that a bin of N grains shows 1 - 2/N of its temperature: take bins of many grains.
    The flow of a deforming cell is taken out before and added after.
    """
    frame = of(source)
    axis = axis_number(frame, axis)
    edges = bin_edges(bins, enclosure(frame), axis) if np.ndim(bins) == 0 else np.asarray(bins, float)
    affine = affine_flow(frame)
    along, mass, velocity = home(frame)[:, axis], double(frame.mass), double(frame.velocity) - affine
    k = len(edges) - 1
    bin_of = np.clip(np.searchsorted(edges, along, side="right") - 1, 0, k - 1)
    weight = np.bincount(bin_of, mass, k)
    weight = np.where(weight > 0.0, weight, 1.0)
    middle = np.bincount(bin_of, mass * along, k) / weight
    away = along - middle[bin_of]
    spread = np.bincount(bin_of, mass * away**2, k)
    width = np.diff(edges)
    fits = spread > (1e-9 * width) ** 2 * weight  # else all centres of the bin are at one height
    flow = np.empty_like(velocity)
    for a in range(3):
        mean = np.bincount(bin_of, mass * velocity[:, a], k) / weight
        slope = np.bincount(bin_of, mass * away * (velocity[:, a] - mean[bin_of]), k)
        slope = np.where(fits, slope / np.where(fits, spread, 1.0), 0.0)
        flow[:, a] = mean[bin_of] + slope[bin_of] * away
    return flow + affine


def temperature(source: Frame | Simulation, *, flow: Array | None = None, only: Only = None) -> float:
    """Granular temperature (m^2/s^2): mean of the squared velocity about the flow, by mass and per dimension.

    flow : (3,) or (n, 3) m/s, `mean_flow` for instance; the mean velocity if absent, with the flow of a deforming cell
    only : of these grains, see `select`; the flow is that of all
    """
    frame = of(source)
    mass, v = double(frame.mass) * select(frame, only), double(frame.velocity) - whole_flow(frame, flow, None)
    if not mass.any():
        raise TooFew(f"none of the {len(frame)} grains is meant, so they have no temperature; choose others, or wait")
    return float(mass @ (v * v).sum(axis=1)) / (frame.dimension * float(mass.sum()))


def shear_rate(source: Frame | Simulation, *, axis: int | str = "y", along: int | str = "x") -> float:
    """1/s, slope of the velocity `along` over the coordinate `axis`: one straight line for all grains, by mass.

    Over a periodic direction it is that of the cell, exactly: whatever the profile, faces move at this rate.
    """
    frame = of(source)
    a, b, cell = axis_number(frame, axis), axis_number(frame, along), cell_of(frame)
    if cell is not None and cell.periodic[a]:
        return float(velocity_gradient(frame)[b, a])
    mass, at, v = double(some(frame).mass), double(frame.position)[:, a], double(frame.velocity)[:, b]
    away = at - mass @ at / mass.sum()
    spread = float(mass @ away**2)
    return float((mass * away) @ v) / spread if spread > 0.0 else 0.0


def inertial_number(
    source: Frame | Simulation,
    *,
    axis: int | str = "y",
    along: int | str = "x",
    rate: float | None = None,
    pressure: float | None = None,
    box: Box | None = None,
) -> float:
    """I = |rate| d sqrt(rho/P), with d the mean diameter and rho the density of the grains' material.

    rate     : 1/s, the shear rate of `along` over `axis` if absent
    pressure : Pa (N/m in 2D), the normal stress on planes square to `axis` if absent, over `box` or the walls' hull

    In 2D some write I = rate sqrt(m/P) instead, which is sqrt(pi/4) of this.
    """
    frame = some(of(source))
    rate = shear_rate(frame, axis=axis, along=along) if rate is None else rate
    if pressure is None:
        a = axis_number(frame, axis)
        pressure = float(stress(frame, box=box).total[a, a])
    density = float(double(frame.mass).sum() / grain_volume(frame).sum())
    if not pressure > 0.0:
        return math.inf if rate else 0.0
    return abs(rate) * 2.0 * float(double(frame.radius).mean()) * math.sqrt(density / pressure)
