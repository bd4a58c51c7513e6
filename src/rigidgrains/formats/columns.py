"""Grains and contacts of a frame as columns, the same for all formats that are tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..trajectory.frame import Frame

Array = NDArray[Any]
Columns = dict[str, Array]

UNITS = {
    "x": "m", "y": "m", "z": "m", "radius": "m", "mass": "kg", "vx": "m/s", "vy": "m/s", "vz": "m/s",
    "spin_x": "rad/s", "spin_y": "rad/s", "spin_z": "rad/s", "angle": "rad", "load": "N", "gap": "m",
    "normal_force": "N", "tangential_force": "N", "force_x": "N", "force_y": "N", "force_z": "N",
}  # fmt: skip


def grain_columns(frame: Frame) -> Columns:
    """id, material, x, y, z, radius, mass, velocity, spin, angle or quaternion, load, contact number, cells crossed."""
    turned = {"angle": frame.orientation} if frame.dimension == 2 else _parts("q{}", "wxyz", frame.orientation)
    return {
        "id": frame.id,
        "material": frame.material,
        **_parts("{}", "xyz", frame.position),
        "radius": frame.radius,
        "mass": frame.mass,
        **_parts("v{}", "xyz", frame.velocity),
        **_parts("spin_{}", "xyz", frame.spin),
        **turned,
        "load": frame.load,
        "contact_number": frame.contact_number,
        **({} if frame.image is None else _parts("image_{}", "xyz", frame.image)),
    }


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
    }


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
    if frame.dimension == 3:
        return frame.orientation
    half = 0.5 * frame.orientation
    nought = np.zeros_like(half)
    return np.stack([np.cos(half), nought, nought, np.sin(half)], axis=1)


def lines(columns: Iterable[Array], *, start: str = "") -> str:
    """Rows of text, each ended; every number is written so that reading gives the same bits."""
    rows = zip(*(column.tolist() for column in columns))
    return "".join(start + " ".join(map(repr, row)) + "\n" for row in rows)


def _parts(name: str, letters: str, array: Array) -> Columns:
    return {name.format(letter): array[:, k] for k, letter in enumerate(letters)}
