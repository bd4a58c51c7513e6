"""Pictures of flat packings for the figures of `reproduce`: grains, walls, and forces as lines of their width."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..model.bodies import Bodies
from ..model.columns import GAP

Array = NDArray[np.float64]

STRONG = 0.995  # of the forces are drawn below the widest line


def draw_grains(panel: Any, bodies: Bodies, *, face: Any = "#e9edf2", edge: str = "#9aa7b5", **style: Any) -> Any:
    """Disks at their true size, on axes of equal scale."""
    size = 2.0 * bodies.radius
    disks = EllipseCollection(
        size, size, np.zeros(len(size)), units="xy", offsets=bodies.position[:, :2],
        offset_transform=panel.transData, facecolors=face, edgecolors=edge, linewidths=0.4, zorder=1, **style,
    )  # fmt: skip
    panel.add_collection(disks)
    panel.set_aspect("equal")
    panel.grid(visible=False)
    return disks


def draw_forces(
    panel: Any, bodies: Bodies, contacts: Contacts, force: Array, *, widest: float = 4.0, **style: Any
) -> float:
    """A line through each contact, from centre to centre, as wide as its force (c,); returns that of the widest."""
    some = np.flatnonzero(force > 0.0)
    i, j = contacts.pairs[some].T
    begin = bodies.position[i, :2]
    reach = bodies.radius[i] + contacts.geometry[some, GAP]
    reach += np.where(j < bodies.count, bodies.radius[np.minimum(j, bodies.count - 1)], 0.0)
    end = begin + reach[:, None] * contacts.normal[some, :2]
    strong = float(np.quantile(force[some], STRONG))
    lines = LineCollection(
        list(np.stack([begin, end], axis=1)), linewidths=widest * np.minimum(force[some] / strong, 1.3), zorder=3,
        capstyle="round", **style,
    )  # fmt: skip
    panel.add_collection(lines)
    return strong
