"""The chain theory against the numbers of the paper and against its own identities."""

from __future__ import annotations

import cmath
import math

import numpy as np
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


def swept(wave, rng):
    """Forces of a ring of contacts after one random sweep of R_i := (R_i-1 + R_i+1)/2, Eq. (1d-update) at v = 0."""
    wave = wave.copy()
    for i in rng.permutation(len(wave)):
        wave[i] = 0.5 * (wave[i - 1] + wave[(i + 1) % len(wave)])
    return wave


@pytest.mark.parametrize("waves", [2, 40, 130, 199])
def test_factor_of_a_random_sweep_is_that_of_random_permutations(waves):
    """From kd = 0.03 to 3.13, positive and negative, within four standard errors."""
    rng = np.random.default_rng(waves)
    wave = np.exp(2j * math.pi * waves / 400.0 * np.arange(400))
    factors = np.array([(wave.conj() @ swept(wave, rng)).real / 400.0 for _ in range(40)])
    error = factors.std(ddof=1) / math.sqrt(40.0)
    assert factors.mean() == pytest.approx(theory.sweep_factor(2.0 * math.pi * waves / 400.0), abs=4.0 * error)
    assert error < 0.002


def test_factor_of_a_random_sweep_from_descents():
    """The sum over walks: l descents in a row have probability 1/(l + 1)!, and end one back or one on."""
    for kd in np.linspace(0.0, math.pi, 9):
        factor = 0.5 * math.cos(kd)
        for steps in range(1, 25):
            run, longer = 1.0 / math.factorial(steps + 1), 1.0 / math.factorial(steps + 2)
            factor += 0.5**steps * (run * math.cos((steps - 1) * kd) + (run - longer) * math.cos((steps + 1) * kd))
        assert theory.sweep_factor(kd) == pytest.approx(factor, abs=1e-13)
    assert (1.0 - theory.sweep_factor(1e-3)) / 1e-6 == pytest.approx(Q, rel=1e-5)  # Eq. (q-randsweep)
    assert theory.sweep_factor(1.784) > 0.0 > theory.sweep_factor(1.786)


@pytest.mark.parametrize("sweeps", [1, 3, 10, 40])
def test_roots_are_those_of_the_step(sweeps):
    """w' = e w - (1 - e) v and v' = v + w': eigenvalues of the matrix that takes (v, w) from step to step."""
    for kd in (0.05, 0.5, 2.0, 3.0):
        e = theory.sweep_factor(kd) ** sweeps
        roots = sorted(np.linalg.eigvals(np.array([[e, e], [e - 1.0, e]])), key=lambda root: (root.real, root.imag))
        found = sorted(theory.step_roots(kd, sweeps), key=lambda root: (root.real, root.imag))
        assert np.allclose(found, roots, rtol=0.0, atol=1e-9)
        assert all(root.imag == 0.0 for root in found) == (sweeps % 2 == 1 and kd > 1.785)
    value = theory.step_roots(K, SWEEPS)[0]  # long waves: the paper's
    assert cmath.phase(value) == pytest.approx(theory.frequency(K, Q, SWEEPS, 1.0, 1.0), rel=2e-3)
    assert -1.0 / math.log(abs(value)) == pytest.approx(theory.damping_time(K, Q, SWEEPS, 1.0, 1.0), rel=2e-3)


def test_diffusion_and_source_of_a_parallel_update():
    """R = b x^2 and v = a x put into Eq. (1d-update) for every i at once: dR is D R'' - beta v', with q = 1/2."""
    d, m, dt, iteration, a, b = 0.2, 3.0, 0.05, 0.7, 1.3, 2.1
    x = d * np.arange(5)  # contacts; the grains lie half a diameter to either side
    force, left, right = b * x**2, a * (x - 0.5 * d), a * (x + 0.5 * d)
    new = m / (2.0 * dt) * (left - right)[1:-1] + 0.5 * (force[:-2] + force[2:])
    change = (new - force[1:-1]) / iteration
    big_d = theory.force_diffusion(theory.Q_PARALLEL, d, iteration)  # Eq. (D1)
    beta = theory.force_source(theory.Q_PARALLEL, m, d, dt, iteration)  # Eq. (beta1)
    assert change == pytest.approx(big_d * 2.0 * b - beta * a)


def test_source_of_a_random_sweep():
    """The same ring of contacts, one random sweep at R = 0 and v = a x: dR = -beta v' on average."""
    d, m, dt, a, n = 0.2, 3.0, 0.05, 1.3, 400
    rng, mean = np.random.default_rng(1), []
    for _ in range(40):
        force = np.zeros(n)
        for i in rng.permutation(n):  # v_i - v_i+1 = -a d everywhere
            force[i] = -m * a * d / (2.0 * dt) + 0.5 * (force[i - 1] + force[(i + 1) % n])
        mean.append(force.mean())
    error = np.std(mean, ddof=1) / math.sqrt(40.0)
    assert np.mean(mean) == pytest.approx(-theory.force_source(Q, m, d, dt, 1.0) * a, abs=4.0 * error)
    assert error < 0.01 * abs(np.mean(mean))


@pytest.mark.parametrize(("q", "sweeps", "d", "m", "dt"), CASES)
def test_modulus_and_lengths_of_a_step(q, sweeps, d, m, dt):
    """beta is the force over the strain of a chain of springs kappa, and makes the sound: c^2 = beta d/m."""
    beta = theory.elastic_modulus(q, sweeps, m, d, dt)  # Eq. (beta2)
    assert beta == pytest.approx(sweeps * theory.force_source(q, m, d, dt, dt))  # N_I sweeps of Eq. (beta1)
    assert beta == pytest.approx(theory.stiffness(q, sweeps, m, dt) * d)
    assert beta * d / m == pytest.approx(theory.sound_velocity(q, sweeps, d, dt) ** 2)
    assert theory.sound_length(q, sweeps, d) == pytest.approx(theory.sound_velocity(q, sweeps, d, dt) * dt)
    assert theory.sound_length(q, sweeps, d) == pytest.approx(theory.critical_wave_length(q, sweeps, d) / math.pi)
