"""Haff's law: a gas of inelastic disks cools as theory says, collision by collision and in time.

python validation/haff.py [--quick] [--json FILE] [--figure FILE]

Smooth disks of diameter, mass and temperature 1, e = 0.9, packing fraction 0.2, in a periodic cell. With C collisions
per grain E/E_0 = exp(-(1 - e^2) C/2) while the gas is homogeneous (Brito & Ernst, Europhys. Lett. 43 (1998) 497); with
Enskog's collision rate omega = 2 n d chi sqrt(pi T/m), chi = (1 - 7 phi/16)/(1 - phi)^2, E/E_0 = 1/(1 + t/t_H)^2 and
1/t_H = (1 - e^2) omega_0/4 (Haff, J. Fluid Mech. 134 (1983) 401).
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from report import Result, gauge, settings

import rigidgrains as rg
from rigidgrains.laws import Restitution

Run = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

FILLING, RESTITUTION, DT = 0.2, 0.9, 0.02
LOSS = 1.0 - RESTITUTION**2


def main() -> None:
    """Cool several gases, compare both laws, and print a table."""
    options = settings(__doc__)
    grains, seeds, until = (1000, 2, 12.0) if options.quick else (10_000, 3, 30.0)
    runs = [cool(grains, until, seed) for seed in range(1, seeds + 1)]
    omega = 2.0 * FILLING / (math.pi / 4.0) * chi(FILLING) * math.sqrt(math.pi)
    haff = 4.0 / (LOSS * omega)
    decay = [-np.polyfit(collisions, np.log(energy), 1)[0] for _, energy, collisions in runs]
    rate = [np.polyfit(time, energy**-0.5, 1)[0] for time, energy, _ in runs]
    options.finish(
        [
            Result("energy lost per collision and grain, -d ln E/dC", *gauge(decay), 0.5 * LOSS, 0.03 * 0.5 * LOSS),
            Result("cooling in time, d(E/E_0)^(-1/2)/dt", *gauge(rate), 1.0 / haff, 0.05 / haff),
        ]
    )
    if options.figure:
        draw(options.figure, runs, haff)


def chi(filling: float) -> float:
    """Pair correlation of hard disks at contact (Henderson)."""
    return (1.0 - 7.0 * filling / 16.0) / (1.0 - filling) ** 2


def cool(grains: int, until: float, seed: int) -> Run:
    """Times, E/E_0 and collisions per grain of one gas, from when it is thermal."""
    side = math.sqrt(grains * math.pi / 4.0 / FILLING)
    scene = rg.Scene(dimension=2, friction=0.0, cell={"lower": (0, 0), "upper": (side, side)})
    scene.add_material("elastic", friction=0.0, restitution=1.0)
    scene.add_grains(count=grains, radius=0.5, density=4.0 / math.pi, material="elastic")
    simulation = rg.Simulation(scene, dt=DT, seed=seed, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-6)))
    velocity = simulation.bodies.velocity
    velocity[:, :2] = np.random.default_rng(seed).normal(size=(grains, 2))
    simulation.run(until=3.0)  # elastic collisions forget the start
    velocity -= velocity.mean(axis=0)
    velocity /= math.sqrt((velocity**2).sum() / (2 * grains))
    (law,) = simulation.bodies.laws
    assert isinstance(law, Restitution)
    law.normal[:] = RESTITUTION
    start, collisions = simulation.time, 0
    rows = [(0.0, 1.0, 0.0)]
    while simulation.time - start < until:
        simulation.step()
        collisions += int((simulation.contacts.normal_force > 0.0).sum())
        rows.append((simulation.time - start, float((velocity**2).sum() / (2 * grains)), 2.0 * collisions / grains))
    time, energy, per_grain = np.array(rows).T
    return time, energy, per_grain


def draw(path: Path, runs: list[Run], haff: float) -> None:
    """Energy against collisions and against time, with both laws."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for time, energy, collisions in runs:
        left.semilogy(collisions, energy, color="C0", lw=2)
        right.loglog(1.0 + time / haff, energy, color="C0", lw=2)
    x = np.linspace(0.0, max(run[2][-1] for run in runs), 50)
    left.semilogy(x, np.exp(-0.5 * LOSS * x), "k--", lw=1)
    s = np.geomspace(1.0, 1.0 + runs[0][0][-1] / haff, 50)
    right.loglog(s, s**-2.0, "k--", lw=1)
    left.set(xlabel="collisions per grain", ylabel="E/E$_0$")
    right.set(xlabel="1 + t/t$_H$", ylabel="E/E$_0$")
    left.legend(left.lines[-2:], ["rigidgrains", "theory"], frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
