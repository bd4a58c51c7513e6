"""Kinds of contact: what the loops over contacts are given, as point functions for one contact or several in lanes.

    friction : between bodies, and no more
    cell     : in a cell that deforms; its velocity gradient L adds branch * L n to V, forces change L where it is free
    torque   : contacts that resist rolling and twisting or rebound sideways, in a cell that deforms or not
    lever    : of grains of any shape, with a lever to each contact; flat_lever : the same in 2D

What varies from kind to kind:

    read_extra, read_extras   : the columns that a contact has beyond its geometry; of one contact, of several
    ask_extra   : to bring them into the cache
    read_force, read_forces, write_force : R_n, R_t (3), and Q (3) with torques
    velocity(a, b, contact, extra, cell) : V_n and V_t (3), less what is to be reached
    collide     : velocity, law, push, and again for the torque: bodies and forces after them
    settle      : the same for a contact alone; are_strong : whether some contacts must not be taken in lanes
    moved       : with levers, m_t times V_t that a unit impulse along n adds; is_strong : whether that is much
    asked       : the forces alone, all from the same velocities
    push(a, b, contact, extra, p) : both bodies after an impulse
    drag(cell, contact, extra, p) : the cell after an impulse
    impulse, minus, scaled, shifted, square, dot : arithmetic over the components of a force
    power       : terms of the momentum error, see virtual_power.py
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...runtime.compiled import inlined, inside, specialise
from . import cell, flat_lever, friction, lever, torque

ROLES = (
    "read_extra", "read_extras", "ask_extra", "read_force", "read_forces", "write_force", "velocity", "push",
    "push_for", "drag", "impulse", "minus", "scaled", "shifted", "square", "dot", "moved", "is_strong", "are_strong",
)  # fmt: skip
COMPOSED = "over_mass", "force_power", "power", "collide", "asked", "settle"  # they call the others, by these names
CALLED = "after", "strong_force"  # so do these, but rarely: a call is good enough


@dataclass(frozen=True, eq=False)  # one of each: they are looked up in every call of a loop
class Kind:
    """A kind of contact: the module of its point functions; those that it does not have are those of plain friction."""

    module: ModuleType

    @property
    def name(self) -> str:
        return self.module.__name__.rpartition(".")[2]

    def given(self) -> dict[str, Any]:
        """The functions by the names that loops have for them."""
        own: dict[str, Any] = {
            role: getattr(self.module, role, getattr(friction, role, None)) for role in (*ROLES, *CALLED, *COMPOSED)
        }
        for text in CALLED:
            if own[text] is not None:
                own[text] = specialise(own[text].py_func, self.name, own, inside)
        for text in COMPOSED:
            own[text] = specialise(own[text].py_func, self.name, own, inlined)
        return own


FRICTION, CELL, TORQUE = Kind(friction), Kind(cell), Kind(torque)
LEVER, FLAT_LEVER = Kind(lever), Kind(flat_lever)
