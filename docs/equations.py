"""Write docs/equations.md: which line of the program computes which equation of the paper.

    python docs/equations.py

The labels are those of the paper's TeX source. Code cites them as `Eq. (m-t)`, `Eqs. (kappa) and (gamma)`, in a comment
of the line or in the docstring of the function; the page is made from these. `tests/whole/test_equations.py` holds them
together.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "rigidgrains"
PAGE = HERE / "equations.md"
SHOWN = "reproduce"  # the room that holds equations against runs

EQUATIONS = {
    "dx": "positions by the new velocities, implicit Euler",
    "dv": "velocities by the new forces, implicit Euler",
    "contact-veloc": "velocity of body 1 against body 0 at the contact",
    "RFext": "forces and torques of two bodies as one vector",
    "generalized-R": "force and torque on both bodies by a contact force",
    "RgRcon": "the same as a matrix, H",
    "VconVg": "contact velocity by the transpose of H",
    "generalized-accel": "Newton's law of two bodies",
    "generalized-M": "mass matrix of two bodies",
    "contact-accel": "acceleration of a contact",
    "free-accel": "acceleration of a contact without a contact force",
    "invM1": "inverse effective mass of a contact, a block of the Delassus operator",
    "invM2": "inverse effective mass of two spheres",
    "m-n": "effective mass along the normal",
    "m-t": "effective mass across the normal",
    "MinvR": "what a contact force does to the contact velocity of spheres",
    "discr-generalized-accel": "velocities of two bodies after a step",
    "discr-contact-accel": "contact velocity after a step",
    "discr-contact-accel2": "contact velocity after a step, from the free one",
    "discr-free-veloc": "free velocity: without contact forces",
    "gap-change": "gap after a step",
    "positivegap": "no contact: the gap stays open without a force",
    "gapcloses": "contact: the gap closes",
    "stickingcondition": "sticking: no tangential velocity",
    "noslipRnew": "force that makes a contact stick",
    "slipRnew": "force of a sliding contact",
    "gpos": "gap policy: overlaps stop growing",
    "sphere-shock": "the shock law of spheres",
    "localcrit": "criterion: the change of each force",
    "globalcrit": "criterion: the change of the mean force",
    "constNI": "criterion: a number of sweeps",
    "1d-update": "the shock law in a chain",
    "Dxv": "from differences to derivatives: velocity",
    "Dx2R": "from differences to derivatives: force",
    "Dt*R": "from sweeps to a time of iteration",
    "contin-forceiter": "diffusion of forces in the time of iteration",
    "D1": "its diffusion coefficient",
    "beta1": "its source, by gradients of velocity",
    "q1": "q of parallel updates",
    "q-randsweep": "q of sweeps in random order",
    "difflength": "diffusion length of a number of sweeps",
    "NIestim1": "sweeps that make a packing rigid",
    "T2D": "cost of a rigid step in 2D",
    "T3D": "cost of a rigid step in 3D",
    "dv2": "velocities in a chain",
    "contin-veloc-update": "the same as a field",
    "contin-forceiter2": "diffusion of forces in physical time",
    "D2": "its diffusion coefficient",
    "beta2": "its source, by gradients of velocity",
    "wave-eq": "damped waves of force",
    "soundvelocity": "velocity of the artificial sound",
    "dispersion": "frequency of its waves",
    "k_c": "wave number beyond which they are overdamped",
    "tau": "damping time of its waves",
    "lsound": "how far it gets in a step",
    "lambdac": "wave length of the largest overdamped mode",
    "ldiff": "diffusion length of a step",
    "damposc": "damped oscillation",
    "lin-spring": "spring and dashpot, the soft counterpart",
    "spring-R": "diffusion of forces of springs and dashpots",
    "kappa": "stiffness that unfinished sweeps amount to",
    "gamma": "damping that unfinished sweeps amount to",
    "order-n": "cost of a step with a number of sweeps",
}  # all equations of the paper that have a label, in its order

DERIVATIONS = {
    "generalized-accel": "continuous in time; a step takes (discr-generalized-accel)",
    "contact-accel": "continuous in time; a step takes (discr-contact-accel2)",
    "free-accel": "continuous in time; a step takes (discr-free-veloc)",
    "invM2": "levers lie along the normal, which leaves (m-n) and (m-t); `tests/contacts/test_rows.py` shows it",
    "discr-contact-accel": "with the free velocity (discr-free-veloc) it is (discr-contact-accel2)",
    "Dxv": "a limit between (1d-update) and (contin-forceiter)",
    "Dx2R": "a limit between (1d-update) and (contin-forceiter)",
    "Dt*R": "a limit between (1d-update) and (contin-forceiter)",
    "contin-veloc-update": "the limit of (dv2)",
    "contin-forceiter2": "(contin-forceiter) with N_I sweeps in a step, which makes its coefficients (D2) and (beta2)",
}  # labels that no line computes, and why

CITED = re.compile(r"\bEqs?\.\s+(\([^)]*\)(?:(?:,\s+|\s+and\s+|,\s+and\s+)\([^)]*\))*)")


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def labels(text: str) -> list[str]:
    """What a text cites."""
    return [label for found in CITED.finditer(text) for label in re.findall(r"\(([^)]*)\)", found[1])]


def citations(text: str) -> Iterator[tuple[str, str]]:
    """Labels that the comments and docstrings of a module cite, each with the name of the function, class or constant.

    The docstring of the module computes nothing and does not count.
    """
    named: list[tuple[int, int, str]] = []
    for node, name in definitions(ast.parse(text), ""):
        named.append((node.lineno, node.end_lineno or node.lineno, name))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for label in labels(ast.get_docstring(node) or ""):
                yield label, name
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            at = token.start[0]
            around = [name for first, last, name in named if first <= at <= last]  # the innermost comes last
            for label in labels(token.string):
                yield label, around[-1] if around else "the module"


def definitions(tree: ast.AST, within: str) -> Iterator[tuple[ast.stmt, str]]:
    """Functions and classes with their names, `Class.method`, and constants of the module; outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node, within + node.name
            yield from definitions(node, f"{within}{node.name}.")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and not within:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield node, ast.unparse(target)


@cache
def places() -> dict[str, dict[str, list[str]]]:
    """Where each label is cited: label, file of the package, names."""
    found: dict[str, dict[str, list[str]]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        module = file.relative_to(PACKAGE)
        text = file.read_text(encoding="utf-8")
        if not labels(text):
            continue
        cited = [(label, "") for label in labels(text)] if module.parts[0] == SHOWN else citations(text)
        for label, name in cited:
            names = found.setdefault(label, {}).setdefault(module.as_posix(), [])
            if name and name not in names:
                names.append(name)
    return found


def page() -> str:
    """The whole page."""
    found, lines = places(), []
    for label, what in EQUATIONS.items():
        cited = found.get(label, {})
        where = [f"`{file}`: {', '.join(f'`{name}`' for name in names)}" for file, names in cited.items() if names]
        shown = [shown_by(file) for file, names in cited.items() if not names]
        lines.append(f"| ({label}) | {what} | {'; '.join(where) or DERIVATIONS.get(label, '')} | {', '.join(shown)} |")
    return TEXT + "\n".join(lines) + "\n"


def shown_by(file: str) -> str:
    """A link to the page of a reproduction, where it has one."""
    name = Path(file).stem.replace("_", "-")
    return f"[{name}]({SHOWN}/{name}.md)" if (HERE / SHOWN / f"{name}.md").is_file() else f"`{file}`"


TEXT = """\
# Equations: where they live in the code

Labels are those of T. Unger and J. Kertész, *The contact dynamics method for granular media*, in its order. A line that
computes one cites it, `# Eq. (m-t)`, and this table is made from these citations by `python docs/equations.py`: *where*
are files of `src/rigidgrains` and names within, *shown by* are [reproductions](reproduce/README.md) that hold it
against runs.

| label | what | where | shown by |
|---|---|---|---|
"""


if __name__ == "__main__":
    main()
