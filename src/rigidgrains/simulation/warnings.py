"""What a report warns of, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..solve.accuracy import DEFAULT, LEVELS
from .tally import PATIENCE

if TYPE_CHECKING:
    from .report import Report
    from .timestep import AutoStep

LARGE_DISPLACEMENT = 0.1  # of a radius in one step: the neglected turn of the normals is no longer small
LARGE_OVERLAP = 0.05  # of the mean radius
LARGE_LOSS = 0.01  # of the energy, by blows that a step met without rebound
CARRYING = [name for name, level in LEVELS.items() if level.carries]


def warnings_of(report: Report, dt: float, auto: AutoStep | None, at: str = "") -> Iterator[str]:
    """What to watch out for; dt (s) is the step in which a grain moved furthest, `at` the curved wall beside it."""
    missed = report.asked_steps - report.converged_steps - report.exhausted_steps
    if missed > 0:
        sweeps = report.sweeps_unit == "sweeps"
        remedy = "raise max_sweeps or epsilon" if sweeps else "take a smaller dt, or method = 'accelerated'"
        yield (
            f"{missed} of {report.asked_steps} steps ended before the criterion was met"
            f"{' (max_sweeps reached)' if sweeps else ''}: forces are approximate there; {remedy}"
        )
    if report.waiting_steps > PATIENCE:
        yield (
            f"the last {report.waiting_steps} steps, at rest, miss more than 1 % of the load: forces are "
            "approximate; take accuracy = 'exact', or a smaller dt"
        )
    if report.weakened_steps:
        yield (
            f"in {report.weakened_steps} steps contact forces would have given energy, and were made weaker: bodies "
            "sink into each other there; raise max_sweeps"
        )
    if report.exhausted_steps:
        yield (
            f"{report.exhausted_steps} of {report.steps} steps found ever more contacts, or a law refused the forces "
            "of every attempt: grains may overlap there; use a smaller dt"
        )
    if report.max_displacement_over_radius > LARGE_DISPLACEMENT and (
        remedy := _shorter(dt, report.max_displacement_over_radius, auto, report.accuracy)
    ):
        whose = f"of curvature of wall '{at}' " if at else ""
        yield (
            f"a grain moved {report.max_displacement_over_radius:.2g} radii {whose}in one step: contact normals turn "
            f"within a step and are taken as fixed; {remedy}"
        )
    for stage in report.stages:
        if not stage["reached"]:
            yield f"stage '{stage['name']}' ended at its limit: {stage['how']}"
    if report.lost_share > LARGE_LOSS:
        yield (
            f"{report.lost_share:.1%} of the energy was lost by blows that steps met without the rebound of the law: "
            f"grains were struck more often within a step than can be followed; {_fewer_blows(auto)}"
        )
    meter = report.rigidity
    soft = meter["verdict"] == "soft" and report.accuracy not in CARRYING  # there steps at rest go on in the next ones
    if soft and not meter["plain"]:
        missing = meter["momentum_error"]
        told = "" if missing is None else f"{missing:.0%} of the load did not arrive within the last step; "
        yield f"soft: {told}{meter['solver']} ended too early, raise max_sweeps or lower epsilon"
    elif soft:
        yield (
            f"soft: {meter['sweeps']:.0f} sweeps a step carry information {meter['diffusion_length']:.2g} m "
            f"through a cluster of {meter['extent']:.2g} m, as if grains were springs of "
            f"{meter['stiffness']:.2g} N/m; {meter['rigid_sweeps']:,} sweeps would be rigid (--rigid 2)"
        )
    if report.max_overlap_of_run > LARGE_OVERLAP:
        yield f"overlaps of up to {report.max_overlap_of_run:.2g} mean radii: use a smaller dt or more sweeps"


def _fewer_blows(auto: AutoStep | None) -> str:
    """What keeps steps from losing energy in blows."""
    if auto is None:
        return "use a smaller dt, or dt = 'auto'"
    return "use a smaller dt_max" if auto.shortest == 0.0 else f"use a dt_min below {auto.shortest:g} s"


def _shorter(dt: float, displacement: float, auto: AutoStep | None, accuracy: str) -> str:
    """What keeps normals from turning; nothing where steps are those of the accuracy: they bound how far pairs come."""
    if auto is None:
        return f"use a dt below {dt * LARGE_DISPLACEMENT / displacement:.1g} s"
    if auto.travel > LEVELS[accuracy or DEFAULT].travel:
        return f"use a travel of {LARGE_DISPLACEMENT:g} in place of {auto.travel:g}, or a dt_max"
    return "" if auto.shortest == 0.0 else f"use a dt_min below {auto.shortest:g} s"
