"""Groups, materials, densities and scalars of the user, from the scene through a run into files and exports."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.formats.export import export
from rigidgrains.formats.state import read_state
from rigidgrains.scene.start import start_scene
from rigidgrains.simulation import sorting
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory.checkpoint import pack
from rigidgrains.trajectory.errors import TrajectoryError


def hopper(*, recycle=None):
    """Disks of two materials rain into a box with a hole in its floor; below the hole is an outlet."""
    scene = rg.Scene(dimension=2, gravity=[0, -9.81], friction=0.4, run={"dt": 5e-4, "seed": 5})
    scene.add_material("light", density=1000.0)
    scene.add_material("heavy", density=3000.0)
    scene.add_grains(
        name="bed", count=40, radius=[1.5e-3, 2.2e-3], region=[[0, 0.002], [0.04, 0.04]],
        material={"light": 0.5, "heavy": 0.5}, scalars={"dye": "x / 0.04", "label": list(range(40))},
    )  # fmt: skip
    scene.add_plane("left", point=[0, 0], normal=[1, 0])
    scene.add_plane("right", point=[0.04, 0], normal=[-1, 0])
    scene.add_plane("floor left", point=[0.006, 0], normal=[0, 1], size=0.012)
    scene.add_plane("floor right", point=[0.034, 0], normal=[0, 1], size=0.012)
    scene.add_inflow(
        "rain", region=[[0.002, 0.06], [0.038, 0.08]], velocity=[0, -0.5], radius=[1.5e-3, 2.2e-3], rate=400.0,
        material="heavy", scalars={"entered": "t", "dye": 2.0},
    )  # fmt: skip
    scene.add_outlet("drain", point=[0, -0.01], normal=[0, 1], recycle=recycle)
    return scene


def test_a_group_has_shares_of_materials_with_their_densities():
    bodies = hopper().build()
    names = np.array(bodies.material_names)[bodies.material]
    assert [(names == name).sum() for name in ("light", "heavy")] == [20, 20]
    density = bodies.mass / (np.pi * bodies.radius**2)
    assert density == pytest.approx(np.where(names == "light", 1000.0, 3000.0), rel=1e-12)
    drawn = np.corrcoef(names == "light", np.arange(40) % 2)[0, 1]
    assert abs(drawn) < 0.6  # they are mixed, not sorted


def test_shares_of_densities_count_grains_or_their_mass():
    scene = rg.Scene(dimension=3)
    words = {"count": 60, "radius": 1e-3, "region": [[0, 0, 0], [0.02, 0.02, 0.02]]}
    scene.add_grains(density={"values": [1000, 4000], "shares": [1, 1], "by": "mass"}, **words)
    mass = scene.build().mass
    light = mass < 2.0 * mass.min()
    assert (light.sum(), mass[light].sum()) == (48, pytest.approx(mass[~light].sum()))
    one = rg.Scene(dimension=3)
    one.add_grains(positions=[[0, 0, 0], [1, 0, 0]], radius=0.1, density=[1.0, 2.0])
    assert one.build().mass == pytest.approx(4.0 / 3.0 * np.pi * 1e-3 * np.array([1.0, 2.0]))


def test_materials_and_densities_change_no_place():
    """What is drawn of species has random numbers of its own."""
    words = {"count": 30, "radius": [1e-3, 2e-3], "region": [[0, 0], [0.03, 0.03]]}
    plain, mixed = rg.Scene(), rg.Scene()
    plain.add_grains(**words)
    mixed.add_grains(density={"values": [1, 2], "shares": [1, 2]}, scalars={"dye": "r"}, **words)
    one, other = plain.build(), mixed.build()
    assert one.position.tobytes() == other.position.tobytes()
    assert other.scalars[:, 0].tolist() == other.radius.tolist()


@pytest.mark.parametrize("placement", [None, "random", "dense"])
def test_groups_of_one_region_are_placed_in_one_pass(placement):
    """Two thirds full: one after the other, the second group would find no room."""
    scene = rg.Scene()
    words = {"region": [[0, 0], [0.05, 0.05]], "placement": placement}
    room, fraction = 0.05**2, 0.4 if placement == "random" else 0.66
    small, large = (int(0.5 * fraction * room / (np.pi * r**2)) for r in (1e-3, 2e-3))
    scene.add_grains(name="small", count=small, radius=1e-3, **words)
    scene.add_grains(name="large", count=large, radius=2e-3, scalars={"n": list(range(large))}, **words)
    bodies = scene.build()
    assert {name: rows.stop - rows.start for name, rows in bodies.groups.items()} == {"small": small, "large": large}
    assert (bodies.radius[bodies.groups["large"]] == 2e-3).all()
    assert sorted(bodies.scalars[bodies.groups["large"], 0]) == list(range(large))
    apart = np.linalg.norm(bodies.position[:, None] - bodies.position, axis=2)
    gap = apart - bodies.radius[:, None] - bodies.radius
    assert gap[~np.eye(bodies.count, dtype=bool)].min() > -1e-9
    heights = [bodies.position[bodies.groups[name], 1].mean() for name in ("small", "large")]
    assert np.ptp(heights) < 0.2 * 0.05  # mixed: neither lies above the other


def test_what_does_not_fit_in_one_pass_names_the_groups():
    scene = rg.Scene()
    words = {"count": 40, "radius": 1e-3, "region": [[0, 0], [0.013, 0.013]]}
    scene.add_grains(name="one", **words)
    scene.add_grains(name="other", **words)
    with pytest.raises(rg.SceneError, match="groups 'one' and 'other' are placed together"):
        scene.build()


def told(bodies):
    """The scalars of each grain by its id."""
    return {int(i): tuple(row) for i, row in zip(bodies.id, bodies.scalars)}


def test_scalars_follow_their_grains_through_a_sort():
    simulation = Simulation(hopper())
    simulation.run(steps=3)
    before, bodies = told(simulation.bodies), simulation.bodies
    rows = np.random.default_rng(1).permutation(bodies.count)
    rows = np.concatenate([np.sort(rows[:40])[::-1], rows[40:]]) if bodies.count > 40 else rows
    sorting.renumber(bodies, simulation.neighbours, simulation.contacts, rows)
    np.testing.assert_equal(told(bodies), before)


@pytest.mark.parametrize("recycle", [None, "rain"])
def test_scalars_follow_their_grains_in_and_out(recycle):
    scene = hopper(recycle=recycle)
    simulation = Simulation(scene)
    first = told(simulation.bodies)
    assert simulation.scalars["dye"] == pytest.approx(simulation.bodies.position[:, 0] / 0.04)
    for k in range(500):
        simulation.step()
        if k == 100:
            simulation.scalars["late"] = 7.0  # also of grains on their way back
    now = told(simulation.bodies)
    (rain,), (drain,) = simulation.bodies.events.inflows, simulation.bodies.events.outlets
    assert min(rain.made, drain.count) > 5
    stayed, fresh = now.keys() & first.keys(), now.keys() - first.keys()
    assert {i: now[i][:2] for i in stayed} == {i: first[i][:2] for i in stayed}
    entered = np.array([now[i][simulation.bodies.scalar_names.index("entered")] for i in sorted(fresh)])
    assert (np.diff(entered) >= 0.0).all()
    assert 0.0 < entered.max() <= simulation.time
    assert {now[i][0] for i in fresh} == {2.0}
    assert all(np.isnan(now[i][1]) for i in fresh)  # they have no label
    if recycle:
        assert rain.again > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_restart_has_species_to_the_bit(tmp_path, threads):
    path = tmp_path / "run.vtkhdf"
    simulation = Simulation(hopper(recycle="rain"))
    simulation.observe(rg.TrajectoryWriter(path), every=50)
    simulation.run(steps=250)
    half = rg.resume(path)
    assert half.bodies.material_names == ["default", "light", "heavy"]
    for one in (simulation, half):
        one.run(steps=100)
    kept, again = pack(simulation), pack(half)
    for name in ("scalars", "material", "position", "motion"):
        assert kept[0][name].tobytes() == again[0][name].tobytes()
    trajectory = rg.Trajectory(path)
    assert trajectory[0].names.scalars == ["dye", "label", "entered"]
    frame = trajectory[-1]
    assert set(np.unique(frame.group)) == {0, 1}
    assert frame.names.groups == ["bed", "rain"]
    order = np.argsort(simulation.bodies.id)
    mine = dict(zip(frame.id.tolist(), frame.scalars["dye"].tolist()))
    now = dict(zip(simulation.bodies.id[order].tolist(), simulation.scalars["dye"][order].tolist()))
    assert {i: mine[i] for i in mine} == {i: now[i] for i in mine}
    assert sorted(set(np.round(frame.density))) == [1000.0, 3000.0]


def test_scalars_are_written_again_only_when_they_change(tmp_path):
    import h5py

    path = tmp_path / "run.vtkhdf"
    scene = rg.Scene(gravity=[0, -9.81], run={"dt": 1e-3})
    scene.add_grains(count=5, radius=1e-3, region=[[0, 0], [0.02, 0.02]], scalars={"still": 1.0, "height": "y"})
    simulation = Simulation(scene)

    def look(simulation):
        simulation.scalars["height"] = simulation.bodies.position[:, 1]

    simulation.observe(look)
    simulation.observe(rg.TrajectoryWriter(path), every=1)
    simulation.run(steps=4)
    with h5py.File(path) as file:
        assert len(file["VTKHDF/PointData/still"]) == 5
        assert len(file["VTKHDF/PointData/height"]) == 25
    trajectory = rg.Trajectory(path)
    assert (trajectory.array("height") == trajectory.array("position")[:, :, 1]).all()


def test_a_late_scalar_has_no_room_in_a_file_that_was_begun(tmp_path):
    simulation = Simulation(hopper())
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=1)
    simulation.run(steps=2)
    simulation.scalars["layer"] = 1.0
    with pytest.raises(TrajectoryError, match=r"begun without the scalar 'layer'.*nan"):
        simulation.run(steps=1)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("species") / "run.vtkhdf"
    simulation = Simulation(hopper())
    simulation.observe(rg.TrajectoryWriter(path), every=20)
    simulation.run(steps=40)
    return path


def test_exports_have_species(written, tmp_path):
    frame = rg.Trajectory(written)[-1]
    export(written, "csv", tmp_path / "grains.csv", "last")
    rows = list(csv.DictReader((tmp_path / "grains.csv").open()))
    assert [int(row["group"]) for row in rows] == frame.group.tolist()
    np.testing.assert_array_equal([float(row["dye"]) for row in rows], frame.scalars["dye"])
    export(written, "extxyz", tmp_path / "grains.xyz")
    assert ":group:I:1:" in (tmp_path / "grains.xyz").read_text()
    assert "dye:R:1" in (tmp_path / "grains.xyz").read_text()
    export(written, "lammps", tmp_path / "grains.dump")
    assert " group dye label entered\n" in (tmp_path / "grains.dump").read_text()
    hoomd = pytest.importorskip("gsd.hoomd")
    export(written, "gsd", tmp_path / "grains.gsd")
    with hoomd.open(str(tmp_path / "grains.gsd")) as file:
        np.testing.assert_array_equal(file[-1].log["particles/dye"], frame.scalars["dye"])
        assert file[-1].log["particles/group"].tolist() == frame.group.tolist()


def test_a_trajectory_gives_its_scalars_to_a_new_scene(written):
    frame = rg.Trajectory(written)[-1]
    scene = rg.Scene(dimension=2, material=[{"name": "light"}, {"name": "heavy"}])
    scene.add_grains(file=str(written), scalars={"label": 3.0, "new": "y"})
    bodies = scene.build()
    names = dict(zip(bodies.scalar_names, bodies.scalars.T))
    by_id = np.argsort(frame.id)
    np.testing.assert_array_equal(names["dye"], frame.scalars["dye"][by_id])
    assert (names["label"] == 3.0).all()
    assert names["new"].tolist() == bodies.position[:, 1].tolist()
    assert read_state(written).scalars.keys() == {"dye", "label", "entered"}


def materials_of(bodies, ids):
    """Name of the material of each grain, by its number."""
    return {int(i): bodies.material_names[k] for i, k in zip(ids, bodies.material)}


def test_grains_of_a_trajectory_keep_their_materials(written):
    """By name, in one group of both; the scene says what they are, in whatever order."""
    frame = rg.Trajectory(written)[-1]
    there = {int(i): frame.names.materials[k] for i, k in zip(frame.id, frame.material)}
    assert set(there.values()) == {"light", "heavy"}
    materials = [{"name": "heavy", "friction": 0.7}, {"name": "light", "friction": 0.1}, {"name": "steel"}]
    scene = rg.Scene(dimension=2, friction=0.4, material=materials)
    scene.add_grains(file=str(written))
    scene.add_plane("floor", point=[0, -1], normal=[0, 1], material="heavy", friction=0.0)
    bodies = scene.build()
    assert materials_of(bodies, np.sort(frame.id)) == there
    assert bodies.mass == pytest.approx(frame.mass[np.argsort(frame.id)], rel=1e-12)
    heavy, light = (bodies.material_names.index(name) for name in ("heavy", "light"))
    assert [bodies.friction[heavy, heavy], bodies.friction[light, light]] == [0.7, 0.1]
    steel = rg.Scene(dimension=2, material=materials)
    steel.add_grains(file=str(written), material="steel")
    assert set(materials_of(steel.build(), frame.id).values()) == {"steel"}
    bed = rg.Scene(dimension=2, material=materials)
    bed.add_grains(file=str(written), group="bed")
    some = np.sort(frame.id[frame.group == 0])
    assert materials_of(bed.build(), some) == {int(i): there[int(i)] for i in some}


def test_materials_of_a_file_that_the_scene_does_not_have_are_told(written):
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(grains=[{"file": str(written)}], material=[{"name": "light"}])
    (problem,) = told.value.problems
    assert problem.place == "grains[0].file"
    assert "the material 'heavy'; add a [[material]] of this name, or give the group one" in problem.message


def test_an_import_has_materials_and_pairs_of_the_file(tmp_path):
    """Also of a group that has several, and where walls have a friction of their own."""
    scene = hopper()
    scene.add_pair(materials=["light", "heavy"], friction=0.05)
    scene.add_pair(materials=["default", "heavy"], friction=0.6)
    scene.add_plane("back", point=[-1, 0], normal=[1, 0], material="heavy", friction=0.0)
    simulation = Simulation(scene)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=5)
    simulation.run(steps=5)
    start_scene(tmp_path / "run.vtkhdf", tmp_path / "next.toml")
    bodies, old = rg.load_scene(tmp_path / "next.toml").build(), simulation.bodies
    assert list(bodies.groups) == ["bed"]
    assert materials_of(bodies, range(40)) == materials_of(old, old.id)
    rows, before = ([names.index(name) for name in ("default", "light", "heavy")]
                    for names in (bodies.material_names, old.material_names))  # fmt: skip
    assert np.array_equal(bodies.friction[np.ix_(rows, rows)], old.friction[np.ix_(before, before)])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"scalars": {"radius": 1.0}}, r"grains\[0\].scalars.radius: 'radius' is what grains call something else"),
        ({"scalars": {"a b": 1.0}}, "'a b' is no name of a scalar"),
        ({"scalars": {"vtkGhostType": 1.0}}, "'vtkGhostType' is what grains call something else"),  # hides in ParaView
        ({"scalars": {"dye": "x +"}}, r"scalars.dye: is no formula; write one in x, y, z, r, t"),
        ({"scalars": {"dye": "q"}}, "scalars.dye: has the unknown name 'q'; known are x, y, z, r, t"),
        ({"scalars": {"dye": [1.0, 2.0]}}, "needs one value for each of the 4 grains"),
        ({"scalars": {"dye": "log(x - 1)"}}, r"grains\[0\].scalars.dye: formula .* is no real number"),
        ({"scalars": 3}, "must be a table of numbers, formulas or lists by name"),
        ({"density": {"values": [1, 2], "shares": [1]}}, "needs one share for each value"),
        ({"density": {"value": [1]}}, "unknown key 'value'; did you mean 'values'"),
        ({"density": [1.0, 2.0]}, "needs one value for each of the 4 grains"),
        ({"density": -1.0}, "must be greater than zero"),
        ({"material": {"a": 0.5, "b": -1}}, "must be greater than zero"),
        ({"material": {"a": 0.5, "b": 0.5}}, "unknown material"),
        ({"material": 3}, "must be the name of a material, or a table of shares"),
    ],
)  # fmt: skip
def test_mistakes_have_place_value_and_remedy(words, message):
    grains = {"count": 4, "radius": 1e-3, "region": [[0, 0], [0.02, 0.02]], **words}
    with pytest.raises(rg.SceneError, match=message):
        rg.Scene(material=[{"name": "a"}], grains=[grains]).build()


def test_all_mistakes_of_species_are_told_at_once():
    words = {"count": 4, "radius": 1e-3, "region": [[0, 0], [0.02, 0.02]]}
    given = {"dye": "x +", "ok": 1.0, "a b": 2.0, "unit": "kg"}
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(
            grains=[
                {**words, "scalars": given, "material": {"glass": -1.0, "steel": "some"}},
                {**words, "scalars": {"dye": "q"}, "density": {"values": [1, 2], "shares": [1, 1], "by": "volume"}},
            ],
            inflow=[{"name": "rain", "rate": 1.0, "radius": 1e-3, "region": words["region"], "scalars": {"mass": 1.0}}],
        )
    assert [problem.place for problem in told.value.problems] == [
        *(f"grains[0].{key}" for key in ("material.glass", "material.steel")),
        *(f"grains[0].scalars.{name}" for name in ("dye", "a b", "unit")),
        "grains[1].density.by",
        "grains[1].scalars.dye",
        "inflow[0].scalars.mass",
    ]


def test_all_formulas_without_a_value_are_told_at_once():
    """They are found in the places that grains have come to."""
    words = {"count": 4, "radius": 1e-3, "region": [[0, 0], [0.02, 0.02]]}
    one = {**words, "scalars": {"a": "log(x - 1)", "b": "1/(y - y)", "c": "x"}}
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(grains=[one, {**words, "scalars": {"a": "sqrt(-r)"}}]).build()
    places = [problem.place for problem in told.value.problems]
    assert places == ["grains[0].scalars.a", "grains[0].scalars.b", "grains[1].scalars.a"]


def test_values_of_scalars_are_checked():
    simulation = Simulation(hopper())
    with pytest.raises(ValueError, match="give a number for each of the 40 grains"):
        simulation.scalars["dye"] = [1.0, 2.0]
    with pytest.raises(KeyError, match="did you mean 'dye'"):
        simulation.scalars["dyes"]
    with pytest.raises(ValueError, match="is what grains call something else"):
        simulation.scalars["mass"] = 1.0
    with pytest.raises(ValueError, match="scalar 'dye' is inf in row 0; give finite numbers, or NaN for no value"):
        simulation.scalars["dye"] = np.inf
    with pytest.raises(ValueError, match="3 is no name of a scalar"):
        simulation.scalars[3] = "text"


def test_the_colour_of_a_scene_may_be_a_scalar():
    grains = [{"count": 1, "radius": 1e-3, "region": [[0, 0], [0.02, 0.02]], "scalars": {"dye": 1.0}}]
    assert rg.Scene(grains=grains, output={"colour": "dye"}).output.colour == "dye"
    with pytest.raises(rg.SceneError, match=r"output.colour: nothing is called so; did you mean 'dye'\?"):
        rg.Scene(grains=grains, output={"colour": "dyed"})
