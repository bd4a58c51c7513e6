"""The targets of the chain, small, and the fit they share."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from rigidgrains.reproduce.fit import DampedSine, fit_damped_sine, fit_with


@pytest.mark.parametrize("name", ["diffusion", "oscillation", "dispersion", "thought_experiment"])
def test_target(name, tmp_path):
    """Every row within its tolerance, progress that only rises, a figure that can be saved."""
    shares = []
    result = importlib.import_module(f"rigidgrains.reproduce.{name}").run(True, shares.append)
    assert result.rows
    assert [row.quantity for row in result.rows if not row.passed] == []
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    result.figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_quantities_have_names_of_their_own():
    result = importlib.import_module("rigidgrains.reproduce.thought_experiment").run(True, lambda share: None)
    names = [row.quantity for row in result.rows]
    assert len(names) == len(set(names))


SINE = DampedSine(x0=3.0, amplitude=0.7, phase=1.1, omega=0.177, tau=63.0)
TIME = np.arange(30.0, 400.0)


@pytest.mark.parametrize(("omega", "tau"), [(0.15, 40.0), (0.177, 63.0), (0.2, 120.0), (0.19, 1e4)])
def test_fit_finds_an_exact_sine(omega, tau):
    fit = fit_damped_sine(TIME, SINE(TIME), omega, tau)
    found = (fit.x0, fit.amplitude, fit.phase, fit.omega, fit.tau)
    assert found == pytest.approx((3.0, 0.7, 1.1, 0.177, 63.0), rel=1e-9)
    assert fit.rms < 1e-12


def test_fit_with_given_omega_and_tau():
    fit = fit_with(TIME, SINE(TIME), SINE.omega, SINE.tau)
    assert (fit.x0, fit.amplitude, fit.phase) == pytest.approx((3.0, 0.7, 1.1), rel=1e-9)
    assert fit(TIME) == pytest.approx(SINE(TIME), rel=1e-12)


def test_errors_of_a_noisy_fit_are_its_scatter():
    rng = np.random.default_rng(0)
    fits = [fit_damped_sine(TIME, SINE(TIME) + rng.normal(scale=0.01, size=TIME.size), 0.18, 60.0) for _ in range(60)]
    assert np.mean([fit.omega for fit in fits]) == pytest.approx(SINE.omega, rel=1e-3)
    for name in ("omega", "tau"):
        scatter = np.std([getattr(fit, name) for fit in fits])
        assert scatter == pytest.approx(np.mean([getattr(fit, f"{name}_error") for fit in fits]), rel=0.35)


def test_a_rising_wave_is_fitted_too():
    """A growing wave has a negative tau: the fit must say so rather than fail."""
    grows = DampedSine(x0=0.0, amplitude=0.1, phase=0.0, omega=0.3, tau=-200.0)
    fit = fit_damped_sine(TIME, grows(TIME), 0.3, 500.0)
    assert fit.tau == pytest.approx(-200.0, rel=1e-6)
