"""A packing as material: what is done to it gives a new packing, which measurements, pictures and runs take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..model.cell import Cell
from ..runtime.arguments import check_seed, is_number
from ..scene.values import FARTHEST
from ..trajectory.errors import TrajectoryError
from ..trajectory.frame import Frame
from ..trajectory.reader import Trajectory
from . import glue, mirror, replicate, select, species
from .errors import PackingError
from .figures import with_figures, without_forces
from .sample import Array, Sample, sample_of, with_names

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Box = Sequence[Sequence[float | None]]

SMALLEST, LARGEST = 1e-12, 1e12  # factors of a scale: masses and forces go with powers of them
ROUNDED = 1e-6  # of the smallest radius, by which grains may be displaced by rounding


class Packing:
    """Grains with their forces, from a file or a simulation, to be cut, mirrored, scaled, glued and replicated.

    Every method returns a new packing and leaves the old one as it is. Forces stay where they still hold; `notes` says
    in a line what became of others.

    source  : a trajectory, a packing saved earlier, a file of another program, or a simulation as it is now
    frame   : number of the frame of a file, -1 is the last
    density : kg/m^3 (kg/m^2 in 2D) of grains whose file tells no mass; default 2500
    radius  : m, of grains whose file tells none

    >>> Packing("run.vtkhdf").cut(((0, 0), (0.1, 0.1))).mirror("x").save("sample.vtkhdf")
    """

    def __init__(
        self,
        source: str | Path | Simulation,
        frame: int | Literal["last"] = -1,
        *,
        density: float | None = None,
        radius: float | None = None,
    ) -> None:
        check_given(density=density, radius=radius)
        self.notes: tuple[str, ...] = ()
        if isinstance(source, (str, Path)):
            self._sample = _read(Path(source), frame, density, radius)
        else:
            from ..runtime.arguments import check_state

            check_state(source)
            self._sample = sample_of(source)

    @classmethod
    def _of(cls, sample: Sample, notes: tuple[str, ...]) -> Self:
        packing = cls.__new__(cls)
        packing._sample, packing.notes = sample, notes
        return packing

    def __len__(self) -> int:
        """Number of grains."""
        return len(self._sample)

    def __repr__(self) -> str:
        cell = self.cell
        kind = "" if cell is None else f", periodic along {''.join(a for a, has in zip('xyz', cell.periodic) if has)}"
        forces = (
            f"{int(select.force_carrying(self._sample).sum()):,} contacts with forces" if self.whole else "no forces"
        )
        return f"Packing({len(self):,} grains in {self.dimension}D, {forces}{kind})"

    def _repr_html_(self) -> str:
        from ..view.notebook_more import packing_html

        return packing_html(self)

    # what it is

    @property
    def frame(self) -> Frame:
        """The packing as a frame: positions, contacts, walls; for measurements, pictures and certificates."""
        return self._sample.frame()

    @property
    def dimension(self) -> int:
        return self._sample.dimension

    @property
    def whole(self) -> bool:
        """True while it has the forces of the step that led to it."""
        return self._sample.whole

    @property
    def cell(self) -> Cell | None:
        """The periodic cell; None without one."""
        return self._sample.cell

    @property
    def groups(self) -> dict[str, Array]:
        """Rows of the grains of each group, by name."""
        sample = self._sample
        return {name: np.flatnonzero(sample.grains["group"] == k) for k, name in enumerate(sample.groups)}

    @property
    def materials(self) -> tuple[str, ...]:
        """Names of the materials, by the numbers in `frame.material`; none if the file does not know them."""
        return self._sample.materials

    @property
    def box(self) -> tuple[Array, Array]:
        """(dimension,) and (dimension,) m, corners of the box around all grains."""
        low, high = select.extent(self._sample)
        return low[: self.dimension], high[: self.dimension]

    # some of it

    def cut(self, box: Box) -> Self:
        """The grains whose centres lie within a box, (lowest corner, highest corner); None for no bound.

        A direction that is bounded is periodic no more. Forces of contacts that are cut act on as external forces.
        """
        low, high = _corners(box, self.dimension)
        at = self._sample.grains["position"]
        inside = ((at >= low) & (at <= high)).all(axis=1)
        bounded = np.isfinite(low) | np.isfinite(high)
        cell = self.cell
        opened = bounded & (np.zeros(3, bool) if cell is None else cell.periodic)
        return self._kept(inside, "the cut", opened=opened)

    def select(self, of: Any) -> Self:
        """The grains of a group or material, by its name, of row numbers, or of a mask."""
        return self._kept(species.chosen(self._sample, of), f"select {_short(of)}")

    def remove(self, of: Any) -> Self:
        """All grains but those of a group or material, of row numbers, or of a mask."""
        return self._kept(~species.chosen(self._sample, of), f"remove {_short(of)}")

    def thin(self, share: float, *, of: Any = None, seed: int = 0) -> Self:
        """Without a share of the grains, drawn at random; of : among which, a group for instance."""
        among = np.ones(len(self), bool) if of is None else species.chosen(self._sample, of)
        return self._kept(~species.share_of(among, _number("share", share), check_seed(seed)), f"thin {share:g}")

    def without_walls(self) -> Self:
        """Without walls; their forces on grains act on as external forces."""
        none = np.zeros(len(self._sample.walls), bool)
        sample, told = select.keep(self._sample, np.ones(len(self), bool), walls=none)
        return self._of(sample, self._noted(told))

    def without_forces(self) -> Self:
        """The grains alone, at their places and with their velocities."""
        return self._of(with_figures(without_forces(self._sample)), self.notes)

    # all of it, otherwise

    def mirror(self, axis: str, *, at: float = 0.0) -> Self:
        """The mirror image across a plane at a coordinate (m) of an axis; shapes that are chiral are refused."""
        k = mirror.check_axis(axis, self.dimension)
        sample, told = mirror.mirror(self._sample, k, self._near("at", _number("at", at)))
        return self._of(sample, self._noted(told))

    def move(self, way: Sequence[float]) -> Self:
        """Everything elsewhere by a vector (m)."""
        vector = _vector("way", way, self.dimension)
        self._near("way", float(np.abs(vector).max()))
        return self._of(mirror.move(self._sample, vector), self.notes)

    def scale(self, factor: float) -> Self:
        """All lengths times a factor, densities as they are.

        Forces go along: under gravity with the masses, without it so that stresses stay what they are.
        """
        by = _number("factor", factor)
        if not by > 0.0:
            raise PackingError(f"factor = {by:g} is none; give a positive number")
        if not SMALLEST <= by <= LARGEST:
            raise PackingError(f"factor = {by:g} is beyond all units; give one from {SMALLEST:g} to {LARGEST:g}")
        sample, told = mirror.scale(self._sample, by)
        return self._of(sample, self._noted(told))

    def replicate(self, *copies: int) -> Self:
        """Copies of a periodic packing side by side, so many along x, y and, in 3D, z; the cell grows with them."""
        d = self.dimension
        if not d <= len(copies) <= 3 or not all(is_number(one, whole=True) and one >= 1 for one in copies):
            raise PackingError(f"replicate{copies!r} is none; give {d} whole numbers of copies, 1 or more each")
        if d == 2 and copies[2:] not in ((), (1,)):
            raise PackingError(f"replicate{copies!r}: disks lie in a plane; give 1 for z, or leave it out")
        x, y, z = (*copies, 1)[:3]
        return self._of(replicate.replicate(self._sample, (int(x), int(y), int(z))), self.notes)

    def glue(self, other: Packing, *, side: str | None = None, overlap: float = 0.05) -> Self:
        """The grains of both; walls are left out.

        side    : where the other is put so that it just touches, "left", "right", "bottom", "top" ("front", "back");
                  default: it stays where it is
        overlap : of grains of both, allowed as a share of the smaller radius
        """
        if not isinstance(other, Packing):
            raise TypeError(f"{other!r} is no packing; open it first: Packing({other!r})")
        if not 0.0 <= (allowed := _number("overlap", overlap)) <= 1.0:
            raise PackingError(f"overlap = {allowed:g} is none; give a share of the smaller radius, from 0 to 1")
        sample, told = glue.glue(self._sample, other._sample, side, allowed)
        return self._of(sample, tuple(dict.fromkeys((*self.notes, *other.notes, *told))))

    def swap(
        self,
        of: Any = None,
        *,
        material: str | None = None,
        density: float | None = None,
        group: str | None = None,
        share: float = 1.0,
        seed: int = 0,
    ) -> Self:
        """Another material, density (kg/m^3) or group for the grains of a group or material, or for a share of them."""
        if material is None and density is None and group is None:
            raise PackingError("swap: nothing to change; give a material, a density or a group")
        check_given(density=density)
        for word, name in (("material", material), ("group", group)):
            if name is not None and not (isinstance(name, str) and name):
                raise PackingError(f"{word} = {name!r} is no name; give a text that is not empty")
        among = np.ones(len(self), bool) if of is None else species.chosen(self._sample, of)
        some = species.share_of(among, _number("share", share), check_seed(seed))
        sample, told = species.swap(self._sample, some, material=material, density=density, group=group)
        return self._of(sample, self._noted(told))

    # files

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write it as a trajectory of one frame, NAME.vtkhdf, from which scenes start; returns the path."""
        path = Path(path)
        self._sample.save(path, force=force)
        return path

    def show(self, **look: Any) -> Any:
        """A picture; options as those of `draw_packing`."""
        from ..view.packing import draw_packing

        return draw_packing(self.frame, **look)

    def _kept(self, some: Any, what: str, opened: Any = None) -> Self:
        if not some.any():
            low, high = self.box
            raise PackingError(
                f"{what} leaves none of {len(self):,} grains, which lie from {_words(low)} to {_words(high)} m"
            )
        sample, told = select.keep(self._sample, some, opened=opened)
        return self._of(sample, self._noted(told))

    def _near(self, name: str, way: float) -> float:
        """A way that leaves grains where they are to each other: far away numbers lie further apart than surfaces."""
        least = float(self._sample.grains["radius"].min(initial=math.inf))
        if abs(way) * np.finfo(float).eps > ROUNDED * least:
            most = ROUNDED * least / np.finfo(float).eps
            told = f"{name} = {way:g} m is so far that rounding displaces grains"
            raise PackingError(f"{told}; give {most:.2g} m at most")
        return way

    def _noted(self, told: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.notes, told))) if told else self.notes


def _read(path: Path, frame: int | str, density: float | None, radius: float | None) -> Sample:
    from ..formats.state import read_state
    from ..formats.table import to_read

    which: Any = -1 if frame == "last" else frame
    if to_read(path).name != "vtkhdf":
        return with_figures(Sample.of_state(read_state(path, "last" if which == -1 else which, radius=radius), density))
    with Trajectory(path) as trajectory:
        if not is_number(which, whole=True) or not -len(trajectory) <= which < len(trajectory):
            raise TrajectoryError(
                f"{path}: there is no frame {frame}; it has {len(trajectory)}, 0 to {len(trajectory) - 1} (-1 is the "
                "last)"
            )
        found = trajectory[which]
        sample = Sample.of_clouds(
            trajectory.clouds(found.index), found.walls, dimension=found.dimension, catalogue=found.catalogue
        )
        return with_names(sample, found.names)


def _corners(box: Any, dimension: int) -> tuple[Array, Array]:
    """(3,) and (3,) m; infinite where there is no bound."""
    told = f"box {box!r} has no two corners in {dimension}D; give ((x0, y0{', z0' * (dimension == 3)}), (x1, ...))"
    low, high = np.full(3, -math.inf), np.full(3, math.inf)
    try:
        corners = [list(corner) for corner in box]
        if [len(corner) for corner in corners] != [dimension] * 2:
            raise PackingError(told)
        for end, corner, absent in ((low, corners[0], -math.inf), (high, corners[1], math.inf)):
            end[:dimension] = [absent if number is None else float(number) for number in corner]
    except (TypeError, ValueError):
        raise PackingError(told) from None
    if not (low < high).all():
        raise PackingError(f"box {box!r}: the first corner must lie below the second along each axis; swap them")
    return low, high


def _vector(name: str, vector: Any, dimension: int) -> Array:
    out = np.zeros(3)
    try:
        out[:dimension] = np.asarray(vector, dtype=float).reshape(dimension)
    except (TypeError, ValueError):
        raise PackingError(f"{name} = {vector!r} is no vector in {dimension}D; give {dimension} numbers") from None
    if not np.isfinite(out).all():
        raise PackingError(f"{name} = {vector!r} must be finite numbers")
    return out


def check_given(**given: Any) -> None:
    """Raise, with all that are wrong, unless densities (kg/m^3) and radii (m) are positive; None is none."""
    told = [
        f"{name} = {f'{value:g}' if is_number(value) else repr(value)} is none; give a positive number"
        for name, value in given.items()
        if value is not None and not (is_number(value) and 0.0 < value <= FARTHEST)
    ]
    if told:
        raise PackingError("; ".join(told))


def _number(name: str, value: Any) -> float:
    if not is_number(value) or not abs(value) <= FARTHEST:
        raise PackingError(f"{name} = {value!r} is no number; give a finite one")
    return float(value)


def _short(given: Any) -> str:
    return repr(given) if isinstance(given, str) else "these grains"


def _words(corner: Array) -> str:
    return "(" + ", ".join(f"{number:g}" for number in corner) + ")"
