"""Signorini's and Coulomb's conditions, contact by contact.

The cone, |R_t| <= mu R_n with R_n >= 0, holds to rounding whatever the sweeps. What links forces to velocities holds
to the accuracy of the sweeps, and is measured by the natural map: how much R would change if its contact were solved
alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..trajectory.record import OPEN, SLIDES, SLIDING, STICKING
from .links import Links
from .state import Array, dot, length, size
from .verdict import SWEEPS, Check, worst_of

STATUS = {OPEN: "open", STICKING: "sticking", SLIDING: "sliding"}


def cone(links: Links) -> list[Check]:
    """R_n >= 0; |R_t| <= mu R_n; the stored status is the one of the force."""
    state = links.state
    r_t, limit = length(links.r_t), _limit(links.mu, links.press)
    near = np.where(links.magnitude > 0.0, links.magnitude, 1.0)

    def place(c: int) -> str:
        status = STATUS.get(int(state.frame.contacts.status[c]), "unknown")
        return f"{state.contact(c)}: R_n = {links.r_n[c]:.6g} N, |R_t| = {r_t[c]:.6g} N, mu = {links.mu[c]:g}, {status}"

    numbers = "the numbers the force is made of"
    return [
        worst_of("normal force", np.maximum(-links.press, 0.0) / near, state.rounding, numbers, place),
        worst_of("coulomb cone", np.maximum(r_t - limit, 0.0) / near, state.rounding, numbers, place),
        *_torque_cone(links, near),
        worst_of("status", _wrong_status(links, r_t, limit) / near, state.rounding, numbers, place),
    ]


@dataclass
class NaturalMap:
    """|R - R'| of each contact (N), normal and tangential part apart; R' is what its shock law asks for.

    turning : the same of the torque, over the lever of the contact
    """

    normal: Array
    tangential: Array
    turning: Array

    @classmethod
    def of(cls, links: Links) -> NaturalMap:
        """Eq. (sphere-shock): R' = -(m/dt) (g/dt + U) = R - (m/dt) (g/dt + V), cut to the cone."""
        dt = links.state.dt
        # R' is R where the gap closes, Eq. (gapcloses), and nothing slides, Eq. (stickingcondition). Both parts have
        # masses of their own, Eq. (MinvR).
        r_n = np.maximum(links.press - links.m_n / dt * (links.v_n + links.to_close / dt), 0.0)
        slip = links.v_t - links.rebound + dt * (r_n - links.press)[:, None] * links.moved
        r_t = links.r_t - (links.m_t / dt)[:, None] * slip
        size, limit = length(r_t), _limit(links.mu, r_n)
        cut = np.where(size > limit, limit / np.where(size > 0.0, size, 1.0), 1.0)
        asked = _resistance(links, links.torque - (links.inertia / dt)[:, None] * links.relative_spin, r_n)
        turning = length(links.torque - asked) / links.lever
        return cls(np.abs(links.press - r_n), length(links.r_t - cut[:, None] * r_t), turning)

    @property
    def size(self) -> Array:
        return np.hypot(np.hypot(self.normal, self.tangential), self.turning)


def settled(links: Links, miss: NaturalMap, tolerance: float) -> list[Check]:
    """What sweeps approach: no approach through a contact and no force at a distance; stick, or slide against R_t."""
    state = links.state
    noise = state.graininess * links.magnitude
    scale = np.where(links.scale > 0.0, links.scale, 1.0)

    def place(c: int) -> str:
        return (
            f"{state.contact(c)}: R_n = {links.r_n[c]:.6g} N, |R_t| = {size(links.r_t[c]):.6g} N, "
            f"gap to close {links.to_close[c]:.3g} m, V_n = {links.v_n[c]:.3g} m/s, "
            f"|V_t| = {size(links.v_t[c]):.3g} m/s, misses its force by {miss.size[c]:.3g} N"
        )

    force = "the force |R| + <|R|>"
    normal, tangential = (np.maximum(part - noise, 0.0) / scale for part in (miss.normal, miss.tangential))
    whole = max(0.0, residual(links, miss) - state.graininess * residual_magnitude(links))
    turning = np.maximum(miss.turning - noise, 0.0) / scale
    resists = state.frame.law("Rolling_rolling") is not None
    return [
        worst_of("signorini", normal, tolerance, force, place, SWEEPS),
        worst_of("friction", tangential, tolerance, force, place, SWEEPS),
        *([worst_of("rolling", turning, tolerance, force, place, SWEEPS)] if resists else []),
        Check("residual", SWEEPS, whole, tolerance, "all forces, root mean square"),
    ]


def residual(links: Links, miss: NaturalMap) -> float:
    """sqrt(sum |R - R'|^2)/sqrt(sum |R|^2); without any force 1 where one is needed, 0 where none is."""
    lost, force = _norm(miss.size), _norm(links.resisted)
    return lost / force if force > 0.0 else float(lost > 0.0)


def residual_magnitude(links: Links) -> float:
    """The numbers that the residual is made of, added up: rounding is relative to this."""
    force = _norm(links.resisted)
    return _norm(links.magnitude) / force if force > 0.0 else 0.0


def doubt(links: Links) -> Array:
    """(c,) how far rounding of the stored numbers may hide a violation, relative to the force.

    None where a contact without force opens, beyond all rounding.
    """
    noise = links.state.graininess * links.magnitude
    leaves = links.m_n / links.state.dt * (links.v_n + links.to_close / links.state.dt)
    share = noise / np.where(links.scale > 0.0, links.scale, np.finfo(float).tiny)
    return np.where((_nothing(links)) & (leaves > noise), 0.0, share)


def _resistance(links: Links, torque: Array, press: Array) -> Array:
    """(c, 3) N m, a torque cut to what rolling and twisting friction allow under a press (c,)."""
    mu_r, mu_t = (links.coefficient(f"Rolling_{name}") for name in ("rolling", "twisting"))
    if mu_r is None or mu_t is None:
        return np.zeros_like(torque)
    twist = dot(torque, links.normal)
    roll = torque - twist[:, None] * links.normal
    size, most = length(roll), _limit(mu_t, press)
    cut = np.minimum(1.0, _limit(mu_r, press) / np.where(size > 0.0, size, 1.0))
    return np.asarray(cut[:, None] * roll + np.clip(twist, -most, most)[:, None] * links.normal)


def _torque_cone(links: Links, near: Array) -> list[Check]:
    """|T_t| <= mu_r N and |T_n| <= mu_t N."""
    if links.state.frame.contacts.law("torque") is None:
        return []
    beyond = length(links.torque - _resistance(links, links.torque, links.press)) / links.lever

    def place(c: int) -> str:
        return f"{links.state.contact(c)}: torque {links.torque[c]} N m, pressed with {links.press[c]:.6g} N"

    return [worst_of("torque", beyond / near, links.state.rounding, "the numbers the force is made of", place)]


def _nothing(links: Links) -> NDArray[np.bool_]:
    """(c,) True where sweeps have found no force, up to the rounding of an attraction."""
    return np.asarray(links.solved <= 1e-12 * links.attraction)


def _limit(mu: Array, r_n: Array) -> Array:
    """mu R_n, without 0 times infinity."""
    return np.where(r_n > 0.0, mu * np.where(r_n > 0.0, r_n, 1.0), 0.0)


def _wrong_status(links: Links, r_t: Array, limit: Array) -> Array:
    """(c,) N, by how much the force would have to differ for its status to be right; infinite for unknown ones."""
    status = links.state.frame.contacts.status
    slides = np.where(np.isfinite(limit), SLIDES * limit, math.inf)
    some = (links.size > 0.0) | (links.attraction > 0.0)
    by_status = {
        OPEN: links.solved,
        STICKING: np.where(some, np.maximum(r_t - slides, 0.0), np.inf),
        SLIDING: np.where(some, np.maximum(slides - r_t, 0.0), np.inf),
    }
    wrong = np.full(len(links), np.inf)
    for code, miss in by_status.items():
        wrong = np.where(status == code, miss, wrong)
    return wrong


def _norm(numbers: Array) -> float:
    most = float(numbers.max(initial=0.0))
    return most * float(np.sqrt(((numbers / most) ** 2).sum())) if 0.0 < most < math.inf else most
