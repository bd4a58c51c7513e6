"""What an installation has, what it lacks, and the remedy: for `rigidgrains doctor` and reports of faults."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from ..runtime.version import __version__

NAME = "rigidgrains"
PARTS = {
    "view": "video",
    "live": "live view of a run",
    "formats": "GSD files, xarray",
    "voronoi": "cells of grains and their packing fractions",
    "study": "studies on several workers, tables in Parquet",
    "cluster": "studies on SLURM, PBS and LSF",
}
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w-]*)\])?\s*(?:>=\s*([\d.]+))?[^;]*(?:;\s*extra == ['\"](\w+)['\"])?")


@dataclass
class Findings:
    """Rows of names and texts; what does not work, each with its remedy."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def examine() -> Findings:
    """Look at everything without computing anything."""
    found = Findings([(NAME, f"{__version__}, in {Path(__file__).parents[1]}"), ("python", _python())])
    needed, parts = _requirements()
    for name, least in needed.items():
        has, wrong = _installed(name, least)
        found.rows.append((name, has))
        if wrong:
            found.problems.append(f"{name} {wrong}; pip install '{name}>={least}'")
    found.rows.append(("system", f"{platform.system()} {platform.release()}, {platform.machine()}"))
    if not found.problems:  # all of this imports Numba
        found.rows += [("processor", _processor()), ("cores", _cores()), ("kernels", _kernels())]
    found.rows += [("GPU", f"{_gpu()}; not used, grains are computed by the processor"), ("MPI", _mpi())]
    for part, purpose in PARTS.items():
        found.rows.append((part, f"{purpose}: {_part(part, parts.get(part, {}))}"))
    return found


def try_out() -> str:
    """Settle two grains in a box and hold them against the laws; raises ArithmeticError if they fail."""
    from ..certificate.check import check
    from ..scene import Scene
    from ..simulation.simulation import Simulation
    from ..trajectory.frame import Frame

    scene = Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
    scene.add_grains(positions=[(0.02, 0.011), (0.05, 0.012)], radius=0.01, name="two")
    scene.add_box(lower=(0, 0), upper=(0.07, 0.1), open=["top"])
    simulation = Simulation(scene)
    simulation.run(until=0.2)
    certificate = check(Frame.of(simulation))
    if not certificate.passed:
        raise ArithmeticError(f"two grains in a box: {certificate.verdict}")
    return "two grains settle in a box; certified"


def _requirements() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Name and least version of what is needed, and the same for each extra."""
    needed: dict[str, str] = {}
    parts: dict[str, dict[str, str]] = {}
    try:
        lines = requires(NAME) or []
    except PackageNotFoundError:  # run from its sources
        lines = []
    for line in lines:
        match = REQUIREMENT.match(line)
        assert match is not None
        name, extra, least, part = match.groups()
        into = needed if part is None else parts.setdefault(part, {})
        if name != NAME:
            into |= {name: least or "0"} | ({extra: "0"} if extra else {})  # dask[distributed] brings distributed
    return needed, parts


def _installed(name: str, least: str) -> tuple[str, str]:
    """The version of a package, and what is wrong with it."""
    try:
        has = version(name)
    except PackageNotFoundError:
        return "missing", "is missing"
    return has, "" if _numbers(has) >= _numbers(least) else f"{has} is older than {least}"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", text.partition("+")[0])[:3])


def _python() -> str:
    return f"{platform.python_version()}, {platform.python_implementation()}"


def _processor() -> str:
    """Its name as the compiler knows it, and how many contacts a sweep updates at a time."""
    import llvmlite.binding

    from ..runtime.simd import SIDE_BY_SIDE

    return f"{llvmlite.binding.get_host_cpu_name()}, {SIDE_BY_SIDE} contacts at a time in vector registers"


def _cores() -> str:
    from ..runtime.threads import VARIABLES, get_threads, physical_cores

    chosen = [f"{name}={os.environ[name]}" for name in VARIABLES if os.environ.get(name, "").strip()]
    return f"{physical_cores()} physical, {get_threads()} threads" + (f" ({', '.join(chosen)})" if chosen else "")


def _kernels() -> str:
    """Where compiled kernels are kept."""
    from ..runtime.compiled import cached_kernels

    number, folder = cached_kernels()
    return f"{number} compiled, in {folder}" if number else "none compiled yet: the first run takes half a minute more"


def _gpu() -> str:
    if (tool := shutil.which("nvidia-smi")) is None:
        return "none found"
    try:
        query = [tool, "--query-gpu=name", "--format=csv,noheader"]
        names = subprocess.run(query, capture_output=True, text=True, timeout=10).stdout.split("\n")
    except (OSError, subprocess.SubprocessError):
        return "none that answers"
    return ", ".join(name.strip() for name in names if name.strip()) or "none found"


def _mpi() -> str:
    has, missing = _installed("mpi4py", "0")
    many = "not used; many runs go side by side with rigidgrains study"
    return f"{'mpi4py is not installed' if missing else f'mpi4py {has}'}; {many}"


def _part(part: str, packages: dict[str, str]) -> str:
    """What an optional part has, or how to install it."""
    found = {name: _installed(name, least) for name, least in packages.items()}
    if wrong := [f"{name} {told}" for name, (_, told) in found.items() if told]:
        return f"{', '.join(wrong)}; pip install '{NAME}[{part}]'"
    return ", ".join(f"{name} {has}" for name, (has, _) in found.items()) or "ready"
