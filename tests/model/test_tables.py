"""Materials are rows of tables: everybody has one, and nobody reads beyond a table."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import floor, grains

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.events.population import Crowd
from rigidgrains.soft_dem import SoftDEM
from rigidgrains.trajectory import checkpoint
from rigidgrains.trajectory.errors import Mismatch

G = 9.81


def thrown(*, floor: dict | None = None, **material) -> rg.Simulation:
    """One disk, thrown along the floor by an inflow, of a material that nobody else has."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), friction=0.5)
    scene.add_material("sand", friction=0.5, **material)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1), **(floor or {}))
    scene.add_inflow(
        "spout", radius=1e-3, rate=1e5, total=1, velocity=(1, 0), region=((0, 0), (0.05, 0.003)), material="sand"
    )
    return rg.Simulation(scene, dt=1e-4)


def test_a_material_that_only_an_inflow_has_has_friction():
    """A disk thrown along a floor rolls with 2/3 of its speed, whatever the coefficient, if there is any."""
    simulation = thrown()
    simulation.run(until=0.1)
    assert simulation.bodies.velocity[0, 0] == pytest.approx(2 / 3, rel=1e-9)


def test_a_material_that_only_an_inflow_has_has_rolling_friction():
    """Against a floor of its own material with a friction of its own.

    With c = mu_r/r it slips until t = v0/(g (3 mu - 2 c)), then rolls and slows down by 2/3 c g.
    """
    simulation = thrown(rolling=1e-4, floor={"material": "sand", "friction": 0.4})
    simulation.run(until=0.15)
    mu, c = 0.4, 0.1
    slips = 1.0 / (G * (3 * mu - 2 * c))
    expected = 1.0 - mu * G * slips - 2 / 3 * c * G * (0.15 - slips)
    assert simulation.bodies.velocity[0, 0] == pytest.approx(expected, abs=G * simulation.dt)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("grains", {"positions": [(0.5, 0.5)], "radius": 0.1}),
        ("inflow", {"name": "in", "region": ((0, 0), (1, 1)), "radius": 0.1, "rate": 1.0}),
        ("plane", {"name": "wall", "point": (0, 0), "normal": (0, 1)}),
        ("box", {"name": "box", "lower": (0, 0), "upper": (1, 1)}),
        ("cylinder", {"name": "drum", "point": (0, 0), "radius": 5.0}),
        ("piston", {"name": "lid", "point": (0, 1), "normal": (0, -1), "mass": 1.0}),
    ],
)
def test_whoever_has_a_material_has_a_row_in_every_table(user, words):
    """Before the tables are made, whoever it is."""
    scene = rg.Scene(dimension=2, friction=0.1)
    scene.add_material("felt", friction=0.7, rolling=0.01)
    scene.add_grains(positions=[(0.8, 0.8)], radius=0.1)
    getattr(scene, f"add_{user}")(**words, material="felt")
    bodies = scene.build()
    assert bodies.friction.shape == bodies.laws[0].rolling.shape == (2, 2)
    assert bodies.friction[1, 1] == 0.7


def two(**rest) -> rg.Simulation:
    """Two touching grains on a floor, two materials."""
    bodies = grains(
        [[0, 1, 0], [2, 1, 0]], material=np.array([0, 1]), friction=np.full((2, 2), 0.5), walls=[floor()], **rest
    )
    return rg.Simulation(bodies, dt=1e-3)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (7, "grain 1 has material 7, and the friction table has rows 0 to 1 only; give it a material from there, or"),
        (2, "make the table 3 x 3"),
        (-1, "grain 1 has material -1"),
        (-(2**31), "grain 1 has material -2147483648"),
    ],
)
def test_a_material_written_by_hand_is_checked_before_the_step(number, told):
    simulation = two()
    simulation.step()
    before, forces = simulation.bodies.motion.copy(), simulation.contacts.forces.copy()
    simulation.bodies.material[1] = number
    with pytest.raises(ValueError, match=told):
        simulation.step()
    # the state is that before, and goes on once the material is mended
    assert simulation.steps == 1
    assert simulation.whole
    assert np.array_equal(simulation.bodies.motion, before)
    assert np.array_equal(simulation.contacts.forces, forces)
    simulation.bodies.material[1] = 1
    simulation.step()


@pytest.mark.parametrize(
    ("material", "told"),
    [
        (np.array([0.0, 1.0]), r"bodies\.material is an array \(2,\) of float64; give a whole number"),
        (np.array([0]), r"an array \(1,\) of int64.*each of the 2 grains"),
        (3, "bodies.material is an array"),
    ],
)
def test_materials_that_are_no_numbers_of_rows(material, told):
    simulation = two()
    simulation.bodies.material = material
    with pytest.raises(ValueError, match=told):
        simulation.step()


def test_walls_and_tables_that_change_are_checked_too():
    simulation = two(laws=[rg.Rolling(np.full((2, 2), 0.1))])
    bodies = simulation.bodies
    bodies.walls[0].material = 5
    with pytest.raises(ValueError, match="wall 'floor' has material 5"):
        simulation.step()
    bodies.walls[0].material = "steel"
    with pytest.raises(ValueError, match="wall 'floor' has the material 'steel'; give the number of a row"):
        simulation.step()
    bodies.walls[0].material = 1
    simulation.step()
    bodies.friction = np.full((1, 1), 0.5)
    with pytest.raises(ValueError, match="grain 1 has material 1, and the friction table has row 0 only"):
        simulation.step()
    bodies.friction = np.full((2, 1), 0.5)
    with pytest.raises(ValueError, match="the friction table is a table of 2 x 1; give as many rows as columns"):
        simulation.step()
    bodies.friction = np.full((2, 2), 0.5)
    bodies.material[:] = 0
    bodies.walls[0].material = 0
    bodies.laws[0].rolling = np.full((1, 2), 0.1)
    with pytest.raises(ValueError, match="the table 'rolling' of Rolling is a table of 1 x 2"):
        simulation.step()


def test_a_law_has_a_row_for_every_material_or_one_number_for_all():
    with pytest.raises(
        ValueError, match="grain 2 has material 2, and the table 'normal' of Restitution has rows 0 to 1"
    ):
        grains(np.zeros((3, 3)), material=np.arange(3), friction=np.eye(3), laws=[rg.Restitution(np.eye(2))])
    bodies = grains([[0, 1, 0], [9, 1, 0]], material=[0, 1], friction=np.eye(2), laws=[rg.Restitution(0.5)])
    rg.Simulation(bodies, dt=1e-3).step()


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[0.1, 0.2], [0.3]], "no table of numbers; give one number, or k rows of k numbers"),
        ([0.1, 0.2], "a table of 1 x 2; give as many rows as columns"),
        ([], "a table of 1 x 0"),
        (np.zeros((2, 2, 2)), "a table of 2 x 2 x 2"),
        ("rough", "no table of numbers"),
    ],
)
def test_tables_that_are_none(table, told):
    with pytest.raises(ValueError, match=told):
        rg.StaticFriction(table)
    with pytest.raises(ValueError, match=told):
        grains([[0, 0, 0]], friction=table)


def test_springs_are_checked_too():
    springs = SoftDEM(two().bodies, dt=1e-4, stiffness=1e3)
    springs.step()
    springs.bodies.material[0] = 2
    with pytest.raises(ValueError, match="grain 0 has material 2"):
        springs.step()


def test_an_inflow_whose_material_was_changed_is_named():
    simulation = thrown()
    simulation.bodies.events.inflows[0].material = 4
    with pytest.raises(ValueError, match="inflow 'spout' has material 4"):
        simulation.step()


def test_the_certificate_knows_materials_beyond_a_table():
    """Also that of a wall, and in the table of a law; it tells, and reads no further."""
    simulation = two(laws=[rg.Rolling(np.full((2, 2), 0.1))])
    simulation.step()
    assert check(rg.Frame.of(simulation)).passed
    for change in (
        lambda bodies: bodies.material.__setitem__(0, 9),
        lambda bodies: setattr(bodies.walls[0], "material", -1),
        lambda bodies: (
            setattr(bodies.laws[0], "rolling", np.full((1, 1), 0.1)) or setattr(bodies.walls[0], "material", 2)
        ),
    ):
        simulation = two(laws=[rg.Rolling(np.full((2, 2), 0.1))])
        simulation.step()
        change(simulation.bodies)
        failed = check(rg.Frame.of(simulation)).failed
        assert [wrong.name for wrong in failed] == ["contact list"]
        assert "has no row in the 2 of" in str(failed[0])


def stored() -> tuple[dict, str]:
    """A checkpoint of two grains and a floor, as arrays and text."""
    simulation = two()
    simulation.step()
    return checkpoint.pack(simulation)


@pytest.mark.parametrize(
    ("name", "place", "number", "told"),
    [
        ("material", 1, 10**6, "grain 1 has material 1000000"),
        ("material", 0, -2, "grain 0 has material -2"),
        ("contact_pairs", (0, 0), 99, r"contacts \(body 0\).*99 is not among 0 to 1"),
        ("contact_pairs", (0, 1), -5, r"contacts \(body 1\)"),
        ("contact_wall_rows", (0, 1), 40, "rows of walls"),
        ("pair_partner", 0, 3, "neighbours in the checkpoint: 3 is not among 0 to 1"),
        ("pair_last", 0, 77, "rows of neighbours"),
        ("pair_start", -1, 50, "neighbour lists"),
        ("wall_grains", 0, -1, "grains near walls"),
        ("wall_last", 0, 1000, "their rows"),
    ],
)
def test_numbers_in_a_checkpoint_point_at_what_is_there(name, place, number, told):
    arrays, text = stored()
    assert checkpoint.unpack(dict(arrays), text).bodies.count == 2
    arrays[name] = arrays[name].copy()
    arrays[name][place] = number
    with pytest.raises(ValueError, match=told):
        checkpoint.unpack(arrays, text)


def test_lists_of_other_walls_are_refused():
    arrays, text = stored()
    for name in ("wall_point", "wall_normal"):
        fewer = {**arrays, name: arrays[name][:0]}
        with pytest.raises(Mismatch, match=rf"it describes 1 walls, and '{name}' has the shape \(0, 3\)"):
            checkpoint.unpack(fewer, text)
    with pytest.raises(Mismatch, match="it has a wall of the unknown shape 'torus'"):
        checkpoint.unpack(arrays, text.replace('"shape": "plane"', '"shape": "torus"'))
    one_more = {**arrays, "wall_start": np.append(arrays["wall_start"], arrays["wall_start"][-1])}
    for name in ("wall_skin", "wall_travel", "wall_seen_at"):
        one_more[name] = np.concatenate([arrays[name], arrays[name]])
    with pytest.raises(ValueError, match="neighbour lists are those of 2 grains and 2 walls, not of 2 and 1"):
        checkpoint.unpack(one_more, text)


def test_walls_and_waiting_grains_of_a_kept_stage_exist():
    simulation = thrown()
    simulation.step()
    arrays, text = checkpoint.pack(simulation)
    checkpoint.unpack(arrays, text)
    for wrong in ("[3]", "[-1]"):
        with pytest.raises(ValueError, match="is said to be there, of 1 walls"):
            checkpoint.unpack(arrays, text.replace('"present": [0]', f'"present": {wrong}'))
    with pytest.raises(ValueError, match="inflow 'spout' has material 12"):
        checkpoint.unpack(arrays, text.replace('"material": 1', '"material": 12'))
    inflow = simulation.bodies.events.inflows[0]
    inflow.waiting.append(Crowd.of_one(1e-3, 1.0, 8, 2, "spout"))
    with pytest.raises(ValueError, match="on its way to 'spout' has material 8"):
        checkpoint.unpack(*checkpoint.pack(simulation))


def test_tables_of_fresh_laws_on_resuming(tmp_path):
    """Laws that are passed to resume() again may be those of another run."""
    bodies = grains(
        [[0, 1, 0], [2, 1, 0], [4, 1, 0]], material=np.arange(3), friction=np.eye(3), laws=[rg.Rolling(np.eye(3))]
    )
    simulation = rg.Simulation(bodies, dt=1e-3)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"))
    simulation.run(steps=2)
    rg.resume(tmp_path / "run.vtkhdf", laws=[rg.Rolling(0.1)]).step()
    with pytest.raises(ValueError, match="grain 2 has material 2, and the table 'rolling' of Rolling has rows 0 to 1"):
        rg.resume(tmp_path / "run.vtkhdf", laws=[rg.Rolling(np.eye(2))])


def test_one_number_is_for_all_materials():
    """A law of one number gives what a full table of it gives."""
    speeds = []
    for table in (0.4, np.full((2, 2), 0.4)):
        bodies = grains(
            [[0, 1.1, 0], [5, 1.1, 0]], velocity=[[0, -1, 0]] * 2, material=[0, 1], friction=np.zeros((2, 2)),
            walls=[floor(material=1)], laws=[rg.Restitution(table)],
        )  # fmt: skip
        simulation = rg.Simulation(bodies, dt=0.05)
        simulation.run(steps=4)
        speeds.append(bodies.velocity[:, 1].copy())
    assert np.array_equal(*speeds)
    assert speeds[0] == pytest.approx([0.4, 0.4], rel=1e-12)
