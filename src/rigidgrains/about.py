"""What a scene holds, and what is installed here."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__

if TYPE_CHECKING:
    from .scene import Solver

Rows = list[tuple[str, str]]


def versions() -> Rows:
    """Versions of everything that could change a result."""
    libraries = ("numpy", "numba", "pydantic", "matplotlib")
    return [
        ("rigidgrains", __version__),
        ("python", platform.python_version()),
        *((name, version(name)) for name in libraries),
        ("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
    ]


def scene_facts(path: Path) -> Rows:
    """Place the grains of a scene and describe what there is."""
    import numpy as np

    from .scene import load_scene

    scene = load_scene(path)
    bodies = scene.build()
    radius, mass, solver = bodies.radius, bodies.mass, scene.solver
    gravity = float(np.linalg.norm(bodies.gravity))
    rows = [
        ("scene", f"{path}, {scene.dimension}D" + (f", {scene.title}" if scene.title else "")),
        ("grains", f"{bodies.count:,}, {mass.sum():.4g} kg in all"),
        ("radius", f"{radius.min():.4g} m" if np.ptp(radius) == 0.0 else f"{radius.min():.4g} to {radius.max():.4g} m"),
        ("walls", ", ".join(wall.name for wall in bodies.walls) or "none"),
        ("friction", ", ".join(f"{mu:g}" for mu in np.unique(bodies.friction))),
        ("gravity", f"{gravity:g} m/s^2"),
        ("solver", f"{solver.order} order, {solver.criterion} criterion, {_sweeps(solver)}"),
    ]
    if scene.run.dt is not None:
        rows.append(("time step", f"{scene.run.dt:g} s"))
        if gravity > 0.0:
            fall = (2.0 * radius.mean() / gravity) ** 0.5 / scene.run.dt
            rows.append(("resolution", f"{fall:.0f} steps for a fall through one mean radius"))
    ends = [f"{scene.run.until:g} s"] if scene.run.until is not None else []
    ends += [f"{scene.run.steps:,} steps"] if scene.run.steps is not None else []
    if ends:
        rows.append(("runs to", " or ".join(ends)))
    return rows


def _sweeps(solver: Solver) -> str:
    return f"{solver.sweeps} sweeps" if solver.criterion == "fixed" else f"at most {solver.max_sweeps} sweeps"
