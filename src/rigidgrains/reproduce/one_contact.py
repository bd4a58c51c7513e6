"""One contact of two grains as the shock law solves it: the paper's figure onecontact, drawn from two steps.

Two disks of different size touch and approach each other obliquely. All arrows are numbers of the solved step: the
velocities V of body 1 relative to body 0 at the contact before and after it, and the force R on body 1. Units
m = dt = 1, the larger disk has mass 1; n points from body 0 to body 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import R_N, R_T, S
from ..simulation.simulation import Simulation
from ..solve.criteria import FixedSweeps
from ..solve.sweeps import Sweeps
from .base import INKS, Row, new_figure

Array = NDArray[np.float64]

MU = 0.4
RADII = (0.62, 0.44)
ANGLE = math.radians(25.0)  # of the normal
APPROACH = 0.5  # speed of approach along the normal
SLIPS = {"sticking": 0.35, "sliding": 1.3}  # tangential speeds before the step


@dataclass(frozen=True)
class Contact:
    """The contact before and after the step: centres (2, 2), normal, V before and after, R_n, R_t as vectors (2,)."""

    centres: Array
    normal: Array
    before: Array
    after: Array
    push: Array
    friction: Array
    masses: tuple[float, float]


def solve(slip: float) -> Contact:
    """One step of one sweep: a lone contact needs no more."""
    normal = np.array([math.cos(ANGLE), math.sin(ANGLE), 0.0])
    tangent = np.array([-normal[1], normal[0], 0.0])
    radius = np.array(RADII)
    position = np.stack([np.zeros(3), radius.sum() * normal])
    velocity = np.stack([np.zeros(3), -APPROACH * normal + slip * tangent])
    bodies = Bodies.assemble(dimension=2, position=position, radius=radius, density=1.0 / (math.pi * RADII[0] ** 2),
                             velocity=velocity, friction=MU)  # fmt: skip
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(1)))
    before = relative(bodies, normal)
    centres = bodies.position[:, :2].copy()
    simulation.step()
    contacts = simulation.contacts
    n = contacts.normal[0]
    push, friction = contacts.forces[0, R_N] * n, contacts.forces[0, R_T]
    masses = float(bodies.mass[0]), float(bodies.mass[1])
    return Contact(centres, n[:2], before[:2], relative(bodies, n)[:2], push[:2], friction[:2], masses)


def relative(bodies: Bodies, normal: Array) -> Array:
    """V of body 1 relative to body 0 at the contact, Eq. (contact-veloc)."""
    turning = bodies.motion[0, S] + bodies.motion[1, S]
    return np.asarray(bodies.velocity[1] - bodies.velocity[0] - np.cross(turning, normal))


def rows(contacts: dict[str, Contact]) -> list[Row]:
    """The arrows against Eqs. (m-n), (m-t), (noslipRnew) and (slipRnew), from masses alone."""
    stick, slide = contacts["sticking"], contacts["sliding"]
    m_n = 1.0 / (1.0 / stick.masses[0] + 1.0 / stick.masses[1])
    m_t = m_n / 3.0  # disks: 1/m_t = 3/m_n
    size = np.linalg.norm
    return [
        Row("one contact: R_n over m_n |U_n|/dt", 1.0, float(size(slide.push)) / (m_n * APPROACH), 1e-12,
            source="Eqs. (m-n), (noslipRnew) at g = 0"),
        Row("one contact, sticking: |R_t| over m_t |U_t|/dt", 1.0,
            float(size(stick.friction)) / (m_t * SLIPS["sticking"]), 1e-12, source="Eqs. (m-t), (noslipRnew)"),
        Row("one contact, sticking: |V| after the step", 0.0, float(size(stick.after)), 1e-12, unit="d/dt",
            source="Eqs. (gapcloses), (stickingcondition)"),
        Row("one contact, sliding: |R_t|/(mu R_n)", 1.0, float(size(slide.friction) / (MU * size(slide.push))), 1e-12,
            source="Eq. (slipRnew)"),
    ]  # fmt: skip


def draw(contacts: dict[str, Contact]) -> Figure:
    """Sticking and sliding side by side, in the frame of the law."""
    figure, panels = new_figure(1, 2, width=13.0, height=5.0)
    for panel, (name, contact) in zip(panels, contacts.items()):
        show(panel, contact)
        use = float(np.linalg.norm(contact.friction) / (MU * np.linalg.norm(contact.push)))
        after = float(np.linalg.norm(contact.after))
        told = r"$\mathbf{V}$ vanishes" if after < 1e-12 else rf"$|\mathbf{{V}}|$ = {after:.2f} is left"
        panel.set_title(rf"{name}: $|R_t|$ = {use:.2f} $\mu R_n$, {told}")
    return figure


def show(panel: Any, contact: Contact) -> None:
    """Grains, normal, cone, forces on body 1, velocities before and after."""
    panel.set_aspect("equal")
    panel.set_axis_off()
    n = contact.normal
    t = np.array([-n[1], n[0]])
    point = contact.centres[0] + RADII[0] * n
    for k, (centre, radius) in enumerate(zip(contact.centres, RADII)):
        panel.add_patch(Circle(centre, radius, facecolor="#e9edf2", edgecolor="#6b7785", lw=1.5, zorder=1))
        panel.plot(*centre, "o", color="#6b7785", ms=4, zorder=2)
        panel.plot(*zip(centre, point), color="#6b7785", lw=1.0, ls=(0, (4, 3)), zorder=2)
        panel.text(*(centre + (0.28 if k else 0.34) * t), f"grain {k}", ha="center", fontsize=12, color="#4a5560")
        beside = centre - 0.1 * n + 0.07 * t if k else 0.5 * (centre + point) - 0.07 * t
        panel.text(*beside, rf"$\mathbf{{l}}_{k}$", fontsize=12, color="#4a5560", ha="center", va="center")
    panel.plot(*zip(point - 0.75 * t, point + 0.75 * t), color="#9aa7b5", lw=1.0, zorder=2)
    scale = 0.85 / np.linalg.norm(contact.push)  # forces: R_n has the length 0.85
    reach = 1.0
    edges = [point + reach * (n + side * MU * t) / math.hypot(1.0, MU) for side in (-1.0, 1.0)]
    panel.add_patch(Polygon([point, *edges], facecolor=INKS[4], alpha=0.25, lw=0, zorder=2))
    panel.text(*(edges[1] + 0.05 * t), r"cone $|R_t| \leq \mu R_n$", color="#8a5d0c", fontsize=12, ha="center")
    push, friction = scale * contact.push, scale * contact.friction
    arrow(panel, point, push, INKS[1], r"$R_n \mathbf{n}$", 0.07 * t, share=0.72)
    arrow(panel, point + push, friction, INKS[3], r"$\mathbf{R}_t$", 0.1 * n, share=0.5)
    arrow(panel, point, push + friction, "#1b1b1b", r"$\mathbf{R}$", -0.09 * t, width=3.0, share=0.6)
    arrow(panel, point, 0.26 * n, "#4a5560", r"$\mathbf{n}$", 0.08 * t, width=3.0)
    foot, fast = np.array([1.62, -0.6]), 0.75 / math.hypot(APPROACH, max(SLIPS.values()))
    for velocity, ink, label, side in (
        (contact.before, INKS[0], r"$\mathbf{V}$ before", -1.0), (contact.after, INKS[2], r"$\mathbf{V}$ after", 1.0)
    ):  # fmt: skip
        if np.linalg.norm(velocity) > 1e-12:
            arrow(panel, foot, fast * velocity, ink, label, 0.2 * side * n + 0.02 * t, share=0.8)
        else:
            panel.plot(*foot, "o", color=ink, ms=9, zorder=6)
            panel.text(*(foot + 0.06 * n), f"{label} = 0", color=ink, fontsize=13, va="center")
    panel.text(*(foot - [0.0, 0.12]), "velocity of grain 1 relative to grain 0 at the contact", color="#4a5560",
               fontsize=10, ha="center")  # fmt: skip
    panel.set(xlim=(-0.68, 2.2), ylim=(-0.8, 1.12))


def arrow(
    panel: Any, foot: Array, way: Array, ink: str, label: str, aside: Array, *, width: float = 2.2, share: float = 0.5
) -> None:  # fmt: skip
    """An arrow with its name beside it."""
    panel.annotate("", foot + way, foot, arrowprops={"arrowstyle": "-|>", "color": ink, "lw": width, "shrinkA": 0,
                   "shrinkB": 0, "mutation_scale": 16}, zorder=5)  # fmt: skip
    panel.text(*(foot + share * way + aside), label, color=ink, fontsize=13, ha="center", va="center", zorder=6)
