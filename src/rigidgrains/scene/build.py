"""From a scene to bodies: friction table, walls, placed grains, checks."""

from __future__ import annotations

import functools

import numpy as np

from ..model import time_functions
from ..model.bodies import Bodies
from ..model.cell import Cell
from ..model.columns import V
from ..model.spring import Spring
from ..model.walls import Wall
from .checks import Groups, cell_mistakes, mass_mistakes, overlap_mistakes, wall_mistakes
from .errors import ABSENT, EMPTY, Problem, SceneError
from .forms import Forms
from .friction import FrictionTable
from .grains import Grains
from .make_shapes import Shapes, make_shapes
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
    shapes = make_shapes(scene)
    groups: list[PlacedGroup] = []
    for index, table in enumerate(scene.grains):
        there = [wall for wall in walls if wall.is_there(0.0)]
        groups.append(place_group(scene, index, table, seed, there, cell, shapes, groups))
    slices, forms = slices_of(groups), joined(groups)
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
            catalogue=None if forms is None else forms.catalogue,
            shape=0 if forms is None else forms.shape,
            orientation=None if forms is None else forms.orientation,
        )
    if scene.gravity is not None and moves(scene.gravity):
        bodies.gravity_function = time_functions.in_space(scene.gravity)
    add_streams(scene, bodies, friction, seed)
    check(scene, bodies, forms, slices)
    bodies.force, bodies.torque = pushes(scene, bodies, "force"), pushes(scene, bodies, "torque")
    bodies.springs = springs(scene, bodies)
    for piston in scene.piston:
        if piston.mass is not None and piston.velocity is not None:
            row = bodies.count + [wall.name for wall in bodies.walls].index(piston.name)
            bodies.motion[row, V] = piston.velocity * in_space(piston.normal)
    return bodies


class PlacedGroup:
    """Grains of one group, in their final order: positions, radii, start velocities and spins, shapes if not round."""

    def __init__(
        self, table: Grains, dimension: int, position: Array, radius: Array, order: np.ndarray, forms: Forms | None
    ) -> None:
        self.position = position
        self.forms = None if forms is None else forms[order]
        self.radius = radius[order]
        self.velocity = table.velocities(dimension)[order]
        self.spin = table.spins(dimension)[order]

    @property
    def bound(self) -> Array:
        """(n,) m, radii of the spheres that hold them."""
        return self.radius if self.forms is None else self.forms.bound


def place_group(
    scene: Scene,
    index: int,
    table: Grains,
    seed: int,
    walls: list[Wall],
    cell: Cell | None,
    shapes: Shapes | None,
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
    try:
        radius, forms = sizes_and_shapes(index, table, dimension, shapes, rng)
    except SceneError as error:
        raise SceneError(problem.inside(place) for problem in error.problems) from None
    if table.file is not None or table.positions is not None:
        given = table.positions if table.file is None else table.state.position[:, :dimension]
        return PlacedGroup(table, dimension, in_space(given), radius, np.arange(table.number), forms)
    assert table.region is not None
    lower, upper = in_space(table.region)
    room = Room(
        place,
        dimension,
        lower,
        upper,
        walls,
        np.vstack([np.zeros((0, 3)), *(group.position for group in earlier)]),
        np.concatenate([np.zeros(0), *(group.bound for group in earlier)]),
        cell,
        dict(zip((group_name(k, group.name) for k, group in enumerate(scene.grains)), slices_of(earlier))),
        joined(earlier),
    )
    position, order = place_grains(table, radius if forms is None else forms.bound, rng, room, forms)
    return PlacedGroup(table, dimension, position, radius, order, forms)


def sizes_and_shapes(
    index: int, table: Grains, dimension: int, shapes: Shapes | None, rng: np.random.Generator
) -> tuple[Array, Forms | None]:
    """Radii (n,) m and, where some grain of the scene is not round, shapes and orientations."""
    kinds = None if shapes is None else shapes.numbers_of(index, table, rng)
    if table.file is not None:
        radius = table.state.radius
    elif table.size == "as drawn" and table.shape is not None:
        assert shapes is not None
        radius = shapes.drawn_radius[kinds]
    else:
        radius = table.radii if table.radii is not None else draw_radii(table.radius, table.number, dimension, rng)
    if shapes is None or kinds is None or shapes.catalogue.round.all():
        return radius, None
    return radius, Forms(shapes.catalogue, kinds, radius, shapes.orientations_of(index, table, kinds, rng))


def joined(groups: list[PlacedGroup]) -> Forms | None:
    """Shapes and orientations of the grains of all groups; None where all are round."""
    forms = [group.forms for group in groups if group.forms is not None]
    return functools.reduce(Forms.joined, forms) if forms else None


def slices_of(groups: list[PlacedGroup]) -> list[slice]:
    """Rows of the grains of each group, one after the other."""
    ends = np.cumsum([len(group.radius) for group in groups])
    return [slice(int(end) - len(group.radius), int(end)) for end, group in zip(ends, groups)]


def check(scene: Scene, bodies: Bodies, forms: Forms | None, slices: list[slice]) -> None:
    """Raise what is physically wrong; placed groups alone need no check."""
    problems = list(mass_mistakes(bodies.mass, slices))
    groups = Groups(slices, scene.grains)
    if bodies.cell is not None:
        problems += cell_mistakes(bodies, groups)
    if not problems and any(table.positions is not None or table.file is not None for table in scene.grains):
        problems += overlap_mistakes(bodies, forms, groups)
        problems += wall_mistakes(bodies, forms, groups)
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
