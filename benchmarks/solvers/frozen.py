"""Frozen test problems: contact problems stored before they are solved, so that no change of the engine alters them.

`frozen/choosing.npz` is for trying out solvers, `frozen/judging.npz` for what is published of them: other seeds, and no
number of a solver may be chosen by it. `make_frozen.py` has made them, once.

Tables hold all problems one after the other. For the sake of their size numbers are rounded to 16 bits (1.5e-5), which
makes them slightly other problems than those of the engine, and as good. What is read is double precision, and what is
computed from it are elementary operations, which give the same bits everywhere.

    bodies   : v (3), s (3), 1/m, m lever^2/I
    grains   : position (3), radius
    contacts : n (3), gap g, the gap to be closed less max(g, 0), mu, R_n, R_t (3)
    rolling  : torque Q (3) and `extra` (14), of those contacts that resist rolling
    pairs    : bodies 0 and 1
    about    : kind, seed and step, dt, number of bodies, grains and contacts, whether they resist rolling
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
from numpy.typing import NDArray

from rigidgrains.contacts.problem import ContactProblem

Array = NDArray[Any]

FOLDER = Path(__file__).parent / "frozen"
SETS = ("choosing", "judging")


class Frozen(NamedTuple):
    """A problem and where it comes from. `problem` is not to be solved: `fresh` is."""

    kind: str
    seed: int
    step: int
    problem: ContactProblem

    @property
    def name(self) -> str:
        return f"{self.kind}, seed {self.seed}, step {self.step}"

    def fresh(self, *, cold: bool = False) -> ContactProblem:
        """A problem to be solved; cold : without the forces that were carried over."""
        p = self.problem
        extra = None if p.extra is None else p.extra.copy()
        return ContactProblem(
            motion=p.motion.copy(), pairs=p.pairs.copy(), geometry=p.geometry.copy(),
            forces=np.zeros_like(p.forces) if cold else p.forces.copy(), dt=p.dt, position=p.position.copy(),
            radius=p.radius.copy(), extra=extra,
        )  # fmt: skip


def load(name: str) -> list[Frozen]:
    """All problems of a set."""
    with np.load(FOLDER / f"{name}.npz") as data:
        about = json.loads(bytes(data["about"]))
        tables = {key: _joined(data[key]) for key in ("bodies", "grains", "contacts", "rolling")}
        pairs = data["pairs"]
    found, at = [], dict.fromkeys(("bodies", "grains", "contacts", "rolling"), 0)
    for kind, seed, step, dt, bodies, grains, contacts, rolling in about:
        size = {"bodies": bodies, "grains": grains, "contacts": contacts, "rolling": contacts * rolling}
        rows = {key: tables[key][at[key] : at[key] + size[key]] for key in size}
        of = pairs[at["contacts"] : at["contacts"] + contacts].astype(np.int32)
        found.append(Frozen(kind, seed, step, thawed(rows, of, dt)))
        at = {key: at[key] + size[key] for key in size}
    return found


def thawed(rows: dict[str, Array], pairs: Array, dt: float) -> ContactProblem:
    """The problem that is stored in some rows of the tables."""
    motion, contacts = rows["bodies"].copy(), rows["contacts"]
    motion[:, 7] *= motion[:, 6]
    n, gap, more, mu, force = contacts[:, :3], contacts[:, 3], contacts[:, 4], contacts[:, 5], contacts[:, 7:10]
    n = n / np.sqrt(n[:, :1] * n[:, :1] + n[:, 1:2] * n[:, 1:2] + n[:, 2:] * n[:, 2:])
    along = force[:, :1] * n[:, :1] + force[:, 1:2] * n[:, 1:2] + force[:, 2:] * n[:, 2:]
    forces = [contacts[:, 6:7], force - along * n]
    light = motion[pairs[:, 0], 6] + motion[pairs[:, 1], 6]  # Eq. (m-n), Eq. (m-t)
    turns = motion[pairs[:, 0], 7] + motion[pairs[:, 1], 7]
    geometry = np.column_stack([n, np.maximum(gap, 0.0) + more, 1.0 / light, 1.0 / (light + turns), mu, gap])
    extra = None
    if len(rows["rolling"]):
        forces.append(rows["rolling"][:, :3])
        extra = np.ascontiguousarray(rows["rolling"][:, 3:])
    return ContactProblem(
        motion=motion, pairs=np.ascontiguousarray(pairs), geometry=geometry,
        forces=np.column_stack(forces), dt=dt, position=np.ascontiguousarray(rows["grains"][:, :3]),
        radius=rows["grains"][:, 3].copy(), extra=extra,
    )  # fmt: skip


def rows_of(problem: ContactProblem) -> tuple[dict[str, Array], Array]:
    """The rows of the tables that store a problem, and its pairs; what `thawed` reads."""
    p, more = problem, problem.to_close - np.maximum(problem.gap, 0.0)
    light = p.motion[:, 6:7]
    turns = np.divide(p.motion[:, 7:], light, out=np.zeros_like(light), where=light > 0.0)
    rolling = np.empty((0, 17)) if p.extra is None else np.column_stack([p.forces[:, 4:7], p.extra])
    rows = {
        "bodies": np.column_stack([p.motion[:, :7], turns]), "grains": np.column_stack([p.position, p.radius]),
        "contacts": np.column_stack([p.normal, p.gap, more, p.friction, p.forces[:, :4]]),
        "rolling": rolling,
    }  # fmt: skip
    return {key: _rounded(table) for key, table in rows.items()}, p.pairs.astype(np.uint16)


def store(name: str, problems: Iterable[Frozen]) -> None:
    """Write a set."""
    about: list[Any] = []
    tables: dict[str, list[Array]] = {"bodies": [], "grains": [], "contacts": [], "rolling": []}
    pairs: list[Array] = []
    for kind, seed, step, p in problems:
        rows, of = rows_of(p)
        for key in tables:
            tables[key].append(rows[key])
        pairs.append(of)
        sizes = len(p.motion), len(p.position), len(p.pairs), int(p.extra is not None)
        about.append([kind, int(seed), int(step), float(p.dt), *sizes])
    FOLDER.mkdir(exist_ok=True)
    arrays = {key: _apart(np.concatenate(table)) for key, table in tables.items()}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    arrays["pairs"] = np.asfortranarray(np.concatenate(pairs))
    with ZipFile(FOLDER / f"{name}.npz", "w", ZIP_LZMA) as file:
        for key, array in arrays.items():
            with file.open(f"{key}.npy", "w") as entry:
                np.lib.format.write_array(entry, array)


def _rounded(table: Array) -> Array:
    """In single precision without its last byte."""
    return ((table.astype("<f4").view("<u4") + 0x80) & 0xFFFFFF00).view("<f4")


def _apart(table: Array) -> Array:
    """(columns, 3, rows) bytes of a table that is rounded: alike bytes side by side compress better."""
    columns = np.ascontiguousarray(table.T)
    return columns.view(np.uint8).reshape(*columns.shape, 4)[:, :, 1:].transpose(0, 2, 1).copy()


def _joined(apart: Array) -> Array:
    """The table again, in double precision."""
    columns, _, rows = apart.shape
    whole = np.zeros((columns, rows, 4), np.uint8)
    whole[:, :, 1:] = apart.transpose(0, 2, 1)
    return np.ascontiguousarray(whole.view("<f4")[:, :, 0].T.astype(np.float64))
