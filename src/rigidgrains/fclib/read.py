"""Read a problem from a file in FCLIB's HDF5 layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..files.hdf5 import ForeignData, check_contained
from ..solve.matrix.problem import GlobalProblem, Info, LocalProblem, Problem, check_shape

Array = NDArray[np.float64]


class ProblemFileError(ValueError):
    """A file that holds no problem, or a broken one."""


def read_problem(path: str | Path) -> Problem:
    """The local or global problem of a file."""
    path = Path(path)
    with _open(path) as file:
        try:
            if "fclib_local" in file:
                return _local(file["fclib_local"])
            if "fclib_global" in file:
                return _global(file["fclib_global"])
        except (ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError) as problem:
            raise ProblemFileError(f"{path}: {str(problem).strip(chr(39))}") from None
    raise ProblemFileError(f"{path} holds neither 'fclib_local' nor 'fclib_global'; give a file in FCLIB's HDF5 layout")


def read_impulses(path: str | Path, name: str = "solution") -> Array | None:
    """r (d c,) of the group "solution", or of a guess such as "guesses/1"; None when there is none."""
    with _open(Path(path)) as file:
        return np.asarray(file[name]["r"], dtype=float) if name in file and "r" in file[name] else None


def _open(path: Path) -> h5py.File:
    if path.is_dir():
        raise ProblemFileError(f"{path} is a folder; give one HDF5 file")
    if not path.exists():
        raise ProblemFileError(f"{path} does not exist; check the name")
    try:
        file = h5py.File(path, "r")
        check_contained(file)
        return file
    except ForeignData as problem:
        raise ProblemFileError(f"{path}: {problem}; this is not read, put all data into the file itself") from None
    except PermissionError:
        raise ProblemFileError(f"{path} may not be read; check its permissions") from None
    except (OSError, RuntimeError, KeyError):
        raise ProblemFileError(f"{path} is not an HDF5 file, or cut short; give a problem in FCLIB's layout") from None


def _local(group: h5py.Group) -> LocalProblem:
    for bilateral in ("V", "R"):
        if bilateral in group:
            raise ValueError(f"the problem has equality constraints ({bilateral}, s), which are not solved here")
    vectors, dimension = _member(group, "vectors"), _integer(group, "spacedim")
    mu = _vector(vectors, "mu")
    rows = dimension * len(mu)
    return LocalProblem(
        W=sparse.csr_array(_matrix(group, "W", (rows, rows))),
        q=_vector(vectors, "q"),
        mu=mu,
        dimension=dimension,
        info=_info(group),
    )


def _global(group: h5py.Group) -> GlobalProblem:
    if "G" in group:
        raise ValueError("the problem has equality constraints (G, b), which are not solved here")
    vectors, dimension = _member(group, "vectors"), _integer(group, "spacedim")
    f, mu = _vector(vectors, "f"), _vector(vectors, "mu")
    return GlobalProblem(
        M=sparse.csc_array(_matrix(group, "M", (len(f), len(f)))),
        H=sparse.csc_array(_matrix(group, "H", (len(f), dimension * len(mu)))),
        f=f,
        w=_vector(vectors, "w"),
        mu=mu,
        dimension=dimension,
        info=_info(group),
    )


def _matrix(group: h5py.Group, name: str, needed: tuple[int, int]) -> Any:
    """A sparse matrix: nz >= 0 counts triplets, -1 stands for compressed columns, -2 for compressed rows."""
    stored = _member(group, name)
    shape = (_integer(stored, "m"), _integer(stored, "n"))
    check_shape(name, shape, needed, "the vectors and the dimension")
    nz = _integer(stored, "nz")
    x = _vector(stored, "x")
    p, i = (np.asarray(_vector(stored, index), dtype=np.int64) for index in ("p", "i"))
    if nz >= 0:
        # The format's header calls p the rows; its writers follow CSparse, where p holds columns. So do we, if it fits.
        if min(len(x), len(p), len(i)) < nz:
            raise ValueError(f"{name} announces {nz} entries and stores {min(len(x), len(p), len(i))}; the file is cut")
        row, column = i[:nz], p[:nz]
        if nz and (row.max() >= shape[0] or column.max() >= shape[1]):
            row, column = column, row
        _check_indices(name, row, shape[0])
        _check_indices(name, column, shape[1])
        return sparse.coo_array((x[:nz], (row, column)), shape=shape)
    if nz not in (-1, -2):
        raise ValueError(f"{name} has nz = {nz}; known are the number of triplets, -1 (columns) and -2 (rows)")
    major, minor = (shape[1], shape[0]) if nz == -1 else shape
    if len(p) != major + 1 or p[0] != 0 or (np.diff(p) < 0).any() or p[-1] > min(len(i), len(x)):
        raise ValueError(f"{name} has pointers p that do not fit a matrix of {shape[0]}x{shape[1]}; write it anew")
    i, x = i[: p[-1]], x[: p[-1]]
    _check_indices(name, i, minor)
    return (sparse.csc_array if nz == -1 else sparse.csr_array)((x, i, p), shape=shape)


def _check_indices(name: str, index: NDArray[np.int64], size: int) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index[(index < 0) | (index >= size)][0]
        raise ValueError(f"{name} has an entry at {bad}, but only 0 to {size - 1} exist; write it anew")


def _info(group: h5py.Group) -> Info:
    words = {}
    for name in ("title", "description", "math_info"):
        if "info" in group and name in group["info"]:
            text = group["info"][name][()]
            words[name] = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return Info(**words)


def _vector(group: h5py.Group, name: str) -> Array:
    return np.asarray(_member(group, name)[()]).ravel()


def _integer(group: h5py.Group, name: str) -> int:
    value = _vector(group, name)
    if value.size != 1 or value[0] != int(value[0]):
        raise ValueError(f"{group.name}/{name} holds {value}; one whole number is needed")
    return int(value[0])


def _member(group: h5py.Group, name: str) -> Any:
    if not isinstance(group, h5py.Group) or name not in group:
        raise ValueError(f"{group.name} lacks '{name}'; give a complete problem in FCLIB's layout")
    return group[name]
