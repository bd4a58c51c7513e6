"""Sound in a random packing: 1000 disks under a piston whose load is raised abruptly, as in the paper's 2D simulation.

Units: mean diameter, mean mass and time step are 1. No gravity, mu = 0.05 everywhere.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from .. import theory
from ..bodies import Bodies
from ..detect.shapes import Plane
from ..simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from ..walls import Wall
from .base import INKS, Result, Row, Tick, new_figure
from .fit import DampedSine, fit_damped_sine

Array = NDArray[np.float64]

PRESSURE = 0.01  # load of the piston per width
LOOSE, DENSE = 0.42, 0.82  # packing fractions at the start and, roughly, in the end
FRICTION = 0.05
STEP, LARGE = 0.01, 0.04  # dF over F, and a larger one to show what amplitude does


def run(quick: bool, tick: Tick) -> Result:
    """Several packings, the piston's damped sine for each N_I, and how omega and tau scale with N_I."""
    grains, packings, sweeps = (200, 3, (5, 10, 20, 40, 80)) if quick else (1000, 6, (10, 20, 40, 80, 160))
    several = 0 if quick else 3  # packings for the transversal mode, the large step and the soft preparation
    piston, large, soft, shear = [], [], [], []
    first: list[Any] = []
    for seed in range(packings):
        packing = compress(grains, seed, sweeps=100 if quick else 200)
        tick((seed + 0.7) / packings * 0.9)
        rings = [ring(packing, n, STEP) for n in sweeps]
        piston.append([ringing[2] for ringing in rings])
        first = first or rings
        if seed < several:
            firm = compress(grains, seed, sweeps=200, step=LARGE)
            tall = [ring(firm, n, LARGE)[2] for n in sweeps]
            if all(sine.omega > 0.3 * small.omega for sine, small in zip(tall, piston[-1])):  # else it gave way
                large.append(tall)
            shear.append([sway(packing, n) for n in sweeps])
            loose_made = compress(grains, seed, sweeps=10, tight=False)
            soft.append([ring(loose_made, n, STEP)[2] for n in sweeps])
        tick((seed + 1.0) / packings * 0.95)
    omega, tau = exponents(piston, sweeps)
    rows = [
        Row("exponent of omega", 0.5, omega[0], 0.08 if quick else 0.05, error=omega[1], source="omega ~ sqrt(N_I)"),
        Row("exponent of tau", -1.0, tau[0], 0.1, error=tau[1], source="tau ~ 1/N_I"),
        Row("misfit of the damped sine over its amplitude", 0.05, misfit(first), rule="below",
            source="Fig. oscill2D: an exponentially damped sine"),
    ]  # fmt: skip
    notes = [f"{packings} packings of {grains} disks, F = {PRESSURE:g} per width, dF/F = {STEP:g}."]
    if several:
        side, fade = exponents(shear, sweeps, undamped=True)
        rows += [
            Row("exponent of sqrt(omega^2 + 1/tau^2), transversal mode", 0.5, side[0], 0.06, error=side[1],
                source="c ~ sqrt(N_I), Eq. (soundvelocity)"),
            Row("exponent of tau, transversal mode", -1.0, fade[0], 0.1, error=fade[1], source="tau ~ 1/N_I"),
        ]  # fmt: skip
        # The box is a square: k is pi/(2h) for the piston and sqrt(2) pi/h for the vortex.
        speeds = [np.mean([math.hypot(a.omega, 1.0 / a.tau) for a in waves[0]]) for waves in (shear, piston)]
        notes.append(
            f"The transversal wave has {speeds[0] / speeds[1] / math.sqrt(8.0):.2f} of the longitudinal speed."
        )
        notes.append(f"{len(large)} of {several} packings ring at dF/F = {LARGE:g}; the others give way and creep.")
        for name, waves in ((f"dF/F = {LARGE:g}", large), ("packings pressed with 10 sweeps", soft)):
            if len(waves) < 2:
                continue
            fast, slow = exponents(waves, sweeps)
            notes.append(
                f"{name}: exponents {fast[0]:.3f} +- {fast[1]:.3f} of omega and {slow[0]:.2f} +- {slow[1]:.2f} of tau."
            )
    return Result(rows, draw(sweeps, first, piston, large, soft, shear), notes)


def loose(grains: int, seed: int) -> Bodies:
    """Disks with radii uniform in [r_min, 2 r_min] on a jittered lattice, mass ~ area, in a box under a piston."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(1.0 / 3.0, 2.0 / 3.0, grains)
    area = math.pi * float((radius**2).sum())
    width = math.sqrt(area / DENSE)
    columns = int(width / 1.36)
    rows = -(-grains // columns)
    cell = np.array([width / columns, max(area / LOOSE / width / rows, 1.36)])
    site = np.arange(grains)
    position = np.zeros((grains, 3))
    position[:, :2] = cell * (np.stack([site % columns, site // columns], axis=1) + 0.5)
    position[:, :2] += (0.5 * cell - radius[:, None]) * rng.uniform(-0.95, 0.95, (grains, 2))
    right, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    walls = [
        Wall("base", Plane(np.zeros(3), up)),
        Wall("left", Plane(np.zeros(3), right)),
        Wall("right", Plane(width * right, -right)),
        Wall("piston", Plane(rows * cell[1] * up, -up), mass=width, load=PRESSURE * width),  # as one layer of grains
    ]
    return Bodies.assemble(
        dimension=2, position=position, radius=radius, density=grains / area, friction=FRICTION, walls=walls
    )


def compress(grains: int, seed: int, *, sweeps: int, tight: bool = True, step: float = STEP) -> Simulation:
    """Press the loose disks together until they rest, then relax the forces with ten times the sweeps.

    A packing just formed may give way for good when the load is raised. Each is therefore tried beforehand with twice
    the step to come, and let go again: what is measured afterwards is a wave, not a collapse.
    """
    simulation = Simulation(loose(grains, seed), dt=1.0, solver=fixed(sweeps), seed=seed)
    load = simulation.bodies.walls[-1].load
    settle(simulation, 500, 4000)
    for factor in (1.0 + 2.0 * step, 1.0):
        simulation.bodies.walls[-1].load = factor * load
        settle(simulation, 100, 1000)
    simulation.solver = fixed(10 * sweeps if tight else sweeps)
    motion = simulation.bodies.motion
    for _ in range(60):
        simulation.step()
        motion[:, :6] *= 0.98
        if abs(motion[-1, 1]) < 1e-12:
            break
    motion[:, :6] = 0.0
    return simulation


def settle(simulation: Simulation, least: int, most: int) -> None:
    """Step until piston and disks rest. Velocities lose 2 % a step: without gravity rattlers would never stop."""
    motion = simulation.bodies.motion
    for step in range(most):
        simulation.step()
        motion[:, :6] *= 0.98
        if step > least and abs(motion[-1, 1]) < 1e-6 and np.abs(motion[:, :3]).max() < 1e-3:
            break


def ring(packing: Simulation, sweeps: int, share: float) -> tuple[Array, Array, DampedSine]:
    """Raise the load by a share and follow the piston: times, heights, and the sine fitted after half a period."""
    simulation = resume(packing, sweeps)
    simulation.bodies.walls[-1].load *= 1.0 + share
    k = math.pi / (2.0 * height(simulation))  # base fixed, piston free
    omega, tau = wave(k, sweeps)
    t = np.arange(1.0, max(6.0 * tau, 12.0))
    y = np.empty_like(t)
    for step in range(len(t)):
        simulation.step()
        y[step] = height(simulation)
    sine = best_fit(t, y, omega, 0.6 * tau)
    for _ in range(2):
        late = t > math.pi / sine.omega
        if late.sum() < 8:  # no oscillation
            break
        sine = fit_damped_sine(t[late], y[late], sine.omega, sine.tau)
    return t, y, sine


def sway(packing: Simulation, sweeps: int) -> DampedSine:
    """A transversal mode: one vortex that fills the box, no flow through walls; its amplitude over time, fitted."""
    simulation = resume(packing, sweeps)
    bodies = simulation.bodies
    w, h = float(bodies.walls[2].shape.point[0]), height(simulation)
    x, y = math.pi * bodies.position[:, 0] / w, math.pi * bodies.position[:, 1] / h
    vortex = np.stack([np.sin(x) * np.cos(y), -h / w * np.cos(x) * np.sin(y)], axis=1)
    weight = bodies.mass[:, None] * vortex / (bodies.mass[:, None] * vortex**2).sum()
    bodies.velocity[:, :2] = 1e-6 * vortex
    omega, tau = wave(math.pi * math.hypot(1.0 / w, 1.0 / h), sweeps)
    t = np.arange(0.0, 12.0 * tau + 20.0)
    a = np.ones_like(t)
    for step in range(1, len(t)):
        simulation.step()
        a[step] = 1e6 * float((weight * bodies.velocity[:, :2]).sum())
    return best_fit(t, a, 0.6 * omega, 2.0 * tau)


def best_fit(t: Array, x: Array, omega: float, tau: float) -> DampedSine:
    """The best of the fits that start from several frequencies."""
    return min((fit_damped_sine(t, x, share * omega, tau) for share in (0.6, 0.8, 1.0, 1.3, 1.7)), key=lambda s: s.rms)


def wave(k: float, sweeps: int) -> tuple[float, float]:
    """omega and tau of a chain with this wave number: a first guess."""
    q = theory.Q_RANDOM
    return max(theory.frequency(k, q, sweeps, 1.0, 1.0), 0.1), theory.damping_time(k, q, sweeps, 1.0, 1.0)


def resume(packing: Simulation, sweeps: int) -> Simulation:
    """A copy of a packing that goes on with a fixed number of sweeps."""
    simulation = copy.deepcopy(packing)
    simulation.solver = fixed(sweeps)
    return simulation


def fixed(sweeps: int) -> Sweeps:
    return Sweeps(criterion=FixedSweeps(sweeps))


def height(simulation: Simulation) -> float:
    """Height of the piston."""
    return float(simulation.bodies.walls[-1].shape.point[1])


def exponents(waves: Any, sweeps: Any, *, undamped: bool = False) -> tuple[tuple[float, float], tuple[float, float]]:
    """Exponents of omega (or of the undamped frequency c k) and tau, each mean and standard error over packings."""
    slopes = []
    for sines in waves:
        omega, tau = np.array([[sine.omega, sine.tau] for sine in sines]).T
        if undamped:
            omega = np.hypot(omega, 1.0 / tau)  # c k, by Eqs. (dispersion) and (tau)
        slopes.append([np.polyfit(np.log(sweeps), np.log(values), 1)[0] for values in (omega, tau)])
    values = np.array(slopes)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return (float(mean[0]), float(error[0])), (float(mean[1]), float(error[1]))


def misfit(rings: Any) -> float:
    """The largest misfit over the amplitude at the start of the fit."""
    return max(sine.rms / (sine.amplitude * math.exp(-math.pi / (sine.omega * sine.tau))) for _, _, sine in rings)


def draw(sweeps: Any, first: Any, piston: Any, large: Any, soft: Any, shear: Any) -> Figure:
    """The piston's motion, and omega and tau against N_I."""
    figure, (moving, scaling, fading) = new_figure(1, 3, width=13.0, height=4.6)
    for k, (n, (t, y, sine)) in enumerate(zip(sweeps, first)):
        if k % 2 == 0:
            late = np.linspace(math.pi / sine.omega, 130.0, 800)
            scale = 1e5 * 2**k
            label = f"$N_I$ = {n}" + (f" (× {2**k})" if k else "")
            moving.plot(t[t < 130.0], scale * (y - sine.x0)[t < 130.0], "o", ms=3, color=INKS[k // 2], label=label)
            moving.plot(late, scale * (sine(late) - sine.x0), color=INKS[k // 2], lw=1)
    moving.set(xlabel="time (dt)", ylabel=r"piston height $-\ x_0$ ($10^{-5}$ d)", title="Piston and damped sine")
    moving.set_xlim(0.0, 130.0)
    moving.legend(fontsize=9)
    kinds = [(f"piston, dF/F = {STEP:g}", piston, "o"), (f"piston, dF/F = {LARGE:g}", large, "^"),
             ("piston, pressed with 10 sweeps", soft, "v"), ("transversal mode", shear, "s")]  # fmt: skip
    n = np.array(sweeps, dtype=float)
    for panel, name, power in ((scaling, "omega", 0.5), (fading, "tau", -1.0)):
        for k, (label, waves, mark) in enumerate(kinds):
            if len(waves) < 2:
                continue
            values = np.log([[getattr(sine, name) for sine in sines] for sines in waves])
            mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
            panel.errorbar(n, np.exp(mean), np.exp(mean) * error, fmt=mark, ms=5, color=INKS[k], label=label)
            if k in (0, 3):
                line = np.exp(mean[0]) * (n / n[0]) ** power
                panel.plot(n, line, "--", lw=1, color=INKS[k], label=f"paper: $N_I^{{{power:g}}}$" if k == 0 else None)
        panel.set(xscale="log", yscale="log", xlabel=r"sweeps $N_I$")
        panel.set_xticks(n, [str(x) for x in sweeps])
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
    scaling.set(ylabel=r"$\omega$ (1/dt)", title="Frequency")
    fading.set(ylabel=r"$\tau$ (dt)", title="Damping time")
    scaling.legend(fontsize=9)
    return figure
