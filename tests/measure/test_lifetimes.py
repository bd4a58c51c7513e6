"""Lifetimes of contacts, stays of grains, tracers, displacement by kind, impacts: cases that are known exactly."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from support.builders import UP, grains, plane
from support.frames import still

import rigidgrains as rg
from rigidgrains import measure

X = np.array([1.0, 0.0, 0.0])


def chain(present, time, ids=None):
    """Four disks in a row; contacts between neighbours that are there carry a force."""
    links = [(k, k + 1, X, X) for k in present]
    return still([[2.0 * k, 0, 0] for k in range(4)], dimension=2, links=links, time=time, ids=ids)


LOOKS = [{0}, {0, 1}, {0, 1, 2}, {1, 2}, {2}, {1}, set()]


def test_lifetimes_of_contacts_that_come_and_go():
    lifetimes = measure.ContactLifetimes()
    record = measure.over([chain(there, 0.5 * k) for k, there in enumerate(LOOKS)], lifetimes)
    # 1 is seen from look 1 to 3, 2 from 2 to 4, 1 once more at look 5; the beginning of 0 was not seen
    assert lifetimes.durations.tolist() == [1.5, 1.5, 0.5]
    assert record["contact_lifetimes.present"].tolist() == [1, 2, 3, 2, 1, 1, 0]
    assert record["contact_lifetimes.begun"].tolist() == [0, 1, 1, 0, 0, 1, 0]
    assert record["contact_lifetimes.ended"].tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert lifetimes.surviving([0.4, 0.5, 1.4, 1.5]) == pytest.approx([1.0, 2 / 3, 2 / 3, 0.0])
    frames = [chain(there, 0.5 * k) for k, there in enumerate(LOOKS)]
    assert measure.contact_lifetime(frames) == pytest.approx(3.5 / 3.0)


def test_contacts_are_known_by_the_ids_of_their_grains():
    """A grain leaves and rows move up: the contact of the others is the same still."""
    lifetimes = measure.ContactLifetimes()
    lifetimes(chain({1}, 0.0, ids=[5, 6, 7, 8]))
    moved = still([[0, 0, 0], [2, 0, 0]], dimension=2, links=[(1, 0, -X, -X)], time=1.0, ids=[6, 7])
    assert lifetimes(moved).ended == 0


def test_beginnings_and_ends_between_looks_cancel_on_average():
    """Contacts of length 1 that begin at any time, seen every 0.3 s."""
    lengths = []
    for begin in np.linspace(0.31, 0.61, 31)[:-1]:
        lifetimes = measure.ContactLifetimes()
        for k in range(8):
            lifetimes(chain({0} if begin <= 0.3 * k < begin + 1.0 else set(), 0.3 * k))
        lengths += lifetimes.durations.tolist()
    assert np.mean(lengths) == pytest.approx(1.0, abs=0.011)


def test_what_is_remembered_goes_through_a_checkpoint(tmp_path):
    frames = [chain(there, 0.5 * k) for k, there in enumerate(LOOKS)]
    whole, first, second = (measure.Measure(measure.ContactLifetimes(), where=measure.Tracers([2])) for _ in range(3))
    for frame in frames:
        whole.add(frame)
    for frame in frames[:3]:
        first.add(frame)
    second.restore(json.loads(json.dumps(first.state())))
    for frame in frames[3:]:
        second.add(frame)
    assert json.dumps(second.state()) == json.dumps(whole.state())


def test_a_resumed_run_has_the_lifetimes_of_one_that_was_not_parted(tmp_path):
    def start():
        scene = rg.Scene(dimension=2, gravity=[0, -9.81], run={"dt": 1e-3, "seed": 1})
        scene.add_grains(count=12, radius=1e-3, region=[[0, 0], [0.01, 0.02]])
        scene.add_box(lower=[0, 0], upper=[0.01, 0.04], open=["top"])
        return rg.Simulation(scene)

    def observed(simulation):
        record = measure.Measure(measure.ContactLifetimes(), measure.impacts, where=measure.Tracers([3]))
        simulation.observe(record, every=1)
        return record

    straight, parted = start(), start()
    whole = observed(straight)
    straight.run(steps=60)
    observed(parted)
    parted.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=30)
    parted.run(steps=30)
    again = rg.resume(tmp_path / "run.vtkhdf")
    record = observed(again)
    again.run(steps=30)
    assert json.dumps(record.state()) == json.dumps(whole.state())


def test_stays_in_a_box_and_in_the_run():
    """One grain moves by 1 in each look; the box holds 2 <= x <= 4."""
    frames = [still([[float(k), 0, 0], [9.0, 0, 0]], 0.1, dimension=2, time=0.1 * k) for k in range(8)]
    residence = measure.ResidenceTimes(measure.Box((2.0, -1.0), (4.0, 1.0)))
    for frame in frames:
        residence(frame)
    assert residence.durations == pytest.approx([0.3])
    assert measure.residence_time(frames, box=[[2.0, -1.0], [4.0, 1.0]]) == pytest.approx(0.3)
    through = [still([[0.0, 0, 0]], dimension=2, time=float(k), ids=[k // 3]) for k in range(10)]
    assert measure.residence_time(through) == pytest.approx(3.0)
    with pytest.raises(ValueError, match="no stay begins and ends within the frames"):
        measure.residence_time(frames[:2])
    for box, told in ((3, "3 is no box; give Box"), ("ab", "a box has two corners"), (((1, 1), (0, 0)), "swap them")):
        with pytest.raises(ValueError, match=told):
            measure.ResidenceTimes(box)


def test_tracers_follow_ids_and_are_lost():
    frames = [still([[1.0, 0, 0], [2.0, 0, 0]], dimension=2, ids=[4, 7]), still([[5.0, 0, 0]], dimension=2, ids=[7])]
    path = measure.over(frames, measure.Tracers([7, 4]))["tracers"]
    assert path[:, 0, 0].tolist() == [2.0, 5.0]
    assert path[0, 1, 0] == 1.0
    assert np.isnan(path[1, 1]).all()
    picked = measure.Tracers(only={"radius": 1.0})
    picked(frames[0])
    assert picked.ids.tolist() == [4, 7]
    with pytest.raises(ValueError, match="both ids and a selection"):
        measure.Tracers([1], only={"radius": 1.0})
    for which in ([-1], "a", [1.5], [True], [[1]]):
        with pytest.raises(ValueError, match="are no ids of grains; give whole numbers"):
            measure.Tracers(which)


def test_displacement_by_kind():
    """Small grains move by 1 in each frame, the large one by 3."""
    radius = np.array([1.0, 1.0, 2.0])
    way = [1.0, 1.0, 3.0]
    at = [[[w * k, 9.0 * row, 0.0] for row, w in enumerate(way)] for k in range(4)]
    frames = [still(rows, radius, dimension=2, time=float(k)) for k, rows in enumerate(at)]
    small = measure.mean_squared_displacement(frames, only={"radius": 1.0})
    large = measure.mean_squared_displacement(frames, only={"radius": 2.0})
    assert small.squared == pytest.approx([0.0, 1.0, 4.0, 9.0])
    assert large.squared == pytest.approx([0.0, 9.0, 36.0, 81.0])
    drift = measure.mean_squared_displacement(frames, only={"radius": 2.0}, drift=False)  # of all three
    assert drift.squared == pytest.approx([0.0, *((3.0 - 5.0 / 3.0) ** 2 * np.arange(1, 4) ** 2)])
    with pytest.raises(ValueError, match="none of the grains that are meant"):
        measure.mean_squared_displacement(frames, only={"radius": 7.0})


@pytest.mark.parametrize("dimension", [2, 3])
def test_an_impact_of_two_grains_and_of_one_on_a_wall(dimension):
    """Reduced mass and speed along the normal; what slides past the normal does not count."""
    position = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    bodies = grains(position, 1.0, np.array([1.0, 3.0]), dimension=dimension, velocity=[[2.0, 0.5, 0], [-1.0, 0, 0]])
    simulation = rg.Simulation(bodies, dt=1e-3)
    simulation.step()
    found = measure.impacts(simulation)
    assert found.speed == pytest.approx([3.0])
    assert found.energy == pytest.approx([0.5 * 0.75 * 9.0])
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])
    assert found.rate == pytest.approx(1000.0)
    # a central blow without restitution loses all of it
    budget = measure.energy_budget(simulation)
    assert budget.dissipated == pytest.approx(found.total, rel=1e-2)
    floor = [plane([0, 0, 0], UP)]
    falling = grains([[0.0, 1.0, 0.0]], 1.0, np.array([2.0]), dimension=2, velocity=[[1.0, -4.0, 0]], walls=floor)
    simulation = rg.Simulation(falling, dt=1e-3)
    simulation.step()
    found = measure.impacts(simulation)
    assert (found.hardest, found.second.tolist()) == (pytest.approx(0.5 * 2.0 * 16.0), [-1])
    assert measure.impacts(simulation, walls=False).number == 0
    with pytest.raises(ValueError, match="least = -1 is no speed"):
        measure.impacts(simulation, least=-1)


def test_grains_at_rest_do_not_hit():
    scene = rg.Scene(dimension=2, gravity=[0, -9.81], run={"dt": 1e-3})
    scene.add_grains(positions=[[0, 1e-3], [0, 3e-3]], radius=1e-3)
    scene.add_plane("floor", point=[0, 0], normal=[0, 1])
    simulation = rg.Simulation(scene)
    simulation.run(steps=5)
    assert measure.impacts(simulation).number == 0
    assert math.isclose(measure.impacts(simulation).power, 0.0)


@pytest.mark.parametrize("order", [("free", "told"), ("told", "free")])
def test_a_grain_with_prescribed_motion_strikes_as_one_without_end_of_mass(order):
    """With the speed that the step gives it, not with that before."""
    scene = rg.Scene(dimension=2, friction=0, run={"dt": 1e-3})
    at = {"free": (0.0, 0.0), "told": (-0.2001, 0.0)}
    for name in order:
        scene.add_grains(name=name, positions=[at[name]], radius=0.1, density=100.0)
    scene.add_motion("push", grains="told", velocity=("1 + 1000*t", 0))
    simulation = rg.Simulation(scene)
    simulation.step()
    found, mass = measure.impacts(simulation), 100 * math.pi * 0.1**2
    assert found.speed == pytest.approx([1.5], rel=1e-12)
    assert found.energy == pytest.approx([0.5 * mass * 1.5**2], rel=1e-12)


def test_a_turning_plate_strikes_with_the_speed_of_its_surface():
    scene = rg.Scene(dimension=2, friction=0, run={"dt": 1e-3})
    scene.add_grains(positions=[(0.8, 0.1005)], radius=0.1, density=100.0)
    scene.add_plane("blade", point=(0, 0), normal=(0, 1), size=3.0, rotation=2.0)
    simulation = rg.Simulation(scene)
    simulation.step()
    assert measure.impacts(simulation).speed == pytest.approx([1.6], rel=1e-12)
