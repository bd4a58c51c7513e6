"""What must not happen: grains that sink into drums, blows that go unseen, one fast grain that slows all others."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.builders import UP, column, exact, grains, plane, triangular

from rigidgrains import (
    Bodies,
    FixedSweeps,
    Frame,
    LocalCriterion,
    Observer,
    Progress,
    Simulation,
    StopWhenStatic,
    Sweeps,
)
from rigidgrains.certificate import check
from rigidgrains.model.shapes import Cylinder, Plate
from rigidgrains.model.walls import Drive, Wall

OUT = np.array([0.0, 0.0, 1.0])


def drum(spin: float, radius: float = 10.0, **rest: object) -> Wall:
    shape = Cylinder(np.zeros(3), OUT.copy(), radius, True, math.inf)
    return Wall("drum", shape, drive=Drive(spin=spin * OUT), **rest)


@pytest.mark.slow
def test_a_grain_does_not_sink_into_a_drum():
    """Carried round by a drum, each chord ends (rho/2)(Omega dt)^2 beyond the circle: 0.9 radii in 8 turns, unless
    the gap to be closed knows of it."""
    bodies = grains(
        [[9.0, 0, 0]], velocity=[[0, 9.0, 0]], spin=np.array([[0, 0, 1.0]]), friction=0.5, walls=[drum(1.0)]
    )
    simulation = Simulation(bodies, dt=0.005, solver="sweeps")  # one contact: one sweep
    simulation.run(until=8 * 2 * math.pi)
    assert np.hypot(*bodies.position[0, :2]) == pytest.approx(9.0, abs=1e-3)
    assert np.linalg.norm(bodies.velocity[0]) == pytest.approx(9.0, rel=1e-3)


def test_a_grain_in_a_smooth_bowl_keeps_its_energy():
    """A frictionless pendulum: v^2/2 + g h stays within the first order of dt, and does not drift."""
    g, dt = 10.0, 1e-3
    bodies = grains([[9.0, 0, 0]], gravity=[0, -g, 0], walls=[drum(0.0)])
    simulation = Simulation(bodies, dt=dt, solver="sweeps")
    energy = []
    simulation.observe(lambda sim: energy.append(0.5 * (bodies.velocity[0] ** 2).sum() + g * bodies.position[0, 1]))
    simulation.run(until=9.0)
    assert np.abs(energy).max() < 5e-3 * g * 9.0
    assert abs(np.mean(energy[-4000:])) < 2e-3 * g * 9.0


def test_a_blow_is_seen_by_layers_behind_the_first():
    """A ram drives rows of disks with small gaps together: no pair closes unseen within the step."""
    position = [[2.005 * k, 2.0 * math.sqrt(3) * j, 0] for k in range(1, 12) for j in range(3)]
    ram = Wall("ram", plane([0.98, 0, 0], [1.0, 0, 0], "ram").shape, drive=Drive(velocity=np.array([5.0, 0, 0])))
    bodies = grains(position, 1.0, walls=[ram])
    simulation = Simulation(bodies, dt=0.01, solver=Sweeps(criterion=LocalCriterion(1e-8)))  # v dt = 0.05 r
    report = simulation.run(steps=60)
    assert report.max_overlap_of_run < 1e-4


def test_one_fast_grain_does_not_widen_the_lists_of_others():
    flyer = [[1e3, 1e3, 0.0]]
    base = triangular(12, 12)
    lists = {}
    for speed in (0.0, 1e4):
        position = np.vstack([base.position, flyer])
        velocity = np.zeros_like(position)
        velocity[-1, 0] = speed
        simulation = Simulation(grains(position, 1.0, velocity=velocity), dt=0.01)
        simulation.run(steps=2)
        lists[speed] = len(simulation.neighbours.pairs.partner)
    assert lists[1e4] == lists[0.0]


def test_a_light_piston_does_not_widen_the_lists():
    """A load of 10 on 1e-6 would carry it 1000 diameters away in a step, were it not held by the grains."""
    lists = {}
    for mass in (1.0, 1e-6):
        bodies = triangular(8, 8)
        piston = bodies.walls[[wall.guided for wall in bodies.walls].index(True)]
        piston.mass = mass
        row = bodies.count + bodies.walls.index(piston)
        bodies.motion[row, 6:8] = 1.0 / mass, -1.0 / mass
        simulation = Simulation(bodies, dt=0.01, solver=Sweeps(max_sweeps=50))
        simulation.run(steps=3)
        lists[mass] = len(simulation.neighbours.pairs.partner)
    assert lists[1e-6] == lists[1.0]


def test_a_turning_plate_does_not_pass_through_a_grain():
    """A smooth arm flings a grain outwards along itself: the grain stays before it."""
    arm = Wall("arm", Plate(np.zeros(3), UP, np.array([1.0, 0, 0]), (200.0, 1.0)), drive=Drive(spin=1.0 * OUT))
    bodies = grains([[5.0, 1.0, 0]], friction=0.0, walls=[arm])
    Simulation(bodies, dt=0.005).run(until=2.0)
    gap, _ = arm.shape.gaps(np.zeros(1, np.int32), bodies.position, bodies.radius)
    assert -1e-3 < gap[0] < 1e-2
    assert np.linalg.norm(bodies.position[0]) > 15.0  # r = 5 cosh(t) = 18.8


def test_a_solver_may_serve_two_threads():
    """The same bits as one after the other."""
    solver = Sweeps(criterion=FixedSweeps(30))

    def work(n: int) -> Simulation:
        return Simulation(column(n), dt=0.01, solver=solver)

    expected = {}
    for n in (3, 40):
        simulation = work(n)
        simulation.run(steps=50)
        expected[n] = simulation.bodies.motion.tobytes()
    found: dict[int, bytes] = {}

    def run(n: int) -> None:
        simulation = work(n)
        simulation.run(steps=50)
        found[n] = simulation.bodies.motion.tobytes()

    threads = [threading.Thread(target=run, args=(n,)) for n in (3, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_time_step_may_change_between_steps():
    """The past stays: 10 steps of 0.01 and 5 of 0.02 make 0.2."""
    simulation = Simulation(column(2), dt=0.01)
    simulation.run(steps=10)
    simulation.dt = 0.02
    assert simulation.time == pytest.approx(0.1)
    simulation.run(until=0.2)
    assert (simulation.steps, simulation.time) == (15, pytest.approx(0.2))
    with pytest.raises(ValueError, match=r"dt = -0\.1 is no time step"):
        simulation.dt = -0.1


def test_grains_about_to_fall_are_not_at_rest():
    """One on the floor, one high above: slow at first, but static only in the end; and asked anew in each run."""
    bodies = grains([[0, 1.0, 0], [0, 50.0, 0]], gravity=[0, -10.0, 0], walls=[plane([0, 0, 0], UP)])
    simulation = Simulation(bodies, dt=1e-4).observe(StopWhenStatic(speed=0.02))
    assert simulation.run(steps=100).stopped == ""
    resting = Simulation(column(2), dt=1e-3).observe(StopWhenStatic(speed=1e-3))
    first = resting.run(steps=1000)
    assert "static" in first.stopped
    steps = first.steps
    assert resting.run(steps=1000).steps >= steps + 10


class Loud(Observer):
    """Fails at one of the three calls, and notes what it was asked."""

    def __init__(self, at: str) -> None:
        self.at, self.heard = at, []

    def start(self, simulation: Simulation, steps: int) -> None:
        self._say("start")

    def look(self, simulation: Simulation) -> None:
        self._say("look")

    def finish(self, simulation: Simulation) -> None:
        self._say("finish")

    def _say(self, word: str) -> None:
        self.heard.append(word)
        if self.at == word:
            raise RuntimeError(word)


@pytest.mark.parametrize("at", ["start", "look", "finish"])
def test_every_observer_is_finished_whatever_happens_to_another(at):
    quiet, loud, last = Loud("never"), Loud(at), Loud("never")
    simulation = Simulation(column(2), dt=0.01).observe(quiet).observe(loud).observe(last)
    with pytest.raises(RuntimeError, match=at):
        simulation.run(steps=1)
    assert quiet.heard[-1] == "finish"
    assert ("finish" in last.heard) == (at != "start")


def test_a_simulation_can_be_copied_and_stored():
    """Both go on to the same bits."""
    simulation = Simulation(triangular(4, 4, mu=0.3), dt=0.01).observe(Progress())
    simulation.run(steps=5)
    twin, stored = copy.deepcopy(simulation), pickle.loads(pickle.dumps(simulation))
    for each in (simulation, twin, stored):
        each.run(steps=5)
    assert simulation.bodies.motion.tobytes() == twin.bodies.motion.tobytes() == stored.bodies.motion.tobytes()


@pytest.mark.parametrize("setting", [{"HOME": "/nonexistent", "XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "/proc/none"}])
def test_kernels_compile_where_nothing_can_be_written(tmp_path, setting):
    """A private folder takes the place of the package folder and the home folder."""
    code = "import os\nimport rigidgrains.runtime.compiled as c\nprint(os.environ.get('NUMBA_CACHE_DIR', ''))"
    check = "import tempfile, pathlib\n" + (
        "real = tempfile.TemporaryFile\n"
        "def refuse(*a, dir=None, **k):\n"
        "    raise OSError('read-only')\n"
        "tempfile.TemporaryFile = refuse\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | setting | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", check + code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == tmp_path


def _struck_piston() -> Bodies:
    """A heavy lid carries the grain that it touches, 0.4 r in the step, into one that was out of reach."""
    lid = plane([0, 2.0, 0], -UP, "lid", mass=10.0)
    bodies = grains([[0, 1, 0], [0, -1.2, 0]], 1.0, 0.1, dimension=2, walls=[lid])
    bodies.motion[2, 1] = -40.0
    return bodies


def _struck_grain() -> Bodies:
    """A heavy grain throws a light one, 0.4 r in the step, into a third that was out of reach."""
    bodies = grains([[0, 0, 0], [2.0, 0, 0], [4.25, 0, 0]], 1.0, [100.0, 1.0, 1.0], dimension=2)
    bodies.motion[0, 0] = 40.0
    return bodies


def _gliding_grain() -> Bodies:
    """A grain glides along a drum, near it but no candidate by its approach; the chord of the step ends beyond it."""
    drum = Wall("drum", Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 6.0, True, np.inf))
    bodies = grains([[0, -5 + 1.5e-3, 0]], 1.0, 1.0, dimension=2, walls=[drum])
    bodies.motion[0, 0] = 20.0
    return bodies


@pytest.mark.parametrize("world", [_struck_piston, _struck_grain, _gliding_grain])
def test_a_large_step_overlooks_no_contact(world):
    """The solved motion reaches further than the lists were made for; the certificate looks at all pairs by itself."""
    simulation = Simulation(world(), dt=1e-2, solver=exact())
    simulation.step()
    certificate = check(Frame.of(simulation))
    assert certificate.passed, certificate
