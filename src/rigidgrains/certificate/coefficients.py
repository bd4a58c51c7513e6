"""Columns that laws beyond plain friction have written, against their coefficients and the state before the step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..detect.clusters import unite
from .links import Links
from .state import Array, dot, guided, length
from .verdict import Check, worst_of


def checks(links: Links) -> list[Check]:
    """Those of the laws that the run had; none for plain friction, nor where laws are not of this package."""
    if links.state.frame.contacts.law("mu") is None or unknown(links):
        return []
    return [friction(links), *rebound(links), *cohesion(links)]


def unknown(links: Links) -> bool:
    """True if the run had a law of its own, of which only what it wrote is known."""
    return links.state.frame.law("own") is not None


def friction(links: Links) -> Check:
    """mu is the sliding or the static coefficient of its pair, unless a function of the speed gave it."""
    state, frame = links.state, links.state.frame
    sliding, static = links.of_pair(frame.friction), links.coefficient("StaticFriction_static")
    miss = np.minimum(_apart(links.mu, sliding), _apart(links.mu, sliding if static is None else static))
    if frame.law("SpeedFriction_function") is not None:
        miss = np.where(links.mu >= 0.0, 0.0, np.inf)

    def place(c: int) -> str:
        return f"{state.contact(c)}: mu = {links.mu[c]:g} where its pair has {sliding[c]:g}"

    return worst_of("friction coefficient", miss, state.rounding, "the coefficient", place)


def rebound(links: Links) -> list[Check]:
    """The velocity to be reached: that of the gap, or at most e times the one before the step, reversed.

    Where blows follow each other within the step it is the velocity after the last, which the state before does not
    tell: where a cluster was struck, its contacts are to give no energy together, and none is to close by more than it
    might without a rebound.
    """
    state, dt = links.state, links.state.dt
    e_n, e_t, least = (links.coefficient(f"Restitution_{name}") for name in ("normal", "tangential", "threshold"))
    if e_n is None or e_t is None or least is None:
        return []
    before, free = dot(links.velocity_before, links.normal), dot(links.free_velocity, links.normal)
    gap = links.gap_to_close
    slack = state.graininess * (links.speed * dt + state.coordinate[links.i] + state.coordinate[links.j])
    may = (before < 0.0) & (before <= -least + slack / dt) & (gap + dt * np.minimum(before, free) <= slack)
    full = np.where(before < 0.0, e_n * before * dt, 0.0)
    within = np.maximum(full - links.to_close, 0.0) + np.maximum(links.to_close, 0.0)
    plain = np.abs(links.to_close - np.maximum(gap, before * dt))
    miss = np.maximum(np.where(may, np.minimum(within, plain), plain) - links.may_sink(), 0.0)
    miss = miss / (slack / state.graininess)
    slip = length(links.velocity_before - before[:, None] * links.normal)
    chain = _gives_none(links, may, miss > state.rounding) & (links.to_close <= np.maximum(gap, before * dt) + slack)
    miss = np.where(chain, 0.0, miss)
    beyond = np.maximum(length(links.rebound) - np.where(may, np.abs(e_t), 0.0) * slip, 0.0) / np.maximum(
        links.speed, 1e-300
    )
    beyond = np.where(chain & (e_t != 0.0), 0.0, beyond)

    def place(c: int) -> str:
        return f"{state.contact(c)} came at {before[c]:.6g} m/s, is to reach {-links.to_close[c] / dt:.6g} m/s"

    return [
        worst_of("rebound", miss, state.rounding, "the numbers it is made of", place),
        worst_of("tangential rebound", beyond, state.rounding, "the numbers it is made of", place),
    ]


def _gives_none(links: Links, may: NDArray[np.bool_], told: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(c,) True for contacts of clusters of several that were struck, and whose forces together gave no energy.

    may : (c,) contacts that collide by the state before; told : contacts that are asked for something else than it says
    """
    state, pressed = links.state, links.press > 0.0
    gives = np.append(~state.told, [guided(wall) for wall in state.walls]).astype(np.bool_)
    pairs = np.stack([links.i, links.j], axis=1).astype(np.int32)
    label = unite(pairs, (pressed | told) & gives[links.j], len(gives))
    force = links.force + links.attraction[:, None] * links.normal
    work = dot(force, links.velocity + links.velocity_before)
    if links.torque.any():
        spun = np.vstack([state.coming[1], *(wall.drive.spin for wall in state.walls)])
        work = work + dot(links.torque, links.relative_spin + spun[links.j] - spun[links.i])
    terms = work, length(force) * links.speed, pressed | told, pressed & may
    given, scale, number, struck = (np.bincount(label[links.i], term, label.max(initial=0) + 1) for term in terms)
    passive = (given <= state.rounding * scale) & (number > 1) & (struck > 0)
    return np.asarray(passive[label[links.i]] | (passive[label[links.j]] & gives[links.j]))


def cohesion(links: Links) -> list[Check]:
    """The attraction is that of the gap, or none: not beyond the range, and always within it if it needs no bridge."""
    state = links.state
    force, reach, decay = (links.coefficient(f"Cohesion_{name}") for name in ("force", "range", "decay"))
    if force is None or reach is None or decay is None:
        return []
    full = force * np.exp(-np.maximum(links.gap, 0.0) / decay)
    noise = state.rounding * (state.coordinate[links.i] + state.coordinate[links.j])
    always = (reach > 0.0) & np.isinf(decay) & (links.gap <= reach - noise)
    never = (reach > 0.0) & (links.gap > reach + noise)
    on, off = np.abs(links.attraction - full), np.abs(links.attraction)
    miss = np.where(always, on, np.where(never, off, np.minimum(on, off))) / np.where(force > 0.0, force, 1.0)

    def place(c: int) -> str:
        return f"{state.contact(c)} attracts with {links.attraction[c]:.6g} N over a gap of {links.gap[c]:.6g} m"

    # the gap is rounded by the coordinates, so a steep attraction is rounded by more than itself
    return [worst_of("attraction", np.maximum(miss - noise / decay, 0.0), state.rounding, "the cohesion", place)]


def _apart(a: Array, b: Array) -> Array:
    """|a - b| over b, 0 for equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(a - b) / np.where(b > 0.0, b, 1.0))
