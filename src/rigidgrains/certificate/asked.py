"""What a step was asked, where laws that sweeps approach are not met to the tolerance: is it what the frame says?

A frame stores what its step was asked and whether that was met, carried over to the next step, or not asked at all.
What was met is measured here again, from the state.
"""

from __future__ import annotations

import math

import numpy as np

from .laws import NaturalMap, residual
from .links import Links
from .state import Array, dot, length
from .verdict import ASKED, Check

EXCESS = {8: 1.0 + 1e-6, 4: 2.0}  # of what was asked, that is accepted, by bytes of a stored number
UNMET = "sweeps ended before it was met"


def check(links: Links, miss: NaturalMap) -> tuple[list[Check], str]:
    """The check of what was asked, if it was to be met, and a note on it."""
    figures = links.state.frame.figures
    when = "at rest" if figures.get("still") else "in motion"
    if figures.get("carried"):
        return [], f"{when}: what its sweeps have left was carried over to the next step"
    if math.isnan(converged := figures.get("converged", math.nan)):
        return [], "nothing was asked of its forces: sweeps were given"
    if not converged:
        return [Check("asked", ASKED, math.inf, 1.0, "what was asked", 1, UNMET)], ""
    allowed = {name: figures.get(f"asked_{name}", math.inf) for name in TOLD}
    found = {name: measure(links, miss, name) / most for name, most in allowed.items() if 0.0 < most < math.inf}
    if "power" in found:  # it may stand in place of residual and contact
        strict = {name: found.pop(name) for name in ("residual", "contact") if name in found}
        found["power"] = min(found["power"], max(strict.values(), default=math.inf))
    if not found:
        return [], "what its criterion asked cannot be measured on a frame"
    worst = max(found, key=lambda name: found[name])
    told = f"{TOLD[worst]} {found[worst] * allowed[worst]:.3g}, asked {allowed[worst]:g}"
    excess = EXCESS[4 if links.state.single else 8]
    return [Check("asked", ASKED, found[worst], excess, "what was asked", 1, told)], f"{when}: {told}"


TOLD = {
    "power": "wrong power over that of friction",
    "residual": "residual",
    "contact": "what a contact misses its force by",
    "overlap": "overlap by what is missing, mean radii",
}


def measure(links: Links, miss: NaturalMap, name: str) -> float:
    """What criteria look at, by name."""
    if name == "power":
        return _power_share(links)
    if name == "residual":
        return residual(links, miss)
    if name == "contact":
        return float((miss.size / np.where(links.scale > 0.0, links.scale, 1.0)).max(initial=0.0))
    way = miss.normal * links.state.dt**2 / links.m_n
    return float(way.mean() / links.state.radius.mean()) if len(links) else 0.0


def _power_share(links: Links) -> float:
    """The power of forces that should have none, the larger of the sums with one sign, over that of friction."""
    slip = links.v_t - links.rebound
    rubs = _power(links.mu, links.press, length(slip))
    terms = [links.press * (links.v_n + links.to_close / links.state.dt), rubs + dot(links.r_t, slip)]
    slid = float(rubs.sum())
    rolling, twisting = (links.coefficient(f"Rolling_{name}") for name in ("rolling", "twisting"))
    if rolling is not None and twisting is not None:
        spin, torque = links.relative_spin, links.torque
        about, turns = dot(spin, links.normal), dot(torque, links.normal)
        rolls = _power(rolling, links.press, length(spin - about[:, None] * links.normal))
        twists = _power(twisting, links.press, np.abs(about))
        terms += [twists + turns * about, rolls + dot(torque, spin) - turns * about]
        slid += float((rolls + twists).sum())
    lost, gained = (sum(float(np.maximum(sign * term, 0.0).sum()) for term in terms) for sign in (-1.0, 1.0))
    return max(lost, gained) / slid if slid > 0.0 else math.inf


def _power(coefficient: Array, press: Array, speed: Array) -> Array:
    """(c,) W, mu R_n times a speed; none where the coefficient is infinite and nothing slides."""
    return np.where(np.isfinite(coefficient), coefficient, 0.0) * press * speed
