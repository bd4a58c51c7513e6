"""Writes a run to its file, frame by frame: each is there whole, or not at all."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..model.arrays import grains_in_frames, unknown_fields
from ..observe.history import History
from ..runtime.arguments import is_number
from ..simulation.columns import columns
from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import Observer
from . import checkpoint, checksums, layout, record, shape_table, species_table, store, wall_table
from .append import Appender
from .atomic import AtomicFile
from .entry import Array, Entry, unpack
from .errors import FileLost, Mismatch, TrajectoryError, WriteError, damaged, reading
from .series import Cloud
from .texts import put_text, replace
from .whereabouts import other_places

if TYPE_CHECKING:
    from ..model.bodies import Bodies
    from ..simulation.simulation import Simulation

SECONDS = 1.0  # that a frame is in the log at most before later ones are written
SMALL, LOGGED = 1 << 19, 1 << 22  # bytes of a frame that goes to the log at first, and of all that wait there


class TrajectoryWriter(Observer):
    """Writes frames to a VTKHDF file; observe a simulation with it after every so many steps.

    Small frames that follow each other quickly are logged behind the end of the file, where `Trajectory` finds them,
    and go to their places together: of 140 data sets each grows by many rows at once.

    path        : file to write, NAME.vtkhdf
    contacts    : False leaves out contacts and the velocities before each step
    fields      : names of the arrays of grains to write beside those that hardly change (radii, ids, groups, ...) and
                  scalars, ("velocity", "load") for instance; None for all. Chosen arrays go without contacts
    precision   : "double", or "single" for files half as large; checkpoints are always exact
    compression : None, or "gzip" for a smaller file at some cost
    force       : overwrite a file that is there
    resume      : go on with a file; frames that it has already are checked, not written again, and one that was written
                  only because the run was interrupted is taken out
    history     : a History whose rows are to be kept in the file
    scene, run  : texts to keep, the scene as TOML and how it was run
    """

    ends = True

    def __init__(
        self,
        path: str | Path,
        *,
        contacts: bool | None = None,
        fields: Sequence[str] | None = None,
        precision: Literal["double", "single"] = "double",
        compression: Literal["gzip"] | None = None,
        force: bool = False,
        resume: bool = False,
        history: History | None = None,
        scene: str = "",
        run: dict[str, Any] | None = None,
    ) -> None:
        self.path = Path(path)
        if precision not in ("double", "single"):
            raise ValueError(f"precision {precision!r} is unknown; choose 'double' or 'single'")
        if compression not in (None, "gzip"):
            raise ValueError(f"compression {compression!r} is unknown; choose None or 'gzip'")
        if fields is not None:
            check_fields(fields, contacts)
        contacts = fields is None if contacts is None else contacts
        store.check_name(self.path, force=force or resume, contacts=contacts)
        self._fields = fields
        self._contacts, self._compression, self._force, self._resume = contacts, compression, force, resume
        self._precision = float if precision == "double" else np.float32
        self._history, self._scene, self._run = history, scene, run or {}
        self._atomic: AtomicFile | None = None
        self._logged: list[bytes] = []  # entries that wait for their places
        self._settled = 0.0  # when all entries were in their places, by the clock
        self._told = 0  # rows of the history that are in the file, or in the log
        self.differing = 0

    def start(self, simulation: Simulation, steps: int) -> None:
        """Open the file; a new one begins with the present state."""
        try:
            if self._resume:
                with reading(self.path):
                    self._open(simulation)
            else:
                self._create(simulation)
        except BaseException:
            if self._atomic is not None:
                begun = self._atomic.path
                self._atomic.abandon()
                self._close()
                if begun != self.path.absolute():  # it never came to its name
                    begun.unlink(missing_ok=True)
            raise
        self._resume = True  # a second run() goes on with it

    def look(self, simulation: Simulation) -> None:
        """Write a frame; if the file has one of this step, hold it against the present state."""
        with self._changes(simulation):
            clouds = self._clouds(simulation)
            if simulation.steps > self._last_step:
                self._append(clouds, simulation)
            elif simulation.whole:
                self._settle()
                self._compare(clouds, simulation.steps)

    def checkpoint(self, simulation: Simulation) -> None:
        """Keep the whole state, to resume from; also if the power fails right after."""
        with self._changes(simulation, durable=True):
            self._keep_state(simulation)

    def keep(self, name: str, text: str) -> None:
        """Keep a text about the run, its report for instance."""
        with reading(self.path):  # the disk is not written before the next commit
            put_text(self._file["texts"], name, text)

    def finish(self, simulation: Simulation) -> None:
        """The last state is always written, and can be resumed from."""
        if self._atomic is None:
            return
        try:
            if self._atomic.failure is None and not simulation.midway:
                if self._history is not None:
                    self._history.finish(simulation)
                with self._changes(simulation, durable=True, last=True):
                    if simulation.steps > self._last_step:
                        if simulation.tally.stopped == INTERRUPTED:  # a frame that was not due
                            self._file["frames"].attrs[INTERRUPTED] = simulation.steps
                        self._append(self._clouds(simulation), simulation, last=True)
                    self.keep("report", simulation.report().to_json())
                    self._keep_state(simulation)
        finally:
            if self._atomic is not None:
                self._close()

    def _create(self, simulation: Simulation) -> None:
        store.check_name(self.path, force=self._force)
        clouds, bodies = self._clouds(simulation), simulation.bodies
        walls = [wall.name for wall in bodies.all_walls]
        content = layout.for_frames(
            clouds, columns(bodies), walls=len(walls), compression=self._compression, expected=bodies.count
        )
        self._atomic, self._file = store.create(self.path, content, force=self._force)
        file, self._told = self._file, 0
        self.keep("scene", self._scene)
        self.keep("run", json.dumps(self._run))
        self.keep("report", "{}")
        self.keep("species", species_table.describe(bodies))
        if bodies.catalogue is not None:
            self.keep("shapes", shape_table.describe(bodies.catalogue))
        file.attrs["seed"], file.attrs["dimension"] = simulation.seed, bodies.dimension
        file["history/wall_force"].attrs["walls"] = json.dumps(walls)
        self._appender, self._optional = Appender(file), _optional(file)
        with self._changes():
            self._append(clouds, simulation, last=True)
            self._keep_state(simulation)
        store.publish(self._atomic, self.path)
        if self._contacts:
            store.make_link(self.path)

    def _open(self, simulation: Simulation) -> None:
        """Go on with a file; rows of the history beyond the present step will be recorded again."""
        self._atomic, self._file = store.open_to_append(self.path)
        self._contacts = "contacts" in self._file
        self._precision = self._file["VTKHDF/Points"].dtype.type
        history = self._file["history"]
        told = checksums.read_history(history)
        rows = int(np.searchsorted(told["step"], simulation.steps, side="right"))
        if INTERRUPTED in self._file["frames"].attrs:
            self._drop_last_frame()
        self._last_step = int(self._file["VTKHDF/FieldData/step"][-1])
        told = {name: column[:rows] for name, column in told.items()}
        for column in history.values():
            column.resize(rows, 0)
        checksums.mark_history(history, told)
        self._appender, self._told, self._optional = Appender(self._file), rows, _optional(self._file)
        if self._history is not None and not len(self._history):
            unknown = np.full(rows, np.nan)  # of columns that files of earlier versions lack
            self._history.names = columns(simulation.bodies)
            self._history.rows = list(zip(*(told.get(name, unknown).tolist() for name in self._history.names)))
            self._history.wall_force = list(told["wall_force"])
        if self._run:
            self.keep("run", json.dumps(self._run))

    def _drop_last_frame(self) -> None:
        """Take out the frame that was written only because the run was interrupted: one that goes on has none."""
        marks, last = self._file["frames"].attrs, int(self._file["VTKHDF/FieldData/step"][-1])
        series = Appender(self._file).series.values()
        if int(marks[INTERRUPTED]) != last or any(one.steps < 2 for one in series):
            raise Mismatch(f"it ends at step {last}, not at {marks[INTERRUPTED]} where the run was interrupted")
        for one in series:
            one.drop_last()
        checksums.drop_last(self._file)
        del marks[INTERRUPTED]

    def _clouds(self, simulation: Simulation) -> dict[str, Cloud]:
        history, known = self._history, None
        if history is not None and len(history) and history.rows[-1][0] == simulation.steps:
            known = dict(zip(history.names, history.rows[-1]))
        grains = record.grains(
            simulation, precision=self._precision, full=self._contacts, fields=self._fields, known=known
        )
        grains.scalars["wall_table"] = 0.0  # set when it is known, in _append
        clouds = {"VTKHDF": grains}
        if self._atomic is not None:
            self._complete(grains)
        if self._contacts:
            clouds["contacts"] = record.contacts(simulation, precision=self._precision)
        if self._resume:
            with reading(self.path):
                self._check_late(simulation.bodies)
                return {name: self._appender.series[name].known(cloud) for name, cloud in clouds.items()}
        return clouds

    def _complete(self, grains: Cloud) -> None:
        """Arrays that the file has are in every frame, also where no grain is left that has one: of torques, say."""
        with reading(self.path):
            there = self._file["VTKHDF/PointData"]
            for name in self._optional - grains.data.keys() - grains.once.keys():
                part = grains.once if grains_in_frames()[name].frames == "once" else grains.data
                part[name] = np.zeros((len(grains.points), *there[name].shape[1:]), there[name].dtype)

    def _check_late(self, bodies: Bodies) -> None:
        """Raise if the file has no room for scalars or torques: its arrays are laid down with its first frame."""
        there = self._file["VTKHDF/PointData"]
        if self._contacts and "external_torque" not in there and bodies.external_torque.any():
            raise TrajectoryError(
                f"{self.path} was begun without torques on grains; add the force before the first run, or write another"
                " file"
            )
        late = [name for name in bodies.scalar_names if name not in there]
        if late:
            raise TrajectoryError(
                f"{self.path} was begun without the scalar {late[0]!r}; give it to the grains before the first run,"
                f" scalars[{late[0]!r}] = nan for instance, or write another file"
            )

    def _append(self, clouds: dict[str, Cloud], simulation: Simulation, *, last: bool = False) -> None:
        """Add a frame, to the log if others may follow soon."""
        entry = Entry(clouds, wall_table.describe(simulation.bodies.walls), self._rows())
        self._last_step = simulation.steps
        soon = clock.monotonic() < self._settled + SECONDS and sum(map(len, self._logged)) < LOGGED
        if last or not soon or entry.nbytes() > SMALL or not self._log(entry.pack()):
            self._settle(entry)

    def _log(self, data: bytes) -> bool:
        """Keep a packed entry in the file; False if there are other changes that have to be written first."""
        assert self._atomic is not None
        if kept := self._atomic.log(data):
            self._logged.append(data)
        return kept

    def _settle(self, *more: Entry) -> None:
        """Put all that is logged, and more, into its place; it is there when changes are committed."""
        entries = [*map(unpack, self._logged), *more]
        if entries:
            self._appender.append(entries)
        self._logged, self._settled = [], clock.monotonic()

    def _compare(self, clouds: dict[str, Cloud], step: int) -> None:
        """Count a frame of the file that has come out otherwise this time."""
        with reading(self.path):
            steps = self._file["VTKHDF/FieldData/step"]
            there = int(np.searchsorted(steps, step))
            if int(steps[there]) == step:
                self.differing += int(self._file[checksums.FRAMES][there]) != checksums.of_frame(self._file, clouds)

    def _rows(self) -> dict[str, Array]:
        """Rows of the history, by column, that the file has not been given."""
        history, first = self._history, self._told
        if history is None or len(history) <= first:
            return {}
        self._told = len(history)
        rows = np.array(history.rows[first:], dtype=float)
        return dict(zip(history.names, rows.T)) | {"wall_force": np.array(history.wall_force[first:], dtype=float)}

    def _keep_state(self, simulation: Simulation) -> None:
        """All that there is so far, and the checkpoint."""
        self._settle()
        self._appender.append_history(self._rows())
        arrays, text = checkpoint.pack(simulation)
        group = self._file["checkpoint"]
        for name, array in arrays.items():
            replace(group, name, array)
        put_text(group, "text", text)
        group.attrs[checksums.MARK] = np.uint32(checksums.of_checkpoint(arrays, text))
        group.attrs["step"], group.attrs["time"] = simulation.steps, simulation.time

    @contextmanager
    def _changes(
        self, simulation: Simulation | None = None, *, durable: bool = False, last: bool = False
    ) -> Iterator[None]:
        """Changes that are made whole, or not at all. While there is a log, it is all that there is of them.

        simulation : whose state is saved elsewhere if the file is gone; None while it is being made
        last       : HDF5 is closed, which may change the index once more, and the disk is asked to keep all of it once
        """
        assert self._atomic is not None
        try:
            self._atomic.check()
            yield
            if not self._logged:
                self._file.close() if last else self._file.flush()
                self._atomic.commit(durable=durable)
        except FileLost as lost:
            if simulation is not None:
                raise self._rescue(simulation, lost) from None
            self._atomic.abandon()
            raise WriteError(lost.errno, f"{lost.strerror}; nothing was saved", str(self.path)) from None
        except OSError as problem:
            failed = self._atomic.failure is not None or problem.errno is not None
            self._atomic.abandon()
            if not failed:  # the disk is well: HDF5 cannot read what it has to change
                raise damaged(self.path, problem) from None
            left = f"what was written before is intact: rigidgrains resume {self.path}"
            if simulation is None:
                left = "the file could not be begun, and nothing was written; make room, or choose another place"
            raise WriteError(problem.errno, f"{problem.strerror or problem}; {left}", str(self.path)) from None
        except Exception as problem:
            self._atomic.abandon()
            if self._resume and not isinstance(problem, (TrajectoryError, MemoryError)):
                raise damaged(self.path, problem) from problem  # what is there is not what it has to be added to
            raise
        except BaseException:
            self._atomic.abandon()
            raise

    def _rescue(self, simulation: Simulation, lost: FileLost) -> WriteError:
        """Keep the state of a run whose file is gone, under another name, and say so; the run cannot go on here."""
        was, now = self.path, f"the state at t = {simulation.time:g} s"
        told = f"{now} could not be saved"
        for place in [lost.now] if lost.now is not None else other_places(self.path):
            try:
                self._move(simulation, lost, place)
            except (OSError, TrajectoryError) as problem:
                told = f"{now} could not be saved: {getattr(problem, 'strerror', None) or problem}"
                continue
            kept = f"all frames and {now} are" if lost.intact else f"{now} is saved, earlier frames are lost; it is"
            told = f"{kept} in {place}: rigidgrains resume {place}"
            break
        else:
            if self._atomic is not None:
                self._atomic.failure = lost  # finish() has nothing to write to
        return WriteError(lost.errno, f"{lost.strerror}; {told}", str(was))

    def _move(self, simulation: Simulation, lost: FileLost, place: Path) -> None:
        """Go on in another file: a copy of the lost one, the same under its new name, or one that begins here."""
        if lost.intact and self._atomic is not None:
            if lost.now is None:
                self._atomic.copy(place)
            self._close(as_it_is=True)
        elif self._atomic is not None:
            self._atomic.abandon()
            self._close()
        self.path = place
        if lost.intact:
            self._open(simulation)
            self.checkpoint(simulation)
        else:
            self._force = self._resume = False
            self._create(simulation)
            self._resume = True

    def _close(self, *, as_it_is: bool = False) -> None:
        atomic, self._atomic = self._atomic, None
        assert atomic is not None
        with suppress(OSError, RuntimeError):
            if self._logged and atomic.failure is None and not as_it_is:
                self._settle()
            self._logged = []
            self._file.close()
            if atomic.failure is None and not as_it_is:
                atomic.commit(durable=True)
        atomic.close()


def _optional(file: Any) -> set[str]:
    """Names of the arrays of grains that this file has and others may lack."""
    return {name for name in file["VTKHDF/PointData"] if name in grains_in_frames()}


def check_fields(fields: Sequence[str], contacts: bool | None) -> None:
    """Raise unless these are arrays that frames may have or not, and contacts are left out."""
    if isinstance(fields, str) or not isinstance(fields, Iterable):
        raise TypeError(f"fields = {fields!r} is no list of names; give one, ('velocity',) for instance")
    told = [f"frames have no array {name!r} to choose; {hint}" for name, hint in unknown_fields(fields)]
    if contacts:
        told.append("contacts without all arrays of their grains cannot be certified; leave out fields, or contacts")
    if told:
        raise ValueError("; ".join(told))


class Checkpoints(Observer):
    """Keeps the state in a writer's file, after every so many steps or seconds; observe every step, last of all."""

    def __init__(self, writer: TrajectoryWriter, *, every: int | None = None, seconds: float = 60.0) -> None:
        if not isinstance(writer, TrajectoryWriter):
            raise TypeError(f"{writer!r} keeps no checkpoints; give the TrajectoryWriter of the run")
        if every is not None and not (is_number(every, whole=True) and every >= 1):
            raise ValueError(f"checkpoint every {every!r} steps is no interval; give 1 step or more, a whole number")
        if not (is_number(seconds) and seconds >= 0.0):
            raise ValueError(f"checkpoint every {seconds!r} seconds is no interval; give a number that is not negative")
        self._writer, self._every, self._seconds = writer, every, seconds

    def start(self, simulation: Simulation, steps: int) -> None:
        self._next = clock.monotonic() + self._seconds

    def look(self, simulation: Simulation) -> None:
        due = clock.monotonic() > self._next if self._every is None else simulation.steps % self._every == 0
        if due:
            self._writer.checkpoint(simulation)
            self._next = clock.monotonic() + self._seconds
