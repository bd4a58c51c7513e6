"""Which loops a problem needs: those of plain friction, or their siblings for contacts with extra columns.

Both have the same names and take the same arguments, `problem.arrays` among them.
"""

from __future__ import annotations

from typing import Any

from ..contacts import ContactProblem
from . import colouring, extended, kernels


class Loops:
    """The loops of one kind of contact."""

    def __init__(self, room: Any, coloured_sweep: Any) -> None:
        self.sweep, self.checked_sweep, self.survey = room.sweep, room.checked_sweep, room.survey
        self.parallel_sweep, self.apply_forces, self.coloured_sweep = (
            room.parallel_sweep, room.apply_forces, coloured_sweep
        )  # fmt: skip


PLAIN = Loops(kernels, colouring.coloured_sweep)
EXTENDED = Loops(extended, extended.coloured_sweep)


def loops(problem: ContactProblem) -> Loops:
    """The loops for a problem; chosen by its columns, once per call of a sweep."""
    return PLAIN if problem.extra is None else EXTENDED
