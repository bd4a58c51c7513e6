"""The chain that rings (item 59): 50 disks run against a wall and swing like a spring, figure oscill of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..model.columns import R_N
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, damping_time, firm_length, frequency, stiffness
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .finite_chain import slowest_wave
from .fit import DampedSine, fit_damped_sine, fit_with
from .strip import State, draw_chain, draw_start

Array = NDArray[np.float64]

DISKS, FORCE, SWEEPS = 50, 0.05, 40  # d, m and dt are 1
STEPS = 600
START = 250.0  # dt; until about t = 200 the chain bounces and contacts open, which no linear wave describes
ROUNDING = 1e-12  # d, of a gap
FLIGHT = 40  # dt, when the chain is still on its way to the wall
SHOWN = (0, 30, 48, 400)  # dt of the states that are drawn: before the load, in flight, at the blow, at the end


@dataclass(frozen=True)
class Track:
    """One run: x of the last disk after each step (d), centre of mass, open contacts in each step, states drawn.

    landed : the first step in which the wall carried a force
    gaping : the last step after which a gap was left between neighbours
    """

    x: Array
    centre: Array
    free: NDArray[np.intp]
    states: list[State]
    landed: int
    gaping: int

    @property
    def opened(self) -> int:
        """The last step in which a contact carried no force."""
        return int(np.flatnonzero(self.free).max(initial=-1)) + 1


def run(quick: bool, tick: Tick) -> Result:
    """Position of the rightmost disk against time; omega and tau from theory, then fitted freely."""
    seeds = 16 if quick else 32
    k = 2.0 * math.pi / (4.0 * DISKS)  # fixed at the wall, free at the other end: lambda = 4 L
    omega = frequency(k, Q_RANDOM, SWEEPS, 1.0, 1.0)
    tau = damping_time(k, Q_RANDOM, SWEEPS, 1.0, 1.0)
    time = np.arange(1.0, STEPS + 1.0)
    late = time >= START
    tracks, free = [], []
    for seed in range(seeds):
        tracks.append(follow(seed))
        closed = time >= max(START, tracks[-1].gaping + 1.0)  # where a gap is left the law is another: V_n = -g/dt
        free.append(fit_damped_sine(time[closed], tracks[-1].x[closed], omega, tau))
        tick((seed + 1) / seeds)
    fitted = fit_with(time[late], tracks[0].x[late], omega, tau)
    # Step by step a slowly loaded wave of wave number k yields by 1/(exp(Lambda) - 1), Lambda = q N_I (kd)^2, in place
    # of 1/Lambda. Summed over all waves that takes |zeta(1/2)|/sqrt(pi) sqrt(q N_I) d off the length.
    firm = firm_length(Q_RANDOM, SWEEPS, 1.0)
    slow = FORCE * (DISKS - firm) / stiffness(Q_RANDOM, SWEEPS, 1.0, 1.0)
    fallen = FORCE / DISKS * FLIGHT * (FLIGHT + 1) / 2.0  # implicit Euler, Eqs. (dx) and (dv)
    omegas, taus = np.array([fit.omega for fit in free]), np.array([fit.tau for fit in free])
    exact_omega, exact_tau = slowest_wave(DISKS, SWEEPS)
    wrong = fit_with(time[late], fitted(time[late]), omega, 1.05 * tau)
    rows = [
        Row(f"way of the centre of mass in {FLIGHT} dt of flight", fallen,
            1.0 + DISKS / 2.0 - tracks[0].centre[FLIGHT - 1], 1e-9, unit="d",
            source="F t (t + dt)/2 n m, Eqs. (dx), (dv)"),
        Row("omega, fitted freely", exact_omega, float(omegas.mean()), 0.001 * omega + 3.0 * _error(omegas),
            error=_error(omegas), unit="1/dt", source=f"Eq. (dispersion), {omega:.5f}, with grains and ends counted"),
        Row("tau, fitted freely", exact_tau, float(taus.mean()), 0.002 * tau + 3.0 * _error(taus), error=_error(taus),
            unit="dt", source=f"Eq. (tau), {tau:.3f}, with grains and ends counted"),
        Row("misfit over amplitude, omega and tau from theory", wrong.rms / _swing(fitted), fitted.rms / _swing(fitted),
            rule="below", source="Eq. (damposc), 'agrees very well'; the bound is what tau 5 % off would leave"),
        Row("shrinkage under a load raised slowly", slow, shrinkage(), 0.005 * slow, unit="d",
            source="F (L - 0.412 l_diff)/(κ d), Eq. (kappa) step by step"),
    ]  # fmt: skip
    opened = np.mean([track.opened for track in tracks])
    rest = np.mean([DISKS - 0.5 - fit.x0 for fit in free])
    first = tracks[0]
    more = {"chain": draw_chain(first.states, FORCE),
            "oscill-start": draw_start(time, first.x, first.states[0], first.landed, first.opened, START)}  # fmt: skip
    return Result(rows, _draw(time, first, fitted), [
        f"{DISKS} disks, {seeds} seeds.",
        f"x0 = {fitted.x0:.4f} d, A = {fitted.amplitude:.4f} d, phi = {fitted.phase:.3f}, omega and tau from theory.",
        f"The last contact opens at t = {opened:.0f} dt (mean of {seeds} seeds); fits begin at {START:g} dt or "
        f"when the last gap has closed for good, at {np.mean([track.gaping for track in tracks]):.0f} dt (mean).",
        f"The chain comes to rest {rest:.3f} d shorter than rigid disks (mean), not {slow:.3f} d as when it is loaded "
        "slowly: overlaps that grew while it bounced stay, since g_pos does not remove them. x0 depends on history.",
    ], more)  # fmt: skip


def follow(seed: int) -> Track:
    """The chain from its rest before the wall to the end of its ringing."""
    bodies = chain(DISKS, push=FORCE, wall=True, gap=1.0)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(SWEEPS)), seed=seed)
    x, centre, free = np.empty(STEPS), np.empty(STEPS), np.empty(STEPS, dtype=np.intp)
    states, landed, gaping = [State(0, bodies.position[:, 0].copy(), np.zeros(DISKS))], 0, 0
    for step in range(STEPS):
        simulation.step()
        x[step], centre[step] = bodies.position[-1, 0], bodies.position[:, 0].mean()
        free[step] = DISKS - np.count_nonzero(simulation.contacts.forces[:, R_N] > 0.0)
        x_of = bodies.position[:, 0]
        if max(x_of[0] - 0.5, float(np.diff(x_of).max()) - 1.0) > ROUNDING:
            gaping = step + 1
        if not landed and _forces(simulation)[0] > 0.0:
            landed = step + 1
        if step + 1 in SHOWN:
            states.append(State(step + 1, bodies.position[:, 0].copy(), _forces(simulation)))
    return Track(x, centre, free, states, landed, gaping)


def shrinkage() -> float:
    """By how much a chain that touches the wall has become shorter (d) when F has been raised in small steps."""
    bodies = chain(DISKS, push=FORCE, wall=True)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(SWEEPS)))
    full = bodies.force.copy()
    for step in range(1, 2 * STEPS + 1):
        bodies.force[:] = full * min(1.0, step / STEPS)
        simulation.step()
    return DISKS - 0.5 - float(bodies.position[-1, 0])


def _forces(simulation: Simulation) -> Array:
    """Force of each contact, that of the wall first, 0 where there is none."""
    force = np.zeros(DISKS)
    for pair, value in zip(simulation.contacts.pairs, simulation.contacts.forces[:, R_N]):
        force[0 if pair.max() >= DISKS else pair.max()] = value
    return force


def _draw(time: Array, track: Track, fitted: DampedSine) -> Figure:
    """The whole track, and its end beside the curve of theory."""
    figure, (whole, end) = new_figure(1, 2, width=12.0)
    whole.plot(time, track.x, ".", color=INKS[0], ms=4, label="measured")
    whole.axhline(DISKS - 0.5, color=INKS[5], lw=1, ls=":", label="rigid chain at the wall")
    whole.axvspan(0.0, track.opened, color=INKS[4], alpha=0.12, lw=0, label="some contacts open")
    whole.axvline(START, color=INKS[1], lw=1, ls="--", label=f"the fit begins, {START:g} dt")
    whole.set(xlabel="time (dt)", ylabel="position of the rightmost disk (d)")
    whole.set_title(f"{DISKS} rigid disks run against a wall")
    late = time >= START - 50.0
    end.plot(time[late], track.x[late], ".", color=INKS[0], ms=5, label="measured")
    curve = np.linspace(START, STEPS, 2000)
    end.plot(curve, fitted(curve), color=INKS[1], lw=1.3,
             label=f"$x_0 + A\\,e^{{-t/\\tau}}\\sin(\\omega t+\\varphi)$ from {START:g} dt on")  # fmt: skip
    end.set(xlabel="time (dt)", ylabel="position of the rightmost disk (d)")
    end.set_title(f"ω = {fitted.omega:.5f}/dt and τ = {fitted.tau:.2f} dt from theory; $x_0$, A, φ fitted")
    for panel in (whole, end):
        panel.legend()
    return figure


def _swing(sine: DampedSine) -> float:
    """Amplitude at the beginning of the fit."""
    return sine.amplitude * math.exp(-START / sine.tau)


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))
