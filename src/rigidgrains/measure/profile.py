"""Profiles along an axis: packing fraction, velocity, spin, temperature and stress of slabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .flow import mean_flow
from .images import velocity_gradient
from .kinds import Only, select
from .packing import bin_edges, slice_volumes
from .region import Box, enclosure
from .shown import Shown
from .state import Array, Frame, axis_number, double, grain_volume, of
from .stress import moments

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Profile(Shown):
    """Slabs square to an axis; a grain or image counts in each with the share of its volume that is in it.

    edges       : (k + 1,) m
    packing     : (k,) packing fraction, exact
    velocity    : (k, 3) m/s and spin : (k, 3) rad/s, means by mass; not a number where there are no grains. Images in
                  a deforming cell have velocities of their own.
    temperature : (k,) m^2/s^2, about the flow
    stress      : (k, d, d) Pa (N/m in 2D), contact and kinetic part; zero contact part in files without contacts
    """

    edges: Array
    packing: Array
    velocity: Array
    spin: Array
    temperature: Array
    stress: Array

    @property
    def centres(self) -> Array:
        """(k,) m"""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def profile(
    source: Frame | Simulation,
    axis: int | str,
    bins: int | Array = 20,
    *,
    box: Box | None = None,
    flow: Array | None = None,
    only: Only = None,
) -> Profile:
    """All profiles along an axis.

    bins : how many, or their edges (m); box : what is cut into slabs, `enclosure` if absent
    flow : (n, 3) m/s about which the temperature is taken, `mean_flow` of all grains with the same bins if absent
    only : of these grains, see `select`: their part of the packing fraction and of the stress, their own means
    """
    frame = of(source)
    axis = axis_number(frame, axis)
    room = enclosure(frame) if box is None else box
    edges, some = bin_edges(bins, room, axis), select(frame, only)
    flow = mean_flow(frame, axis, edges) if flow is None else double(flow)
    d, k, own = frame.dimension, len(edges) - 1, grain_volume(frame)
    mass, velocity, spin = double(frame.mass), double(frame.velocity), double(frame.spin)
    agitation = ((velocity - flow) ** 2).sum(axis=1) / d
    if frame.has_contacts:
        moment = np.add(*moments(frame, flow))
    else:
        v = (velocity - flow)[:, :d]
        moment = mass[:, None, None] * v[:, :, None] * v[:, None, :]
    packing, heat, sigma = np.zeros(k), np.full(k, np.nan), np.zeros((k, d, d))
    means, rate = np.full((2, k, 3), np.nan), velocity_gradient(frame)
    for b in range(k):
        part = room.part(axis, edges[b], edges[b + 1])
        found, inside = slice_volumes(frame, part, axis, whole=box is None)
        inside = np.where(some[found.owner], inside, 0.0)
        packing[b] = inside.sum() / part.volume
        share = np.bincount(found.owner, inside, len(frame)) / own
        weight = mass * share
        total = weight.sum()
        sigma[b] = np.tensordot(share, moment, 1) / part.volume
        if total > 0.0:
            drift = (mass / own)[found.owner] * inside @ found.shift @ rate.T
            means[0, b], means[1, b] = (weight @ velocity + drift) / total, weight @ spin / total
            heat[b] = weight @ agitation / total
    return Profile(edges, packing, means[0], means[1], heat, sigma)
