"""Steps in periodic cells are certified; a force, a contact or an image that is not what it should be is found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.builders import exact, grains, plane
from support.worlds import broken, keep

from rigidgrains import Frame, Simulation
from rigidgrains.certificate import check
from rigidgrains.certificate.images import ghosts, keys
from rigidgrains.certificate.overlap import Overlaps
from rigidgrains.certificate.state import State
from rigidgrains.laws import Cohesion, Restitution, Rolling
from rigidgrains.model.cell import Cell


def gas(dimension, cell, *, n=50, seed=2, walls=(), **rest):
    """A dense gas that meets itself through all faces."""
    rng = np.random.default_rng(seed)
    steps = int(np.ceil(n ** (1.0 / dimension)))
    share = np.array(list(product(range(steps), repeat=dimension)))[:n] / steps + 0.5 / steps
    position = cell.origin + np.pad(share, ((0, 0), (0, 3 - dimension))) @ cell.vectors
    flat = np.array([1.0, 1.0, float(dimension == 3)])
    spin = rng.normal(size=(n, 3)) * (1.0 if dimension == 3 else 1.0 - flat)
    return grains(
        position, rng.uniform(0.5, 0.7, n), rng.uniform(1.0, 2.0, n), dimension=dimension, spin=spin,
        velocity=3.0 * rng.normal(size=(n, 3)) * flat, friction=0.4, cell=cell, walls=list(walls), **rest,
    )  # fmt: skip


def upright(dimension):
    edge = 12.0 if dimension == 2 else 6.5
    return gas(dimension, Cell(np.diag([edge, edge, edge if dimension == 3 else 1.0]), periodic=[1, 1, dimension == 3]))


def leaning(dimension):
    vectors = np.array([[12.0, 0, 0], [5.0, 11.0, 0], [0, 0, 1.0]])
    if dimension == 3:
        vectors = np.array([[7.0, 0, 0], [2.5, 6.5, 0], [-3.0, 2.0, 6.5]])
    return gas(dimension, Cell(vectors, [-3.0, 4.0, 0.0], [1, 1, dimension == 3]), gravity=[1.0, -2.0, 0.0])


def chute(dimension):
    """Grains on a slope that is periodic along it."""
    edge = 12.0 if dimension == 2 else 6.5
    cell = Cell(np.diag([edge, 3.0 * edge, edge if dimension == 3 else 1.0]), periodic=[1, 0, dimension == 3])
    floor = plane([0, 0, 0], [0, 1, 0])
    return gas(dimension, cell, walls=[floor], gravity=[3.0, -9.0, 0.0])


def tiny(dimension):
    """Two grains that touch through two images at a time."""
    cell = Cell(np.diag([4.0, 6.0, 6.0 if dimension == 3 else 1.0]), periodic=[1, 1, dimension == 3])
    return grains([[0.0, 0, 0], [2.0, 0, 0]], dimension=dimension, cell=cell, friction=0.5, spin=[[0, 0, 3], [0, 0, 0]],
                  velocity=[[0, 0, 0], [0.3, 0.2, 0]])  # fmt: skip


WORLDS = [upright, leaning, chute, tiny]
SHEAR = np.array([[0.0, 1.0, 0.0], [0, 0, 0], [0, 0, 0]])
SIDES = np.diag([True, True, False])
CONTROL = {
    "shear": {"rate": 0.7 * SHEAR},
    "compression": {"rate": np.diag([-0.3, -0.2, 0.0])},
    "pressure": {"free": SIDES, "stress": 40.0 * SIDES, "isotropic": True, "inertia": 0.25},
    "sides": {"free": SIDES, "stress": np.diag([30.0, 50.0, 0.0]), "inertia": 0.5},
    "mixed": {"rate": 0.7 * SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 40.0, 0])},
    "shear stress": {"free": SIDES | (SHEAR > 0.0), "stress": 40.0 * SIDES - 10.0 * SHEAR},
}
LAWS = {
    "plain": [],
    "rolling": [Rolling(0.1, 0.05)],
    "cohesion": [Cohesion(20.0, 0.05)],
    "restitution": [Restitution(0.7, 0.3)],
}


def flowing(control, dimension=2, laws="plain", n=50):
    """A gas in a cell that deforms."""
    vectors = np.array([[11.0, 0, 0], [3.0, 10.5, 0], [0, 0, 1.0]])
    words = {name: np.array(value) if np.ndim(value) else value for name, value in CONTROL[control].items()}
    if dimension == 3:
        vectors = np.array([[7.0, 0, 0], [2.5, 6.5, 0], [-3.0, 2.0, 6.5]])
        for name in {"free", "stress"} & words.keys():
            words[name][2, 2] = words[name][1, 1]
    cell = Cell(vectors, [-3.0, 4.0, 0.0], [1, 1, dimension == 3], **words)
    return gas(dimension, cell, n=n, laws=LAWS[laws])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("world", WORLDS)
def test_real_steps_are_certified(world, dimension):
    bodies = world(dimension)
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    met = 0
    for _ in range(40):
        simulation.step()
        frame = Frame.of(simulation)
        certificate = check(frame)
        assert certificate.passed, str(certificate)
        met += int((frame.contacts.image.any(axis=1) & frame.contacts.force.any(axis=1)).sum())
    assert met > 0  # forces through faces
    assert certificate.accuracy < 1e-7
    assert not certificate.unchecked


@pytest.mark.parametrize(
    ("control", "dimension", "laws"),
    [(control, d, "plain") for control in CONTROL for d in (2, 3)]
    + [("mixed", 3, laws) for laws in ("rolling", "cohesion", "restitution")],
)
def test_cells_that_deform_are_certified(control, dimension, laws):
    """Prescribed rates and stresses, in all steps: the flow, the cell's own law, momentum and energy to rounding."""
    simulation = Simulation(flowing(control, dimension, laws), dt=0.005, solver=exact())
    met = 0.0
    for _ in range(40):
        simulation.step()
        frame = Frame.of(simulation)
        certificate = check(frame)
        assert certificate.passed, str(certificate)
        met += np.abs(frame.contacts.force[frame.contacts.image.any(axis=1)]).sum()
    assert met > 0.0
    assert np.abs(frame.cell_rate).max() > 1e-3
    assert {"flow", "cell"} <= {entry.name for entry in certificate.checks}
    assert certificate.energy["work of the cell"] != 0.0
    assert certificate.accuracy < 1e-6


def change_rate(frame):
    frame.cell_rate[1, 1] *= 1.0 + 1e-6
    return "cell", "L_yy gained"


def change_rate_before(frame):
    frame.cell_rate_before[1, 1] += 1e-6
    return "cell", "L_yy gained"


def change_stress(frame):
    frame.cell_stress[1, 1] *= 1.0 + 1e-6
    return "cell", "L_yy gained"


def change_inertia(frame):
    frame.cell_mobility[1, 1] *= 1.0 + 1e-3
    return "cell", "L_yy gained"


def change_peculiar(frame):
    frame.peculiar_velocity[3, 0] += 1e-6
    return "momentum", "grain 3"


def forget_flow(frame):
    frame.velocity[3, 0] = frame.peculiar_velocity[3, 0]
    return "flow", "grain 3"


def scale_force(frame):
    frame.contacts.force[int(np.argmax(frame.contacts.normal_force))] *= 1.0 + 1e-6
    return "cell", "L_yy gained"


@pytest.mark.parametrize(
    "tamper",
    [change_rate, change_rate_before, change_stress, change_inertia, change_peculiar, forget_flow, scale_force],
)
def test_tampering_with_a_flow_is_found(tamper):
    simulation = Simulation(flowing("mixed"), dt=0.005, solver=exact())
    for _ in range(40):
        simulation.step()
        frame = Frame.of(simulation)
        if np.abs(frame.contacts.force).sum() > 0.0 and simulation.steps > 5:
            break
    assert check(frame).passed
    law, told = tamper(frame)
    certificate = check(frame)
    assert law in {check.name for check in certificate.failed}, str(certificate)
    assert told in certificate[law].worst


@pytest.mark.parametrize("seed", range(5))
def test_all_overlaps_are_found(seed):
    """As by trying every image, whatever the lean, also of positions beyond the faces."""
    rng = np.random.default_rng(seed)
    n, edges = 40, rng.uniform(4.0, 7.0, 3)
    vectors = np.diag(edges)
    vectors[1, 0], vectors[2, 0], vectors[2, 1] = rng.uniform(-0.5, 0.5, 3) * edges[[0, 0, 1]]
    cell = Cell(vectors, rng.normal(size=3), rng.random(3) < 0.7)
    bodies = grains(cell.origin + rng.uniform(-0.3, 1.3, (n, 3)) @ vectors, rng.uniform(0.3, 1.0, n), cell=cell)
    found = Overlaps.of(State(Frame.of(Simulation(bodies, dt=0.01))))
    listed = {(*sorted(pair), *(k if pair[0] < pair[1] else [-x for x in k])) for pair, k in
              zip(found.pair.tolist(), found.image.tolist())}  # fmt: skip
    assert len(listed) == len(found.pair)
    expected = set()
    for k in product(*([-2, -1, 0, 1, 2] if has else [0] for has in cell.periodic)):
        away = bodies.position[None] + np.array(k) @ vectors - bodies.position[:, None]
        near = np.linalg.norm(away, axis=2) < bodies.radius[:, None] + bodies.radius[None]
        expected |= {(int(i), int(j), *k) for i, j in np.argwhere(near) if i < j}
    assert listed == expected


def test_every_pair_and_image_has_a_number_of_its_own():
    """Whichever body comes first; seen from the other one, an image is the opposite one."""
    bodies, shifts = 16, np.array(list(product((-7, 0, 1, 7), repeat=3)))
    pair = np.repeat(np.array([(i, j) for i in range(bodies) for j in range(i + 1, bodies)]), len(shifts), axis=0)
    image = np.tile(shifts, (len(pair) // len(shifts), 1))
    for number in (keys(pair, image, bodies), keys(pair[:: len(shifts)], None, bodies)):
        assert number.dtype.kind == "i"
        assert len(np.unique(number)) == len(number)
    np.testing.assert_array_equal(keys(pair, image, bodies), keys(pair[:, ::-1], -image, bodies))


def test_a_grain_that_overlaps_its_own_image():
    bodies = grains([[1.0, 1, 0]], dimension=2, cell=Cell(np.diag([4.0, 4.0, 1.0]), periodic=[1, 1, 0]))
    frame = Frame.of(Simulation(bodies, dt=0.01))
    assert check(frame).passed
    frame.cell[0, 0] = 1.9
    assert "overlap" in broken(frame)
    owner, image, _ = ghosts(State(frame))
    assert set(owner) == {0}
    assert image.tolist().count([0, 0, 0]) == 1


def crossing(frame):
    """The contact with the largest force through a face."""
    force = np.where(frame.contacts.image.any(axis=1), frame.contacts.normal_force, -1.0)
    assert force.max() > 0.0
    return int(np.argmax(force))


def drop(frame):
    """A contact through a face is left out, with its force."""
    kept = np.arange(len(frame.contacts)) != crossing(frame)
    keep(frame, kept)
    return "momentum", "gained"


def forget_image(frame):
    """The image is taken for the grain itself."""
    frame.contacts.image[crossing(frame)] = 0
    return "geometry", "from positions"


def other_image(frame):
    frame.contacts.image[crossing(frame)] *= -1
    return "geometry", "through image"


def open_image(frame):
    """An image in a direction that has none."""
    frame.contacts.image[crossing(frame), 2] = 1
    return "contact list", "which its body has not"


def twice(frame):
    """The same contact seen from the other body."""
    c = crossing(frame)
    other = 0 if c else 1
    frame.contacts.pair[other], frame.contacts.image[other] = frame.contacts.pair[c, ::-1], -frame.contacts.image[c]
    return "contact list", "listed twice"


def stretch(frame):
    frame.cell *= 1.0 + 1e-6
    return "geometry", "through image"


def flatten(frame):
    frame.cell[0, 0] = 0.0
    return "state", "has no volume"


def not_crossed(frame):
    """A grain that fell through a face has fallen on."""
    frame.image[3, 1] += 1
    return "figures", "potential_energy"


@pytest.mark.parametrize("tamper", [drop, forget_image, other_image, open_image, twice, stretch, flatten, not_crossed])
def test_tampering_is_found(tamper):
    simulation = Simulation(leaning(2), dt=0.01, solver=exact())
    for _ in range(30):
        simulation.step()
        frame = Frame.of(simulation)
        if (frame.contacts.image.any(axis=1) & frame.contacts.force.any(axis=1)).any():
            break
    assert check(frame).passed
    law, told = tamper(frame)
    certificate = check(frame)
    assert law in {check.name for check in certificate.failed}, str(certificate)
    assert told in certificate[law].worst


def test_an_overlap_through_a_face_that_nobody_saw():
    """Two grains overlap through a face and there is no contact."""
    cell = Cell(np.diag([10.0, 10.0, 1.0]), periodic=[1, 1, 0])
    bodies = grains([[0.5, 5, 0], [8.6, 5, 0], [5, 5, 0]], dimension=2, cell=cell)
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    simulation.step()
    frame = Frame.of(simulation)
    keep(frame, np.zeros(len(frame.contacts), bool))
    missing = check(frame)["missing contacts"]
    assert not missing.passed
    assert "through image" in missing.worst
