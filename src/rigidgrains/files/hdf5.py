"""What an HDF5 file may hold to be read here: all of it in the file itself, and no more than its bytes account for.

HDF5 can lead to other files, by external links, by data kept elsewhere and by data sets made of others; a file from
somewhere would then show what is on this disk. It can also claim arrays of any size without storing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import h5py
from h5py import h5d, h5g, h5l, h5o

PACKED = 1100  # times smaller than the array at most: zlib packs by 1032
SMALL = 1 << 20  # bytes that may be claimed without being there


class ForeignData(ValueError):
    """Something that is not in the file, or cannot be all of it; the text says what."""


def check_contained(file: h5py.File, *, damaged: bool = False) -> None:
    """Raise unless every link leads to something in the file, and every data set is stored there.

    damaged : pass over what cannot be opened, since nobody can read it either
    """
    seen: set[Any] = set()
    groups = [(b"", file.id)]
    while groups:
        path, group = groups.pop()
        links: list[tuple[bytes, int, Any]] = []
        with _passing(damaged):
            group.links.iterate(partial(_note, links), info=True)
        for name, kind, target in links:
            place = (path + b"/" + name).lstrip(b"/")
            if kind != h5l.TYPE_HARD:
                leads = "a link to another file" if kind == h5l.TYPE_EXTERNAL else "a symbolic link"
                raise ForeignData(f"{place.decode(errors='replace')} is {leads}")
            if target not in seen:
                seen.add(target)
                with _passing(damaged):
                    thing = h5o.open(group, name)
                    if isinstance(thing, h5g.GroupID):
                        groups.append((place, thing))
                    elif isinstance(thing, h5d.DatasetID):
                        _check_stored(place.decode(errors="replace"), thing)


def _note(links: list[tuple[bytes, int, Any]], name: bytes, info: Any) -> None:
    links.append((name, info.type, info.u))  # the next link has the same object


@contextmanager
def _passing(damaged: bool) -> Iterator[None]:
    try:
        yield
    except ForeignData:
        raise
    except Exception:  # whatever HDF5 makes of damaged bytes
        if not damaged:
            raise


def _check_stored(name: str, data: h5d.DatasetID) -> None:
    made = data.get_create_plist()
    if made.get_external_count():
        raise ForeignData(f"the data of {name} are in another file")
    if made.get_layout() == h5d.VIRTUAL:
        raise ForeignData(f"{name} is made of data sets of other files")
    claimed = data.get_space().get_simple_extent_npoints() * data.get_type().get_size()
    factor = PACKED if made.get_nfilters() else 1
    if claimed > max(SMALL, factor * data.get_storage_size()):
        raise ForeignData(
            f"{name} claims {claimed / 1e9:.3g} GB, of which the file has {data.get_storage_size():,} bytes"
        )
