"""Go on from the last checkpoint of a file, as if the run had never stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import checkpoint, store
from .errors import TrajectoryError

if TYPE_CHECKING:
    from ..simulation import Simulation
    from ..solve.sweeps import Sweeps


def resume(path: str | Path, *, solver: Sweeps | None = None) -> Simulation:
    """The simulation at the last checkpoint of a trajectory, to the bit.

    solver : replaces the one of the file; needed if that was a class of your own

    >>> simulation = rg.resume("run.vtkhdf")
    >>> simulation.observe(rg.TrajectoryWriter("run.vtkhdf", resume=True), every=50)
    >>> simulation.run(until=1.0)
    """
    with store.open_to_read(Path(path)) as file:
        if "checkpoint" not in file:
            raise TrajectoryError(f"{path}: there is no checkpoint to resume from; run again with --checkpoint-every")
        group = file["checkpoint"]
        arrays: dict[str, Any] = {name: np.array(group[name]) for name in group if name != "text"}
        return checkpoint.unpack(arrays, store.get_text(group, "text"), solver=solver)
