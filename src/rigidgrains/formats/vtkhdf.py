"""Trajectories of our own: as a state to start from, and thinned out from that of a large run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import goes_with_contacts
from ..model.given import GivenForces
from ..trajectory.entry import Entry
from ..trajectory.record import is_chosen
from ..trajectory.single import write_frames
from ..trajectory.store import contacts_link
from ..trajectory.texts import PACKING
from ..trajectory.wall_table import describe
from .box import cell_of
from .columns import grain_columns
from .errors import FormatError, FrameError
from .rows import NAMES
from .state import Given, State, Which, make_state

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job


TEXTS = ("scene", "run", "report", "species", "shapes", PACKING)


def write(job: Job) -> None:
    """Frames with chosen arrays, with or without contacts, and the whole history; a run is not resumed from it.

    A certificate needs all arrays, so that chosen ones go without contacts.
    """
    trajectory, contacts = job.trajectory, job.has_contacts and job.fields is None
    history = trajectory.history
    write_frames(
        job.main,
        (_entry(job, index, contacts) for index in _told(job)),
        dimension=trajectory.dimension,
        columns=[name for name in history if name != "wall_force"],
        wall_names=trajectory.wall_names,
        texts={name: text for name in TEXTS if (text := trajectory.text(name))},
        seed=trajectory.seed,
        history=history,
        compression="gzip" if job.compress else None,
    )
    if contacts:
        job.draft.path(contacts_link(job.target))


def _told(job: Job) -> Iterator[int]:
    for done, index in enumerate(job.chosen):
        yield index
        if job.tell is not None:
            job.tell(done + 1, len(job.chosen))


def _entry(job: Job, index: int, contacts: bool) -> Entry:
    """A frame as the file has it, without what is left out."""
    clouds, frame = job.trajectory.clouds(index), job.trajectory[index]
    grains = clouds["VTKHDF"]
    for arrays in (grains.data, grains.once):
        for name in list(arrays):
            if not is_chosen(name, job.fields, frame.catalogue) or (goes_with_contacts(name) and not contacts):
                del arrays[name]
    kept = clouds if contacts else {"VTKHDF": grains}
    for cloud in kept.values():
        cloud.precision = np.float32 if job.single else None
    return Entry(kept, describe(frame.walls))


def read(path: Path, which: Which, given: Given) -> State:
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
                scalars={name: values.astype(float) for name, values in frame.scalars.items()},
                **shapes_of(frame),
                **groups_of(frame),
                forces=forces_of(frame),
                given=given,
            )
    except TrajectoryError as problem:
        raise FormatError(path, str(problem).removeprefix(f"{path}: ")) from None


def groups_of(frame: Frame) -> dict[str, Any]:
    """Names of groups and materials, and the numbers of each grain's among them; friction."""
    words: dict[str, Any] = {}
    if frame.group is not None and frame.names.groups:
        words |= {"groups": tuple(frame.names.groups), "group": np.array(frame.group)}
    names = frame.names.materials
    if len(names) == len(frame.friction):
        words |= {"materials": tuple(names), "material": np.array(frame.material), "friction": np.array(frame.friction)}
    return words


def forces_of(frame: Frame) -> GivenForces | None:
    """Forces of the step that led to the frame, for a run to begin with; None without any."""
    if not frame.has_contacts or not frame.whole:
        return None
    contacts, n = frame.contacts, len(frame)
    total = contacts.force.astype(float)
    some = np.flatnonzero(total.any(axis=1))
    normal, total, pair = contacts.normal.astype(float)[some], total[some], contacts.pair[some].astype(np.int64)
    r_n = (normal * total).sum(axis=1)
    force = np.column_stack([r_n, total - r_n[:, None] * normal])
    if (pulls := contacts.law("attraction")) is not None:
        force[:, 0] += pulls[some]
    ids = np.stack([frame.id[pair[:, 0]], np.where(pair[:, 1] < n, 0, n - 1 - pair[:, 1])], axis=1)
    between = pair[:, 1] < n
    ids[between, 1] = frame.id[pair[between, 1]]
    words: dict[str, Any] = {"walls": tuple(wall.name for wall in frame.walls)}
    image = np.zeros((len(some), 3), np.int64) if contacts.image is None else contacts.image[some].astype(np.int64)
    if frame.cell is not None:
        words["vectors"] = np.array(frame.cell, dtype=float)
    if contacts.feature is not None:
        half = 0.5 * contacts.gap[some, None] * normal
        lever = contacts.point[some] - frame.position[pair[:, 0]] - half
        words |= {"feature": contacts.feature[some].astype(np.int64), "lever": lever.astype(float)}
    return GivenForces(ids, force, image=image, **words)


def shapes_of(frame: Frame) -> dict[str, Any]:
    """Shapes and orientations of a frame whose grains are not all round."""
    if frame.catalogue is None or frame.shape is None or frame.catalogue.round[np.unique(frame.shape)].all():
        return {}
    turned = frame.orientation.astype(float)
    if turned.ndim == 2 and frame.orientation.dtype != turned.dtype:  # of single precision, not quite of length one
        turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return {"catalogue": frame.catalogue, "shape": frame.shape.astype(np.int32), "orientation": turned}
