"""A step that no attempt brings to an end is counted, reported, and does not pass for converged."""

from __future__ import annotations

import numpy as np
from support.builders import column, grains

from rigidgrains import Simulation
from rigidgrains.model.law import Law
from rigidgrains.simulation.stepper import ATTEMPTS


class Stubborn(Law):
    """Refuses whatever forces are found, in some of the steps."""

    refuses = True
    asked = 0

    def accepts(self, rows):
        self.asked += 1
        return not self.refuses


def test_a_law_that_refuses_to_the_last():
    law = Stubborn()
    simulation = Simulation(column(3, laws=[law]), dt=0.01)
    simulation.step()
    assert law.asked == ATTEMPTS
    assert simulation.last_solve.exhausted
    assert not simulation.last_solve.converged
    assert "a law still refuses" in simulation.last_solve.why
    law.refuses = False
    simulation.step()
    assert simulation.last_solve.converged
    report = simulation.report()
    assert (report.steps, report.converged_steps, report.exhausted_steps) == (2, 1, 1)
    assert any("1 of 2 steps found ever more contacts" in text for text in report.warnings)
    assert not any("max_sweeps" in text for text in report.warnings)


def test_a_blow_that_runs_on_through_many_grains():
    """A heavy grain so fast that it drives a row of 300 together within a step: five attempts do not see its end."""
    n, gap = 300, 0.05
    position, velocity, mass = np.zeros((n, 3)), np.zeros((n, 3)), np.ones(n)
    position[:, 0], velocity[0, 0], mass[0] = (2.0 + gap) * np.arange(n), 100.0 * gap, 1e4
    simulation = Simulation(grains(position, 1.0, mass, velocity=velocity), dt=1.0)
    simulation.step()
    assert simulation.last_solve.exhausted
    assert "no candidates" in simulation.last_solve.why
    assert simulation.report().exhausted_steps == 1
    assert simulation.report().converged_steps == 0
