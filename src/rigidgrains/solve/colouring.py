"""Colours for some contacts of a problem, where its rows do not stand colour after colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import gives_way
from ..contacts.problem import ContactProblem
from ..detect.colours import COLOURS, Colouring, paint_contacts, sort_by_colour
from ..model.columns import INV_MASS

Index = NDArray[np.int32]


def find_colouring(problem: ContactProblem, among: Index) -> Colouring:
    """Greedy colours for some contacts: each takes the first that neither of its bodies has."""
    movable = (problem.motion[:, INV_MASS:] != 0.0).any(axis=1)
    colour, sequence = np.empty(len(among), np.int8), np.empty(len(among), np.int32)
    size = paint_contacts(among, problem.pairs, movable, colour)
    sort_by_colour(among, colour, np.cumsum(size) - size, sequence)
    alone = (np.arange(COLOURS + 1) == COLOURS) | gives_way(problem.flow)
    return Colouring.of(sequence, size, alone)
