"""Every array with one row per grain or per contact, declared once: what a row is, and what happens to it.

Sorting, inflows and outlets, checkpoints and their verification, frames and exports loop over these tables, so that a
new array is one entry here. Rows follow their grain or contact through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Row = tuple[int | str, ...]  # lengths; a letter or word stands for one that varies


def always(bodies: Any) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Column:
    """An array of frames, computed when one is written.

    name     : of the data set in frames, and of the column in exports
    row      : shape of a row, () for a number; by dimension where disks and spheres differ
    unit     : SI unit, "" for none; note : what else its reader has to know, in place of a unit
    frames   : "every" writes it in each frame, "once" again only when it has changed, "never" leaves it out
    exported : part of the files of other programs
    basic    : in every frame, also where a user chooses which arrays frames have
    values   : what a file may hold: "positive", "finite", or "any"
    """

    name: str
    row: Row | dict[int, Row] = ()
    dtype: type = np.float64
    unit: str = ""
    note: str = ""
    frames: Literal["every", "once", "never"] = "every"
    exported: bool = False
    basic: bool = False
    values: Literal["positive", "finite", "any"] = "any"

    @property
    def kinds(self) -> str:
        """Kinds of numpy types that a file may have for it."""
        return "f" if np.dtype(self.dtype).kind == "f" else "iu"

    def shape(self, dimension: int) -> Row:
        """Shape of a row."""
        return self.row[dimension] if isinstance(self.row, dict) else self.row

    def default_rows(self, n: int, dimension: int, default: Any) -> Array:
        """So many rows of a default value, which may differ by dimension."""
        value = default[dimension] if isinstance(default, dict) else default
        sizes = [0 if isinstance(size, str) else size for size in self.shape(dimension)]
        return np.full((n, *sizes), value, self.dtype)


@dataclass(frozen=True, kw_only=True)
class PerGrain(Column):
    """An array of Bodies with a row for each grain.

    default    : a row of a new grain that an inflow lets in, and of all grains in a file that does not have it
    where      : bodies that have it; others have no rows
    sparse     : True for no rows as long as every grain has the default
    checkpoint : kept to resume from; False for what each step computes anew
    returns    : a grain that leaves and comes back through an inflow brings it along; else it has the default again
    walls      : True if walls and the cell have rows too, after those of the grains
    needed     : True if every file has it: one without is damaged
    """

    default: Any = 0
    where: Callable[[Any], bool] = always
    sparse: bool = False
    checkpoint: bool = True
    returns: bool = True
    walls: bool = False
    needed: bool = False

    def make(self, n: int, dimension: int) -> Array:
        """(n, ...) rows of new grains."""
        return self.default_rows(n, dimension, self.default)

    def of(self, bodies: Any) -> Array:
        """(n, ...) its rows, written out also where there are none."""
        kept: Array = getattr(bodies, self.name)
        return kept[: bodies.count] if len(kept) or not bodies.count else self.make(bodies.count, bodies.dimension)


@dataclass(frozen=True, kw_only=True)
class PerContact(Column):
    """An array of Contacts with a row for each contact.

    default    : a row of a new contact
    held       : attribute of Contacts with its rows, where it has room for more than there are
    widths     : how many columns it may have, if that varies
    carried    : whether contacts that stay keep their rows from step to step: "rows" yes, "apart" yes, by code of its
                 own in contacts/contacts.py, "never" for what is filled anew in each step
    optional   : True if it may be None, without the laws or the cell that need it
    checkpoint : kept to resume from
    lines      : True if rows stand on cache lines
    turned     : columns that change sign when the two bodies of a contact change places
    needed     : True if every file has it: one without is damaged
    """

    default: Any = 0
    held: str = ""
    widths: tuple[int, ...] = ()
    carried: Literal["rows", "apart", "never"] = "rows"
    optional: bool = False
    checkpoint: bool = True
    lines: bool = False
    turned: slice | None = None
    needed: bool = False

    @property
    def place(self) -> str:
        """Attribute of Contacts."""
        return self.held or self.name

    def make(self, n: int) -> Array:
        """(n, ...) rows of new contacts."""
        return self.default_rows(n, 0, self.default)

    def carry_over(self, old: Array, origin: NDArray[np.int32]) -> Array:
        """(c, ...) rows of the contacts that are there now; origin : (c,) row that each had, negative for new ones."""
        rows = self.make(len(origin))
        rows[origin >= 0] = old[origin[origin >= 0]]
        return rows


def _has_cell(bodies: Any) -> bool:
    return bodies.cell is not None


def _has_shapes(bodies: Any) -> bool:
    return bodies.catalogue is not None


def _has_solid_shapes(bodies: Any) -> bool:
    return bodies.catalogue is not None and bodies.dimension == 3


def _has_scalars(bodies: Any) -> bool:
    return bool(bodies.scalar_names)


def _has_springs(bodies: Any) -> bool:
    return bool(bodies.springs)


def _has_user_forces(bodies: Any) -> bool:
    return bool(bodies.user_forces)


def _has_guides(bodies: Any) -> bool:
    return bool(bodies.guides)


def _table(*columns: Any) -> dict[str, Any]:
    return {column.name: column for column in columns}


# The order is that of exports. What is not PerGrain is computed for frames.
PER_GRAIN: dict[str, Column] = _table(
    PerGrain(name="position", row=(3,), unit="m", exported=True, basic=True, values="finite", needed=True),
    PerGrain(name="radius", unit="m", frames="once", exported=True, basic=True, values="positive", needed=True),
    Column(name="velocity", row=(3,), unit="m/s", exported=True, values="finite"),
    Column(name="spin", row=(3,), unit="rad/s", exported=True, values="finite"),
    PerGrain(
        name="orientation", row={2: (), 3: (4,)}, note="rad in 2D, quaternion (w, x, y, z) in 3D", exported=True,
        values="finite", default={2: 0.0, 3: (1.0, 0.0, 0.0, 0.0)}, needed=True,
    ),
    PerGrain(name="mass", unit="kg", frames="once", exported=True, basic=True, values="positive", needed=True),
    Column(name="load", unit="N", exported=True, values="finite"),
    Column(name="contact_number", dtype=np.int32, exported=True),
    PerGrain(
        name="material", dtype=np.int32, note="row of friction", frames="once", exported=True, basic=True, needed=True,
    ),
    PerGrain(name="id", dtype=np.int64, frames="once", exported=True, basic=True, default=-1),
    PerGrain(
        name="shape", dtype=np.int32, note="number in the catalogue of shapes", frames="once", exported=True,
        basic=True, where=_has_shapes,
    ),
    PerGrain(
        name="image", row=(3,), dtype=np.int32, note="cells", frames="once", exported=True, basic=True,
        where=_has_cell, returns=False,
    ),
    PerGrain(
        name="orientation_before", row=(4,), note="quaternion (w, x, y, z) at the beginning of the step",
        values="finite", default=(1.0, 0.0, 0.0, 0.0), where=_has_solid_shapes, returns=False,
    ),
    Column(
        name="group", dtype=np.int32, note="number of the group; -1 of none", frames="once", exported=True, basic=True,
    ),
    PerGrain(
        name="scalars", row=("scalars",), note="by the names in scalar_names; in frames under these", frames="never",
        default=np.nan, where=_has_scalars,
    ),
    PerGrain(name="motion", row=(8,), frames="never", values="finite", walls=True, needed=True),
    PerGrain(name="force", row=(3,), unit="N", frames="never", values="finite", sparse=True, needed=True),
    PerGrain(name="torque", row=(3,), unit="N m", frames="never", values="finite", sparse=True),
    PerGrain(
        name="user_force", row=(3,), unit="N", note="by functions of the user", frames="once", values="finite",
        where=_has_user_forces, returns=False,
    ),
    PerGrain(name="user_torque", row=(3,), unit="N m", frames="never", where=_has_user_forces, returns=False),
    PerGrain(
        name="guide_force", row=(3,), unit="N", note="on grains with prescribed motion", frames="once",
        values="finite", where=_has_guides, returns=False,
    ),
    PerGrain(name="guide_torque", row=(3,), unit="N m", frames="never", where=_has_guides, returns=False),
    PerGrain(name="pull", row=(3,), unit="N", frames="never", where=_has_springs, checkpoint=False, returns=False),
    Column(name="external_force", row=(3,), unit="N", frames="once", values="finite"),
    Column(name="external_torque", row=(3,), unit="N m", frames="once", values="finite"),
    Column(name="spring_force", row=(3,), unit="N", frames="once"),
    Column(name="guided", dtype=np.uint8, note="1 where motion is prescribed", frames="once"),
    Column(name="velocity_before", row=(3,), unit="m/s", values="finite"),
    Column(name="spin_before", row=(3,), unit="rad/s", values="finite"),
    Column(name="peculiar_velocity", row=(3,), unit="m/s"),
    Column(name="peculiar_velocity_before", row=(3,), unit="m/s"),
)  # fmt: skip

# Contact rows of a step, see contacts/contacts.py.
PER_CONTACT: dict[str, PerContact] = _table(
    PerContact(name="pairs", row=(2,), dtype=np.int32, frames="never", held="_pairs", carried="never", needed=True),
    PerContact(name="geometry", row=(8,), frames="never", held="_geometry", carried="never", lines=True, needed=True),
    PerContact(name="image", dtype=np.int8, frames="never", held="_image", carried="never"),
    PerContact(
        name="forces", row=("columns",), widths=(4, 7), frames="never", values="finite", held="_forces",
        carried="apart", lines=True, turned=slice(1, None), needed=True,
    ),
    PerContact(name="memory", row=("memory",), frames="never", carried="apart"),
    PerContact(name="extra", row=("extra",), frames="never", carried="never", optional=True),
    PerContact(name="attraction", frames="never", carried="never", optional=True),
    PerContact(name="branch", row=(2,), frames="never", carried="never", optional=True),
    PerContact(name="levers", row=("levers",), frames="never", carried="never", optional=True, checkpoint=False),
    PerContact(name="lever", row=(3,), unit="m", frames="never", carried="apart", optional=True),
    PerContact(name="feature", dtype=np.int64, frames="never", carried="apart", optional=True),
)  # fmt: skip

# Contacts in frames: computed from the rows above when a frame is written.
CONTACTS_IN_FRAMES: dict[str, Column] = _table(
    Column(name="pair", row=(2,), dtype=np.int32, note="rows of grains; n + w is wall w"),
    Column(name="normal", row=(3,), note="1"),
    Column(name="gap", unit="m"),
    Column(name="force", row=(3,), unit="N"),
    Column(name="status", dtype=np.uint8, note="0 open, 1 sticking, 2 sliding"),
    Column(name="image", row=(3,), dtype=np.int8, note="cells; body 1 is met at its position + image . cell_vectors"),
    Column(name="mu"),
    Column(name="to_close", unit="m"),
    Column(name="rebound", row=(3,), unit="m/s"),
    Column(name="attraction", unit="N"),
    Column(name="torque", row=(3,), unit="N m"),
    Column(name="feature", dtype=np.int64, note="vertices and sides that meet, of grains that are not round"),
)


def grain_arrays() -> Iterator[PerGrain]:
    """The arrays of Bodies with a row for each grain."""
    return (column for column in PER_GRAIN.values() if isinstance(column, PerGrain))


def grains_in_frames() -> dict[str, Column]:
    """The arrays of frames with a row for each grain, by name."""
    return {name: column for name, column in PER_GRAIN.items() if column.frames != "never"}


def goes_with_contacts(name: str) -> bool:
    """Whether frames have an array of grains for certificates, and only if they have contacts."""
    return name.endswith("_before") or name.startswith("peculiar")


def choosable() -> list[str]:
    """Names of the arrays of grains that frames have or not, as a user chooses."""
    return [name for name, one in grains_in_frames().items() if not one.basic and not goes_with_contacts(name)]


def unknown_fields(fields: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names among these that frames have no array of, each with what to write instead."""
    known = choosable()
    for name in [name for name in fields if name not in known]:
        near = get_close_matches(str(name), known, n=1, cutoff=0.6)
        yield name, f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def contacts_in_frames() -> dict[str, Column]:
    """The arrays of frames with a row for each contact, by name."""
    return CONTACTS_IN_FRAMES | {name: column for name, column in PER_CONTACT.items() if column.frames != "never"}


def carried_columns() -> list[PerContact]:
    """What contacts that stay keep from step to step, row by row."""
    return [column for column in PER_CONTACT.values() if column.carried == "rows"]
