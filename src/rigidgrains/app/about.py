"""What a scene holds, and what is installed here."""

from __future__ import annotations

import os
import platform
import tomllib
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime.version import __version__

if TYPE_CHECKING:
    from ..model.cell import Cell
    from ..scene import Solver
    from ..shapes.catalogue import Catalogue
    from ..trajectory.frame import Frame
    from ..trajectory.reader import Trajectory

Rows = list[tuple[str, str]]

QUICK = 200_000  # contacts that can be checked while one waits


def versions() -> Rows:
    """Versions of everything that could change a result."""
    libraries = ("numpy", "scipy", "numba", "h5py", "pydantic", "matplotlib")
    return [
        ("rigidgrains", __version__),
        ("python", platform.python_version()),
        *((name, version(name)) for name in libraries),
        ("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
    ]


def scene_facts(path: Path) -> Rows:
    """Place the grains of a scene and describe what there is."""
    import numpy as np

    from ..scene import load_scene
    from ..scene.stage_mistakes import rows as stages
    from ..simulation.timestep import AutoStep
    from ..solve.choose import level_of

    scene = load_scene(path)
    bodies = scene.build()
    radius, mass, solver = bodies.radius, bodies.mass, scene.solver
    gravity = float(np.linalg.norm(bodies.gravity))
    rows = [
        ("scene", f"{path}, {scene.dimension}D" + (f", {scene.title}" if scene.title else "")),
        ("grains", f"{bodies.count:,}, {mass.sum():.4g} kg in all"),
        ("radius", _sizes(radius)),
        *_shapes(bodies.catalogue, bodies.shape),
        ("walls", ", ".join(wall.name for wall in bodies.all_walls) or "none"),
        *([] if bodies.cell is None else [("cell", _cell(bodies.cell))]),
        *((f"spring {one.name}", f"{one.stiffness:g} N/m on {one.grains}") for one in scene.spring),
        *stages(scene, None if bodies.events is None else bodies.events.stages),
        *((f"into {flow.name}", _flow(flow)) for flow in scene.inflow),
        *((f"out of {one.name}", f"back into {one.recycle}" if one.recycle else "gone") for one in scene.outlet),
        ("friction", ", ".join(f"{mu:g}" for mu in np.unique(bodies.friction))),
        ("gravity", f"{gravity:g} m/s^2"),
        ("solver", f"{_method(solver)}{solver.order} order, {_asked(solver)}"),
    ]
    if scene.run.dt in ("auto", None):
        step = scene.run.time_step(level_of(scene.make_solver()))
        rows.append(("time step", f"auto: {step.in_words()}" if isinstance(step, AutoStep) else f"{step:g} s"))
    else:
        rows.append(("time step", f"{scene.run.dt:g} s"))
        if gravity > 0.0 and bodies.count:
            fall = (2.0 * radius.mean() / gravity) ** 0.5 / scene.run.dt
            rows.append(("resolution", f"{fall:.0f} steps for a fall through one mean radius"))
    ends = [f"{scene.run.until:g} s"] if scene.run.until is not None else []
    ends += [f"{scene.run.steps:,} steps"] if scene.run.steps is not None else []
    if ends:
        rows.append(("runs to", " or ".join(ends)))
    return rows


def trajectory_facts(path: Path) -> Rows:
    """What a trajectory holds, in one screen."""
    import numpy as np

    from ..simulation.report import outcome
    from ..simulation.stage_end import stage_rows
    from ..trajectory.errors import reading
    from ..trajectory.reader import Trajectory
    from ..trajectory.resume import checkpoint_of, stages_of
    from ..trajectory.texts import PACKING

    with Trajectory(path) as trajectory, reading(path):
        last, steps, times = trajectory[-1], trajectory.steps, trajectory.times
        packed = bool(trajectory.text(PACKING))
        size, n, contacts = path.stat().st_size, len(last), len(last.contacts)
        title = tomllib.loads(trajectory.scene).get("title")
        radius, figures = last.radius, last.figures
        apart = np.unique(np.diff(steps))
        looked_at = f", of {contacts:,} candidates" if contacts else ""
        rows = [
            ("trajectory", f"{path}, {trajectory.dimension}D" + (f", {title}" if title else "")),
            ("written by", f"rigidgrains {trajectory.version}, seed {trajectory.seed}"),
            ("grains", f"{n:,}, radius {_sizes(radius)}, {last.mass.sum():.4g} kg in all"),
            *_shapes(last.catalogue, last.shape),
            ("walls", ", ".join(wall.name for wall in last.walls) or "none"),
            ("frames", f"{len(trajectory):,}, t = {times[0]:g} to {times[-1]:g} s, {_apart(apart)}"),
            ("history", f"{len(trajectory.history['step']):,} rows"),
            (
                "size",
                f"{size / 1e6:.3g} MB, {last.position.dtype.itemsize * 8} bit, {_content(trajectory)}",
            ),
            ("last frame", f"{int(figures['contacts']):,} contacts carry a force{looked_at}"),
            *_last_figures(figures),
            (
                "checkpoint",
                checkpoint_of(path) or f"none: {'a packing to start from' if packed else 'the run cannot be resumed'}",
            ),
        ]
        if (stages := stages_of(path)) is not None:
            rows += stage_rows([asdict(one) for one in stages.past], stages.to_come())
        rows.append(("certificate", f"of the last frame: {_certificate(last, path)}"))
        if report := trajectory.report:
            rows += outcome(report)
            rows.append(("rigidity", str(report["rigidity"]["verdict"])))
            rows += [("stopped", str(report["stopped"]))] * bool(report["stopped"])
            rows += [("warning", text) for text in report["warnings"]]
        elif not packed:
            rows.append(("state", f"not finished; rigidgrains resume {path} goes on with it"))
    return rows


def _last_figures(figures: dict[str, float]) -> Rows:
    """Of the last frame, as far as they are known: those of a packing without forces are not."""
    energy, residual, mean, largest = (
        figures[name] for name in ("kinetic_energy", "residual", "mean_overlap", "max_overlap")
    )
    rows = [("", f"kinetic energy {energy:.4g} J" + (f", residual {residual:.2g}" if residual == residual else ""))]
    if mean == mean:
        rows.append(("", f"overlap {mean:.2e} mean, {largest:.2e} largest (mean radii)"))
    return rows


def _shapes(catalogue: Catalogue | None, shape: Any) -> Rows:
    """How many grains are of each shape; nothing where all are disks or spheres."""
    if catalogue is None:
        return []
    counts = [f"{int((shape == k).sum()):,} {name}" for k, name in enumerate(catalogue.names)]
    return [("shapes", ", ".join(counts) + "; radius is that of equal volume")]


def _certificate(frame: Frame, path: Path) -> str:
    """Verdict on a frame, where it can be had in a moment."""
    from ..certificate import check
    from ..trajectory.errors import NotInFile

    if len(frame.contacts) > QUICK:
        return f"rigidgrains check {path} tells"
    try:
        return check(frame).verdict
    except NotInFile:
        return "none: frames were written with chosen fields"


def _apart(steps: Any) -> str:
    """How far frames are apart, from the distances that occur."""
    if not len(steps):
        return "one only"
    return f"every {steps[0]} steps" if len(steps) == 1 else f"{steps.min()} to {steps.max()} steps apart"


def _content(trajectory: Trajectory) -> str:
    return "grains and contacts" if trajectory.has_contacts else "grains only"


def _method(solver: Solver) -> str:
    return "" if solver.method == "sweeps" else f"{solver.method} sweeps, "


def _asked(solver: Solver) -> str:
    """What ends the sweeps of a step: a level of accuracy, or a criterion and a bound where those are given."""
    own = [f"{solver.criterion} criterion"] if solver.method != "accelerated" or solver.given("criterion") else []
    own += [_sweeps(solver)] if solver.method != "accelerated" or solver.given("max_sweeps") else []
    return ", ".join(([f"accuracy {solver.accuracy}"] if solver.method == "accelerated" else []) + own)


def _sweeps(solver: Solver) -> str:
    if solver.criterion == "fixed":
        return f"{solver.sweeps} sweeps, convergence not asked"
    return f"at most {solver.max_sweeps} sweeps" + (", convergence not asked" if solver.criterion == "rigid" else "")


def _flow(inflow: Any) -> str:
    """How much enters."""
    if inflow.rate is None and inflow.mass_rate is None:
        return "grains that come back"
    rate = f"{inflow.mass_rate:g} kg/s" if inflow.rate is None else f"{inflow.rate:g} grains/s"
    return rate if inflow.total is None else f"{rate}, {inflow.total:,} grains in all"


def _sizes(radius: Any) -> str:
    """The smallest and the largest radius."""
    if not len(radius):
        return "of none yet"
    low, high = float(radius.min()), float(radius.max())
    return f"{low:.4g} m" if low == high else f"{low:.4g} to {high:.4g} m"


def _cell(cell: Cell) -> str:
    """Size of a periodic cell, and what it follows."""
    along = [axis for axis, has in zip("xyz", cell.periodic) if has]
    size = " x ".join(f"{cell.vectors[k, k]:.4g}" for k in range(3) if cell.periodic[k])
    text = f"{size} m, periodic along {', '.join(along)}"
    for a in range(3):
        for b in range(a, 3):
            word = "xyz"[a] + "xyz"[b]
            if {f"rate.{word}", f"stress.{word}"} & set(cell.functions) or (a == b and "pressure" in cell.functions):
                continue
            if cell.free[a, b]:
                text += f"; stress {word} = {cell.stress[a, b]:g}"
            elif cell.rate[a, b]:
                text += f"; rate {word} = {cell.rate[a, b]:g} 1/s"
    text += "".join(f"; {name} = {function.words()}" for name, function in cell.functions.items())
    return text + (", shape kept" if cell.isotropic else "")
