"""The runs of a study: every combination of what is varied, each with its replicas, seeds and a folder name."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scene.change import change_all
from ..scene.errors import Problem, SceneError
from ..scene.load import find_files, tables_with_files

if TYPE_CHECKING:
    from .study import Study

SEED = "run.seed"
QUIET = ("picture", "plot")  # that runs of a study are not drawn unless asked


@dataclass(frozen=True)
class Run:
    """One run of a study.

    number  : its row in the table, from 0; replica : from 0, at each point
    point   : the varied words and their values; row : of the table [[points]], None without one
    seed    : of all its random numbers, None if the scene or the study names it
    """

    number: int
    point: dict[str, Any]
    row: int | None
    replica: int
    seed: int | None


def all_points(study: Study) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Every combination of the varied words, the last one varying fastest, for each row of the table of points."""
    rows: list[tuple[int | None, dict[str, Any]]] = list(enumerate(study.points)) or [(None, {})]
    for row, listed in rows:
        for values in product(*study.vary.values()):
            yield row, {**listed, **dict(zip(study.vary, values))}


def all_runs(study: Study) -> list[Run]:
    """The runs in the order of the table."""
    runs: list[Run] = []
    for row, point in all_points(study):
        given = SEED in point or SEED in study.set
        for replica in range(study.replicas):
            seed = None if given else replica_seed(study.seed, replica, None if study.seeds == "shared" else point)
            runs.append(Run(len(runs), point, row, replica, seed))
    return runs


def replica_seed(study_seed: int, replica: int, point: Mapping[str, Any] | None) -> int:
    """Seed of a replica, by the values of its point and not by its number: a study that grows keeps its runs.

    point : None gives the same seeds at all points
    """
    content = b"" if point is None else hashlib.sha256(canonical(point).encode()).digest()[:16]
    sequence = np.random.SeedSequence([study_seed, replica, *np.frombuffer(content, "<u4").tolist()])
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1


def run_words(study: Study, run: Run, wrong: list[Problem] | None = None) -> dict[str, Any]:
    """The scene of one run, as the words of a scene file.

    wrong : takes up names that lead nowhere, which raise SceneError if it is not given
    """
    words = copy.deepcopy(study.scene_words)
    if study.end is not None:
        study.end.change(words)
    try:
        change_all(words, {**study.set, **run.point})
    except SceneError as error:
        if wrong is None:
            raise
        wrong += error.problems
    find_files(words, study.beside)
    if run.seed is not None:
        words.setdefault("run", {})["seed"] = run.seed
    output = words.setdefault("output", {})
    if isinstance(output, dict):
        for key in QUIET:
            output.setdefault(key, False)
    return words


def mark_of(words: dict[str, Any], digests: Mapping[str, str]) -> str:
    """Mark by which a run is known again: of all words of its scene but the title, and of the files it reads.

    digests : of the contents of each file
    """
    told = copy.deepcopy({key: value for key, value in words.items() if key != "title"})
    for table in tables_with_files(told):
        table["file"] = digests[table["file"]]
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:10]


def label_of(run: Run, mark: str) -> str:
    """Name of its folder: what is varied, the replica, and its mark."""
    words = [f"{name.rpartition('.')[2]}={short(value)}" for name, value in run.point.items()]
    told = re.sub(r"[^\w.+=,-]", "", ",".join([*words, f"r{run.replica}"]))
    return f"{told[:60]}-{mark}"


def short(value: Any) -> str:
    """A value in few characters."""
    return f"{value:.6g}" if isinstance(value, float) else str(value) if isinstance(value, (int, str)) else "..."


def canonical(value: Any) -> str:
    """One text for equal words: 1 and 1.0 are the same number."""
    return json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"))


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(part) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_canonical(part) for part in value]
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)) and abs(int(value)) > 2**53:
        return str(int(value))
    return float(value) + 0.0
