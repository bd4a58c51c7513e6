"""Where the eye is: a parallel projection, so that a scale bar holds in the whole picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

VIEWS = {"default": (-55.0, 20.0), "front": (-90.0, 0.0), "side": (0.0, 0.0), "top": (-90.0, 90.0)}
View = tuple[float, float] | str


@dataclass(frozen=True)
class Camera:
    """rows : (3, 3) unit vectors to the right, upwards and towards the eye."""

    rows: Array

    @classmethod
    def looking(cls, view: View = "default", gravity: Array | None = None) -> Camera:
        """From an azimuth and an elevation in degrees, or a name of VIEWS; upwards is against gravity.

        With z upwards the azimuth is that of the eye, counted from the x axis towards the y axis.
        """
        azimuth, elevation = (math.radians(angle) for angle in read_view(view))
        axes = _axes(gravity)
        right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0]) @ axes
        level = np.array([math.cos(azimuth), math.sin(azimuth), 0.0]) @ axes
        eye = math.cos(elevation) * level + math.sin(elevation) * axes[2]
        return cls(np.array([right, np.cross(eye, right), eye]))

    def project(self, points: Array) -> Array:
        """(n, 3) right, up, towards the eye (m)."""
        return np.asarray(points, float) @ self.rows.T


def read_view(view: View) -> tuple[float, float]:
    """Azimuth and elevation in degrees, from numbers, a name or a text such as "-55,20"."""
    if isinstance(view, str):
        if view in VIEWS:
            return VIEWS[view]
        try:
            azimuth, elevation = (float(word) for word in view.split(","))
        except ValueError:
            raise ValueError(
                f"view {view!r} is unknown; give azimuth,elevation in degrees, such as -55,20, or {', '.join(VIEWS)}"
            ) from None
    else:
        azimuth, elevation = view
    if not (math.isfinite(azimuth) and -90.0 <= elevation <= 90.0):
        raise ValueError(f"view {azimuth:g},{elevation:g} is out of range; an elevation is -90 (below) to 90 (above)")
    return azimuth, elevation


def _axes(gravity: Array | None) -> Array:
    """(3, 3) two level axes and the upward one: the axis closest to the direction against gravity."""
    if gravity is None or not np.any(gravity):
        return np.eye(3)
    k = int(np.argmax(np.abs(gravity)))
    axes = np.roll(np.eye(3), -(k + 1), axis=0)  # cyclic: y, z, x for k = 0
    if gravity[k] > 0.0:
        axes[1:] *= -1.0
    return axes
