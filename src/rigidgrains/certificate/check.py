"""Holds a frame against the laws, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..trajectory.frame import Frame
from ..trajectory.reader import Trajectory
from . import asked, balance, catalogue, coefficients, crowding, figures, flow, geometry, laws, points
from .checksum import check_sum
from .levers import LeverLinks
from .links import Links
from .overlap import Overlaps
from .state import State
from .verdict import TOLERANCE, Certificate, Check


def check(frame: Frame, *, tolerance: float = TOLERANCE, extra: Iterable[Check] = ()) -> Certificate:
    """The certificate of a frame, of a file or of `Frame.of(simulation)`.

    1. State: numbers are finite and sensible; the list of contacts is sound. Else nothing more can be said.
    2. Overlaps at the positions of the frame.
    3. Laws that hold to rounding: geometry, driven walls, cone, momentum, energy, stored figures.
    4. Laws that hold to the accuracy of the sweeps, accepted up to `tolerance` of the forces.
    5. Where those do not hold: what the step was asked in their place.

    A frame that no step led to, or without contacts, is held against what it has.
    """
    with np.errstate(all="ignore"):  # numbers that make no sense are told as violations
        return _check(frame, tolerance, extra)


def _check(frame: Frame, tolerance: float, extra: Iterable[Check]) -> Certificate:
    state = State(frame)
    contacts = frame.has_contacts and frame.whole
    checks = [*extra, geometry.soundness(state)]
    unchecked: list[str] = []
    notes: list[str] = []
    energy: dict[str, float] = {}
    resolution = 0.0
    if contacts:
        checks.append(geometry.contact_list(state))
    if not all(check.passed for check in checks[-2:] if check.name != "checksum"):
        unchecked.append("all else: the numbers of this frame make no sense")
    else:
        overlaps = Overlaps.of(state) if state.shapes is None else crowding.overlaps(state)
        compare = figures.Comparison(state)
        checks += [geometry.directions(state), overlaps.check(state)]
        if state.shapes is not None:
            checks.append(catalogue.check(state))
        figures.of_state(compare)
        if frame.whole:
            checks.append(geometry.walls(state))
        if contacts:
            links = Links(state) if state.shapes is None else LeverLinks(state)
            miss = laws.NaturalMap.of(links)
            figures.of_contacts(compare, links, miss)
            balanced, energy, notes = balance.energy(links, tolerance)
            checks += [
                *_places(links, overlaps),
                *coefficients.checks(links),
                *laws.cone(links),
                *balance.momentum(links),
                *flow.checks(links),
                *balanced,
                *laws.settled(links, miss, tolerance),
            ]
            if not all(check.passed for check in checks):
                met, note = asked.check(links, miss)
                checks, notes = checks + met, notes + ([note] if note else [])
            if coefficients.unknown(links):
                unchecked.append("what laws of the run's own wrote: friction, gaps to close and attraction as stored")
            doubt = laws.doubt(links)
            if coarse := int((doubt > tolerance).sum()):
                unchecked.append(
                    f"signorini and friction at {coarse:,} of {len(links):,} contacts: stored too coarsely"
                )
            resolution = float(doubt[doubt <= tolerance].max(initial=0.0))
        else:
            reason = "this file holds no contacts" if frame.whole else "no step led to this frame"
            unchecked.append(f"forces, momentum and energy: {reason}")
        checks.append(compare.check())
    if state.single:
        notes.append(f"stored in single precision: laws that hold to rounding are accepted up to {state.rounding:g}")
    return Certificate(
        frame.index, frame.step, frame.time, len(frame), len(frame.contacts), tolerance, tuple(checks),
        tuple(unchecked), tuple(notes), energy, resolution,
    )  # fmt: skip


def _places(links: Links, overlaps: Overlaps) -> list[Check]:
    """Are contacts where bodies meet, and is none left out?"""
    if not isinstance(links, LeverLinks):
        return [geometry.geometry(links), overlaps.missing(links.state)]
    turning = [points.turning(links.state)] if links.state.dimension == 3 else []
    found = [points.geometry(links), points.names(links), crowding.missing(overlaps, links), *turning]
    plain = links.state.frame.contacts.law("mu") is None  # else laws have changed the gap to be closed
    return [*found, points.to_close(links)] if plain else found


def check_file(
    path: str | Path, frames: Iterable[int] | None = None, *, tolerance: float = TOLERANCE
) -> Iterator[Certificate]:
    """Certificates of the frames of a file, all of them or those given, with their checksums."""
    with Trajectory(path, verify=False) as trajectory:  # what is wrong is told in full
        for index in range(len(trajectory)) if frames is None else frames:
            frame = trajectory[index]
            yield check(frame, tolerance=tolerance, extra=[check_sum(trajectory, frame.index)])
