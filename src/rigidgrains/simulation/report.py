"""The report of a run: what it cost, how exact it is, and what to watch out for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..runtime.version import __version__
from ..solve.accuracy import LEVELS, STRICT
from ..solve.aliases import FIGURES, with_earlier_names
from ..solve.criteria import in_words
from . import figures
from .rigidity import rigidity
from .stage_end import stage_rows
from .tally import PATIENCE, Tally
from .warnings import warnings_of

if TYPE_CHECKING:
    from .simulation import Simulation

__all__ = ["Report", "Tally"]

NOT_ASKED = "not asked: sweeps were given, forces not tested"


@with_earlier_names({"refereed_steps": FIGURES["refereed_steps"]})
@dataclass
class Report:
    """Figures of a run. Overlaps are over the mean radius, taken over force-carrying contacts of the last step.

    max_overlap_of_run : the largest of any candidate in any step
    candidates : pairs that the solver looked at in the last step; contacts : those that carry a force
    max_displacement_over_radius : of any grain in any one step; over the radius of curvature of a wall that it touches,
                 where that is smaller
    wall_force : force of the grains on each wall (N) in the last step
    dt_range   : s, shortest and longest step of dt = "auto"
    inflows    : for each, grains and mass (kg) that entered, grains that came back, and what is due and waits for room
    outlets    : for each, grains and mass (kg) that left, and grains per second from the first to the last
    cell       : volume, packing fraction and pressure of a periodic cell, empty without one
    converged_steps : that met the criterion, of the asked_steps; steps with a given number of sweeps are not asked
    accuracy   : the level of accuracy, empty for methods that have none
    asked      : what it asks of grains in motion and at rest, in words
    reached    : momentum errors of steps: in motion (geometric mean, largest) and at rest (the last); None without any
    carried_steps : that ended after as many sweeps as it allows, with what is left carried over; not among asked_steps
    still_steps : that were asked what grains at rest are; still_carried_steps : of those, carried over
    unsettled_steps : at rest, that came after ten others on end and still missed more than 1 % of the load
    waiting_steps : the last ones on end, at rest, that missed more than 1 % of the load
    returned_energy : J, that contacts gave where overlaps were removed
    stages     : for each that has ended: name, begun and ended (s), steps, how it ended, whether its end was reached
    stages_left : name of the stage under way, and of those to come, and when they end, in words
    step_rule  : by what steps were bounded, where dt was not given
    sweeps_unit : what `sweeps_mean` and `sweeps_max` count
    fallback_steps : that went to the second-order method since sweeps did not solve them
    weakened_steps : that ended early with forces made weaker, so that they give no energy
    exhausted_steps : in which every attempt found contacts that had been overlooked, or a law refused the forces
    seconds    : s, of computing; compile_seconds : s, that kernels took to be compiled, mostly in the first run
    lost_share : energy that blows lost by the length of steps, see `Tally.lost_share`; 0 without restitution
    rigidity   : the rigidity meter at the last state, for the sweeps that found its load (see `Tally.load_sweeps`)
    """

    grains: int
    steps: int
    time: float
    dt: float
    contacts: int
    candidates: int
    sweeps_mean: float
    sweeps_max: int
    converged_steps: int
    updates: int
    mean_overlap: float
    max_overlap: float
    max_overlap_of_run: float
    kinetic_energy: float
    max_displacement_over_radius: float
    wall_force: dict[str, list[float]]
    rigidity: dict[str, Any]
    seconds: float
    seed: int = 0
    version: str = __version__
    dt_range: tuple[float, float] | None = None
    stopped: str = ""
    warnings: list[str] = field(default_factory=list)
    cell: dict[str, float] = field(default_factory=dict)
    inflows: dict[str, dict[str, float]] = field(default_factory=dict)
    outlets: dict[str, dict[str, float]] = field(default_factory=dict)
    fallback_steps: int = 0
    weakened_steps: int = 0
    exhausted_steps: int = 0
    asked_steps: int = 0
    compile_seconds: float = 0.0
    lost_share: float = 0.0
    sweeps_unit: str = "sweeps"
    accuracy: str = ""
    asked: dict[str, str] = field(default_factory=dict)
    reached: dict[str, float | None] = field(default_factory=dict)
    carried_steps: int = 0
    still_steps: int = 0
    still_carried_steps: int = 0
    unsettled_steps: int = 0
    waiting_steps: int = 0
    returned_energy: float = 0.0
    step_rule: str = ""
    stages: list[dict[str, Any]] = field(default_factory=list)
    stages_left: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, simulation: Simulation) -> Report:
        """Measure a simulation."""
        bodies, contacts, tally = simulation.bodies, simulation.contacts, simulation.tally
        overlap = figures.overlaps(bodies, contacts)
        overlap /= bodies.mean_radius
        report = cls(
            grains=bodies.count,
            steps=simulation.steps,
            time=simulation.time,
            dt=simulation.dt,
            contacts=len(overlap),
            candidates=contacts.count,
            sweeps_mean=tally.sweeps / max(tally.steps, 1),
            sweeps_max=tally.most_sweeps,
            sweeps_unit=getattr(simulation.solver, "unit", "sweeps"),
            converged_steps=tally.converged,
            fallback_steps=tally.fallbacks,
            weakened_steps=tally.weakened,
            accuracy=getattr(simulation.solver, "accuracy", ""),
            asked=asked_of(simulation.solver),
            reached={"motion": tally.flow_error, "motion_most": tally.flow_most or None, "rest": tally.rest_error},
            carried_steps=tally.carried,
            still_steps=tally.still,
            still_carried_steps=tally.still_carried,
            unsettled_steps=tally.unsettled,
            waiting_steps=tally.waiting,
            returned_energy=tally.returned,
            step_rule="" if simulation.auto is None else simulation.auto.in_words(),
            exhausted_steps=tally.exhausted,
            asked_steps=simulation.steps - tally.not_asked,
            lost_share=tally.lost_share,
            updates=tally.updates,
            mean_overlap=float(overlap.mean()) if len(overlap) else 0.0,
            max_overlap=float(overlap.max()) if len(overlap) else 0.0,
            max_overlap_of_run=max(tally.deepest / bodies.mean_radius, float(overlap.max(initial=0.0))),
            kinetic_energy=figures.kinetic_energy(bodies),
            max_displacement_over_radius=tally.displacement,
            wall_force=figures.wall_forces(bodies, contacts),
            rigidity=rigidity(simulation).as_dict(),
            seconds=tally.seconds,
            compile_seconds=tally.compiling,
            seed=simulation.seed,
            cell=figures.cell_figures(bodies, contacts),
            stopped=tally.stopped,
            dt_range=simulation.step_range,
        )
        if bodies.events is not None:
            report.inflows = {one.name: one.figures(simulation.time - simulation.dt) for one in bodies.events.inflows}
            report.outlets = {one.name: one.figures() for one in bodies.events.outlets}
        if simulation.stages is not None:
            report.stages = [asdict(one) for one in simulation.stages.past]
            report.stages_left = simulation.stages.to_come()
        dt = tally.displaced_in or simulation.dt
        report.warnings = list(warnings_of(report, dt, simulation.auto, tally.displaced_at))
        return report

    def _step(self) -> str:
        return f"{self.dt:g}" if self.dt_range is None else "{:.3g} to {:.3g}".format(*self.dt_range)

    def convergence(self) -> str:
        """How many steps have met what they were asked, in words."""
        called = f"; {self.fallback_steps:,} went to the second-order method" if self.fallback_steps else ""
        carried = f"; {self.carried_steps:,} carried over" if self.carried_steps else ""
        if carried and not self.asked_steps:
            return carried[2:] + called
        return convergence(self.converged_steps, self.asked_steps, self.steps - self.carried_steps) + carried + called

    def outcome(self) -> list[tuple[str, str]]:
        """What steps were asked and what they have reached, in rows."""
        if not self.accuracy:
            return [("converged", self.convergence())]
        moving, carried = self.steps - self.still_steps, self.carried_steps - self.still_carried_steps
        flow, most, rest = (self.reached[name] for name in ("motion", "motion_most", "rest"))
        left = f"; left {_percent(flow)} of the load on average, {_percent(most)} at most" if flow and most else ""
        told = f"{moving:,} steps, asked {self.asked['motion']}{left}{_carried(carried)}"
        rows = [("accuracy", self.accuracy), ("in motion", told if moving else "no step")]
        left = "" if rest is None else f"; left {_percent(rest)} in the last one"
        told = f"{self.still_steps:,} steps, asked {self.asked['rest']}{left}{_carried(self.still_carried_steps)}"
        told += f"; {self.unsettled_steps:,} missed 1 % after {PATIENCE} others" if self.unsettled_steps else ""
        rows += [("at rest", told if self.still_steps else "no step")]
        if missed := self.asked_steps - self.converged_steps:
            rows.append(("", f"{missed:,} steps have not met it"))
        if self.fallback_steps:
            rows.append(("", f"{self.fallback_steps:,} steps went to the second-order method"))
        return rows

    def cost(self) -> str:
        """Time of computing, and of compiling if there was any."""
        beside = f" (and {self.compile_seconds:.2f} s compiling)" if self.compile_seconds >= 0.005 else ""
        return f"{self.seconds:.2f} s for {self.updates:,} contact updates{beside}"

    def _sweeps(self) -> list[tuple[str, str]]:
        """What was repeated within a step; where those are no sweeps, by its name."""
        text = f"{self.sweeps_mean:.1f} a step on average, {self.sweeps_max:,} at most"
        first, _, rest = self.sweeps_unit.partition(" ")
        return [(first, f"{text} ({rest.removeprefix('of the ')})" if rest else text)]

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        return asdict(self)

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.as_dict())

    def _repr_html_(self) -> str:
        from ..view.notebook import report_html

        return report_html(self)

    def __str__(self) -> str:
        rows = [
            ("grains", f"{self.grains:,}"),
            ("steps", f"{self.steps:,} of {self._step()} s, to t = {self.time:g} s"),
            *([("", self.step_rule)] if self.step_rule else []),
            ("contacts", f"{self.contacts:,} carry a force, of {self.candidates:,} candidates"),
            *self._sweeps(),
            *self.outcome(),
            ("overlap", f"{self.mean_overlap:.2e} mean, {self.max_overlap:.2e} largest (over the mean radius)"),
            ("", f"{self.max_overlap_of_run:.2e} largest in the whole run"),
            *([("", f"{self.returned_energy:.3g} J given where they were removed")] if self.returned_energy else []),
            ("rigidity", _rigidity(self.rigidity)),
            *elasticity(self.rigidity),
            ("kinetic energy", f"{self.kinetic_energy:.4g} J"),
            ("displacement", f"{self.max_displacement_over_radius:.2g} radii in one step at most"),
            *((f"force on {name}", _vector(force)) for name, force in self.wall_force.items()),
            *((f"into {name}", _entered(flow)) for name, flow in self.inflows.items()),
            *((f"out of {name}", _left(flow)) for name, flow in self.outlets.items()),
            *([("cell", _cell(self.cell))] if self.cell else []),
            *stage_rows(self.stages, self.stages_left),
            ("cost", self.cost()),
        ]
        if self.stopped:
            rows.append(("stopped", self.stopped))
        rows += [("warning", text) for text in self.warnings]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def outcome(words: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows of `Report.outcome`, of a report that a file keeps; earlier ones have fewer words."""
    known = {one.name: words[one.name] for one in fields(Report) if one.name in words}
    made = Report(**{"asked_steps": words["steps"]} | known)
    made.accuracy = made.accuracy if made.asked else ""
    return made.outcome()


def asked_of(solver: Any) -> dict[str, str]:
    """What a level of accuracy asks of steps in motion and at rest, in words; nothing of methods that have none."""
    if not hasattr(solver, "accuracy"):
        return {}
    level, own = LEVELS[solver.accuracy], solver.own or ()
    if "criterion" in own:
        return dict.fromkeys(("motion", "rest"), in_words(solver.criterion))
    slow = f" (in slow flow {in_words(level.slow)})" if level.slow else ""
    return {"motion": in_words(level.moving) + slow, "rest": in_words(STRICT)}


def _percent(error: float) -> str:
    """A momentum error; in an impact the load of the step is next to nothing."""
    if error < 1e-4:
        return "less than 0.01 %"
    return f"{100.0 * error:.2g} %" if error < 10.0 else f"{error:,.0f} times as much"


def _carried(steps: int) -> str:
    return f"; {steps:,} carried over" if steps else ""


def convergence(converged: int, asked: int, steps: int) -> str:
    """How many steps have met the criterion, of those that were asked."""
    if steps and not asked:
        return NOT_ASKED
    if not steps and not asked:
        return "0 of 0 steps"
    return f"{converged:,} of {asked:,} steps" + (f"; {steps - asked:,} not asked" if asked < steps else "")


def _rigidity(meter: dict[str, Any]) -> str:
    if meter["cluster"] < 2:
        return "loose: no cluster carries a force"
    if meter["momentum_error"] is not None:
        reach = f"{meter['momentum_error']:.1%} of the load missing in the last step"
    elif meter["plain"]:
        reach = f"diffusion length {meter['diffusion_length']:.3g} m"
    else:
        reach = f"as many plain sweeps would reach {meter['diffusion_length']:.3g} m"
    return f"{meter['verdict']}: {reach}, largest cluster {meter['cluster']:,} grains over {meter['extent']:.3g} m"


def elasticity(meter: dict[str, Any]) -> list[tuple[str, str]]:
    """What the chain theory says of unfinished sweeps (item 62); nothing of other methods, which are no springs."""
    if not meter["plain"]:
        return []
    if not meter["sweeps"]:
        return [("elasticity", "kappa, gamma, c, l_diff and lambda_c are unknown: no sweep has found a load")]
    return [
        ("elasticity", f"kappa = {meter['stiffness']:.3g} N/m, gamma = {meter['viscosity']:.3g} N s/m"),
        ("", f"c = {meter['sound_velocity']:.3g} m/s, l_diff = {meter['diffusion_length']:.3g} m,"
             f" lambda_c = {meter['critical_wave_length']:.3g} m"),
    ]  # fmt: skip


def _entered(flow: dict[str, float]) -> str:
    back = f", {flow['again']:,.0f} came back" if flow["again"] else ""
    due = f"; {flow['due']:g} due and waiting for room" if flow["due"] else ""
    return f"{flow['grains']:,.0f} grains, {flow['mass']:.4g} kg{back}{due}"


def _left(flow: dict[str, float]) -> str:
    rate = f", {flow['rate']:.4g} a second" if flow["rate"] else ""
    return f"{flow['grains']:,.0f} grains, {flow['mass']:.4g} kg{rate}"


def _vector(force: list[float]) -> str:
    return "(" + ", ".join(f"{component:.4g}" for component in force) + ") N"


def _cell(figures: dict[str, float]) -> str:
    pressure, volume = ("N/m", "m^2") if figures["dimension"] == 2 else ("Pa", "m^3")
    return (
        f"packing fraction {figures['packing_fraction']:.4f}, pressure {figures['pressure']:.4g} {pressure},"
        f" volume {figures['volume']:.4g} {volume}"
    )
