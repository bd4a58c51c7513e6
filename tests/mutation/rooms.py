"""Which files decide results, which tests are asked about them, and which tests run a given function."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mutants import COMPILED_FILES, Mutant, is_compiled

# Below src/rigidgrains: where a wrong sign is a wrong result, a lost frame or a wrong verdict.
DECIDE = (
    "model", "laws", "detect", "contacts", "solve", "events", "simulation", "trajectory", "measure", "certificate",
    "scene", "theory.py", "soft_dem.py",
)  # fmt: skip

# Tests of what only shows or repeats results: pictures, pages, live view, benchmarks, long reproductions, the shell.
# Folders, and single files of others.
LEFT_OUT = (
    "app", "bits", "cli", "files", "laboratory", "mutation", "reproduce", "view", "observe/test_progress.py",
    "runtime/test_arguments.py", "runtime/test_compiled.py", "runtime/test_memory.py", "runtime/test_threads.py",
    "whole/test_benchmarks.py", "whole/test_examples.py", "whole/test_gallery.py", "whole/test_peers.py",
    "whole/test_validation.py",
)  # fmt: skip

Notes = dict[str, tuple[float, dict[str, list[int]]]]


def files_that_decide(package: Path) -> list[Path]:
    chosen = [package / name for name in DECIDE]
    return [file for place in chosen for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]


def test_files(tests: Path) -> list[str]:
    names = sorted(file.relative_to(tests) for file in tests.rglob("test_*.py"))
    return [f"tests/{name.as_posix()}" for name in names if not {name.parts[0], name.as_posix()} & {*LEFT_OUT}]


def tests_of(mutant: Mutant, package: Path, notes: Notes, limit: float) -> list[str]:
    """Tests that run what a mutant is in, quick and specific ones first, up to so many seconds in all.

    That is its function, or one of the kernels that may contain it. Outside of functions it is anything of the file,
    and tests of files that import it come first.
    """
    wanted = {(file, line) for file, _, line in kernels_of(mutant, package)}
    inner = _around(mutant, package)
    if inner is not None:
        wanted.add((inner.file, inner.first))
    anything = inner is None or (mutant.compiled and not inner.compiled)
    here = package.parents[1]
    homes = {home for home in {name.split("::")[0] for name in notes} if anything and imports(here / home, mutant.file)}
    found = sorted(
        (name.split("::")[0] not in homes, seconds * sum(map(len, ran.values())), seconds, name)
        for name, (seconds, ran) in notes.items()
        if (anything and mutant.file in ran)
        or name.split("::")[0] in homes
        or any(line in ran.get(file, ()) for file, line in wanted)
    )
    chosen: list[str] = []
    total = 0.0
    for _, _, seconds, name in found:
        total += seconds
        if total > limit and chosen:
            break
        chosen.append(name)
    return chosen


@cache
def imports(test_file: Path, file: str) -> bool:
    """Whether a test file imports a file of the package, or something from it."""
    module = ".".join(("rigidgrains", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
    return any(
        node.module == module or any(f"{node.module}.{alias.name}" == module for alias in node.names)
        for node in ast.walk(ast.parse(test_file.read_text()))
        if isinstance(node, ast.ImportFrom)
    )


def kernels_of(mutant: Mutant, package: Path) -> set[tuple[str, str, int]]:
    """File, name and first line of the compiled functions that may contain a mutant, since they name what it is in."""
    if not mutant.compiled:
        return set()
    inner, users = _around(mutant, package), _users(package)
    names = {inner.name} if inner is not None else set(_constants(mutant, package))
    reached = {(mutant.file, name) for name in names}
    new = reached
    while new:
        new = {user for name in new for user in users.get(name, ())} - reached
        reached |= new
    return {(f.file, f.name, f.first) for f in _functions(package) if f.compiled and (f.file, f.name) in reached}


def _around(mutant: Mutant, package: Path) -> _Function | None:
    """The innermost function that a mutant is in."""
    inside = [f for f in _functions(package) if f.file == mutant.file and f.first <= mutant.line <= f.last]
    return max(inside, key=lambda f: f.first) if inside else None


def _constants(mutant: Mutant, package: Path) -> Iterator[str]:
    """What is defined at the line of a mutant outside of functions."""
    for statement in ast.parse((package / mutant.file).read_text()).body:
        if statement.lineno <= mutant.line <= (statement.end_lineno or statement.lineno):
            yield from _stored(statement)


class _Function:
    """first, last : its lines, decorators included"""

    def __init__(self, file: str, node: ast.FunctionDef) -> None:
        self.file, self.name = file, node.name
        self.first = min([node.lineno, *(by.lineno for by in node.decorator_list)])
        self.last = node.end_lineno or node.lineno
        self.compiled = file in COMPILED_FILES or is_compiled(node)


@cache
def _functions(package: Path) -> list[_Function]:
    return [
        _Function(file.relative_to(package).as_posix(), node)
        for file in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]


@cache
def _users(package: Path) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """For each (file, name) the compiled functions and the constants that name it, by whatever name they import it."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path in sorted(package.rglob("*.py")):
        file, tree = path.relative_to(package).as_posix(), ast.parse(path.read_text())
        imported = {known: origin for node in tree.body for known, origin in _imports(node, path, package)}
        for node in tree.body:
            names = [node.name] if isinstance(node, ast.FunctionDef) else list(_stored(node))
            if isinstance(node, ast.FunctionDef) and not (file in COMPILED_FILES or is_compiled(node)):
                continue
            for used in ast.walk(node):
                if isinstance(used, ast.Name):
                    origin = imported.get(used.id, (file, used.id))
                elif isinstance(used, ast.Attribute) and isinstance(used.value, ast.Name) and used.value.id in imported:
                    module, _ = imported[used.value.id]  # a module, and something of it
                    origin = (module, used.attr)
                else:
                    continue
                found.setdefault(origin, set()).update((file, name) for name in names)
    return found


def _imports(node: ast.stmt, path: Path, package: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names that a line imports from the package, and where they come from: (file, name)."""
    if isinstance(node, ast.ImportFrom) and node.level:
        base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        for alias in node.names:
            for file in (base.with_suffix(".py"), base / f"{alias.name}.py", base / "__init__.py"):
                if file.is_file():
                    yield alias.asname or alias.name, (file.relative_to(package).as_posix(), alias.name)
                    break


def _stored(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement defines outside of functions."""
    if isinstance(statement, ast.ClassDef):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def read_notes(file: Path) -> Notes:
    return {name: (float(seconds), ran) for name, (seconds, ran) in json.loads(file.read_text()).items()}
