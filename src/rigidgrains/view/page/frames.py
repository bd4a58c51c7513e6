"""Packs one frame after another; each but the first of a group is told by what changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...trajectory.frame import Contacts, Frame
from .codec import Packet
from .scales import Scales, compress, expand, exponent, shift
from .species_words import add_species, levels_of
from .wall_words import cell_words, wall_words

Array = NDArray[Any]
Whole = NDArray[np.int32]

AXES = "xyz"
QUATERNION = ("qw", "qx", "qy", "qz")
OFFSET = 127  # levels of the way from a centre to a wall or contact point, in radii
POINTS = 64  # contact points of a pair that are told apart


class FramePacker:
    """Remembers what the reader of the page will know when it comes to the next frame."""

    def __init__(self, scales: Scales, species: Sequence[dict[str, Any]] = ()) -> None:
        self._scales = scales
        self._scalars = {word["name"]: word["range"] for word in species if "scalar" in word}
        self._statics: list[tuple[Array, ...]] = []
        self._forget()

    def _forget(self) -> None:
        self._before: dict[str, list[tuple[Whole, int]]] = {}
        self._contacts = {name: np.empty(0, np.int64) for name in ("key", "force", "status", *AXES)}
        self._strength = 0
        self._walls: Any = None
        self._cell: Any = None
        self._velocity: Array | None = None
        self._time = 0.0

    def static(self, frame: Frame) -> tuple[int, bytes | None]:
        """Number of the set of radii, ids, species and shapes, and the packet that tells them if they are new."""
        kinds = (frame.material, frame.mass) if frame.group is None else (frame.material, frame.mass, frame.group)
        rows = (frame.radius, frame.id, *kinds, *(() if frame.shape is None else (frame.shape,)))
        if self._statics and all(np.array_equal(a, b) for a, b in zip(self._statics[-1], rows)):
            return len(self._statics) - 1, None
        self._statics.append(rows)
        self._forget()
        packet = Packet({})
        packet.add_floats("radius", frame.radius)
        packet.add("id", frame.id.astype(np.int32))
        if frame.shape is not None:
            packet.add("shape", frame.shape.astype(np.int32))
        add_species(packet, frame)
        return len(self._statics) - 1, packet.pack()

    def pack(self, frame: Frame, static: int, *, key: bool) -> bytes:
        """The packet of a frame; a key frame can be read without those before it."""
        if key or len(frame.walls) != len(self._walls or []):
            self._forget()
        packet = Packet({"time": frame.time, "step": frame.step, "static": static, "key": not self._before})
        self._add_walls(packet, frame)
        self._add_grains(packet, frame)
        if frame.has_contacts:
            self._add_contacts(packet, frame)
        return packet.pack()

    def _add_walls(self, packet: Packet, frame: Frame) -> None:
        words = wall_words(frame.walls)
        if words != self._walls:
            packet.head["walls"] = self._walls = words
        cell = cell_words(frame)
        if cell != self._cell:
            packet.head["cell"] = self._cell = cell

    def _add_grains(self, packet: Packet, frame: Frame) -> None:
        axes, detail = range(frame.dimension), self._scales.detail
        self._add_orientations(packet, frame)
        spin, spins = frame.spin, tuple(axes) if frame.dimension == 3 else (2,)
        if frame.dimension == 3 and not detail.ways:
            spin, spins = np.linalg.norm(spin, axis=1)[:, None], (0,)
        for name, letter, vectors, which in (("velocity", "v", frame.velocity, axes), ("spin", "w", spin, spins)):
            packet.head[name] = k = exponent(vectors)
            for axis in which:
                self._add(packet, letter + AXES[axis], compress(vectors[:, axis], k, detail.levels), k)
        self._add_positions(packet, frame)
        packet.head["load"] = k = exponent(frame.load)
        self._add(packet, "load", compress(frame.load, k, detail.strengths), k)
        self._add(packet, "number", frame.contact_number.astype(np.int32))
        for nth, (name, ends) in enumerate(self._scalars.items()):
            self._add(packet, f"scalar{nth}", levels_of(frame.scalars[name], ends))

    def _add_orientations(self, packet: Packet, frame: Frame) -> None:
        """The angle turned; of solids of other shapes all four components of the quaternion."""
        turns = self._scales.detail.turns
        if frame.catalogue is None or frame.dimension == 2:
            angle = rotation(frame)
            self._add(packet, "turn", np.rint(angle * (turns / (2.0 * math.pi))).astype(np.int32) % turns)
            return
        for k, name in enumerate(QUATERNION):
            self._add(packet, name, np.rint(frame.orientation[:, k] * self._scales.detail.sides).astype(np.int32))

    def _add_positions(self, packet: Packet, frame: Frame) -> None:
        """Positions; from the last ones and the velocities they are nearly known."""
        cells, scales = self._scales.cells(frame.position), self._scales
        k, levels = packet.head["velocity"], scales.detail.levels
        velocity = expand(compress(frame.velocity, k, levels), k, levels)
        ways: list[Array] = []
        if self._velocity is not None:  # with the mean of both velocities, or, step by step, with the new one
            lapse = (frame.time - self._time) / scales.step
            ways = [(velocity + self._velocity) * (0.5 * lapse), velocity * lapse]
            ways = [np.floor(np.clip(way, -(2.0**28), 2.0**28) + 0.5).astype(np.int32) for way in ways]
        for axis in range(frame.dimension):
            name = AXES[axis]
            self._add(packet, name, cells[:, axis], guesses=[self._before[name][0][0] + way[:, axis] for way in ways])
        self._velocity, self._time = velocity, frame.time

    def _add(self, packet: Packet, name: str, whole: Whole, k: int = 0, guesses: Sequence[Whole] = ()) -> None:
        """A channel over the grains, and what is remembered of it."""
        before = self._before.get(name, [])
        packet.add(name, whole, [shift(old, old_k - k) for old, old_k in before], guesses)
        self._before[name] = [(whole, k), *before[:1]]

    def _add_contacts(self, packet: Packet, frame: Frame) -> None:
        """Contacts that carry a force: which of the last frame's are still there, new ones, and what changed."""
        n, old = len(frame), self._contacts
        key, strength, status, offset = self._carrying(frame.contacts, frame)
        base, points = n + len(frame.walls), 1 if frame.catalogue is None else POINTS
        packet.head["base"] = base
        packet.head["force"] = k = exponent(strength)
        force = compress(strength, k, self._scales.detail.strengths)
        place = np.searchsorted(old["key"], key)
        known = np.zeros(len(key), bool)
        inside = place < len(old["key"])
        known[inside] = old["key"][place[inside]] == key[inside]
        stays = np.zeros(len(old["key"]), np.int32)
        stays[place[known]] = 1
        packet.add("stays", stays)
        first, second = np.divmod(key[~known] // points, base)
        packet.add("first", first.astype(np.int32))
        packet.add("second", (second - first).astype(np.int32))
        if points > 1:
            packet.head["points"] = points
            packet.add("nth", (key[~known] % points).astype(np.int32))
        fresh = {"key": key, "force": force, "status": status, **{AXES[axis]: offset[:, axis] for axis in range(3)}}
        pointed = key // points % base >= n if points == 1 else np.ones(len(key), bool)
        aligned = {}
        for name in ("force", "status", *AXES):
            aligned[name] = np.zeros(len(key), np.int32)
            aligned[name][known] = old[name][place[known]]
        packet.add("force", force - shift(aligned["force"], self._strength - k))
        packet.add("status", status - aligned["status"])
        for axis in range(frame.dimension):
            packet.add("o" + AXES[axis], (fresh[AXES[axis]] - aligned[AXES[axis]])[pointed])
        self._contacts, self._strength = fresh, k

    def _carrying(self, contacts: Contacts, frame: Frame) -> tuple[Array, Array, Whole, Whole]:
        """Sorted keys, forces (N), status and ways to the wall of the contacts that carry a force."""
        strength = np.linalg.norm(contacts.force, axis=1)
        keep = (contacts.status > 0) & (strength > 0.0)
        if keep.any() and self._scales.detail.share:
            keep &= strength >= self._scales.detail.share * strength[keep].mean()
        pair, base, n = contacts.pair[keep].astype(np.int64), len(frame) + len(frame.walls), len(frame)
        pair.sort(axis=1)
        key, most = pair[:, 0] * base + pair[:, 1], 2.0
        if frame.catalogue is not None and frame.shape is not None:
            key, most = numbered(key, contacts.feature, keep), 1.0 + float(frame.catalogue.bound.max())
        key, rows = np.unique(key, return_index=True)
        rows = np.flatnonzero(keep)[rows]
        offset = np.zeros((len(key), 3), np.int32)
        pointed = key % base >= n if frame.catalogue is None else np.ones(len(key), bool)
        grain = contacts.pair[rows[pointed]].min(axis=1)
        way = contacts.point[rows[pointed]] - self._centre(frame, rows[pointed], grain)
        offset[pointed] = np.rint(np.clip(way / frame.radius[grain, None], -most, most) * OFFSET)
        return key, strength[rows], contacts.status[rows].astype(np.int32), offset

    def _centre(self, frame: Frame, rows: Array, grain: Array) -> Array:
        """(c, 3) m, centres of the lower bodies of contacts, at the image that is touched."""
        centre, image = frame.position[grain], frame.contacts.image
        if frame.cell is None or image is None:
            return centre
        turned = frame.contacts.pair[rows, 0] > frame.contacts.pair[rows, 1]
        return centre + turned[:, None] * (image[rows] @ frame.cell)


def numbered(key: Array, feature: Array | None, keep: Array) -> Array:
    """(c,) keys of pairs with the number of the contact point, in the order of features; up to POINTS of a pair."""
    order = np.lexsort((np.arange(len(key)) if feature is None else feature[keep], key))
    ranked = key[order]
    new = np.r_[True, ranked[1:] != ranked[:-1]] if len(key) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(new, np.arange(len(key)), 0)) if len(key) else np.zeros(0, np.int64)
    nth = np.empty(len(key), np.int64)
    nth[order] = np.minimum(np.arange(len(key)) - first, POINTS - 1)
    return np.asarray(key * POINTS + nth)


def rotation(frame: Frame) -> Array:
    """(n,) rad, the angle turned, modulo a full turn."""
    turn = frame.orientation
    return np.mod(turn if frame.dimension == 2 else 2.0 * np.arccos(np.clip(turn[:, 0], -1.0, 1.0)), 2.0 * math.pi)
