"""The folder of a study: its words, the files they name, and a folder for each run; made before anything runs."""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.outputs import OutputError, taken, whole
from ..scene.change import read_name
from ..scene.load import WITH_FILES, tables_with_files
from ..scene.toml import write_toml
from .grid import Run, label_of, mark_of, run_words
from .measures import code_of
from .read import RUNS, STUDY, is_study
from .words import Measured

if TYPE_CHECKING:
    from .study import Study

SCENE, FILES = "scene.toml", "files"


@dataclass(frozen=True)
class Job:
    """What a worker needs to know of one run.

    folder : of the study; label : name of the run's own folder in it; text : its scene in TOML
    wanted : words of each measure and the mark of its code, by which a result is known to be of it
    stop   : file that tells, once it is there, that the study shall stop
    """

    folder: Path
    label: str
    mark: str
    text: str
    measures: dict[str, Measured]
    wanted: dict[str, dict[str, Any]]
    stop: Path

    @property
    def place(self) -> Path:
        return self.folder / RUNS / self.label


def prepare(study: Study, folder: Path) -> None:
    """Make the folder, with all that is needed to go on from it; an earlier version of the study is replaced."""
    if study.folder is not None and folder.resolve() == study.folder.resolve():
        return
    if taken(folder) and not is_study(folder):
        raise OutputError(f"{folder} is not empty and holds no runs of a study; choose another folder with --output")
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        for file in _named_files(study):
            target = folder / stored_name(file)
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                with whole(target) as part:
                    shutil.copyfile(file, part)
        for module in _modules(study):
            shutil.copyfile(study.beside / module, folder / module)
        scene, words = copy.deepcopy(study.scene_words), study.words()
        _store_files(scene, words, study)
        words["scene"] = SCENE
        for name, text in ((SCENE, write_toml(scene)), (STUDY, write_toml(words))):
            with whole(folder / name) as part:
                part.write_text(text, encoding="utf-8")
    except OSError as problem:
        reason = f"{problem.filename or folder}: {problem.strerror or problem}"
        raise OutputError(f"the folder of the study cannot be used: {reason}; choose another with --output") from None


def jobs_of(study: Study, folder: Path, stop: Path | None = None) -> list[tuple[Run, Job]]:
    """All runs with what their workers need."""
    wanted = {name: {**one.words(), "code": code_of(one, folder)} for name, one in study.measure.items()}
    found = []
    for run in study.runs:
        words = run_words(study, run)
        files = list(tables_with_files(words))
        stored = {table["file"]: stored_name(Path(table["file"])) for table in files}
        mark = mark_of(words, stored)
        for table in files:
            table["file"] = os.path.join("..", "..", stored[table["file"]])
        text = write_toml(words)
        job = Job(folder, label_of(run, mark), mark, text, study.measure, wanted, stop or folder / "stop")
        found.append((run, job))
    return found


def stored_name(file: Path) -> str:
    """Where a file is kept in the folder of the study: by its contents."""
    return f"{FILES}/{_digest(file)}{''.join(file.suffixes[-2:])}"


_digests: dict[tuple[str, int, int], str] = {}


def _digest(file: Path) -> str:
    try:
        about = file.stat()
        key = str(file), about.st_mtime_ns, about.st_size
        if key not in _digests:
            _digests[key] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        return _digests[key]
    except OSError:  # what is missing is told by the run
        return file.stem


def _named_files(study: Study) -> set[Path]:
    """Files that some run reads, those that are there."""
    tables = (table for run in study.runs for table in tables_with_files(run_words(study, run)))
    return {path for table in tables if (path := Path(table["file"])).is_file()}


def _modules(study: Study) -> set[str]:
    """Files beside the study that hold functions of the user."""
    named = (one.of.partition(":")[0] + ".py" for one in study.measure.values() if isinstance(one.of, str))
    return {name for name in named if (study.beside / name).is_file()}


def _store_files(scene: dict[str, Any], words: dict[str, Any], study: Study) -> None:
    """Name files as they are kept, in the scene and wherever the study gives one."""
    for table in tables_with_files(scene):
        table["file"] = stored_name(Path(table["file"]))
    for table in [words.get("vary", {}), words.get("set", {}), *words.get("points", [])]:
        for name, value in table.items():
            if read_name(name)[0] in WITH_FILES and read_name(name)[-1] == "file":
                values = value if isinstance(value, list) else [value]
                kept = [stored_name(study.beside / file) for file in values]
                table[name] = kept if isinstance(value, list) else kept[0]
