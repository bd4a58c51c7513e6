"""Frequency and damping of standing waves of several lengths, Eqs. (dispersion), (k_c), (tau), and beyond k_c.

A random sweep multiplies a wave of force by lambda(kd) on average (`theory.sweep_factor`), so the N_I sweeps of a step
take it to e = lambda^N_I of its distance from the force that would stop the grains, and the new force changes the
velocity. With w = 2 sin(kd/2) dt r/m for a wave of velocity v and force r: v' = v + w' and w' = e w - (1 - e) v. The
eigenvalues are e +- sqrt(e^2 - e) (`theory.step_roots`). For long waves e = exp(-Lambda), Lambda = q N_I (kd)^2 =
4 (k/k_c)^2: of modulus exp(-Lambda/2), which is Eq. (tau), and with cos(omega dt) = exp(-Lambda/2), which is
Eq. (dispersion) only while Lambda is small. The continuum of the paper is that of many steps per period.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..model.columns import R_N
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, critical_wave_number, frequency, step_roots
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .diffusion import lay

Array = NDArray[np.float64]

PUSH, WAVE = 1e-3, 1e-5  # force on the chain (d m/dt^2), amplitude of a wave (d/dt): small, so no contact opens
OVERLAP = 0.01  # d, at the start, more than a wave can open
LEAST = 60  # disks in a chain: its ends are felt by 1/n
HELD = (0.2, 0.5, 0.9, 1.25)  # k/k_c of the waves that become rows; all are in the figure
ODD = (1.9, 2.5, 3.0)  # kd at N_I = 1, where lambda < 0


@dataclass(frozen=True)
class Wave:
    """A measured standing wave: both eigenvalues of a step, their standard errors, and the mean track v(t).

    error : of omega dt and of dt/tau; spread : of the two eigenvalues
    """

    sweeps: int
    k: float
    disks: int
    roots: Array
    error: tuple[float, float]
    spread: Array
    track: Array

    @property
    def ratio(self) -> float:
        """k/k_c."""
        return self.k / critical_wave_number(Q_RANDOM, self.sweeps, 1.0, 1.0)

    @property
    def omega(self) -> float:
        """In 1/dt."""
        return _turning(self.roots)[0]

    @property
    def rate(self) -> float:
        """1/tau in 1/dt."""
        return _turning(self.roots)[1]


def run(quick: bool, tick: Tick) -> Result:
    """Waves from 0.1 to 1.4 k_c for each N_I, and short ones at N_I = 1, against the theory of single steps."""
    many = (10, 40) if quick else (10, 40, 160)
    ratios = HELD if quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.4)
    seeds = 64 if quick else 256
    waves, rows = [], []
    for sweeps in many:
        for ratio in ratios:
            k_c = critical_wave_number(Q_RANDOM, sweeps, 1.0, 1.0)
            waves.append(measure(sweeps, ratio * k_c, seeds if ratio > 0.4 else seeds // 4))  # long ones scatter less
            rows += _rows(waves[-1]) if ratio in HELD else []
            tick(0.9 * len(waves) / (len(many) * len(ratios)))
    short = [measure(1, k, 4 * seeds) for k in ODD]
    rows += [row for wave in short[1:] for row in _real(wave)]
    disks = [wave.disks for wave in waves]
    return Result(rows, _draw(waves, short), [
        f"Chains of {min(disks)} to {max(disks)} disks, {seeds} seeds; {seeds // 4} for waves below 0.4 k_c, "
        f"{4 * seeds} for those at N_I = 1.",
        "Long waves depend on k/k_c alone, whatever N_I. Eq. (dispersion) is right within 2 % to 0.32 k_c, 5 % to "
        "0.47 k_c and 10 % to 0.59 k_c; at 0.9 k_c it is 43 % too low for N_I = 10 as for N_I = 160: a step is then "
        "no longer short against the period. The paper's 'all oscillating modes' for N_I >= 10 does not hold.",
        "Eq. (tau) holds beyond k_c too, as long as grains are many to a wave. With an even N_I no wave is overdamped: "
        "beyond k_c omega dt tends to pi/2 and the wave loses 86 % or more in every step, while the continuum has a "
        "slow root of rate 1/dt. With an odd N_I waves of kd > 1.785 are: both of their roots are real.",
    ])  # fmt: skip


def measure(sweeps: int, k: float, seeds: int) -> Wave:
    """The wave nearest to k that fits on a chain: eigenvalues of the matrix that takes (v, w) from step to step."""
    mode = math.ceil(LEAST * k / math.pi + 0.5)  # 2 mode - 1 quarter waves fit on the chain
    disks = round((mode - 0.5) * math.pi / k)
    k = (mode - 0.5) * math.pi / disks
    steps = max(4, round(4.0 / (Q_RANDOM * sweeps * k * k)))
    starts = ((WAVE, 0.0), (0.0, WAVE))
    tracks = np.array([[track(disks, sweeps, k, *vw, steps, seed) for vw in starts] for seed in range(seeds)])
    mean = tracks.mean(axis=0)
    parts = np.array([_roots(part) for part in tracks.reshape(16, seeds // 16, *mean.shape).mean(axis=1)])
    turns = np.array([_turning(part) for part in parts]).std(axis=0, ddof=1) / 4.0  # of 16 parts of the seeds
    spread = np.hypot(parts.real.std(axis=0, ddof=1), parts.imag.std(axis=0, ddof=1)) / 4.0
    return Wave(sweeps, k, disks, _roots(mean), (float(turns[0]), float(turns[1])), spread, mean[0, :, 0] / WAVE)


def track(disks: int, sweeps: int, k: float, v: float, w: float, steps: int, seed: int) -> Array:
    """(steps + 1, 2) amplitudes v and w of a standing wave on a chain pressed against a wall."""
    bodies = chain(disks, push=PUSH, wall=True)
    bodies.position[:, 0] -= OVERLAP * np.arange(1, disks + 1)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(sweeps)), seed=seed)
    problem, along = lay(simulation)
    of_v, of_w = np.sin(k * (np.arange(disks) + 0.5)), np.cos(k * np.arange(disks))
    problem.forces[along, R_N] = PUSH + w / k * of_w
    bodies.velocity[:, 0] = v * of_v
    weight = of_w.copy()
    weight[0] *= 0.5  # the contact at the wall is shared with a mirror image
    amplitudes = [(v, w)]
    for _ in range(steps):
        simulation.step()
        force = simulation.contacts.forces[np.argsort(simulation.contacts.problem(bodies, 1.0).points()[:, 0]), R_N]
        amplitudes.append((2.0 / disks * float(bodies.velocity[:, 0] @ of_v),
                           2.0 / disks * k * float((force - PUSH) @ weight)))  # fmt: skip
    return np.array(amplitudes)


def _roots(tracks: Array) -> Array:
    """Eigenvalues of M from (starts, steps + 1, 2) amplitudes z' = M z by least squares; the lesser real part first."""
    before, after = tracks[:, :-1].reshape(-1, 2), tracks[:, 1:].reshape(-1, 2)
    return np.sort_complex(np.linalg.eigvals(np.linalg.lstsq(before, after, rcond=None)[0]))


def _turning(roots: Any) -> tuple[float, float]:
    """omega dt and dt/tau of a pair of eigenvalues."""
    return abs(cmath.phase(complex(roots[0]))), -math.log(abs(complex(roots[0])))


def _rows(wave: Wave) -> list[Row]:
    """omega and tau against single steps and grains; and what Eq. (dispersion) says beside it."""
    k, sweeps, name = wave.k, wave.sweeps, f"k = {wave.ratio:.2f} k_c, N_I = {wave.sweeps}"
    omega, rate = _turning(step_roots(k, sweeps))
    paper = frequency(k, Q_RANDOM, sweeps, 1.0, 1.0)
    rows = [
        Row(f"1/tau, {name}", rate, wave.rate, 0.005 * rate + 3.0 * wave.error[1], error=wave.error[1], unit="1/dt",
            source="Eq. (tau), grains counted one by one" + "; beyond its range" * (wave.ratio > 1.0)),
        Row(f"omega, {name}", omega, wave.omega, 0.005 * omega + 3.0 * wave.error[0], error=wave.error[0], unit="1/dt",
            source="steps and grains counted one by one"),
    ]  # fmt: skip
    if wave.ratio < 0.32:
        rows.append(Row(f"omega against the continuum, {name}", paper, wave.omega, 0.01 * paper + 3.0 * wave.error[0],
                        error=wave.error[0], unit="1/dt", source="Eq. (dispersion)"))  # fmt: skip
    elif wave.ratio < 1.0:
        rows.append(Row(f"omega over Eq. (dispersion), {name}", omega / paper, wave.omega / paper,
                        0.005 * omega / paper + 3.0 * wave.error[0] / paper, error=wave.error[0] / paper,
                        source="1 if the continuum held"))  # fmt: skip
    return rows


def _real(wave: Wave) -> list[Row]:
    """Both roots of a wave that does not turn."""
    roots = sorted(root.real for root in step_roots(wave.k, wave.sweeps))
    name = f"kd = {wave.k:.2f}, N_I = {wave.sweeps}"
    rows = [Row(f"imaginary part of the roots, {name}", 0.0, float(np.abs(wave.roots.imag).max()), 1e-12,
                source="λ(kd) < 0 and an odd N_I: overdamped")]  # fmt: skip
    for which, expected, found, error in zip(("negative", "positive"), roots, wave.roots.real, wave.spread):
        rows.append(Row(f"{which} root, {name}", expected, float(found), 0.005 * abs(expected) + 3.0 * float(error),
                        error=float(error), unit="per step", source="e ± √(e² - e), e = λ(kd)"))  # fmt: skip
    return rows


def _draw(waves: list[Wave], short: list[Wave]) -> Figure:
    """omega and 1/tau against k/k_c, tracks, and the roots of one sweep a step."""
    figure, ((left, middle), (right, real)) = new_figure(2, 2, width=12.0, height=9.0)
    x = np.linspace(0.0, 1.5, 400)
    big = 4.0 * x * x  # Lambda
    root = np.emath.sqrt(big * big / 4.0 - big)
    left.plot(x, np.abs(root.imag), color=INKS[1], label="paper, Eq. (dispersion); 0 beyond $k_c$")
    middle.plot(x, big / 2.0 - root.real, color=INKS[1], label="paper, Eq. (tau); beyond $k_c$ both roots")
    middle.plot(x[x > 1.0], (big / 2.0 + root.real)[x > 1.0], color=INKS[1])
    for sweeps, ink, mark in zip(sorted({wave.sweeps for wave in waves}), (INKS[0], INKS[2], INKS[4]), "osd"):
        some = [wave for wave in waves if wave.sweeps == sweeps]
        place = [wave.ratio for wave in some]
        k_c = critical_wave_number(Q_RANDOM, sweeps, 1.0, 1.0)
        theory = np.array([_turning(step_roots(r * k_c, sweeps)) for r in x[1:]])
        style = {"fmt": mark, "color": ink, "ms": 7, "capsize": 3, "mfc": "none",
                 "label": f"measured, $N_I$ = {sweeps}"}  # fmt: skip
        for panel, column in ((left, 0), (middle, 1)):
            panel.plot(x[1:], theory[:, column], "--", color=ink, lw=1, label=f"steps counted, $N_I$ = {sweeps}")
            values = [(wave.omega, wave.rate)[column] for wave in some]
            panel.errorbar(place, values, [wave.error[column] for wave in some], **style)
    for target, ink, mark in ((0.2, INKS[0], "o"), (0.5, INKS[2], "s"), (0.9, INKS[3], "d")):
        wave = min((wave for wave in waves if wave.sweeps == 40), key=lambda wave: abs(wave.ratio - target))
        v = wave.track[:16]
        right.plot(range(len(v)), v, mark, color=ink, ms=6, label=f"measured, k = {wave.ratio:.2f} $k_c$")
        right.plot(*_continuum(4.0 * wave.ratio**2, len(v) - 1), color=ink, lw=1.2)
    right.plot([], [], color=INKS[5], lw=1.2, label="paper, Eq. (wave-eq)")
    kd = np.linspace(0.02, math.pi, 600)
    theory = np.array([np.sort_complex(np.array(step_roots(value, 1))) for value in kd])
    turning = theory.imag[:, 0] != 0.0
    for column, ink in ((0, INKS[1]), (1, INKS[0])):
        real.plot(kd[~turning], theory.real[~turning, column], color=ink, lw=1.2)
    real.plot(kd[turning], np.abs(theory[turning, 0]), color=INKS[5], ls="--", lw=1.2, label="modulus, while it turns")
    for column, ink, mark, name in ((0, INKS[1], "s", "negative"), (1, INKS[0], "o", "positive")):
        real.errorbar([wave.k for wave in short], [wave.roots[column].real for wave in short],
                      [wave.spread[column] for wave in short], fmt=mark, color=ink, ms=7, mfc="none", capsize=3,
                      label=f"{name} root, measured")  # fmt: skip
    real.axvspan(1.7848, math.pi, color=INKS[4], alpha=0.12, lw=0, label="λ(kd) < 0: overdamped")
    left.set(xlabel="$k / k_c$", ylabel="ω dt", title="Frequency", xlim=(0, 1.55), ylim=(0, 2.4))
    middle.set(xlabel="$k / k_c$", ylabel="dt / τ", title="Decay rate", xlim=(0, 1.55), ylim=(0, 5.0))
    right.set(xlabel="time (dt)", ylabel="velocity of the wave / its start", title="Tracks, $N_I$ = 40")
    real.set(xlabel="k d", ylabel="factor per step", title="One sweep a step (lines: theory)", xlim=(0, 3.2))
    for panel in (left, middle, right, real):
        panel.legend(fontsize=8, loc="upper left" if panel in (left, middle) else None)
    return figure


def _continuum(big: float, steps: int) -> tuple[Array, Array]:
    """Times and v(t) of Eq. (wave-eq) for a start at velocity 1 and no force: v' = w, w' = -lambda (w + v)."""
    matrix = np.array([[0.0, 1.0], [-big, -big]])
    values, vectors = np.linalg.eig(matrix)
    weights = np.linalg.solve(vectors, np.array([1.0, 0.0]))
    t = np.linspace(0.0, steps, 300)
    return t, np.asarray((np.exp(np.outer(t, values)) * weights @ vectors[0]).real)
