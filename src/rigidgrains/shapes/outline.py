"""Outlines of 2D shapes: closed lines of straight pieces and arcs, exact; parts that overlap have one outline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .core import Array, Part, Shape

TURN = 2.0 * math.pi
SAME = 1e-7  # of the size: points closer than this are one


@dataclass(frozen=True, eq=False)
class Piece:
    """A straight piece (radius 0) or an arc, run through counterclockwise around its part.

    start, end    : (2,) m; centre : (2,) m, of an arc
    begin, sweep  : rad, where an arc starts and how far it goes, at most 2 pi
    """

    start: Array
    end: Array
    centre: Array
    radius: float = 0.0
    begin: float = 0.0
    sweep: float = 0.0

    def at(self, share: Array | float) -> Array:
        """(..., 2) m, points at shares 0 to 1 of the way."""
        t = np.asarray(share, float)[..., None]
        if self.radius == 0.0:
            return np.asarray(self.start + t * (self.end - self.start))
        angle = self.begin + t * self.sweep
        return np.asarray(self.centre + self.radius * np.concatenate([np.cos(angle), np.sin(angle)], axis=-1))

    @property
    def length(self) -> float:
        return self.radius * self.sweep if self.radius else float(np.linalg.norm(self.end - self.start))

    def between(self, first: float, last: float) -> Piece:
        """The piece from one share of the way to another."""
        begin, sweep = self.begin + first * self.sweep, (last - first) * self.sweep
        return Piece(self.at(first), self.at(last), self.centre, self.radius, begin, sweep)


def outline(shape: Shape) -> list[list[Piece]]:
    """Closed lines around a shape: counterclockwise around it, clockwise around its holes."""
    rims = [list(_rim(part)) for part in shape.parts]
    if len(rims) == 1:
        return rims
    size = max(float(np.abs(piece.start).max()) for rim in rims for piece in rim)
    kept: list[Piece] = []
    for k, rim in enumerate(rims):
        for piece in rim:
            others = [other for j, more in enumerate(rims) if j != k for other in more]
            some = [one for one in _split(piece, others) if one.length > SAME * size]
            kept += [one for one in some if _outside(one, shape.parts, k, SAME * size)]
    return _chains(kept, 30.0 * SAME * size)


def polygons(shape: Shape, *, fine: int = 64) -> list[Array]:
    """Closed lines (k, 2) m of straight pieces, `fine` to a full turn; the corners lie on the outline."""
    loops = []
    for loop in outline(shape):
        points = []
        for piece in loop:
            count = max(1, math.ceil(abs(piece.sweep) / TURN * fine - 1e-9)) if piece.radius else 1
            points.append(piece.at(np.arange(count) / count))
        loops.append(np.concatenate(points))
    return loops


def _rim(part: Part) -> Iterator[Piece]:
    """The outline of a part: its sides, moved outwards, and arcs at its corners."""
    corner, r = part.vertices[:, :2], part.rounding
    if len(corner) == 1:
        start = corner[0] + np.array([r, 0.0])
        yield Piece(start, start, corner[0], r, 0.0, TURN)
        return
    angle = [math.atan2(normal[1], normal[0]) for normal in part.normals]
    for k, (tail, head) in enumerate(part.faces):
        away = r * part.normals[k, :2]
        yield Piece(corner[tail] + away, corner[head] + away, corner[tail])
        if r > 0.0:
            after = (k + 1) % len(angle)
            sweep = (angle[after] - angle[k]) % TURN
            yield Piece(
                corner[head] + away, corner[head] + r * part.normals[after, :2], corner[head], r, angle[k], sweep
            )


def _split(piece: Piece, others: Sequence[Piece]) -> list[Piece]:
    """The piece, cut wherever another meets it."""
    cuts = sorted({0.0, 1.0} | {t for other in others for t in _meetings(piece, other) if 1e-12 < t < 1.0 - 1e-12})
    return [piece.between(a, b) for a, b in pairwise(cuts) if b - a > 1e-12]


def _meetings(piece: Piece, other: Piece) -> list[float]:
    """Shares of the way of a piece at which it meets the line or circle of another."""
    if piece.radius == 0.0 and other.radius == 0.0:
        along, across = piece.end - piece.start, other.end - other.start
        det = along[0] * across[1] - along[1] * across[0]
        if abs(det) < 1e-14 * (1e-300 + np.linalg.norm(along) * np.linalg.norm(across)):
            return [_share(piece, point) for point in (other.start, other.end)]
        to = other.start - piece.start
        return [float((to[0] * across[1] - to[1] * across[0]) / det)]
    if piece.radius == 0.0:
        along, to = piece.end - piece.start, other.centre - piece.start
        square = float(along @ along)
        middle = float(along @ to) / square
        left = other.radius**2 - float(to @ to) + middle**2 * square
        root = math.sqrt(max(left, 0.0) / square)
        return [middle - root, middle + root] if left >= 0.0 else []
    return [_share(piece, point) for point in _on_circle(piece, other)]


def _on_circle(arc: Piece, other: Piece) -> list[Array]:
    """Points of the circle of an arc on the line or circle of another piece."""
    if other.radius == 0.0:
        return [other.at(t) for t in _meetings(other, arc)]
    to = other.centre - arc.centre
    apart = float(np.linalg.norm(to))
    if apart < 1e-14 * arc.radius:
        return [other.start, other.end]
    along = (apart**2 + arc.radius**2 - other.radius**2) / (2.0 * apart)
    aside = arc.radius**2 - along**2
    if aside < 0.0:
        return []
    unit = to / apart
    foot, up = arc.centre + along * unit, math.sqrt(aside) * np.array([-unit[1], unit[0]])
    return [foot + up, foot - up]


def _share(piece: Piece, point: Array) -> float:
    if piece.radius == 0.0:
        along = piece.end - piece.start
        return float((point - piece.start) @ along / (along @ along))
    away = point - piece.centre
    turn = (math.atan2(away[1], away[0]) - piece.begin) % TURN
    return turn / piece.sweep


def _outside(piece: Piece, parts: Sequence[Part], own: int, near: float) -> bool:
    """Whether a piece without cuts is part of the outline; of two that coincide the one of the first part is."""
    middle = piece.at(0.5)
    for k, part in enumerate(parts):
        if k == own:
            continue
        away = distance(part, middle)
        if away < -near:
            return False
        if away <= near and k < own:  # both run along here: on the same side, or back to back
            return False
        if away <= near:
            tangent = piece.at(0.5 + 1e-6) - piece.at(0.5 - 1e-6)
            out = np.array([tangent[1], -tangent[0]]) / np.linalg.norm(tangent)
            if distance(part, middle + 30.0 * near * out) < 0.0:
                return False
    return True


def distance(part: Part, point: Array) -> float:
    """m, from the surface of a part to a point (2,) of the plane; negative inside."""
    corner = part.vertices[:, :2]
    if len(corner) == 1:
        return float(np.linalg.norm(point - corner[0])) - part.rounding
    nearest = math.inf
    for tail, head in part.faces:
        along = corner[head] - corner[tail]
        share = min(max(float((point - corner[tail]) @ along) / float(along @ along), 0.0), 1.0)
        nearest = min(nearest, float(np.linalg.norm(point - corner[tail] - share * along)))
    height = [(point - corner[tail]) @ normal[:2] for (tail, _), normal in zip(part.faces, part.normals)]
    inside = len(corner) > 2 and max(height) < 0.0
    return (-nearest if inside else nearest) - part.rounding


def _chains(pieces: list[Piece], near: float) -> list[list[Piece]]:
    """Pieces in the order in which each begins where the last one ends."""
    left, loops = list(pieces), []
    while left:
        loop = [left.pop(0)]
        while left:
            ends = np.array([piece.start for piece in left])
            apart = np.linalg.norm(ends - loop[-1].end, axis=1)
            closed = float(np.linalg.norm(loop[-1].end - loop[0].start))
            best = int(np.argmin(apart))
            if closed <= near or apart[best] > near:
                break
            loop.append(left.pop(best))
        loops.append(loop)
    return loops
