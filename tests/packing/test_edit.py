"""Packings in files: saved and read again, edited by command, and runs that start from them with their forces."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from support.commands import called

import rigidgrains as rg
from rigidgrains import Packing, PackingError, Simulation, Trajectory, TrajectoryError
from rigidgrains.certificate import check_file

CELL = {"lower": (0, 0), "upper": (0.03, 0.06), "periodic": "x"}


def scene(**grains) -> rg.Scene:
    made = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5, cell=CELL)
    made.add_material("glass", friction=0.3)
    made.add_grains(**grains)
    made.add_plane("floor", point=(0, 0), normal=(0, 1))
    return made


@cache
def settled() -> Simulation:
    made = scene(name="sand", count=40, radius=(1e-3, 2e-3), region=((0, 0), (0.03, 0.03)))
    made.add_grains(name="beads", count=15, radius=1e-3, region=((0, 0.03), (0.03, 0.04)), material="glass")
    simulation = Simulation(made, dt=1e-3)
    simulation.run(steps=120)
    return simulation


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return Packing(settled()).save(tmp_path_factory.mktemp("packing") / "sample.vtkhdf")


def test_what_is_saved_is_read_again(saved, tmp_path):
    packing, again = Packing(settled()), Packing(saved)
    for part in ("grains", "contacts", "tables"):
        for name, array in getattr(packing._sample, part).items():
            assert np.array_equal(getattr(again._sample, part)[name], array, equal_nan=array.dtype.kind == "f"), name
    assert again.groups.keys() == {"sand", "beads"}
    with pytest.raises(ValueError, match="exists"):
        packing.save(saved)
    with pytest.raises(TrajectoryError, match="there is no frame 3; it has 1"):
        Packing(saved, 3)
    with pytest.raises(TrajectoryError, match="this is a packing, not a run"):
        rg.resume(saved)
    packing.without_forces().save(tmp_path / "bare.vtkhdf")
    assert not Packing(tmp_path / "bare.vtkhdf").whole
    assert all(one.passed for certificate in check_file(saved) for one in certificate.checks)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_starts_with_the_forces_of_its_sample(saved, threads):
    """The first step begins with the forces of the last: it needs no sweep more than the run would have needed."""
    rg.set_threads(threads)
    try:
        found = {}
        for forces in (True, False):
            made = scene(file=str(saved), group="sand", forces=forces)
            made.add_grains(file=str(saved), group="beads", material="glass", forces=forces)
            simulation = Simulation(made, dt=1e-3)
            simulation.step()
            found[forces] = simulation.last_solve.sweeps
            carried = simulation.contacts.normal_force.sum()
        assert found[True] < found[False]
        assert carried > 0.0
    finally:
        rg.set_threads(None)


def test_every_force_finds_its_contact(saved, tmp_path):
    """Groups in another order, a moved cell: forces of the file are those of the contacts before the first sweep."""
    for copies in ((1, 1), (2, 1)):
        path = Packing(saved).replicate(*copies).save(tmp_path / f"{copies[0]}.vtkhdf")
        made = rg.Scene(dimension=2, friction=0.5, cell={**CELL, "upper": (0.03 * copies[0], 0.06)})
        made.add_material("glass", friction=0.3)
        for name in ("beads", "sand"):
            made.add_grains(file=str(path), group=name)
        made.add_plane("floor", point=(0, 0), normal=(0, 1))
        bodies = made.build()
        given = bodies.given
        simulation = Simulation(bodies, dt=1e-3)
        simulation.neighbours.refresh(bodies, 1e-3)
        from rigidgrains.contacts.given import take_given

        take_given(bodies, simulation.neighbours, simulation.contacts)
        lists = [simulation.neighbours.pairs.last, *(wall.last for wall in simulation.neighbours.walls)]
        used = np.concatenate(lists)
        assert sorted(used[used >= 0]) == list(range(len(given.grain)))
        pairs = simulation.neighbours.pairs
        i = np.repeat(np.arange(bodies.count), np.diff(pairs.start))
        some = pairs.last >= 0
        away = bodies.position[pairs.partner] + bodies.shifts[pairs.image] - bodies.position[i]
        tangential = simulation.contacts._forces[pairs.last[some], 1:]
        normal = away[some] / np.linalg.norm(away[some], axis=1)[:, None]
        assert np.abs((tangential * normal).sum(axis=1)).max() < 1e-2 * np.abs(simulation.contacts._forces).max()


def test_restart_before_the_first_step_to_the_bit(saved, tmp_path):
    made = scene(file=str(saved))
    straight = Simulation(made, dt=1e-3)
    straight.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=100)
    straight.run(steps=0)
    again = rg.resume(tmp_path / "run.vtkhdf")
    for simulation in (straight, again):
        for _ in range(3):
            simulation.step()
    assert np.array_equal(straight.bodies.position, again.bodies.position)
    assert np.array_equal(straight.contacts.forces, again.contacts.forces)


def test_groups_of_files_and_their_mistakes(saved):
    with pytest.raises(
        rg.SceneError, match=r"grains\[0\].group: no group of the file; it has sand, beads; did you mean 'sand'"
    ):
        scene(file=str(saved), group="sant")
    with pytest.raises(rg.SceneError, match="belongs to file; remove group or give a file"):
        scene(count=3, radius=1e-3, region=((0, 0), (0.03, 0.03)), group="sand")


def test_edit_by_command(saved, tmp_path):
    done = called(
        tmp_path, "edit", saved, "--replicate", "2,1", "--mirror", "x=0.03", "--cut", "x=0.01:0.05,y=:0.03",
        "--move", "x=-0.01", "--scale", "2", "-o", "big.vtkhdf",
    )  # fmt: skip
    assert "Packing(" in done.stdout
    assert "forces of" in done.stderr
    same = (
        Packing(saved).replicate(2, 1).mirror("x", at=0.03).cut(((0.01, None), (0.05, 0.03))).move((-0.01, 0)).scale(2)
    )
    with Trajectory(tmp_path / "big.vtkhdf") as made:
        assert np.array_equal(made[-1].position, same.frame.position)
    assert called(tmp_path, "check", "big.vtkhdf").stdout.count("certified") == 2
    assert "a packing to start from" in called(tmp_path, "info", "big.vtkhdf").stdout
    called(tmp_path, "edit", "big.vtkhdf", "--glue", "big.vtkhdf@right", "--no-walls", "-o", "both.vtkhdf")
    called(tmp_path, "edit", saved, "--swap", "of=sand,group=heavy,density=5000,share=0.5", "-o", "mixed.vtkhdf")
    called(tmp_path, "import", "mixed.vtkhdf")
    text = (tmp_path / "mixed.toml").read_text()
    assert text.count("[[grains]]") == 3
    assert "group = 'heavy'" in text.replace('"', "'")
    called(tmp_path, "run", "mixed.toml", "--steps", "3", "-q")
    assert json.loads((tmp_path / "mixed" / "report.json").read_text())["steps"] == 3


def test_all_mistakes_of_a_command_at_once(saved, tmp_path):
    told = called(
        tmp_path, "edit", saved, "--scal", "2", "--glue", "--cut", "x=3", "--mirror", "q", "--thin", "2", "--move",
        "x=a", "--swap", "colour=red", check=2,
    ).stderr  # fmt: skip
    for one in (
        "7 mistakes",
        "'--scal' is no operation; did you mean '--scale'?",
        "--glue needs FILE",
        "--cut x=3: x=3 has no colon; give LOWER:UPPER in m",
        "--mirror q: give an axis",
        "--thin 2: give a share from 0 to 1",
        "--move x=a: 'a' is no number",
        "--swap colour=red: 'colour' is unknown; known are of, material, density, group, share, seed",
    ):
        assert one in told
    told = called(
        tmp_path, "edit", saved, "--density", "-2", "--radius", "nan", "--cut", "x=1:0", "--swap", "material=",
        "--swap", "density=0", check=2,
    ).stderr  # fmt: skip
    for one in (
        "5 mistakes",
        "--density -2: give a positive number",
        "--radius nan: give a positive number",
        "--cut x=1:0: x=1:0 holds nothing; the first number must lie below the second",
        "--swap material=: there is no name after the '='",
        "--swap density=0: '0' must be greater than zero",
    ):
        assert one in told
    for words in (("--scale", "1e300"), ("--scale", "1e-300"), ("--move", "x=1e300"), ("--mirror", "x=1e300")):
        assert "1e" in called(tmp_path, "edit", saved, *words, check=2).stderr
    assert not list(tmp_path.iterdir())
    assert "is a packing, not a run" in called(tmp_path, "resume", saved, check=2).stderr
    assert "z has no meaning in 2D" in called(tmp_path, "edit", saved, "--move", "z=1", check=2).stderr
    assert "no such file" in called(tmp_path, "edit", "none.vtkhdf", "--mirror", "x", check=2).stderr


def test_files_of_other_programs(tmp_path):
    (tmp_path / "grains.csv").write_text("x,y,z,radius\n0,0,0,1\n2.5,0,0,1\n0,2.5,0,1\n")
    packing = Packing(tmp_path / "grains.csv", density=2.0)
    assert np.allclose(packing.frame.mass, 2.0 * np.pi)
    assert not packing.whole
    assert len(packing.cut(((None, None), (1, None)))) == 2
    packing.scale(2.0).save(tmp_path / "twice.vtkhdf")
    assert np.array_equal(Packing(tmp_path / "twice.vtkhdf").frame.radius, [2, 2, 2])
    with pytest.raises(PackingError, match="density = -1 is none"):
        Packing(tmp_path / "grains.csv", density=-1)


def test_single_precision_stays_single(tmp_path):
    simulation = Simulation(scene(count=20, radius=1.5e-3, region=((0, 0), (0.03, 0.02))), dt=1e-3)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf", precision="single"), every=10)
    simulation.run(steps=30)
    packing = Packing(tmp_path / "run.vtkhdf").replicate(2, 1).mirror("x")
    packing.save(tmp_path / "sample.vtkhdf")
    with Trajectory(tmp_path / "sample.vtkhdf") as made:
        assert made[-1].position.dtype == np.float32
    exact = [one for one in next(iter(check_file(tmp_path / "sample.vtkhdf"))).checks if one.kind == "exact"]
    assert all(one.passed for one in exact), [one for one in exact if not one.passed]


def test_a_hopper_with_inflow_and_laws(tmp_path):
    """Grains that came in later, cohesion and rolling friction: what is kept holds, what cannot be is told."""
    from support.scenes import hopper

    simulation = Simulation(hopper(laws=True))
    simulation.run(steps=60)
    packing = Packing(simulation)
    for made in (packing.mirror("x"), packing.cut(((None, None), (0.025, None))), packing.move((1.0, 0.0))):
        certificate = next(iter(check_file(made.save(tmp_path / "one.vtkhdf", force=True))))
        assert not [one for one in certificate.checks if not one.passed and one.kind == "exact"]
    assert "of the materials has a size of its own" in packing.scale(2.0).notes[0]
