"""Arithmetic of history columns, as users write it: shear_stress / pressure; nothing else is ever evaluated."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scene.errors import suggestion

Array = NDArray[np.float64]
Evaluated = Callable[[Mapping[str, Array]], Array]
BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {"abs": np.abs, "sqrt": np.sqrt, "log": np.log, "exp": np.exp}
LONGEST = 300  # characters


def compile_columns(text: str, known: Iterable[str]) -> Evaluated:
    """A function of the columns; ValueError says what is wrong with the text."""
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters; write a function of your own")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise ValueError(
            "is no column of the history, nor arithmetic of columns; such as column:kinetic_energy"
        ) from None
    return _read(tree, list(known))


def _read(node: ast.AST, known: list[str]) -> Evaluated:
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        if name not in known:
            hint = suggestion(name, known) or f"; known are {', '.join(known)}"
            raise ValueError(f"there is no column '{name}' in the history of this scene{hint}")
        return lambda columns: columns[name]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number = float(node.value)  # type: ignore[arg-type]
        return lambda columns: np.asarray(number)
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        both, left, right = BINARY[type(node.op)], _read(node.left, known), _read(node.right, known)
        return lambda columns: _quiet(both, left(columns), right(columns))
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        one, part = UNARY[type(node.op)], _read(node.operand, known)
        return lambda columns: one(part(columns))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in FUNCTIONS and len(node.args) == 1 and not node.keywords:
        function, part = FUNCTIONS[ast.unparse(node.func)], _read(node.args[0], known)
        return lambda columns: _quiet(function, part(columns))
    raise ValueError(f"may hold columns, numbers, + - * / **, brackets, {', '.join(FUNCTIONS)} only")


def _quiet(function: Callable[..., Any], *parts: Any) -> Any:
    """What has no value is NaN, without a word."""
    with np.errstate(all="ignore"):
        return function(*parts)
