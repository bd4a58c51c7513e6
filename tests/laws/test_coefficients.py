"""Coefficients are declared once: what scenes, laws and files have of them is the same."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.laws import LAWS
from rigidgrains.model.coefficients import COEFFICIENTS, coefficients_of
from rigidgrains.scene.settings import Coefficients


def test_every_coefficient_of_a_law_is_declared():
    """Each table of each law that a file can hold has its key; laws have no others."""
    for name, law in LAWS.items():
        tables = {field.name for field in fields(law)} if law.storable else set()
        assert {one.table for one in coefficients_of(name)} == tables, name
    assert {one.law for one in COEFFICIENTS if one.law} <= set(LAWS)
    assert list(Coefficients.model_fields) == [one.key for one in COEFFICIENTS]
    keys = {one.key for one in COEFFICIENTS}
    assert {one.needs for one in COEFFICIENTS if one.needs} <= keys


def scene(**words) -> rg.Scene:
    made = rg.Scene(friction=0.3)
    made.add_material("a", **words)
    made.add_grains(positions=[[0, 0]], radius=1.0, material="a")
    made.add_grains(positions=[[5, 0]], radius=1.0)
    return made


@pytest.mark.parametrize(
    ("given", "law", "tables"),
    [
        ({"static_friction": 0.5}, "StaticFriction", {"static": [[0.3, 0.3], [0.3, 0.5]]}),
        (
            {"restitution": 0.4, "threshold": 0.1}, "Restitution",
            {"normal": [[0, 0], [0, 0.4]], "tangential": [[0, 0], [0, 0]], "threshold": [[0, 0], [0, 0.1]]},
        ),
        (
            {"cohesion": 2.0}, "Cohesion",
            {"force": [[0, 0], [0, 2]], "range": [[0, 0], [0, 0]], "decay": [[np.inf]]},
        ),
        (
            {"cohesion": 2.0, "range": 0.1, "decay": 0.2}, "Cohesion",
            {"force": [[0, 0], [0, 2]], "range": [[0, 0], [0, 0.1]], "decay": [[np.inf, np.inf], [np.inf, 0.2]]},
        ),
        ({"rolling": 0.2}, "Rolling", {"rolling": [[0, 0], [0, 0.2]], "twisting": [[0, 0], [0, 0]]}),
    ],
)  # fmt: skip
def test_a_key_makes_the_tables_of_its_law(given, law, tables):
    """Row 0 is the default material, which has none of it: plain friction."""
    (made,) = scene(**given).build().laws
    assert type(made) is LAWS[law]
    assert made.tables().keys() == tables.keys()
    for name, table in made.tables().items():
        np.testing.assert_array_equal(table, tables[name])


def test_laws_act_in_their_order_and_none_is_made_unasked():
    assert scene(friction=0.2).build().laws == []
    words = {"rolling": 0.1, "restitution": 0.5, "cohesion": 1.0, "static_friction": 0.9}
    names = [LAWS.name_of(law) for law in scene(**words).build().laws]
    assert names == ["StaticFriction", "Cohesion", "Restitution", "Rolling"]
