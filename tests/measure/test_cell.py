"""Measurements in periodic cells: lattices, gases, shear flows, walls across the open directions."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import exact, grains, plane
from support.frames import FCC, FCC_SITES, FEW, TRIANGULAR, lattice, still

from rigidgrains import Simulation, measure
from rigidgrains.laws import Rolling
from rigidgrains.measure.images import affine_flow
from rigidgrains.model.cell import Cell
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall

ROOT = math.sqrt(3.0)
DENSEST = {2: math.pi / (2.0 * ROOT), 3: math.pi / (3.0 * math.sqrt(2.0))}


def leaning(dimension, many=2):
    """Unit grains of the densest lattice in a cell that leans, `many` sites along each vector."""
    if dimension == 2:
        vectors = np.array(TRIANGULAR)
        vectors[2, 2] = 1.0 / many
    else:  # close-packed triangular layers, each above the gaps of the one below
        vectors = np.array([[2.0, 0.0, 0.0], [1.0, ROOT, 0.0], [1.0, 1.0 / ROOT, math.sqrt(8.0 / 3.0)]])
    cell = Cell(many * vectors, [0.3, -0.2, 0.1], [True, True, dimension == 3])
    steps = [range(many)] * dimension + [range(1)] * (3 - dimension)
    return cell, cell.origin + np.array(list(product(*steps))) @ vectors


def pressed(position, cell, force=1.0, **rest):
    """All unit grains that touch, through whatever image, press on each other."""
    links = []
    for k in product(*([-1, 0, 1] if has else [0] for has in cell.periodic)):
        away = position[None] + np.array(k) @ cell.vectors - position[:, None]
        distance = np.linalg.norm(away, axis=2)
        for i, j in np.argwhere((distance < 2.0 + 1e-9) & (distance > 0.0)):
            if i < j:
                normal = away[i, j] / distance[i, j]
                links.append((i, j, normal, force * normal, k))
    return still(position, links=links, cell=cell, **rest)


@FEW
@given(shift=st.tuples(*[st.floats(-1.0, 1.0)] * 3), dimension=st.sampled_from([2, 3]))
def test_packing_of_lattices(shift, dimension):
    """The same share in the cell, in the slabs together, and in any box that is made of images."""
    cell, position = leaning(dimension)
    position = position + np.array(shift) @ cell.vectors  # beyond the faces, too
    frame, phi = still(position, dimension=dimension, cell=cell), DENSEST[dimension]
    assert measure.packing_fraction(frame) == pytest.approx(phi, rel=1e-13)
    room = measure.enclosure(frame)
    assert room.volume == pytest.approx(measure.hull_volume(frame), rel=1e-13)
    for axis in range(dimension):
        assert measure.packing_profile(frame, axis, 5)[1].mean() == pytest.approx(phi, rel=1e-12)
    low = np.array(room.lower) - 0.7
    wide = measure.Box(low, low + 2.0 * room.size)
    assert measure.packing_fraction(frame, box=wide) == pytest.approx(phi, rel=1e-12)


@FEW
@given(shift=st.tuples(*[st.floats(-1.0, 1.0)] * 3), size=st.tuples(*[st.floats(0.3, 6.0)] * 3))
def test_a_box_in_a_cell_is_that_box_in_the_lattice(shift, size):
    """Boxes smaller and larger than the cell: the same volume as among explicit images."""
    cell = Cell(np.array(FCC))
    position = np.array(FCC_SITES) @ FCC
    box = measure.Box(shift, np.array(shift) + size)
    found = measure.volumes_inside(still(position, cell=cell), box).sum()
    assert found == pytest.approx(measure.volumes_inside(still(lattice(FCC, 4, FCC_SITES)), box).sum(), rel=1e-11)


def test_volumes_between_walls_and_faces():
    """A slot that is periodic along x and z, and a slice of a drum; a side left open is told."""
    walls = [plane([0, 0, 0], [0, 1, 0], "floor"), plane([0, 5, 0], [0, -1, 0], "lid")]
    vectors = np.array([[6.0, 0, 0], [0, 9.0, 0], [2.0, 0, 4.0]])
    slot = Cell(vectors, periodic=[True, False, True])
    frame = still([[1.0, 1, 1], [7.5, 3, 1]], walls=walls, cell=slot)
    assert measure.hull_volume(frame) == pytest.approx(6.0 * 5.0 * 4.0, rel=1e-12)
    np.testing.assert_allclose(measure.enclosure(frame).upper, [6, 5, 4])
    assert measure.packing_profile(frame, "x", 3)[1].mean() == pytest.approx(8.0 / 3.0 * math.pi / 120.0, rel=1e-12)
    with pytest.raises(ValueError, match="open"):
        measure.hull_volume(still([[1.0, 1, 1]], walls=walls[:1], cell=slot))
    drum = Wall("drum", Cylinder(np.zeros(3), np.array([0.0, 0, 1]), 3.0, True, math.inf))
    frame = still([[0.0, 0, 0]], walls=[drum], cell=Cell(7.0 * np.eye(3), periodic=[False, False, True]))
    assert measure.hull_volume(frame) == pytest.approx(math.pi * 9.0 * 7.0, rel=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_of_lattices(dimension):
    """Every contact pushes with f: sigma = 1/V sum 2 f n n, with z/2 contacts per grain of volume V_0."""
    cell, position = leaning(dimension, 3)
    frame = pressed(position, cell, 1.7, dimension=dimension)
    z = {2: 6, 3: 12}[dimension]
    volume = {2: 2.0 * ROOT, 3: 4.0 * math.sqrt(2.0)}[dimension]
    found = measure.stress(frame)
    np.testing.assert_allclose(found.total, z * 1.7 / (dimension * volume) * np.eye(dimension), atol=1e-12)
    np.testing.assert_allclose(measure.fabric(frame), np.eye(dimension) / dimension, atol=1e-13)
    np.testing.assert_allclose(measure.boundary_stress(frame), found.contact, atol=1e-12)
    z_found = measure.coordination(frame)
    assert (z_found.z, z_found.z_all, z_found.rattlers) == (z, z, 0.0)
    each = measure.grain_stress(frame)
    np.testing.assert_allclose(each.contact * DENSEST[dimension], [found.contact] * len(position), atol=1e-12)
    slabs = measure.profile(frame, "y", 4)
    np.testing.assert_allclose(slabs.stress.mean(axis=0), found.total, atol=1e-12)


def test_rattlers_through_faces():
    """A ring of grains closed through a face is no rattler; a grain that touches nothing is."""
    position = np.array([[1.0, 1, 0], [3.0, 1, 0], [5.0, 1, 0], [3.0, 4, 0]])
    cell = Cell(np.diag([6.0, 7.0, 1.0]), periodic=[True, True, False])
    found = measure.coordination(pressed(position, cell, dimension=2, mu=0.3))
    assert found.backbone.tolist() == [True, True, True, False]
    assert found.z == 2.0
    assert found.contacts == 3


def gas(dimension, cell, *, walls=(), n=60, seed=2):
    """A dense gas whose grains meet through faces."""
    rng = np.random.default_rng(seed)
    steps = int(np.ceil(n ** (1.0 / dimension)))
    share = np.array(list(product(range(steps), repeat=dimension)))[:n] / steps + 0.5 / steps
    position = cell.origin + np.pad(share, ((0, 0), (0, 3 - dimension))) @ cell.vectors
    velocity = rng.normal(size=(n, 3)) * ([3.0, 3.0, 3.0] if dimension == 3 else [3.0, 3.0, 0.0])
    return grains(
        position, rng.uniform(0.5, 0.7, n), rng.uniform(1.0, 2.0, n), dimension=dimension, velocity=velocity,
        friction=0.4, cell=cell, walls=list(walls),
    )  # fmt: skip


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_from_outside_in_motion(dimension, closed):
    """What passes through faces and walls, and accelerations: the contact stress at every step, to rounding."""
    edge = 12.0 if dimension == 2 else 6.5
    periodic = [True, not closed, dimension == 3]
    walls = [plane([0, 0, 0], [0, 1, 0], "floor"), plane([0, edge, 0], [0, -1, 0], "lid")] if closed else []
    cell = Cell(np.diag([edge, edge, edge if dimension == 3 else 1.0]), periodic=periodic)
    simulation = Simulation(gas(dimension, cell, walls=walls), dt=0.02)
    most = 0.0
    for _ in range(40):
        simulation.step()
        frame = measure.of(simulation)
        contact = measure.stress(frame).contact
        most = max(most, np.abs(contact).max())
        np.testing.assert_allclose(measure.boundary_stress(frame), contact, atol=1e-10 * most)
        assert abs(measure.energy_budget(frame).error) < 1e-11 * measure.energy(frame).kinetic
    assert most > 0.1
    assert np.abs(simulation.bodies.image).max() > 0


def test_stress_against_a_piston_across_a_cell():
    """Periodic sideways, between a floor and a piston: at rest sigma_yy is the load over the width, at any height."""
    width, load = 8.0, 3.0
    position = [[2.0 * k + (row % 2), 1.0 + ROOT * row, 0.0] for row in range(4) for k in range(4)]
    top = 2.0 + 3.0 * ROOT
    walls = [plane([0, 0, 0], [0, 1, 0]), plane([0, top, 0], [0, -1, 0], "lid", mass=2.0, load=load)]
    cell = Cell(np.diag([width, 20.0, 1.0]), periodic=[True, False, False])
    bodies = grains(position, dimension=2, friction=0.5, walls=walls, cell=cell)
    simulation = Simulation(bodies, dt=1e-3, solver=exact())
    for _ in range(5):
        simulation.step()
    frame = measure.of(simulation)
    assert frame.wall_force[1, 1] == pytest.approx(load, rel=1e-6)
    assert measure.stress(frame).total[1, 1] == pytest.approx(load / width, rel=1e-6)
    np.testing.assert_allclose(measure.boundary_stress(frame), measure.stress(frame).contact, atol=1e-9)


def test_a_gas_that_flows_with_its_cell():
    """c around v = L (x - origin): temperature, kinetic stress and rate know nothing of the flow."""
    rng, n, gamma = np.random.default_rng(8), 400, 3.0
    vectors = np.array([[9.0, 0, 0], [2.5, 8.0, 0], [0.5, -1.0, 7.0]])
    cell = Cell(vectors, [1.0, -2.0, 3.0])
    position = cell.origin + rng.uniform(-0.2, 1.2, (n, 3)) @ vectors
    c = rng.normal(size=(n, 3))
    rate = np.array([[0.1, gamma, -0.4], [0.0, -0.3, 0.2], [0.0, 0.0, 0.5]])
    frame = still(position, 0.2, velocity=c + (position - cell.origin) @ rate.T, mass=1.5, cell=cell)
    frame.cell_rate = rate
    rest = still(position, 0.2, velocity=c, mass=1.5, cell=cell)
    about = c - c.mean(axis=0)
    warm = (about**2).sum() / (3.0 * n)
    assert measure.temperature(frame) == pytest.approx(warm, rel=1e-12)
    np.testing.assert_allclose(measure.stress(frame).kinetic, 1.5 * about.T @ about / (9.0 * 8.0 * 7.0), rtol=1e-11)
    assert measure.shear_rate(frame) == gamma
    flow = measure.mean_flow(frame, "x", 4) - measure.mean_flow(rest, "x", 4)
    np.testing.assert_allclose(flow, (position - cell.origin) @ rate.T, atol=1e-12)
    for axis in "xyz":
        found, still_found = (measure.profile(which, axis, 6) for which in (frame, rest))
        np.testing.assert_allclose(found.temperature, still_found.temperature, rtol=1e-11)
        np.testing.assert_allclose(found.stress, still_found.stress, rtol=1e-9, atol=1e-12)
    pressure = measure.stress(frame).total[1, 1]
    density = 1.5 / (4.0 / 3.0 * math.pi * 0.2**3)
    assert measure.inertial_number(frame) == pytest.approx(gamma * 0.4 * math.sqrt(density / pressure))


def test_velocity_profile_of_a_sheared_lattice():
    """Images have velocities of their own: slabs are those of the explicit lattice in v = L x."""
    rate = np.zeros((3, 3))
    rate[0, 1], rate[1, 1] = 2.0, -0.3
    cell, position = Cell(np.array(FCC)), np.array(FCC_SITES) @ FCC + [0.0, 0.4, 0.0]
    frame = still(position, velocity=position @ rate.T, cell=cell)
    frame.cell_rate = rate
    many = lattice(FCC, 3, FCC_SITES) + np.array([0.0, 0.4, 0.0])
    box = measure.Box([0.0] * 3, np.diag(FCC))
    found = measure.profile(frame, "y", 5)
    explicit = measure.profile(still(many, velocity=many @ rate.T), "y", 5, box=box, flow=many @ rate.T)
    np.testing.assert_allclose(found.velocity, explicit.velocity, atol=1e-12)
    np.testing.assert_allclose(found.packing, explicit.packing, atol=1e-12)
    np.testing.assert_allclose(found.temperature, 0.0, atol=1e-24)


SHEAR = np.array([[0.0, 1.0, 0.0], [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("isotropic", [True, False])
@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_cell_under_stress_carries_it(dimension, isotropic):
    """A lattice at rest in a cell under pressure: contact and kinetic stress are the prescribed one, by either way."""
    cell, position = leaning(dimension, 3)
    sides = np.diag([True, True, dimension == 3])
    cell = Cell(cell.vectors, cell.origin, cell.periodic, free=sides, stress=7.0 * sides, isotropic=isotropic)
    simulation = Simulation(grains(position, dimension=dimension, cell=cell), dt=1e-3, solver=exact())
    simulation.run(steps=4)
    frame = measure.of(simulation)
    assert measure.stress(frame).pressure == pytest.approx(7.0, rel=1e-6)
    for found in (measure.stress(frame).total, measure.boundary_stress(frame)):
        # an isotropic cell keeps its shape, whatever the shares of its sides
        sides = np.diag(found) if not isotropic else np.full(dimension, np.trace(found) / dimension)
        np.testing.assert_allclose(sides, 7.0, rtol=1e-6)


@pytest.mark.parametrize("control", [
    {"rate": 0.7 * SHEAR},
    {"rate": np.diag([-0.3, -0.2, -0.1]) + 0.4 * SHEAR},
    {"free": np.eye(3) > 0, "stress": 40.0 * np.eye(3), "isotropic": True, "inertia": 0.25},
    {"rate": 0.7 * SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 40.0, 0])},
])  # fmt: skip
def test_balances_in_a_cell_that_deforms(control):
    """Contact stress from outside, and the energy with the work of the cell, to rounding at every step."""
    vectors = np.array([[7.0, 0, 0], [2.5, 6.5, 0], [-3.0, 2.0, 6.5]])
    cell = Cell(vectors, [1.0, 0.0, -2.0], **control)
    simulation = Simulation(gas(3, cell), dt=0.005)
    met, worked, before = 0.0, 0.0, None
    for _ in range(40):
        simulation.step()
        frame = measure.of(simulation)
        contact, budget, energy = measure.stress(frame).contact, measure.energy_budget(frame), measure.energy(frame)
        np.testing.assert_allclose(
            measure.boundary_stress(frame), contact, atol=1e-10 * max(1.0, np.abs(contact).max())
        )
        assert abs(budget.error) < 1e-11 * energy.kinetic
        assert before is None or budget.kinetic == pytest.approx(energy.kinetic - before, abs=1e-10 * energy.kinetic)
        before = energy.kinetic
        met, worked = max(met, np.abs(contact).max()), worked + budget.cell
    assert met > 1.0
    assert worked != 0.0


def test_work_of_a_slow_flow_is_that_of_the_stress():
    """-V sigma:L dt, with the stress that is measured, as exactly as velocities change little within a step."""
    cell = Cell(np.diag([12.0, 12.0, 1.0]), periodic=[True, True, False], rate=0.5 * SHEAR)
    simulation = Simulation(gas(2, cell), dt=1e-4)
    simulation.run(steps=3)
    frame = measure.of(simulation)
    volume, sigma = measure.hull_volume(frame), measure.stress(frame, flow=affine_flow(frame))
    assert sigma.contact.any() == 0.0
    expected = -volume * (sigma.total * 0.5 * SHEAR[:2, :2]).sum() * frame.dt
    assert measure.energy_budget(frame).cell == pytest.approx(expected, rel=1e-3)


def test_budget_of_a_rolling_grain():
    """Rolling friction on a belt: what torques take is counted, so that the balance closes."""
    wall = plane([0, 0, 0], [0, 1, 0], drive=Drive(velocity=np.array([1.0, 0, 0])))
    bodies = grains([[0, 1, 0]], gravity=[0, -10, 0], friction=0.5, walls=[wall], spin=[[0, 2.0, -3.0]],
                    laws=[Rolling(0.1, 0.05)])  # fmt: skip
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    for _ in range(5):
        simulation.step()
        budget = measure.energy_budget(simulation)
        assert abs(budget.error) < 1e-12
        assert budget.contacts > 0.0


@pytest.mark.parametrize("dimension", [2, 3])
def test_pair_correlation_of_random_points(dimension):
    """g = 1 at every distance, up to more than a whole cell, however it leans and whatever side is open."""
    rng, n = np.random.default_rng(4), 300
    vectors = np.array([[4.0, 0, 0], [1.7, 3.0, 0], [-1.0, 1.2, 5.0]])
    if dimension == 2:
        vectors[2] = [0.0, 0.0, 1.0]
    for periodic in ([True, True, dimension == 3], [True, False, False]):
        leans = vectors if periodic[1] else np.diag(np.diag(vectors))
        cell = Cell(leans, [1.0, 0.0, 2.0], periodic)
        total, least = np.zeros(6), np.inf
        for _ in range(4):
            share = rng.random((n, 3)) * ([1, 1, 1] if dimension == 3 else [1, 1, 0])
            frame = still(cell.origin + share @ leans, 1e-9, dimension=dimension, cell=cell)
            found = measure.pair_correlation(frame, reach=4.5, bins=6)
            total += found.g / 4
            least = min(least, found.pairs.min())
        error = 1.0 / math.sqrt(4 * least) + 1.0 / math.sqrt(4 * n)
        assert np.all(np.abs(total - 1.0) < 4.0 * error), total


def test_pair_correlation_of_a_lattice():
    """Shells of the triangular lattice: 6, 6 and 6 neighbours at 2, 2 sqrt 3 and 4, 12 at 2 sqrt 7."""
    cell, position = leaning(2, 5)
    found = measure.pair_correlation(still(position + 0.01, cell=cell, dimension=2), reach=5.5, bins=55)
    at = {20: 6, 34: 6, 40: 6, 52: 12}
    edge = {k: found.edges[k] for k in at}
    assert edge[20] == pytest.approx(2.0)
    # 2 and 4 lie on edges of bins: rounding may put them on either side
    near = {k: found.pairs[k - 1] + found.pairs[k] for k in at}
    assert near == {k: 25 * many // 2 for k, many in at.items()}
    assert found.pairs.sum() == 25 * 30 // 2


def test_displacement_about_the_flow():
    """Grains that go with a cell do not move about its flow, however it is sheared, compressed and straightened."""
    rate = np.array([[-0.1, 0.9, 0.0], [0, 0.05, 0], [0, 0, 0]])
    cell = Cell(np.array([[12.0, 0, 0], [2.0, 10.0, 0], [0, 0, 1]]), [1.0, 2.0, 0.0], [True, True, False], rate=rate)
    bodies = grains([[2.0, 3, 0], [9.0, 8, 0]], 0.1, dimension=2, cell=cell)
    simulation, frames = Simulation(bodies, dt=0.01), [measure.of(Simulation(bodies, dt=0.01))]
    for _ in range(8):
        simulation.run(steps=50)
        frames.append(measure.of(simulation))
    leans = [frame.cell[1, 0] for frame in frames]
    assert (np.diff(leans) < -5.0).sum() >= 1  # straightened
    total = measure.mean_squared_displacement(frames)
    assert total.squared[-1] > 10.0
    np.testing.assert_allclose(measure.mean_squared_displacement(frames, affine=False).squared, 0.0, atol=1e-20)
    gradient = np.linalg.matrix_power(np.eye(3) + 0.01 * rate, 400)
    start = np.array([[1.0, 1, 0], [8.0, 6, 0]])
    way = start @ (gradient - np.eye(3)).T
    assert total.squared[-1] == pytest.approx((way**2).sum() / 2.0, rel=1e-10)


def test_displacement_through_faces():
    """Straight flight through many faces: v^2 t^2; grains are known by their ids."""
    v = np.array([[3.0, 1.0, 0.0], [-2.0, 4.0, 0.0], [0.5, -6.0, 0.0]])
    cell = Cell(np.diag([20.0, 20.0, 1.0]), periodic=[True, True, False])
    bodies = grains([[1.0, 1, 0], [9.0, 9, 0], [15.0, 15, 0]], 1e-6, dimension=2, velocity=v, cell=cell)
    simulation, frames = Simulation(bodies, dt=0.1), []
    for _ in range(5):
        simulation.run(steps=50)
        frames.append(measure.of(simulation))
    assert np.abs(bodies.image).max() > 2
    found = measure.mean_squared_displacement(frames)
    np.testing.assert_allclose(found.squared, (v**2).sum() / 3.0 * found.time**2, atol=1e-9)
    x = np.array([[0.0, 0, 0], [5.0, 0, 0]])
    came = [still(x, ids=[4, 7]), still([[9.0, 0, 0], [5.0, 2, 0], [0, 0, 0]], ids=[9, 7, 4], time=1.0)]
    assert measure.mean_squared_displacement(came).squared[1] == pytest.approx(2.0)
    with pytest.raises(ValueError, match="in common"):
        measure.mean_squared_displacement([still(x, ids=[1, 2]), still(x, ids=[3, 4], time=1.0)])
