"""Momentum of every grain and piston over the step, and the energy of all."""

from __future__ import annotations

import numpy as np

from . import flow, surfaces
from .links import Links
from .state import Array, State, dot, guided, length, size
from .verdict import EXACT, SWEEPS, Check, worst_of


def scatter(links: Links, on_i: Array, on_j: Array) -> Array:
    """(n + walls, k) sum of what each contact gives to its bodies, (c, k) to i and to j."""
    bodies = links.state.n + len(links.state.walls)
    columns = [np.bincount(links.i, a, bodies) + np.bincount(links.j, b, bodies) for a, b in zip(on_i.T, on_j.T)]
    return np.stack(columns, axis=1)


def momentum(links: Links) -> list[Check]:
    """m (v - v_before) = dt (m g + F + sum of R), L - L_before = dt (T + sum of torques).

    That is Eq. (discr-generalized-accel). Pistons along their normal. In a cell that deforms v is the velocity about
    its flow, which takes dt m L v from it.
    """
    state, dt = links.state, links.state.dt
    net = scatter(links, -links.force, links.force)
    press = scatter(links, links.size[:, None], links.size[:, None])[:, 0]  # sum of |R|, for the scale
    m = state.mass[:, None]
    gained = m * (state.velocity - state.velocity_before)
    given = dt * (m * state.gravity + state.force + net[: state.n])  # Eq. (dv)
    if state.flow.moves:
        given = dt * net[: state.n] + m * (state.free_velocity - state.velocity_before)
    scale = _impulse(links, press[: state.n])
    torque = scatter(links, *links.torques())[: state.n]
    wound, spun = state.turning - state.turning_before, dt * (state.torque + torque)

    def place(i: int) -> str:
        return f"{state.grain(i)} gained {gained[i]} N s where {_forces_on(links, i)} give {given[i]} N s"

    def spin_place(i: int) -> str:
        return f"{state.grain(i)} gained {wound[i]} N m s where {_forces_on(links, i)} give {spun[i]} N m s"

    linear, angular = _over(length(gained - given), scale), _over(length(wound - spun), links.arms * scale)
    return [
        worst_of("momentum", linear, state.rounding, "m v + dt F", place),
        worst_of("angular momentum", angular, state.rounding, "r (m v + dt F)", spin_place),
        *_pistons(state, net, press),
    ]


def energy(links: Links, tolerance: float) -> tuple[list[Check], dict[str, float], list[str]]:
    """Change of kinetic energy = work - dissipation, closed to rounding; no contact gives energy.

    By m (v - v_before) v = change of m v^2/2 + m (v - v_before)^2/2, forces work along the way dt v that bodies really
    go. Dissipated is -dt R V at contacts (sliding, and gaps that close) and m (v - v_before)^2/2 in shocks. Grains of
    other shapes turn after that with L as it is: what their energy L I^-1 L/2 changes by is the work of turning.
    """
    state, dt = links.state, links.state.dt
    way = dt * state.velocity
    pistons = [(w, wall, surfaces.directions(wall)[0]) for w, wall in enumerate(state.walls) if guided(wall)]
    before = np.asarray(state.frame.wall_velocity_before, dtype=float)
    driven = np.isin(links.j, state.n + np.array([w for w, wall in enumerate(state.walls) if not guided(wall)]))
    power = dot(links.force, links.velocity) + links.attraction * links.v_n  # of contacts, attraction apart
    power = power + dot(links.torque, links.relative_spin)
    spins = np.vstack([np.zeros((state.n, 3)), *(wall.drive.spin for wall in state.walls)])
    now = kinetic_energy(state, state.velocity, state.spin, state.turning, state.wall_velocity)
    then = kinetic_energy(state, state.velocity_before, state.spin_before, state.turning_before, before)
    terms = {
        "change of kinetic energy": now
        - then
        + state.flow.kinetic(state.flow.rate)
        - state.flow.kinetic(state.flow.before),
        "work of gravity": float(((state.mass[:, None] * way) @ state.gravity).sum())
        + sum(wall.mass * float(state.gravity @ n) * dt * float(state.wall_velocity[w] @ n) for w, wall, n in pistons),
        "work of external forces": float((state.force * way).sum()),
        "work of external torques": dt * float((state.torque * state.solved_spin).sum()),
        "work of turning": 0.5 * float((state.turning * (state.spin - state.solved_spin)).sum()),
        "work of walls": -dt
        * float((dot(links.force, links.surface_velocity) + dot(links.torque, spins[links.j]))[driven].sum()),
        "work of loads": sum(wall.load * dt * float(state.wall_velocity[w] @ n) for w, wall, n in pistons),
        "work of the cell": flow.work(links) if state.flow.moves else 0.0,
        "work of attraction": -dt * float((links.attraction * links.v_n).sum()),
        "dissipated at contacts": -dt * float(power.sum()),
        "dissipated in shocks": kinetic_energy(
            state,
            state.velocity - state.velocity_before,
            state.solved_spin - state.spin_before,
            state.turning - state.turning_before,
            state.wall_velocity - before,
        )
        + state.flow.kinetic(state.flow.rate - state.flow.before),
    }
    numbers = list(terms.values())
    miss = numbers[0] - sum(numbers[1:-2]) + sum(numbers[-2:])
    speed = length(state.velocity)
    scale = (
        now
        + then
        + dt * float(((speed + state.extent * length(state.spin)) * state.weight).sum())
        + dt * float((links.size * links.speed).sum())
        + sum(abs(term) for term in numbers[1:])
    )
    closed = Check(
        "energy", EXACT, float(_over(np.array([abs(miss)]), np.array([scale]))[0]), state.rounding, "work and energies",
        1, f"the balance misses {miss:.3g} J",
    )  # fmt: skip
    created = np.maximum(links.press, 0.0) * np.maximum(-links.to_close, 0.0) / dt  # W, overlaps taken back, rebounds
    created = created + np.maximum(dot(links.r_t, links.rebound), 0.0)
    given = np.maximum(power - created - state.graininess * links.size * links.speed, 0.0)
    near = links.scale * (dt * links.scale / links.m_n + np.abs(links.v_n) + length(links.v_t))

    def place(c: int) -> str:
        return f"{state.contact(c)} gives {dt * power[c]:.3g} J to its bodies"

    notes = []
    if created.any():
        sources = ["overlaps that are taken back", "walls that bend inwards"]
        sources += ["rebounds"] if state.frame.law("Restitution_normal") is not None else []
        notes.append(f"{', '.join(sources[:-1])} or {sources[-1]} give {dt * created.sum():.3g} J")
    if not links.attraction.any():
        terms.pop("work of attraction")
    if not state.torque.any():
        terms.pop("work of external torques")
    if not terms["work of turning"]:
        terms.pop("work of turning")
    if not state.flow.moves:
        terms.pop("work of the cell")
    passive = worst_of("dissipation", _over(given, near), tolerance, "force times speed", place, SWEEPS)
    return [closed, passive], terms, notes


def _forces_on(links: Links, i: int) -> str:
    """The forces that a balance of a grain is made of, by the numbers of their contacts."""
    some = np.flatnonzero((links.i == i) | (links.j == i))
    return f"contacts {', '.join(map(str, some))}" if some.size else "external forces"


def _impulse(links: Links, press: Array) -> Array:
    """(n,) N s, the numbers that the momentum of a grain came from, added up: its own, and those of its neighbours,
    which forces of earlier sweeps may have passed on and taken back."""
    state = links.state
    near = state.speed.copy()
    np.maximum.at(near, links.i, state.speed[links.j])
    np.maximum.at(near, links.j, state.speed[links.i])
    return state.mass * (state.speed + near)[: state.n] + state.dt * (state.weight + press + links.typical)


def _pistons(state: State, net: Array, press: Array) -> list[Check]:
    miss, told = [], []
    for w, wall in enumerate(state.walls):
        if not guided(wall):
            continue
        n = surfaces.directions(wall)[0]
        before = np.asarray(state.frame.wall_velocity_before[w], dtype=float)
        gained = wall.mass * float((state.wall_velocity[w] - before) @ n)
        given = state.dt * (wall.load + wall.mass * float(state.gravity @ n) + float(net[state.n + w] @ n))
        speed = float(length(np.stack([state.wall_velocity[w], before])).sum())
        weight = abs(wall.load) + wall.mass * size(state.gravity) + press[state.n + w]
        miss.append(abs(gained - given) / max(wall.mass * speed + state.dt * weight, 1e-300))
        told.append(f"{state.wall(w)} gained {gained:.9g} N s where forces give {given:.9g} N s")
    return [worst_of("pistons", np.array(miss), state.rounding, "M v + dt F", told.__getitem__)] if miss else []


def kinetic_energy(state: State, velocity: Array, spin: Array, turning: Array, wall_velocity: Array) -> float:
    """J, of grains and pistons; turning : (n, 3) kg m^2/s, angular momenta that go with the spins."""
    pistons = sum(0.5 * wall.mass * float(v @ v) for wall, v in zip(state.walls, wall_velocity) if guided(wall))
    grains = 0.5 * state.mass @ dot(velocity, velocity) + 0.5 * float(dot(spin, turning).sum())
    return float(grains) + pistons


def _over(miss: Array, scale: Array) -> Array:
    """miss/scale, 0 where there is nothing at all."""
    return np.where(scale > 0.0, miss / np.where(scale > 0.0, scale, 1.0), np.where(miss > 0.0, np.inf, 0.0))
