"""Pairs of parts that contacts belong to, in space; and how fast their normals turn as they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import facets
from .cores import Cores
from .grains import Grains, split
from .state import Array, State

if TYPE_CHECKING:
    from .levers import LeverLinks
    from .links import Index

FLUSH = 1e-9  # of the size: ends of an edge that are as far along n lie across it; rounding is far below


@dataclass
class Couple:
    """Contacts of one part of one shape with one part of another, seen from the centre of body 0.

    rows : (m,) numbers of the contacts; a, b : cores of both bodies at the beginning of the step
    """

    rows: Index
    a: Cores
    b: Cores


def cores_of(grains: Grains, which: Index, number: int, turned: Array) -> Cores:
    """One part of some grains of one shape."""
    part = grains.parts[int(grains.shape[which[0]])][number]
    at, normals = grains.vertices(which, part, turned), grains.normals(which, part, turned)
    return Cores(part, at, normals, grains.scale[which] * part.rounding)


def couples(links: LeverLinks) -> Iterator[Couple]:
    """All contacts between grains, by shapes and parts, and those of sides and faces of grains with facets of walls."""
    yield from _at_facets(links)
    grains, rows = links.shapes, links.between_grains
    if not rows.size:
        return
    part_a, part_b, _, _ = split(features(links.state)[rows], links.state.dimension)
    i, j = links.i[rows], links.j[rows]
    kinds = np.stack([grains.shape[i], part_a, grains.shape[j], part_b], axis=1)
    each, kind = np.unique(kinds, axis=0, return_inverse=True)
    for k, (_, a, _, b) in enumerate(each.tolist()):
        some = rows[kind.ravel() == k]
        other = cores_of(grains, links.j[some], b, grains.before).shifted(links.branch[some])
        yield Couple(some, cores_of(grains, links.i[some], a, grains.before), other)


def _at_facets(links: LeverLinks) -> Iterator[Couple]:
    state, grains = links.state, links.shapes
    own, facet, _, _ = split(features(state), state.dimension)
    for w, some in links.at_facets:
        wall = state.walls_before[w]
        part, _ = facets.parts_of(wall.shape, state.dimension, float(state.extent.max()))
        kinds = np.stack([grains.shape[links.i[some]], own[some], facet[some]], axis=1)
        each, kind = np.unique(kinds, axis=0, return_inverse=True)
        for k, (_, a, number) in enumerate(each.tolist()):
            rows = some[kind.ravel() == k]
            i = links.i[rows]
            other = facets.cores_at(wall, part, number - 1, state.start[i], state.dimension)
            yield Couple(rows, cores_of(grains, i, a, grains.before), other)


def features(state: State) -> Index:
    """(c,) names of the points, as stored."""
    stored = state.frame.contacts.feature
    return np.zeros(len(state.frame.contacts), np.int64) if stored is None else np.asarray(stored, np.int64)


def sines(links: LeverLinks) -> Array:
    """(c,) of the angle at which edges cross that n is across; 1 where it is not edges that make the normal.

    n is along e_0 x e_1 there: it turns by what the edges turn, over this sine.
    """
    out = np.ones(len(links))
    if links.state.dimension == 2:
        return out
    for couple in couples(links):
        n, size = links.normal[couple.rows], links.extents(couple.rows)
        of_face = _is_normal(couple.a, n) | _is_normal(couple.b, -n)
        e, at_a = _across(couple.a, n, size)
        f, at_b = _across(couple.b, -n, size)
        crossing = np.linalg.norm(np.cross(e[:, :, None], f[:, None]), axis=-1)
        both = at_a[:, :, None] & at_b[:, None] & ~of_face[:, None, None]
        out[couple.rows] = np.where(both, crossing, 1.0).min(axis=(1, 2), initial=1.0)
    return out


def turned(sine: Array, turn: Array) -> Array:
    """By how much of its way the gap of a point may differ from g + dt V_n, where bodies turn by so much (rad).

    A normal turns by as much as its face; that of edges by turn/sin, and the angle between them changes by the turn
    meanwhile. Whatever it does, a gap changes by no more than the way, and so does dt V_n: never by more than twice.
    """
    steep = np.where(sine < 1.0, turn / np.maximum(sine - turn, 1e-300), turn)
    return np.asarray(np.minimum(steep, 2.0))


def _is_normal(core: Cores, n: Array) -> NDArray[np.bool_]:
    """(m,) whether n (m, 3) is the normal of a face."""
    away = np.linalg.norm(core.normals - n[:, None], axis=-1)
    return np.asarray(away.min(axis=1, initial=np.inf) < FLUSH)


def _across(core: Cores, n: Array, size: Array) -> tuple[Array, NDArray[np.bool_]]:
    """(m, e, 3) unit directions of edges, and (m, e) which of them lie across n as far along it as the core goes."""
    begin, way = core.ends
    far = np.einsum("mkc,mc->mk", core.vertices, n).max(axis=1)[:, None]
    low = np.minimum(np.einsum("mec,mc->me", begin, n), np.einsum("mec,mc->me", begin + way, n))
    return way / np.linalg.norm(way, axis=-1)[..., None], far - low < FLUSH * size[:, None]
