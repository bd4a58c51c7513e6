"""Write problems and solutions to files in FCLIB's HDF5 layout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..files.outputs import check_outputs, whole
from ..runtime.version import __version__
from ..solve.matrix.problem import GlobalProblem, Info, LocalProblem, Problem

Array = NDArray[np.float64]


def write_problem(problem: Problem, path: str | Path, *, guess: Array | None = None, force: bool = False) -> None:
    """A new file with the problem, and impulses (d c,) from which to start if there are any.

    force : overwrite a file that is there
    """
    with _new(Path(path), force=force) as file:
        _write_problem(file, problem)
        if guess is not None:
            file["guesses/number_of_guesses"] = np.array([1], dtype=np.int32)
            _write_answer(file.create_group("guesses/1"), problem, guess)


def write_solution(problem: Problem, impulses: Array, path: str | Path, *, force: bool = False) -> None:
    """A new file with the problem and its solution: r, u and, for a global problem, v.

    force : overwrite a file that is there
    """
    with _new(Path(path), force=force) as file:
        _write_problem(file, problem)
        _write_answer(file.create_group("solution"), problem, impulses)


@contextmanager
def _new(path: Path, *, force: bool) -> Iterator[h5py.File]:
    check_outputs(path, force=force)
    with whole(path) as part, h5py.File(part, "w") as file:
        yield file


def _write_problem(file: h5py.File, problem: Problem) -> None:
    if isinstance(problem, LocalProblem):
        group = file.create_group("fclib_local")
        _write_rows(group, "W", problem.W)
        _write_vectors(group, q=problem.q, mu=problem.mu)
    else:
        group = file.create_group("fclib_global")
        _write_columns(group, "M", problem.M)
        _write_columns(group, "H", problem.H)
        _write_vectors(group, f=problem.f, w=problem.w, mu=problem.mu)
    group["spacedim"] = np.array([problem.dimension], dtype=np.int32)
    _write_info(group, problem.info)


def _write_answer(group: h5py.Group, problem: Problem, impulses: Array) -> None:
    r = np.asarray(impulses, dtype=float).ravel()
    group["r"] = r
    if isinstance(problem, GlobalProblem):
        v = problem.body_velocity(r)
        group["v"], group["u"] = v, problem.H.T @ v + problem.w
    else:
        group["u"] = problem.W @ r + problem.q  # Eq. (discr-contact-accel2)


def _write_rows(group: h5py.Group, name: str, matrix: Any) -> None:
    _write_matrix(group, name, matrix.tocsr(), -2)


def _write_columns(group: h5py.Group, name: str, matrix: Any) -> None:
    _write_matrix(group, name, matrix.tocsc(), -1)


def _write_matrix(group: h5py.Group, name: str, matrix: Any, nz: int) -> None:
    stored = group.create_group(name)
    for key, value in (("nzmax", matrix.nnz), ("m", matrix.shape[0]), ("n", matrix.shape[1]), ("nz", nz)):
        stored[key] = np.array([value], dtype=np.int32)
    stored["p"], stored["i"] = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    stored["x"] = np.asarray(matrix.data, dtype=float)


def _write_vectors(group: h5py.Group, **vectors: Array) -> None:
    for name, values in vectors.items():
        group[f"vectors/{name}"] = np.asarray(values, dtype=float)


def _write_info(group: h5py.Group, info: Info) -> None:
    """Strings of fixed length, as the format's own reader expects them."""
    about = group.create_group("info")
    about.attrs["writer"] = f"rigidgrains {__version__}"
    for name, text in vars(info).items():
        about[name] = np.bytes_(text.encode() + b"\0")
