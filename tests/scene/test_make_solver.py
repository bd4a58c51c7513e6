"""[solver] reaches the solver by names: every key has a class that knows it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from rigidgrains.scene import Scene
from rigidgrains.scene.make_solver import NAMES
from rigidgrains.scene.settings import Of, Solver
from rigidgrains.solve.names import CRITERIA, METHODS, NAMED_ORDERS

KINDS = {"method", "order", "criterion"}


def keys_of(kind) -> set[str]:
    return {NAMES.get(field.name, field.name) for field in fields(kind)} if is_dataclass(kind) else set()


def test_every_key_is_a_field_of_what_it_is_for():
    known = set().union(*(keys_of(kind) for some in (METHODS, NAMED_ORDERS, CRITERIA) for kind in some.values()))
    assert set(Solver.model_fields) - KINDS <= known


def test_keys_of_one_method_are_fields_of_that_method_alone():
    for key, field in Solver.model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Of):
                assert [name for name, kind in METHODS.items() if key in keys_of(kind)] == [mark.method], key


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({"accuracy": "exact", "max_sweeps": 70}, {"accuracy": "exact", "max_sweeps": 70, "own": ("max_sweeps",)}),
        ({"method": "second-order", "warm": 4, "gap": "g"}, {"warm": 4, "gap": "g"}),
        ({"method": "sweeps", "gap": 0.3, "slack": 0.01, "sleep": True}, {"gap": 0.3, "slack": 0.01, "sleep": True}),
    ],
)
def test_what_is_given_arrives(words, found):
    solver = Scene(solver=words).make_solver()
    assert {key: getattr(solver, key) for key in found} == found


@pytest.mark.parametrize(
    ("words", "part", "found"),
    [
        ({"order": "ordered", "axis": "-y"}, "order", {"axis": "-y"}),
        ({"order": "random_blocks", "block": 64}, "order", {"block": 64}),
        ({"criterion": "local", "epsilon": 0.02, "delta": 0.5}, "criterion", {"epsilon": 0.02, "delta": 0.5}),
        ({"criterion": "fixed", "sweeps": 9}, "criterion", {"sweeps": 9}),
        ({"criterion": "rigid", "rigidity": 3.0}, "criterion", {"safety": 3.0}),
        (
            {"epsilon": 0.1, "residual": 0.2, "contact": 0.3}, "criterion",
            {"epsilon": 0.1, "residual": 0.2, "contact": 0.3},
        ),
    ],
)  # fmt: skip
def test_orders_and_criteria_get_theirs(words, part, found):
    made = getattr(Scene(solver=words).make_solver(), part)
    assert {key: getattr(made, key) for key in found} == found
