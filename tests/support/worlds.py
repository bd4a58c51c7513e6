"""Worlds for the certificate, each with one kind of wall, and frames that were tampered with."""

from __future__ import annotations

import math

import numpy as np

from rigidgrains import Frame
from rigidgrains.certificate import check
from rigidgrains.model.shapes import Cylinder, Plate
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.trajectory.frame import Contacts
from support.builders import UP, cloud, column, grains, settle, triangular

Z = np.array([0.0, 0.0, 1.0])


def drum(dimension):
    """Grains at the bottom of a turning drum."""
    shape = Cylinder(np.zeros(3), Z, 4.0, True, math.inf)
    angle = np.deg2rad([-130.0, -90.0, -50.0])
    position = 3.0 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    walls = [Wall("drum", shape, drive=Drive(spin=0.7 * Z))]
    return grains(position, 1.0, dimension=dimension, friction=0.4, gravity=[0, -10, 0], walls=walls)


def shaker(dimension):
    """A column on a floor that swings to and fro and up and down."""
    bodies = column(4, dimension=dimension, friction=0.5)
    bodies.walls[0].drive = Drive(amplitude=np.array([0.05, 0.02, 0.0]), frequency=3.0, phase=0.4)
    return bodies


def paddle(dimension):
    """Grains fall on a plate that turns about a point beside it."""
    shape = Plate(np.array([0.0, -0.2, 0.0]), UP, np.array([1.0, 0.0, 0.0]), (4.0, 0.0 if dimension == 2 else 4.0))
    turning = Drive(spin=0.3 * Z, about=np.array([1.0, 0.0, 0.0]), velocity=np.array([0.1, 0.2, 0.0]))
    walls = [Wall("paddle", shape, drive=turning)]
    return grains([[-1.5, 0.9, 0], [0.6, 1.0, 0]], dimension=dimension, friction=0.3, gravity=[0, -10, 0], walls=walls)


def rod(dimension):
    """A grain that rolls over a rod under a force of its own."""
    shape = Cylinder(np.array([0.0, -1.0, 0.0]), Z, 1.0, False, math.inf if dimension == 2 else 3.0)
    push = [[0.5, 0.0, 0.0]]
    walls = [Wall("rod", shape, drive=Drive(spin=2.0 * Z))]
    return grains(
        [[0.1, 1.0, 0]],
        dimension=dimension,
        friction=0.3,
        gravity=[0, -10, 0],
        force=push,
        walls=walls,
        spin=[[0, 0, 1]],
    )


WORLDS = {
    "piston": lambda d: triangular(3, 3, mu=0.3, g=5.0),
    "smooth": lambda d: triangular(3, 3, mu=0.0, g=5.0),
    "drum": drum,
    "shaker": shaker,
    "paddle": paddle,
    "rod": rod,
    "cloud": lambda d: cloud(30, dimension=d, mu=0.3),
}
FLAT = {"piston", "smooth"}


def pressed():
    """A frame with sticking, sliding and open contacts, walls and a piston."""
    return Frame.of(settle(triangular(3, 3, mu=0.3, g=5.0), steps=3))


def seen(contacts, change, count=None):
    """Contacts whose columns are changed as they are read, by name; count : how many are left"""

    def read(path):
        name = path.removeprefix("PointData/")
        column = contacts.point if name == "Points" else contacts.law(name)
        if column is None:
            raise KeyError(path)
        return change(name, column)

    return Contacts(read, len(contacts) if count is None else count)


def scale(frame, name, factor):
    """A column of the contacts, times a factor."""
    frame.contacts = seen(frame.contacts, lambda other, column: column * factor if other == name else column)


def keep(frame, kept):
    """Only some of the contacts, by a mask."""
    frame.contacts = seen(frame.contacts, lambda name, column: column[kept], int(kept.sum()))


def broken(frame, **rest):
    return {check.name for check in check(frame, **rest).failed}
