"""Whether the stage under way has ended with the step that was just taken."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..events.stages import Stage, Stages
from .columns import value
from .rest import inertial_number, inertial_time

if TYPE_CHECKING:
    from .stepper import Stepper

NOW = 1e-9  # of a time step: times that close are equal


def ask_for_end(stages: Stages, simulation: Stepper) -> None:
    """End the stage under way if it is time, grains are at rest, or the value asked for is reached."""
    stages.ended = False
    if stages.over:
        return
    stage, time, late = stages.now, simulation.time, NOW * simulation.dt
    passed, step = time - stages.begun, simulation.steps
    if stage.until - passed <= late:
        stages.end(time, step, f"{stage.until:g} s have passed")
    elif how := _rests(stages, stage, simulation) or _crosses(stages, stage, simulation):
        stages.end(time, step, how)
    elif stage.limit - passed <= late:
        stages.end(time, step, _missed(stages, stage, simulation), reached=False)


def _rests(stages: Stages, stage: Stage, simulation: Stepper) -> str:
    """How it ended, if nothing has moved for an inertial time: then no more than a part `rest` of forces is open."""
    if stage.rest is None:
        return ""
    bodies, contacts = simulation.bodies, simulation.contacts
    if not inertial_number(bodies, contacts) < stage.rest:
        stages.quiet = math.nan
        return ""
    if math.isnan(stages.quiet):
        stages.quiet = simulation.time
    if simulation.time - stages.quiet < inertial_time(bodies, contacts):
        return ""
    return f"at rest, inertial number below {stage.rest:g}"


def _crosses(stages: Stages, stage: Stage, simulation: Stepper) -> str:
    """How it ended, if the value has come across the bound."""
    if not stage.column:
        return ""
    now = value(simulation, stage.column)
    beyond = now >= stage.bound if stage.rising else now <= stage.bound
    if not (beyond and stages.armed):
        stages.quiet = math.nan
    elif math.isnan(stages.quiet):
        stages.quiet = simulation.time
    if simulation.time - stages.quiet >= stage.during - NOW * simulation.dt:
        return f"{stage.column} {'rose' if stage.rising else 'fell'} to {now:.6g}, bound {stage.bound:g}"
    stages.armed |= not beyond
    return ""


def _missed(stages: Stages, stage: Stage, simulation: Stepper) -> str:
    """Why the limit came first."""
    after = f"after {stage.limit:g} s"
    if stage.rest is not None:
        number = inertial_number(simulation.bodies, simulation.contacts)
        return f"{after} not at rest, inertial number {number:.2g}"
    if not stage.column:
        return after
    now, way = value(simulation, stage.column), "rise" if stage.rising else "fall"
    never = "" if stages.armed else f"; it was beyond all the time, and so did not {way} to it"
    short = f", beyond which it did not stay for {stage.during:g} s" if stages.armed and stage.during else ""
    return f"{after} {stage.column} is {now:.6g}, bound {stage.bound:g}{short}{never}"


def stage_rows(past: Iterable[dict[str, Any]], left: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """How each stage ended, and of those that have not when they will, in rows."""
    ended = [(one["name"], f"to t = {one['ended']:g} s, {one['steps']:,} steps: {one['how']}") for one in past]
    return [(f"stage {name}", told) for name, told in [*ended, *left]]
