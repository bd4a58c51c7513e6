"""Formulas in the time t, as users write them: arithmetic and a few functions, nothing else is ever evaluated."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import CodeType
from typing import Any


def step(x: float) -> float:
    """0 before zero, 1 from there on."""
    return 1.0 if x >= 0.0 else 0.0


FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "abs": abs, "min": min, "max": max, "floor": math.floor, "step": step,
}  # fmt: skip
CONSTANTS = {"pi": math.pi, "e": math.e}
SEVERAL = ("min", "max")  # functions of two or more numbers
KNOWN = f"t, {', '.join(CONSTANTS)}, {', '.join(FUNCTIONS)}"
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)
LONGEST = 1000  # characters
DEEPEST = 50  # brackets within brackets


def compile_formula(text: str) -> CodeType:
    """The formula, ready to be evaluated; ValueError says what is wrong with it."""
    if len(text) > LONGEST:
        raise ValueError(f"is a formula of {len(text)} characters; write one below {LONGEST}, or a table")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError("is no formula; write one in t, such as '0.01*sin(2*pi*5*t)'") from None
    _check(tree.body, 0)
    return compile(ast.fix_missing_locations(_Floats().visit(tree)), "<formula>", "eval")


def evaluate(code: CodeType, text: str, t: float) -> float:
    """Value at a time; ValueError where the formula has none."""
    try:
        value = eval(code, {"__builtins__": {}}, {**FUNCTIONS, **CONSTANTS, "t": t})
        if isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
        reason = "it is not a finite number"
    except OverflowError:
        reason = "it is too large"
    except (ArithmeticError, ValueError) as error:
        reason = str(error)
    raise ValueError(f"formula '{text}' has no value at t = {t:g} s: {reason}")


def _check(node: ast.AST, depth: int) -> None:
    """Only numbers, known names, arithmetic and calls of known functions."""
    if depth > DEEPEST:
        raise ValueError(f"has more than {DEEPEST} brackets or operations within each other; simplify the formula")
    if isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
        _check(node.left, depth + 1)
        _check(node.right, depth + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, OPERATORS):
        _check(node.operand, depth + 1)
    elif isinstance(node, ast.Call):
        _check_call(node, depth)
    elif isinstance(node, ast.Name):
        if node.id != "t" and node.id not in CONSTANTS:
            hint = f"{node.id} is a function; write {node.id}(...)" if node.id in FUNCTIONS else f"known are {KNOWN}"
            raise ValueError(f"has the unknown name '{node.id}'; {hint}")
    elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
        raise ValueError("may hold numbers, t, pi, e, + - * / **, brackets and functions only")


def _check_call(node: ast.Call, depth: int) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if name not in FUNCTIONS:
        raise ValueError(f"has the unknown function '{name}'; known are {', '.join(FUNCTIONS)}")
    wrong = len(node.args) < 2 if name in SEVERAL else len(node.args) != 1
    if wrong or node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ValueError(f"{name}() takes {'two numbers or more' if name in SEVERAL else 'one number'}")
    for argument in node.args:
        _check(argument, depth + 1)


class _Floats(ast.NodeTransformer):
    """Whole numbers become floats: powers of them end at infinity, not with the memory."""

    def visit_Constant(self, node: ast.Constant) -> Any:
        try:
            return ast.copy_location(ast.Constant(float(node.value)), node)  # type: ignore[arg-type]
        except OverflowError:
            raise ValueError("has a number that is too large") from None
