"""Sound in a packing worked out beforehand: the network of springs that N_I sweeps make of its contacts.

A sweep adds m_n/dt (-V) to the force of each contact, Eq. (1d-update), and more where neighbours were updated before it
in the same sweep. N_I sweeps in every step are therefore springs of stiffness 2 q m_n N_I/dt^2 between the grains, and
2 q m_t N_I/dt^2 along the tangents of contacts that stick: in the chain, where m_n = m/2, this is Eq. (kappa).

How much more: let the contacts of a random sweep be updated at times s of 0 to 1. In a wave much longer than a grain a
contact takes over the changes of its neighbours with weights that add up to one, and a share b of what it hands to them
would come back. A neighbour updated earlier cannot have seen the contact itself: it has changed by
v(s) = 1 + (1 - b) * integral of v = exp((1 - b) s) times what a lone update does, and the contact then changes by
1 + integral of v. Its mean over s is

    2 q = 1 + a (a (exp(1/a) - 1) - 1),   a = 1/(1 - b),   b = sum over j of W_ij^2/(W_ii W_jj),   W = H^T M^-1 H.

The chain has b = 2/4: 2 q = 4 sqrt(e) - 5, Eq. (q-randsweep). Units d = m = dt = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from ..model.bodies import INERTIA
from ..model.columns import R_N, R_T
from ..simulation.simulation import Simulation

Array = NDArray[np.float64]

STICKS = 1.0 - 1e-6  # of mu R_n: a tangential force up to which a contact sticks
MODES = 12  # slow ones among which that of the piston is looked for


def random_factor(back: float) -> float:
    """2 q: by how much a random sweep relaxes faster than a parallel one, with the share b that comes back."""
    a = 1.0 / (1.0 - back)
    return 1.0 + a * (a * (math.exp(1.0 / a) - 1.0) - 1.0)


def piston_rate(packing: Simulation) -> float:
    """omega^2/N_I of the slowest swing of the piston, the last wall, without damping: D k^2 dt over N_I.

    Of the slow modes of the network it is the one in which a step of load moves the piston most.
    """
    shift, mass = kinematics(packing)
    inverse = sparse.diags_array(1.0 / mass)
    coupling = sparse.csr_array(shift @ inverse @ shift.T)  # W
    own = coupling.diagonal()
    root = sparse.diags_array(np.sqrt(1.0 / mass))
    matrix = sparse.csr_array(root @ shift.T @ sparse.diags_array(1.0 / own) @ shift @ root)
    touched = matrix.diagonal() > 0.0  # rattlers hang on nothing
    squares, modes = eigsh(sparse.csc_array(matrix[touched][:, touched]), k=MODES, sigma=0.0)
    mode = int(np.argmax(modes[-1] ** 2 / squares))
    force = (shift[:, touched] @ (root.diagonal()[touched] * modes[:, mode])) / own
    scaled = sparse.diags_array(1.0 / np.sqrt(own)) @ coupling @ sparse.diags_array(1.0 / np.sqrt(own))
    back = np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel() - 1.0
    return random_factor(float(np.average(back, weights=force**2 * own))) * float(squares[mode])


@dataclass(frozen=True)
class Modes:
    """All swings of a packing's network: how the sweeps damp each, and what each does to the piston or a flow.

    rates  : (m,) D k^2 dt over N_I of each
    shapes : (unknowns, m) velocities of each; weights : (m, unknowns) by which velocities are made of them
    loose  : (unknowns,) those of rattlers, which hang on nothing
    """

    rates: Array
    shapes: Array
    weights: Array
    loose: NDArray[np.bool_]

    def follow(self, velocity: Array, lacking: Array, seen: Array, sweeps: int, steps: int) -> Array:
        """(steps + 1,) what is seen of the velocities from the start on, in steps of N_I sweeps.

        velocity : (unknowns,) at the start
        lacking  : (unknowns,) what the forces should take from the velocities in a step and do not take yet
        seen     : (unknowns,) weight of each velocity in what is followed

        Of what the forces of a mode lack, sweeps leave the share exp(-D k^2 dt) in every step; see the page.
        """
        share = np.exp(-self.rates * sweeps)
        v, u = self.weights @ velocity, -(self.weights @ lacking)
        look = seen @ self.shapes
        rest = float(seen[self.loose] @ velocity[self.loose])
        track = [float(look @ v) + rest]
        for _ in range(steps):
            u = (1.0 - share) * v + share * u
            v = v - u
            track.append(float(look @ v) + rest)
        return np.array(track)


def all_modes(packing: Simulation) -> Modes:
    """Every mode of the network, by diagonalising it: some seconds for 1000 disks."""
    shift, mass = kinematics(packing)
    coupling = sparse.csr_array(shift @ sparse.diags_array(1.0 / mass) @ shift.T)  # W
    own, root = coupling.diagonal(), np.sqrt(1.0 / mass)
    scaled = sparse.csr_array(sparse.diags_array(1.0 / np.sqrt(own)) @ shift @ sparse.diags_array(root))
    loose = np.asarray((scaled * scaled).sum(axis=0)).ravel() == 0.0
    hung = sparse.csr_array(scaled[:, ~loose])
    squares, vectors = eigh((hung.T @ hung).toarray())
    network = scaled @ scaled.T
    back = np.asarray(network.multiply(network).sum(axis=1)).ravel() - 1.0
    strain = (hung @ vectors) ** 2  # of a mode, contact by contact
    share = np.average(np.broadcast_to(back[:, None], strain.shape), axis=0, weights=strain + 1e-300)
    factor = np.array([random_factor(one) for one in share])
    shapes = np.zeros((len(mass), len(squares)))
    shapes[~loose] = root[~loose, None] * vectors
    weights = np.zeros((len(squares), len(mass)))
    weights[:, ~loose] = vectors.T / root[~loose]
    return Modes(factor * np.maximum(squares, 0.0), shapes, weights, loose)


def kinematics(packing: Simulation) -> tuple[sparse.csr_array, Array]:
    """H^T (components, unknowns) of Eq. (VconVg) and the masses (unknowns,) of a flat packing under a piston.

    Unknown are x, y and r times the turn of each grain, and the way of the piston. Components are the normals of all
    contacts with a force and the tangents of those that stick.
    """
    bodies, contacts = packing.bodies, packing.contacts
    n = bodies.count
    carrying = contacts.forces[:, R_N] > 0.0
    forces, normal = contacts.forces[carrying], contacts.normal[carrying, :2]
    sticks = np.linalg.norm(forces[:, R_T], axis=1) < STICKS * contacts.friction[carrying] * forces[:, R_N]
    i, j = contacts.pairs[carrying].T
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    grain, piston = j < n, j == n + len(bodies.walls) - 1
    entries: list[tuple[Array, Array, Array]] = []
    count = 0
    for some, way, turns in ((np.ones(len(i), bool), normal, 0.0), (sticks, tangent, 1.0)):
        row = count + np.cumsum(some) - 1
        for body, sign, here in ((i, -1.0, some), (j, 1.0, some & grain)):  # Eq. (contact-veloc), s x n = s t
            entries += [(row[here], 3 * body[here] + axis, sign * way[here, axis]) for axis in (0, 1)]
            entries.append((row[here], 3 * body[here] + 2, np.full(here.sum(), -turns)))
        guided = some & piston & (turns == 0.0)
        entries.append((row[guided], np.full(guided.sum(), 3 * n), way[guided, 1]))
        count += int(some.sum())
    rows, columns, values = (np.concatenate(part) for part in zip(*entries))
    own = np.stack([bodies.mass, bodies.mass, bodies.mass / INERTIA[2]], axis=1).ravel()
    shift = sparse.csr_array((values, (rows, columns)), shape=(count, 3 * n + 1))
    return shift, np.append(own, bodies.walls[-1].mass)
