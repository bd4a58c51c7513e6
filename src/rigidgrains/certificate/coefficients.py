"""Columns that laws beyond plain friction have written, against their coefficients and the state before the step."""

from __future__ import annotations

import numpy as np

from .links import Links
from .state import Array
from .verdict import Check, worst_of


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


def _apart(a: Array, b: Array) -> Array:
    """|a - b| over b, 0 for equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(a - b) / np.where(b > 0.0, b, 1.0))
