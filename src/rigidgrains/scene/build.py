"""From a scene to bodies: friction table, walls, placed grains, checks."""

from __future__ import annotations

import numpy as np

from ..model import time_functions
from ..model.bodies import Bodies
from ..model.cell import Cell
from ..model.columns import V
from ..model.spring import Spring
from ..model.walls import Wall
from .checks import Groups, cell_mistakes, mass_mistakes, overlap_mistakes, wall_mistakes
from .errors import ABSENT, EMPTY, Problem, SceneError
from .friction import FrictionTable
from .grains import Grains
from .make_streams import add_streams, stream_mistakes
from .make_walls import make_walls
from .placement import place_grains
from .references import group_name
from .room import Room
from .scene import Scene
from .sizes import draw_radii
from .values import Array, in_space, moves


def build(scene: Scene, seed: int) -> Bodies:
    """The bodies of a scene whose tables are free of mistakes."""
    if not scene.grains and not scene.inflow:
        raise SceneError([Problem("grains", ABSENT, EMPTY)])
    friction = FrictionTable(scene)
    walls = make_walls(scene, friction)
    cell = None if scene.cell is None else scene.cell.make(scene.dimension)
    groups: list[PlacedGroup] = []
    for index, table in enumerate(scene.grains):
        there = [wall for wall in walls if wall.is_there(0.0)]
        groups.append(place_group(scene, index, table, seed, there, cell, groups))
    slices = slices_of(groups)
    with np.errstate(all="ignore"):
        bodies = Bodies.assemble(
            dimension=scene.dimension,
            position=np.vstack([np.zeros((0, 3)), *(group.position for group in groups)]),
            radius=np.concatenate([np.zeros(0), *(group.radius for group in groups)]),
            density=np.concatenate([np.zeros(0), *(table.densities(scene.dimension) for table in scene.grains)]),
            velocity=np.vstack([np.zeros((0, 3)), *(group.velocity for group in groups)]),
            spin=np.vstack([np.zeros((0, 3)), *(group.spin for group in groups)]),
            material=np.concatenate(
                [
                    np.zeros(0, np.int32),
                    *(np.full(t.number, friction.row(t.material), dtype=np.int32) for t in scene.grains),
                ]
            ),
            gravity=None
            if scene.gravity is None
            else time_functions.values(time_functions.in_space(scene.gravity), 0.0),
            walls=walls,
            friction=friction.table(),
            groups={group_name(i, table.name): slices[i] for i, table in enumerate(scene.grains)},
            laws=friction.laws(),
            cell=cell,
        )
    if scene.gravity is not None and moves(scene.gravity):
        bodies.gravity_function = time_functions.in_space(scene.gravity)
    add_streams(scene, bodies, friction, seed)
    check(scene, bodies, slices)
    bodies.force, bodies.torque = pushes(scene, bodies, "force"), pushes(scene, bodies, "torque")
    bodies.springs = springs(scene, bodies)
    for piston in scene.piston:
        if piston.mass is not None and piston.velocity is not None:
            row = bodies.count + [wall.name for wall in bodies.walls].index(piston.name)
            bodies.motion[row, V] = piston.velocity * in_space(piston.normal)
    return bodies


class PlacedGroup:
    """Grains of one group, in their final order: positions, radii, start velocities and spins."""

    def __init__(self, table: Grains, dimension: int, position: Array, radius: Array, order: np.ndarray) -> None:
        self.position = position
        self.radius = radius[order]
        self.velocity = table.velocities(dimension)[order]
        self.spin = table.spins(dimension)[order]


def place_group(
    scene: Scene,
    index: int,
    table: Grains,
    seed: int,
    walls: list[Wall],
    cell: Cell | None,
    earlier: list[PlacedGroup],
) -> PlacedGroup:
    """Draw the radii of a group and place it; its random numbers depend on no other group."""
    own = (
        np.random.SeedSequence(table.seed)
        if table.seed is not None
        else np.random.SeedSequence(seed, spawn_key=(index,))
    )
    rng = np.random.default_rng(own)
    place, dimension = f"grains[{index}]", scene.dimension
    if table.file is not None:
        state = table.state
        position = in_space(state.position[:, :dimension])
        return PlacedGroup(table, dimension, position, state.radius, np.arange(table.number))
    try:
        radius = table.radii if table.radii is not None else draw_radii(table.radius, table.number, dimension, rng)
    except SceneError as error:
        raise SceneError(problem.inside(place) for problem in error.problems) from None
    if table.positions is not None:
        return PlacedGroup(table, dimension, in_space(table.positions), radius, np.arange(table.number))
    assert table.region is not None
    lower, upper = in_space(table.region)
    room = Room(
        place,
        dimension,
        lower,
        upper,
        walls,
        np.vstack([np.zeros((0, 3)), *(group.position for group in earlier)]),
        np.concatenate([np.zeros(0), *(group.radius for group in earlier)]),
        cell,
        dict(zip((group_name(k, group.name) for k, group in enumerate(scene.grains)), slices_of(earlier))),
    )
    position, order = place_grains(table, radius, rng, room)
    return PlacedGroup(table, dimension, position, radius, order)


def slices_of(groups: list[PlacedGroup]) -> list[slice]:
    """Rows of the grains of each group, one after the other."""
    ends = np.cumsum([len(group.radius) for group in groups])
    return [slice(int(end) - len(group.radius), int(end)) for end, group in zip(ends, groups)]


def check(scene: Scene, bodies: Bodies, slices: list[slice]) -> None:
    """Raise what is physically wrong; placed groups alone need no check."""
    problems = list(mass_mistakes(bodies.mass, slices))
    groups = Groups(slices, scene.grains)
    if bodies.cell is not None:
        problems += cell_mistakes(bodies, groups)
    if not problems and any(table.positions is not None or table.file is not None for table in scene.grains):
        problems += overlap_mistakes(bodies.position, bodies.radius, bodies.cell, groups)
        problems += wall_mistakes(bodies.position, bodies.radius, bodies.walls, groups)
    problems += stream_mistakes(bodies)
    if problems:
        raise SceneError(problems)


def springs(scene: Scene, bodies: Bodies) -> list[Spring]:
    """Relaxed at the start."""
    made = []
    for table in scene.spring:
        index = None if table.index is None else list(table.index)
        way = in_space(table.direction)
        made.append(Spring(table.name, table.grains, index, table.stiffness, way, table.function(), 0.0))
        made[-1].start = made[-1].place(bodies)
    return made


def pushes(scene: Scene, bodies: Bodies, kind: str) -> Array:
    """External forces or torques (n, 3); (0, 3) without any."""
    tables = [(table, given) for table in scene.force if (given := getattr(table, kind)) is not None]
    if not tables:
        return np.zeros((0, 3))
    out = np.zeros((bodies.count, 3))
    for table, given in tables:
        group = out[bodies.groups[table.grains]]
        rows = slice(None) if table.index is None else list(table.index)
        group[rows] += [0.0, 0.0, float(given)] if np.ndim(given) == 0 else in_space(given)
    return out
