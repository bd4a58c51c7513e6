"""Orders: in which sequence a Gauss-Seidel sweep visits the contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..runtime.threads import together
from .colouring import find_colouring
from .kernels.factory import SHARE, kernels_for, worth_sweeps
from .kernels.sums import changes

Index = NDArray[np.int32]


AXES = ("+x", "-x", "+y", "-y", "+z", "-z")


class Order:
    """Base: a sequence of contacts, each exactly once, the same in every sweep.

    coloured : whether contact rows had better stand colour after colour
    """

    coloured = False
    _sequence: Index

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        """Prepare for the sweeps of one step over all contacts, or over some of them in rising order."""
        self._sequence = np.arange(problem.count, dtype=np.int32) if among is None else among.copy()

    def sequence(self, rng: Generator) -> Index:
        """The contacts of the next sweep, in turn."""
        return self._sequence

    def sweep(self, problem: ContactProblem, rng: Generator) -> None:
        """One sweep."""
        kernels_for(problem).sweep(self.sequence(rng), *problem.arrays, problem.dt)

    def sweeps(self, problem: ContactProblem, rng: Generator, number: int) -> None:
        """Several sweeps."""
        for _ in range(number):
            self.sweep(problem, rng)

    def checked_sweep(self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float) -> tuple[int, float]:
        """One sweep; returns the number of contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
        unsettled, total = kernels_for(problem).checked_sweep(
            self.sequence(rng), *problem.arrays, problem.dt, epsilon, delta
        )
        return unsettled, total


class Random(Order):
    """Random sweep: a fresh permutation each sweep. It has no bias, and is the default."""

    def sequence(self, rng: Generator) -> Index:
        rng.shuffle(self._sequence)
        return self._sequence


class RandomSequential(Order):
    """Random sequential update: independent draws, so that a contact may come up thrice or not at all.

    A sweep says nothing of the contacts it has missed, so the criterion is asked of all of them afterwards.
    """

    def sequence(self, rng: Generator) -> Index:
        return self._sequence[rng.integers(len(self._sequence), size=len(self._sequence), dtype=np.int32)]

    def checked_sweep(self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float) -> tuple[int, float]:
        self.sweep(problem, rng)
        unsettled, total = kernels_for(problem).survey(*problem.arrays, problem.dt, epsilon, delta)
        return unsettled, total


@dataclass
class Ordered(Order):
    """Geometrical sweep: as the contacts are stored, or along an axis such as "+x" or "-y".

    Along an axis information propagates faster with the sweep than against it: a bias, and the reason not to use it.
    """

    axis: str | None = None

    def __post_init__(self) -> None:
        if self.axis is not None and self.axis not in AXES:
            raise ValueError(f"axis {self.axis!r} is unknown; choose one of {', '.join(AXES)}")

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        super().begin(problem, among)
        self._stored = self.axis is None and among is None and problem.count > 0
        if self.axis is not None:
            along = problem.points()[self._sequence, "xyz".index(self.axis[1])]
            self._sequence = self._sequence[np.argsort(along if self.axis[0] == "+" else -along, kind="stable")]

    def sweep(self, problem: ContactProblem, rng: Generator) -> None:
        if self._stored:
            kernels_for(problem).stored_sweep(*problem.arrays, problem.dt)
        else:
            super().sweep(problem, rng)


@dataclass
class RandomBlocks(Order):
    """Blocks of neighbouring contacts in random order and direction: nearly as quick as the stored order."""

    block: int = 4096

    def sequence(self, rng: Generator) -> Index:
        count = len(self._sequence)
        blocks = -(-count // self.block)
        table = np.arange(blocks * self.block, dtype=np.int32).reshape(blocks, self.block)
        rng.shuffle(table)
        backward = rng.random(blocks) < 0.5
        table[backward] = table[backward, ::-1]
        chosen = table.ravel()
        return self._sequence[chosen[chosen < count]]


class Symmetric(Order):
    """Forward and backward in turn, as the contacts are stored."""

    def sequence(self, rng: Generator) -> Index:
        self._sequence = self._sequence[::-1].copy()
        return self._sequence


@dataclass
class Coloured(Order):
    """Colour after colour, in random order; contacts of one colour share no movable body and are free for threads.

    Colours within tiles, if there are any, come first, see detect/colours.py.

    worth : contacts that a thread takes at least
    """

    worth: int = SHARE
    coloured = True

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        if problem.colouring is not None:
            self.colouring = problem.colouring if among is None else problem.colouring.of_some(among)
        else:
            super().begin(problem, among)
            self.colouring = find_colouring(problem, self._sequence)

    def sequence(self, rng: Generator) -> Index:
        return self.colouring.arranged(self.colouring.shuffled(rng))

    def sweep(self, problem: ContactProblem, rng: Generator) -> None:
        self.sweeps(problem, rng, 1)

    def sweeps(self, problem: ContactProblem, rng: Generator, number: int) -> None:
        if number == 0:
            return
        by, colours = self.colouring, self.colouring.shuffled(rng, number)
        what = colours, by.sequence, by.start, by.alone, by.inner, by.tiles, *problem.arrays, problem.dt, False
        threads = worth_sweeps(len(by.sequence), number, self.worth)
        together(kernels_for(problem).coloured_sweep, threads, *what)

    def checked_sweep(self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float) -> tuple[int, float]:
        before = problem.forces.copy()
        self.sweep(problem, rng)
        return changes(before, problem.forces, epsilon, delta)


class Parallel(Order):
    """Jacobi update: every force from the old forces of its neighbours. Unstable; a demonstrator."""

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        self._before = np.empty_like(problem.motion), np.empty_like(problem.flow)

    def sweep(self, problem: ContactProblem, rng: Generator) -> None:
        self.checked_sweep(problem, rng, 0.0, 0.0)

    def checked_sweep(self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float) -> tuple[int, float]:
        motion, *_, cell, _ = problem.arrays
        self._before[0][:], self._before[1][:] = motion, cell
        unsettled, total = kernels_for(problem).parallel_sweep(
            *self._before, *problem.arrays, problem.dt, epsilon, delta
        )
        return unsettled, total


ORDERS: dict[str, type[Order]] = {
    "random": Random,
    "random_sequential": RandomSequential,
    "ordered": Ordered,
    "random_blocks": RandomBlocks,
    "symmetric": Symmetric,
    "coloured": Coloured,
    "parallel": Parallel,
}
