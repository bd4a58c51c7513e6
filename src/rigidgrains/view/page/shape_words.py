"""Grains of other shapes than disks and spheres as the page reads them: outlines in 2D, meshes in 3D."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from ...shapes.catalogue import Catalogue
from ...shapes.core import Shape
from ...shapes.surface import surface
from .codec import Packet

CODEC = {False: 1, True: 2}  # with shapes: orientations, contact points and meshes
FINE = ((4_000, 28), (20_000, 16), (60_000, 12))  # up to so many grains, straight pieces to a full turn
COARSE = 8


def shape_words(catalogue: Catalogue | None, count: int) -> dict[str, Any]:
    """What the head of a page says of the shapes; nothing where all grains are round. count : of grains."""
    if catalogue is None:
        return {}
    fine = next((pieces for most, pieces in FINE if count <= most), COARSE)
    return {
        "codec": CODEC[True],
        "shapes": [
            {"name": name, "round": bool(is_round), "bound": float(bound), **_geometry(shape, is_round, fine)}
            for name, shape, is_round, bound in zip(catalogue.names, catalogue.shapes, catalogue.round, catalogue.bound)
        ],
    }


def _geometry(shape: Shape, is_round: Any, fine: int) -> dict[str, Any]:
    """In 2D the vertices and rounding of each part, in 3D triangles, deflated; lengths at radius 1."""
    if is_round:
        return {}
    if shape.dimension == 2:
        parts = [
            {"rounding": part.rounding, "vertices": np.round(part.vertices[:, :2], 7).tolist()} for part in shape.parts
        ]
        return {"parts": parts}
    mesh, packet = surface(shape, fine=fine), Packet({})
    packet.add_floats("points", mesh.points)
    packet.add_floats("normals", mesh.normals)
    packet.add("triangles", mesh.triangles.ravel())
    return {"mesh": base64.b64encode(zlib.compress(packet.pack(), 9)).decode("ascii")}
