"""The spring and dashpot counterpart: the chain of contact dynamics beside one on springs, Eq. (lin-spring)."""

from __future__ import annotations

import math
import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .. import theory
from ..simulation.simulation import Simulation
from ..soft_dem import SoftDEM
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from . import status
from .base import INKS, Result, Row, Tick, new_figure
from .chain import chain
from .fit import fit_damped_sine, longest
from .written_out import written_out

Array = NDArray[np.float64]

Q = theory.Q_RANDOM
DISKS, SWEEPS, FORCE = 50, 40, 0.05  # the chain of Fig. oscill, in units d = m = dt = 1
K = math.pi / (2.0 * DISKS)  # wave length 4 L
SLOW = 113.0  # = 20/omega: time over which a slow load is put on
INNER = DISKS - 1 - round(2.0 * theory.diffusion_length(Q, SWEEPS, 1.0))  # contacts far from the loaded end
REST, END = 120.0, 300.0  # the wave is fitted between these times; before, contacts still open now and then


@dataclass(frozen=True)
class Ringing:
    """A chain under a sudden load: times, shift of its last disk towards the wall, overlaps in the end, and the cost.

    guess   : omega and tau of theory, from which a fit starts
    updates : contact updates per unit of time; seconds : per unit of time
    """

    guess: tuple[float, float]
    t: Array
    shift: Array
    overlap: Array
    updates: float
    seconds: float

    def wave(self) -> tuple[float, float]:
        """Frequency and damping time of the longest wave, fitted freely."""
        late = self.t >= REST
        sine = fit_damped_sine(self.t[late], self.shift[late], *self.guess)
        return sine.omega, sine.tau

    def constants(self) -> tuple[float, float]:
        """kappa and gamma that this wave tells, by Eqs. (dispersion), (tau), (kappa), (gamma)."""
        omega, tau = self.wave()
        return (omega**2 + tau**-2) / K**2, 2.0 / (tau * K**2)


def run(quick: bool, tick: Tick) -> Result:
    """Shrinkage, wave, single overlaps, the trade-off between N_I and dt, the cost; sliding against sticking."""
    seeds, part = range(2 if quick else 8), 1.0 / (80 if quick else 160)
    rigid = [ring_rigid(1.0, SWEEPS, seed, END) for seed in seeds]
    tick(0.15)
    soft, soft_pressed = ring_soft(part, END), ring_soft(part, 2.0 * END, ramp=SLOW)
    tick(0.3)
    pressed = [ring_rigid(1.0, SWEEPS, seed, 2.0 * END, ramp=SLOW) for seed in seeds]
    half = ring_rigid(1.0, SWEEPS, 99, 2.0 * END, ramp=SLOW, push=0.5 * FORCE)
    tick(0.4)
    unit = FORCE / theory.stiffness(Q, SWEEPS, 1.0, 1.0)  # the overlap that theory expects
    shrunk = unit * (DISKS - 0.5)  # half an overlap at the wall, where the grain meets its mirror image
    # Within a step the sweeps carry the load some way in without any overlap; see the page of `oscillation`.
    carried = unit * (DISKS - theory.firm_length(Q, SWEEPS, 1.0))
    waves = np.array([ringing.wave() for ringing in rigid])
    omega, tau = expected_wave(1.0, SWEEPS)
    soft_omega, soft_tau = soft.wave()
    shrinkage, inner = [r.shift[-1] for r in pressed], [r.overlap[:INNER].mean() / unit for r in pressed]
    more_seeds = range(100, 104 if quick else 164)
    scatter = [spread(ring_rigid(1.0, SWEEPS, k, 2.0 * END, ramp=SLOW).overlap[:INNER]) for k in more_seeds]
    told = [written_out_scatter(seed) for seed in range(1000, 1016 if quick else 1256)]
    doubt = math.hypot(error(scatter), error(told))
    rows = [
        Row("overlap over F/kappa, contact dynamics", 1.0, mean(inner), 0.03, error=error(inner),
            source="Eq. (kappa); beyond 2 l_diff from the loaded end"),
        Row("overlap over F/kappa, springs", 1.0, soft_pressed.overlap[:INNER].mean() / unit, 0.01,
            source="Eq. (lin-spring)"),
        Row("shrinkage of the chain, contact dynamics", carried, mean(shrinkage), 0.02 * carried, unit="d",
            error=error(shrinkage), source="Eq. (kappa) and the loaded end: F (L - 0.412 l_diff)/(kappa d)"),
        Row("shrinkage of the chain, springs", shrunk, soft_pressed.shift[-1], 0.01 * shrunk, unit="d",
            source="Eq. (lin-spring): F (n - 1/2)/kappa"),
        Row("shrinkage at half the load over that at full load", 0.5, half.shift[-1] / mean(shrinkage), 0.01,
            source="item 53: in proportion to the load"),
        Row("omega, contact dynamics", omega, mean(waves[:, 0]), 0.02 * omega, error=error(waves[:, 0]),
            unit="1/dt", source="Eq. (dispersion)"),
        Row("omega, springs", omega, soft_omega, 0.01 * omega, unit="1/dt", source="Eq. (spring-R)"),
        Row("tau, contact dynamics", tau, mean(waves[:, 1]), 0.03 * tau, error=error(waves[:, 1]), unit="dt",
            source="Eq. (tau)"),
        Row("tau, springs", tau, soft_tau, 0.02 * tau, unit="dt", source="Eq. (spring-R)"),
        Row("scatter of overlaps over their mean, contact dynamics", mean(told), mean(scatter), 3.0 * doubt,
            error=doubt, source="item 53: overlaps are stochastic; as in the chain written out"),
        Row("scatter of overlaps over their mean, springs", 0.0, spread(soft_pressed.overlap), 1e-4,
            source="item 53: overlaps are a function of the force"),
    ]  # fmt: skip
    halved = [trade(fraction, seeds) for fraction in ((1, 2) if quick else (1, 2, 4))]
    tick(0.75)
    for fraction, stiff, viscous, work in halved[1:]:
        name = f"N_I and dt divided by {fraction}"
        rows += [
            Row(f"kappa ratio, {name}", fraction, stiff[0] / halved[0][1][0], 0.02 * fraction,
                error=stiff[1] / halved[0][1][0], source="Eq. (kappa) at constant N_I/dt"),
            Row(f"gamma ratio, {name}", 1.0, viscous[0] / halved[0][2][0], 0.03,
                error=viscous[1] / halved[0][2][0], source="Eq. (gamma) at constant N_I/dt"),
            Row(f"updates per time ratio, {name}", 1.0, work / halved[0][3], 0.01, source="item 55"),
        ]  # fmt: skip
    costs = [cost(sweeps) for sweeps in ((10, 40) if quick else (10, 20, 40, 80, 160))]
    tick(0.85)
    equal = next(c for c in costs if c[0] == SWEEPS)
    rows += [
        Row("updates of springs over contact dynamics, same kappa and gamma", 2.0 * Q, equal[1] / SWEEPS, 0.04,
            source="item 58; stability limit dt_MD = dt/(2 q N_I)"),
        Row("updates of springs over contact dynamics, same kappa, no damping", math.sqrt(Q / SWEEPS),
            equal[2] / SWEEPS, 0.004, source="item 58; stability limit dt_MD = dt/sqrt(q N_I)"),
    ]  # fmt: skip
    figure = draw(rigid[0], soft, [*pressed[:2], soft_pressed], halved, costs)
    sudden = [spread(r.overlap) for r in rigid]
    long_rigid, long_soft = ring_rigid(1.0, SWEEPS, 0, 10.0, disks=5000), ring_soft(1.0 / 64.0, 10.0, disks=5000)
    notes = [
        f"After a slow load the overlaps scatter by {mean(scatter):.2f} of their mean, after a sudden one by "
        f"{mean(sudden):.2f}. Near the loaded end they are smaller, which makes the whole "
        f"chain {shrunk / mean(shrinkage) - 1.0:.0%} stiffer than its inside.",
        f"5000 disks on one core at the same kappa and gamma: the springs, near their longest stable step, take "
        f"{long_soft.updates / long_rigid.updates:.2f} times the updates of contact dynamics and "
        f"{long_soft.seconds / long_rigid.seconds:.2f} times its seconds.",
        "The springs are cheaper where kappa alone has to agree: it is the large gamma of unfinished sweeps that an "
        "explicit method pays for.",
    ]
    more, picture = status.study(quick)
    return Result([*rows, *more], figure, notes, {"status": picture})


def expected_wave(dt: float, sweeps: int) -> tuple[float, float]:
    """omega and tau of the chain, Eqs. (dispersion) and (tau)."""
    return theory.frequency(K, Q, sweeps, 1.0, dt), theory.damping_time(K, Q, sweeps, 1.0, dt)


def ring_rigid(
    dt: float, sweeps: int, seed: int, end: float, *, disks: int = DISKS, ramp: float = 0.0, push: float = FORCE
) -> Ringing:
    """Contact dynamics with a fixed number of sweeps; the load comes suddenly or grows over the time `ramp`."""
    bodies = chain(disks, push=push, wall=True)
    simulation = Simulation(bodies, dt=dt, solver=Sweeps(criterion=FixedSweeps(sweeps)), seed=seed)
    last, steps, started = [], round(end / dt), clock.perf_counter()
    for _ in range(steps):
        bodies.force[-1, 0] = -push * min(1.0, (simulation.time + dt) / (ramp + dt))
        simulation.step()
        last.append(bodies.position[-1, 0])
    seconds = (clock.perf_counter() - started) / end
    overlap = -simulation.contacts.gap[: disks - 1]
    t, shift, updates = np.linspace(dt, end, steps), disks - 0.5 - np.array(last), simulation.tally.updates / end
    return Ringing(expected_wave(dt, sweeps), t, shift, overlap, updates, seconds)


def written_out_scatter(seed: int) -> float:
    """Scatter of the overlaps under a slow load in the chain written out, which shares no code with the engine."""
    load = FORCE * np.minimum(1.0, (np.arange(2.0 * END) + 1.0) / (SLOW + 1.0))
    return spread(-written_out(DISKS, load, seed, sweeps=SWEEPS).gap[-1, 1 : INNER + 1])


def ring_soft(dt: float, end: float, *, disks: int = DISKS, ramp: float = 0.0) -> Ringing:
    """The same chain on springs with kappa and gamma of Eqs. (kappa) and (gamma)."""
    bodies = chain(disks, push=FORCE, wall=True)
    kappa, gamma = theory.stiffness(Q, SWEEPS, 1.0, 1.0), theory.viscosity(Q, SWEEPS, 1.0, 1.0)
    springs = SoftDEM(bodies, dt=dt, stiffness=kappa, viscosity=gamma, wall=2.0, bonded=True)
    last, started = [], clock.perf_counter()
    for _ in range(round(end)):
        bodies.force[-1, 0] = -FORCE * min(1.0, (springs.time + 1.0) / (ramp + 1.0))
        springs.run(round(1.0 / dt))
        last.append(bodies.position[-1, 0])
    seconds = (clock.perf_counter() - started) / end
    t, shift, overlap = np.arange(1.0, end + 0.5), disks - 0.5 - np.array(last), -springs.contacts.gap[: disks - 1]
    return Ringing(expected_wave(1.0, SWEEPS), t, shift, overlap, springs.updates / end, seconds)


def trade(fraction: int, seeds: range) -> tuple[int, tuple[float, float], tuple[float, float], float]:
    """Divide N_I and dt by the same number: kappa and gamma (value, error) from the wave, updates per unit of time."""
    runs = [ring_rigid(1.0 / fraction, SWEEPS // fraction, seed, END) for seed in seeds]
    kappa, gamma = np.array([r.constants() for r in runs]).T
    return fraction, (mean(kappa), error(kappa)), (mean(gamma), error(gamma)), runs[0].updates


def cost(sweeps: int) -> tuple[int, float, float]:
    """Steps of the springs per step of contact dynamics at the same kappa: with the same gamma, and without."""
    kappa, gamma = theory.stiffness(Q, sweeps, 1.0, 1.0), theory.viscosity(Q, sweeps, 1.0, 1.0)
    return sweeps, 1.0 / stable_step(kappa, gamma), 1.0 / stable_step(kappa, 0.0)


def stable_step(kappa: float, gamma: float) -> float:
    """The largest time step at which a chain on springs stays bounded, by bisection."""
    return longest(lambda dt: bounded(dt, kappa, gamma), 1e-4, 2.0)


def bounded(dt: float, kappa: float, gamma: float) -> bool:
    """Whether a small disturbance of a bonded chain is still small after 400 steps."""
    bodies = chain(20, wall=True)
    bodies.velocity[:, 0] = 1e-9 * (-1.0) ** np.arange(20)
    springs = SoftDEM(bodies, dt=dt, stiffness=kappa, viscosity=gamma, bonded=True)
    for _ in range(8):
        springs.run(50)
        if not np.abs(bodies.velocity).max() < 1e-6:
            return False
    return True


def draw(rigid: Ringing, soft: Ringing, pressed: list[Ringing], halved: list[Any], costs: list[Any]) -> Figure:
    """Four panels: the wave, single overlaps, the trade-off, the cost."""
    figure, axes = new_figure(2, 2, width=11.0, height=7.5)
    ringing, single, trading, costing = axes.flat
    ringing.plot(rigid.t, rigid.shift, "o", ms=3, color=INKS[0], label=f"contact dynamics, $N_I$ = {SWEEPS}")
    ringing.plot(soft.t, soft.shift, color=INKS[1], label=r"springs with $\kappa$, $\gamma$ of the paper")
    ringing.axhline(FORCE * (DISKS - 0.5) / theory.stiffness(Q, SWEEPS, 1.0, 1.0), color=INKS[5], ls="--", lw=1,
                    label=r"shrinkage $F(n-1/2)/\kappa$")  # fmt: skip
    ringing.set(xlabel="time (dt)", ylabel="shift of the last disk (d)", title="A sudden load: the same wave")
    ringing.legend(fontsize=9)
    scale = theory.stiffness(Q, SWEEPS, 1.0, 1.0) / FORCE
    for k, (press, mark) in enumerate(zip(pressed, "os")):
        single.plot(scale * press.overlap, mark, ms=4, color=INKS[2 * k], label=f"contact dynamics, seed {k}")
    single.plot(scale * pressed[-1].overlap, color=INKS[1], label="springs")
    single.axvspan(INNER - 0.5, DISKS - 1.5, color=INKS[5], alpha=0.1, lw=0, label=r"within $2\,l_{diff}$ of the load")
    single.set_ylim(0.0)
    single.set(
        xlabel="contact, counted from the wall",
        ylabel=r"overlap ($F/\kappa$)",
        title="Single overlaps under a slow load",
    )
    single.legend(fontsize=9)
    step = np.array([1.0 / h[0] for h in halved])
    for k, (name, column) in enumerate(((r"$\kappa$ (m/dt$_0^2$)", 1), (r"$\gamma$ (m/dt$_0$)", 2))):
        value = [h[column][0] for h in halved]
        bars = [h[column][1] for h in halved]
        trading.errorbar(step, value, bars, fmt="os"[k], color=INKS[k], label=f"{name}, measured")
        theory_line = Q * SWEEPS / (step if column == 1 else np.ones_like(step))
        trading.plot(step, theory_line, color=INKS[k], lw=1, ls="--", label=f"{name}, paper")
    trading.set(xscale="log", yscale="log", xlabel=r"time step (dt$_0$), at $N_I$/dt = 40", ylabel="effective constant",
                title="Fewer sweeps, shorter steps: stiffer at equal work")  # fmt: skip
    trading.set_xticks(step, [f"{x:g}" for x in step])
    trading.set_yticks([30.0, 60.0, 120.0], ["30", "60", "120"])
    trading.minorticks_off()
    trading.legend(fontsize=9)
    sweeps = np.array([c[0] for c in costs], dtype=float)
    costing.plot(sweeps, sweeps, color=INKS[0], label="contact dynamics")
    costing.plot(sweeps, [c[1] for c in costs], "o", color=INKS[1], label=r"springs, same $\kappa$ and $\gamma$")
    costing.plot(sweeps, 2.0 * Q * sweeps, "--", lw=1, color=INKS[1], label=r"$2qN_I$")
    costing.plot(sweeps, [c[2] for c in costs], "s", color=INKS[2], label=r"springs, same $\kappa$, no damping")
    costing.plot(sweeps, np.sqrt(Q * sweeps), "--", lw=1, color=INKS[2], label=r"$\sqrt{qN_I}$")
    costing.set(xscale="log", yscale="log", xlabel=r"sweeps $N_I$ (stiffness $\kappa = q m N_I/dt^2$)",
                ylabel="updates per contact and dt", title="The least cost of the same stiffness")  # fmt: skip
    costing.legend(fontsize=9)
    return figure


def mean(values: Any) -> float:
    return float(np.mean(values))


def error(values: Any) -> float:
    """Standard error of the mean."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def spread(values: Array) -> float:
    """Standard deviation over mean."""
    return float(values.std() / values.mean())
