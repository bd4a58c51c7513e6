"""What kernels are allowed: no annotations, which Numba does not need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rigidgrains

PACKAGE = Path(rigidgrains.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
COMPILED = {"kernel", "inlined", "law"}
# Plain Python that kernels compile: one text for every loop and every device
TEXTS = {("laws/shock.py", "*"), ("runtime/simd.py", "choose")}


def test_functions_that_are_not_compiled_have_types():
    bare = [
        f"{module}:{function.lineno}: {function.name} has no annotations; only kernels may go without"
        for module, path in MODULES.items()
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if not annotated(function) and not compiled(function) and not TEXTS & {(module, "*"), (module, function.name)}
    ]
    assert not bare, "\n".join(bare)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def annotated(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether any annotation is there; mypy refuses a signature with some but not all (disallow_incomplete_defs)."""
    return function.returns is not None or any(
        isinstance(node, ast.arg) and node.annotation is not None for node in ast.walk(function.args)
    )


def compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id in COMPILED for mark in function.decorator_list)


@pytest.mark.parametrize(
    ("text", "typed"),
    [("def f(x): pass", False), ("def f(): pass", False), ("def f() -> None: pass", True), ("def f(*x: int): 0", True)],
)
def test_annotations_are_seen(text, typed):
    [function] = functions(ast.parse(text))
    assert annotated(function) is typed
    assert not compiled(function)


def test_kernels_are_seen():
    [function] = functions(ast.parse("@kernel\ndef f(x): pass"))
    assert compiled(function)
