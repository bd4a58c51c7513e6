"""The rigidity meter: how far information propagates in one step, against the size of what hangs together."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .. import theory
from ..detect.clusters import find_clusters, mass_ratio
from ..model.columns import INV_MASS, R_N
from ..solve.choose import level_of

if TYPE_CHECKING:
    from .simulation import Simulation

RIGID = 2.0  # l_diff over L from which a run counts as rigid; below 1 it is soft
MISSES = 0.11, 0.68  # share of a new load that does not arrive within the step at l_diff = 2 L and L


@dataclass(frozen=True)
class Rigidity:
    """What the chain theory says of a number of sweeps, for the largest force-carrying cluster.

    sweeps : N_I; q : diffusion constant of the order; diffusion_length : l_diff (m); sound_velocity : c (m/s)
    critical_wave_length : lambda_c (m); stiffness : kappa (N/m); viscosity : gamma (N s/m)
    cluster : grains in the cluster; extent : L, the longest side of its bounding box (m)
    mass_ratio : mass of the cluster and of the pistons on it over that of its grains, were all as its median grain
    rigid_sweeps : N_I for which l_diff would be 2 L, times the mass ratio
    momentum_error : share of the load that the last step failed to carry, where its criterion measured it, else None
    plain  : whether sweeps were plain ones; l_diff, c, lambda_c, kappa and gamma are those of as many plain sweeps
    solver : what made them, in words
    flows  : whether grains move, where a level of accuracy lets moving grains carry over what is left of a step
    """

    sweeps: float
    q: float
    diffusion_length: float
    sound_velocity: float
    critical_wave_length: float
    stiffness: float
    viscosity: float
    cluster: int
    extent: float
    rigid_sweeps: int
    momentum_error: float | None = None
    mass_ratio: float = 1.0
    plain: bool = True
    solver: str = "plain sweeps"
    flows: bool = False

    @property
    def verdict(self) -> str:
        """'rigid', 'transition' or 'soft'; 'flowing', or 'loose' when no two grains press on each other.

        From the momentum error where it was measured: extrapolated sweeps reach further than diffusion.
        Else from l_diff against L; a mass ratio of r takes r times the sweeps, or l_diff/sqrt(r).
        """
        if self.cluster < 2:
            return "loose"
        if self.flows:
            return "flowing"
        if self.momentum_error is not None:
            return (
                "rigid"
                if self.momentum_error <= MISSES[0]
                else "transition"
                if self.momentum_error <= MISSES[1]
                else "soft"
            )
        reach = self.diffusion_length / (self.extent * math.sqrt(max(self.mass_ratio, 1.0)))
        return "rigid" if reach >= RIGID else "transition" if reach >= 1.0 else "soft"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def rigidity(simulation: Simulation, sweeps: float | None = None) -> Rigidity:
    """The meter at the present state, for the sweeps that found its load (`Tally.load_sweeps`) or a given number."""
    bodies, contacts, dt = simulation.bodies, simulation.contacts, simulation.dt
    n_i = float(simulation.tally.load_sweeps if sweeps is None else sweeps)
    error = simulation.last_solve.momentum_error
    q = theory.Q[type(simulation.solver.order).__name__]
    own = type(simulation.solver).__name__  # of a solver that is not ours nothing is known
    plain, solver = getattr(simulation.solver, "plain", False), getattr(simulation.solver, "name", own)
    if not bodies.count:
        return Rigidity(n_i, q, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0, plain=plain, solver=solver)
    d, m = 2.0 * float(bodies.radius.mean()), float(bodies.mass.mean())
    pressed = contacts.forces[:, R_N] > 0.0
    clusters = find_clusters(contacts.pairs, pressed, bodies.position, bodies.radius)
    extent = float(clusters.extent[clusters.largest])
    ratio = float(mass_ratio(clusters, contacts.pairs, pressed, bodies.motion[:, INV_MASS])[clusters.largest])
    return Rigidity(
        sweeps=n_i,
        q=q,
        diffusion_length=theory.diffusion_length(q, n_i, d),
        sound_velocity=theory.sound_velocity(q, n_i, d, dt),
        critical_wave_length=theory.critical_wave_length(q, n_i, d),
        stiffness=theory.stiffness(q, n_i, m, dt),
        viscosity=theory.viscosity(q, n_i, m, dt),
        cluster=int(clusters.size[clusters.largest]),
        extent=extent,
        rigid_sweeps=theory.rigid_sweeps(extent, d, q, RIGID, max(ratio, 1.0)),
        momentum_error=error if math.isfinite(error) else None,
        mass_ratio=ratio,
        plain=plain,
        solver=solver,
        flows=hasattr(simulation.solver, "accuracy")
        and level_of(simulation.solver).carries
        and not simulation.last_solve.still,
    )
