"""Formulas in the time t, or in other variables: arithmetic and a few functions, nothing else is ever evaluated.

All numbers are floats from the first to the last, so that each operation costs the same, and a formula as much as it is
long. An operation without a finite real result ends the evaluation, also where what follows would hide it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

Value = Callable[[Any], float]  # of the time (s), or of the values of several variables
TIME = ("t",)
IN_STAGE = ("t", "stage_time")  # in a stage also the time since it began


class NoValue(ValueError):
    """A quantity in the course of time that has no value at some time."""


def step(x: float) -> float:
    """0 before zero, 1 from there on."""
    return 1.0 if x >= 0.0 else 0.0


def floor(x: float) -> float:
    """The next whole number below, as a float."""
    return float(math.floor(x))


def power(a: float, b: float) -> float:
    """a to the b; a negative number has whole powers alone."""
    return math.pow(a, b) if a or b >= 0.0 else 1.0 / a


FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "abs": abs, "min": min, "max": max, "floor": floor, "step": step,
}  # fmt: skip
CONSTANTS = {"pi": math.pi, "e": math.e}
SEVERAL = ("min", "max")  # functions of two or more numbers
OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
    ast.Pow: power, ast.USub: lambda a: -a, ast.UAdd: lambda a: a,
}  # fmt: skip
LONGEST = 1000  # characters
DEEPEST = 50  # brackets within brackets


def compile_formula(text: str, variables: Sequence[str] = TIME) -> Value:
    """The formula as a function of time, or of a tuple of the variables; ValueError says what is wrong with it."""
    if len(text) > LONGEST:
        raise ValueError(f"is a formula of {len(text)} characters; write one below {LONGEST}, or a table")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        example = "'0.01*sin(2*pi*5*t)'" if variables is TIME else f"'2*{variables[0]}'"
        raise ValueError(f"is no formula; write one in {', '.join(variables)}, such as {example}") from None
    return _read(tree.body, variables, 0)


def evaluate(formula: Value, text: str, t: float, begun: float | None = None) -> float:
    """Value at a time, of a formula IN_STAGE for one that began at `begun`; NoValue where the formula has none."""
    try:
        return formula(t if begun is None else (t, t - begun))
    except ArithmeticError as reason:
        raise NoValue(f"formula '{text}' has no value at t = {t:g} s: {reason}") from None


def _read(node: ast.AST, variables: Sequence[str], depth: int) -> Value:
    """Only numbers, known names, arithmetic and calls of known functions."""
    if depth > DEEPEST:
        raise ValueError(f"has more than {DEEPEST} brackets or operations within each other; simplify the formula")
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sides = [_read(part, variables, depth + 1) for part in (node.left, node.right)]
        return _apply(OPERATORS[type(node.op)], sides, node)
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return _apply(OPERATORS[type(node.op)], [_read(node.operand, variables, depth + 1)], node)
    if isinstance(node, ast.Call):
        return _apply(FUNCTIONS[_function(node)], [_read(part, variables, depth + 1) for part in node.args], node)
    if isinstance(node, ast.Name):
        return _named(node.id, variables)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _number(node.value)
    known = ", ".join((*variables, *CONSTANTS))
    raise ValueError(f"may hold numbers, {known}, + - * / **, brackets and functions only")


def _apply(function: Callable[..., float], parts: list[Value], node: ast.AST) -> Value:
    """An operation on parts; ArithmeticError names it where it has no finite real result."""
    told = ast.unparse(node)

    def value(t: Any) -> float:
        numbers = [part(t) for part in parts]
        try:
            result = function(*numbers)
        except OverflowError:
            result = math.inf
        except ZeroDivisionError:
            raise ArithmeticError(f"{told} divides by zero") from None
        except ValueError:  # of math: outside of the domain
            raise ArithmeticError(f"{told} is no real number") from None
        if not math.isfinite(result):
            raise ArithmeticError(f"{told}: it is too large")
        return result

    return value


def _named(name: str, variables: Sequence[str]) -> Value:
    if name in variables:
        return float if variables is TIME else itemgetter(variables.index(name))
    if name in CONSTANTS:
        return _number(CONSTANTS[name])
    known = ", ".join((*variables, *CONSTANTS, *FUNCTIONS))
    hint = f"{name} is a function; write {name}(...)" if name in FUNCTIONS else f"known are {known}"
    raise ValueError(f"has the unknown name '{name}'; {hint}")


def _number(number: float) -> Value:
    try:
        constant = float(number)
    except OverflowError:
        constant = math.inf
    if math.isinf(constant):
        raise ValueError("has a number that is too large")
    return lambda t: constant


def _function(node: ast.Call) -> str:
    """Its name, if it is known and has as many arguments as it takes."""
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if name not in FUNCTIONS:
        raise ValueError(f"has the unknown function '{name}'; known are {', '.join(FUNCTIONS)}")
    wrong = len(node.args) < 2 if name in SEVERAL else len(node.args) != 1
    if wrong or node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ValueError(f"{name}() takes {'two numbers or more' if name in SEVERAL else 'one number'}")
    return name
