"""Overlaps of grains of any shape at the positions of a frame, listed or not, and those that no contact foretold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import facets, images, surfaces
from .cores import Cores, separation, signed_distance
from .couples import cores_of, sines, turned
from .grains import PARTS, split
from .levers import LeverLinks
from .overlap import UNSEEN, Overlaps, near_pairs
from .points import keys
from .state import Array, State, length
from .verdict import Check, worst_of

Index = NDArray[np.int64]


def overlaps(state: State) -> Overlaps:
    """All of them: parts of grains near each other, and every vertex of every grain against every wall.

    At walls that jut out grains with sides and faces are held against facets instead.
    """
    grains = state.shapes
    assert grains is not None
    owner, image, place = images.ghosts(state)
    a, b = np.sort(near_pairs(place, state.extent[owner]), axis=1).T
    keep = (a < state.n) & (length(place[b] - place[a]) < state.extent[owner[a]] + state.extent[owner[b]])
    a, b = a[keep], b[keep]
    found = [_between(state, owner[a], owner[b], image[b] - image[a], place[b] - place[a])]
    for w, wall in enumerate(state.walls):
        i = np.repeat(np.arange(state.n), grains.corners)
        number = np.arange(len(i)) - np.repeat(np.cumsum(grains.corners) - grains.corners, grains.corners)
        at, radius = grains.balls(i, number, grains.after)
        gap, _, _ = surfaces.gaps(wall, state.position[i] + at, radius)
        by_vertex = np.full(state.n, True) if wall.shape.convex else ~grains.sided
        deep = np.flatnonzero((gap < 0.0) & by_vertex[i])
        i, pair = i[deep], np.stack([i[deep], np.full(len(deep), state.n + w)], axis=1)
        found.append(
            Overlaps(pair, np.zeros((len(deep), 3), np.int64), -gap[deep], state.radius[i], number[deep])
        )  # fmt: skip
        if not by_vertex.all():
            found.append(_in_facets(state, w, np.flatnonzero(~by_vertex)))
    return Overlaps(*(np.concatenate([getattr(part, name) for part in found]) for name in vars(found[0])))


def missing(found: Overlaps, links: LeverLinks) -> Check:
    """Parts that overlap and are not on the list of contacts, or deeper than all of their points foretell.

    A point foretells its gap and dt V_n; turning adds terms of second order. So a corner that was left out is found
    as soon as a grain sinks there.
    """
    state = links.state
    bodies, feature = state.n + len(state.walls), keys(state)
    a, b, _, _ = split(feature[:, 1], state.dimension)
    name = np.where(links.j < state.n, a * PARTS + b, feature[:, 1])
    for _, some in links.at_facets:  # of facets side by side only the one that is nearer is listed
        name[some] = a[some] * PARTS
    listed = np.stack([feature[:, 0], name], axis=1)
    image = state.frame.contacts.image
    pair = images.keys(found.pair, None if image is None else found.image, bodies)
    mine = np.stack([pair, _same_way(found, state)], axis=1)
    _, number = np.unique(np.concatenate([listed, mine]), axis=0, return_inverse=True)
    number = number.ravel()
    least = np.full(int(number.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, number[: len(listed)], links.gap + state.dt * links.v_n)
    sine = np.ones(len(least))
    np.minimum.at(sine, number[: len(listed)], sines(links))
    foretold, sine = np.maximum(-least[number[len(listed) :]], 0.0), sine[number[len(listed) :]]
    bound, spin = np.append(state.extent, np.zeros(len(state.walls))), length(state.spin)
    turn = state.dt * np.append(spin, [float(length(wall.drive.spin[None])[0]) for wall in state.walls])
    i, j = found.pair.T
    way = state.dt * (state.speed[i] + state.speed[j])
    both = turn[i] + turn[j]
    second = turned(sine, both) * (way + both * (bound[i] + bound[j]))
    noise = second + state.rounding * (state.coordinate[i] + state.coordinate[j])
    beyond = np.maximum(found.depth - foretold - noise, 0.0) / state.radius.min(initial=np.inf)

    def place(k: int) -> str:
        known = f"and their contacts foretell {foretold[k]:.6g} m" if foretold[k] else "and have no contact there"
        return f"{found.who(state, k)} overlap by {found.depth[k]:.6g} m {known}"

    return worst_of("missing contacts", beyond, UNSEEN, "the smallest radius", place)


def _between(state: State, i: Index, j: Index, image: Index, away: Array) -> Overlaps:
    """Pairs of parts of grains that overlap; away : (m, 3) m, from centre to centre."""
    grains, none = state.shapes, np.zeros(0, np.int64)
    assert grains is not None
    rows, depths, names = [none], [np.zeros(0)], [none]
    kinds, kind = np.unique(grains.shape[np.stack([i, j], axis=1)], axis=0, return_inverse=True)
    for k, (s, t) in enumerate(kinds.tolist()):
        some = np.flatnonzero(kind.ravel() == k)
        for p in range(len(grains.parts[s])):
            a = cores_of(grains, i[some], p, grains.after)
            for q in range(len(grains.parts[t])):
                b = cores_of(grains, j[some], q, grains.after).shifted(away[some])
                near = _candidates(a, b)
                depth = (a.radius + b.radius)[near] - signed_distance(a.some(near), b.some(near))
                deep = depth > 0.0
                rows.append(some[near[deep]])
                depths.append(depth[deep])
                names.append(np.full(int(deep.sum()), p * PARTS + q))
    row, name = np.concatenate(rows), np.concatenate(names)
    i, j = i[row], j[row]
    smaller = np.minimum(state.radius[i], state.radius[j])
    return Overlaps(np.stack([i, j], axis=1), image[row], np.concatenate(depths), smaller, name)


def _in_facets(state: State, w: int, which: Index) -> Overlaps:
    """Parts of some grains that overlap with a wall that juts out."""
    grains, wall = state.shapes, state.walls[w]
    assert grains is not None
    part, count = facets.parts_of(wall.shape, state.dimension, float(state.extent.max()))
    gap, _, _ = surfaces.gaps(wall, state.position[which], state.extent[which] + wall.shape.off)
    which = which[gap < 0.0]
    found: list[tuple[Index, Array, int]] = []
    for s in np.unique(grains.shape[which]).tolist():
        i = which[grains.shape[which] == s]
        for p, number in np.ndindex(len(grains.parts[s]), count):
            a = cores_of(grains, i, p, grains.after)
            b = facets.cores_at(wall, part, number, state.position[i], state.dimension)
            near = _candidates(a, b)
            depth = (a.radius + b.radius)[near] - signed_distance(a.some(near), b.some(near))
            found.append((i[near[depth > 0.0]], depth[depth > 0.0], p))
    i = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _, _ in found)])
    name = np.concatenate([np.zeros(0, np.int64), *(np.full(len(rows), p * PARTS) for rows, _, p in found)])
    depth = np.concatenate([np.zeros(0), *(depth for _, depth, _ in found)])
    pair = np.stack([i, np.full(len(i), state.n + w)], axis=1)
    return Overlaps(pair, np.zeros((len(i), 3), np.int64), depth, state.radius[i], name)


def _candidates(a: Cores, b: Cores) -> Index:
    """Rows of pairs that are not apart along the line between their middles, nor along a normal of a face."""
    way = b.vertices.mean(axis=1) - a.vertices.mean(axis=1)
    line = way / np.maximum(length(way), 1e-300)[:, None]
    some = np.flatnonzero(separation(a, b, line[:, None])[:, 0] < a.radius + b.radius)
    for side in (0, 1):
        c, d = a.some(some), b.some(some)
        axes = c.normals if side == 0 else -d.normals
        if axes.shape[1]:
            some = some[separation(c, d, axes).max(axis=1) < c.radius + d.radius]
    return some


def _same_way(found: Overlaps, state: State) -> Index:
    """(k,) names of what meets, seen from the body with the lower number."""
    swap = (found.pair[:, 0] > found.pair[:, 1]) & (found.pair < state.n).all(axis=1)
    p, q = np.divmod(found.name, PARTS)
    return np.where(swap, q * PARTS + p, found.name)
