"""The targets of the chain, small, and the fit they share."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from rigidgrains.reproduce import TARGETS
from rigidgrains.reproduce.fit import DampedSine, fit_damped_sine, fit_with


@pytest.mark.parametrize("name", [
    "oscillation", "front", "thought_experiment",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("diffusion", "dispersion")),
])  # fmt: skip
def test_target(name, tmp_path):
    """Rows within tolerances that could fail, names of their own, rising progress, figures that can be saved."""
    shares = []
    result = importlib.import_module(f"rigidgrains.reproduce.{name}").run(True, shares.append)
    assert result.rows
    assert [row.quantity for row in result.rows if not row.passed] == []
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    names = [row.quantity for row in result.rows]
    assert len(names) == len(set(names))
    (target,) = [target for target in TARGETS.values() if target.module == name]
    figures = result.figures(target.name)
    assert [*figures] == target.figures
    for figure in figures.values():
        figure.savefig(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 10_000
    for row in result.rows:
        if row.rule == "equal":  # a tenth at most, or what its error asks for
            error = row.error if math.isfinite(row.error) else 0.0
            assert row.tolerance <= max(0.1 * abs(row.expected), 4.0 * error + 1e-9), row


def test_front_of_a_rigid_chain():
    """Sweeps without end: the whole free chain is accelerated at once, and forces fall with what is left to push."""
    from rigidgrains.reproduce.front import depth, expected

    force = expected(20, np.array([10**6, 10**6]))
    assert force == pytest.approx(np.tile(1.0 - np.arange(21) / 20.0, (2, 1)), abs=1e-9)
    assert depth(force, 0.5) == pytest.approx([10.0, 10.0])


def test_front_in_a_long_chain_is_that_of_the_wave_equation():
    """Eq. (wave-eq): at t = 40 dt half of the load has come to c t within a diameter, N_I = 40."""
    from rigidgrains import theory
    from rigidgrains.reproduce.front import depth, expected

    place = depth(expected(400, np.full(40, 40)), 0.5)[-1]
    assert place == pytest.approx(40.0 * theory.sound_velocity(theory.Q_RANDOM, 40, 1.0, 1.0), abs=1.0)


def test_counted_answer_of_a_chain_at_a_wall():
    """No sweep: nothing; many: the whole load; in between the diffusion equation with a wall, within a per cent."""
    from rigidgrains.reproduce.thought_experiment import counted, mirrored

    assert counted(20, 0) == pytest.approx(np.zeros(20), abs=1e-12)
    assert counted(20, 10**5) == pytest.approx(np.ones(20))
    sweeps = 500
    assert counted(20, sweeps)[-1] == pytest.approx(mirrored(2.0 * math.sqrt(0.79744 * sweeps) / 20.0), abs=0.01)


def test_a_push_spreads_and_loses_nothing():
    """One sweep by hand: between equal grains a contact shares what it is given; momentum stays in the crystal."""
    from rigidgrains.reproduce.packings import crystal, height, spread

    packing = crystal(2, 3, 48)
    assert height(packing) == pytest.approx(1.0 + 47.0 * math.sqrt(1.0 - (1.01 / 2.0) ** 2))
    grown = [spread(packing, sweeps, 0.5 * height(packing), 0) for sweeps in (1, 4)]
    assert [momentum.sum() for _, momentum in grown] == pytest.approx([1.0, 1.0], abs=1e-6)
    assert grown[1][0] > grown[0][0] > 0.1


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
