"""Inflows and outlets from the tables of a scene."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..events.events import Events
from ..events.inflow import Inflow
from ..events.outlet import Outlet
from ..model.bodies import Bodies
from .errors import Problem
from .friction import FrictionTable
from .scene import Scene
from .sizes import plain
from .values import in_space

SPAWNED = 1_000_000  # random numbers of inflows are apart from those of groups of grains


def add_streams(scene: Scene, bodies: Bodies, friction: FrictionTable, seed: int) -> None:
    """Give the bodies the inflows and outlets of the scene."""
    if not scene.inflow and not scene.outlet:
        return
    events = bodies.events or Events()
    events.next_id = bodies.count
    for index, table in enumerate(scene.inflow):
        own = (
            np.random.SeedSequence(table.seed)
            if table.seed is not None
            else np.random.SeedSequence(seed, spawn_key=(SPAWNED + index,))
        )
        lower, upper = in_space(table.region)
        events.inflows.append(
            Inflow(
                name=table.name,
                lower=lower,
                upper=upper,
                radius=None if table.radius is None else plain(table.radius),
                density=table.density,
                material=friction.row(table.material),
                velocity=np.zeros(3) if table.velocity is None else in_space(table.velocity),
                spin=table.spins(),
                rate=table.rate,
                mass_rate=table.mass_rate,
                since=table.since,
                until=math.inf if table.until is None else table.until,
                total=table.total,
                rng=np.random.default_rng(own),
            )
        )
        bodies.groups[table.name] = slice(bodies.count, bodies.count)
    for outlet in scene.outlet:
        lower, upper, point, normal = np.full(3, -math.inf), np.full(3, math.inf), np.zeros(3), np.zeros(3)
        if outlet.region is not None:
            lower, upper = in_space(outlet.region)
        else:
            point, normal = in_space(outlet.point), in_space(outlet.normal)
        until = math.inf if outlet.until is None else outlet.until
        events.outlets.append(Outlet(outlet.name, lower, upper, point, normal, outlet.recycle, outlet.since, until))
    bodies.events = events


def stream_mistakes(bodies: Bodies) -> Iterator[Problem]:
    """Outlets that would take grains out at once; streams in a cell that deforms."""
    if bodies.events is not None and bodies.flows:
        streams = {"inflow": bodies.events.inflows, "outlet": bodies.events.outlets}
        kind, names = next((kind, some) for kind, some in streams.items() if some)
        message = "grains cannot enter or leave a cell that deforms; remove it, or the rates and stresses of the cell"
        yield Problem(f"{kind}[0].name", names[0].name, message)
        return
    for index, outlet in enumerate([] if bodies.events is None else bodies.events.outlets):
        number = int(outlet.holds(bodies).sum()) if outlet.since == 0.0 else 0
        if number:
            yield Problem(
                f"outlet[{index}].name",
                outlet.name,
                f"{number} grains are in this outlet at the start and would leave at once; move it, turn its normal "
                "to the grains that stay, or open it later (since)",
            )
