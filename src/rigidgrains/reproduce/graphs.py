"""The Signorini and Coulomb graphs, traced by the engine: one step of many lone contacts (items 3 to 7).

Grains of diameter and mass 1 stand far apart over a floor and take one step dt = 1 with a single sweep: a lone contact
is solved by one update of the shock law. Each grain is one point on the graphs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..laws.shock import general_shock_law
from ..model.bodies import Bodies
from ..model.columns import R_N, R_T, S
from ..model.shapes import Plane
from ..model.walls import Wall
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from . import one_contact
from .base import INKS, Result, Row, Tick, new_figure

Array = NDArray[np.float64]

MU = 0.4
NORMAL, PRESSED = 0.10, 0.05  # two speeds of approach of touching grains: R_n = m_n U_n/dt
ROUNDING = 1e-12


@dataclass(frozen=True)
class Traced:
    """Lone contacts after one step: gap (n,), R_n (n,), R_t (n, 3), V_t (n, 3) on the floor; units d = m = dt = 1."""

    gap: Array
    normal_force: Array
    friction: Array
    slip: Array

    @property
    def use(self) -> Array:
        """|R_t|/(mu R_n) of contacts that carry a force: 1 on the edge of the cone."""
        touching = self.normal_force > 0.0
        return np.linalg.norm(self.friction[touching], axis=1) / (MU * self.normal_force[touching])


def run(quick: bool, tick: Tick) -> Result:
    """Sweep gaps and approaches, then tangential velocities in 2D, then all directions in 3D; draw the three graphs."""
    count = 400 if quick else 4000
    rng = np.random.default_rng(1)
    nothing = np.zeros((count, 2))
    signorini = trace(2, rng.uniform(0.0, 0.2, count), rng.uniform(-0.4, 0.1, count), nothing)
    tick(0.2)
    sideways = np.stack([np.linspace(-0.4, 0.4, count), np.zeros(count)], axis=1)
    coulomb = {speed: trace(2, np.zeros(count), np.full(count, -speed), sideways) for speed in (NORMAL, PRESSED)}
    tick(0.4)
    angle, size = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(0.0, 0.4, count)
    around = np.stack([size * np.cos(angle), size * np.sin(angle)], axis=1)
    disc = trace(3, np.zeros(count), np.full(count, -NORMAL), around)
    tick(0.6)
    pairs = {name: one_contact.solve(slip) for name, slip in one_contact.SLIPS.items()}
    rows = [*signorini_rows(signorini), *coulomb_rows(coulomb[NORMAL]), *disc_rows(disc), *coupled_rows(count // 4)]
    rows += one_contact.rows(pairs)
    tick(1.0)
    notes = [
        f"{count} lone contacts per graph, one step and one sweep each; units d = m = dt = 1, mu = {MU}.",
        "Open contacts lie on the axis R_n = 0, closed ones on the axis g = 0; none lies between: no force law.",
        "Sticking contacts lie on the axis V_t = 0 to rounding: the step of the Coulomb graph has no width.",
    ]
    return Result(rows, draw(signorini, coulomb, disc), notes, {"onecontact": one_contact.draw(pairs)})


def trace(dimension: int, gap: Array, approach: Array, sideways: Array) -> Traced:
    """One step of grains over a floor at given gaps (n,), normal velocities (n,) and tangential velocities (n, 2)."""
    n = len(gap)
    position, velocity = np.zeros((n, 3)), np.zeros((n, 3))
    position[:, 0], position[:, 1] = 3.0 * np.arange(n), 0.5 + gap
    velocity[:, 0], velocity[:, 1], velocity[:, 2] = sideways[:, 0], approach, sideways[:, 1]
    volume = math.pi / 4.0 if dimension == 2 else math.pi / 6.0
    floor = Wall("floor", Plane(np.zeros(3), np.array([0.0, 1.0, 0.0])))
    bodies = Bodies.assemble(
        dimension=dimension, position=position, radius=np.full(n, 0.5), density=1.0 / volume, velocity=velocity,
        friction=MU, walls=[floor],
    )  # fmt: skip
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(1)))
    simulation.step()
    contacts = simulation.contacts
    who = contacts.pairs[:, 0]
    forces = np.zeros((n, 4))
    forces[who] = contacts.forces
    # The floor is body 1 and rests: V = -v0 - s0 x n with n = -y, Eq. (contact-veloc).
    slip = -bodies.velocity - np.cross(bodies.motion[:n, S], [0.0, -1.0, 0.0])
    slip[:, 1] = 0.0
    return Traced(bodies.position[:, 1] - 0.5, forces[:, R_N], forces[:, R_T], slip)


def signorini_rows(traced: Traced) -> list[Row]:
    """No force at an open gap, no overlap at a force, no attraction."""
    gap, force = traced.gap, traced.normal_force
    pushed = force > 0.0
    source = "Signorini graph"
    return [
        Row("largest R_n at a final gap > 1e-12 d", 0.0, float(force[gap > ROUNDING].max()), unit="m d/dt^2",
            source=source),
        Row("smallest R_n", 0.0, float(force.min()), unit="m d/dt^2", source="only repulsion"),
        Row("largest |final gap| of contacts with a force", 0.0, float(np.abs(gap[pushed]).max()), ROUNDING, unit="d",
            source="least force that avoids interpenetration"),
    ]  # fmt: skip


def coulomb_rows(traced: Traced) -> list[Row]:
    """The threshold is mu R_n; below it nothing slides; above it friction opposes the motion."""
    use, slip = traced.use, traced.slip
    sticks = use < 1.0 - ROUNDING
    slides = ~sticks
    along = (traced.friction[slides] * slip[slides]).sum(axis=1)
    cosine = along / (np.linalg.norm(traced.friction[slides], axis=1) * np.linalg.norm(slip[slides], axis=1))
    # A regularised law R_t = -(mu R_n) V_t/v_0 would show its v_0 here.
    width = np.linalg.norm(slip[sticks], axis=1).max()
    return [
        Row("largest |R_t|/(mu R_n)", 1.0, float(use.max()), ROUNDING, source="Coulomb graph"),
        Row("smallest |R_t|/(mu R_n) of sliding contacts", 1.0, float(use[slides].min()), ROUNDING, source="Coulomb"),
        Row("largest |V_t| of sticking contacts (no regularisation)", 0.0, float(width), 1e-15, unit="d/dt",
            source="Coulomb graph, infinitely steep"),
        Row("cosine between R_t and V_t of sliding contacts", -1.0, float(cosine.max()), ROUNDING,
            source="against the motion"),
    ]  # fmt: skip


def disc_rows(traced: Traced) -> list[Row]:
    """In 3D the friction of sliding contacts has the same size in every direction; a box would show sqrt(2)."""
    edge = traced.use >= 1.0 - ROUNDING
    friction = traced.friction[edge]
    sector = np.floor((np.arctan2(friction[:, 2], friction[:, 0]) + np.pi) / (2.0 * np.pi) * 16).clip(0, 15)
    size = np.linalg.norm(friction, axis=1)
    radius = np.array([size[sector == k].mean() for k in range(16)])
    return [
        Row("3D: radius of the friction disc over mu R_n", 1.0, float(radius.mean() / (MU * NORMAL)), ROUNDING,
            source="Coulomb cone"),
        Row("3D: anisotropy of the disc, (max - min)/mean over 16 directions", 0.0,
            float(np.ptp(radius) / radius.mean()), ROUNDING, source="a disc, never a box (item 7)"),
    ]  # fmt: skip


def coupled_rows(count: int) -> list[Row]:
    """The same graphs for the general law, Eq. (slipRnew), with random coupled masses M_c: V = U + M_c^-1 R dt."""
    rng = np.random.default_rng(2)
    cone, closed = [], []
    for _ in range(count):
        root = rng.normal(size=(3, 3))
        inverse = root @ root.T + 0.3 * np.eye(3)
        u = np.array([-rng.uniform(0.01, 1.0), *rng.normal(size=2)])
        w = (inverse[0, 0], inverse[0, 1], inverse[0, 2], inverse[1, 1], inverse[1, 2], inverse[2, 2])
        force = np.array(general_shock_law(0.0, u, w, MU, 1.0))
        velocity = u + inverse @ force
        cone.append(math.hypot(force[1], force[2]) / (MU * force[0]))
        closed.append(abs(velocity[0]))
    return [
        Row("coupled masses: largest |R_t|/(mu R_n)", 1.0, max(cone), 1e-9, source="Eq. (slipRnew)"),
        Row("coupled masses: largest |V_n| at g = 0", 0.0, max(closed), 1e-9, unit="d/dt", source="Eq. (gapcloses)"),
    ]


def draw(signorini: Traced, coulomb: dict[float, Traced], disc: Traced) -> Figure:
    """The paper's graphs as wide grey lines, the engine's contacts as points."""
    figure, (left, middle, right) = new_figure(1, 3, width=13.0, height=4.6)
    grey = {"color": "#c9c9c9", "lw": 7.0, "solid_capstyle": "butt", "zorder": 1}
    left.plot([0.0, 0.0, 0.3], [0.42, 0.0, 0.0], **grey, label="paper: Signorini graph")
    left.plot(
        signorini.gap,
        signorini.normal_force,
        ".",
        color=INKS[0],
        ms=4,
        zorder=3,
        label="engine, one step",
        rasterized=True,
    )
    left.set(xlabel="gap after the step, $g/d$", ylabel=r"normal force $R_n$  ($m\,d/\Delta t^2$)", title="Signorini")
    for ink, (speed, traced) in zip((INKS[0], INKS[1]), coulomb.items()):
        limit = MU * speed
        middle.plot([-0.3, 0.0, 0.0, 0.3], [limit, limit, -limit, -limit], **grey,
                    label="paper: Coulomb graph" if speed == NORMAL else None)  # fmt: skip
        middle.plot(traced.slip[:, 0], traced.friction[:, 0], ".", color=ink, ms=4, zorder=3,
                    label=rf"engine, $R_n$ = {speed:.2f}", rasterized=True)  # fmt: skip
    middle.set(xlabel=r"sliding velocity $V_t$  ($d/\Delta t$)", ylabel=r"friction force $R_t$  ($m\,d/\Delta t^2$)",
               title=rf"Coulomb, $\mu$ = {MU}", ylim=(-0.05, 0.075))  # fmt: skip
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    right.plot(np.cos(turn), np.sin(turn), **grey, label=r"paper: cone, $|R_t| = \mu R_n$")
    right.plot(*(disc.friction[:, k] / (MU * NORMAL) for k in (0, 2)), ".", color=INKS[0], ms=3, zorder=3,
               label="engine, all directions", rasterized=True)  # fmt: skip
    right.set(xlabel=r"$R_{t,x}/(\mu R_n)$", ylabel=r"$R_{t,z}/(\mu R_n)$", title="Friction in 3D: a disc",
              aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.75))  # fmt: skip
    for panel, place in ((left, "upper right"), (middle, "upper right"), (right, "upper center")):
        panel.legend(loc=place, frameon=False, fontsize=9)
    return figure
