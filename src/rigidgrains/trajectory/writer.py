"""Writes a run to its file, frame by frame: each is there whole, or not at all."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..observe.history import History, columns
from ..runtime.arguments import is_number
from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import Observer
from . import checkpoint, checksums, record, store, wall_table
from .atomic import AtomicFile
from .errors import FileLost, Mismatch, TrajectoryError, WriteError, damaged, reading
from .series import Cloud, Column, Series
from .whereabouts import other_places

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

ROWS = 256  # of a chunk of the history


class TrajectoryWriter(Observer):
    """Writes frames to a VTKHDF file; observe a simulation with it after every so many steps.

    path        : file to write, NAME.vtkhdf
    contacts    : False leaves out contacts and the velocities before each step
    precision   : "double", or "single" for files half as large; checkpoints are always exact
    compression : None, or "gzip" for a smaller file at some cost
    force       : overwrite a file that is there
    resume      : go on with a file; frames that it has already are checked, not written again, and one that was written
                  only because the run was interrupted is taken out
    history     : a History whose rows are to be kept in the file
    scene, run  : texts to keep, the scene as TOML and how it was run
    """

    def __init__(
        self,
        path: str | Path,
        *,
        contacts: bool = True,
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
        store.check_name(self.path, force=force or resume, contacts=contacts)
        self._contacts, self._compression, self._force, self._resume = contacts, compression, force, resume
        self._precision = float if precision == "double" else np.float32
        self._history, self._scene, self._run = history, scene, run or {}
        self._atomic: AtomicFile | None = None
        self._columns: dict[str, Column] = {}  # of the history
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
                self._compare(clouds, simulation.steps)

    def checkpoint(self, simulation: Simulation) -> None:
        """Keep the whole state, to resume from; also if the power fails right after."""
        with self._changes(simulation, durable=True):
            self._replace_checkpoint(simulation)
            self._append_history()

    def keep(self, name: str, text: str) -> None:
        """Keep a text about the run, its report for instance."""
        with reading(self.path):  # the disk is not written before the next commit
            store.put_text(self._file["texts"], name, text)

    def finish(self, simulation: Simulation) -> None:
        """The last state is always written, and can be resumed from."""
        if self._atomic is None:
            return
        try:
            if self._atomic.failure is None and not simulation.midway:
                if self._history is not None:
                    self._history.finish(simulation)
                if simulation.steps > self._last_step:
                    if simulation.tally.stopped == INTERRUPTED:  # a frame that was not due
                        self._file["frames"].attrs[INTERRUPTED] = simulation.steps
                    self.look(simulation)
                self.keep("report", simulation.report().to_json())
                self.checkpoint(simulation)
        finally:
            if self._atomic is not None:
                self._close()

    def _create(self, simulation: Simulation) -> None:
        self._atomic, self._file = store.create(self.path, force=self._force)
        file, self._last_step = self._file, -1
        self.keep("scene", self._scene)
        self.keep("run", json.dumps(self._run))
        self.keep("report", "{}")
        file.attrs["seed"], file.attrs["dimension"] = simulation.seed, simulation.bodies.dimension
        names = [wall.name for wall in simulation.bodies.all_walls]
        for name in columns(simulation.bodies):
            file.create_dataset(f"history/{name}", (0,), float, maxshape=(None,), chunks=(ROWS,))
        force = (0, len(names), 3)
        file.create_dataset("history/wall_force", force, float, maxshape=(None, None, 3), chunks=(ROWS, 4, 3))
        file["history/wall_force"].attrs["walls"] = json.dumps(names)
        checksums.mark_history(file["history"], {name: column[:] for name, column in file["history"].items()})
        clouds = self._clouds(simulation)
        self._series = [
            Series.create(file, name, cloud, compression=self._compression, expected=simulation.bodies.count)
            for name, cloud in clouds.items()
        ]
        checksums.begin(file, clouds)
        with self._changes():
            self._append(clouds, simulation)
            self._replace_checkpoint(simulation)
        store.publish(self._atomic, self.path)
        if self._contacts:
            store.make_link(self.path)

    def _open(self, simulation: Simulation) -> None:
        """Go on with a file; rows of the history beyond the present step will be recorded again."""
        self._atomic, self._file = store.open_to_append(self.path)
        self._contacts = "contacts" in self._file
        self._precision = self._file["VTKHDF/Points"].dtype.type
        self._series = [Series(self._file[name]) for name in self._names()]
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
        if int(marks[INTERRUPTED]) != last or self._series[0].steps < 2:
            raise Mismatch(f"it ends at step {last}, not at {marks[INTERRUPTED]} where the run was interrupted")
        for series in self._series:
            series.drop_last()
        checksums.drop_last(self._file)
        del marks[INTERRUPTED]

    def _names(self) -> tuple[str, ...]:
        return ("VTKHDF", "contacts") if self._contacts else ("VTKHDF",)

    def _clouds(self, simulation: Simulation) -> dict[str, Cloud]:
        history, known = self._history, None
        if history is not None and len(history) and history.rows[-1][0] == simulation.steps:
            known = dict(zip(history.names, history.rows[-1]))
        grains = record.grains(simulation, precision=self._precision, full=self._contacts, known=known)
        grains.scalars["wall_table"] = 0.0  # set when it is known, in _append
        clouds = {"VTKHDF": grains}
        if self._contacts:
            clouds["contacts"] = record.contacts(simulation, precision=self._precision)
        if self._resume:
            with reading(self.path):
                return {name: series.known(cloud) for series, (name, cloud) in zip(self._series, clouds.items())}
        return clouds

    def _append(self, clouds: dict[str, Cloud], simulation: Simulation) -> None:
        clouds["VTKHDF"].scalars["wall_table"] = self._wall_table(simulation)
        checksums.append(self._file, clouds)
        for series, cloud in zip(self._series, clouds.values()):
            series.append(cloud)
        self._append_history()
        self._last_step = simulation.steps

    def _compare(self, clouds: dict[str, Cloud], step: int) -> None:
        """Count a frame of the file that has come out otherwise this time."""
        with reading(self.path):
            steps = self._file["VTKHDF/FieldData/step"]
            there = int(np.searchsorted(steps, step))
            if int(steps[there]) == step:
                self.differing += int(self._file[checksums.FRAMES][there]) != checksums.of_frame(self._file, clouds)

    def _wall_table(self, simulation: Simulation) -> int:
        """Number of the description that holds for the present walls."""
        group, text = self._file["walls"], wall_table.describe(simulation.bodies.walls)
        last = len(group) - 1
        if last < 0 or store.get_text(group, str(last)) != text:
            last += 1
            store.put_text(group, str(last), text)
        return last

    def _replace_checkpoint(self, simulation: Simulation) -> None:
        arrays, text = checkpoint.pack(simulation)
        group = self._file["checkpoint"]
        for name, array in arrays.items():
            store.replace(group, name, array)
        store.put_text(group, "text", text)
        group.attrs[checksums.MARK] = np.uint32(checksums.of_checkpoint(arrays, text))
        group.attrs["step"], group.attrs["time"] = simulation.steps, simulation.time

    def _append_history(self) -> None:
        if self._history is None:
            return
        history = self._file["history"]
        if not self._columns:
            self._columns = {name: Column(history[name]) for name in history if name != "wall_force"}
        first = self._columns["step"].length
        rows = np.array(self._history.rows[first:], dtype=float).reshape(-1, len(self._history.names))
        if not len(rows):
            return
        added = {name: column for name, column in zip(self._history.names, rows.T) if name in self._columns}
        for name, column in added.items():
            self._columns[name].append(column)
        added["wall_force"] = np.array(self._history.wall_force[first:], dtype=float)
        Column(history["wall_force"]).append(added["wall_force"])
        checksums.extend_history(history, added)

    @contextmanager
    def _changes(self, simulation: Simulation | None = None, *, durable: bool = False) -> Iterator[None]:
        """Changes that are made whole, or not at all.

        simulation : whose state is saved elsewhere if the file is gone; None while it is being made
        """
        assert self._atomic is not None
        try:
            self._atomic.check()
            yield
            self._file.flush()
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
        self._columns = {}
        assert atomic is not None
        with suppress(OSError, RuntimeError):
            self._file.close()
            if atomic.failure is None and not as_it_is:
                atomic.commit(durable=True)
        atomic.close()


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
