"""Groups of grains in their places: those of one region are placed together, in one pass."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ..model.cell import Cell
from ..model.sizes import whole_shares
from ..model.walls import Wall
from .errors import SceneError
from .forms import Forms
from .friction import FrictionTable
from .grains import Grains
from .make_shapes import Shapes
from .placement import place_grains
from .references import group_name
from .room import Room
from .scene import Scene
from .sizes import draw_radii
from .species import scalar_rows
from .values import Array, in_space


class PlacedGroup:
    """Grains of one group, in their final order: positions, radii, start velocities and spins, densities, materials,
    scalars, and shapes if not round."""

    def __init__(self, table: Grains, drawn: Drawn, dimension: int, position: Array, order: np.ndarray) -> None:
        self.position, self.order = position, order
        self.forms = None if drawn.forms is None else drawn.forms[order]
        self.radius = drawn.radius[order]
        self.velocity = table.velocities(dimension)[order]
        self.spin = table.spins(dimension)[order]
        self.density, self.material = drawn.density[order], drawn.material[order]
        self.scalars = np.zeros((len(order), 0))

    @property
    def bound(self) -> Array:
        """(n,) m, radii of the spheres that hold them."""
        return self.radius if self.forms is None else self.forms.bound


class Drawn:
    """What is drawn of a group before it is placed: radii, shapes, materials, densities; its random numbers depend on
    no other group.

    rng : for its places; materials and densities have random numbers of their own, so that they change no place
    """

    def __init__(self, scene: Scene, index: int, seed: int, friction: FrictionTable, shapes: Shapes | None) -> None:
        table = scene.grains[index]
        own = (
            np.random.SeedSequence(table.seed)
            if table.seed is not None
            else np.random.SeedSequence(seed, spawn_key=(index,))
        )
        self.rng, apart = np.random.default_rng(own), np.random.default_rng(own.spawn(1)[0])
        self.radius, self.forms = sizes_and_shapes(index, table, scene.dimension, shapes, self.rng)
        names = table.materials
        often = whole_shares(np.array(list((table.material or {None: 1.0}).values())), table.number)
        kind = np.repeat(np.arange(len(often)), often)
        kind = apart.permutation(kind) if len(often) > 1 else kind
        of_file = None if table.file is None or table.material is not None else table.state.material
        if of_file is not None:
            kind = np.unique(of_file, return_inverse=True)[1]
        self.material = np.array([friction.row(name) for name in names], np.int32)[kind]
        otherwise = np.array([friction.density(name) for name in names])[kind]
        self.density = table.densities(scene.dimension, otherwise, apart)

    @property
    def bound(self) -> Array:
        """(n,) m, radii of the spheres that hold them."""
        return self.radius if self.forms is None else self.forms.bound


def place_groups(
    scene: Scene,
    seed: int,
    walls: list[Wall],
    cell: Cell | None,
    shapes: Shapes | None,
    friction: FrictionTable,
    scalar_names: list[str],
) -> list[PlacedGroup]:
    """All groups of a scene, in its order; walls : those that are there at the start."""
    placed: dict[int, PlacedGroup] = {}
    for batch in batches(scene.grains):
        drawn = {}
        for index in batch:
            try:
                drawn[index] = Drawn(scene, index, seed, friction, shapes)
            except SceneError as error:
                raise SceneError(problem.inside(f"grains[{index}]") for problem in error.problems) from None
        places = _places(scene, batch, drawn, walls, cell, placed)
        for index, (position, order) in zip(batch, places):
            placed[index] = PlacedGroup(scene.grains[index], drawn[index], scene.dimension, position, order)
    groups = [placed[index] for index in range(len(scene.grains))]
    give_scalars(groups, scene.grains, scalar_names)
    return groups


def give_scalars(groups: Sequence[PlacedGroup], tables: Sequence[Grains], names: list[str]) -> None:
    """Scalars of grains in their places; all formulas without a value are told together."""
    problems = []
    for index, (group, table) in enumerate(zip(groups, tables)):
        try:
            group.scalars = scalar_rows(names, table.all_scalars, group.position, group.radius, group.order)
        except SceneError as error:
            problems += [problem.inside(f"grains[{index}]") for problem in error.problems]
    if problems:
        raise SceneError(problems)


def batches(tables: Sequence[Grains]) -> list[list[int]]:
    """Numbers of the groups that are placed together: in one region, in one way; others alone."""
    found: list[list[int]] = []
    for index, table in enumerate(tables):
        for batch in found:
            first = tables[batch[0]]
            alike = (first.placement, first.jitter) == (table.placement, table.jitter)
            one, other = _region(first), _region(table)
            if alike and one is not None and other is not None and np.array_equal(one, other):
                batch.append(index)
                break
        else:
            found.append([index])
    return found


def _region(table: Grains) -> Array | None:
    """Corners of the box that is filled; None where positions are given."""
    return table.region if table.file is None and table.positions is None else None


def _places(
    scene: Scene,
    batch: list[int],
    drawn: dict[int, Drawn],
    walls: list[Wall],
    cell: Cell | None,
    placed: dict[int, PlacedGroup],
) -> list[tuple[Array, np.ndarray]]:
    """Positions (n, 3) of the groups of a batch, and the index of the grain at each within its group."""
    table, dimension = scene.grains[batch[0]], scene.dimension
    if _region(table) is None:
        given = table.positions if table.file is None else table.state.position[:, :dimension]
        return [(in_space(given), np.arange(table.number))]
    lower, upper = in_space(table.region)
    names = [group_name(k, group.name) for k, group in enumerate(scene.grains)]
    groups = list(placed.values())
    room = Room(
        f"grains[{batch[0]}]",
        dimension,
        lower,
        upper,
        walls,
        np.vstack([np.zeros((0, 3)), *(group.position for group in groups)]),
        np.concatenate([np.zeros(0), *(group.bound for group in groups)]),
        cell,
        dict(zip((names[index] for index in placed), slices_of(groups))),
        joined(groups),
        [names[index] for index in batch] if len(batch) > 1 else [],
    )
    together = [drawn[index] for index in batch]
    bound, forms = np.concatenate([one.bound for one in together]), joined(together)
    if len(batch) > 1 and (full := room.packing_fraction(bound if forms is None else forms.radius)) > 1.0:
        message = f"the region has room for {1.0 / full:.0%} of their volume at most"
        raise room.error("count", len(bound), message, "a larger region", "fewer or smaller grains")
    position, order = place_grains(table, bound, together[0].rng, room, forms)
    out, first = [], 0
    for one in together:
        own = np.flatnonzero((order >= first) & (order < first + len(one.radius)))
        out.append((np.ascontiguousarray(position[own]), order[own] - first))
        first += len(one.radius)
    return out


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


def joined(groups: Sequence[PlacedGroup | Drawn]) -> Forms | None:
    """Shapes and orientations of the grains of all groups; None where all are round."""
    forms = [group.forms for group in groups if group.forms is not None]
    return functools.reduce(Forms.joined, forms) if forms else None


def slices_of(groups: Sequence[PlacedGroup]) -> list[slice]:
    """Rows of the grains of each group, one after the other."""
    ends = np.cumsum([len(group.radius) for group in groups])
    return [slice(int(end) - len(group.radius), int(end)) for end, group in zip(ends, groups)]
