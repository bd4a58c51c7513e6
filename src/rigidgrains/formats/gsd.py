"""GSD in the HOOMD schema, as HOOMD-blue and OVITO read it; contacts between grains are bonds.

Grains of other shapes than disks and spheres have types of their own, see gsd_shapes.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import B, C
from ..model.columns import X, Y, Z
from ..shapes.poses import matrices
from .box import cell_of
from .columns import grain_arrays, normal_force, quaternions, tangential_force
from .errors import FormatError, FrameError
from .gsd_shapes import Types, make_types
from .state import Array, Box, Given, State, Which, make_state

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

SCHEMA = ("position", "velocity", "radius", "mass", "orientation", "material", "id", "image")  # it has, or lacks
ROOM = 1.001  # of the box: positions in single precision must not fall outside


def write(job: Job) -> None:
    """Every frame; single precision, as the schema wants it."""
    hoomd = package(job.target)
    types = make_types(job)
    with hoomd.open(str(job.main), "w") as file:
        for frame in job.frames():
            file.append(_frame(hoomd, frame, job, types))


def read(path: Path, which: Which, given: Given) -> State:
    """One frame; radius is half the diameter, spin comes from log/particles/spin where we wrote it."""
    hoomd = package(path)
    try:
        with hoomd.open(str(path), "r") as file:
            index, count = -1 if which == "last" else which, len(file)
            if not -count <= index < count:
                raise FrameError(path, which, count)
            _check_counts(file.file, index % count, path)
            frame = file[index % count]
    except FormatError:
        raise
    except (OSError, RuntimeError) as problem:
        raise FormatError(path, f"cannot be read: {problem}") from None
    except (KeyError, MemoryError, ValueError) as problem:  # what the library makes of damaged bytes
        raise FormatError(path, f"is damaged: {str(problem) or 'it asks for too much memory'}; copy it anew") from None
    particles, space = frame.particles, range(3)
    columns: dict[str, NDArray[Any]] = {"diameter": particles.diameter, "mass": particles.mass}
    columns |= {"xyz"[k]: particles.position[:, k] for k in space}
    columns |= {"v" + "xyz"[k]: particles.velocity[:, k] for k in space}
    if (spin := frame.log.get("particles/spin")) is not None:
        columns |= {"spin_" + "xyz"[k]: spin[:, k] for k in space}
    columns = {name: column.astype(float) for name, column in columns.items()}
    dimension = int(frame.configuration.dimensions)
    if (centre := frame.log.get("cell_centre")) is not None:
        for k, at in enumerate(centre[:dimension]):
            columns["xyz"[k]] = columns["xyz"[k]] + at
    return make_state(path, columns, frame=index % count, dimension=dimension, box=_box(frame), given=given)


def package(path: Path) -> Any:
    """The module gsd.hoomd, or a clear line without it."""
    try:
        import gsd.hoomd
    except ImportError:
        raise FormatError(path, "GSD needs the package gsd; pip install 'rigidgrains[formats]'") from None
    return gsd.hoomd


def _check_counts(file: Any, index: int, path: Path) -> None:
    """A damaged number of grains or bonds would make the library fill so many rows, which takes minutes."""
    size = path.stat().st_size
    for name in ("particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs"):
        for at in {0, index}:
            if file.chunk_exists(frame=at, name=f"{name}/N"):
                number = int(file.read_chunk(frame=at, name=f"{name}/N")[0])
                if number > size:
                    raise FormatError(path, f"is damaged: it has no room for {number:,} {name}; copy it anew")


def _box(frame: Any) -> Box | None:
    """The cell that we wrote, or the box of HOOMD, periodic all around; None for our own files without a cell."""
    log = frame.log
    if "cell_vectors" in log:
        return log["cell_vectors"], log["cell_origin"], (log["cell_periodic"] > 0).tolist()
    if "wall_force" in log:
        return None
    x, y, z, xy, xz, yz = map(float, frame.configuration.box)
    vectors = np.array([[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]])
    return vectors, -0.5 * vectors.sum(axis=0), [True] * 3


def _place(frame: Frame, bounds: tuple[Array, Array]) -> tuple[list[float], Array, dict[str, Any], NDArray[Any] | None]:
    """Box, positions in it, what is logged of the cell, and cells crossed. The box is centred at the origin."""
    cell, position, lower, upper = cell_of(frame), frame.position, *bounds
    if cell is None:
        return [*(2.0 * ROOM * np.maximum(-lower, upper)), 0.0, 0.0, 0.0], position, {}, None
    edges, middle = np.diag(cell.vectors), cell.origin + 0.5 * cell.vectors.sum(axis=0)
    centre = np.where(cell.periodic, middle, 0.5 * (lower + upper))
    if frame.dimension == 2:
        centre[Z] = 0.0
    size = np.where(cell.periodic, edges, ROOM * (upper - lower))
    away = np.where(cell.periodic, np.floor(cell.fractions(position.astype(float))), 0.0).astype(np.int32)
    lean = [cell.vectors[B, X] / edges[B], cell.vectors[C, X] / edges[C], cell.vectors[C, Y] / edges[C]]
    log = {"cell_vectors": cell.vectors, "cell_origin": cell.origin, "cell_periodic": cell.periodic.astype(np.uint8)}
    crossed = away if frame.image is None else frame.image + away
    return [*size, *lean], position - away @ cell.vectors - centre, log | {"cell_centre": centre}, crossed


def _frame(hoomd: Any, frame: Frame, job: Job, types: Types) -> Any:
    out, single = hoomd.Frame(), np.float32
    arrays = grain_arrays(frame, job.fields)
    n, q = len(frame), quaternions(frame)
    disk = frame.dimension == 2
    box, position, log, crossed = _place(frame, job.bounds)
    inertia = (0.5 if disk else 0.4) * frame.mass * frame.radius**2
    moments, about = inertia[:, None], np.array([0, 0, 1]) if disk else np.ones(3)
    if shaped := frame.catalogue is not None and frame.shape is not None:
        moments = frame.mass[:, None] * (frame.radius[:, None] * frame.catalogue.gyration[frame.shape]) ** 2
    out.configuration.step, out.configuration.dimensions = frame.step, frame.dimension
    out.configuration.box = [*box[:2], 0.0, *box[3:]] if disk else box
    grains = out.particles
    grains.N, grains.types, grains.typeid = n, types.names, types.of(frame)
    if types.shapes:
        grains.type_shapes = types.shapes
    grains.position, grains.image, grains.mass = position.astype(single), crossed, frame.mass.astype(single)
    grains.diameter = (2.0 * frame.radius).astype(single)
    if "velocity" in arrays:
        grains.velocity = frame.velocity.astype(single)
    if "orientation" in arrays:
        grains.orientation = q.astype(single)
    grains.moment_inertia = (moments * about).astype(single)
    if "spin" in arrays:
        turning = momentum_of_shapes(q, frame.spin, moments) if shaped else angular_momentum(q, frame.spin, inertia)
        grains.angmom = turning.astype(single)
    out.log = {name: np.array([figure]) for name, figure in frame.figures.items()}
    out.log |= {f"particles/{name}": array for name, array in arrays.items() if name not in SCHEMA}
    out.log["wall_force"] = frame.wall_force
    out.log |= log
    if job.has_contacts:
        _add_bonds(out, frame)
    return out


def _add_bonds(out: Any, frame: Frame) -> None:
    """Contacts between grains that carry a force; what is logged once must be logged in every frame, even if empty."""
    contacts = frame.contacts
    bonded = (contacts.status > 0) & (contacts.pair[:, 1] < len(frame))
    out.bonds.types, out.bonds.N = ["sticking", "sliding"], int(bonded.sum())
    out.bonds.group, out.bonds.typeid = contacts.pair[bonded], contacts.status[bonded] - 1
    out.log["bonds/force"] = np.linalg.norm(contacts.force[bonded].astype(float), axis=1)
    out.log["bonds/normal_force"] = normal_force(frame)[bonded]
    out.log["bonds/tangential_force"] = tangential_force(frame)[bonded]


def angular_momentum(q: NDArray[Any], spin: NDArray[Any], inertia: NDArray[Any]) -> NDArray[Any]:
    """(n, 4) angular momentum as HOOMD keeps it, the quaternion 2 q (0, L) with L in the frame of the grain.

    The moment of inertia of a sphere is the same about all axes, so that this is 2 I (0, spin) q.
    """
    w, v = q[:, :1], q[:, 1:]
    product = np.concatenate([-(spin * v).sum(axis=1, keepdims=True), w * spin + np.cross(spin, v)], axis=1)
    return 2.0 * inertia[:, None] * product


def momentum_of_shapes(q: NDArray[Any], spin: NDArray[Any], moments: NDArray[Any]) -> NDArray[Any]:
    """(n, 4) the same of grains with principal moments (n, 3) that differ."""
    own = moments * np.einsum("iba,ib->ia", matrices(q), spin)
    w, v = q[:, :1], q[:, 1:]
    return 2.0 * np.concatenate([-(v * own).sum(axis=1, keepdims=True), w * own + np.cross(v, own)], axis=1)
