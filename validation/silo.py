"""A silo runs out: at a rate that does not know how full it is, and that grows with the opening as Beverloo says.

python validation/silo.py [--quick] [--json FILE] [--figure FILE]

Disks of mean diameter d = 1 +- 20 %, mu = 0.5, g = 1, in a flat silo; those that leave come back at the top, so that it
stays as full as it is. Rough walls carry the weight of a high filling (Janssen): from about three widths on neither the
load on the floor nor the rate grows. Grains fall freely from an arch over the opening D, so that in two dimensions

    W = C rho sqrt(g) (D - k d)^(3/2)

with rho the density of the bed (Beverloo, Leniger & van de Velde, Chem. Eng. Sci. 15 (1961) 260, for spheres, with a
power of 5/2, C = 0.58 and k = 1.4; for two dimensions Mankoc et al., Granul. Matter 9 (2007) 407). k is commonly found
between 1 and 2 for round grains. C is told and not judged: grains that fell from rest on a half circle over the
opening, as dense as in the bed, would pass it at v = sqrt(2 g sqrt(D^2/4 - x^2)), which makes C = 0.874 for k = 0.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from report import Result, settings, spread

import rigidgrains as rg
from rigidgrains import measure

Rate = tuple[float, float, float]  # W, its error, rho of the bed

DT, SWEEPS = 0.01, 30
WIDE, USUAL, OPENINGS = 30.0, 1.5, (6.0, 7.5, 9.0, 10.5, 12.0)  # width, height over width, openings
NARROW, FILLINGS, MIDDLE = 20.0, (1.5, 3.0, 4.5), 7.0  # width, heights over width, opening
SETTLED, STEADY = 20.0, 15.0  # until the gate vanishes, and then until the flow is steady
LOOK = 1.0


def main() -> None:
    """Run all silos, print a table, and draw if asked."""
    options = settings(__doc__)
    lasts, openings, fillings = (15.0, OPENINGS[::2], FILLINGS[1:]) if options.quick else (80.0, OPENINGS, FILLINGS)
    cases = [(d, WIDE, USUAL) for d in openings] + [(MIDDLE, NARROW, h) for h in fillings]
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [pool.submit(discharge, *case, lasts) for case in cases]
        found = [told(*case, job.result()) for case, job in zip(cases, jobs)]
    rates, filled = found[: len(openings)], found[len(openings) :]
    (slope, d_slope), (k, d_k), worst = line(openings, rates)
    low, high = filled[-2:]
    ratio, doubt = high[0] / low[0], math.hypot(high[1] / high[0], low[1] / low[0])
    print(f"C = {spread(slope**1.5, 1.5 * slope**0.5 * d_slope)}")
    options.finish(
        [
            Result("rate at a height of 4.5 over that of 3 widths", ratio, doubt, 1.0, 0.05),
            Result("W^(2/3) over a straight line in D, at worst", worst, math.nan, 1.0, 0.03),
            Result("k, where that line begins, over d", k, d_k, 1.5, 0.5),
        ]
    )
    if options.figure:
        draw(options.figure, openings, rates, fillings, filled, slope, k)


def told(opening: float, width: float, filling: float, rate: Rate) -> Rate:
    """Say what a silo gave, as soon as it is known."""
    about = f"D = {opening:g}, width {width:g}, height {filling:g} widths"
    print(f"{about}: W = {spread(*rate[:2])}, rho = {rate[2]:.3f}", flush=True)
    return rate


def discharge(opening: float, width: float, filling: float, lasts: float) -> Rate:
    """Mass in a unit of time through an opening, with its error by blocking, and the density of the bed before."""
    height, half = filling * width, 0.5 * width
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=0.5)
    grains = round(0.8 * width * height / (math.pi / 4.0))
    scene.add_grains(count=grains, radius=(0.4, 0.6), density=1.0, region=((-half, 0), (half, 1.4 * height)))
    scene.add_plane("left", point=(-half, 0), normal=(1, 0))
    scene.add_plane("right", point=(half, 0), normal=(-1, 0))
    for name, side in (("left floor", -0.5), ("right floor", 0.5)):
        middle, size = side * (half + 0.5 * opening), half - 0.5 * opening
        scene.add_plane(name, point=(middle, 0), normal=(0, 1), size=size)
    scene.add_plane("gate", point=(0, 0), normal=(0, 1), size=opening, until=SETTLED)
    scene.add_inflow("top", region=((-half, 1.1 * height), (half, 1.3 * height)))
    scene.add_outlet("drain", point=(0, -2), normal=(0, 1), recycle="top")
    solver = rg.Sweeps(order="random_blocks", criterion=rg.FixedSweeps(SWEEPS))
    simulation = rg.Simulation(scene, dt=DT, seed=1, solver=solver)
    simulation.run(until=SETTLED)
    bed = measure.packing_fraction(simulation, box=measure.Box((-half + 2, 2), (half - 2, 0.7 * height)))
    simulation.run(until=SETTLED + STEADY)
    left = [0.0]
    for _ in range(round(lasts / LOOK)):
        report = simulation.run(steps=round(LOOK / DT))
        left.append(report.outlets["drain"]["mass"])
    flux = measure.blocking(np.diff(left[1:]) / LOOK)
    return flux.mean, flux.error, bed


def line(openings: tuple[float, ...], rates: list[Rate]) -> tuple[tuple[float, float], tuple[float, float], float]:
    """(W/rho)^(2/3) = slope (D - k): slope and k with their errors, and the ratio that is farthest from one."""
    w, error, rho = np.array(rates).T
    y, d = (w / rho) ** (2.0 / 3.0), np.array(openings)
    (slope, cut), cov = np.polyfit(d, y, 1, w=1.5 * w / (y * error), cov="unscaled")
    k = -cut / slope
    doubt = math.sqrt(cov[1, 1] + k**2 * cov[0, 0] + 2.0 * k * cov[0, 1]) / slope
    ratio = y / (slope * d + cut)
    return (float(slope), math.sqrt(cov[0, 0])), (float(k), float(doubt)), float(ratio[np.argmax(np.abs(ratio - 1.0))])


def draw(
    path: Path,
    openings: tuple[float, ...],
    rates: list[Rate],
    fillings: tuple[float, ...],
    filled: list[Rate],
    slope: float,
    k: float,
) -> None:
    """Rates against the opening and against the filling."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    w, error, rho = np.array(rates).T
    left.errorbar(openings, w / rho, error / rho, fmt="o", label="rigidgrains")
    d = np.linspace(k, openings[-1], 100)
    left.plot(d, (slope * (d - k)) ** 1.5, "k--", lw=1, label=f"{slope**1.5:.2f} (D - {k:.2f})$^{{3/2}}$")
    left.set(xlabel="opening D/d", ylabel=r"W / ($\rho$ g$^{1/2}$ d$^{3/2}$)", xlim=(0, None), ylim=(0, None))
    left.legend(frameon=False)
    w, error, rho = np.array(filled).T
    right.errorbar(fillings, w / rho, error / rho, fmt="o")
    right.set(xlabel="height over width", ylabel=f"the same at D = {MIDDLE:g} d", xlim=(0, None), ylim=(0, None))
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
