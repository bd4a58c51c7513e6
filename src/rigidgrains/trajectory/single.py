"""Files that are made without a simulation: one frame, a prepared packing, or frames of another file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import layout, store
from .append import Appender
from .entry import Array, Entry
from .series import Cloud
from .texts import put_text


def write_frame(
    path: Path, clouds: dict[str, Cloud], *, walls: str, wall_names: list[str], force: bool = False, **rest: Any
) -> None:
    """Write a trajectory of one frame, whole or not at all.

    clouds : by the groups of the file; walls : as wall_table describes them; rest : of `write_frames`
    """
    figures = clouds["VTKHDF"].scalars
    columns = [name for name in figures if name not in ("whole", "wall_table")]
    write_frames(path, [Entry(clouds, walls)], columns=columns, wall_names=wall_names, force=force, **rest)


def write_frames(
    path: Path,
    entries: Iterable[Entry],
    *,
    dimension: int,
    columns: list[str],
    wall_names: list[str],
    texts: dict[str, str],
    seed: int = 0,
    history: dict[str, Array] | None = None,
    compression: str | None = None,
    force: bool = False,
) -> None:
    """Write a trajectory of frames that all have the same arrays, whole or not at all.

    entries : one or more frames; columns : of the history, and its rows in `history`; wall_names : of all walls of the
    run; texts : to keep, by name
    """
    rest = iter(entries)
    first = next(rest)
    with_contacts = "contacts" in first.clouds
    store.check_name(path, force=force, contacts=with_contacts)
    first.clouds["VTKHDF"].scalars["wall_table"] = 0.0
    content = layout.for_frames(
        first.clouds, columns, walls=len(wall_names), compression=compression,
        expected=len(first.clouds["VTKHDF"].points),
    )  # fmt: skip
    atomic, file = store.create(path, content, force=force)
    try:
        kept: dict[str, Any] = {"scene": "", "run": "{}", "report": "{}"} | texts
        for name, text in kept.items():
            put_text(file["texts"], name, text)
        file.attrs["seed"], file.attrs["dimension"] = seed, dimension
        file["history/wall_force"].attrs["walls"] = json.dumps(wall_names)
        appender = Appender(file)
        appender.append([first])
        for entry in rest:
            appender.append([entry])
        appender.append_history(history or {})
        file.flush()
        atomic.commit(durable=True)
        store.publish(atomic, path)
        file.close()
        atomic.commit(durable=True)
    except BaseException:
        begun = atomic.path
        atomic.abandon()
        if begun != path.absolute():
            begun.unlink(missing_ok=True)
        raise
    finally:
        atomic.close()
    if with_contacts:
        store.make_link(path)
