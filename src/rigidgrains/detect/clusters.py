"""Clusters, or islands: grains held together by contacts, found by union-find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..runtime.handing import replace

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True)
class Clusters:
    """label : (n,) cluster of each grain; size : (k,) grains; extent : (k,) m, the longest side of its bounding box."""

    label: Index
    size: Index
    extent: Array

    @property
    def largest(self) -> int:
        """The cluster with the most grains."""
        return int(np.argmax(self.size))


def find_clusters(pairs: Index, joined: NDArray[np.bool_], position: Array, radius: Array) -> Clusters:
    """Clusters of grains joined by the marked contacts; walls join nobody, and a grain alone is a cluster."""
    label = unite(pairs, joined, len(radius))
    size = np.bincount(label).astype(np.int32)
    extent, low, high = np.zeros(len(size)), np.empty(len(size)), np.empty(len(size))
    for axis in range(3):
        _bound(label, position[:, axis].copy(), radius, low, high, extent)
    return Clusters(label, size, extent)


def mass_ratio(clusters: Clusters, pairs: Index, joined: NDArray[np.bool_], mobility: Array) -> Array:
    """(k,) mass of each cluster and of the movable walls that it touches, over that of as many median grains of it.

    mobility : (bodies,) 1/kg, 1/m of grains and walls; 0 for those that no force moves
    1 where all grains are equal. A load finds its way through a cluster in as many times more sweeps: these give light
    grains their forces, and heavy ones wait.
    """
    n, count = len(clusters.label), len(clusters.size)
    movable = mobility[:n] > 0.0
    mass = np.full(n, 1.0 / mobility[:n].max(initial=0.0) if movable.any() else 1.0)  # of those that no force moves
    mass[movable] = 1.0 / mobility[:n][movable]
    total = np.bincount(clusters.label, mass, minlength=count)
    order = np.lexsort((mass, clusters.label))
    first = np.cumsum(clusters.size) - clusters.size
    median = 0.5 * (mass[order[first + (clusters.size - 1) // 2]] + mass[order[first + clusters.size // 2]])
    at_wall = joined & (pairs[:, 1] >= n)
    at_wall[at_wall] = mobility[pairs[at_wall, 1]] > 0.0
    touched, wall = np.unique(np.stack([clusters.label[pairs[at_wall, 0]], pairs[at_wall, 1]], axis=1), axis=0).T
    np.add.at(total, touched, 1.0 / mobility[wall])
    return np.asarray(total / (clusters.size * median))


def unite(pairs: Index, joined: NDArray[np.bool_], bodies: int) -> Index:
    """(bodies,) number of the cluster of each of the first bodies, joined by the marked contacts."""
    label = np.arange(bodies, dtype=np.int32)
    _unite(pairs, joined, label)
    _number(label)
    return label


@kernel
def root_of(label, i):
    """Follow a grain to its root, halving the path on the way."""
    while label[i] != i:
        label[i] = label[label[i]]
        i = label[i]
    return i


@kernel
def join(label, i, j):
    """Join two grains while other threads join others. A root becomes a lower number, and only if it is still one."""
    a, b = root_of(label, i), root_of(label, j)
    while a != b and not replace(label, max(a, b), max(a, b), min(a, b)):
        a, b = root_of(label, a), root_of(label, b)


@kernel
def _unite(pairs, joined, label):
    """Join the grains of each marked contact; roots are the lowest numbers."""
    for c in range(len(pairs)):
        if joined[c] and pairs[c, 1] < label.size:
            a, b = root_of(label, pairs[c, 0]), root_of(label, pairs[c, 1])
            label[max(a, b)] = min(a, b)


@kernel
def _number(label):
    """Turn roots into numbers from 0. A root comes before its grains."""
    count = 0
    for i in range(label.size):
        if label[i] == i:
            label[i] = -1 - count
            count += 1
        else:
            label[i] = label[label[i]]
    for i in range(label.size):
        label[i] = -1 - label[i]


@kernel
def _bound(label, along, radius, low, high, extent):
    """Raise the extent of each cluster to that along an axis, on which grains are at `along`."""
    for k in range(extent.size):
        low[k], high[k] = np.inf, -np.inf
    for i in range(label.size):
        k, r = label[i], radius[i]
        low[k], high[k] = min(low[k], along[i] - r), max(high[k], along[i] + r)
    for k in range(extent.size):
        extent[k] = max(extent[k], high[k] - low[k])
