"""Contacts that carry a force: points where bodies touch, and pairs of surfaces that touch at one point or several."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..trajectory.frame import STATUS, Frame
from .images import cell_before, start
from .state import Array, Index, Mask, dot, double

SLIDING = STATUS.index("sliding")
PARTS = 1 << 48  # features of two parts of grains are smaller; what is beyond says which parts
ALIKE = 1e-9  # normals of points of one grain at a wall that differ by less are one


@dataclass(frozen=True)
class Links:
    """Contacts that carry a force. Bodies i (a grain) and j; n points from i to j, R acts on j.

    i, j     : (c,) rows of the grains; j = n + w for wall w
    at_wall  : (c,) True where j is a wall
    normal   : (c, 3); force : (c, 3) N; r_n : (c,) N; r_t : (c, 3) N
    image    : (c, 3) image of j that is touched, in cells; zero without a periodic cell
    arm_i    : (c, 3) m, from the centre of i to the point of contact at the beginning of the step: the middle of the
               gap between grains, the surface of a wall
    arm_j    : (c, 3) m, from there to the centre of j; zero at walls
    lever_i, lever_j : (c, 3) m, from each centre to the point of its own surface; zero for walls
    torque   : (c, 3) N m on j, by rolling and twisting friction
    sliding  : (c,) True where the tangential force is mobilised
    surface  : (c,) the same number for points of the same two surfaces: sides, faces, edges of two parts
    points   : (c,) how many points a contact stands for
    """

    i: Index
    j: Index
    at_wall: Mask
    image: Index
    normal: Array
    force: Array
    r_n: Array
    r_t: Array
    arm_i: Array
    arm_j: Array
    lever_i: Array
    lever_j: Array
    torque: Array
    sliding: Mask
    surface: Index
    points: Index

    def __len__(self) -> int:
        return len(self.i)

    @property
    def branch(self) -> Array:
        """(c, 3) m, from centre to centre, or from a centre to the surface of a wall."""
        return self.arm_i + self.arm_j

    def some(self, which: Mask | Index) -> Links:
        """A part of the contacts."""
        return Links(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def joined(self) -> Links:
        """One contact for all points of the same two surfaces, with the resultant force, as the literature counts them.

        Arms are means by normal force: moments of the resultant are those of the points, since all share a branch. A
        contact slides if all of its points do. Round grains have one point anyway.
        """
        _, first, group, count = np.unique(self.surface, return_index=True, return_inverse=True, return_counts=True)
        group = group.ravel()
        if len(first) == len(self):
            return self
        weight = self.r_n / np.bincount(group, self.r_n)[group]
        weight = np.where(np.isfinite(weight), weight, 1.0 / count[group])

        def total(rows: Array, factor: Array | float = 1.0) -> Array:
            return np.stack([np.bincount(group, factor * column) for column in rows.T], axis=1)

        normal, force = self.normal[first], total(self.force)
        r_n = dot(force, normal)
        return replace(
            self.some(first),
            force=force,
            r_n=r_n,
            r_t=force - r_n[:, None] * normal,
            arm_i=total(self.arm_i, weight),
            arm_j=total(self.arm_j, weight),
            lever_i=total(self.lever_i, weight),
            lever_j=total(self.lever_j, weight),
            torque=total(self.torque),
            sliding=np.bincount(group, ~self.sliding) == 0,
            points=np.bincount(group, self.points).astype(np.int64),
        )


def links(frame: Frame, *, walls: bool = True, least: float = 0.0) -> Links:
    """The contacts of a frame that carry a force, point by point.

    walls : with those at walls; least : leave out normal forces below this share of the mean one
    """
    contacts, n = frame.contacts, len(frame)
    force, normal = double(contacts.force), double(contacts.normal)
    carry = np.any(force != 0.0, axis=1)
    force, normal = force[carry], normal[carry]
    pair, gap = contacts.pair[carry].astype(np.int64), double(contacts.gap)[carry]
    i, j = pair[:, 0].copy(), pair[:, 1].copy()
    at_wall, torque = j >= n, contacts.law("torque")
    image = np.zeros((len(i), 3), np.int64) if contacts.image is None else contacts.image[carry].astype(np.int64)
    if frame.catalogue is None:
        levers = _round_levers(frame, i, j, at_wall, normal)
        arm_i = levers[0] + np.where(at_wall, gap, 0.5 * gap)[:, None] * normal
        arm_j = np.where(at_wall[:, None], 0.0, 0.5 * gap[:, None] * normal - levers[1])
        surface = np.arange(len(i))
    else:
        point = double(contacts.point)[carry] - double(frame.position)[i]
        levers, arm_i, arm_j = _levers(frame, i, j, at_wall, image, normal, gap, point)
        surface = _surfaces(frame, pair, at_wall, image, normal, carry)
    r_n = dot(force, normal)
    found = Links(
        i=i,
        j=j,
        at_wall=at_wall,
        image=image,
        normal=normal,
        force=force,
        r_n=r_n,
        r_t=force - r_n[:, None] * normal,
        arm_i=arm_i,
        arm_j=arm_j,
        lever_i=levers[0],
        lever_j=levers[1],
        torque=np.zeros((len(i), 3)) if torque is None else double(torque)[carry],
        sliding=contacts.status[carry] == SLIDING,
        surface=surface,
        points=np.ones(len(i), np.int64),
    )
    if least > 0.0 and len(found):
        found = found.some(np.abs(found.r_n) >= least * np.abs(found.r_n).mean())
    return found if walls else found.some(~found.at_wall)


def _round_levers(frame: Frame, i: Index, j: Index, at_wall: Mask, normal: Array) -> tuple[Array, Array]:
    """Of disks and spheres: along the normal."""
    radius = double(frame.radius)
    reach = np.where(at_wall, 0.0, radius[np.where(at_wall, 0, j)])
    return radius[i][:, None] * normal, -reach[:, None] * normal


def _levers(
    frame: Frame, i: Index, j: Index, at_wall: Mask, image: Index, normal: Array, gap: Array, point: Array
) -> tuple[tuple[Array, Array], Array, Array]:
    """Levers of both surfaces and arms to a common point; point : (c, 3) m, half-way between the surfaces, from i."""
    begin, half = start(frame), 0.5 * gap[:, None] * normal
    apart = begin[np.where(at_wall, 0, j)] - begin[i]
    if frame.cell is not None:
        apart = apart + image @ cell_before(frame)
    wall = at_wall[:, None]
    lever_j = np.where(wall, 0.0, point + half - apart)
    return (point - half, lever_j), np.where(wall, point + half, point), np.where(wall, 0.0, apart - point)


def _surfaces(frame: Frame, pair: Index, at_wall: Mask, image: Index, normal: Array, carry: Mask) -> Index:
    """(c,) one number for points with the same bodies, image and parts, at walls with the same normal."""
    feature = frame.contacts.feature
    parts = np.zeros(len(pair), np.int64) if feature is None else feature[carry].astype(np.int64) // PARTS
    toward = np.where(at_wall[:, None], np.rint(normal / ALIKE), 0.0).astype(np.int64)
    what = np.column_stack([pair, image, np.where(at_wall, 0, parts), toward])
    _, number = np.unique(what, axis=0, return_inverse=True)
    return np.asarray(number.ravel(), np.int64)
