"""The chain theory of the paper: what a finite number of sweeps does to rigid grains.

Contact forces relax by diffusion, q d^2 per sweep. Stop after N_I sweeps and the grains behave, on large scales, like
masses on springs. In these functions d is the grain diameter (m), m its mass (kg), dt the time step (s), sweeps is N_I,
and q is the diffusion constant of the order in units of d^2 per sweep.
"""

from __future__ import annotations

import cmath
import math

Q_RANDOM = (4.0 * math.sqrt(math.e) - 5.0) / 2.0  # Eq. (q-randsweep), 0.797
Q_PARALLEL = 0.5  # Eq. (q1)

# A long wave of wave number k decays by exp(-q (k d)^2) per sweep. Independent draws average to the parallel law. A
# sweep along the chain, R_i = (R_i-1 (new) + R_i+1 (old))/2, multiplies it by exp(ikd)/(2 - exp(-ikd)), which is
# exp(-(kd)^2 + ...), and so does one backwards; blocks of many contacts are such sweeps. A chain has two colours, and
# each in turn multiplies the wave by cos(kd) = exp(-(kd)^2/2 + ...). Half of the sweeps begin with the colour that came
# last, which changes nothing: three of four count.
Q = {
    "Random": Q_RANDOM,
    "RandomSequential": 0.5,
    "Ordered": 1.0,
    "Symmetric": 1.0,
    "RandomBlocks": 1.0,
    "Coloured": 0.75,
    "Parallel": Q_PARALLEL,
}


def sweep_factor(kd: float) -> float:
    """lambda(kd): mean factor by which one random sweep multiplies a wave of force of any length in an endless chain.

    A sweep is Eq. (1d-update), once for each contact.
    Worked out on the page of the target `dispersion`: cos(kd) + 2 Re (1 - exp(-ikd))^2 (exp(z) - 1 - z) with
    z = exp(ikd)/2. For long waves it is 1 - q (kd)^2 with Eq. (q-randsweep); beyond kd = 1.785 it is negative.
    """
    z = 0.5 * cmath.exp(1j * kd)
    return math.cos(kd) + 2.0 * ((1.0 - cmath.exp(-1j * kd)) ** 2 * (cmath.exp(z) - 1.0 - z)).real


def force_diffusion(q: float, d: float, iteration: float) -> float:
    """D = q d^2/dt* (m^2 per unit of t*), Eq. (D1); dt* = `iteration` is what a sweep is taken to last.

    q = 1/2, Eq. (q1), for a parallel update and Eq. (q-randsweep) for the random sweep. The wave form is
    dR/dt* = D d^2R/dx^2 - beta dv/dx, Eq. (contin-forceiter).
    """
    return q * d * d / iteration


def force_source(q: float, m: float, d: float, dt: float, iteration: float) -> float:
    """beta = q m d/(dt dt*) (kg m/s per unit of t*), Eq. (beta1): what a gradient of velocity adds to forces."""
    return q * m * d / (dt * iteration)


def diffusion_constant(q: float, sweeps: float, d: float, dt: float) -> float:
    """D = q N_I d^2/dt (m^2/s), Eq. (D2): Eq. (D1) with dt = N_I dt*."""
    return force_diffusion(q, d, dt / sweeps)


def elastic_modulus(q: float, sweeps: float, m: float, d: float, dt: float) -> float:
    """beta = q N_I m d/dt^2 (N), Eq. (beta2): Eq. (beta1) with dt = N_I dt*; kappa d, force over strain of a chain.

    With m dv/dt = -d dR/dx it makes waves of c^2 = beta d/m.
    """
    return force_source(q, m, d, dt, dt / sweeps)


def sound_velocity(q: float, sweeps: float, d: float, dt: float) -> float:
    """c = sqrt(q N_I) d/dt (m/s), Eq. (soundvelocity)."""
    return math.sqrt(q * sweeps) * d / dt


def frequency(k: float, q: float, sweeps: float, d: float, dt: float) -> float:
    """omega(k) = k sqrt(c^2 - D^2 k^2/4) (rad/s), Eq. (dispersion); 0 for an overdamped wave.

    The waves are those of Eq. (wave-eq). Good for long ones: it is low by 5 % at half of k_c, where a step is no longer
    short against the period.
    """
    c, big_d = sound_velocity(q, sweeps, d, dt), diffusion_constant(q, sweeps, d, dt)
    return k * math.sqrt(max(c * c - big_d * big_d * k * k / 4.0, 0.0))


def step_frequency(k: float, q: float, sweeps: float, d: float, dt: float) -> float:
    """omega(k) (rad/s) when steps are counted one by one: cos(omega dt) = exp(-q N_I (k d)^2/2), for every k.

    Grains are taken as a continuum; `step_roots` counts them too, for the random sweep.
    """
    return math.acos(math.exp(-0.5 * q * sweeps * (k * d) ** 2)) / dt


def step_roots(kd: float, sweeps: int) -> tuple[complex, complex]:
    """What a step of N_I random sweeps multiplies the two waves of this length by, grains and steps counted one by one.

    Forces go by Eq. (1d-update), N_I times, then velocities by Eq. (dv2). That makes
    exp((-1/tau + i omega) dt) and its conjugate: e +- sqrt(e^2 - e), e = lambda(kd)^N_I. For odd N_I and kd > 1.785 e
    is negative and both are real: the one above 0 is overdamped, the other changes sign in every step.
    """
    e = sweep_factor(kd) ** sweeps
    root = cmath.sqrt(e * e - e)
    return e + root, e - root


def damping_time(k: float, q: float, sweeps: float, d: float, dt: float) -> float:
    """tau(k) = 2/(D k^2) (s) of an oscillating wave, Eq. (tau)."""
    return 2.0 / (diffusion_constant(q, sweeps, d, dt) * k * k)


def critical_wave_number(q: float, sweeps: float, d: float, dt: float) -> float:
    """k_c = 2c/D (1/m), Eq. (k_c): in the continuum shorter waves are overdamped."""
    return 2.0 * sound_velocity(q, sweeps, d, dt) / diffusion_constant(q, sweeps, d, dt)


def sound_length(q: float, sweeps: float, d: float) -> float:
    """l_sound = c dt = sqrt(q N_I) d (m), Eq. (lsound): how far sound travels in one step; half of l_diff."""
    return math.sqrt(q * sweeps) * d


def critical_wave_length(q: float, sweeps: float, d: float) -> float:
    """lambda_c = 2 pi/k_c = pi sqrt(q N_I) d (m), Eq. (lambdac)."""
    return math.pi * math.sqrt(q * sweeps) * d


def diffusion_length(q: float, sweeps: float, d: float) -> float:
    """l_diff = sqrt(4 D dt) = 2 sqrt(q N_I) d (m), Eqs. (difflength) and (ldiff): how far news gets in one step."""
    return 2.0 * math.sqrt(q * sweeps) * d


def stiffness(q: float, sweeps: float, m: float, dt: float) -> float:
    """kappa = q m N_I/dt^2 (N/m), Eq. (kappa): the spring that would answer like the unfinished sweeps."""
    return q * m * sweeps / (dt * dt)


def viscosity(q: float, sweeps: float, m: float, dt: float) -> float:
    """gamma = q m N_I/dt (N s/m), Eq. (gamma)."""
    return q * m * sweeps / dt


def firm_length(q: float, sweeps: float, d: float) -> float:
    """|zeta(1/2)| sqrt(q N_I/pi) d = 0.412 l_diff (m): by so much a chain under load seems shorter than it is.

    Its loaded end feels the load directly, not by diffusion, and does not give: the chain shrinks by
    F (L - firm_length)/(kappa d).
    """
    return 1.4603545088 * math.sqrt(q * sweeps / math.pi) * d


def sweeps_for_accuracy(accuracy: float, length: float, d: float, q: float) -> float:
    """Sweeps after which the far end of a chain of this length (m) lacks only this share of a new load."""
    return 4.0 * math.log(4.0 / (math.pi * accuracy)) / (math.pi**2 * q) * (length / d) ** 2


def rigid_sweeps(length: float, d: float, q: float, safety: float, mass_ratio: float = 1.0) -> int:
    """Sweeps for which l_diff is `safety` times a length (m): N_I >= (safety length/d)^2/(4 q), Eq. (NIestim1).

    By the diffusion length, Eq. (difflength).
    mass_ratio : the mass that hangs together over that of its grains, if heavier bodies are among them. A column of
                 length L on springs kappa/d swings with a mass M at its end as with M in place of its own mass.
    """
    return max(1, math.ceil(mass_ratio * (safety * length / d) ** 2 / (4.0 * q) - 1e-9))
