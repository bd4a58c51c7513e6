"""Go on from the last checkpoint of a file, as if the run had never stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from ..events.stages import Stages
from ..runtime.version import __version__
from . import checkpoint, store, verify_state
from .checksums import check_mark, of_checkpoint
from .errors import TrajectoryError, reading
from .texts import PACKING, get_text

if TYPE_CHECKING:
    from ..model.law import Law
    from ..simulation.simulation import Simulation
    from ..solve.sweeps import Sweeps


def resume(
    path: str | Path,
    *,
    solver: Sweeps | None = None,
    laws: list[Law] | None = None,
    functions: dict[str, Any] | None = None,
) -> Simulation:
    """The simulation at the last checkpoint of a trajectory, to the bit.

    solver : replaces the one of the file; needed if that was a class of your own
    laws   : replace those of the file; needed if one of them holds a function or is a class of your own
    functions : functions of time by their places, {"lid.load": f} for instance, if the scene was made with any

    >>> simulation = rg.resume("run.vtkhdf")
    >>> simulation.observe(rg.TrajectoryWriter("run.vtkhdf", resume=True), every=50)
    >>> simulation.run(until=1.0)
    """
    path = Path(path)
    with store.open_to_read(path) as file, reading(path):
        if PACKING in file["texts"]:
            raise TrajectoryError(f"{path}: this is a packing, not a run; start one from it, with file in [[grains]]")
        if "text" not in file["checkpoint"]:
            told = "it was lost with the damage, or never in a file that was thinned out from another"
            raise TrajectoryError(f"{path}: there is no checkpoint to resume from; {told}")
        arrays, text = read_checkpoint(file["checkpoint"])
        verify_state.state(arrays, text)
        version = str(file.attrs["version"])
    try:
        return checkpoint.unpack(arrays, text, solver=solver, laws=laws, functions=functions)
    except (TrajectoryError, MemoryError):
        raise
    except Exception as problem:
        if not (solver is None and laws is None and functions is None):  # it may be those that do not fit
            raise
        raise TrajectoryError(
            f"{path}: rigidgrains {__version__} cannot go on from its checkpoint, which version {version} wrote "
            f"({type(problem).__name__}: {' '.join(str(problem).split())}); update rigidgrains, or run the scene anew"
        ) from problem


def read_checkpoint(group: h5py.Group) -> tuple[dict[str, Any], str]:
    """Arrays and text, if they are those that were written."""
    arrays: dict[str, Any] = {name: np.array(group[name]) for name in group if name != "text"}
    text = get_text(group, "text")
    check_mark(group, of_checkpoint(arrays, text), "the checkpoint")
    return arrays, text


def checkpoint_of(path: Path) -> str:
    """A line about the last checkpoint of a file; empty if there is none."""
    with store.open_to_read(path) as file, reading(path):
        group = file["checkpoint"]
        return f"t = {group.attrs['time']:g} s, step {group.attrs['step']:,}" if "text" in group else ""


def stages_of(path: Path) -> Stages | None:
    """The stages of a run at its last checkpoint; None without them."""
    with store.open_to_read(path) as file, reading(path):
        if "text" not in file["checkpoint"]:
            return None
        words = json.loads(get_text(file["checkpoint"], "text"))["stage"] or {}
    return Stages.unpack(words["stages"]) if "stages" in words else None
