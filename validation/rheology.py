"""Simple shear at constant pressure: the friction law mu(I) of dense flows, and what rolling friction makes of it.

python validation/rheology.py [--quick] [--json FILE] [--figure FILE]

Disks of mean diameter 1 +- 20 % and mean mass 1, mu = 0.4, in a periodic cell that is sheared at a constant rate and
may dilate against a pressure P. With I = rate sqrt(m/P) plane shear gave mu* = 0.25 + 1.1 I and phi = 0.81 - 0.3 I (da
Cruz et al., Phys. Rev. E 72 (2005) 021309).

Rolling friction has two regimes (Estrada et al., Phys. Rev. E 78 (2008) 021301): as long as grains roll, strength
grows with the rolling coefficient; when rolling is hindered grains slide, and strength depends on mu alone.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from report import Result, settings, spread

import rigidgrains as rg
from rigidgrains import measure

Flow = tuple[measure.Blocking, measure.Blocking]

DT = 0.05  # of sqrt(m/P)
INERTIAL = (0.03, 0.1, 0.2)
ROLLING = (0.01, 0.1, 1.0)  # over the mean radius
SLIDING = (0.2, 0.8)
SLOW = 0.03  # I of flows with rolling friction


def main() -> None:
    """Shear all flows, print a table, and draw if asked."""
    options = settings(__doc__)
    grains, strain = (150, 4.0) if options.quick else (1000, 6.0)
    with ProcessPoolExecutor(options.processes) as pool:
        flows = {i: pool.submit(shear, grains, i, strain) for i in INERTIAL}
        rolls = {(s, r): pool.submit(shear, grains // 2, SLOW, 0.5 * strain, s, r) for s in SLIDING for r in ROLLING}
        flow = {i: told(f"I = {i:g}", job.result()) for i, job in flows.items()}
        roll = {key: told(f"mu = {key[0]:g}, rolling {key[1]:g}", job.result()) for key, job in rolls.items()}
    results = []
    for i, (strength, filling) in flow.items():
        law = 0.25 + 1.1 * i
        results += [
            Result(f"I = {i:g}: mu*", strength.mean, strength.error, law, 0.1 * law),
            Result(f"I = {i:g}: phi", filling.mean, filling.error, 0.81 - 0.3 * i, 0.1 * (0.81 - 0.3 * i)),
        ]
    options.finish(results)
    print("\nrolling friction over the mean radius, and strength mu* at two coefficients of sliding friction")
    for r in ROLLING:
        cells = (f"mu = {s:g}: {roll[s, r][0].mean:.3f} ± {roll[s, r][0].error:.3f}" for s in SLIDING)
        print(f"  {r:6g}  " + "  ".join(cells))
    if options.figure:
        draw(options.figure, flow, roll)


def told(name: str, flow: Flow) -> Flow:
    """Say what a flow gave, as soon as it is known."""
    print(
        f"{name}: mu* = {spread(flow[0].mean, flow[0].error)}, phi = {spread(flow[1].mean, flow[1].error)}", flush=True
    )
    return flow


def shear(grains: int, inertial: float, strain: float, friction: float = 0.4, rolling: float = 0.0) -> Flow:
    """mu* = -sigma_xy/sigma_yy and phi of a steady flow, each as a mean with its error by blocking."""
    side = math.sqrt(grains * math.pi / 4.0 * 1.0133 / 0.75)  # <d^2> = 1 + 0.4^2/12
    scene = rg.Scene(dimension=2, friction=friction)
    scene.set_cell(lower=(0, 0), upper=(side, side), rate={"xy": inertial}, stress={"yy": 1.0})
    scene.add_material("disk", friction=friction, **({"rolling": 0.5 * rolling} if rolling else {}))
    scene.add_grains(count=grains, radius=(0.4, 0.6), density=4.0 / math.pi / 1.0133, material="disk")
    simulation = rg.Simulation(scene, dt=DT, seed=1, solver=rg.AcceleratedSweeps(accuracy="exact"))
    record = measure.Measure(strength, measure.packing_fraction)
    simulation.run(until=1.0 / inertial)  # forget the start
    simulation.observe(record, every=5)
    simulation.run(until=(1.0 + strain) / inertial)
    return record.blocking("strength"), record.blocking("packing_fraction")


def strength(frame: rg.Frame) -> float:
    """-sigma_xy/sigma_yy"""
    total = measure.stress(frame).total
    return float(-total[0, 1] / total[1, 1])


def draw(path: Path, flow: dict[float, Flow], roll: dict[tuple[float, float], Flow]) -> None:
    """mu(I) with the published law, and strength against rolling friction."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    i = np.array(list(flow))
    mean, error = np.array([[part[0].mean, part[0].error] for part in flow.values()]).T
    left.errorbar(i, mean, error, fmt="o", label="rigidgrains")
    left.plot(i, 0.25 + 1.1 * i, "k--", lw=1, label="da Cruz et al.")
    left.set(xlabel="I", ylabel="mu*", xlim=(0, None), ylim=(0, None))
    left.legend(frameon=False)
    for s in SLIDING:
        mean, error = np.array([[roll[s, r][0].mean, roll[s, r][0].error] for r in ROLLING]).T
        right.errorbar(ROLLING, mean, error, fmt="o-", label=f"mu = {s:g}")
    right.set(xscale="log", xlabel="rolling friction over mean radius", ylabel="mu*", ylim=(0, None))
    right.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
