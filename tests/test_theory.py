"""The chain theory against the numbers of the paper and against its own identities."""

from __future__ import annotations

import cmath
import math

import pytest

from rigidgrains import theory

Q, SWEEPS, K = theory.Q_RANDOM, 40, 2.0 * math.pi / 200.0  # item 59: L = 50 d, lambda = 4 L, N_I = 40
CASES = [(0.5, 10, 0.1, 2.0, 0.01), (theory.Q_RANDOM, 40, 1.0, 1.0, 1.0), (1.0, 160, 3.0, 0.7, 2.5)]  # q, N_I, d, m, dt


def test_numbers_of_the_paper():
    assert pytest.approx(0.797, abs=5e-4) == Q  # Eq. (q-randsweep)
    assert theory.diffusion_constant(Q, SWEEPS, 1.0, 1.0) == pytest.approx(31.898, abs=5e-4)
    assert theory.sound_velocity(Q, SWEEPS, 1.0, 1.0) == pytest.approx(5.648, abs=5e-4)
    assert theory.frequency(K, Q, SWEEPS, 1.0, 1.0) == pytest.approx(0.17673, abs=5e-6)
    assert theory.damping_time(K, Q, SWEEPS, 1.0, 1.0) == pytest.approx(63.53, abs=5e-3)


def test_q_of_the_random_sweep_from_descents():
    """A walk to the left ends at the first contact that is not older: half its mean square is Eq. (q-randsweep)."""
    square = 0.5  # one step, to a younger contact
    for steps in range(1, 25):  # a run of so many descents has probability 1/(steps + 1)!
        run, longer = 1.0 / math.factorial(steps + 1), 1.0 / math.factorial(steps + 2)
        back, on = 0.5 * run * (steps - 1) ** 2, 0.5 * (run - longer) * (steps + 1) ** 2
        square += 0.5 ** (steps - 1) * (back + on)
    assert 0.5 * square == pytest.approx(theory.Q_RANDOM, rel=1e-12)


def test_q_of_the_other_orders():
    """A long wave decays by exp(-q (k d)^2) per sweep: by sweeps along a chain, all at once, colour after colour."""
    k = 1e-3
    along = abs(cmath.exp(1j * k) / (2.0 - cmath.exp(-1j * k)))
    for order in ("Ordered", "Symmetric", "RandomBlocks"):
        assert theory.Q[order] == pytest.approx(-math.log(along) / k**2, rel=1e-5)
    assert theory.Q["Parallel"] == theory.Q_PARALLEL == pytest.approx(-math.log(math.cos(k)) / k**2, rel=1e-5)
    # each colour takes the mean of the other one; two sweeps of two colours in random order, all four cases
    decay = 0.0
    for first in ((0, 1), (1, 0)):
        for second in ((0, 1), (1, 0)):
            wave, after = [1.0, 1.0], []
            for sweep in (first, second):
                for colour in sweep:
                    wave[colour] = math.cos(k) * wave[1 - colour]
                after.append(min(wave))
            decay += 0.25 * math.log(after[0] / after[1])
    assert theory.Q["Coloured"] == pytest.approx(decay / k**2, rel=1e-5)


@pytest.mark.parametrize(("q", "sweeps", "d", "m", "dt"), CASES)
def test_lengths(q, sweeps, d, m, dt):
    big_d, c = theory.diffusion_constant(q, sweeps, d, dt), theory.sound_velocity(q, sweeps, d, dt)
    k_c = theory.critical_wave_number(q, sweeps, d, dt)
    assert theory.critical_wave_length(q, sweeps, d) == pytest.approx(2.0 * math.pi / k_c)  # Eq. (lambdac)
    assert theory.diffusion_length(q, sweeps, d) == pytest.approx(math.sqrt(4.0 * big_d * dt))  # Eq. (ldiff)
    assert theory.diffusion_length(q, sweeps, d) == pytest.approx(2.0 * c * dt)  # twice l_sound, Eq. (lsound)
    assert c * c * dt == pytest.approx(big_d)


@pytest.mark.parametrize(("q", "sweeps", "d", "m", "dt"), CASES)
def test_spring_and_dashpot(q, sweeps, d, m, dt):
    kappa, gamma = theory.stiffness(q, sweeps, m, dt), theory.viscosity(q, sweeps, m, dt)
    assert kappa * d * d / m == pytest.approx(theory.sound_velocity(q, sweeps, d, dt) ** 2)  # as in a chain of springs
    assert gamma * d * d / m == pytest.approx(theory.diffusion_constant(q, sweeps, d, dt))
    assert gamma == pytest.approx(kappa * dt)


@pytest.mark.parametrize(("q", "sweeps", "d", "m", "dt"), CASES)
def test_waves_solve_the_wave_equation(q, sweeps, d, m, dt):
    """s = -1/tau + i omega is a root of s^2 + D k^2 s + c^2 k^2, Eq. (wave-eq)."""
    big_d, c = theory.diffusion_constant(q, sweeps, d, dt), theory.sound_velocity(q, sweeps, d, dt)
    k = 0.6 * theory.critical_wave_number(q, sweeps, d, dt)
    s = complex(-1.0 / theory.damping_time(k, q, sweeps, d, dt), theory.frequency(k, q, sweeps, d, dt))
    assert abs(s * s + big_d * k * k * s + c * c * k * k) < 1e-9 * abs(s) ** 2
    assert theory.frequency(k / 0.6, q, sweeps, d, dt) == pytest.approx(0.0, abs=1e-6 / dt)
    assert theory.frequency(2.0 * k, q, sweeps, d, dt) == 0.0


@pytest.mark.parametrize("safety", [0.5, 1.0, 2.0])
def test_rigid_sweeps_are_just_enough(safety):
    sweeps = theory.rigid_sweeps(30.0, 1.5, Q, safety)  # item 63
    assert theory.diffusion_length(Q, sweeps, 1.5) >= safety * 30.0
    assert theory.diffusion_length(Q, sweeps - 1, 1.5) < safety * 30.0
    assert theory.rigid_sweeps(0.0, 1.5, Q, safety) == 1
