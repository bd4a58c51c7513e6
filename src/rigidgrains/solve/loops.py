"""Which loops a problem needs: those of plain friction, or their siblings for cells that deform and for extra columns.

All have the same names and take the same arguments, `problem.arrays` among them.
"""

from __future__ import annotations

from typing import Any

from ..contacts.problem import ContactProblem
from ..runtime.barrier import new_meeting
from ..runtime.threads import together
from . import colouring, extended, flowing, kernels, stored


class Loops:
    """The loops of one kind of contact; stored : a quicker sweep in stored order, if there is one."""

    def __init__(self, room: Any, coloured: Any, stored: Any = None) -> None:
        self.sweep, self.checked_sweep, self.survey = room.sweep, room.checked_sweep, room.survey
        self.parallel_sweep, self.apply_forces = room.parallel_sweep, room.apply_forces
        self.stored_sweep = stored
        self.coloured_sweep, self.coloured_forces = coloured.coloured_sweep, coloured.coloured_forces


PLAIN = Loops(kernels, colouring, stored.stored_sweep)
FLOWING = Loops(flowing, flowing)
EXTENDED = Loops(extended, extended)


def loops(problem: ContactProblem) -> Loops:
    """The loops for a problem; chosen by its columns, once per call of a sweep."""
    if problem.extra is not None:
        return EXTENDED
    return PLAIN if problem.branch is None else FLOWING


def apply_forces(problem: ContactProblem) -> None:
    """Bring the velocities up to date with the carried forces, in the order of the rows."""
    by = problem.colouring
    if by is None or problem.count < colouring.WORTH:
        loops(problem).apply_forces(*problem.arrays, problem.dt)
        return
    loop, meeting = loops(problem).coloured_forces, new_meeting()
    what = meeting, by.start, by.alone, *problem.arrays, problem.dt
    together(lambda thread, threads: loop(thread, threads, *what), meeting)
