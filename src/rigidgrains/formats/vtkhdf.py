"""Trajectories of our own, as a state to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .box import cell_of
from .columns import grain_columns
from .errors import FormatError, FrameError
from .rows import NAMES
from .state import State, Which, make_state

if TYPE_CHECKING:
    from ..trajectory.frame import Frame


def read(path: Path, which: Which) -> State:
    """The grains of one frame, with gravity and time step of the run; velocities about the flow of a cell."""
    from ..trajectory.errors import TrajectoryError
    from ..trajectory.reader import Trajectory

    try:
        with Trajectory(path) as trajectory:
            index, count = -1 if which == "last" else which, len(trajectory)
            if not -count <= index < count:
                raise FrameError(path, which, count)
            frame = trajectory[index % count]
            cell, columns = cell_of(frame), grain_columns(frame)
            columns = {name: column for name, column in columns.items() if name in NAMES}
            columns |= {f"v{axis}": frame.peculiar_velocity[:, k] for k, axis in enumerate("xyz")}
            return make_state(
                path,
                columns,
                frame=frame.index,
                dimension=frame.dimension,
                box=None if cell is None else (cell.vectors, cell.origin, cell.periodic),
                gravity=frame.gravity.astype(float),
                dt=frame.dt,
                **shapes_of(frame),
            )
    except TrajectoryError as problem:
        raise FormatError(path, str(problem).removeprefix(f"{path}: ")) from None


def shapes_of(frame: Frame) -> dict[str, Any]:
    """Shapes and orientations of a frame whose grains are not all round."""
    if frame.catalogue is None or frame.shape is None or frame.catalogue.round[np.unique(frame.shape)].all():
        return {}
    turned = frame.orientation.astype(float)
    if turned.ndim == 2 and frame.orientation.dtype != turned.dtype:  # of single precision, not quite of length one
        turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return {"catalogue": frame.catalogue, "shape": frame.shape.astype(np.int32), "orientation": turned}
