"""The damped sine x(t) = x0 + A exp(-t/tau) sin(omega t + phi), Eq. (damposc), fitted to data by least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DampedSine:
    """A fitted damped sine, Eq. (damposc). Its errors are those of independent, equal noise: a lower bound.

    rms : root mean square of what the fit leaves over
    """

    x0: float
    amplitude: float
    phase: float
    omega: float
    tau: float
    omega_error: float = 0.0
    tau_error: float = 0.0
    rms: float = 0.0

    def __call__(self, t: Array) -> Array:
        """The curve at the times t."""
        wave = self.amplitude * np.exp(-t / self.tau) * np.sin(self.omega * t + self.phase)
        return np.asarray(self.x0 + wave)


def fit_with(t: Array, x: Array, omega: float, tau: float) -> DampedSine:
    """Offset, amplitude and phase of the data x(t) for a given omega and tau: a linear problem."""
    start = t[0]
    basis = _basis(t - start, omega, 1.0 / tau)
    weights = _weights(basis, x)
    return _sine(weights, omega, 1.0 / tau, start, _rms(x - basis @ weights))


def fit_damped_sine(t: Array, x: Array, omega0: float, tau0: float, *, most: int = 200) -> DampedSine:
    """All five numbers by Gauss-Newton from a first guess of omega and tau.

    The linear ones are solved for exactly in every round; a step that does not lower the misfit is shortened.
    """
    start = t[0]
    s = t - start
    omega, rate = omega0, 1.0 / tau0
    basis, weights, left = _solve(s, x, omega, rate)
    for _ in range(most):
        step = _weights(_slopes(s, basis, weights), left)[3:]
        share = 1.0
        while share > 1e-9:
            trial = _solve(s, x, omega + share * step[0], rate + share * step[1])
            if float(trial[2] @ trial[2]) <= float(left @ left):
                break
            share *= 0.5
        else:
            break
        omega, rate = omega + share * float(step[0]), rate + share * float(step[1])
        gain = 1.0 - float(trial[2] @ trial[2]) / float(left @ left) if left.any() else 0.0
        basis, weights, left = trial
        if gain < 1e-13:
            break
    slopes = _slopes(s, basis, weights)
    variance = float(left @ left) / max(len(x) - 5, 1)
    spread = np.sqrt(np.maximum(np.diag(np.linalg.pinv(slopes.T @ slopes)) * variance, 0.0))
    errors = {"omega_error": float(spread[3]), "tau_error": float(spread[4]) / rate**2}
    return _sine(weights, omega, rate, start, _rms(left), **errors)


def _basis(s: Array, omega: float, rate: float) -> Array:
    """Columns 1, exp(-rate s) sin(omega s), exp(-rate s) cos(omega s)."""
    decay = np.exp(-rate * s)
    return np.column_stack([np.ones_like(s), decay * np.sin(omega * s), decay * np.cos(omega * s)])


def _solve(s: Array, x: Array, omega: float, rate: float) -> tuple[Array, Array, Array]:
    """Columns, their best weights, and what they leave over."""
    if -rate * s[-1] > 300.0:  # a growth beyond all numbers: no weight fits
        return np.zeros((len(s), 3)), np.zeros(3), np.full(len(s), math.inf)
    basis = _basis(s, omega, rate)
    weights = _weights(basis, x)
    return basis, weights, x - basis @ weights


def _weights(basis: Array, x: Array) -> Array:
    """The combination of columns nearest to x."""
    return np.asarray(np.linalg.lstsq(basis, x, rcond=None)[0], dtype=np.float64)


def _slopes(s: Array, basis: Array, weights: Array) -> Array:
    """Derivatives of the curve by the three weights, omega and the rate 1/tau."""
    _, sine, cosine = weights
    by_omega = s * (sine * basis[:, 2] - cosine * basis[:, 1])
    by_rate = -s * (sine * basis[:, 1] + cosine * basis[:, 2])
    return np.column_stack([basis, by_omega, by_rate])


def _sine(weights: Array, omega: float, rate: float, start: float, rms: float, **errors: float) -> DampedSine:
    """The fitted curve with amplitude and phase referred to t = 0; omega made positive."""
    offset, sine, cosine = (float(weight) for weight in weights)
    if omega < 0.0:
        omega, sine = -omega, -sine
    amplitude = math.hypot(sine, cosine) * math.exp(rate * start)
    phase = math.remainder(math.atan2(cosine, sine) - omega * start, 2.0 * math.pi)
    return DampedSine(offset, amplitude, phase, omega, 1.0 / rate, rms=rms, **errors)


def _rms(left: Array) -> float:
    return math.sqrt(float(left @ left) / len(left))


def longest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest value that holds, to a per cent: `low` does, `high` does not."""
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return math.sqrt(low * high)
