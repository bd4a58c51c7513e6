"""`import rigidgrains as rg`: names are found when they are asked for."""

from __future__ import annotations

from importlib import import_module

import pytest

import rigidgrains as rg


def test_every_public_name_is_there():
    for name in rg.__all__:
        assert getattr(rg, name) is not None
    assert set(rg.__all__) <= set(dir(rg))
    assert "import_module" not in dir(rg)


@pytest.mark.parametrize("room", ["certificate", "measure", "study"])
def test_rooms_with_public_names_need_no_import_of_their_own(room):
    assert rg.__getattr__(room) is import_module(f"rigidgrains.{room}")
    assert room in dir(rg)


def test_what_is_not_there_is_told():
    with pytest.raises(AttributeError, match="has no attribute 'measures'"):
        _ = rg.measures
