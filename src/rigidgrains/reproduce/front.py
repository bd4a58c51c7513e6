"""The front (item 65): a load is put on the end of a long chain, and runs through it with a finite velocity.

Disks at rest touch each other; from t = 0 on a force F acts on the last one. Behind the front contacts carry F, ahead
of it nothing. Eq. (wave-eq) makes it R = F/2 erfc((x - c t)/sqrt(2 D t)): it runs with c, Eq. (soundvelocity), and gets
wider, its standard deviation being sqrt(D t). Its place is where R = F/2.

Where N_I changes from step to step, `expected` counts the steps one by one with the N_I that each had.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..model.columns import R_N
from ..simulation.simulation import Simulation
from ..solve.criteria import Criterion, FixedSweeps, GlobalCriterion, LocalCriterion
from ..solve.sweeps import Sweeps
from ..theory import Q_RANDOM, diffusion_constant, sound_velocity, sweep_factor
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain

Array = NDArray[np.float64]

FORCE = 1e-3  # d m/dt^2: small, so that disks move little on the way
STEPS, EARLY = 60, 10  # dt; from EARLY on the front is a front
DRAWN = (10, 70)  # sweeps of a step, drawn at random; mean 40
SIDE = 0.15866  # erfc(1/sqrt(2))/2: a standard deviation ahead of the front R is so much of F
CRITERIA: dict[str, Criterion] = {"local, ε = 0.01": LocalCriterion(0.01), "global, ε = 0.003": GlobalCriterion(0.003)}
DISKS = 300  # of the chains whose N_I a criterion chooses


@dataclass(frozen=True)
class Front:
    """Fronts of several seeds: forces over F (seeds, steps, contacts), ends included, and sweeps (seeds, steps)."""

    force: Array
    sweeps: Array

    @property
    def place(self) -> Array:
        """(seeds, steps) depth of the front (d)."""
        return depth(self.force, 0.5)

    @property
    def time(self) -> Array:
        return np.arange(1.0, self.force.shape[1] + 1.0)


def run(quick: bool, tick: Tick) -> Result:
    """c as a time of flight and D from the width of the front, for fixed N_I and for N_I that fluctuates."""
    many, seeds = ((10, 40), 8) if quick else ((10, 40, 160), 32)
    fixed, rows = {}, []
    for sweeps in many:
        c, big_d = sound_velocity(Q_RANDOM, sweeps, 1.0, 1.0), diffusion_constant(Q_RANDOM, sweeps, 1.0, 1.0)
        disks = round(1.4 * c * STEPS)
        fixed[sweeps] = front = load(disks, FixedSweeps(sweeps), range(seeds))
        speed, error = _mean(_slope(front.time, front.place))
        width, wide = _mean(
            _slope(front.time, ((depth(front.force, SIDE) - depth(front.force, 1.0 - SIDE)) / 2.0) ** 2)
        )
        rows += [
            Row(f"c by time of flight, N_I = {sweeps}", c, speed, 0.005 * c + 3.0 * error, error=error, unit="d/dt",
                source="Eq. (soundvelocity)"),
            Row(f"D by the width of the front, N_I = {sweeps}", big_d, width, 0.01 * big_d + 3.0 * wide, error=wide,
                unit="d²/dt", source="Eqs. (D2), (wave-eq): variance D t"),
        ]  # fmt: skip
        tick(0.4 * len(fixed) / len(many))
    drawn = load(round(1.6 * 5.65 * 2 * STEPS), None, range(seeds), steps=2 * STEPS)
    mean = np.sqrt(Q_RANDOM * drawn.sweeps[:, EARLY:].mean(axis=1))
    ratio, error = _mean(_slope(drawn.time, drawn.place) / mean)
    roots = float((np.sqrt(Q_RANDOM * drawn.sweeps[:, EARLY:]).mean(axis=1) / mean).mean())
    rows.append(Row(f"c over √(q <N_I>) d/dt, N_I of {DRAWN[0]} or {DRAWN[1]} drawn for each step", 1.0, ratio,
                    0.005 + 3.0 * error, error=error, source="Eq. (soundvelocity), κ averaged"))  # fmt: skip
    tick(0.7)
    chosen = {}
    for name, criterion in CRITERIA.items():
        front = load(DISKS, criterion, range(seeds))
        theory = np.array([depth(expected(DISKS, sweeps), 0.5) for sweeps in front.sweeps])
        chosen[name] = front, theory.mean(axis=0)
        for step in (STEPS // 3, STEPS):
            place, error = _mean(front.place[:, step - 1])
            away, _ = _mean(front.place[:, step - 1] - theory[:, step - 1])
            error = float((front.place - theory)[:, step - 1].std(ddof=1) / math.sqrt(seeds))
            rows.append(Row(f"front at {step} dt, criterion {name}", place - away, place,
                            0.005 * (place - away) + 3.0 * error, error=error, unit="d",
                            source="steps counted one by one, each with its N_I"))  # fmt: skip
        tick(0.7 + 0.15 * len(chosen))
    slow = chosen["local, ε = 0.01"][0]
    return Result(rows, _draw(fixed, drawn, chosen), [
        f"Chains of up to {max(f.force.shape[2] - 1 for f in fixed.values())} disks, {seeds} seeds; no contact opens.",
        f"Where N_I is drawn anew for each step the mean of N_I counts, as if stiffnesses were averaged; the mean of "
        f"√N_I, which averages velocities, would be {1.0 - roots:.0%} slower.",
        f"With a criterion N_I falls while the front runs ({slow.sweeps[:, 0].mean():.0f} sweeps in the first step, "
        f"{slow.sweeps[:, -10:].mean():.0f} in the last, local criterion): the front is finite and becomes slower.",
    ])  # fmt: skip


def load(disks: int, criterion: Criterion | None, seeds: Iterable[int], steps: int = STEPS) -> Front:
    """Fronts in free chains, one for each seed; without a criterion the sweeps of a step are drawn."""
    forces, sweeps = [], []
    for seed in seeds:
        bodies, lots = chain(disks, push=FORCE), np.random.default_rng(seed)
        solver = Sweeps(criterion=criterion or FixedSweeps(1))
        simulation = Simulation(bodies, dt=1.0, solver=solver, seed=seed)
        force, count = np.zeros((steps, disks + 1)), np.zeros(steps)
        force[:, 0] = 1.0  # what acts on the end
        for step in range(steps):
            if criterion is None:
                solver.criterion = FixedSweeps(int(lots.choice(DRAWN)))
            simulation.step()
            along = np.argsort(simulation.contacts.problem(bodies, 1.0).points()[:, 0])[::-1]
            force[step, 1:-1] = simulation.contacts.forces[along, R_N] / FORCE
            count[step] = simulation.last_solve.sweeps
        forces.append(force)
        sweeps.append(count)
    return Front(np.array(forces), np.array(sweeps))


def depth(force: Array, level: float) -> Array:
    """Where forces (..., steps, contacts) fall below a level, from the loaded end, between contacts by a line."""
    i = np.argmax(force < level, axis=-1)
    before, after = (np.take_along_axis(force, j[..., None], axis=-1)[..., 0] for j in (i - 1, i))
    return np.asarray(i - 1 + (before - level) / (before - after))


def expected(disks: int, sweeps: Array) -> Array:
    """(steps, contacts) mean forces over F in theory, for the sweeps of each step.

    R = 1 - i/n + sum of r sin(ki), k = j pi/n, and v = sum of v cos(k(i + 1/2)), with R = 1 at the loaded and 0 at the
    free end. Forces r = v/w, w = 2 sin(k/2), would stop a wave; sweeps take r to lambda^N_I of its distance from there,
    and then v' = v - w r'.
    """
    i = np.arange(1, disks)
    k = math.pi * i / disks
    modes, factor = np.sin(np.outer(i, k)), np.array([sweep_factor(one) for one in k])
    line, w = 1.0 - i / disks, 2.0 * np.sin(0.5 * k)
    r, v = -2.0 / disks * modes.T @ line, np.zeros(disks - 1)
    rows = []
    for count in sweeps:
        r = v / w + factor ** int(count) * (r - v / w)
        v = v - w * r
        rows.append(np.concatenate([[1.0], line + modes @ r, [0.0]]))
    return np.array(rows)


def _slope(time: Array, values: Array) -> Array:
    """Slope of each row of values against time, from EARLY on."""
    return np.asarray(np.polyfit(time[EARLY:], values[:, EARLY:].T, 1)[0])


def _mean(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _draw(fixed: dict[int, Front], drawn: Front, chosen: dict[str, tuple[Front, Array]]) -> Figure:
    """Profiles, places of fronts for fixed and for fluctuating N_I, and N_I itself."""
    figure, ((profile, flight), (place, count)) = new_figure(2, 2, width=12.0, height=9.0)
    c, big_d = sound_velocity(Q_RANDOM, 40, 1.0, 1.0), diffusion_constant(Q_RANDOM, 40, 1.0, 1.0)
    x = np.arange(fixed[40].force.shape[2], dtype=float)
    for now, ink, mark in zip((5, 20, 40, 60), INKS, "os^d"):
        mean = fixed[40].force[:, now - 1].mean(axis=0)
        profile.plot(x[::6], mean[::6], mark, color=ink, ms=4, mfc="none", label=f"measured, t = {now} dt")
        curve = [0.5 * math.erfc((at - c * now) / math.sqrt(2.0 * big_d * now)) for at in x]
        profile.plot(x, curve, color=ink, lw=1)
    profile.plot([], [], color=INKS[5], lw=1, label=r"theory, ½ erfc((x - ct)/$\sqrt{2Dt}$)")
    profile.set(xlabel="depth (d)", ylabel="contact force / F", title="A front at $N_I$ = 40", ylim=(-0.05, 1.5))
    for (sweeps, front), ink, mark in zip(fixed.items(), INKS, "os^"):
        t = front.time
        flight.plot(t[4::5], front.place.mean(axis=0)[4::5], mark, color=ink, ms=6, mfc="none",
                    label=f"measured, $N_I$ = {sweeps}")  # fmt: skip
        flight.plot(t, sound_velocity(Q_RANDOM, sweeps, 1.0, 1.0) * t, color=ink, lw=1)
    flight.plot(drawn.time[4:60:5], drawn.place.mean(axis=0)[4:60:5], "x", color=INKS[3], ms=7,
                label=f"measured, {DRAWN[0]} or {DRAWN[1]} by lot")  # fmt: skip
    flight.plot([], [], color=INKS[5], lw=1, label="c t, Eq. (soundvelocity)")
    flight.set(xlabel="time (dt)", ylabel="place of the front (d)", title="Time of flight")
    for (name, (front, theory)), ink, mark in zip(chosen.items(), (INKS[0], INKS[1]), "os"):
        t = front.time
        mean, spread = front.place.mean(axis=0), front.place.std(axis=0, ddof=1)
        place.errorbar(t[3::4], mean[3::4], spread[3::4], fmt=mark, color=ink, ms=5, mfc="none", capsize=2, lw=0.8,
                       label=f"measured, {name} (bars: seeds)")  # fmt: skip
        place.plot(t, theory, color=ink, lw=1.2)
        count.semilogy(t, front.sweeps[0], color=ink, lw=0.8, alpha=0.6, drawstyle="steps-mid")
        count.semilogy(t, front.sweeps.mean(axis=0), mark, color=ink, ms=4, mfc="none", label=f"{name}, mean of seeds")
    place.plot([], [], color=INKS[5], lw=1.2, label="theory, steps counted with their $N_I$")
    place.set(xlabel="time (dt)", ylabel="place of the front (d)", title="A criterion chooses $N_I$")
    count.plot([], [], color=INKS[5], lw=0.8, alpha=0.6, label="one seed")
    count.set(xlabel="time (dt)", ylabel="sweeps of the step, $N_I$", title="Sweeps of these steps")
    panels: Any = (profile, flight, place, count)
    for panel in panels:
        panel.legend(fontsize=9, ncols=2 if panel is profile else 1)
    return figure
