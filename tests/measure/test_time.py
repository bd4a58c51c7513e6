"""Flow, energy, correlations and blocking, over runs and files."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import column, floor, grains, settle, triangular
from support.frames import FEW, INF, cube, falling, still, tumult

from rigidgrains import Simulation, Trajectory, TrajectoryWriter, measure, resume
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall


@FEW
@given(bins=st.integers(1, 9), rate=st.floats(-5.0, 5.0), seed=st.integers(0, 99))
def test_a_linear_flow_is_cold(bins, rate, seed):
    """Simple shear, uniform drift and expansion: no temperature, whatever the bins, and the shear rate is found."""
    rng = np.random.default_rng(seed)
    position = rng.random((60, 3)) * 10.0
    velocity = np.stack([rate * position[:, 1] + 4.0, -2.0 * position[:, 1], 1.0 + 0.0 * position[:, 1]], axis=1)
    frame = still(position, 0.2, velocity=velocity, mass=rng.random(60) + 0.5)
    flow = measure.mean_flow(frame, "y", bins)
    np.testing.assert_allclose(flow, velocity, atol=1e-11)
    assert measure.temperature(frame, flow=flow) < 1e-20
    assert measure.shear_rate(frame) == pytest.approx(rate, abs=1e-12)
    found = measure.profile(frame, "y", bins)
    np.testing.assert_allclose(found.temperature[np.isfinite(found.temperature)], 0.0, atol=1e-20)
    np.testing.assert_allclose(found.stress, 0.0, atol=1e-18)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_flow_in_any_unit(unit):
    """Grains of picometres or of planets: the shear within a bin is found, a layer at one height has none."""
    rng = np.random.default_rng(4)
    position = rng.random((60, 3)) * 10.0
    velocity = np.stack([3.0 * position[:, 1], *np.zeros((2, 60))], axis=1)
    frame = still(unit * position, 0.2 * unit, velocity=velocity, mass=np.full(60, unit**3))
    np.testing.assert_allclose(measure.mean_flow(frame, "y", 2), frame.velocity, rtol=1e-12, atol=1e-12)
    flat = still(unit * np.array([[1.0, 1.0, 1.0], [4.0, 1.0, 1.0]]), 0.2 * unit, velocity=[[1, 0, 0], [3, 0, 0]])
    np.testing.assert_array_equal(measure.mean_flow(flat, "y", 1), [[2, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize("dimension", [2, 3])
def test_temperature_of_an_ideal_gas(dimension):
    """Velocities of variance T about a shear flow; the estimate scatters by T sqrt(2/(d N))."""
    rng, n, heat = np.random.default_rng(2), 20_000, 0.7
    position, velocity = rng.random((n, 3)) * 50.0, rng.normal(size=(n, 3)) * math.sqrt(heat)
    if dimension == 2:
        position[:, 2] = velocity[:, 2] = 0.0
    frame = still(position, 0.1, dimension=dimension, velocity=velocity + 3.0 * position[:, 1:2] * [1.0, 0.0, 0.0])
    bins = 10
    found = measure.temperature(frame, flow=measure.mean_flow(frame, "y", bins))
    assert abs(found / (1.0 - 2.0 * bins / n) - heat) < 4.0 * heat * math.sqrt(2.0 / (dimension * n))
    each = measure.profile(frame, "y", bins).temperature
    np.testing.assert_allclose(each, heat, atol=5.0 * heat * math.sqrt(2.0 * bins / (dimension * n)))
    assert measure.temperature(still([[0, 0, 0], [9, 0, 0]], velocity=[[1, 0, 0], [-1, 0, 0]])) == pytest.approx(1 / 3)


def test_profile_by_slabs():
    """Layers at known velocities: a slab within a layer has its velocity, one astride the mean, by volume."""
    position = [[2.0 * x + 1.0, 2.0 * y + 1.0, 0.0] for y in range(3) for x in range(4)]
    speed = np.repeat([0.0, 1.0, 5.0], 4)
    frame = still(position, dimension=2, velocity=speed[:, None] * [1.0, 0.0, 0.0])
    found = measure.profile(frame, "y", np.array([0.0, 2.0, 3.0, 5.0, 6.0, 7.0]))
    np.testing.assert_allclose(found.packing, [math.pi / 4] * 4 + [0.0], rtol=1e-14)
    np.testing.assert_allclose(found.velocity[:, 0], [0.0, 1.0, 3.0, 5.0, np.nan], rtol=1e-13)
    with pytest.raises(ValueError, match="rising"):
        measure.profile(frame, "y", np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="no axis in 2D"):
        measure.profile(frame, "z")
    with pytest.raises(ValueError, match="1 or more"):
        measure.packing_profile(frame, "y", 0)


def test_stress_profile_of_a_column():
    """Slabs of one grain each, in a column of unit width: the stress of that grain over the slab."""
    n, m, g = 5, 2.0, 10.0
    simulation = settle(column(n, radius=0.5, mass=m, g=g, dimension=2))
    found = measure.profile(simulation, "y", np.arange(n + 1.0))
    k = n - np.arange(n)
    np.testing.assert_allclose(found.stress[:, 1, 1], 0.5 * m * g * (2 * k - 1), rtol=1e-7)


def test_inertial_number():
    """I = rate d sqrt(rho/P): d = 2, mass 1 on area pi, P = 4, rate 3."""
    position = [[3.0 * x, 3.0 * y, 0.0] for x in range(3) for y in range(3)]
    frame = still(position, dimension=2, velocity=[[3.0 * p[1], 0.0, 0.0] for p in position])
    found = measure.inertial_number(frame, pressure=4.0)
    assert found == pytest.approx(3.0 * 2.0 * math.sqrt(1.0 / math.pi / 4.0))
    assert measure.inertial_number(frame, pressure=4.0, rate=-6.0) == pytest.approx(2.0 * found)
    simulation = settle(cube([36.0, 72.0, 18.0]))
    expected = 2.0 * math.sqrt(3.0 / (4.0 * math.pi) / 2.0)  # the piston along y presses with 72/36
    assert measure.inertial_number(simulation, rate=1.0) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dimension", [2, 3])
def test_energy_closes_in_tumult(dimension):
    """Change of kinetic energy = work - dissipation to rounding; works are what the potential energy loses."""
    frames = tumult(dimension)
    assert any(measure.energy_budget(frame).walls for frame in frames)
    for last, frame in pairwise(frames):
        found, before, now = measure.energy_budget(frame), measure.energy(last), measure.energy(frame)
        scale = now.kinetic + before.kinetic + abs(found.work) + found.shocks
        assert abs(found.error) < 1e-12 * scale
        assert found.kinetic == pytest.approx(now.kinetic - before.kinetic, abs=1e-12 * scale)
        assert found.gravity + found.forces == pytest.approx(before.potential - now.potential, abs=1e-11 * scale)
        assert found.dissipated > 0.0
        assert now.total - before.total == pytest.approx(
            found.walls + found.returned - found.dissipated, abs=1e-11 * scale
        )
    whole = measure.total_budget(frames)
    change = measure.energy(frames[-1]).kinetic - measure.energy(frames[0]).kinetic
    assert whole.kinetic == pytest.approx(change, rel=1e-12)
    assert whole.work + whole.returned - whole.dissipated == pytest.approx(change, rel=1e-12)
    assert whole.dt == pytest.approx(0.08)
    with pytest.raises(ValueError, match="no frame of step 1"):
        measure.total_budget(frames[::2])


def test_energy_of_pistons_and_drums():
    simulation = Simulation(triangular(3, 4, mu=0.3, load=20.0, g=2.0), dt=0.01)
    simulation.bodies.velocity[:, 0] = 1.0
    turning = Wall(
        "drum",
        Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 5.0, True, INF),
        drive=Drive(spin=np.array([0.0, 0.0, 2.0])),
    )
    drum = grains([0, -4, 0], dimension=2, friction=0.5, gravity=[0, -10, 0], walls=[turning])
    for run in (simulation, Simulation(drum, dt=0.01)):
        for _ in range(5):
            last = measure.energy(run)
            run.step()
            found, now = measure.energy_budget(run), measure.energy(run)
            scale = now.kinetic + last.kinetic + abs(found.work) + found.shocks + abs(found.contacts)
            assert abs(found.error) < 1e-12 * scale
            assert now.potential - last.potential == pytest.approx(-found.gravity - found.loads, abs=1e-12)
    assert found.walls > 0.0  # the drum drags the disk along


def test_energy_of_free_fall_and_of_a_blow():
    m, g, dt = 2.0, 10.0, 0.1
    run = Simulation(grains([0, 9, 0], mass=m, gravity=[0, -g, 0]), dt=dt)
    assert measure.energy_budget(run).work == 0.0
    run.step()
    found = measure.energy_budget(run)
    assert found.shocks == pytest.approx(0.5 * m * (g * dt) ** 2)
    assert found.gravity == pytest.approx(m * g * (g * dt) * dt)
    assert found.power["gravity"] == pytest.approx(m * g * g * dt)
    assert measure.energy(run).potential == pytest.approx(m * g * (9.0 - g * dt * dt))
    # two equal grains head on: all of m v^2 is lost, half of it in the jumps of the velocities
    blow = settle(grains([[-1, 0, 0], [1, 0, 0]], mass=m, velocity=[[3, 0, 0], [-3, 0, 0]]))
    found = measure.energy_budget(blow)
    assert found.kinetic == pytest.approx(-m * 9.0)
    assert found.dissipated == pytest.approx(m * 9.0)


def test_energy_of_sliding():
    """A disk that slides on the floor loses mu m g times the way of its surface."""
    m, g, mu, v, dt = 2.0, 10.0, 0.2, 3.0, 0.01
    run = settle(
        grains([0, 1, 0], mass=m, dimension=2, velocity=[[v, 0, 0]], friction=mu, gravity=[0, -g, 0], walls=[floor()]),
        dt,
    )
    slip = v - 3.0 * mu * g * dt  # v - mu g dt less what the spin has gained, 2 mu g dt
    assert measure.energy_budget(run).contacts == pytest.approx(mu * m * g * slip * dt)
    energy = measure.energy(run)
    assert energy.rotation == pytest.approx(0.5 * 0.5 * m * (2.0 * mu * g * dt) ** 2)
    assert energy.translation == pytest.approx(0.5 * m * (v - mu * g * dt) ** 2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_pair_correlation_of_random_points(dimension):
    """g = 1 at every distance, even where most of a shell is outside of the box."""
    rng, n = np.random.default_rng(4), 1500
    size = np.array([10.0, 6.0, 4.0][:dimension])
    position = np.zeros((n, 3))
    position[:, :dimension] = rng.random((n, dimension)) * size
    box = measure.Box(np.zeros(dimension), size)
    found = measure.pair_correlation(still(position, 0.01, dimension=dimension), reach=5.0, bins=8, box=box)
    # pairs that share a point are correlated through the edges: add their part of the scatter to the counting error
    error = 1.0 / np.sqrt(found.pairs) + 1.0 / math.sqrt(n)
    assert np.all(np.abs(found.g - 1.0) < 4.0 * error)


def test_pair_correlation_of_a_square_lattice():
    """L x L sites: 2 L (L - 1) nearest and 2 (L - 1)^2 second nearest pairs, nothing between."""
    side = 8
    position = [[x, y, 0.0] for x in range(side) for y in range(side)]
    box = measure.Box([-0.5, -0.5], [side - 0.5, side - 0.5])
    found = measure.pair_correlation(still(position, 0.5, dimension=2), reach=1.5, bins=15, box=box)
    np.testing.assert_array_equal(np.flatnonzero(found.pairs), [10, 14])
    assert found.pairs[10] == 2 * side * (side - 1)
    assert found.pairs[14] == 2 * (side - 1) ** 2
    np.testing.assert_allclose(found.centres[[0, 10, 14]], [0.05, 1.05, 1.45])
    assert len(measure.pair_correlation(still(position, 0.5, dimension=2), reach=1.5, box=box).g) == 100  # by default
    with pytest.raises(ValueError, match="larger"):
        measure.pair_correlation(still([0, 0, 0]), reach=1.0)
    with pytest.raises(ValueError, match="no distance"):
        measure.pair_correlation(still([0, 0, 0]), reach=-1.0)


def test_mean_squared_displacement():
    """Straight flight: v^2 t^2; with the drift taken out only what is relative to it."""
    v = np.array([[3.0, 0.0, 4.0], [-1.0, 0.0, 0.0]])
    frames = [still(v * 0.5 * k, 0.1, time=0.5 * k) for k in range(6)]
    found = measure.mean_squared_displacement(frames)
    np.testing.assert_allclose(found.time, 0.5 * np.arange(6))
    np.testing.assert_allclose(found.squared, 0.5 * (25.0 + 1.0) * found.time**2, atol=1e-12)
    np.testing.assert_allclose(found.axes.sum(axis=1), found.squared)
    relative = measure.mean_squared_displacement(frames, drift=False, lags=3)
    np.testing.assert_allclose(relative.squared, (2.0**2 + 2.0**2) * relative.time**2, atol=1e-12)
    uneven = [frames[0], frames[1], frames[4]]
    with pytest.raises(ValueError, match="equal intervals"):
        measure.mean_squared_displacement(uneven)
    first = measure.mean_squared_displacement(uneven, origins="first")
    np.testing.assert_allclose(first.squared, 13.0 * first.time**2)
    with pytest.raises(ValueError, match="'all' or 'first'"):
        measure.mean_squared_displacement(frames, origins="none")


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_blocking_of_an_autoregressive_series(memory):
    """x' = a x + noise: the variance of the mean is s^2/N ((1 + a)/(1 - a)) up to terms of order 1/N^2."""
    n, rng = 2**16, np.random.default_rng(5)
    noise, x = rng.normal(size=n), np.empty(n)
    last = rng.normal() / math.sqrt(1.0 - memory**2)
    for k in range(n):
        last = x[k] = memory * last + noise[k]
    mean, error, blocks = measure.blocking(x)
    exact = math.sqrt((1.0 + memory) / (1.0 - memory) / (1.0 - memory**2) / n)
    scatter = blocks[np.argmin(np.abs(blocks[:, 1] - error)), 2]
    assert abs(error - exact) < 4.0 * scatter
    assert abs(mean) < 4.0 * exact
    assert measure.blocking(x).settled
    np.testing.assert_array_equal(blocks[:, 0], 2.0 ** np.arange(16))


def test_blocking_at_its_limits():
    assert measure.blocking([2.0, 2.0, 2.0])[:2] == (2.0, 0.0)
    drift = measure.blocking(np.arange(64.0))
    assert not drift.settled
    assert drift.error == drift.blocks[:, 1].max()
    with pytest.raises(ValueError, match="2 or more"):
        measure.blocking([1.0])


def height(frame):
    return frame.position[:, 1].max()


def test_measure_over_a_run_and_its_file(tmp_path):
    """The observer and the file give the same rows; a resumed run goes on with the rows it had."""
    path = tmp_path / "run.vtkhdf"
    pick = {"sigma": lambda frame: measure.stress(frame, volume=1.0)}

    def watch(simulation):
        record = measure.Measure(height, measure.coordination, measure.energy_budget, **pick)
        simulation.observe(record, every=2)
        return record

    simulation = Simulation(falling(2), dt=0.02)
    record = watch(simulation)
    simulation.observe(TrajectoryWriter(path), every=2)
    simulation.run(steps=5)
    assert record["step"].tolist() == [2, 4, 5]  # the last one too
    assert record["coordination.backbone"].shape == (3, 40)
    assert record["sigma.contact"].shape == (3, 2, 2)
    np.testing.assert_array_equal(record["sigma.total"], record["sigma.contact"] + record["sigma.kinetic"])
    np.testing.assert_allclose(record["sigma.pressure"], np.trace(record["sigma.total"], axis1=1, axis2=2) / 2.0)
    with pytest.raises(KeyError, match=r"no column is called 'sigma\.nothing'; there are step, time, height"):
        record["sigma.nothing"]
    np.testing.assert_allclose(record["time"], [0.04, 0.08, 0.1])
    with Trajectory(path) as trajectory:
        again = measure.over([frame for frame in trajectory if frame.step], height, measure.coordination, **pick)
    for name in again.names:
        np.testing.assert_array_equal(again[name], record[name])
    resumed = resume(path)
    went_on = watch(resumed)
    assert went_on.names == record.names
    for name in record.names:
        kept = went_on[name]
        assert kept.dtype == record[name].dtype
        np.testing.assert_array_equal(kept, record[name])
    resumed.run(steps=1)
    assert went_on["step"].tolist() == [2, 4, 5, 6]
    assert went_on.blocking("height").blocks.shape == (2, 3)


def test_measure_speaks_up():
    with pytest.raises(ValueError, match="keyword"):
        measure.Measure(lambda frame: 0.0)
    with pytest.raises(ValueError, match="two columns"):
        measure.Measure(height, height=measure.temperature)
    record = measure.Measure(height)
    with pytest.raises(KeyError, match="none yet"):
        record["height"]
    record.add(still([0, 4, 0]))
    assert record["height"].tolist() == [4.0]
    state = json.loads(json.dumps(record.state()))
    with pytest.raises(ValueError, match="same functions"):
        measure.Measure(measure.temperature).restore(state)
    with pytest.raises(TypeError, match="words gave str"):
        measure.over([still([0, 0, 0])], words=lambda frame: "none")


def test_single_precision_and_no_contacts(tmp_path):
    """Files in single precision are measured in double; without contacts, what needs none still works."""
    path = tmp_path / "grains.vtkhdf"
    simulation = Simulation(falling(3), dt=0.02)
    simulation.observe(TrajectoryWriter(path, contacts=False, precision="single"))
    simulation.run(steps=1)
    with Trajectory(path) as trajectory:
        frame = trajectory[-1]
        assert measure.temperature(frame) == pytest.approx(measure.temperature(simulation), rel=1e-5)
        assert np.isfinite(measure.profile(frame, "y", 3).packing).all()
        with pytest.raises(ValueError, match="without contacts"):
            measure.coordination(frame)
