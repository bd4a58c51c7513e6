"""From a scene to bodies: friction table, walls, placed grains, checks."""

from __future__ import annotations

import copy
import functools
from pathlib import Path

import numpy as np

from ..model import time_functions
from ..model.bodies import Bodies
from ..model.columns import V
from ..model.given import GivenForces
from ..model.guide import Guide
from ..model.spring import Spring
from ..model.user_force import add_user_force
from .checks import Groups, cell_mistakes, lever_mistakes, mass_mistakes, overlap_mistakes, wall_mistakes
from .errors import ABSENT, EMPTY, Problem, SceneError
from .forms import Forms
from .friction import FrictionTable
from .make_shapes import make_shapes
from .make_stages import add_stages
from .make_streams import add_streams, stream_mistakes
from .make_walls import drive_of, make_walls
from .place_groups import joined, place_groups, slices_of
from .references import group_name
from .scene import Scene
from .stage_tables import in_stages
from .values import Array, in_space, moves

START = 1e-6  # s, over which the velocity of a prescribed motion at the start is taken


def build(scene: Scene, seed: int) -> Bodies:
    """The bodies of a scene whose tables are free of mistakes."""
    if not scene.grains and not scene.inflow:
        raise SceneError([Problem("grains", ABSENT, EMPTY)])
    later = [then for then, _ in in_stages(scene)]
    friction = FrictionTable(scene, later)
    walls = make_walls(scene, friction)
    cell = None if scene.cell is None else scene.cell.make(scene.dimension)
    if cell is not None:
        cell.moves |= any(then.cell is not None and then.cell.deforms for then in later)
    shapes = make_shapes(scene)
    names = scalar_names(scene)
    there = [wall for wall in walls if wall.is_there(0.0)]
    groups = place_groups(scene, seed, there, cell, shapes, friction, names)
    slices, forms = slices_of(groups), joined(groups)
    with np.errstate(all="ignore"):
        bodies = Bodies.assemble(
            dimension=scene.dimension,
            position=np.vstack([np.zeros((0, 3)), *(group.position for group in groups)]),
            radius=np.concatenate([np.zeros(0), *(group.radius for group in groups)]),
            density=np.concatenate([np.zeros(0), *(group.density for group in groups)]),
            velocity=np.vstack([np.zeros((0, 3)), *(group.velocity for group in groups)]),
            spin=np.vstack([np.zeros((0, 3)), *(group.spin for group in groups)]),
            material=np.concatenate([np.zeros(0, np.int32), *(group.material for group in groups)]),
            gravity=None
            if scene.gravity is None
            else time_functions.values(time_functions.in_space(scene.gravity), 0.0),
            walls=walls,
            friction=friction.table(),
            groups={group_name(i, table.name): slices[i] for i, table in enumerate(scene.grains)},
            laws=friction.laws(),
            cell=cell,
            catalogue=None if shapes is None or shapes.catalogue.round.all() else shapes.catalogue,
            shape=0 if forms is None else forms.shape,
            orientation=None if forms is None else forms.orientation,
        )
    bodies.material_names, bodies.scalar_names = friction.names, names
    bodies.scalars = np.vstack([np.zeros((0, len(names))), *(group.scalars for group in groups)])
    if scene.gravity is not None and moves(scene.gravity):
        bodies.gravity_function = time_functions.in_space(scene.gravity)
    add_streams(scene, bodies, friction, seed, shapes)
    check(scene, bodies, forms, slices)
    bodies.force, bodies.torque = pushes(scene, bodies, "force"), pushes(scene, bodies, "torque")
    bodies.springs = springs(scene, bodies)
    bodies.given = given_forces(scene, bodies, slices)
    add_guides(scene, bodies)
    add_stages(scene, later, bodies, walls, friction)
    for piston in scene.piston:
        if piston.mass is not None and piston.velocity is not None and any(w.name == piston.name for w in bodies.walls):
            row = bodies.count + [wall.name for wall in bodies.walls].index(piston.name)
            bodies.motion[row, V] = piston.velocity * in_space(piston.normal)
    return bodies


def scalar_names(scene: Scene) -> list[str]:
    """Of all groups and inflows, in the order of the scene."""
    given = [*(table.all_scalars for table in scene.grains), *(table.scalars or {} for table in scene.inflow)]
    return list(dict.fromkeys(name for scalars in given for name in scalars))


def check(scene: Scene, bodies: Bodies, forms: Forms | None, slices: list[slice]) -> None:
    """Raise what is physically wrong; placed groups alone need no check."""
    problems = [*mass_mistakes(bodies.mass, slices), *lever_mistakes(scene, bodies)]
    groups = Groups(slices, scene.grains)
    if bodies.cell is not None:
        problems += cell_mistakes(bodies, groups)
    if not problems and any(table.positions is not None or table.file is not None for table in scene.grains):
        problems += overlap_mistakes(bodies, forms, groups)
        problems += wall_mistakes(bodies, forms, groups)
    problems += stream_mistakes(bodies)
    if problems:
        raise SceneError(problems)


def given_forces(scene: Scene, bodies: Bodies, slices: list[slice]) -> GivenForces | None:
    """Forces that files have of the grains that were read from them, several groups of one file as one."""
    files: dict[tuple[str, int], list[int]] = {}
    for k, table in enumerate(scene.grains):
        if table.file is not None and table.forces and table.state.forces is not None and table.state.ids is not None:
            files.setdefault((str(Path(table.file).resolve()), table.state.frame), []).append(k)
    found: list[GivenForces] = []
    for tables in files.values():
        states = [scene.grains[k].state for k in tables]
        ids = np.concatenate([state.ids for state in states if state.ids is not None])
        own = np.concatenate([bodies.id[slices[k]] for k in tables])
        order = np.argsort(ids, kind="stable")

        def name(
            wanted: np.ndarray, ids: np.ndarray = ids, own: np.ndarray = own, order: np.ndarray = order
        ) -> np.ndarray:
            place = np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)
            return np.where(ids[order[place]] == wanted, own[order[place]], -1)

        assert states[0].forces is not None
        found.append(states[0].forces.renamed(name))
    return functools.reduce(GivenForces.joined, found) if found else None


def springs(scene: Scene, bodies: Bodies) -> list[Spring]:
    """Relaxed at the start."""
    made = []
    for table in scene.spring:
        index = None if table.index is None else list(table.index)
        way = in_space(table.direction)
        made.append(Spring(table.name, table.grains, index, table.stiffness, way, table.function(), 0.0))
        made[-1].start = made[-1].place(bodies)
    return made


def add_guides(scene: Scene, bodies: Bodies) -> None:
    """Grains with prescribed motion, and functions of the user's own."""
    for table in scene.motion:
        group = bodies.id[bodies.groups[table.grains]]
        ids = None if table.index is None else group[list(table.index)].tolist()
        bodies.guides.append(Guide(table.name, table.grains, ids, drive_of(table)))
    if bodies.guides:
        bodies.guide_force, bodies.guide_torque = np.zeros((bodies.count, 3)), np.zeros((bodies.count, 3))
    for guide in bodies.guides:
        guide.prescribe(bodies, 0.0, START)
    for force in scene._forces:
        add_user_force(bodies, copy.copy(force))


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
