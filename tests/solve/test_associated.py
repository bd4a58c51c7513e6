"""The associated law: contacts that open as they slide, and when sweeps begin with it and leave it."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace

import numpy as np
import pytest
from support import ROOT
from support.builders import column, prepare, triangular

from rigidgrains import Scene, Simulation, TrajectoryWriter, resume
from rigidgrains.app.bench import dense_problem
from rigidgrains.laws.shock import associated_law, shock_law
from rigidgrains.runtime.threads import get_threads, set_threads, together
from rigidgrains.scene.make_solver import make_solver
from rigidgrains.solve import associated as room
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.associated import AssociatedStart
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion, MomentumCriterion, ResidualCriterion, Verdict
from rigidgrains.solve.extent import extent_of
from rigidgrains.solve.kernels.factory import make_kernels
from rigidgrains.solve.kernels.kinds import FRICTION
from rigidgrains.solve.measures import NOTHING
from rigidgrains.solve.residual import residual, worst_contact
from rigidgrains.solve.virtual_power import momentum_error, powers

DT = 0.01


def looked(lost, gained, slid):
    """What a look has found of powers."""
    return NOTHING._replace(lost=lost, gained=gained, slid=slid)


def test_a_contact_opens_by_mu_times_what_it_slides(rng):
    """From the law's own words: V is what changes the sticking force, R stays in the cone, and R . V = 0."""
    for _ in range(1000):
        stick_n, mu, ratio = rng.normal(), rng.choice([0.05, 0.3, 1.0, 5.0]), rng.uniform(0.5, 4.0)
        stick_t = rng.normal(size=3) * rng.choice([0.1, 1.0])
        r_n, factor = shock_law(associated_law(stick_n, stick_t @ stick_t, mu, ratio), stick_t @ stick_t, mu)
        r_t = factor * stick_t
        v_n, v_t = (r_n - stick_n) / ratio, r_t - stick_t  # dt/m_t = 1
        assert r_n >= 0.0
        assert np.linalg.norm(r_t) <= mu * r_n + 1e-12
        assert v_n >= mu * np.linalg.norm(v_t) - 1e-12  # the dual cone: no closing, and at least what slides
        assert r_n * v_n + r_t @ v_t == pytest.approx(0.0, abs=1e-11)


def test_sticking_and_open_contacts_know_one_law(rng):
    """Opening changes nothing where a contact sticks, and none is pulled back that parts without sliding."""
    for _ in range(100):
        r_n, mu, ratio = rng.exponential(), rng.uniform(0.1, 1.0), rng.uniform(0.5, 4.0)
        within = (rng.uniform(0.0, mu) * r_n) ** 2
        assert associated_law(r_n, within, mu, ratio) == r_n
        assert associated_law(-r_n, 0.0, mu, ratio) <= 0.0


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_lanes_give_the_bits_of_one_contact_after_another(threads):
    _, problem = dense_problem(1000, coloured=True)
    problem.motion[:500, :2] += 0.1  # so that many slide
    by, dt = problem.colouring, problem.dt
    colours = by.shuffled(np.random.default_rng(1))
    motion, forces, closed = problem.motion.copy(), problem.forces.copy(), problem.motion.copy()
    kept = get_threads()
    set_threads(threads)
    try:
        what = by.sequence, by.start, by.alone, by.inner, by.tiles
        for _ in range(5):  # in the order of the first
            rows = colours, *what, *problem.arrays, dt, True
            together(make_kernels(FRICTION).coloured_sweep, threads, *rows)
            single = replace(problem, motion=motion, forces=forces)
            make_kernels(FRICTION).sweep(by.arranged(colours), *single.arrays, dt, True)
    finally:
        set_threads(kept)
    np.testing.assert_array_equal(problem.forces, forces)
    np.testing.assert_array_equal(problem.motion, motion)
    plain = np.zeros_like(forces)
    single = replace(problem, motion=closed, forces=plain)
    for _ in range(5):
        make_kernels(FRICTION).sweep(by.arranged(colours), *single.arrays, dt)
    assert np.abs(plain - forces).max() > 1e-3 * np.abs(forces).max()


def test_what_slides_is_its_sum(rng):
    """mu R_n |V_t| over F^2 dt/M, as the momentum error is."""
    problem = prepare(triangular(5, 5, mu=0.3, g=3.0), DT)
    problem.motion[:20, :2] += 0.1 * rng.standard_normal((20, 2))
    AcceleratedSweeps(criterion=FixedSweeps(3)).solve(problem, rng)
    i, j = problem.pairs.T
    n = problem.geometry[:, :3]
    v = problem.motion[j, :3] - problem.motion[i, :3] - np.cross(problem.motion[i, 3:6] + problem.motion[j, 3:6], n)
    v_t = v - (v * n).sum(axis=1)[:, None] * n
    found = powers(problem)
    assert max(found.lost, found.gained) == momentum_error(problem) > 0.0
    slides = (problem.geometry[:, 6] * problem.forces[:, 0] * np.linalg.norm(v_t, axis=1)).sum()
    normal = problem.forces[:, 0] * ((v * n).sum(axis=1) + problem.geometry[:, 3] / DT)
    sliding = problem.geometry[:, 6] * problem.forces[:, 0] * np.linalg.norm(v_t, axis=1)
    sliding += (problem.forces[:, 1:] * v_t).sum(axis=1)
    gained = np.maximum(normal, 0.0).sum() + np.maximum(sliding, 0.0).sum()
    assert found.slid / found.gained == pytest.approx(slides / gained, rel=1e-9)


def pressed(mu=0.5):
    """Disks on a lattice at rest under a piston: many forces hold them."""
    return prepare(triangular(10, 10, mu=mu, load=30.0, g=3.0), DT)


def begun(problem):
    """Whether sweeps begin with the associated law, where they may."""
    law = AssociatedStart()
    law.begin(problem, extent_of(problem))
    return law.on


def test_it_is_for_packings_at_rest_that_carry_nothing():
    assert begun(pressed())
    assert not begun(pressed(mu=0.0))
    carries, stuck, flows = pressed(), pressed(), pressed()
    carries.forces[3, 0] = 1e-9
    stuck.geometry[5, 6] = math.inf
    flows.motion[:90, 0] += 0.1 * np.random.default_rng(2).standard_normal(90)
    assert not begun(carries)
    assert not begun(stuck)
    assert not begun(flows)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"criterion": FixedSweeps(40)}, "needs looks at the state"),
        ({"criterion": LocalCriterion(1e-4)}, "needs looks at the state"),
        ({"sleep": True}, "needs looks at the state"),
    ],
)
def test_what_cannot_begin_with_it_says_so(settings, what, rng):
    with pytest.raises(ValueError, match=what):
        AcceleratedSweeps(associated=True, **settings).solve(pressed(), rng)


def test_scenes_and_files_know_it(tmp_path):
    """A run that may begin with it goes on so when it is resumed."""
    solver = make_solver(Scene(dimension=2, solver={"associated": True}).solver)
    assert solver.associated
    simulation = Simulation(triangular(4, 4, mu=0.3, g=1.0), dt=DT, solver=solver)
    simulation.observe(TrajectoryWriter(tmp_path / "held.vtkhdf"))
    simulation.run(steps=2)
    assert resume(tmp_path / "held.vtkhdf").solver.associated


def channel(mu):
    """A lattice of disks that fills a channel without a floor: nothing has ever pressed them."""
    rows = [[0.5 + k + 0.5 * (row % 2), 0.5 + 0.75**0.5 * row] for row in range(10) for k in range(8 - row % 2)]
    scene = Scene(dimension=2, gravity=(0, -10), friction=mu)
    scene.add_grains(positions=rows, radius=0.5, density=1.0)
    scene.add_plane("left", point=(0, 0), normal=(1, 0))
    scene.add_plane("right", point=(8, 0), normal=(-1, 0))
    return scene


def test_forces_do_not_come_from_nowhere_unless_asked_for():
    """Both answers obey all laws: grains between walls fall as if these were not there, or hold each other there."""
    speeds = []
    for associated in (False, True):
        simulation = Simulation(
            channel(1.0), dt=1e-3, solver=AcceleratedSweeps(accuracy="exact", associated=associated)
        )
        simulation.step()
        assert simulation.last_solve.converged
        speeds.append(-simulation.bodies.velocity[:, 1].mean())
    assert speeds[0] == pytest.approx(1e-2, rel=1e-9)
    assert speeds[1] < 0.6 * speeds[0]


def load(name):
    """A script of the solver benchmarks."""
    path = ROOT / "benchmarks" / "solvers" / f"{name}.py"
    found = importlib.util.spec_from_file_location(f"solver_{name}", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def solved(problem, *, associated):
    """The same problem solved from no forces."""
    own = replace(problem, motion=problem.motion.copy(), forces=np.zeros_like(problem.forces))
    report = AcceleratedSweeps(criterion=MomentumCriterion(2e-3), associated=associated).solve(
        own, np.random.default_rng(0)
    )
    assert report.converged
    return own


def test_packings_that_can_carry_their_load_do():
    """Spheres pressed until they rest, and a little more. From no forces their piston sinks; held, most do not.

    Some give way all the same, so several are looked at; all must obey Coulomb's law.
    """
    problems, slower = load("problems"), []
    for seed in range(5):
        spheres = problems.raised(problems.pressed(3, 400, 0.3, seed), 0.01)
        sinks, holds = solved(spheres, associated=False), solved(spheres, associated=True)
        slower.append(abs(holds.motion[-1, 2]) / abs(sinks.motion[-1, 2]))
        assert residual(holds) <= 1e-3
        assert momentum_error(holds) <= 2e-3
        assert worst_contact(holds) <= 2.5e-3
        limit = 0.3 * holds.forces[:, 0] + 1e-12
        np.testing.assert_array_less(np.linalg.norm(holds.forces[:, 1:], axis=1), limit)
    assert np.median(slower) < 0.3, slower


def test_a_column_that_slides_is_left_to_coulombs_law(rng):
    """A belt is pulled away below it: no contact may open for good."""
    problem = prepare(column(6, radius=1.0, g=10.0, friction=0.2, dimension=2), DT)
    problem.motion[-1, 0] = 5.0  # the floor becomes a belt
    report = AcceleratedSweeps(criterion=ResidualCriterion(1e-10), associated=True).solve(problem, rng)
    assert report.converged
    weight = 6.0 * 10.0
    at_floor = problem.pairs[:, 1] == len(problem.motion) - 1
    assert problem.forces[at_floor, 0].sum() == pytest.approx(weight, rel=1e-8)
    assert np.abs(problem.forces[at_floor, 1]).sum() == pytest.approx(0.2 * weight, rel=1e-8)


LOOKS = [  # powers at successive looks, L/d sweeps apart; whether each ends the associated law
    ([looked(0.5, 0.4, 0.4), looked(0.2, 0.2, 0.2), looked(0.02, 0.06, 0.05)], [False, False, False]),  # settles
    ([looked(1.0, 2.0, 1.9), looked(0.4, 1.2, 1.2)], [False, True]),  # what is left is what opens
    ([looked(0.5, 0.4, 0.1), looked(0.2, 0.2, 0.098)], [False, True]),  # what slides does not fall
]
ASKED, NEARLY = Verdict(False), Verdict(False, nearly=True, share=0.6)


@pytest.fixture
def state():
    """A start that has begun, with L/d = 10."""
    state = AssociatedStart()
    state.begin(pressed(), 10.0)
    assert state.on
    return state


@pytest.mark.parametrize(("found", "ends"), LOOKS)
def test_it_ends_for_good_where_contacts_slide_for_good(found, ends, state, monkeypatch):
    looks = iter(found)
    monkeypatch.setattr(room, "measure", lambda problem: next(looks))
    assert not state.decide(None, ASKED, 9)  # too early to tell
    assert [state.decide(None, ASKED, 10 * (k + 1)) for k in range(len(found))] == ends
    assert state.on == (not ends[-1])
    if ends[-1]:
        assert not state.decide(None, ASKED, 100)


@pytest.mark.parametrize(
    ("found", "before", "for_good"),
    [
        (looked(1.0, 2.0, 1.9), 10.0, False),  # less slides than what is gained
        (looked(1.0, 2.0, 2.0), 10.0, True),
        (looked(1.0, 1.9, 2.0), 10.0, False),  # gained less than twice what is lost
        (looked(1.0, 0.5, 0.97), 1.0, False),
        (looked(1.0, 0.5, 0.98), 1.0, True),  # it falls by less than 3 %
    ],
)
def test_flow_is_a_matter_of_powers_alone(found, before, for_good):
    assert room.slides_for_good(found, before) is for_good


def test_coulombs_law_has_the_last_word_on_single_contacts(state):
    """A few sweeps by it; if these cost the packing its balance, the associated law goes on for L/d sweeps at least."""
    assert not state.decide(None, Verdict(False, nearly=True, share=0.9), 3)  # nothing to spare
    assert state.decide(None, NEARLY, 3)
    assert not state.on
    assert not state.decide(None, NEARLY, 6)  # not yet settled: patience
    assert state.decide(None, ASKED, 9)
    assert state.on
    assert not state.decide(None, NEARLY, 12)
    assert state.decide(None, NEARLY, 19)
    assert not state.on
