"""Eq. (constNI): a number of sweeps that is given is the number of every step, also of those that are solved again."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import floor, grains

from rigidgrains import FixedSweeps, Simulation, Sweeps
from rigidgrains.detect import candidates as narrow_phase
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.reproduce.chain import chain


def test_the_chain_has_forty_sweeps_in_every_step():
    """The paper's chain (item 59). It is solved again where it meets the wall, and where grains meet."""
    bodies = chain(50, push=0.05, wall=True, gap=1.0)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(40)), seed=0)
    again = 0
    for _ in range(300):
        simulation.step()
        if simulation.contacts.count:
            assert simulation.last_solve.sweeps == 40
            again += simulation.last_solve.updates > 40 * simulation.contacts.count
    assert again > 0
    assert simulation.report().sweeps_max == 40


@pytest.mark.parametrize("order", ["ordered", "symmetric"])
def test_a_step_that_is_solved_again_is_the_same_as_one_that_knew_its_contacts(monkeypatch, order):
    """A blow runs along a row of disks; with candidates for all of them from the start no attempt is needed twice."""

    def run(widely: bool) -> tuple[np.ndarray, np.ndarray, bool]:
        position, velocity = np.zeros((30, 3)), np.zeros((30, 3))
        position[:, 0] = 2.02 * np.arange(30)
        velocity[0, 0] = 8.0
        bodies = grains(position, velocity=velocity, dimension=2)
        simulation = Simulation(bodies, dt=0.05, solver=Sweeps(order=order, criterion=FixedSweeps(10)))
        again = 0

        def wide(bodies, neighbours, dt, speed, **others):
            return find_candidates(bodies, neighbours, dt, np.full(30, 1e3) if widely else speed, **others)

        monkeypatch.setattr(narrow_phase, "find_candidates", wide)
        for _ in range(3):
            simulation.step()
            again += simulation.last_solve.updates > 10 * simulation.contacts.count
        return bodies.velocity.copy(), bodies.position.copy(), again > 0

    (fast, place, again), (known, there, once) = run(False), run(True)
    assert again
    assert not once
    np.testing.assert_allclose(fast, known, rtol=0, atol=1e-12)
    np.testing.assert_allclose(place, there, rtol=0, atol=1e-12)


def test_a_step_that_is_taken_again_shorter_begins_with_the_same_forces(monkeypatch):
    """dt = "auto" may reject a step that was solved: it does not begin again with the forces of the rejected one."""
    begun = []
    solve = Sweeps.solve

    def watched(self, problem, rng):
        begun.append(problem.forces.copy())
        return solve(self, problem, rng)

    position = np.array([[0.0, 1.0, 0.0], [0.0, 2.99, 0.0], [0.0, 4.98, 0.0]])
    bodies = grains(position, dimension=2, gravity=[0, -10.0, 0], walls=[floor()])
    simulation = Simulation(bodies, dt="auto", solver=Sweeps(criterion=FixedSweeps(7)))
    for _ in range(3):
        simulation.step()
    answers = iter([True, False])
    monkeypatch.setattr(type(simulation.auto), "too_long", lambda self, dt, missed: next(answers, False))
    monkeypatch.setattr(Sweeps, "solve", watched)
    simulation.step()
    assert len(begun) >= 2
    assert simulation.last_solve.sweeps == 7
    assert np.abs(begun[0]).max() > 0.0
    np.testing.assert_array_equal(begun[-1], begun[0])


def test_a_solver_of_ones_own_need_not_say():
    class Own:
        gap, slack, coloured = "g_pos", 0.0, False

        def solve(self, problem, rng):
            return Sweeps().solve(problem, rng)

    simulation = Simulation(
        grains([0, 1.0, 0], dimension=2, gravity=[0, -10.0, 0], walls=[floor()]), dt=0.01, solver=Own()
    )
    simulation.step()
    assert simulation.last_solve.converged
