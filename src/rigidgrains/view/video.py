"""A video of a trajectory: one look for all frames, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ..runtime.arguments import check_series
from ..trajectory.frame import Frame
from .camera import View
from .layout import Size
from .packing import Look

if TYPE_CHECKING:
    from ..trajectory.reader import Trajectory

PIXELS = 1280


def write_video(
    trajectory: Trajectory | Sequence[Frame], path: str | Path, *, fps: float = 25.0, every: int = 1,
    colour: str = "load", forces: bool = False, size: Size = PIXELS, view: View = "default",
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> int:  # fmt: skip
    """Write an MP4 (H.264) and return its number of frames; colour scale and view are the same in all of them.

    fps  : frames per second; every : take each so manyth frame of the trajectory
    tell : called with the frames done and their total
    The other options are those of `draw_packing`. Needs imageio-ffmpeg.
    """
    check_series(trajectory, has="__getitem__", other=" or a list of frames")
    if not len(trajectory):
        raise ValueError("there are no frames to show; give a Trajectory, or at least one of its frames")
    path = Path(path)
    if path.suffix.lower() != ".mp4":
        raise ValueError(f"{path}: a video ends in .mp4; call it so")
    if not 0.1 <= fps <= 240.0:
        raise ValueError(f"{fps:g} frames per second is out of range; give 0.1 to 240")
    if every < 1:
        raise ValueError(f"every {every} frames is no interval; give 1 or more")
    if isinstance(size, tuple):
        size = size[0] + size[0] % 2, size[1] + size[1] % 2  # H.264 halves the colours
    frames = Some(trajectory, every)
    look = Look.at(frames, colour=colour, forces=forces, size=size, view=view)
    with _writer(path, look.layout.pixels, fps) as send:
        for done, frame in enumerate(frames):
            tell(done, len(frames))
            canvas = FigureCanvasAgg(look.draw(frame))
            canvas.draw()
            send(np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[:, :, :3]))
        tell(len(frames), len(frames))
    return len(frames)


class Some(Sequence[Frame]):
    """Every so manyth frame, read anew whenever it is asked for: a long trajectory need not fit into memory."""

    def __init__(self, trajectory: Trajectory | Sequence[Frame], every: int) -> None:
        self._of, self._which = trajectory, range(0, len(trajectory), every)

    def __len__(self) -> int:
        return len(self._which)

    def __getitem__(self, k: Any) -> Any:
        return self._of[self._which[k]]


@contextmanager
def _writer(path: Path, pixels: tuple[int, int], fps: float) -> Iterator[Callable[[np.ndarray], None]]:
    """Send frames to ffmpeg; the file appears under its name when all are in it, and not otherwise."""
    try:
        from imageio_ffmpeg import write_frames
    except ImportError:
        raise ImportError("a video needs imageio-ffmpeg; pip install 'rigidgrains[view]'") from None
    part = path.with_name(f".{path.stem}.part.mp4")
    ffmpeg = None
    try:
        _touch(part, path)
        ffmpeg = write_frames(
            str(part), pixels, fps=fps, codec="libx264", macro_block_size=2, quality=None, ffmpeg_log_level="error",
            output_params=["-crf", "20", "-preset", "medium", "-movflags", "+faststart"],
        )  # fmt: skip
        ffmpeg.send(None)
        yield ffmpeg.send
        ffmpeg.close()
        os.replace(part, path)
    finally:
        if ffmpeg is not None:
            with suppress(Exception):
                ffmpeg.close()
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _touch(part: Path, path: Path) -> None:
    """A folder that cannot be written says so at once, with the name that the user knows."""
    try:
        part.touch()
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None
