"""Trajectories of our own, as a state to start from."""

from __future__ import annotations

from pathlib import Path

from .columns import grain_columns
from .errors import FormatError, FrameError
from .state import State, Which, make_state


def read(path: Path, which: Which) -> State:
    """The grains of one frame, with gravity and time step of the run."""
    from ..trajectory.errors import TrajectoryError
    from ..trajectory.reader import Trajectory

    try:
        with Trajectory(path) as trajectory:
            index, count = -1 if which == "last" else which, len(trajectory)
            if not -count <= index < count:
                raise FrameError(path, which, count)
            frame = trajectory[index % count]
            return make_state(
                path,
                grain_columns(frame),
                frame=frame.index,
                dimension=frame.dimension,
                gravity=frame.gravity.astype(float),
                dt=frame.dt,
            )
    except TrajectoryError as problem:
        raise FormatError(path, str(problem).removeprefix(f"{path}: ")) from None
