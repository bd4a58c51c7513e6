"""Frequency and damping of standing waves of several lengths, Eqs. (dispersion), (k_c), (tau), and beyond k_c.

In one step the N_I sweeps take a wave of force to exp(-lambda) of its distance from the force that would stop the
grains, lambda = q N_I (kd)^2 = 4 (k/k_c)^2, and the new force changes the velocity. With w = k d dt r/m for a wave of
velocity v and force r that is v' = v + w' and w' = e w - (1 - e) v, e = exp(-lambda). Its eigenvalues are
e +- i sqrt(e (1 - e)): of modulus exp(-lambda/2), which is Eq. (tau), and with cos(omega dt) = exp(-lambda/2), which
is Eq. (dispersion) only while lambda is small. The continuum of the paper is that of many steps per period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, critical_wave_number, damping_time, frequency, step_frequency
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .diffusion import lay

Array = NDArray[np.float64]

PUSH, WAVE = 1e-3, 1e-5  # force on the chain (d m/dt^2), amplitude of a wave (d/dt): small, so no contact opens
OVERLAP = 0.01  # d, at the start, more than a wave can open
MODE = 4  # 2 MODE - 1 quarter waves fit on the chain


@dataclass(frozen=True)
class Wave:
    """A measured standing wave: omega and rate = 1/tau in 1/dt, and the mean track v(t) of its amplitude."""

    sweeps: int
    k: float
    omega: float
    rate: float
    omega_error: float
    rate_error: float
    track: Array

    @property
    def ratio(self) -> float:
        """k/k_c."""
        return self.k / critical_wave_number(Q_RANDOM, self.sweeps, 1.0, 1.0)


def run(quick: bool, tick: Tick) -> Result:
    """Waves from 0.1 to 1.4 k_c for each N_I, against the continuum and against the step by step theory."""
    many = (10, 40) if quick else (10, 40, 160)
    ratios = (0.2, 0.5, 0.9, 1.25) if quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.4)
    held = {0.2, 0.5, 0.9, 1.25}  # become rows; all are in the figure
    waves, rows = [], []
    for sweeps in many:
        for ratio in ratios:
            waves.append(measure(sweeps, ratio, seeds=8 if quick else 16))
            rows += _rows(waves[-1]) if ratio in held else []
            tick(len(waves) / (len(many) * len(ratios)))
    return Result(rows, _draw(waves), [
        "Only k/k_c matters, whatever N_I. Eq. (dispersion) is right within 2 % up to 0.32 k_c, 5 % up to 0.47 k_c and "
        "10 % up to 0.59 k_c; at 0.9 k_c it is 43 % too low for N_I = 10 as for N_I = 160: a step is then no longer "
        "short against the period. The paper's 'all oscillating modes' for N_I >= 10 does not hold.",
        "Eq. (tau) holds for all waves, beyond k_c too. No wave is overdamped: beyond k_c omega dt tends to pi/2 and "
        "the wave loses 86 % or more in every step, while the continuum has a slow root of rate 1/dt.",
    ])  # fmt: skip


def measure(sweeps: int, ratio: float, seeds: int) -> Wave:
    """omega and tau of the wave nearest to ratio k_c: eigenvalues of the matrix that takes (v, w) from step to step."""
    k = ratio * critical_wave_number(Q_RANDOM, sweeps, 1.0, 1.0)
    disks = round((MODE - 0.5) * math.pi / k)
    k = (MODE - 0.5) * math.pi / disks
    steps = max(6, round(4.0 / (Q_RANDOM * sweeps * k * k)))
    starts = ((WAVE, 0.0), (0.0, WAVE))
    tracks = np.array([[track(disks, sweeps, k, *vw, steps, seed) for vw in starts] for seed in range(seeds)])
    omega, rate = _eigenvalue(tracks.mean(axis=0))
    spread = np.array([_eigenvalue(one) for one in tracks]).std(axis=0, ddof=1) / math.sqrt(seeds)
    return Wave(sweeps, k, omega, rate, float(spread[0]), float(spread[1]), tracks.mean(axis=0)[0, :, 0] / WAVE)


def track(disks: int, sweeps: int, k: float, v: float, w: float, steps: int, seed: int) -> Array:
    """(steps + 1, 2) amplitudes v and w of a standing wave on a chain pressed against a wall."""
    bodies = chain(disks, push=PUSH, wall=True)
    bodies.position[:, 0] -= OVERLAP * np.arange(1, disks + 1)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(sweeps)), seed=seed)
    problem, along = lay(simulation)
    of_v, of_w = np.sin(k * (np.arange(disks) + 0.5)), np.cos(k * np.arange(disks))
    problem.forces[along, 0] = PUSH + w / k * of_w
    bodies.velocity[:, 0] = v * of_v
    weight = of_w.copy()
    weight[0] *= 0.5  # the contact at the wall is shared with a mirror image
    amplitudes = [(v, w)]
    for _ in range(steps):
        simulation.step()
        force = simulation.contacts.forces[np.argsort(simulation.contacts.problem(bodies, 1.0).points()[:, 0]), 0]
        amplitudes.append((2.0 / disks * float(bodies.velocity[:, 0] @ of_v),
                           2.0 / disks * k * float((force - PUSH) @ weight)))  # fmt: skip
    return np.array(amplitudes)


def _eigenvalue(tracks: Array) -> tuple[float, float]:
    """omega and 1/tau from (starts, steps + 1, 2) amplitudes: least squares for z' = M z, then its eigenvalue."""
    before, after = tracks[:, :-1].reshape(-1, 2), tracks[:, 1:].reshape(-1, 2)
    matrix = np.linalg.lstsq(before, after, rcond=None)[0]
    value = complex(np.linalg.eigvals(matrix)[0])
    return abs(math.atan2(value.imag, value.real)), -math.log(abs(value))


def _rows(wave: Wave) -> list[Row]:
    """What is held against the paper, and against the step by step theory."""
    k, sweeps, name = wave.k, wave.sweeps, f"k = {wave.ratio:.2f} k_c, N_I = {wave.sweeps}"
    paper, rate = frequency(k, Q_RANDOM, sweeps, 1.0, 1.0), 1.0 / damping_time(k, Q_RANDOM, sweeps, 1.0, 1.0)
    step = step_frequency(k, Q_RANDOM, sweeps, 1.0, 1.0)
    rows = [Row(f"1/tau, {name}", rate, wave.rate, 0.04 * rate + 3.0 * wave.rate_error, error=wave.rate_error,
                unit="1/dt", source="Eq. (tau)" + ", beyond its range" * (wave.ratio > 1.0))]  # fmt: skip
    if wave.ratio < 0.32:
        rows.append(Row(f"omega, {name}", paper, wave.omega, 0.03 * paper, error=wave.omega_error, unit="1/dt",
                        source="Eq. (dispersion)"))  # fmt: skip
    else:
        rows.append(Row(f"omega, {name}", step, wave.omega, 0.02 * step + 3.0 * wave.omega_error,
                        error=wave.omega_error, unit="1/dt", source="arccos(exp(-q N_I (kd)²/2))"))  # fmt: skip
    if 0.85 < wave.ratio < 0.95:
        rows.append(Row(f"omega over Eq. (dispersion), {name}", 1.3, wave.omega / paper, rule="above",
                        source="the continuum fails near k_c"))  # fmt: skip
    if wave.ratio > 1.0:
        slow = rate - math.sqrt(rate * rate - 2.0 * rate)  # roots of s^2 - D k^2 s + c^2 k^2 = 0, with c^2 = D/dt
        rows.append(Row(f"1/tau over the slow root of Eq. (wave-eq), {name}", 1.5, wave.rate / slow, rule="above",
                        source="the continuum fails beyond k_c"))  # fmt: skip
    return rows


def _draw(waves: list[Wave]) -> Figure:
    """omega and 1/tau against k/k_c, and two tracks."""
    figure, (left, middle, right) = new_figure(1, 3, width=15.0)
    x = np.linspace(0.0, 1.5, 400)
    big = 4.0 * x * x  # lambda
    root = np.emath.sqrt(big * big / 4.0 - big)
    left.plot(x, np.abs(root.imag), color=INKS[1], label="paper, Eq. (dispersion)")
    left.plot(x, np.arccos(np.exp(-big / 2.0)), "--", color=INKS[5], label="step by step theory")
    middle.plot(x, big / 2.0 - root.real, color=INKS[1], label="paper, Eq. (tau); beyond $k_c$ both roots")
    middle.plot(x[x > 1.0], (big / 2.0 + root.real)[x > 1.0], color=INKS[1])
    middle.plot(x, big / 2.0, "--", color=INKS[5], label="step by step theory")
    for sweeps, ink, mark in zip(sorted({wave.sweeps for wave in waves}), (INKS[0], INKS[2], INKS[4]), "osd"):
        some = [wave for wave in waves if wave.sweeps == sweeps]
        place = [wave.ratio for wave in some]
        style = {"fmt": mark, "color": ink, "ms": 6, "capsize": 3, "mfc": "none", "label": f"measured, N_I = {sweeps}"}
        left.errorbar(place, [wave.omega for wave in some], [wave.omega_error for wave in some], **style)
        middle.errorbar(place, [wave.rate for wave in some], [wave.rate_error for wave in some], **style)
    for target, ink in ((0.2, INKS[0]), (0.5, INKS[2]), (0.9, INKS[3])):
        wave = min((wave for wave in waves if wave.sweeps == 40), key=lambda wave: abs(wave.ratio - target))
        v = wave.track[:16]
        right.plot(range(len(v)), v, "o", color=ink, ms=6, label=f"measured, k = {wave.ratio:.2f} k_c")
        right.plot(*_continuum(4.0 * wave.ratio**2, len(v) - 1), color=ink, lw=1.2)
    left.set(xlabel="k / k_c", ylabel="ω dt", title="Frequency", xlim=(0, 1.55), ylim=(0, 1.7))
    middle.set(xlabel="k / k_c", ylabel="dt / τ", title="Decay rate", xlim=(0, 1.55), ylim=(0, 5.0))
    right.set(xlabel="time (dt)", ylabel="velocity of the wave / its start", title="Tracks, N_I = 40 (lines: paper)")
    for panel in (left, middle, right):
        panel.legend(fontsize=9)
    return figure


def _continuum(big: float, steps: int) -> tuple[Array, Array]:
    """Times and v(t) of Eq. (wave-eq) for a start at velocity 1 and no force: v' = w, w' = -lambda (w + v)."""
    matrix = np.array([[0.0, 1.0], [-big, -big]])
    values, vectors = np.linalg.eig(matrix)
    weights = np.linalg.solve(vectors, np.array([1.0, 0.0]))
    t = np.linspace(0.0, steps, 300)
    return t, np.asarray((np.exp(np.outer(t, values)) * weights @ vectors[0]).real)
