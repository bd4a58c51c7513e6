"""Texts and arrays that are kept in place of earlier ones."""

from __future__ import annotations

import zlib
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5s, h5t

from .checksums import MARK, check_mark

PACKING = "packing"  # the text that tells a prepared packing from a run


def put_text(group: h5py.Group, name: str, text: str) -> None:
    """Keep a text of any length, in place of an earlier one."""
    data = text.encode() or b" "
    replace(group, name, np.array(data, dtype=h5py.string_dtype("utf-8", len(data))))
    group[name].attrs[MARK] = np.uint32(zlib.crc32(data))


def get_text(group: h5py.Group, name: str) -> str:
    """A text that was kept; empty if there is none."""
    if name not in group:
        return ""
    data = bytes(group[name][()])
    check_mark(group[name], zlib.crc32(data), f"text {name}")
    return data.decode().strip(" ")


def replace(group: h5py.Group, name: str, array: Any) -> None:
    """Keep an array in place of an earlier one, in its room if it is of the same kind."""
    where, key = group.id, name.encode()
    if key in where:
        there = h5d.open(where, key)
        if there.shape == array.shape and there.dtype == array.dtype:
            there.write(h5s.ALL, h5s.ALL, np.asarray(array, order="C"))
            return
        where.unlink(key)
    space = h5s.create_simple(array.shape) if array.shape else h5s.create(h5s.SCALAR)
    new = h5d.create(where, key, h5t.py_create(array.dtype, logical=True), space)
    new.write(h5s.ALL, h5s.ALL, np.asarray(array, order="C"))
