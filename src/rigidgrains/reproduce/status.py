"""Sliding or sticking: part of the solution in contact dynamics, a matter of opinion on springs (item 70).

Two cases, each with both engines. A block (a disk that cannot turn) on a slope just below its angle of friction. And
disks at rest in a box, one wall of which draws back slowly. Units: diameter, mass and gravity are 1.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..model.bodies import Bodies
from ..model.columns import INV_SPIN, R_N, R_T, V_S, S, V
from ..model.shapes import Plane
from ..model.walls import Wall
from ..scene import Scene
from ..simulation.simulation import Simulation
from ..soft_dem import SoftDEM
from ..solve.criteria import FixedSweeps, LocalCriterion
from ..solve.sweeps import Sweeps
from .base import INKS, Row, new_figure

Array = NDArray[np.float64]

MU, NEAR = 0.5, 0.99  # friction, and the slope over that at which the block would slide
STIFF, TANGENTIAL = 1e4, 2.0 / 7.0  # of springs: m g/d, and the tangential one over that
FAINT = 0.3  # damping over the critical one of a pair
DT, SOFT = 0.01, 0.1 / math.sqrt(STIFF)  # time steps of both engines
PULL = 1e-3  # speed of the wall
MOVES = 1e-4  # of that speed: contacts that slide faster move
DAMPING = FAINT * math.sqrt(2.0 * STIFF)


@dataclass(frozen=True)
class Block:
    """A block on a slope: times, the way it went, and whether it slid in each step."""

    time: Array
    way: Array
    slides: NDArray[np.bool_]


def study(quick: bool) -> tuple[list[Row], Figure]:
    """Both cases with both engines."""
    rigid, sudden, slow = rigid_block(), soft_block(0.0), soft_block(1.0)
    heap = settle(60)
    found = {"contact dynamics": rigid_speeds(heap, 20 if quick else 100)}
    found["springs"] = soft_speeds(heap, 20 if quick else 100)
    elastic = tilted(1.0)[0] / (TANGENTIAL * STIFF)  # F_t/k_t, by which springs give way
    rows = [
        Row("block below the angle of friction, contact dynamics: way", 0.0, float(np.abs(rigid.way).max()), 1e-12,
            unit="d", source="sticking is part of the solution"),
        Row("the same: steps in which it slides", 0.0, float(rigid.slides.sum()), 0.0, source="Coulomb graph"),
        Row("block on springs, tilted slowly: way over F_t/k_t", 1.0, float(slow.way[-1]) / elastic, 0.01,
            source="springs give way before they hold"),
        Row("block on springs, tilted at once: way over that of the oscillator with Coulomb's cut", 1.0,
            float(sudden.way[-1]) / overshoot(), 0.02, source="it slides where a rigid block sticks"),
    ]  # fmt: skip
    for name, (speed, edge) in found.items():
        what = f"yielding heap, {name}: share of contacts below their limit of friction that move"
        moving = float((speed[edge == 0.0] > MOVES * PULL).mean())
        if name == "springs":
            rows.append(Row(what, 1.0, moving, 0.03, source="every spring gives way: all contacts creep and tremble"))
        else:
            rows.append(Row(what, 0.0, moving, 0.01, source="no contact moves unless it slides"))
    blocks = {"contact dynamics": rigid, "springs, tilted at once": sudden, "springs, tilted slowly": slow}
    return rows, draw(blocks, elastic, {name: speed for name, (speed, _) in found.items()})


def overshoot() -> float:
    """The way of a block on springs that is tilted at once: a damped oscillator up to Coulomb's limit, and beyond.

    Spring k and dashpot c carry it until their force is mu N; from there the speed left over falls by (mu N - F)/m.
    """
    push, press = float(tilted(1.0)[0]), -float(tilted(1.0)[1])
    k, c, limit = TANGENTIAL * STIFF, TANGENTIAL * DAMPING, MU * press
    fade = 0.5 * c
    swing = math.sqrt(k - fade**2)
    t = np.linspace(0.0, math.pi / swing, 100_001)
    x = push / k * (1.0 - np.exp(-fade * t) * (np.cos(swing * t) + fade / swing * np.sin(swing * t)))
    v = push / swing * np.exp(-fade * t) * np.sin(swing * t)
    cut = int(np.argmax(k * x + c * v >= limit))
    return float(x[cut] + 0.5 * v[cut] ** 2 / (limit - push))


def block() -> Bodies:
    """A disk that cannot turn, on a floor; gravity is set by whoever tilts."""
    floor = Wall("floor", Plane(np.zeros(3), np.array([0.0, 1.0, 0.0])))
    bodies = Bodies.assemble(dimension=2, position=np.array([[0.0, 0.5, 0.0]]), radius=np.array([0.5]),
                             density=4.0 / math.pi, friction=MU, walls=[floor])  # fmt: skip
    bodies.motion[0, INV_SPIN] = 0.0
    return bodies


def tilted(share: float) -> Array:
    """Gravity on a slope of NEAR times the critical one, times a share."""
    angle = share * math.atan(NEAR * MU)
    return np.array([math.sin(angle), -math.cos(angle), 0.0])


def rigid_block() -> Block:
    """Contact dynamics, tilted at once."""
    bodies = block()
    bodies.gravity = tilted(1.0)
    simulation = Simulation(bodies, dt=DT, solver=Sweeps(criterion=FixedSweeps(1)))
    way, slides = [], []
    for _ in range(300):
        simulation.step()
        way.append(float(bodies.position[0, 0]))
        slides.append(bool(sliding(simulation.contacts)[0]))
    return Block(DT * np.arange(1.0, 301.0), np.array(way), np.array(slides))


def soft_block(ramp: float) -> Block:
    """Springs, tilted over a time."""
    bodies = block()
    bodies.position[0, 1] -= -tilted(0.0 if ramp else 1.0)[1] / STIFF
    springs = SoftDEM(bodies, dt=SOFT, stiffness=STIFF, viscosity=DAMPING, tangential=TANGENTIAL)
    way, slides = [], []
    steps = round(2.0 / SOFT)
    for _ in range(steps):
        bodies.gravity = tilted(min(1.0, springs.time / ramp) if ramp else 1.0)
        springs.step()
        way.append(float(bodies.position[0, 0]))
        slides.append(bool(sliding(springs.contacts)[0]))
    return Block(SOFT * np.arange(1.0, steps + 1.0), np.array(way), np.array(slides))


def sliding(contacts: Contacts) -> NDArray[np.bool_]:
    """(c,) contacts whose friction is at its limit."""
    friction = np.linalg.norm(contacts.forces[:, R_T], axis=1)
    return np.asarray(
        (contacts.forces[:, R_N] > 0.0) & (friction >= (1.0 - 1e-9) * contacts.friction * contacts.forces[:, R_N])
    )


def settle(grains: int) -> Bodies:
    """Disks at rest in a box."""
    width = 0.9 * math.sqrt(grains)
    scene = Scene(dimension=2, friction=MU, gravity=(0, -1))
    scene.add_grains(count=grains, radius=(0.4, 0.6), density=4.0 / math.pi, region=((0, 0), (width, 1.6 * width)),
                     placement="dense", seed=1)  # fmt: skip
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_plane("left", point=(0, 0), normal=(1, 0))
    scene.add_plane("right", point=(width, 0), normal=(-1, 0))
    simulation = Simulation(scene, dt=0.03, accuracy="exact")
    for step in range(300):
        simulation.step()
        if step > 150:
            simulation.bodies.motion[:, V_S] *= 0.95
    simulation.bodies.motion[:grains, V_S] = 0.0
    return simulation.bodies


def pulled(bodies: Bodies) -> Bodies:
    """The same with a wall that draws back."""
    bodies = copy.deepcopy(bodies)
    bodies.walls[-1].drive.velocity = np.array([PULL, 0.0, 0.0])
    return bodies


def rigid_speeds(heap: Bodies, steps: int) -> tuple[Array, Array]:
    """|V_t| of all contacts with a force and whether friction is exhausted, in the last half of the steps."""
    solver = Sweeps(criterion=LocalCriterion(1e-10), max_sweeps=50_000)
    simulation, found = Simulation(pulled(heap), dt=DT, solver=solver), []
    for step in range(steps):
        simulation.step()
        if 2 * step >= steps:
            found.append(speeds(simulation.bodies, simulation.contacts))
    return joined(found)


def soft_speeds(heap: Bodies, looks: int) -> tuple[Array, Array]:
    """The same on springs, after they have come to rest under the weight of the heap."""
    bodies = copy.deepcopy(heap)
    springs = SoftDEM(bodies, dt=SOFT, stiffness=STIFF, viscosity=DAMPING, tangential=TANGENTIAL)
    for _ in range(round(1.0 / SOFT)):
        springs.step()
        bodies.motion[: bodies.count, V_S] *= 1.0 - 5.0 * SOFT
    bodies.walls[-1].drive.velocity = np.array([PULL, 0.0, 0.0])
    found = []
    for look in range(looks):
        springs.run(round(DT / SOFT))
        if 2 * look >= looks:
            found.append(speeds(bodies, springs.contacts))
    return joined(found)


def joined(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Those of all looks."""
    speed, edge = zip(*found)
    return np.concatenate(speed), np.concatenate(edge)


def speeds(bodies: Bodies, contacts: Contacts) -> tuple[Array, Array]:
    """|V_t| (c,) of contacts with a force, Eq. (contact-veloc), and whether their friction is at its limit."""
    some = contacts.forces[:, R_N] > 0.0
    (i, j), n = contacts.pairs[some].T, contacts.normal[some]
    v = bodies.motion[j, V] - bodies.motion[i, V] - np.cross(bodies.motion[i, S] + bodies.motion[j, S], n)
    v -= (v * n).sum(axis=1)[:, None] * n
    return np.linalg.norm(v, axis=1), sliding(contacts)[some].astype(float)


def draw(blocks: dict[str, Block], elastic: float, shares: dict[str, Array]) -> Figure:
    """The way of the block, and how many contacts slide, as one asks."""
    figure, (left, right) = new_figure(1, 2, width=12.0, height=4.8)
    for ink, (name, course) in zip((INKS[0], INKS[1], INKS[2]), blocks.items()):
        left.plot(course.time, course.way / elastic, color=ink, lw=1.8, label=name)
        if course.slides.any():
            left.plot(course.time[course.slides], course.way[course.slides] / elastic, ".", ms=5, color=ink,
                      label="its friction is exhausted" if "once" in name else None)  # fmt: skip
    left.axhline(1.0, color=INKS[5], lw=1, ls="--", label="$F_t/k_t$: how far springs give way")
    left.set(xlabel=r"time  ($\sqrt{d/g}$)", ylabel="way of the block  ($F_t/k_t$)",
             title=rf"Block on a slope of {NEAR:g} $\mu$", xlim=(0.0, 2.0))  # fmt: skip
    left.legend(frameon=False, fontsize=9)
    for ink, (name, found) in zip(INKS, shares.items()):
        order = np.sort(np.maximum(found / PULL, 1e-14))
        right.step(order, 1.0 - np.arange(len(order)) / len(order), where="pre", color=ink, lw=2, label=name)
    right.axvline(MOVES, color=INKS[4], lw=2, ls=":", label="threshold of the rows")
    right.set(xscale="log", xlabel="threshold $v_0/u$ of sliding, $u$ the speed of the wall", xlim=(1e-13, 10.0),
              ylabel="share of contacts with $|V_t| > v_0$", title="A heap whose side wall draws back",
              ylim=(0.0, 1.05))  # fmt: skip
    right.legend(frameon=False, fontsize=9, loc=(0.32, 0.45))
    return figure
