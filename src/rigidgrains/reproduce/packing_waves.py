"""Sound in a random packing: 1000 disks under a piston whose load is raised abruptly, as in the paper's 2D simulation.

Units: mean diameter, mean mass and time step are 1. No gravity, mu = 0.05 everywhere.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from .. import theory
from ..model.bodies import Bodies
from ..model.columns import R_N, V_S, V_Y, V
from ..model.shapes import Plane
from ..model.walls import Wall
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from . import network
from .base import INKS, Result, Row, Tick, new_figure
from .fit import DampedSine
from .packing_fits import best_fit, exponent, late_fit, mean, misfit, rate, slopes, spread, wave, wave_number
from .picture import draw_forces, draw_grains

Array = NDArray[np.float64]

PRESSURE = 0.01  # load of the piston per width
LOOSE, DENSE = 0.42, 0.82  # packing fractions at the start and, roughly, in the end
FRICTION = 0.05
SWIRL = {"tau": "tau ~ 1/N_I, the vortex followed over all modes of the network",
         "c": "c ~ sqrt(N_I), Eq. (soundvelocity), the vortex followed over all modes of the network"}  # fmt: skip
STEP, LARGE = 0.01, 0.04  # dF over F, and a larger one to show what amplitude does


def run(quick: bool, tick: Tick) -> Result:
    """Several packings, the piston's damped sine for each N_I, and how omega and tau depend on N_I and the packing."""
    grains, packings, sweeps = (200, 3, (5, 10, 20, 40, 80)) if quick else (1000, 6, (10, 20, 40, 80, 160))
    several = 0 if quick else 3  # packings for the transversal mode, the large step and the soft preparation
    piston, large, soft, shear, swirl, misfits, speeds = [], [], [], [], [], [], []
    first: list[Any] = []
    for seed in range(packings):
        packing = compress(grains, seed, sweeps=100 if quick else 200)
        tick((seed + 0.7) / packings * 0.9)
        rings = [ring(packing, n, STEP) for n in sweeps]
        piston.append([ringing[2] for ringing in rings])
        misfits.append(misfit(rings))
        speeds.append(speed(packing, piston[-1], sweeps))
        if not first:
            first, picture = rings, draw_packing(packing)
        if seed < several:
            firm = compress(grains, seed, sweeps=200, step=LARGE)
            tall = [ring(firm, n, LARGE)[2] for n in sweeps]
            if all(sine.omega > 0.3 * small.omega for sine, small in zip(tall, piston[-1])):  # else it gave way
                large.append(tall)
            shear.append([sway(packing, n) for n in sweeps])
            modes = network.all_modes(packing)
            swirl.append([expected_sway(packing, modes, n) for n in sweeps])
            loose_made = compress(grains, seed, sweeps=10, tight=False)
            soft.append([ring(loose_made, n, STEP)[2] for n in sweeps])
        tick((seed + 1.0) / packings * 0.95)
    rows = [*scaling_rows(piston, sweeps), *speed_rows(np.array(speeds))]
    worst, bound = max(misfits)
    rows.append(Row("misfit of the damped sine over its amplitude, worst N_I of the worst packing", bound, worst,
                    rule="below", source="Fig. oscill2D; the bound is what omega 5 % off would leave"))  # fmt: skip
    notes = [f"{packings} packings of {grains} disks, F = {PRESSURE:g} per width, dF/F = {STEP:g}."]
    if several:
        rows += transversal_rows(shear, swirl, sweeps)
        # The box is a square: k is pi/(2h) for the piston and sqrt(2) pi/h for the vortex.
        means = [np.mean([math.sqrt(rate(a)) for a in waves[0]]) for waves in (shear, piston)]
        notes.append(f"The transversal wave has {means[0] / means[1] / math.sqrt(8.0):.2f} of the longitudinal speed.")
        notes.append(f"{len(large)} of {several} packings ring at dF/F = {LARGE:g}; the others give way and creep.")
        for name, waves in ((f"dF/F = {LARGE:g}", large), ("packings pressed with 10 sweeps", soft)):
            if len(waves) < 2:
                continue
            fast, slow = (exponent(waves, sweeps, take) for take in (lambda a: a.omega, lambda a: a.tau))
            notes.append(
                f"{name}: exponents {fast[0]:.3f} +- {fast[1]:.3f} of omega and {slow[0]:.2f} +- {slow[1]:.2f} of tau."
            )
    return Result(rows, draw(grains, sweeps, first, piston, large, soft, shear), notes, {"geometry2D": picture})


def scaling_rows(waves: Any, sweeps: Any) -> list[Row]:
    """Exponents of tau and omega.

    Sweeps leave the share exp(-D k^2 dt) of what a mode's forces lack behind in every step, and forces and velocities
    of the mode then turn by arccos(exp(-D k^2 dt/2)) in it: omega ~ sqrt(N_I) as long as that angle is small, a little
    less where it is not. The derivation is on the page.
    """
    tau, omega = (exponent(waves, sweeps, take) for take in (lambda a: a.tau, lambda a: a.omega))
    expected = []
    for sines in waves:
        a_sweep = np.exp(np.mean([math.log(rate(sine) / n) for sine, n in zip(sines, sweeps)]))
        turn = np.arccos(np.exp(-0.5 * a_sweep * np.array(sweeps)))
        expected.append(np.polyfit(np.log(sweeps), np.log(turn), 1)[0])
    return [
        Row("exponent of tau", -1.0, tau[0], 0.04, error=tau[1], source="tau ~ 1/N_I"),
        Row("exponent of omega", mean(expected), omega[0], 0.012, error=omega[1],
            source="omega ~ sqrt(N_I), less a little where a step is no small part of a period"),
    ]  # fmt: skip


def transversal_rows(waves: Any, told: Any, sweeps: Any) -> list[Row]:
    """The vortex: no single mode of a disordered packing; beside what all modes of its network make of it."""
    rows = []
    for name, take in (("tau", lambda a: a.tau), ("c", lambda a: math.sqrt(rate(a)))):
        value, expected = (slopes(some, sweeps, take) for some in (waves, told))
        error = spread(value - expected)
        rows.append(Row(f"exponent of {name}, transversal mode", mean(expected), mean(value),
                        0.015 * abs(mean(expected)) + 2.0 * error, error=error, source=SWIRL[name]))  # fmt: skip
    ratio = np.array([[math.sqrt(rate(a) / rate(b)) for a, b in zip(*pair)] for pair in zip(waves, told)]).mean(axis=1)
    rows.append(Row("c of the transversal mode over that of the network", 1.0, mean(ratio),
                    0.02 + 2.0 * spread(ratio), error=spread(ratio), source=SWIRL["c"]))  # fmt: skip
    return rows


def speed(packing: Simulation, sines: list[DampedSine], sweeps: Any) -> list[float]:
    """c/sqrt(q N_I) d/dt of a packing as its piston rings, as its network of contacts would have it, and D/(c^2 dt)."""
    h, mass = height(packing), float(packing.bodies.mass.sum())
    k = wave_number(mass / packing.bodies.walls[-1].mass) / h
    c = [math.sqrt(rate(sine) / n) / k for sine, n in zip(sines, sweeps)]
    diffusion = mean([2.0 / (sine.tau * rate(sine)) for sine in sines])
    root = math.sqrt(theory.Q_RANDOM)
    return [float(np.mean(c)) / root, math.sqrt(network.piston_rate(packing)) / k / root, diffusion]


def speed_rows(speeds: Array) -> list[Row]:
    """The speed itself, beside a calculation that knows nothing of the wave, and beside the chain."""
    measured, expected, diffusion = speeds.T
    ratio = measured / expected
    return [
        Row("c over that of the network of contacts, mean over packings", 1.0, mean(ratio), 0.03, error=spread(ratio),
            source="Eq. (kappa) for each contact, q for its number of neighbours; worked out on the page"),
        Row("c over sqrt(q N_I) d/dt, mean over packings", mean(expected), mean(measured), 0.03 * mean(expected),
            error=spread(measured), source="Eq. (soundvelocity): 1 in a chain; expected is that of the networks"),
        Row("D over c^2 dt", 1.0, mean(diffusion), 0.03 + 2.0 * spread(diffusion), error=spread(diffusion),
            source="Eqs. (D2) and (soundvelocity): no geometry in it"),
    ]  # fmt: skip


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
        motion[:, V_S] *= 0.98
        if abs(motion[-1, V_Y]) < 1e-12:
            break
    motion[:, V_S] = 0.0
    return simulation


def settle(simulation: Simulation, least: int, most: int) -> None:
    """Step until piston and disks rest. Velocities lose 2 % a step: without gravity rattlers would never stop."""
    motion = simulation.bodies.motion
    for step in range(most):
        simulation.step()
        motion[:, V_S] *= 0.98
        if step > least and abs(motion[-1, V_Y]) < 1e-6 and np.abs(motion[:, V]).max() < 1e-3:
            break


def ring(packing: Simulation, sweeps: int, share: float) -> tuple[Array, Array, DampedSine]:
    """Raise the load by a share and follow the piston: times, heights, and the sine fitted from pi/omega on."""
    simulation = resume(packing, sweeps)
    simulation.bodies.walls[-1].load *= 1.0 + share
    k = math.pi / (2.0 * height(simulation))  # base fixed, piston free
    omega, tau = wave(k, sweeps)
    t = np.arange(1.0, max(6.0 * tau, 12.0))
    y = np.empty_like(t)
    for step in range(len(t)):
        simulation.step()
        y[step] = height(simulation)
    return t, y, late_fit(t, y, omega, tau)


def sway(packing: Simulation, sweeps: int) -> DampedSine:
    """A transversal mode: one vortex that fills the box, no flow through walls; its amplitude over time, fitted."""
    simulation = resume(packing, sweeps)
    bodies = simulation.bodies
    flow, weight, (omega, tau) = vortex(simulation, sweeps)
    bodies.velocity[:, :2] = 1e-6 * flow
    t = np.arange(0.0, 12.0 * tau + 20.0)
    a = np.ones_like(t)
    for step in range(1, len(t)):
        simulation.step()
        a[step] = 1e6 * float((weight * bodies.velocity[:, :2]).sum())
    return best_fit(t, a, 0.6 * omega, 2.0 * tau)


def expected_sway(packing: Simulation, modes: network.Modes, sweeps: int) -> DampedSine:
    """The same with what all modes of the network make of the vortex."""
    flow, weight, (omega, tau) = vortex(packing, sweeps)
    start, seen = (np.append(np.pad(some, ((0, 0), (0, 1))).ravel(), 0.0) for some in (flow, weight))  # x, y, turn
    t = np.arange(0.0, 12.0 * tau + 20.0)
    return best_fit(t, modes.follow(start, 0.0 * start, seen, sweeps, len(t) - 1), 0.6 * omega, 2.0 * tau)


def vortex(packing: Simulation, sweeps: int) -> tuple[Array, Array, tuple[float, float]]:
    """(n, 2) velocities of the vortex, weights that project on it, and omega and tau of a chain of its wave number."""
    bodies = packing.bodies
    w, h = float(bodies.walls[2].shape.point[0]), height(packing)
    x, y = math.pi * bodies.position[:, 0] / w, math.pi * bodies.position[:, 1] / h
    flow = np.stack([np.sin(x) * np.cos(y), -h / w * np.cos(x) * np.sin(y)], axis=1)
    weight = bodies.mass[:, None] * flow / (bodies.mass[:, None] * flow**2).sum()
    return flow, weight, wave(math.pi * math.hypot(1.0 / w, 1.0 / h), sweeps)


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


def draw(grains: int, sweeps: Any, first: Any, piston: Any, large: Any, soft: Any, shear: Any) -> Figure:
    """The piston's motion, and omega and tau against N_I."""
    figure, (moving, scaling, fading) = new_figure(1, 3, width=13.0, height=4.8)
    for k, (n, (t, y, sine)) in enumerate(zip(sweeps, first)):
        if k % 2 == 0:
            begin = math.pi / sine.omega
            late = np.linspace(begin, 130.0, 800)
            scale, ink = 1e5 * 2**k, INKS[k // 2]
            label = f"$N_I$ = {n}" + (f" (× {2**k})" if k else "")
            moving.plot(t[t < 130.0], scale * (y - sine.x0)[t < 130.0], "o", ms=3, color=ink, label=label)
            moving.plot(late, scale * (sine(late) - sine.x0), color=ink, lw=1)
            moving.plot(begin, scale * (sine(np.array([begin]))[0] - sine.x0), "|", ms=16, mew=2, color=ink)
    moving.plot([], [], color=INKS[5], lw=1, label="fitted damped sine")
    moving.plot([], [], "|", ms=12, mew=2, color=INKS[5], label=r"the fit begins here, at $\pi/\omega$")
    moving.set(xlabel="time (dt)", ylabel=r"piston height $-\ x_0$ ($10^{-5}$ d)",
               title=f"Piston over {grains} disks, dF/F = {STEP:g}")  # fmt: skip
    moving.set_xlim(0.0, 130.0)
    moving.legend(fontsize=8.5)
    kinds = [(f"piston, dF/F = {STEP:g}", piston, "o"), (f"piston, dF/F = {LARGE:g}", large, "^"),
             ("piston, pressed with 10 sweeps", soft, "v"), ("transversal mode", shear, "s")]  # fmt: skip
    n = np.array(sweeps, dtype=float)
    for panel, name, power in ((scaling, "omega", 0.5), (fading, "tau", -1.0)):
        for k, (label, waves, mark) in enumerate(kinds):
            if len(waves) < 2:
                continue
            values = np.log([[getattr(sine, name) for sine in sines] for sines in waves])
            middle, error = values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
            shown = f"{label}, {len(waves)} packings"
            panel.errorbar(n, np.exp(middle), np.exp(middle) * error, fmt=mark, ms=5, color=INKS[k], label=shown)
            if k in (0, 3):
                line = np.exp(middle[0]) * (n / n[0]) ** power
                told = rf"paper: $\propto N_I^{{{power:g}}}$, through the first point" if k == 0 else None
                panel.plot(n, line, "--", lw=1, color=INKS[k], label=told)
                if name == "omega" and k == 0:
                    tau = np.mean(np.log([[sine.tau for sine in sines] for sines in waves]), axis=0)
                    told = r"$\arccos e^{-dt/\tau}$ with the fitted $\tau$"
                    panel.plot(n, np.arccos(np.exp(-np.exp(-tau))), "-", lw=1, color=INKS[k], label=told)
        panel.set(xscale="log", yscale="log", xlabel=r"sweeps $N_I$")
        panel.set_xticks(n, [str(x) for x in sweeps])
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
    scaling.set(ylabel=r"$\omega$ (1/dt)", title="Frequency")
    fading.set(ylabel=r"$\tau$ (dt)", title="Damping time")
    scaling.legend(fontsize=8, loc="upper left")
    low, high = scaling.get_ylim()
    scaling.set_ylim(low, high * 3.0)
    return figure


def draw_packing(packing: Simulation) -> Figure:
    """Fig. geometry2D: the packing under its piston, with the contact forces before the load is raised."""
    bodies, contacts = packing.bodies, packing.contacts
    width, top = float(bodies.walls[2].shape.point[0]), height(packing)
    figure, panel = new_figure(width=8.0, height=8.6)
    draw_grains(panel, bodies)
    strong = draw_forces(panel, bodies, contacts, contacts.forces[:, R_N], colors=INKS[1])
    grey, thick = "#5c5c5c", 0.5
    for corner, size in (((-thick, -thick), (width + 2 * thick, thick)), ((-thick, 0.0), (thick, top + 4.0)),
                         ((width, 0.0), (thick, top + 4.0))):  # fmt: skip
        panel.add_patch(Rectangle(corner, *size, facecolor=grey, lw=0))
    panel.add_patch(Rectangle((0.1, top), width - 0.2, 1.4, facecolor=INKS[0], lw=0))
    panel.text(0.5 * width, top + 0.7, "mobile piston", color="white", ha="center", va="center", fontsize=11)
    panel.annotate("", (0.5 * width, top + 1.5), (0.5 * width, top + 4.6),
                   arrowprops={"arrowstyle": "-|>", "color": INKS[0], "lw": 2.5})  # fmt: skip
    panel.text(0.52 * width, top + 3.2, r"$F$, then $F + dF$", color=INKS[0], fontsize=12)
    panel.set(xlim=(-1.0, width + 1.0), ylim=(-0.1 * width, top + 5.0), xlabel="x (d)", ylabel="y (d)",
              title=f"The packing: {bodies.count} disks, radii from $r_{{min}}$ to $2\\,r_{{min}}$, no gravity,"
                    rf" $\mu$ = {FRICTION:g}")  # fmt: skip
    share = strong / bodies.walls[-1].load
    panel.plot([0.0, 0.09 * width], [-0.06 * width] * 2, color=INKS[1], lw=4.0, solid_capstyle="round")
    panel.text(0.12 * width, -0.06 * width, f"contact force of {share:.0%} of F; lines are as wide as forces are large",
               va="center", fontsize=10)  # fmt: skip
    panel.spines[["left", "bottom"]].set_visible(False)
    return figure
