"""docs/equations.md says which line computes which equation of the paper, as the citations in the code have it."""

from __future__ import annotations

import importlib.util

import pytest
from support import ROOT

DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("equations", DOCS / "equations.py")
equations = importlib.util.module_from_spec(spec)
spec.loader.exec_module(equations)
CITED = equations.places()


def test_the_page_is_that_of_the_code():
    """`python docs/equations.py` writes it."""
    assert equations.PAGE.read_text(encoding="utf-8") == equations.page()


def test_the_paper_has_63_labels():
    assert len(equations.EQUATIONS) == 63


@pytest.mark.parametrize("label", equations.EQUATIONS)
def test_every_equation_is_cited_or_a_derivation(label):
    assert (label in CITED) != (label in equations.DERIVATIONS)


def test_no_other_label_is_cited():
    assert set(CITED) <= set(equations.EQUATIONS)
    assert set(equations.DERIVATIONS) <= set(equations.EQUATIONS)


def test_what_is_computed_in_a_step_is_cited_where_it_is_computed():
    """Not by reproductions alone; the labels of the section on the method, up to the criteria."""
    method = list(equations.EQUATIONS)
    method = method[: method.index("constNI") + 1]
    lacking = [label for label in method if not any(CITED.get(label, {}).values())]
    assert [label for label in lacking if label not in equations.DERIVATIONS] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Eq. (m-t)", ["m-t"]),
        ("# Eqs. (dx) and (dv): x (t) later", ["dx", "dv"]),
        ("Eqs. (m-n), (m-t), (noslipRnew) and\n    (slipRnew), f(x)", ["m-n", "m-t", "noslipRnew", "slipRnew"]),
        ("the Eq of (dx)", []),
    ],
)
def test_citations_are_read(text, found):
    assert equations.labels(text) == found


def test_citations_belong_to_the_innermost_name():
    """A constant, a method and its class, a function; neither the docstring of the module nor other texts."""
    code = '''"""Eq. (tau)."""
Q = 0.5  # Eq. (q1)
class Law:
    """Eq. (m-n)."""
    def push(self):
        """Eq. (m-t)."""
        x = "Eq. (dx)"
        return x  # Eq. (dv)
def move():
    pass  # Eqs. (D1) and (D2)
'''
    assert sorted(equations.citations(code)) == [
        ("D1", "move"), ("D2", "move"), ("dv", "Law.push"), ("m-n", "Law"), ("m-t", "Law.push"), ("q1", "Q"),
    ]  # fmt: skip
