"""Grains and contacts of a frame as columns, the same for all formats that are tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import contacts_in_frames, grains_in_frames
from ..trajectory.record import is_chosen

if TYPE_CHECKING:
    from ..trajectory.frame import Frame

Array = NDArray[Any]
Columns = dict[str, Array]

OF_CONTACTS = {
    "x": "m", "y": "m", "z": "m", "gap": "m", "normal_force": "N", "tangential_force": "N", "force_x": "N",
    "force_y": "N", "force_z": "N",
}  # fmt: skip
FIRST = ("id", "material", "position", "radius", "mass")
SHORT = {"position": "{}", "velocity": "v{}", "orientation": "q{}"}  # names of components; NAME_x of other vectors


def grain_arrays(frame: Frame, fields: Sequence[str] | None = None) -> Columns:
    """The arrays of grains that other programs get, by name, see model/arrays.py, and scalars of the user.

    fields : those to choose beside the basic ones; all that the frame has if absent
    """
    some = [name for name, column in grains_in_frames().items() if column.exported]
    named = {name: frame.column(name) for name in some if is_chosen(name, fields, frame.catalogue)}
    return {name: array for name, array in named.items() if array is not None} | frame.scalars


def grain_columns(frame: Frame, fields: Sequence[str] | None = None) -> Columns:
    """id, material, x, y, z, radius, mass, velocity, spin, angle or quaternion, load, contact number, cells crossed,
    and whatever else is exported."""
    arrays = grain_arrays(frame, fields)
    columns: Columns = {}
    for name in sorted(arrays, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        columns |= _components(name, arrays[name])
    return columns


def units(frame: Frame) -> dict[str, str]:
    """Units of the columns of grains and contacts, by name; none of what is a mere number."""
    told = dict(OF_CONTACTS)
    for name, array in grain_arrays(frame).items():
        column = grains_in_frames().get(name)
        told |= dict.fromkeys(_components(name, array), column.unit if column else "")
    for name, column in contacts_in_frames().items() if frame.has_contacts else ():
        if column.exported and (rows := frame.contacts.law(name)) is not None:
            told |= dict.fromkeys(_components(name, rows), column.unit)
    return told | {"angle": "rad"}


def contact_columns(frame: Frame) -> Columns:
    """Both bodies, point, normal, gap, force on body 1 and status of each contact; wall w is body -1 - w."""
    contacts = frame.contacts
    return {
        "body0": bodies(frame, 0),
        "body1": bodies(frame, 1),
        **_parts("{}", "xyz", contacts.point),
        **_parts("n{}", "xyz", contacts.normal),
        "gap": contacts.gap,
        **_parts("force_{}", "xyz", contacts.force),
        "normal_force": normal_force(frame),
        "tangential_force": tangential_force(frame),
        "status": contacts.status,
        **({} if contacts.image is None else _parts("image_{}", "xyz", contacts.image)),
        **more_of_contacts(frame),
    }


def more_of_contacts(frame: Frame) -> Columns:
    """What else is kept of each contact and exported, one column for each component."""
    columns: Columns = {}
    for name, column in contacts_in_frames().items():
        if column.exported and (array := frame.contacts.law(name)) is not None:
            columns |= _components(name, array)
    return columns


def bodies(frame: Frame, side: int) -> Array:
    """(c,) id of body 0 or 1 of each contact, -1 - w for wall w."""
    row, n = frame.contacts.pair[:, side].astype(np.int64), len(frame)
    return np.where(row < n, frame.id[np.minimum(row, n - 1)], n - 1 - row)


def normal_force(frame: Frame) -> Array:
    """(c,) N, R_n."""
    return (frame.contacts.force.astype(float) * frame.contacts.normal).sum(axis=1)


def tangential_force(frame: Frame) -> Array:
    """(c,) N, |R_t|."""
    force = frame.contacts.force.astype(float)
    return np.asarray(np.linalg.norm(force - normal_force(frame)[:, None] * frame.contacts.normal, axis=1))


def quaternions(frame: Frame) -> Array:
    """(n, 4) orientations as (w, x, y, z), also in 2D."""
    turned = frame.column("orientation")
    if turned is None:  # left out of the file
        return np.eye(1, 4).repeat(len(frame), axis=0)
    if frame.dimension == 3:
        return turned
    half = 0.5 * turned
    nought = np.zeros_like(half)
    return np.stack([np.cos(half), nought, nought, np.sin(half)], axis=1)


def lines(columns: Iterable[Array], *, start: str = "") -> str:
    """Rows of text, each ended; every number is written so that reading gives the same bits."""
    rows = zip(*(column.tolist() for column in columns))
    return "".join(start + " ".join(map(repr, row)) + "\n" for row in rows)


def _components(name: str, array: Array) -> Columns:
    """A number as it is; components of vectors by letters, of other rows by numbers."""
    if array.ndim == 1:
        return {"angle" if name == "orientation" else name: array}
    letters = {3: "xyz", 4: "wxyz"}.get(array.shape[1], range(array.shape[1]))
    return _parts(SHORT.get(name, name + "_{}"), letters, array)


def _parts(name: str, letters: Iterable[Any], array: Array) -> Columns:
    return {name.format(letter): array[:, k] for k, letter in enumerate(letters)}
