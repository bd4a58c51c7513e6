"""Mistakes between tables: names used twice, materials and groups that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .confinement import SIDES, WALLS, Box
from .errors import ABSENT, Problem, suggestion
from .settings import COLOURS, Pair
from .shape import ROUND

DEFAULT = "default"
ANY = "*"  # among names that are not read: there may be others, nobody knows which
Tables = Mapping[str, Sequence[Any]]


def group_name(index: int, name: str | None) -> str:
    """Name of a group of grains; an unnamed one is called by its place."""
    return name or f"grains[{index}]"


def present(tables: Tables, *keys: str) -> Iterator[tuple[str, int, Any]]:
    """Key, index and table of each readable table of these kinds."""
    for key in keys:
        for index, table in enumerate(tables.get(key, ())):
            if table is not None:
                yield key, index, table


def repeated_names(tables: Tables, dimension: int) -> Iterator[Problem]:
    """Names, or pairs of materials, given twice."""
    for keys in (
        tuple(WALLS),
        ("shape",),
        ("grains", "inflow"),
        ("outlet",),
        ("spring", "motion"),
        ("material",),
        ("pair",),
        ("stage",),
    ):
        seen: dict[Any, str] = {}
        for key, index, table in present(tables, *keys):
            place = f"{key}[{index}]"
            for name in names_of(table, dimension):
                if name in seen:
                    field = "materials" if isinstance(table, Pair) else "name"
                    shown = list(table.materials) if isinstance(table, Pair) else name
                    remedy = "remove one of them" if isinstance(table, Pair) else "names must differ; choose another"
                    yield Problem(f"{place}.{field}", shown, f"already given by {seen[name]}; {remedy}")
                    break
                seen[name] = place


def names_of(table: Any, dimension: int) -> Iterable[Any]:
    if isinstance(table, Pair):
        return [frozenset(table.materials)]
    if isinstance(table, Box):
        return [table.side_name(side) for side in SIDES[dimension] if side not in table.open]
    return [] if table.name is None else [table.name]


def unknown_names(tables: Tables, unreadable: Mapping[str, set[str]]) -> Iterator[Problem]:
    """References to materials and groups that no table describes; names in unreadable tables are known."""
    materials = {DEFAULT, *(t.name for _, _, t in present(tables, "material")), *unreadable.get("material", ())}
    for key, index, table in present(tables, "grains", "inflow", *WALLS, "pair"):
        wanted = table.materials if isinstance(table, Pair) else _materials(table.material)
        field = "materials" if isinstance(table, Pair) else "material"
        for name in wanted:
            if name is not None and name not in materials:
                hint = (
                    suggestion(name, materials) or f"; add a [[material]] of this name; known are {listed(materials)}"
                )
                yield Problem(f"{key}[{index}].{field}", name, "unknown material" + hint)
    yield from materials_of_files(tables, materials)
    yield from unknown_shapes(tables, unreadable)
    yield from lost_streams(tables, unreadable)
    yield from lost_sides(tables, unreadable)
    yield from lost_stages(tables, unreadable)
    yield from cut_springs(tables)
    yield from shared_columns(tables)
    yield from moved_twice(tables)
    groups = {group_name(i, t.name): t.number for _, i, t in present(tables, "grains")}
    known = {*groups, *unreadable.get("grains", ())}
    for key, index, force in present(tables, "force", "spring", "motion"):
        if force.grains not in known:
            hint = suggestion(force.grains, known) or f"; known are {listed(known) or 'none'}"
            message = "no group of grains has this name" + hint
            if key == "force" and any(inflow.name == force.grains for _, _, inflow in present(tables, "inflow")):
                message = (
                    "are grains of an inflow, that come later; push them by a function, scene.add_force(f, grains=...)"
                )
            yield Problem(f"{key}[{index}].grains", force.grains, message)
        elif force.index is not None and not len(force.index):
            yield Problem(
                f"{key}[{index}].index", [], "names no grain; give numbers, or remove index for the whole group"
            )
        elif force.index is not None and force.grains in groups and max(force.index, default=0) >= groups[force.grains]:
            last = groups[force.grains] - 1
            message = f"the grains of group '{force.grains}' are numbered from 0 to {last}"
            yield Problem(f"{key}[{index}].index", list(force.index), message)


def unknown_colour(tables: Tables, output: Any) -> Iterator[Problem]:
    """A colour of pictures that is neither known nor a scalar of some grains."""
    if output is None:
        return
    scalars = {name for _, _, table in present(tables, "grains", "inflow") for name in table.scalars or ()}
    known = {*COLOURS, *scalars}
    if output.colour not in known and not _has_file(tables):
        hint = suggestion(output.colour, known) or f"; known are {', '.join(COLOURS)} and scalars of grains"
        yield Problem("output.colour", output.colour, "nothing is called so" + hint)


def _has_file(tables: Tables) -> bool:
    """True if grains come from a file, which may bring scalars along."""
    return any(table.file is not None for _, _, table in present(tables, "grains"))


def materials_of_files(tables: Tables, known: set[str]) -> Iterator[Problem]:
    """Grains of a file that are of a material of which the scene has no table."""
    for key, index, table in present(tables, "grains"):
        if table.file is None or table.material is not None:
            continue
        for name in table.materials:
            if name is not None and name not in known:
                message = f"has grains of the material '{name}'; add a [[material]] of this name, or give the group one"
                yield Problem(f"{key}[{index}].file", table.file, message)


def _materials(given: Any) -> Iterable[str | None]:
    """One name, or those of shares."""
    return given if isinstance(given, dict) else (given,)


def unknown_shapes(tables: Tables, unreadable: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Groups whose shapes no table describes."""
    known = {*ROUND.values(), *(t.name for _, _, t in present(tables, "shape")), *unreadable.get("shape", ())}
    for key, index, grains in present(tables, "grains", "inflow"):
        for name in grains.shape or ():
            place = f"{key}[{index}].shape"
            if name not in known:
                hint = suggestion(name, known) or f"; add a [[shape]] of this name; known are {listed(known)}"
                yield Problem(place, name, "unknown shape" + hint)
            elif key == "grains" and name in ROUND.values() and grains.size == "as drawn":
                message = f"a {name} has no drawing; give it a [[shape]] with centres and radii, or remove size"
                yield Problem(place, name, message)


def cut_springs(tables: Tables) -> Iterator[Problem]:
    """Springs that would lose their grains."""
    for _, index, spring in present(tables, "spring"):
        if any(present(tables, "outlet")):
            yield Problem(f"spring[{index}]", spring.name, "its grains may leave through an outlet; remove one of them")


def shared_columns(tables: Tables) -> Iterator[Problem]:
    """Prescribed motions and springs with the name of a wall: both would have the same columns in the history."""
    walls = {surface.name: surface for _, _, table in present(tables, *WALLS) for surface in table.surfaces()}
    for key, index, table in present(tables, "motion", "spring"):
        wall = walls.get(table.name)
        if wall is not None and (key == "motion" or hasattr(wall, "mass")):
            message = "is the name of a wall, which has columns NAME.force and NAME.power, too; choose another"
            yield Problem(f"{key}[{index}].name", table.name, message)


def moved_twice(tables: Tables) -> Iterator[Problem]:
    """Grains that two tables want to move."""
    count = {group_name(i, t.name): t.number for _, i, t in present(tables, "grains")}
    seen: dict[tuple[str, int], int] = {}
    for _, index, motion in present(tables, "motion"):
        which = range(count.get(motion.grains, 0)) if motion.index is None else motion.index
        twice = [k for k in which if (motion.grains, k) in seen]
        if twice:
            other = seen[motion.grains, twice[0]]
            message = f"grain {twice[0]} of '{motion.grains}' is moved by motion[{other}] already; leave it to one"
            place = f"motion[{index}].{'grains' if motion.index is None else 'index'}"
            yield Problem(place, motion.grains if motion.index is None else list(motion.index), message)
        seen |= {(motion.grains, k): index for k in which}


def lost_streams(tables: Tables, unreadable: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Outlets that give back to no inflow, and inflows to which nobody gives."""
    known = {*(t.name for _, _, t in present(tables, "inflow")), *unreadable.get("inflow", ())}
    fed = {t.recycle for _, _, t in present(tables, "outlet")}
    for _, index, outlet in present(tables, "outlet"):
        if outlet.recycle is not None and outlet.recycle not in known:
            hint = suggestion(outlet.recycle, known) or f"; known are {listed(known) or 'none'}"
            yield Problem(f"outlet[{index}].recycle", outlet.recycle, "no inflow has this name" + hint)
    for _, index, inflow in present(tables, "inflow"):
        if inflow.rate is not None or inflow.mass_rate is not None or inflow.name in unreadable.get("inflow", ()):
            continue
        if inflow.name not in fed and not unreadable.get("outlet"):
            message = "missing; give rate (grains/s) or mass_rate (kg/s), or recycle an outlet's grains here"
            yield Problem(f"inflow[{index}].rate", ABSENT, message)
        for key in ("radius", "total") if inflow.name in fed else ():
            if inflow.given(key):
                message = f"belongs to a rate, grains that come back have their own; remove {key} or give a rate"
                yield Problem(f"inflow[{index}].{key}", getattr(inflow, key), message)


def lost_stages(tables: Tables, unreadable: Mapping[str, set[str]]) -> Iterator[Problem]:
    """What comes or goes with a stage that does not exist, or in the wrong order."""
    stages = [table.name for _, _, table in present(tables, "stage")]
    known = {*stages, *unreadable.get("stage", ())}
    if ANY in known:
        return
    first = next((table for table in tables.get("stage", ())), None)
    for key, index, table in present(tables, *WALLS, "inflow", "outlet"):
        given = {word: getattr(table, word) for word in ("since", "until") if isinstance(getattr(table, word), str)}
        for word, name in given.items():
            place = f"{key}[{index}].{word}"
            if name not in known:
                hint = suggestion(name, known) or f"; known are {listed(known) or 'none'}"
                yield Problem(place, name, "no stage has this name" + hint + ", or give a time (s)")
            elif word == "until" and first is not None and name == first.name:
                yield Problem(place, name, "is the first stage, so that it would never be there; remove the table")
        order = [stages.index(name) for name in given.values() if name in stages]
        if len(order) == 2 and order[0] >= order[1]:
            place = f"{key}[{index}].until"
            yield Problem(place, given["until"], f"must be a stage after '{given['since']}'; swap them")


def lost_sides(tables: Tables, unreadable: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Pistons between walls that do not exist, or between which there is no finite area."""
    tables_of: dict[str, Any] = {}
    for _, _, table in present(tables, *WALLS):
        tables_of |= {surface.name: surface for surface in table.surfaces()}
    known = {*tables_of, *(name for key in WALLS for name in unreadable.get(key, ()))}
    for _, index, piston in present(tables, "piston"):
        names, place = piston.between or (), f"piston[{index}].between"
        for name in names:
            if name not in known or name == piston.name:
                hint = (
                    suggestion(name, known - {piston.name}) or f"; known are {listed(known - {piston.name}) or 'none'}"
                )
                yield Problem(place, name, "no other wall has this name" + hint)
                break
        else:
            for pair in zip(names[::2], names[1::2]):
                sides = [getattr(tables_of.get(name), "normal", None) for name in pair]
                if not all(name in tables_of for name in pair):
                    continue
                message = (
                    f"'{pair[0]}' and '{pair[1]}' are no parallel planes across the piston's face, facing each other"
                )
                if any(side is None or len(side) != len(piston.normal) for side in sides):
                    yield Problem(place, list(pair), message + "; name two that are")
                    continue
                one, other = np.array(sides[0]), np.array(sides[1])
                if np.abs(one + other).max() > 1e-9 or abs(float(one @ np.array(piston.normal))) > 1e-9:
                    yield Problem(place, list(pair), message + "; name two that are")


def listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
