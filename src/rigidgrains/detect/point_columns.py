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
