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
    "shock.py", "solve", "contacts.py", "contact_rows.py", "laws", "detect", "integrate.py", "timestep.py", "cell.py",
    "flow.py", "walls.py", "bodies.py", "stage", "certificate", "measure", "trajectory", "scene", "theory.py",
    "simulation.py", "sorting.py", "springs.py",
)  # fmt: skip

# Tests of what only shows or repeats results: pictures, pages, live view, benchmarks, long reproductions, the shell.
LEFT_OUT = (
    "allocation", "arguments", "bench", "benchmarks", "cli", "compiled", "examples", "gallery", "laboratory", "live",
    "notebook", "outputs", "outputs_resume", "page", "page_size", "peers", "pictures", "progress", "reproduce",
    "reproduce_chain", "reproduce_laws", "reproduce_matter", "threads", "validation", "view", "view_cell",
)  # fmt: skip

Notes = dict[str, tuple[float, dict[str, list[int]]]]


def files_that_decide(package: Path) -> list[Path]:
    chosen = [package / name for name in DECIDE]
    return [file for place in chosen for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]


def test_files(tests: Path) -> list[str]:
    names = sorted(file.stem.removeprefix("test_") for file in tests.glob("test_*.py"))
    return [f"tests/test_{name}.py" for name in names if name not in LEFT_OUT]


def tests_of(mutant: Mutant, package: Path, notes: Notes, limit: float) -> list[str]:
    """Tests that run the function which a mutant is in, quick and specific ones first, up to so many seconds in all.

    What is compiled leaves no notes: there, tests of files that call it themselves come first, then tests that run any
    function which names it. Outside of functions, all tests that run something of the file.
    """
    wanted, kernels = _callers(mutant, package), kernels_of(mutant, package)
    calls = {file for file in {name.split("::")[0] for name in notes} if called(package.parents[1] / file) & kernels}
    found = sorted(
        (name.split("::")[0] not in calls, seconds * sum(map(len, ran.values())), seconds, name)
        for name, (seconds, ran) in notes.items()
        if name.split("::")[0] in calls
        or any(file in ran and (lines is None or lines & set(ran[file])) for file, lines in wanted.items())
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
def called(test_file: Path) -> set[str]:
    """Names that a test file imports from the package, or takes from its modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(test_file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rigidgrains"):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(node.attr)
    return found


def kernels_of(mutant: Mutant, package: Path) -> set[str]:
    """Names of the compiled functions that may contain a mutant, by calling what it is in or by using its constant."""
    if not mutant.compiled:
        return set()
    inner = _around(mutant, package)
    names = {inner.name} if inner is not None else set(_constants(mutant, package))
    last = 0
    while len(names) > last:
        last = len(names)
        names |= {f.name for f in _functions(package) if f.compiled and f.mentions & names}
        names |= {alias for alias, mentioned in _aliases(package) if mentioned & names}
    return names


def _around(mutant: Mutant, package: Path) -> _Function | None:
    """The innermost function that a mutant is in."""
    inside = [f for f in _functions(package) if f.file == mutant.file and f.first <= mutant.line <= f.last]
    return max(inside, key=lambda f: f.first) if inside else None


def _constants(mutant: Mutant, package: Path) -> Iterator[str]:
    """What is defined at the line of a mutant outside of functions."""
    for statement in ast.parse((package / mutant.file).read_text()).body:
        if statement.lineno <= mutant.line <= (statement.end_lineno or statement.lineno):
            if isinstance(statement, ast.ClassDef):
                yield statement.name
            yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _callers(mutant: Mutant, package: Path) -> dict[str, set[int] | None]:
    """First lines of the functions that must run for a mutant to matter, by file; None for any of the file."""
    inner = _around(mutant, package)
    if inner is None:
        return {mutant.file: None}
    if not inner.compiled:
        return {mutant.file: {inner.first}}
    names = kernels_of(mutant, package)
    wanted: dict[str, set[int]] = {}
    for f in _functions(package):
        if not f.compiled and f.mentions & names:
            wanted.setdefault(f.file, set()).add(f.first)
    return dict(wanted)


class _Function:
    """first, last : its lines, decorators included; mentions : names within"""

    def __init__(self, file: str, node: ast.FunctionDef) -> None:
        self.file, self.name, self.mentions = file, node.name, _mentioned(node)
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
def _aliases(package: Path) -> list[tuple[str, set[str]]]:
    """Names that a file gives to what it names, as in `shock = law(shock_law)` or `import drag as pull`."""
    found = []
    for file in sorted(package.rglob("*.py")):
        for statement in ast.parse(file.read_text()).body:
            if isinstance(statement, ast.Assign):
                mentioned = _mentioned(statement.value)
                stored = [n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
                found += [(name, mentioned) for name in stored]
            elif isinstance(statement, ast.ImportFrom):
                found += [(alias.asname, {alias.name}) for alias in statement.names if alias.asname]
    return found


def _mentioned(node: ast.AST) -> set[str]:
    nodes = list(ast.walk(node))
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


def read_notes(file: Path) -> Notes:
    return {name: (float(seconds), ran) for name, (seconds, ran) in json.loads(file.read_text()).items()}
