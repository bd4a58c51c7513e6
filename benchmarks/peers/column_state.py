"""What a worker of another Python needs of the column: a .npz file."""

import numpy as np


def load(path: str) -> dict:
    """position (n, 3), radius (n,), width, height, time."""
    given = np.load(path)
    return {name: given[name] if given[name].ndim else float(given[name]) for name in given.files}
