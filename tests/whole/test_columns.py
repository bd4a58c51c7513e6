"""Kernels read like the paper: columns have names, and signatures no annotations, which Numba does not need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rigidgrains

PACKAGE = Path(rigidgrains.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
COMPILED = {"kernel", "allocating", "part", "inlined", "folded", "inside", "law"}
# Plain Python that kernels compile: one text for every loop and every device
TEXTS = {("laws/shock.py", "*"), ("runtime/simd.py", "choose")} | {
    (f"solve/kernels/{name}.py", "*") for name in ("sweeps", "coloured", "extrapolated", "measures")
}
# Tables whose columns have names everywhere; in kernels all but those that say which bodies, and rows of any table
TABLES = {"motion", "before", "kept", "geometry", "forces", "impulse", "extra", "branch", "flow", "cell_mobility"}
BODIES = {"pairs", "old_pairs", "pair", "origin", "table"}
# Blocks of matrices, whose columns are n, t1, t2; corners of simplices and ends of edges, which have numbers
BY_NATURE = (
    "solve/matrix/",
    *(f"shapes/{name}.py" for name in ("gjk", "sat", "clip", "closest", "placed", "solid_manifold")),
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_columns_have_names():
    """An index after the first is no bare number: `motion[i, INV_MASS]`, see model/columns.py."""
    found = [
        f"{module}:{line}: {text}"
        for module, path in MODULES.items()
        if not module.startswith(BY_NATURE)
        for line, text in bare_columns(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


def test_functions_that_are_not_compiled_have_types():
    bare = [
        f"{module}:{function.lineno}: {function.name} has no annotations; only kernels may go without"
        for module, path in MODULES.items()
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if not annotated(function) and not compiled(function) and not TEXTS & {(module, "*"), (module, function.name)}
    ]
    assert not bare, "\n".join(bare)


def bare_columns(tree: ast.AST) -> list[tuple[int, str]]:
    """Lines and texts of indices like `motion[i, 6]`, `forces[:, 1:4]`, `motion[i, 3 + k]`."""
    within = {node for function in functions(tree) if compiled(function) for node in ast.walk(function)}
    return [
        (node.lineno, ast.unparse(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Tuple)
        and any(is_bare(index) for index in node.slice.elts[1:])
        and (table_of(node) in TABLES or (node in within and table_of(node) not in BODIES))
    ]


def table_of(node: ast.Subscript) -> str:
    """The name before the brackets; of `arrays["motion"][...]` the word."""
    table = node.value
    if isinstance(table, ast.Attribute):
        return table.attr
    if isinstance(table, ast.Subscript) and isinstance(table.slice, ast.Constant):
        return str(table.slice.value)
    return table.id if isinstance(table, ast.Name) else ""


def is_bare(index: ast.expr) -> bool:
    """A number, or made of one; names of columns may be added to: `: R_Z + 1`."""
    if isinstance(index, ast.Slice):
        return any(is_bare(end) for end in (index.lower, index.upper) if end is not None)
    if isinstance(index, ast.BinOp) and any(
        isinstance(node, ast.Name) and node.id.isupper() for node in ast.walk(index)
    ):
        return False
    return any(isinstance(node, ast.Constant) and type(node.value) is int for node in ast.walk(index))


def functions(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def annotated(function: Function) -> bool:
    """Whether any annotation is there; mypy refuses a signature with some but not all (disallow_incomplete_defs)."""
    return function.returns is not None or any(
        isinstance(node, ast.arg) and node.annotation is not None for node in ast.walk(function.args)
    )


def compiled(function: Function) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id in COMPILED for mark in function.decorator_list)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("bodies.motion[:, 6:]", True),
        ("forces[c, 0]", True),
        ("forces[:, 1:4]", True),
        ("motion[i, 3 + k]", True),
        ("motion[i, -1]", True),
        ('arrays["motion"][:n, 6]', True),
        ("motion[0, INV_MASS]", False),
        ("motion[i, S_X + k]", False),
        ("forces[some, : R_Z + 1]", False),
        ("geometry[:, N]", False),
        ("extra[:, A_0, None]", False),
        ("extra[:, 3, None]", True),
        ("motion[i, k]", False),
        ("table[:, 1]", False),
    ],
)
def test_bare_columns_are_seen(text, bare):
    assert bool(bare_columns(ast.parse(text))) is bare


@pytest.mark.parametrize(("text", "bare"), [("position[i, 0]", True), ("pairs[c, 1]", False), ("point[0]", False)])
def test_in_kernels_every_table_counts(text, bare):
    assert bool(bare_columns(ast.parse(f"@kernel\ndef f():\n    {text}"))) is bare
    assert not bare_columns(ast.parse(f"def f():\n    {text}"))


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
