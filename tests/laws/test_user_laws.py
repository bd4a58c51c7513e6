"""Laws that users write: the names of the columns, what is refused, files and certificates."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from support.builders import floor, grains, triangular

import rigidgrains as rg
from rigidgrains import laws as room
from rigidgrains.certificate import check
from rigidgrains.laws.rows import Rows
from rigidgrains.trajectory.errors import TrajectoryError

DT = 1e-2


@dataclass
class Slippery(rg.Law):
    """mu times a factor."""

    factor: float

    def prepare(self, rows):
        rows.friction *= rows.of_pair(self.factor)


@dataclass
class Spy(rg.Law):
    """Looks at the rows before and after the solve."""

    memory = 1

    def prepare(self, rows):
        self.rows, self.mass = rows, (rows.normal_mass.copy(), rows.tangential_mass.copy())

    def conclude(self, rows):
        rows.memory[:, self.at] += 1.0


def sliding(law: rg.Law) -> rg.Simulation:
    """A disk of radius 1 and mass 1 slides on a floor: mu g is its deceleration."""
    bodies = grains(
        [[0, 1, 0]], velocity=[[5.0, 0, 0]], gravity=[0, -10, 0], walls=[floor()], friction=0.2, dimension=2
    )
    bodies.laws.append(law)
    return rg.Simulation(bodies, dt=DT)


def test_rows_are_named_as_the_theory_has_them():
    """Disk of mass 1 on a floor: m_n = 1, m_t = 1/3, n down into the floor, R_n = m g, R_t = mu m g."""
    spy = Spy()
    simulation = sliding(spy)
    simulation.step()
    rows = spy.rows
    assert isinstance(rows, rg.Rows)
    assert rows.normal.tolist() == [[0, -1, 0]]
    assert rows.gap == pytest.approx([0.0], abs=1e-15)
    assert rows.to_close.tolist() == [0.0]
    assert rows.friction.tolist() == [0.2]
    assert spy.mass[0] == pytest.approx([1.0])
    assert spy.mass[1] == pytest.approx([1.0 / 3.0])
    assert rows.repulsion == pytest.approx([10.0])
    assert rows.normal_force == pytest.approx([10.0])
    np.testing.assert_allclose(rows.tangential_force, [[2.0, 0, 0]], atol=1e-9)  # on the floor, which is body 1
    assert rows.sliding.tolist() == [True]
    assert rows.rebound.tolist() == [[0, 0, 0]]
    problem = simulation.contacts.problem(simulation.bodies, DT)
    for name in ("normal", "gap", "to_close", "friction", "normal_mass", "tangential_mass", "repulsion"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(rows, name))
        np.testing.assert_array_equal(getattr(simulation.contacts, name), getattr(rows, name))


def test_columns_are_written_in_place():
    """Whole, in part, and for some contacts; each lands in its own column and nowhere else."""
    numbers = np.arange(24.0).reshape(3, 8)
    rows = Rows(None, None, None, np.zeros((3, 2), np.int32), numbers.copy(), np.zeros((3, 4)), None, None, DT)
    for k, name in enumerate(("to_close", "normal_mass", "tangential_mass", "friction", "gap"), start=3):
        before = rows.geometry.copy()
        setattr(rows, name, [7.0, 8.0, 9.0])
        assert rows.geometry[:, k].tolist() == [7.0, 8.0, 9.0]
        getattr(rows, name)[1] = -1.0
        assert rows.geometry[1, k] == -1.0
        before[:, k] = rows.geometry[:, k]
        assert np.array_equal(before, rows.geometry)
    rows.tangential_force = np.eye(3)
    rows.repulsion = 4.0
    assert rows.forces.tolist() == [[4, 1, 0, 0], [4, 0, 1, 0], [4, 0, 0, 1]]


def test_columns_that_are_not_there_say_what_to_do():
    rows = Rows(None, None, None, np.zeros((3, 2), np.int32), np.zeros((3, 8)), np.zeros((3, 4)), None, None, DT)
    with pytest.raises(AttributeError, match="no lever: no law of these contacts says extended = True"):
        _ = rows.lever
    with pytest.raises(AttributeError, match=r"no rebound: no law .* extended = True"):
        rows.rebound = np.zeros((3, 3))
    with pytest.raises(AttributeError, match=r"no attraction: no law .* attracts = True"):
        rows.attract(np.ones(3))


def test_a_law_of_ones_own_acts():
    """mu = 0.2 halved: v = v0 - 0.1 g t."""
    simulation = sliding(Slippery(0.5))
    simulation.run(steps=20)
    assert simulation.bodies.velocity[0, 0] == pytest.approx(5.0 - 0.1 * 10.0 * 20 * DT, rel=1e-12)


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("friction", -0.1, "friction = -0.1 into contact 0; write a number of at least 0"),
        ("friction", np.nan, "friction = nan into contact 0"),
        ("to_close", np.inf, "to_close = inf into contact 0; write a finite gap"),
        ("normal_mass", 0.0, "normal_mass = 0 into contact 0; leave the masses"),
        ("tangential_mass", np.nan, "tangential_mass = nan into contact 0"),
    ],
)
def test_what_the_shock_law_cannot_read_is_refused(column, value, told):
    class Wrong(rg.Law):
        def prepare(self, rows):
            setattr(rows, column, value)

    with pytest.raises(ValueError, match=f"law Wrong wrote {told}"):
        sliding(Wrong()).run(steps=1)


@pytest.mark.parametrize("given", [Slippery, lambda rows: None, "friction"])
def test_what_is_no_law_is_refused(given):
    simulation = sliding(Spy())
    simulation.bodies.laws[0] = given
    with pytest.raises(TypeError, match=r"is no contact law; give one that is made, of a subclass of rigidgrains\.Law"):
        simulation.run(steps=1)


def written(path, laws, steps=6) -> rg.Simulation:
    bodies = triangular(3, 3, mu=0.3, g=2.0)
    bodies.laws += laws
    simulation = rg.Simulation(bodies, dt=DT, seed=3).observe(rg.TrajectoryWriter(path))
    simulation.run(steps=steps)
    return simulation


def test_a_resumed_run_asks_for_laws_of_ones_own(tmp_path):
    path = tmp_path / "run.vtkhdf"
    laws = [Slippery(0.5), Spy()]
    simulation = written(path, laws)
    with pytest.raises(TrajectoryError, match=r"this run used Slippery, a law of its own; .*laws=\[...\]"):
        rg.resume(path)
    again = rg.resume(path, laws=[Slippery(0.5), Spy()])
    assert (again.contacts.memory == 6.0).any()  # of contacts that have been there all the time
    assert np.array_equal(again.contacts.memory, simulation.contacts.memory)
    again.run(steps=3)
    simulation.run(steps=3)
    assert np.array_equal(again.bodies.motion, simulation.bodies.motion)


def test_memory_is_not_handed_to_other_laws(tmp_path):
    """A column says 6 steps to one law, and would say 'slid' to another."""
    written(tmp_path / "run.vtkhdf", [Spy()])
    again = rg.resume(tmp_path / "run.vtkhdf", laws=[rg.StaticFriction(0.5)])
    assert again.contacts.memory.size == 0
    again.run(steps=2)
    assert set(np.unique(again.contacts.memory)) <= {0.0, 1.0}


def test_an_own_law_by_the_name_of_one_of_ours_is_not_mistaken(tmp_path):
    own = dataclass(type("StaticFriction", (rg.Law,), {"__annotations__": {"static": float}}))
    written(tmp_path / "run.vtkhdf", [own(0.5)])
    with pytest.raises(TrajectoryError, match="this run used StaticFriction, a law of its own"):
        rg.resume(tmp_path / "run.vtkhdf")


def test_two_laws_of_a_kind_are_asked_for(tmp_path):
    """A file has room for the coefficients of one."""
    written(tmp_path / "run.vtkhdf", [rg.Cohesion(1.0), rg.Cohesion(0.5, 0.01)])
    with pytest.raises(TrajectoryError, match="Cohesion more than once"):
        rg.resume(tmp_path / "run.vtkhdf")
    rg.resume(tmp_path / "run.vtkhdf", laws=[rg.Cohesion(1.0), rg.Cohesion(0.5, 0.01)])


@pytest.mark.parametrize("name", ["Rows", "Law", "annotations", "base", ""])
def test_names_that_are_no_laws_are_refused(name):
    from rigidgrains.trajectory.law_table import rebuild

    with pytest.raises(TrajectoryError, match="a law of its own"):
        rebuild([name], {})
    assert hasattr(room, "Rows")


def test_certificates_take_what_own_laws_wrote_and_say_so(tmp_path):
    """mu = 0.15 is that of no pair; the cone is checked with it, and a friction that is beyond fails."""
    path = tmp_path / "run.vtkhdf"
    written(path, [Slippery(0.5)])
    with rg.Trajectory(path) as trajectory:
        certificate = check(trajectory[-1])
        assert certificate.passed, str(certificate)
        assert any("laws of the run's own" in text for text in certificate.unchecked)
        assert trajectory[-1].law("own.Slippery_factor").tolist() == [[0.5]]
        assert set(np.round(trajectory[-1].contacts.law("mu"), 12)) == {0.15}


def test_a_solver_class_of_ones_own_is_not_replaced_in_silence(tmp_path):
    class Mine(rg.Sweeps):
        pass

    path = tmp_path / "run.vtkhdf"
    rg.Simulation(triangular(2, 2), dt=DT, solver=Mine()).observe(rg.TrajectoryWriter(path)).run(steps=2)
    with pytest.raises(TrajectoryError, match="a solver of its own; pass it to resume"):
        rg.resume(path)
    assert isinstance(rg.resume(path, solver=Mine()).solver, Mine)


class Picky:
    """Answers as numpy does."""

    def judge(self, problem):
        return rg.Verdict(np.bool_(True), residual=np.float64(0.5))


def test_own_criteria_may_answer_with_numpy(tmp_path):
    """np.bool_ is no JSON: checkpoints and reports hold plain truth values."""
    path = tmp_path / "run.vtkhdf"
    solver = rg.Sweeps(criterion=Picky())
    simulation = rg.Simulation(triangular(2, 2), dt=DT, solver=solver).observe(rg.TrajectoryWriter(path))
    report = simulation.run(steps=2)
    assert simulation.last_solve.converged is True
    assert json.loads(report.to_json())["converged_steps"] == 2


@pytest.mark.parametrize("answer", [True, None, (True,)])
def test_a_criterion_that_gives_no_verdict_is_told(answer):
    class Curt:
        def judge(self, problem):
            return answer

    simulation = rg.Simulation(triangular(2, 2), dt=DT, solver=rg.AcceleratedSweeps(criterion=Curt()))
    with pytest.raises(TypeError, match=r"Curt.judge returned .*; return Verdict\(True\)"):
        simulation.run(steps=1)


def test_half_a_criterion_is_refused():
    class Half:
        def satisfied(self, sweeps, unsettled, mean, previous):
            return True

    with pytest.raises(ValueError, match=r"cannot tell when to stop; .* or with tolerance\(\) and satisfied\(\)"):
        rg.Sweeps(criterion=Half())


@pytest.mark.parametrize(
    "law", [Slippery(0.5), rg.StaticFriction(0.5), rg.Rolling(0.1, 0.05)], ids=["own", "number", "torques"]
)
def test_a_number_for_all_of_two_materials_is_resumed(tmp_path, law):
    """A table of one row stands for all materials, in a file too; so do the seven columns of forces with torques."""
    path = tmp_path / "run.vtkhdf"
    bodies = triangular(3, 3, mu=0.3, g=2.0)
    bodies.friction = np.array([[0.3, 0.2], [0.2, 0.1]])
    bodies.material[::2] = 1
    bodies.laws.append(law)
    simulation = rg.Simulation(bodies, dt=DT, seed=3).observe(rg.TrajectoryWriter(path))
    simulation.run(steps=4)
    again = rg.resume(path, laws=[law])
    again.run(steps=3)
    simulation.run(steps=3)
    assert np.array_equal(again.bodies.motion, simulation.bodies.motion)
    with rg.Trajectory(path) as trajectory:
        assert check(trajectory[-1]).passed
