"""Lit spheres without a graphics card: an orthographic ray-caster with a depth buffer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel

Array = NDArray[np.float64]

# Rows: right, up, towards the eye; the eye looks down at 20 degrees.
VIEW = np.array([[0.819152, 0.573576, 0.0], [-0.196175, 0.280166, 0.939693], [0.538986, -0.769751, 0.342020]])
LIGHT = np.array([-0.35, 0.65, 0.675])


def cast_spheres(position: Array, radius: Array, colour: Array, low: Array, high: Array, pixels: int) -> Array:
    """An RGBA image (rows from the top) of spheres seen along VIEW, clear where there is none.

    colour : (n, 3) RGB of each sphere; low, high : corners of the view (m); pixels : length of the longer side
    """
    step = float(max(high - low)) / pixels
    width, height = (max(1, math.ceil(side / step)) for side in high - low)
    image = np.zeros((height, width, 4))
    depth = np.full((height, width), -np.inf)
    _cast(position @ VIEW.T, radius, colour, low, step, LIGHT / np.linalg.norm(LIGHT), image, depth)
    return image[::-1]


@kernel
def _cast(centre, radius, colour, low, step, light, image, depth):  # type: ignore[no-untyped-def]
    """Fill the pixels of each sphere that nothing nearer hides, shaded by the light."""
    height, width = depth.shape
    for i in range(radius.size):
        x, y, z, r = centre[i, 0], centre[i, 1], centre[i, 2], radius[i]
        for row in range(max(0, int((y - r - low[1]) / step)), min(height, int((y + r - low[1]) / step) + 1)):
            b = (low[1] + (row + 0.5) * step - y) / r
            for column in range(max(0, int((x - r - low[0]) / step)), min(width, int((x + r - low[0]) / step) + 1)):
                a = (low[0] + (column + 0.5) * step - x) / r
                c = 1.0 - a * a - b * b
                if c <= 0.0:
                    continue
                c = math.sqrt(c)
                if z + c * r <= depth[row, column]:
                    continue
                depth[row, column] = z + c * r
                shine = max(0.0, a * light[0] + b * light[1] + c * light[2])
                tone = (0.45 + 0.55 * shine) * (0.55 + 0.45 * min(1.0, 2.5 * c))  # dark rims part the spheres
                for k in range(3):
                    image[row, column, k] = min(1.0, tone * colour[i, k] + 0.15 * shine**24)
                image[row, column, 3] = 1.0
