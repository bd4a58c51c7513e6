"""Contact points of grains of any shape, held against geometry of their own; each is named after where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import facets, images, surfaces
from .cores import Cores, deepest, edges_of, separation, to_edges, to_feature, to_surface, to_vertices
from .couples import Couple, couples, features
from .grains import PARTS, VERTEX, WITHIN, rotation_vectors, split, swapped
from .levers import LeverLinks
from .links import Index
from .state import Array, State, length, size
from .verdict import Check, counted, worst_of

SLACK = 1e-11  # of the size: what detection leaves open, a few times over
ASIDE = 0.03  # of the rounding: ends of edges that cross at b are up to (1/cos(b/2) - 1) of it farther from vertices
EXACT = 1e-8  # of the size: in 2D ends of sides that are nearer to each other are one
SAME_WAY = 1e-4  # of normals of two facets of a wall that tell the same
NAMED = 2e-3  # of the size: corners next to each other take one name


def keys(state: State) -> Index:
    """(c, 3) what each point is: its bodies, with their image, and its name, whichever body comes first."""
    contacts, feature = state.frame.contacts, features(state)
    pair = contacts.pair.astype(np.int64)
    turned = (pair[:, 0] > pair[:, 1]) & (pair < state.n).all(axis=1)
    name = np.where(turned, swapped(feature, state.dimension), feature)
    return np.stack([images.keys(pair, contacts.image, state.n + len(state.walls)), name], axis=1)


def unknown_names(state: State) -> list[str]:
    """Points named after parts or vertices that their grains do not have."""
    grains, feature, pair = state.shapes, features(state), state.frame.contacts.pair.astype(np.int64)
    assert grains is not None
    i, j = pair[:, 0], pair[:, 1]
    wall = j >= state.n
    parts = np.array([len(parts) for parts in grains.parts])[grains.shape]
    a, b, code_a, code_b = split(feature, state.dimension)
    facet = wall & (feature >= WITHIN)
    strange = np.where(wall, feature >= grains.corners[i], (a >= parts[i]) | (b >= parts[np.where(wall, 0, j)]))
    strange = np.where(facet, a >= parts[i], strange) | (feature < 0)
    for c in np.flatnonzero((facet | ~wall) & ~strange):
        if facet[c]:
            surface = state.walls[j[c] - state.n]
            if surface.shape.convex or not grains.sided[i[c]]:
                strange[c] = True
                continue
            other, count = facets.parts_of(surface.shape, state.dimension, float(state.extent.max()))
            strange[c] |= not 1 <= b[c] <= count
        else:
            other = grains.parts[grains.shape[j[c]]][b[c]]
        for body, code in ((grains.parts[grains.shape[i[c]]][a[c]], code_a[c]), (other, code_b[c])):
            vertices = len(body.vertices)
            named = [code] if state.dimension == 2 else [v - 1 for v in divmod(int(code), VERTEX) if v]
            strange[c] |= any(v >= vertices for v in named)
    told = "which its bodies have not"
    return [f"{state.contact(int(c))} is named {feature[c]}, {told}" for c in np.flatnonzero(strange)]


@dataclass
class Misses:
    """By how much the stored points are off (c,) m.

    gap : the least of a pair of parts, from its separation along n; points : from both surfaces
    corner : from any corner; normal : by which another direction is farther apart; even : n from that of its pair
    """

    gap: Array
    point: Array
    corner: Array
    normal: Array
    even: Array

    @property
    def worst(self) -> Array:
        return np.asarray(np.max([self.gap, self.point, self.corner, self.normal, self.even], axis=0))


def geometry(links: LeverLinks) -> Check:
    """Normals, gaps and points against the shapes at the beginning of the step.

    The points of two parts share a normal. Each lies on both surfaces, at a corner: a vertex of the one, or edges of
    both. The least gap is the separation along n. Where cores are apart this proves that no other direction separates
    them more, since two of their points are as near; where they overlap all axes are tried.
    """
    state, count = links.state, len(links)
    miss = Misses(*np.zeros((5, count)))
    slack = np.zeros(count)
    least = _least(links)
    for couple in couples(links):
        _couple(links, couple, least, miss, slack)
    for w, some in links.at_vertices:
        if not some.size:
            continue
        place, radius = links.balls(some)
        at = state.start[links.i[some]] + place
        gap, normal, lever = surfaces.gaps(state.walls_before[w], at, radius)
        far = np.maximum(lever, state.extent[links.i[some]])
        miss.gap[some] = np.abs(gap - links.gap[some])
        miss.normal[some] = length(normal - links.normal[some]) * far
        miss.point[some] = length(place + radius[:, None] * links.normal[some] - links.arm_i[some])
    scale = state.coordinate[links.i] + state.coordinate[links.j]

    def place_of(c: int) -> str:
        return (
            f"{state.contact(c)}: gap {links.gap[c]:.9g} m, off by {miss.gap[c]:.2g} m; point off the surfaces by"
            f" {miss.point[c]:.2g} m, off a corner by {miss.corner[c]:.2g} m; along another normal"
            f" {max(miss.normal[c], miss.even[c]):.2g} m"
        )

    return worst_of(
        "geometry", np.maximum(miss.worst - slack, 0.0) / scale, state.rounding, "the coordinates", place_of
    )


def _couple(links: LeverLinks, couple: Couple, least: Index, miss: Misses, slack: Array) -> None:
    rows, a, b = couple.rows, couple.a, couple.b
    n, gap, both = links.normal[rows], links.gap[rows], a.radius + b.radius
    extent = links.extents(rows)
    apart = separation(a, b, n[:, None])[:, 0]
    first = least[rows] == rows
    miss.gap[rows] = np.where(first, np.abs(apart - both - gap), np.maximum(apart - both - gap, 0.0))
    miss.even[rows] = length(n - links.normal[least[rows]]) * extent
    slack[rows] = SLACK * extent
    on_a, on_b = links.arm_i[rows], links.arm_i[rows] + gap[:, None] * n
    in_a, in_b = on_a - a.radius[:, None] * n, on_b + b.radius[:, None] * n
    miss.point[rows] = np.maximum(_off(to_surface, a, on_a, in_a), _off(to_surface, b, on_b, in_b))
    vertex = np.minimum(_off(to_vertices, a, on_a, in_a), _off(to_vertices, b, on_b, in_b))
    edge = np.maximum(_off(to_edges, a, on_a, in_a), _off(to_edges, b, on_b, in_b))
    miss.corner[rows] = np.minimum(vertex, edge) if links.state.dimension == 3 else vertex
    if links.state.dimension == 3:  # others than the nearest point may be ends of edges side by side
        ends = np.minimum(_ends(a, b, on_a, on_b), _ends(b, a, on_b, on_a))
        for off in (miss.corner, miss.point):
            off[rows] = np.where(first, off[rows], np.minimum(off[rows], ends))
    deep = np.flatnonzero(apart < -links.state.rounding * extent)
    if deep.size:
        best = deepest(a.some(deep), b.some(deep))
        miss.normal[rows[deep]] = np.maximum(best - apart[deep], 0.0)


def _off(to, core: Cores, surface: Array, inner: Array) -> Array:  # type: ignore[no-untyped-def]
    """(m,) m, how far a point of the rounded surface is from belonging to a feature of the core: by its distance, or
    where n leans against the face, by the place in the core along n."""
    return np.asarray(np.minimum(np.abs(to(core, surface) - core.radius), to(core, inner)))


def _ends(a: Cores, b: Cores, on_a: Array, on_b: Array) -> Array:
    """(m,) m, by which points miss the end of edges side by side: a vertex of one body and a place on an edge of the
    other, aside of each other as seen along n, whose cylinders touch there.

    The place is as far along the direction between the edges, at b/2 to each, as the vertex is. So it is up to
    1/cos(b/2) radii from the surface; an edge that leans by SLOPE against n makes it nearer, by 0.7 % of them.
    """
    away = on_a[:, None] - a.vertices
    sharp = a.radius == 0.0
    ratio = (b.radius / np.where(sharp, 1.0, a.radius))[:, None, None]
    other = on_b[:, None] + ratio * away
    off = np.stack([to_edges(b, other[:, v]) for v in range(other.shape[1])], axis=1)
    size = np.sqrt((away**2).sum(axis=2)) / np.where(sharp, 1.0, a.radius)[:, None]
    round_it = (np.abs(size - 1.0) <= ASIDE) & ~sharp[:, None]
    ends = np.where(round_it, off, np.inf).min(axis=1)
    beside = np.abs(to_edges(b, on_b) - b.radius) <= ASIDE * b.radius  # a sharp vertex does not tell where it lies
    return np.asarray(np.where(sharp & beside, to_vertices(a, on_a), ends))


def to_close(links: LeverLinks) -> Check:
    """The gap to be closed is the gap, less at most what turning may close of it within the step."""
    state = links.state
    less = links.gap_to_close - links.to_close
    most = links.may_sink(np.maximum(less, 0.0))
    scale = state.coordinate[links.i] + state.coordinate[links.j]
    miss = np.maximum(-less, less - most)

    def place(c: int) -> str:
        told = f"{links.to_close[c]:.6g} m of a gap of {links.gap_to_close[c]:.6g} m"
        return f"{state.contact(c)} is to close {told}, of which turning may close {most[c]:.2g} m"

    return worst_of("gap to close", np.maximum(miss, 0.0) / scale, state.rounding, "the coordinates", place)


def _least(links: LeverLinks) -> Index:
    """(c,) the contact with the least gap among those of the same parts and image."""
    key = keys(links.state)
    a, b, _, _ = split(key[:, 1], links.state.dimension)
    kind = np.stack([key[:, 0], np.where(links.j < links.state.n, a * PARTS + b, key[:, 1])], axis=1)
    for _, some in links.at_facets:  # facets that tell the same count as one
        kind[some, 1] = some
        for _, rows in _together(np.stack([links.i[some], a[some]], axis=1)):
            for k, row in enumerate(some[rows]):
                same = length(links.normal[some[rows[:k]]] - links.normal[row]) < SAME_WAY
                if same.any():
                    kind[row, 1] = kind[some[rows[:k]][same][0], 1]
    _, group = np.unique(kind, axis=0, return_inverse=True)
    group = group.ravel()
    order = np.lexsort((links.gap, group))
    first = np.concatenate([[True], group[order][1:] != group[order][:-1]]) if len(order) else np.zeros(0, bool)
    lead = order[np.flatnonzero(first)]
    return np.asarray(lead[group])


def _together(keys: Index) -> Iterator[tuple[int, Index]]:
    """Rows with the same keys (m, 2)."""
    _, group = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    yield from enumerate(np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1) if len(order) else [])


def names(links: LeverLinks) -> Check:
    """Every point lies where its name says: at the vertex, on the edge, on a side that ends there."""
    state, faults = links.state, []
    for couple in couples(links):
        rows, n, gap = couple.rows, links.normal[couple.rows], links.gap[couple.rows]
        _, _, code_a, code_b = split(features(state)[rows], state.dimension)
        on_a, on_b = links.arm_i[rows], links.arm_i[rows] + gap[:, None] * n
        in_a, in_b = on_a - couple.a.radius[:, None] * n, on_b + couple.b.radius[:, None] * n
        far = np.maximum(
            _from_name(couple.a, code_a, on_a, in_a, state.dimension),
            _from_name(couple.b, code_b, on_b, in_b, state.dimension),
        )
        if state.dimension == 2:  # and one of the two sides ends here
            at_a = _named(couple.a, code_a, code_a, on_a, in_a)
            far = np.maximum(far, np.minimum(at_a, _named(couple.b, code_b, code_b, on_b, in_b)))
        extent = links.extents(rows)
        noise = state.rounding * (state.coordinate[links.i[rows]] + state.coordinate[links.j[rows]])
        most = (NAMED * extent + ASIDE * np.maximum(couple.a.radius, couple.b.radius)) + noise
        if state.dimension == 2:
            most = EXACT * extent + noise
        faults += [
            f"{state.contact(int(rows[k]))} is named {features(state)[rows[k]]}, and lies {far[k]:.2g} m from there"
            for k in np.flatnonzero(~(far <= most))
        ]
    return counted("features", faults)


def _from_name(core: Cores, code: Index, surface: Array, inner: Array, dimension: int) -> Array:
    """(m,) m, of points of one body from what they are named after; infinite for an edge that there is not."""
    if dimension == 2:  # a side that begins or ends at the vertex
        k = len(core.part.vertices)
        return np.minimum(
            _named(core, code, (code + 1) % k, surface, inner), _named(core, code, (code - 1) % k, surface, inner)
        )
    high, low = np.divmod(code, VERTEX)
    first, second = np.where(high > 0, high, low) - 1, low - 1
    far = _named(core, np.maximum(first, 0), np.maximum(second, 0), surface, inner)
    edges = {tuple(edge) for edge in edges_of(core.part).tolist()}
    known = np.array([h == 0 or (min(h, v) - 1, max(h, v) - 1) in edges for h, v in zip(high.tolist(), low.tolist())])
    return np.where(code == 0, 0.0, np.where(known, far, np.inf))


def _named(core: Cores, vertex: Index, other: Index, surface: Array, inner: Array) -> Array:
    return _off(lambda some, points: to_feature(some, points, vertex, other), core, surface, inner)


def turning(state: State) -> Check:
    """Orientations of solids go on by the midpoint rule for L in the axes of the grain, with Cayley's turn.

    Of the angle a of a step, 2 tan(a/2) is dt times I^-1 of the mean of L in the axes before and after.
    """
    grains, dt = state.shapes, state.dt
    assert grains is not None
    angle = rotation_vectors(grains.after @ np.swapaxes(grains.before, 1, 2))
    about = np.einsum("nba,nb->na", grains.before, angle)  # the axis of the turn is the same before and after
    half = 0.5 * length(about)
    turned = about * np.where(half > 0.0, np.tan(half) / np.where(half > 0.0, half, 1.0), 1.0)[:, None]
    mean = 0.5 * np.einsum("nba,nb->na", grains.before + grains.after, state.turning)
    asked = dt * mean / grains.moments

    def place(i: int) -> str:
        is_, was = size(angle[i]), 2.0 * np.arctan(0.5 * size(asked[i]))
        return f"{state.grain(i)} turned by {is_:.9g} rad where its angular momentum gives {was:.9g}"

    return worst_of("turning", length(turned - asked), state.rounding, "a radian", place)
