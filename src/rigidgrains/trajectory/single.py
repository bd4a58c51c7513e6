"""One frame in a file of its own, made without a simulation: a prepared packing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import layout, store
from .append import Appender
from .entry import Entry
from .series import Cloud
from .texts import put_text


def write_frame(
    path: Path,
    clouds: dict[str, Cloud],
    *,
    dimension: int,
    walls: str,
    wall_names: list[str],
    texts: dict[str, str],
    force: bool = False,
) -> None:
    """Write a trajectory of one frame, whole or not at all.

    clouds : by the groups of the file; walls : as wall_table describes them; texts : to keep, by name
    """
    store.check_name(path, force=force, contacts=True)
    figures = clouds["VTKHDF"].scalars
    figures["wall_table"] = 0.0
    columns = [name for name in figures if name not in ("whole", "wall_table")]
    content = layout.for_frames(
        clouds, columns, walls=len(wall_names), compression=None, expected=len(clouds["VTKHDF"].points)
    )
    atomic, file = store.create(path, content, force=force)
    try:
        kept: dict[str, Any] = {"scene": "", "run": "{}", "report": "{}"} | texts
        for name, text in kept.items():
            put_text(file["texts"], name, text)
        file.attrs["seed"], file.attrs["dimension"] = 0, dimension
        file["history/wall_force"].attrs["walls"] = json.dumps(wall_names)
        Appender(file).append([Entry(clouds, walls)])
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
    store.make_link(path)
