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
from .make_shapes import Shapes
from .scene import Scene
from .sizes import plain
from .streams import Stream
from .values import in_space

SPAWNED = 1_000_000  # random numbers of inflows are apart from those of groups of grains


def add_streams(scene: Scene, bodies: Bodies, friction: FrictionTable, seed: int, shapes: Shapes | None) -> None:
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
        kinds = {} if shapes is None or bodies.catalogue is None else shapes.shares_of(table)
        events.inflows.append(
            Inflow(
                name=table.name,
                lower=lower,
                upper=upper,
                radius=None if table.radius is None else plain(table.radius),
                density=friction.density(table.material) if table.density is None else table.density,
                material=friction.row(table.material),
                velocity=np.zeros(3) if table.velocity is None else in_space(table.velocity),
                spin=table.spins(),
                rate=table.rate,
                mass_rate=table.mass_rate,
                since=opens(scene, table),
                until=table.until if isinstance(table.until, float) else math.inf,
                total=table.total,
                rng=np.random.default_rng(own),
                shapes=list(kinds),
                shares=list(kinds.values()),
                scalars=dict(table.scalars or {}),
            )
        )
        bodies.groups[table.name] = slice(bodies.count, bodies.count)
    for outlet in scene.outlet:
        lower, upper, point, normal = np.full(3, -math.inf), np.full(3, math.inf), np.zeros(3), np.zeros(3)
        if outlet.region is not None:
            lower, upper = in_space(outlet.region)
        else:
            point, normal = in_space(outlet.point), in_space(outlet.normal)
        until = outlet.until if isinstance(outlet.until, float) else math.inf
        since = opens(scene, outlet)
        events.outlets.append(Outlet(outlet.name, lower, upper, point, normal, outlet.recycle, since, until))
    bodies.events = events


def opens(scene: Scene, table: Stream) -> float:
    """s, from when a stream is open; infinite for one that waits for its stage."""
    if isinstance(table.since, float):
        return table.since
    return 0.0 if scene.stage and table.since == scene.stage[0].name else math.inf


def stream_mistakes(bodies: Bodies) -> Iterator[Problem]:
    """Outlets that would take grains out at once; streams in a cell that deforms."""
    if bodies.events is not None and bodies.flows:
        streams = {"inflow": bodies.events.inflows, "outlet": bodies.events.outlets}
        kind, names = next((kind, some) for kind, some in streams.items() if some)
        message = "grains cannot enter or leave a cell that deforms; remove it, or the rates and stresses of the cell"
        yield Problem(f"{kind}[0].name", names[0].name, message)
        return
    for index, inflow in enumerate([] if bodies.events is None else bodies.events.inflows):
        yield from _too_narrow(bodies, index, inflow)
    for index, outlet in enumerate([] if bodies.events is None else bodies.events.outlets):
        number = int(outlet.holds(bodies).sum()) if outlet.since == 0.0 else 0
        if number:
            yield Problem(
                f"outlet[{index}].name",
                outlet.name,
                f"{number} grains are in this outlet at the start and would leave at once; move it, turn its normal "
                "to the grains that stay, or open it later (since)",
            )


def _too_narrow(bodies: Bodies, index: int, inflow: Inflow) -> Iterator[Problem]:
    """A region too small for grains that are not round; of round ones `Inflow.crowding` tells."""
    if bodies.catalogue is None or not inflow.shapes or not isinstance(inflow.radius, (float, int, tuple)):
        return
    largest = inflow.radius[1] if isinstance(inflow.radius, tuple) else inflow.radius
    bound = float(largest * bodies.catalogue.bound[inflow.shapes].max())
    size = (inflow.upper - inflow.lower)[: bodies.dimension]
    if 2.0 * bound > float(size.min()):
        message = (
            f"is {size.min():g} m wide, too small for a grain that reaches {bound:g} m from its centre; enlarge it"
        )
        yield Problem(f"inflow[{index}].region", size.tolist(), message)
