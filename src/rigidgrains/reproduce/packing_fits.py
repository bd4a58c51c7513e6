"""Waves of packings as damped sines: fits, exponents in N_I, and what a wave tells of D k^2. Units d = m = dt = 1."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import theory
from .fit import DampedSine, fit_damped_sine, fit_with

Array = NDArray[np.float64]


def exponent(waves: Any, sweeps: Any, take: Callable[[DampedSine], float]) -> tuple[float, float]:
    """Exponent by which a number of the sines goes with N_I: mean and standard error over packings."""
    found = slopes(waves, sweeps, take)
    return mean(found), spread(found)


def slopes(waves: Any, sweeps: Any, take: Callable[[DampedSine], float]) -> Array:
    """(packings,) the exponent of each."""
    return np.array([np.polyfit(np.log(sweeps), np.log([take(sine) for sine in sines]), 1)[0] for sines in waves])


def late_fit(t: Array, y: Array, omega: float, tau: float) -> DampedSine:
    """The sine fitted from pi/omega on."""
    sine = best_fit(t, y, omega, 0.6 * tau)
    for _ in range(2):
        late = t > math.pi / sine.omega
        if late.sum() < 8:  # no oscillation
            break
        sine = fit_damped_sine(t[late], y[late], sine.omega, sine.tau)
    return sine


def best_fit(t: Array, x: Array, omega: float, tau: float) -> DampedSine:
    """The best of the fits that start from several frequencies."""
    return min((fit_damped_sine(t, x, share * omega, tau) for share in (0.6, 0.8, 1.0, 1.3, 1.7)), key=lambda s: s.rms)


def wave(k: float, sweeps: int) -> tuple[float, float]:
    """omega and tau of a chain with this wave number: a first guess."""
    q = theory.Q_RANDOM
    return max(theory.frequency(k, q, sweeps, 1.0, 1.0), 0.1), theory.damping_time(k, q, sweeps, 1.0, 1.0)


def rate(sine: DampedSine) -> float:
    """D k^2 = c^2 k^2 dt that a wave tells: |1 - z|^2 = 1 - exp(-D k^2 dt) with z = exp(i omega dt - dt/tau)."""
    z = cmath.exp(complex(-1.0 / sine.tau, sine.omega))
    return -math.log(1.0 - abs(1.0 - z) ** 2)


def wave_number(ratio: float) -> float:
    """k h of the slowest wave between a fixed base and a piston, from the mass of the packing over the piston's.

    k h tan(k h) = ratio; pi/2 for a piston without mass. By bisection.
    """
    low, high = 0.0, 0.5 * math.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle * math.tan(middle) < ratio else (low, middle)
    return low


def misfit(rings: Any) -> tuple[float, float]:
    """The largest misfit over the amplitude at the start of the fit, and what omega 5 % off would leave there."""
    found = []
    for t, _, sine in rings:
        late, size = t[t > math.pi / sine.omega], sine.amplitude * math.exp(-math.pi / (sine.omega * sine.tau))
        wrong = fit_with(late, sine(late), 1.05 * sine.omega, sine.tau)
        found.append((sine.rms / size, wrong.rms / size))
    return max(found)


def mean(values: Any) -> float:
    return float(np.mean(values))


def spread(values: Any) -> float:
    """Standard error of the mean."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
