"""The rigidity meter: clusters against scipy, verdicts against theory, sweeps by cluster."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from support.builders import column, grains, prepare

from rigidgrains import (
    AcceleratedSweeps,
    FixedSweeps,
    History,
    RigidSweeps,
    Scene,
    SecondOrder,
    Simulation,
    Sweeps,
    rigidity,
    theory,
)
from rigidgrains.detect.clusters import find_clusters
from rigidgrains.reproduce.chain import chain
from rigidgrains.simulation.tally import Tally
from rigidgrains.simulation.warnings import warnings_of
from rigidgrains.solve.sweeps import SolveReport


@pytest.mark.parametrize("seed", range(30))
def test_clusters_are_connected_components(seed):
    """The same partition as scipy's; walls join nobody; extents are bounding boxes."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 80), rng.integers(0, 100)
    pairs = rng.integers(0, n, (m, 2)).astype(np.int32)
    pairs[rng.random(m) < 0.1, 1] = n + 3
    joined = rng.random(m) < 0.6
    position, radius = rng.normal(size=(n, 3)), rng.uniform(0.1, 0.2, n)
    clusters = find_clusters(pairs, joined, position, radius)
    kept = pairs[joined & (pairs[:, 1] < n)]
    count, label = connected_components(coo_matrix((np.ones(len(kept)), kept.T), (n, n)), directed=False)
    assert len(clusters.size) == count
    assert len(set(zip(label, clusters.label))) == count
    for k in range(count):
        mine = clusters.label == k
        box = (position[mine] + radius[mine, None]).max(axis=0) - (position[mine] - radius[mine, None]).min(axis=0)
        assert clusters.size[k] == mine.sum()
        assert clusters.extent[k] == pytest.approx(box.max())


@pytest.mark.parametrize(("sweeps", "verdict"), [(10, "soft"), (60, "transition"), (200, "rigid")])
def test_verdict_of_a_column(sweeps, verdict):
    """L = 10 d: l_diff = 2 sqrt(q N_I) d is 5.6 d, 13.8 d and 25 d for 10, 60 and 200 random sweeps."""
    bodies = column(10)
    simulation = Simulation(bodies, dt=0.01, solver=Sweeps(criterion=FixedSweeps(sweeps)))
    simulation.run(steps=40)
    meter = rigidity(simulation)
    d, m = 2.0 * bodies.radius[0], bodies.mass[0]
    assert meter.cluster == 10
    assert meter.extent == pytest.approx(10 * d, rel=0.01)
    assert meter.diffusion_length == pytest.approx(2 * (0.79744 * sweeps) ** 0.5 * d, rel=1e-5)
    assert meter.stiffness == pytest.approx(0.79744 * m * sweeps / 0.01**2, rel=1e-5)
    assert meter.verdict == verdict
    assert any("soft" in text for text in simulation.report().warnings) == (verdict == "soft")


def count(tally, load, sweeps, steps=1):
    """Steps with a load on one candidate."""
    for _ in range(steps):
        tally.add(SolveReport(sweeps, sweeps, True, load), 1, 0.0, 0.0, 0.1)
    return tally.load_sweeps


def test_each_share_of_the_load_counts_with_the_sweeps_that_found_it():
    """Half of the load by 100 sweeps, half by 40: a sweep picked at random is in a step of (100^2 + 40^2)/140."""
    tally = Tally()
    assert count(tally, 0.0, 0, steps=5) == 0.0
    assert count(tally, 10.0, 100) == 100.0
    assert count(tally, 10.0, 1, steps=10_000) == 100.0
    assert count(tally, 20.0, 40) == pytest.approx((100**2 + 40**2) / 140)
    count(tally, 0.0, 7)  # the load is gone, and with it what was known of it
    assert count(tally, 3.0, 2) == 2.0


def test_earlier_files_keep_their_verdict():
    """They hold sums of n and n^2 over all steps."""
    tally = Tally(steps=4, sweeps=40, squares=1000)
    assert tally.load_sweeps == pytest.approx(25.0)
    assert count(tally, 10.0, 1, steps=100) == pytest.approx(25.0)
    assert count(tally, 0.0, 3) == pytest.approx(3.0)


def test_rest_changes_no_verdict():
    """Forces found once are carried over: steps of one sweep that follow make no packing soft."""
    scene = Scene(dimension=3, gravity=(0, 0, -9.81))
    scene.add_grains(positions=[[0, 0, 0.01 + 0.02 * k] for k in range(5)], radius=0.01)
    scene.add_plane("floor", point=(0, 0, 0), normal=(0, 0, 1))
    history = History()
    simulation = Simulation(scene, dt=1e-4, solver="sweeps").observe(history, every=100)
    first = simulation.run(steps=1)
    last = simulation.run(steps=1500)
    assert simulation.last_solve.sweeps == 1
    assert first.rigidity["sweeps"] == first.sweeps_max > 30  # l_diff = 2 L asks for 32
    assert last.rigidity["sweeps"] == pytest.approx(first.sweeps_max, rel=0.1)
    assert (last.rigidity["verdict"], last.warnings) == ("rigid", [])
    assert history["diffusion_length"][-1] == last.rigidity["diffusion_length"]


def test_a_fixed_number_of_sweeps_is_what_counts():
    """Whatever changes: a column that hits the floor, and stands."""
    simulation = Simulation(column(5), dt=0.01, solver=Sweeps(criterion=FixedSweeps(12)))
    for _ in range(60):
        simulation.step()
        assert simulation.tally.load_sweeps == pytest.approx(12.0, rel=1e-12)


def test_free_grains_are_loose():
    simulation = Simulation(grains([[0, 0, 0], [5, 0, 0]]), dt=0.01)
    simulation.run(steps=1)
    assert rigidity(simulation).verdict == "loose"
    assert simulation.report().warnings == []


def test_each_cluster_has_the_sweeps_it_needs():
    """Pairs stop after the sweeps of a pair, the chain goes on; free grains cost nothing."""
    far = [[0, 10.0 + 5 * k, 0] for k in range(3)] + [[1, 10.0 + 5 * k, 0] for k in range(3)]
    row = [[float(x), 0, 0] for x in range(12)]
    bodies = grains([*row, *far, [50, 50, 0]], 0.5)
    problem = prepare(bodies, 0.01)
    needed = RigidSweeps(2.0).sweeps_needed(problem, theory.Q_RANDOM)
    in_chain = problem.pairs[:, 0] < 12
    assert set(needed[in_chain]) == {theory.rigid_sweeps(12.0, 1.0, theory.Q_RANDOM, 2.0)}
    assert set(needed[~in_chain]) == {theory.rigid_sweeps(2.0, 1.0, theory.Q_RANDOM, 2.0)}
    report = Sweeps(rigidity=2.0).solve(problem, np.random.default_rng(0))
    assert report.sweeps == needed.max()
    assert report.updates == needed.sum()
    assert report.converged is None  # sweeps were counted, forces were not looked at


def test_rigid_sweeps_transmit_a_load_through_a_chain():
    """The slowest mode of a chain against a wall decays by exp(-(pi/4)^2 (l_diff/L)^2): to 5e-5 for l_diff = 4 L."""
    carried = {}
    for safety in (4.0, 0.25):
        problem = prepare(chain(20, push=0.01, wall=True), 1.0)
        Sweeps(rigidity=safety).solve(problem, np.random.default_rng(0))
        carried[safety] = problem.forces[-1, 0] / 0.01  # the contact with the wall
    assert carried[4.0] == pytest.approx(1.0, abs=1e-3)
    assert carried[0.25] < 0.1


def test_too_few_sweeps_allowed_is_reported():
    problem = prepare(column(20), 0.01)
    assert Sweeps(rigidity=2.0, max_sweeps=10).solve(problem, np.random.default_rng(0)).converged is False


def test_history_records_the_meter():
    history = History()
    simulation = Simulation(column(5), dt=0.01, solver=Sweeps(criterion=FixedSweeps(50))).observe(history)
    simulation.run(steps=3)
    assert (history["cluster"] == 5).all()
    assert history["diffusion_length"] == pytest.approx([rigidity(simulation).diffusion_length] * 3)


@pytest.mark.parametrize("safety", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_safety(safety):
    with pytest.raises(ValueError, match="times the extent of a cluster makes nothing rigid"):
        Sweeps(rigidity=safety)


LETTERS = ("kappa", "gamma", "c", "l_diff", "lambda_c")


def test_the_report_tells_what_unfinished_sweeps_are_like():
    """All five letters with their units: N_I = 40, d = 1 m, dt = 0.01 s and masses of 2 kg put into the formulas."""
    bodies = column(10, radius=0.5)
    simulation = Simulation(bodies, dt=0.01, solver=Sweeps(criterion=FixedSweeps(40)))
    simulation.run(steps=30)
    q, m = (4.0 * np.sqrt(np.e) - 5.0) / 2.0, bodies.mass[0]
    told = " ".join(str(simulation.report()).split())
    reach = np.sqrt(q * 40)
    assert f"kappa = {q * m * 40 / 1e-4:.3g} N/m, gamma = {q * m * 40 / 1e-2:.3g} N s/m" in told
    assert f"c = {reach / 0.01:.3g} m/s, l_diff = {2.0 * reach:.3g} m, lambda_c = {np.pi * reach:.3g} m" in told
    meter = simulation.report().as_dict()["rigidity"]
    assert (meter["plain"], meter["critical_wave_length"]) == (True, pytest.approx(np.pi * reach))
    assert {"stiffness", "viscosity", "sound_velocity", "diffusion_length"} <= set(meter)


@pytest.mark.parametrize("solver", [AcceleratedSweeps(), SecondOrder()])
def test_the_report_has_no_springs_for_other_methods(solver):
    simulation = Simulation(column(4), dt=0.01, solver=solver)
    report = simulation.run(steps=3)
    assert "elasticity" not in str(report)
    assert not any(letter in str(report) for letter in LETTERS if len(letter) > 1)
    assert "N/m" not in str(report)
    assert report.as_dict()["rigidity"]["plain"] is False


def test_accelerated_sweeps_that_end_early_are_soft_but_no_springs():
    """Twenty sweeps through 60 disks; the warning and the verdict name no spring and no diffusion length of theirs."""
    simulation = Simulation(column(60), dt=0.01, solver=AcceleratedSweeps(accuracy="exact", max_sweeps=20))
    report = simulation.run(steps=1)
    (warning,) = [text for text in report.warnings if text.startswith("soft")]
    assert warning == "soft: accelerated sweeps ended too early, raise max_sweeps or lower epsilon"
    assert "as many plain sweeps would reach" in str(report)
    assert "diffusion length" not in str(report)
    report.rigidity |= {"momentum_error": 0.7}
    assert "soft: 70% of the load did not arrive within the last step" in " ".join(warnings_of(report, 0.01, None))


def test_a_run_without_a_load_has_no_elasticity():
    simulation = Simulation(grains([[0, 0, 0], [5, 0, 0]]), dt=0.01, solver=Sweeps())
    assert "unknown: no sweep has found a load" in str(simulation.run(steps=1))
