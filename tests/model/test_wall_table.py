"""The walls as tables: what walls say of themselves, and as they are in the step at hand."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from support.builders import UP, column, floor, plane, settle

from rigidgrains.model.shapes import Cylinder, Plane
from rigidgrains.model.wall_table import WallTable
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation.simulation import Simulation

Z = np.array([0.0, 0.0, 1.0])


def some_walls():
    drum = Cylinder(np.zeros(3), Z, 6.0, True, math.inf)
    rod = Cylinder(np.ones(3), Z, 0.5, False, math.inf)
    return [
        floor(material=2), plane([0, 9, 0], -UP, "piston", mass=2.0), Wall("drum", drum, drive=Drive(spin=0.7 * Z)),
        plane([1, 0, 0], UP, "turning", drive=Drive(spin=0.1 * Z)), Wall("rod", rod), Wall("still drum", drum),
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 6])
def test_the_table_says_what_walls_say(count):
    walls = some_walls()[:count]
    table = WallTable.of(walls)
    is_plane = [isinstance(wall.shape, Plane) for wall in walls]
    assert table.material.tolist() == [wall.material for wall in walls]
    assert table.guided.tolist() == [wall.guided for wall in walls]
    assert table.turning.tolist() == [wall.drive.rotates for wall in walls]
    assert table.plane.tolist() == is_plane
    assert table.flat.tolist() == [flat and not wall.drive.rotates for flat, wall in zip(is_plane, walls)]
    assert table.juts.tolist() == [not wall.shape.convex for wall in walls]
    assert table.bending == [w for w, wall in enumerate(walls) if wall.bends]
    for flags, numbers in (("guided", "pistons"), ("turning", "turners"), ("juts", "jutting")):
        assert getattr(table, numbers) == np.flatnonzero(getattr(table, flags)).tolist()
    thickness = np.broadcast_to(table.thickness, count)
    for w, wall in enumerate(walls):
        assert (table.point[w] == (wall.shape.point if is_plane[w] else 0.0)).all()
        assert (table.normal[w] == (wall.shape.normal if is_plane[w] else 0.0)).all()
        assert thickness[w] == wall.shape.thickness
    assert table.first_rows(10).tolist() == list(range(10, 10 + count))


def test_a_wall_that_somebody_moves_in_place_between_two_steps_is_where_it_was_put():
    simulation = settle(column(1), dt=1e-3, steps=3)
    assert simulation.bodies.velocity[0, 1] == pytest.approx(0.0, abs=1e-12)
    simulation.bodies.walls[0].shape.point[1] -= 1.0
    simulation.step()
    assert simulation.bodies.velocity[0, 1] == pytest.approx(-1e-2)


def test_no_table_outlives_its_step(monkeypatch):
    simulation = Simulation(column(2), dt=1e-3)
    simulation.step()
    bodies, spin = simulation.bodies, simulation.bodies.walls[0].drive.spin

    def fail(*_, **__):
        assert bodies.wall_table is bodies.wall_table
        raise RuntimeError("midway")

    monkeypatch.setattr(simulation.contacts, "gather", fail)
    for broken in (False, True):
        if broken:
            with pytest.raises(RuntimeError, match="midway"):
                simulation.step()
        spin[:] = Z
        assert bodies.wall_table.turners == [0]
        spin[:] = 0.0
        assert bodies.wall_table.turners == []


def test_copies_of_a_problem_share_the_loops_of_their_kind():
    simulation = Simulation(column(2), dt=1e-3)
    simulation.step()
    problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
    simulation.solver.solve(problem, simulation.rng)
    other = copy.deepcopy(problem)
    assert other.loops is problem.loops is not None
    assert other.count == problem.count == 2
