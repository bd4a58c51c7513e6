"""Energies of a state, and where energy came from and went to in the last step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..model.walls import Wall
from .cell_work import cell_energy, cell_work
from .images import start, unwrapped, velocity_gradient
from .links import Links, links
from .shown import Shown
from .state import Array, Frame, dot, double, of
from .turning import angular_momentum, solved_spin

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Energy(Shown):
    """J (J/m in 2D).

    translation, rotation : of grains, about the flow of a cell that deforms; pistons : kinetic energy of guided pistons
    cell : kinetic energy of a cell under stress
    potential : of grains and pistons under gravity, constant forces and loads, zero at the origin, and of springs; none
                of torques. In a periodic cell it falls on with each face that is crossed.
    """

    translation: float
    rotation: float
    pistons: float
    cell: float
    potential: float

    @property
    def kinetic(self) -> float:
        """J"""
        return self.translation + self.rotation + self.pistons + self.cell

    @property
    def total(self) -> float:
        """J"""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Budget(Shown):
    """The last step: change of kinetic energy = gravity + forces + loads + walls + cell + returned - contacts - shocks.

    All in J (J/m in 2D).

    kinetic  : change of kinetic energy
    gravity  : work of gravity on grains and pistons; loads : on pistons
    forces   : work of constant forces, torques, springs, functions of the user, and of prescribed motion of grains
    walls    : work of driven walls on the grains; cell : of whoever prescribes rates and stresses of a cell
    returned : given by contacts that are made to part, where overlaps are removed or grains rebound: R_n times the way
    contacts : dissipated by sliding, rolling and closing gaps; with `returned` it is -dt R V, V at the end of the step
    shocks   : dissipated in jumps of the velocity, m (v - v_before)^2/2 and the like for spins. In free flight this is
               the loss of implicit Euler, m (g dt)^2/2.
    error    : what the balance misses: rounding
    dt       : s; a term over dt is a power in W
    """

    kinetic: float
    gravity: float
    forces: float
    loads: float
    walls: float
    cell: float
    returned: float
    contacts: float
    shocks: float
    error: float
    dt: float

    @property
    def dissipated(self) -> float:
        """J"""
        return self.contacts + self.shocks

    @property
    def work(self) -> float:
        """J, of everything from outside."""
        return self.gravity + self.forces + self.loads + self.walls + self.cell

    @property
    def power(self) -> dict[str, float]:
        """W, each term by name."""
        names = [field.name for field in fields(self) if field.name != "dt"]
        return {name: getattr(self, name) / self.dt for name in names}


def energy(source: Frame | Simulation) -> Energy:
    """Kinetic and potential energy of the present state."""
    frame = of(source)
    position, gravity = unwrapped(frame), double(frame.gravity)
    spin = double(frame.spin)
    turning = spin, angular_momentum(frame, spin)
    moving = _kinetic(frame, double(frame.peculiar_velocity), turning, double(frame.wall_velocity))
    potential = -float(double(frame.mass) @ (position @ gravity))
    constant = double(frame.external_force)
    if frame.spring_force is not None:
        constant = constant - double(frame.spring_force)
        potential += frame.figures["spring_energy"]
    for name in ("user_force", "guide_force"):  # that have no potential
        if (part := frame.column(name)) is not None:
            constant = constant - double(part)
    potential -= float((constant * position).sum())
    for _, wall in _pistons(frame):
        push = wall.mass * float(gravity @ wall.normal) + wall.load
        potential -= push * float(wall.shape.point @ wall.normal)
    return Energy(*moving, cell_energy(frame, velocity_gradient(frame)), potential)


def energy_budget(source: Frame | Simulation) -> Budget:
    """Work and dissipation of the step that led here; zeros before the first.

    Forces act along the way dt v that bodies really go, so that the work of gravity is what the potential energy loses.
    For a whole run see `total_budget`, or observe this with every=1 and add the columns up.
    """
    frame = of(source)
    dt = frame.dt
    if not frame.whole:
        return Budget(**{one.name: 0.0 for one in fields(Budget) if one.name != "dt"}, dt=dt)
    velocity, spin, wall_velocity = double(frame.peculiar_velocity), solved_spin(frame), double(frame.wall_velocity)
    turning_now = double(frame.spin), angular_momentum(frame, double(frame.spin))
    spin_before = double(frame.spin_before)
    turning_before = spin_before, angular_momentum(frame, spin_before, before=True)
    before = double(frame.peculiar_velocity_before), turning_before, double(frame.wall_velocity_before)
    mass, gravity, pistons = double(frame.mass), double(frame.gravity), _pistons(frame)
    found = links(frame)
    surface = _surface_velocity(frame, found)
    turning = np.vstack([np.zeros_like(spin), *(wall.drive.spin for wall in frame.walls)])
    guided = np.isin(found.j, [len(frame) + w for w, _ in pistons])
    change = sum(_kinetic(frame, velocity, turning_now, wall_velocity)) - sum(_kinetic(frame, *before))
    turned = spin - spin_before, turning_now[1] - turning_before[1]
    jump = velocity - before[0], turned, wall_velocity - before[2]
    work = {
        "gravity": dt * float(mass @ (velocity @ gravity))
        + dt
        * sum(wall.mass * float((gravity @ wall.normal) * (wall_velocity[w] @ wall.normal)) for w, wall in pistons),
        "forces": dt * float((double(frame.external_force) * velocity).sum()),
        "loads": dt * sum(wall.load * float(wall_velocity[w] @ wall.normal) for w, wall in pistons),
        "walls": -dt * float((dot(found.force, surface) + dot(found.torque, turning[found.j]))[~guided].sum()),
        "cell": cell_work(frame, found),
    }
    if frame.external_torque is not None:
        work["forces"] += dt * float((double(frame.external_torque) * spin).sum())
    contacts = -dt * float(dot(found.force, _contact_velocity(frame, found, surface)).sum())
    returned = _returned(frame)
    contacts += returned
    turning[: len(frame)] = spin
    contacts -= dt * float(dot(found.torque, turning[found.j] - turning[found.i]).sum())
    shocks = float(sum(_kinetic(frame, *jump)))
    if frame.cell_rate_before is not None:
        rate, rate_before = velocity_gradient(frame), double(frame.cell_rate_before)
        change += cell_energy(frame, rate) - cell_energy(frame, rate_before)
        shocks += cell_energy(frame, rate - rate_before)
    error = change - sum(work.values()) - returned + contacts + shocks
    return Budget(kinetic=change, **work, returned=returned, contacts=contacts, shocks=shocks, error=error, dt=dt)


def total_budget(frames: Iterable[Frame]) -> Budget:
    """The steps from the first to the last of consecutive frames, added up; dt is then their duration.

    Frames of every step are needed, as a TrajectoryWriter with every=1 leaves them. Between frames further apart only
    the total of `energy` is known: what it loses is what was dissipated less the work of driven walls.
    """
    sums, last = np.zeros(len(fields(Budget))), None
    for frame in frames:
        if last is not None and frame.step != last + 1:
            raise ValueError(f"there is no frame of step {last + 1}; write frames with every=1, or compare `energy`")
        if last is not None:
            sums += astuple(energy_budget(frame))
        last = frame.step
    return Budget(*sums.tolist())


def _returned(frame: Frame) -> float:
    """J, sum of R_n times the way by which each contact is to open within the step; R_n with the attraction of laws."""
    contacts, figures = frame.contacts, frame.figures
    press = dot(double(contacts.force), double(contacts.normal))
    if (attraction := contacts.law("attraction")) is not None:
        press += double(attraction)
    if (stored := contacts.law("to_close")) is not None:
        opens = -double(stored)
    else:
        part = figures["removed_part"] if "removed_part" in figures else float(figures["floor"] < 0.0)
        opens = -part * np.minimum(double(contacts.gap) + figures.get("slack", 0.0), 0.0)
    return float((press * np.maximum(opens, 0.0)).sum())


def _kinetic(
    frame: Frame, velocity: Array, turning: tuple[Array, Array], wall_velocity: Array
) -> tuple[float, float, float]:
    """J: translation and rotation of grains, motion of pistons; turning : spins and the angular momenta with them."""
    return (
        0.5 * float(double(frame.mass) @ dot(velocity, velocity)),
        0.5 * float(dot(*turning).sum()),
        0.5 * sum(wall.mass * float(wall_velocity[w] @ wall_velocity[w]) for w, wall in _pistons(frame)),
    )


def _pistons(frame: Frame) -> list[tuple[int, Wall]]:
    return [(w, wall) for w, wall in enumerate(frame.walls) if wall.guided]


def _surface_velocity(frame: Frame, found: Links) -> Array:
    """(c, 3) m/s, of the wall's material at each contact; zero between grains."""
    out = np.zeros((len(found), 3))
    begin = start(frame)
    for w, (wall, velocity) in enumerate(zip(frame.walls, double(frame.wall_velocity))):
        some = found.j == len(frame) + w
        # the wall has moved on since the contact was found; seen from its centre the grain stands where it stood
        point = begin[found.i[some]] + found.branch[some] + frame.dt * velocity
        out[some] = wall.surface_velocity(velocity, point)
    return out


def _contact_velocity(frame: Frame, found: Links, surface: Array) -> Array:
    """(c, 3) m/s, of body j relative to body i at the end of the step, Eq. (contact-veloc)."""
    velocity, spin = double(frame.peculiar_velocity), solved_spin(frame)
    j = np.where(found.at_wall, 0, found.j)
    other = np.where(found.at_wall[:, None], surface, velocity[j] + np.cross(spin[j], found.lever_j))
    with_flow = np.where(found.at_wall[:, None], 0.0, found.branch) @ velocity_gradient(frame).T
    return other - velocity[found.i] + with_flow - np.cross(spin[found.i], found.lever_i)
