"""A frame ready to be sent: plain 32-bit floats, since the way is short and time is dear."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.version import __version__
from ...shapes.catalogue import Catalogue
from ...trajectory.frame import Frame
from ..kinds import densities
from ..page.codec import Packet
from ..page.frames import rotation
from ..page.shape_words import shape_words
from ..page.species_words import Words
from ..page.summary import SERIES
from ..page.wall_words import cell_words, wall_words

Array = NDArray[Any]


def live_head(
    title: str, dimension: int, gravity: Array, source: str, contacts: bool, catalogue: Catalogue | None = None,
    count: int = 0, species: Words | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Words of a page whose frames come later; source: "run" or "file"; count: number of grains."""
    return shape_words(catalogue, count) | {
        "title": title,
        "dimension": dimension,
        "version": __version__,
        "live": source,
        "columns": list(SERIES),
        "gravity": [float(g) for g in gravity],
        "contacts": contacts,
        "species": species or [],
    }


def live_packet(frame: Frame, origin: Array) -> bytes:
    """The whole frame; positions are relative to the origin (m)."""
    packet = Packet(
        {
            "time": frame.time,
            "step": frame.step,
            "index": frame.index,
            "origin": [float(x) for x in origin],
            "walls": wall_words(frame.walls),
            "cell": cell_words(frame),
        }
    )
    packet.add_floats("position", frame.position - origin)
    for name in ("velocity", "spin", "radius", "load", "id"):
        packet.add_floats(name, getattr(frame, name))
    packet.add_floats("turn", rotation(frame))
    packet.add_floats("number", frame.contact_number)
    for name in ("group", "material"):
        if getattr(frame, name) is not None:
            packet.add_floats(name, getattr(frame, name))
    packet.add_floats("density", densities(frame))
    for name, values in frame.scalars.items():
        packet.add_floats(f"scalar {name}", values)
    if frame.shape is not None:
        packet.add_floats("shape", frame.shape)
        if frame.dimension == 3:
            packet.add_floats("quaternion", frame.orientation)
    if frame.has_contacts:
        _add_contacts(packet, frame)
    return packet.pack()


def _add_contacts(packet: Packet, frame: Frame) -> None:
    contacts = frame.contacts
    carrying = np.flatnonzero(contacts.status > 0)
    pair = contacts.pair[carrying]
    packet.add_floats("first", pair[:, 0])
    packet.add_floats("second", pair[:, 1])
    packet.add_floats("force", np.linalg.norm(contacts.force[carrying], axis=1))
    packet.add_floats("status", contacts.status[carrying])
    packet.add_floats("way", contacts.point[carrying] - frame.position[pair[:, 0]])
