"""Contact dynamics for dense granular media: perfectly rigid grains, exact Signorini and Coulomb conditions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .runtime.version import __version__ as __version__

if TYPE_CHECKING:
    from .events.errors import StageError
    from .fclib import read_problem, save_problem, solve_problem
    from .files.outputs import OutputError
    from .laws.cohesion import Cohesion
    from .laws.friction import SpeedFriction, StaticFriction
    from .laws.restitution import Restitution
    from .laws.rolling import Rolling
    from .laws.rows import Rows
    from .measure.record import Measure
    from .model.bodies import Bodies
    from .model.cell import Cell, CellError
    from .model.law import Law
    from .model.user_force import force
    from .observe.history import History
    from .observe.progress import Progress
    from .observe.stop import StopWhenStatic
    from .packing import Packing, PackingError
    from .runtime.threads import get_threads, set_threads
    from .scene import Scene, SceneError, load_scene
    from .simulation.figures import kinetic_energy, loads, overlaps, wall_forces
    from .simulation.report import Report
    from .simulation.rigidity import Rigidity, rigidity
    from .simulation.simulation import Simulation
    from .simulation.stepper import DivergenceError
    from .simulation.timestep import AutoStep
    from .simulation.triggers import Observer, StopRun
    from .soft_dem import SoftDEM
    from .solve.accelerated import AcceleratedSweeps
    from .solve.criteria import (
        FixedSweeps,
        FlowCriterion,
        GlobalCriterion,
        LocalCriterion,
        MomentumCriterion,
        OverlapCriterion,
        ResidualCriterion,
        RigidSweeps,
        StateCriterion,
        SweepCriterion,
        Verdict,
    )
    from .solve.orders import Ordered, RandomBlocks
    from .solve.second_order import SecondOrder
    from .solve.sweeps import SolveReport, Sweeps
    from .study import Study, StudyError
    from .trajectory.errors import TrajectoryError, WriteError
    from .trajectory.frame import Frame
    from .trajectory.reader import Trajectory
    from .trajectory.resume import resume
    from .trajectory.writer import Checkpoints, TrajectoryWriter
    from .view.live import LiveView
    from .view.live_plot import LivePlot
    from .view.packing import draw_packing
    from .view.page import write_page
    from .view.series import draw_history, draw_plots
    from .view.video import write_video

# Where each public name lives. Loaded on first use: importing the package, or asking the command line for help,
# compiles nothing.
_HOMES = {
    "AcceleratedSweeps": "solve.accelerated",
    "AutoStep": "simulation.timestep",
    "Bodies": "model.bodies",
    "Cell": "model.cell",
    "CellError": "model.cell",
    "Checkpoints": "trajectory.writer",
    "Cohesion": "laws.cohesion",
    "DivergenceError": "simulation.stepper",
    "FixedSweeps": "solve.criteria",
    "FlowCriterion": "solve.criteria",
    "Frame": "trajectory.frame",
    "GlobalCriterion": "solve.criteria",
    "History": "observe.history",
    "Law": "model.law",
    "LivePlot": "view.live_plot",
    "LiveView": "view.live",
    "LocalCriterion": "solve.criteria",
    "Measure": "measure.record",
    "MomentumCriterion": "solve.criteria",
    "Observer": "simulation.triggers",
    "Ordered": "solve.orders",
    "OutputError": "files.outputs",
    "OverlapCriterion": "solve.criteria",
    "Packing": "packing",
    "PackingError": "packing",
    "Progress": "observe.progress",
    "RandomBlocks": "solve.orders",
    "Report": "simulation.report",
    "ResidualCriterion": "solve.criteria",
    "Restitution": "laws.restitution",
    "RigidSweeps": "solve.criteria",
    "Rigidity": "simulation.rigidity",
    "Rolling": "laws.rolling",
    "Rows": "laws.rows",
    "Scene": "scene",
    "SceneError": "scene",
    "SecondOrder": "solve.second_order",
    "Simulation": "simulation.simulation",
    "SoftDEM": "soft_dem",
    "SolveReport": "solve.sweeps",
    "SpeedFriction": "laws.friction",
    "StageError": "events.errors",
    "StateCriterion": "solve.criteria",
    "StaticFriction": "laws.friction",
    "StopRun": "simulation.triggers",
    "StopWhenStatic": "observe.stop",
    "Study": "study",
    "StudyError": "study",
    "SweepCriterion": "solve.criteria",
    "Sweeps": "solve.sweeps",
    "Trajectory": "trajectory.reader",
    "TrajectoryError": "trajectory.errors",
    "TrajectoryWriter": "trajectory.writer",
    "Verdict": "solve.criteria",
    "WriteError": "trajectory.errors",
    "draw_history": "view.series",
    "draw_packing": "view.packing",
    "draw_plots": "view.series",
    "force": "model.user_force",
    "get_threads": "runtime.threads",
    "kinetic_energy": "simulation.figures",
    "load_scene": "scene",
    "loads": "simulation.figures",
    "overlaps": "simulation.figures",
    "read_problem": "fclib",
    "resume": "trajectory.resume",
    "rigidity": "simulation.rigidity",
    "save_problem": "fclib",
    "set_threads": "runtime.threads",
    "solve_problem": "fclib",
    "wall_forces": "simulation.figures",
    "write_page": "view.page",
    "write_video": "view.video",
}

_ROOMS = ("certificate", "measure", "study")  # rooms with public names of their own: rg.measure.stress(frame)

__all__ = [
    "AcceleratedSweeps",
    "AutoStep",
    "Bodies",
    "Cell",
    "CellError",
    "Checkpoints",
    "Cohesion",
    "DivergenceError",
    "FixedSweeps",
    "FlowCriterion",
    "Frame",
    "GlobalCriterion",
    "History",
    "Law",
    "LivePlot",
    "LiveView",
    "LocalCriterion",
    "Measure",
    "MomentumCriterion",
    "Observer",
    "Ordered",
    "OutputError",
    "OverlapCriterion",
    "Packing",
    "PackingError",
    "Progress",
    "RandomBlocks",
    "Report",
    "ResidualCriterion",
    "Restitution",
    "RigidSweeps",
    "Rigidity",
    "Rolling",
    "Rows",
    "Scene",
    "SceneError",
    "SecondOrder",
    "Simulation",
    "SoftDEM",
    "SolveReport",
    "SpeedFriction",
    "StageError",
    "StateCriterion",
    "StaticFriction",
    "StopRun",
    "StopWhenStatic",
    "Study",
    "StudyError",
    "SweepCriterion",
    "Sweeps",
    "Trajectory",
    "TrajectoryError",
    "TrajectoryWriter",
    "Verdict",
    "WriteError",
    "draw_history",
    "draw_packing",
    "draw_plots",
    "force",
    "get_threads",
    "kinetic_energy",
    "load_scene",
    "loads",
    "overlaps",
    "read_problem",
    "resume",
    "rigidity",
    "save_problem",
    "set_threads",
    "solve_problem",
    "wall_forces",
    "write_page",
    "write_video",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return value
    from .solve.aliases import CLASSES, current

    if name in CLASSES:
        return __getattr__(current(name, CLASSES))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
