"""Mutants: every place of a source file where one operator, constant, sign, comparison, index or bound can be changed.

Places are found in the syntax tree and changed in the text, so that the rest of the file stays as it is.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPILED = {"kernel", "part", "law", "inside", "inlined", "intrinsic"}  # decorators
COMPILED_FILES = {"laws/shock.py", "runtime/simd.py"}  # plain Python that others compile

ARITHMETIC = {
    ast.Add: ("+", ["-"]), ast.Sub: ("-", ["+"]), ast.Mult: ("*", ["/"]), ast.Div: ("/", ["*"]),
    ast.FloorDiv: ("//", ["*"]), ast.Mod: ("%", ["*"]), ast.Pow: ("**", ["*"]), ast.BitAnd: ("&", ["|"]),
    ast.BitOr: ("|", ["&"]), ast.LShift: ("<<", [">>"]), ast.RShift: (">>", ["<<"]),
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ("<", ["<=", ">="]), ast.LtE: ("<=", ["<", ">"]), ast.Gt: (">", [">=", "<="]), ast.GtE: (">=", [">", "<"]),
    ast.Eq: ("==", ["!="]), ast.NotEq: ("!=", ["=="]), ast.Is: ("is", ["is not"]), ast.In: ("in", ["not in"]),
    ast.IsNot: ("is not", ["is"]), ast.NotIn: ("not in", ["in"]),
}  # fmt: skip
BOUNDS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One change.

    file : below src/rigidgrains; line, column : from 1, of the text `old`, which becomes `new`
    text : the whole line, stripped; compiled : whether kernels may contain it
    """

    file: str
    line: int
    column: int
    old: str
    new: str
    text: str
    compiled: bool

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.old} -> {self.new}"

    def apply(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        line, at = lines[self.line - 1], self.column - 1
        if line.strip() != self.text or line[at : at + len(self.old)] != self.old:
            raise ValueError(f"{self.name}: the source has changed; the line is now {line.strip()!r}")
        lines[self.line - 1] = line[:at] + self.new + line[at + len(self.old) :]
        return "".join(lines)


def draw(files: list[Path], top: Path, seed: int) -> list[Mutant]:
    """One mutant for every line that has any, in random order: the first hundred are a hundred lines at random."""
    chance = random.Random(seed)
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for file in sorted(files):
        for mutant in find(file, top):
            lines.setdefault((mutant.file, mutant.line), []).append(mutant)
    keys = list(lines)
    chance.shuffle(keys)
    return [chance.choice(lines[key]) for key in keys]


def find(file: Path, top: Path) -> list[Mutant]:
    """All mutants of a file."""
    source, name = file.read_text(), file.relative_to(top).as_posix()
    lines = source.splitlines()
    return [
        Mutant(name, line, column + 1, old, new, lines[line - 1].strip(), compiled)
        for line, column, old, new, compiled in _Places(source, name).changes()
    ]


class _Places:
    """The places of one file."""

    def __init__(self, source: str, name: str) -> None:
        self.lines = source.splitlines()
        self.tree = ast.parse(source)
        self.everywhere = name in COMPILED_FILES
        self.tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        self.at_import = {  # functions whose results kernels may take for constants
            call.func.id
            for statement in self.tree.body
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
            for call in ast.walk(statement)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }

    def changes(self) -> Iterator[tuple[int, int, str, str, bool]]:
        for statement in self.tree.body:
            yield from self._walk(statement, compiled=True, in_function=False)

    def _walk(self, node: ast.AST, *, compiled: bool, in_function: bool) -> Iterator[tuple[int, int, str, str, bool]]:
        """What stands outside of functions counts as compiled: kernels take it for constant."""
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise, ast.JoinedStr, ast.Assert)) or _is_text(node):
            return
        if isinstance(node, ast.FunctionDef):
            its_own = self.everywhere or node.name in self.at_import or is_compiled(node)
            compiled, in_function = its_own or (in_function and compiled), True
        if in_function or not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):  # not unions of types
            for line, column, old, new in self._here(node):
                yield line, column, old, new, compiled
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self._walk(child, compiled=compiled, in_function=in_function)

    def _here(self, node: ast.AST) -> Iterator[tuple[int, int, str, str]]:
        if (
            isinstance(node, ast.BinOp)
            and type(node.op) in ARITHMETIC
            and not (_is_words(node.left) or _is_words(node.right))
        ):
            yield from self._operator(node.left, node.right, *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC and not _is_words(node.value):
            sign, others = ARITHMETIC[type(node.op)]
            yield from self._operator(node.target, node.value, f"{sign}=", [f"{other}=" for other in others])
        elif isinstance(node, ast.Compare):
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators):
                yield from self._operator(left, right, *COMPARISONS[type(op)])
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:]):
                yield from self._operator(left, right, old, [new])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            old = {ast.USub: "-", ast.Not: "not", ast.Invert: "~"}[type(node.op)]
            yield node.lineno, self._column(node.lineno, node.col_offset), old, ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            old = ast.get_source_segment("\n".join(self.lines), node) or ""
            for new in _other_constants(node.value):
                yield node.lineno, self._column(node.lineno, node.col_offset), old, new
        elif isinstance(node, ast.Call):
            function = node.func
            word = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if word in BOUNDS and function.end_lineno and function.end_col_offset:
                end = self._column(function.end_lineno, function.end_col_offset)
                yield function.end_lineno, end - len(word), word, BOUNDS[word]

    def _operator(
        self, left: ast.expr, right: ast.expr, old: str, others: list[str]
    ) -> Iterator[tuple[int, int, str, str]]:
        """An operator stands between its operands, with nothing but brackets around it."""
        assert left.end_lineno is not None
        assert left.end_col_offset is not None
        begin = left.end_lineno, self._column(left.end_lineno, left.end_col_offset)
        end = right.lineno, self._column(right.lineno, right.col_offset)
        for token in self.tokens:
            if begin <= token.start < end and token.string == old.split()[0]:
                line, column = token.start
                if self.lines[line - 1].startswith(old, column):
                    for new in others:
                        yield line, column, old, new
                return

    def _column(self, line: int, offset: int) -> int:
        """Characters for bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode())


def is_compiled(node: ast.FunctionDef) -> bool:
    names = {getattr(by.func if isinstance(by, ast.Call) else by, "id", "") for by in node.decorator_list}
    return bool(names & COMPILED)


def _is_text(node: ast.AST) -> bool:
    """Docstrings, `__all__`, and what only type checkers see."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
        return True
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def _is_words(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", 0), (str, bytes))


def _other_constants(value: float) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(value + 1), str(value - 1)] if value else ["1"]
    return [repr(2.0 * value), repr(0.5 * value)] if value else ["1.0"]
