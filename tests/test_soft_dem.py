"""Soft DEM: the laws of a linear spring with dashpot and friction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, floor, grains, plane

from rigidgrains.model.bodies import Bodies
from rigidgrains.soft_dem import SoftDEM


def pair(speed: float = 1.0, mass: tuple[float, float] = (1.0, 3.0)) -> Bodies:
    """Two spheres about to collide head on."""
    return grains([[0, 0, 0], [2.001, 0, 0]], 1.0, np.array(mass), velocity=[[speed, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("viscosity", [2.0, 10.0])
def test_restitution_of_a_damped_spring(viscosity: float) -> None:
    # m_e x'' = -kappa x - gamma x' until the force is gone: e = exp(-(b/w) (pi - 2 arctan(b/w))),
    # b = gamma/(2 m_e), w^2 = kappa/m_e - b^2 (Schwager and Poeschel, Granular Matter 9, 465, 2007)
    bodies = pair()
    m_e, kappa = 0.75, 1e3
    b = viscosity / (2.0 * m_e)
    w = math.sqrt(kappa / m_e - b * b)
    e = math.exp(-(b / w) * (math.pi - 2.0 * math.atan(b / w)))
    SoftDEM(bodies, dt=1e-5, stiffness=kappa, viscosity=viscosity).run(10_000)
    after = bodies.velocity[:, 0]
    assert after[1] - after[0] == pytest.approx(e, rel=2e-3)
    assert bodies.mass @ after == pytest.approx(1.0)


def test_energy_is_conserved_to_second_order() -> None:
    kappa, found = 1e3, []
    for dt in (4e-3, 2e-3, 1e-3):
        bodies = grains([[0, 0, 0], [2, 0, 0]], 1.0, 1.0, velocity=[[0.1, 0, 0], [-0.1, 0, 0]])
        springs = SoftDEM(bodies, dt=dt, stiffness=kappa, bonded=True)
        energy = []
        for _ in range(round(1.0 / dt)):
            before = bodies.velocity.copy()
            gap = bodies.position[1, 0] - bodies.position[0, 0] - 2.0
            springs.step()
            middle = 0.5 * (before + bodies.velocity)  # velocities belong to half steps, gaps to whole ones
            energy.append(0.5 * (middle**2).sum() + 0.5 * kappa * gap**2)
        found.append(np.ptp(energy) / np.mean(energy))
    assert found[0] < 0.02
    assert found[0] / found[1] == pytest.approx(4.0, rel=0.2)
    assert found[1] / found[2] == pytest.approx(4.0, rel=0.2)


def test_a_resting_sphere_sinks_in_by_its_weight() -> None:
    bodies = grains([[0, 1, 0]], 1.0, 2.0, gravity=[0, -10, 0], walls=[floor()])
    SoftDEM(bodies, dt=1e-3, stiffness=1e4, viscosity=200.0).run(3000)
    assert 1.0 - bodies.position[0, 1] == pytest.approx(2.0 * 10.0 / 1e4, rel=1e-6)
    bodies = grains([[0, 1, 0]], 1.0, 2.0, gravity=[0, -10, 0], walls=[floor()])
    SoftDEM(bodies, dt=1e-3, stiffness=1e4, viscosity=100.0, wall=2.0).run(3000)
    assert 1.0 - bodies.position[0, 1] == pytest.approx(1.0 * 10.0 / 1e4, rel=1e-6)


def test_a_rough_elastic_sphere_is_turned_back() -> None:
    # with k_t/k_n = 2/7 = m_t/m_n of a solid sphere the tangential spring swings as fast as the normal one: both
    # components of the velocity of its surface are turned round
    motion = {"velocity": [[0.3, -1, 0]], "spin": [[0, 0, 0.2]]}
    bodies = grains([[0, 1.0001, 0]], 1.0, 1.0, **motion, friction=1e6, walls=[floor()])
    SoftDEM(bodies, dt=2e-5, stiffness=1e5).run(1000)
    v, w = bodies.velocity[0], bodies.spin[0]
    assert v[1] == pytest.approx(1.0, rel=1e-3)
    assert v[0] + w[2] == pytest.approx(-(0.3 + 0.2), rel=1e-2)


def slope(angle: float, mu: float, *, roll: bool = True) -> Bodies:
    """A sphere on a slope, in the frame of the slope; without roll it is held against turning by a huge inertia."""
    gravity = [10.0 * math.sin(angle), -10.0 * math.cos(angle), 0.0]
    bodies = grains([[0, 1, 0]], 1.0, 1.0, gravity=gravity, friction=mu, walls=[floor()])
    if not roll:
        bodies.motion[0, 7] = 0.0
    return bodies


def test_coulomb_limit() -> None:
    # a block slides with a = g (sin - mu cos) beyond the angle of friction, and rests below it
    mu = 0.3
    for angle, a in ((0.4, 10.0 * (math.sin(0.4) - mu * math.cos(0.4))), (0.2, 0.0)):
        bodies = slope(angle, mu, roll=False)
        springs = SoftDEM(bodies, dt=1e-4, stiffness=1e5, viscosity=300.0).run(5000)
        assert bodies.velocity[0, 0] == pytest.approx(0.5 * a, abs=0.01)
        r_n, *r_t = springs.contacts.forces[0]
        assert np.linalg.norm(r_t) <= mu * r_n * (1.0 + 1e-12)
    # resting, the spring carries the downhill force
    assert np.linalg.norm(r_t) == pytest.approx(10.0 * math.sin(0.2), rel=1e-3)


def test_rolling() -> None:
    # a solid sphere rolls down with a = 5/7 g sin(angle)
    bodies = slope(0.2, 0.3)
    SoftDEM(bodies, dt=1e-4, stiffness=1e5, viscosity=300.0).run(5000)
    assert bodies.velocity[0, 0] == pytest.approx(5.0 / 7.0 * 5.0 * math.sin(0.2), rel=0.02)
    assert bodies.spin[0, 2] == pytest.approx(-bodies.velocity[0, 0], rel=0.02)


def test_bonds_pull_and_contacts_do_not() -> None:
    for bonded in (True, False):
        bodies = grains([[1.0, 0, 0], [3.0, 0, 0]], 1.0, 1.0, velocity=[[0, 0, 0], [0.1, 0, 0]],
                        walls=[plane([0, 0, 0], RIGHT, "wall")])  # fmt: skip
        SoftDEM(bodies, dt=1e-3, stiffness=100.0, viscosity=8.0, bonded=bonded).run(10_000)
        assert bodies.position[1, 0] == pytest.approx(3.0 if bonded else 4.0, abs=1e-6)


def test_momentum_and_2d_equals_flat_3d() -> None:
    rng = np.random.default_rng(3)
    place = np.stack([rng.uniform(0, 12, 60), rng.uniform(0, 12, 60), np.zeros(60)], axis=1)
    velocity = rng.normal(size=(60, 3)) * [1, 1, 0]
    found = []
    for dimension in (2, 3):
        bodies = grains(place, 0.5, 1.0, dimension=dimension, velocity=velocity, friction=0.5)
        bodies.motion[:, 7] = 2.0  # the same inertia
        SoftDEM(bodies, dt=1e-4, stiffness=1e3, viscosity=3.0).run(2000)
        assert bodies.velocity.sum(axis=0) == pytest.approx(velocity.sum(axis=0), abs=1e-9)
        found.append(bodies.position.copy())
    assert np.array_equal(*found)


def test_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="stiffness"):
        SoftDEM(pair(), dt=1e-3, stiffness=0.0)
    with pytest.raises(ValueError, match="viscosity"):
        SoftDEM(pair(), dt=1e-3, stiffness=1.0, viscosity=-1.0)
