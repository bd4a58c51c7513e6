"""Stored figures against what the state gives: energies, loads, forces on walls, counts."""

from __future__ import annotations

import numpy as np

from ..trajectory.record import OPEN
from . import surfaces
from .balance import kinetic_energy, scatter
from .laws import NaturalMap, residual, residual_magnitude
from .links import Links
from .state import Array, State, guided, length
from .verdict import Check, worst_of


class Comparison:
    """Stored and recomputed numbers side by side, each with the magnitude of what it is made of."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.miss: list[float] = []
        self.told: list[str] = []

    def add(self, name: str, stored: float, found: float, magnitude: float) -> None:
        magnitude = magnitude if magnitude > 0.0 else 1.0
        self.miss.append(abs(stored - found) / magnitude if np.isfinite(stored) else np.inf)
        self.told.append(f"{name} is stored as {stored:.9g}, recomputed {found:.9g}")

    def check(self) -> Check:
        return worst_of(
            "figures", np.array(self.miss), self.state.rounding, "the numbers they are made of", self.told.__getitem__
        )


def of_state(compare: Comparison) -> None:
    """Energies."""
    state, figures = compare.state, compare.state.frame.figures
    kinetic = kinetic_energy(state, state.velocity, state.spin, state.turning, state.wall_velocity)
    pulls = [state.mass[:, None] * state.gravity, state.force]
    if state.frame.spring_force is not None:  # springs have an energy of their own
        pulls.append(-np.asarray(state.frame.spring_force, dtype=float))
    for name in ("user_force", "guide_force"):  # that have none
        if (part := state.frame.column(name)) is not None:
            pulls.append(-np.asarray(part, dtype=float))
    potential = -float((sum(pulls) * state.unwrapped).sum())
    magnitude = sum(float(np.abs(pull * state.unwrapped).sum()) for pull in pulls)  # they may cancel
    for wall in state.walls:
        if guided(wall):
            n, point = surfaces.directions(wall)[0], wall.shape.point
            along = wall.mass * (state.gravity @ n) + wall.load
            potential -= float(along * (point @ n))
            magnitude += float(abs(along) * np.abs(point * n).sum())
    compare.add("kinetic_energy (J)", figures["kinetic_energy"], kinetic, kinetic)
    compare.add("potential_energy (J)", figures["potential_energy"], potential, magnitude)


def of_contacts(compare: Comparison, links: Links, miss: NaturalMap) -> None:
    """Loads and contact numbers of grains, forces on walls, mean force, residual, overlaps."""
    state, frame, figures = links.state, links.state.frame, links.state.frame.figures
    carries = frame.contacts.status != OPEN if links.attraction.any() else links.size > 0.0
    rows = np.stack([links.r_n, links.magnitude, carries], axis=1)
    load, press, number = scatter(links, rows, rows)[: state.n].T
    if state.n:
        i = int(np.argmax(np.abs(frame.load - load) / np.where(press > 0.0, press, 1.0)))
        compare.add(f"load of {state.grain(i)} (N)", float(frame.load[i]), load[i], press[i])
        i = int(np.argmax(np.abs(frame.contact_number - number)))
        compare.add(f"contact_number of {state.grain(i)}", float(frame.contact_number[i]), number[i], 1.0)
    for w, some in links.at_wall:
        net, press_on = links.force[some].sum(axis=0), float(links.size[some].sum())
        for k, axis in enumerate("xyz"):
            compare.add(
                f"{axis} of the force on {state.wall(w)} (N)", float(frame.wall_force[w, k]), float(net[k]), press_on
            )
    compare.add("contacts", figures["contacts"], float(carries.sum()), 1.0)
    if len(links):
        compare.add("mean_force (N)", figures["mean_force"], float(links.solved.mean()), float(links.magnitude.mean()))
    rest = residual(links, miss)
    compare.add("residual", figures["residual"], rest, rest + residual_magnitude(links))
    if not state.n:
        return
    if state.shapes is not None:
        return
    depth = np.maximum(-gaps_now(links)[carries], 0.0) / state.radius.mean()
    some = (state.coordinate[links.i] + state.coordinate[links.j])[carries] / state.radius.mean()
    if depth.size:
        compare.add("mean_overlap (mean radii)", figures["mean_overlap"], float(depth.mean()), float(some.mean()))
        compare.add("max_overlap (mean radii)", figures["max_overlap"], float(depth.max()), float(some.max()))


def gaps_now(links: Links) -> Array:
    """(c,) m, gaps of the listed pairs at the end of the step."""
    state, gap = links.state, np.empty(len(links))
    some = links.between_grains
    i, j = links.i[some], links.j[some]
    apart = state.position[j] + links.shift[some] - state.position[i]
    gap[some] = length(apart) - state.radius[i] - state.radius[j]
    for w, some in links.at_wall:
        i = links.i[some]
        gap[some], _, _ = surfaces.gaps(state.walls[w], state.position[i], state.radius[i])
    return gap
