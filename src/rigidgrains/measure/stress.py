"""Stress from contact forces and from the motion of grains; compression is positive.

sigma_ab = 1/V (sum over contacts of l_a R_b + sum over grains of m v_a v_b): l is the branch vector from centre to
centre, at walls from the centre to the surface, R the force along it, v the velocity less the mean flow. A wall with
outward normal o and area A is pushed by A o_a sigma_ab. In a periodic cell contacts across faces count like all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .cut import volumes_inside
from .images import affine_flow, cell_before, pushed, start
from .kinds import Only, select
from .links import links
from .region import Box, hull_volume
from .shown import Shown
from .state import Array, Frame, double, dyads, grain_volume, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Stress(Shown):
    """Of a volume, or of each grain: then every array has a first axis of n.

    contact, kinetic : (d, d) Pa (N/m in 2D); volume : m^3 (m^2 in 2D)
    """

    contact: Array
    kinetic: Array
    volume: Any

    @property
    def total(self) -> Array:
        """(d, d) Pa"""
        return self.contact + self.kinetic

    @property
    def pressure(self) -> Any:
        """Pa, mean of the principal stresses."""
        return np.trace(self.total, axis1=-2, axis2=-1)[()] / self.total.shape[-1]

    @property
    def deviator(self) -> Any:
        """Pa: (s_1 - s_2)/2 in 2D; sqrt(3/2 s:s) with s the deviatoric part in 3D, which is s_1 - s_3 for s_2 = s_3."""
        d = self.total.shape[-1]
        even = 0.5 * (self.total + np.swapaxes(self.total, -1, -2))
        s = even - (np.trace(even, axis1=-2, axis2=-1)[()] / d)[..., None, None] * np.eye(d)
        return np.sqrt((0.5 if d == 2 else 1.5) * (s * s).sum(axis=(-2, -1)))[()]

    @property
    def principal(self) -> Array:
        """(d,) Pa, principal stresses of the symmetric part, the largest first."""
        return self._axes()[0]

    @property
    def directions(self) -> Array:
        """(d, d) unit vectors of the principal stresses, one per row, in the same order."""
        return self._axes()[1]

    def _axes(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(0.5 * (self.total + np.swapaxes(self.total, -1, -2)))
        return values[..., ::-1], np.swapaxes(vectors, -1, -2)[..., ::-1, :]


def stress(
    source: Frame | Simulation, *, volume: float | None = None, box: Box | None = None, flow: Array | None = None,
    only: Only = None,
) -> Stress:  # fmt: skip
    """Mean stress of all grains over a volume.

    volume : m^3 (m^2 in 2D); that of the cell or the hull of the walls if absent
    box    : only here: each grain counts with the share of its volume that is inside
    flow   : (3,) or (n, 3) m/s, mean flow that is no agitation, `mean_flow` for instance; that of the whole if absent,
             with the flow of a deforming cell
    only   : the part that these grains carry, see `select`; the parts of all kinds add up to the whole
    """
    frame = of(source)
    some = select(frame, only)
    share = None if box is None else volumes_inside(frame, box) / grain_volume(frame)
    if volume is None:
        volume = hull_volume(frame) if box is None else box.volume
    moment, agitation = (part * some[:, None, None] for part in moments(frame, whole_flow(frame, flow, share)))
    if share is None:
        return Stress(moment.sum(axis=0) / volume, agitation.sum(axis=0) / volume, volume)
    return Stress(np.tensordot(share, moment, 1) / volume, np.tensordot(share, agitation, 1) / volume, volume)


def grain_stress(
    source: Frame | Simulation, *, volume: Array | float | None = None, flow: Array | None = None
) -> Stress:
    """Stress of each grain: its own contacts and its own motion over its own volume.

    volume : m^3 each (m^2 in 2D); that of the grain itself if absent, which gives the mean stress in its material.
             Then the mean over grains, weighted by volume and times the packing fraction, is `stress`.
    """
    frame = of(source)
    each = grain_volume(frame) if volume is None else np.broadcast_to(double(volume), (len(frame),))
    moment, agitation = moments(frame, whole_flow(frame, flow, None))
    return Stress(moment / each[:, None, None], agitation / each[:, None, None], each)


def boundary_stress(source: Frame | Simulation, *, volume: float | None = None) -> Array:
    """(d, d) Pa, the contact stress from outside: forces on walls at their places, weights and accelerations of grains.

    Equal to `stress(...).contact` to rounding at every step, moving or not: this takes no force between grains, but
    in a periodic cell those that pass through its faces.
    """
    frame = of(source)
    volume = hull_volume(frame) if volume is None else volume
    d, found = frame.dimension, links(frame)
    begin, walls = start(frame), found.some(found.at_wall)
    moment = dyads(begin[walls.i] + walls.branch, walls.force, d)
    if frame.cell is not None:
        moment += dyads(found.image @ cell_before(frame), found.force, d)
    if frame.whole:
        moment += dyads(begin, pushed(frame), d)
    return moment / volume


def moments(frame: Frame, flow: Array) -> tuple[Array, Array]:
    """(n, d, d) N m of each grain: sum of arm x force, and m v v with v relative to the flow."""
    d, n = frame.dimension, len(frame)
    found = links(frame)
    at_i = np.einsum("ca,cb->cab", found.arm_i[:, :d], found.force[:, :d]).reshape(-1, d * d)
    at_j = np.einsum("ca,cb->cab", found.arm_j[:, :d], found.force[:, :d]).reshape(-1, d * d)
    j = np.where(found.at_wall, 0, found.j)  # arm_j is zero at walls
    moment = [np.bincount(found.i, a, n) + np.bincount(j, b, n) for a, b in zip(at_i.T, at_j.T)]
    v = (double(frame.velocity) - flow)[:, :d]
    agitation = double(frame.mass)[:, None, None] * v[:, :, None] * v[:, None, :]
    return np.stack(moment, axis=1).reshape(n, d, d), agitation


def whole_flow(frame: Frame, flow: Array | None, share: Array | None) -> Array:
    """The flow as given, or the mean velocity by mass, about the flow of a deforming cell."""
    if flow is not None:
        return double(flow)
    mass, affine = double(frame.mass) if share is None else double(frame.mass) * share, affine_flow(frame)
    return affine + mass @ (double(frame.velocity) - affine) / max(float(mass.sum()), np.finfo(float).tiny)
