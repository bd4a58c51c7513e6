"""What a page says of the whole trajectory: title, times, box, ranges of the colours, series for the plots."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.version import __version__
from ...shapes.poses import bounds
from ...trajectory.frame import Frame
from ...trajectory.reader import Trajectory
from ..images import corners
from .shape_words import shape_words
from .species_words import Species

Array = NDArray[Any]

ROWS = 600  # points of a plot at most
SERIES = ("time", "kinetic_energy", "potential_energy", "sweeps", "diffusion_length", "cluster", "cluster_extent")
SAMPLES = 20_000  # grains by which the range of a colour is found


@dataclass
class Extent:
    """Box of all centres (m), the smallest radius and the largest reach of a grain (m), and samples of what colours
    stand for; most : grains in a frame."""

    low: Array
    high: Array
    least: float
    largest: float
    samples: dict[str, list[Array]]
    most: int = 0
    species: Species = field(default_factory=Species)

    @classmethod
    def of(cls, trajectory: Trajectory, chosen: list[int]) -> Extent:
        """Looks at every chosen frame once."""
        extent = cls(np.full(3, np.inf), np.full(3, -np.inf), np.inf, 0.0, {"speed": [], "load": []})
        for index in chosen:
            extent._add(trajectory[index], max(1, SAMPLES // len(chosen)))
        if not extent.largest:  # no grain in any frame
            extent.low, extent.high, extent.least, extent.largest = np.zeros(3), np.ones(3), 1.0, 1.0
        return extent

    def _add(self, frame: Frame, count: int) -> None:
        position, radius = frame.position, frame.radius
        if not len(frame):
            return
        self.low, self.high = np.minimum(self.low, position.min(axis=0)), np.maximum(self.high, position.max(axis=0))
        for corner in corners(frame):
            self.low, self.high = np.minimum(self.low, corner), np.maximum(self.high, corner)
        reach = bounds(frame.catalogue, frame.shape, radius)
        self.least, self.largest = min(self.least, float(radius.min())), max(self.largest, float(reach.max()))
        self.most = max(self.most, len(frame))
        self.species.add(frame)
        few = slice(None, None, max(1, len(frame) // count))
        self.samples["speed"].append(np.linalg.norm(frame.velocity[few], axis=1))
        self.samples["load"].append(frame.load[few])
        if frame.cell_mobility is not None:
            self.samples.setdefault("peculiar", []).append(np.linalg.norm(frame.peculiar_velocity[few], axis=1))

    def ranges(self) -> dict[str, float]:
        """Upper end of each colour: a few extreme grains do not wash out the rest."""
        tops = {}
        for name, parts in self.samples.items():
            values = np.concatenate(parts) if parts else np.zeros(1)
            tops[name] = float(np.quantile(values, 0.98)) or float(values.max()) or 1.0
        return tops


def summary(trajectory: Trajectory, chosen: list[int], extent: Extent) -> dict[str, Any]:
    """The head of the page."""
    first = trajectory[chosen[0]]
    return {
        "title": title_of(trajectory),
        "colour": words_of(trajectory).get("output", {}).get("colour"),
        "dimension": trajectory.dimension,
        "version": __version__,
        "times": [float(time) for time in trajectory.times[chosen]],
        "low": [float(x) for x in extent.low - extent.largest],
        "high": [float(x) for x in extent.high + extent.largest],
        "ranges": extent.ranges(),
        "gravity": [float(g) for g in first.gravity],
        "contacts": trajectory.has_contacts,
        "series": thinned(trajectory.history),
        "species": extent.species.words(),
    } | shape_words(first.catalogue, extent.most)


def title_of(trajectory: Trajectory) -> str:
    """Title of the scene, or the name of the file."""
    return str(words_of(trajectory).get("title") or trajectory.path.stem)


def words_of(trajectory: Trajectory) -> dict[str, Any]:
    """The scene as it was written; nothing if that is not known."""
    try:
        return tomllib.loads(trajectory.scene)
    except tomllib.TOMLDecodeError:
        return {}


def thinned(history: dict[str, Array]) -> dict[str, list[float | None]]:
    """The columns that are plotted, with at most so many rows; what is not finite becomes None."""
    few = slice(None, None, max(1, -(-len(history["time"]) // ROWS)))
    return {name: [number(value) for value in history[name][few]] for name in SERIES if name in history}


def number(value: float) -> float | None:
    """Five digits are enough for a plot."""
    return float(f"{value:.5g}") if np.isfinite(value) else None
