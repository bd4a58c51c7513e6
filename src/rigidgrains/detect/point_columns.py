"""Contact points as the narrow phase of grains of any shape finds them: columns, and what tells them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import inside
from ..shapes.clip import FEATURE
from ..shapes.flat_manifold import SPAN

# Columns of `found`: place from the centre of body 0, half-way between the surfaces (m); n; gap (m); whether n turns
# along with body 0, as that of a side of it, and with body 1 (1 or 0)
FOUND_X, FOUND_Y, FOUND_Z, FOUND_N_X, FOUND_N_Y, FOUND_N_Z, FOUND_GAP, WITH_0, WITH_1 = range(9)
FOUND = 9
FOUND_POINT, FOUND_N = slice(FOUND_X, FOUND_Z + 1), slice(FOUND_N_X, FOUND_N_Z + 1)

# Columns of `rows` of points near walls: vertex from the centre of the grain (m), its rounding (m), gap (m), n towards
# the wall, velocity of the surface (m/s), sink (m), see wall_points.py
AT_X, AT_Y, AT_Z, AT_RADIUS, AT_GAP, AT_N_X, AT_N_Y, AT_N_Z, AT_V_X, AT_V_Y, AT_V_Z, AT_SINK = range(12)
AT = 12
AT_LEVER, AT_N, AT_V = slice(AT_X, AT_Z + 1), slice(AT_N_X, AT_N_Z + 1), slice(AT_V_X, AT_V_Z + 1)

PARTS = 128  # a shape has at most so many parts
WITHIN = 1 << 48  # features of two parts are smaller


@inside
def feature_of(part_a, part_b, within):
    """What a point is called among all points of two grains: the parts that meet, and the point's name among theirs."""
    return (part_a * PARTS + part_b) * WITHIN + within


def swapped(features: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """The names of the same points when bodies 0 and 1 change places."""
    parts, within, half = features // WITHIN, features % WITHIN, SPAN if dimension == 2 else FEATURE
    turned = (parts % PARTS) * PARTS + parts // PARTS
    return np.asarray(turned * WITHIN + (within % half) * half + within // half)
