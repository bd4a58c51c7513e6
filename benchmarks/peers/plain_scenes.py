"""The scenes of default.py, each as a user writes it: grains, walls, a duration, and nothing about solver or time step.

Units d = g = rho = 1, mu = 0.5, radii uniform in [0.4, 0.6] where nothing else is said. `short` makes a scene of a
second or two, for tests. plain_scene.py says what a scene has.
"""

from __future__ import annotations

import math

import numpy as np
from column import MU, Column
from plain_measures import Result, State, blocks, heap_angle, pair_overlaps, surface_angle, velocity_profile
from plain_scene import RADII, ROUGH, THIN, PlainScene, Start


class SettlingColumn(PlainScene):
    """The settling column of column.py."""

    name, at_rest = "column", True

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        super().__init__(grains, seed, short=short)
        self.column = column = Column(grains, seed)
        self.until = column.time
        self.box = [(0.0, column.width), (0.0, column.width), (0.0, column.height + 3.0)]
        self.words = {
            "dimension": 3, "gravity": [0, 0, -1], "friction": MU,
            "grains": [{"positions": column.position, "radii": column.radius, "density": 1.0}],
            "box": [{"lower": [0, 0, 0], "upper": [column.width, column.width, column.height + 5], "open": ["top"]}],
            "run": {"until": self.until, "seed": seed},
        }  # fmt: skip

    @property
    def label(self) -> str:
        return f"column of {self.grains:,}"

    def stiffness(self, overlap: float) -> float:
        return 10.8 / overlap * (self.grains / 1000.0) ** (1.0 / 3.0)

    def walls(self, law: str, rough: str, steps: int) -> str:
        width = self.column.width
        return (
            f"fix side grains wall/gran {law} xplane 0 {width}\nfix back grains wall/gran {law} yplane 0 {width}\n"
            f"fix floor grains wall/gran {law} zplane 0 NULL\n"
        )

    def overlaps(self, state: State) -> np.ndarray:
        """Walls are counted too, as column.py does."""
        return self.column.overlaps(state.position)

    def results(self, states: list[State]) -> dict[str, Result]:
        end = states[-1]
        return {"height of the centre": (float((end.mass @ end.position[:, 2]) / end.mass.sum()), None)}


class Drum(PlainScene):
    """A drum, half full, its rough shell and ends turning together; sampled once the flow is steady."""

    name, size, speed, samples = "drum", 3000, 0.05, 50

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        super().__init__(grains, seed, short=short)
        self.radius = r = 12.0 * (grains / 3000.0) ** (1.0 / 3.0)
        self.begin, self.until = (6.0, 8.0) if short else (50.0, 100.0)
        self.box = [(-r - 1.0, r + 1.0), (-1.0, r + 1.0), (-r - 1.0, r + 1.0)]
        turning = {"rotation": [0, self.speed, 0], "friction": ROUGH}
        self.words = {
            "dimension": 3, "gravity": [0, 0, -1], "friction": MU,
            "grains": [{"count": grains, "radius": RADII, "density": 1.0, "region": [[-r, 0, -r], [r, r, 0.3 * r]]}],
            "cylinder": [{"name": "drum", "point": [0, 0.5 * r, 0], "axis": [0, 1, 0], "radius": r, **turning}],
            "plane": [
                {"name": "front", "point": [0, 0, 0], "normal": [0, 1, 0], **turning},
                {"name": "back", "point": [0, r, 0], "normal": [0, -1, 0], **turning},
            ],
            "run": {"until": self.until, "seed": seed},
        }  # fmt: skip

    def walls(self, law: str, rough: str, steps: int) -> str:
        return (
            f"variable turn equal {self.speed}*step*dt\n"
            f"region drum cylinder y 0 0 {self.radius} 0 {self.radius} side in rotate v_turn 0 0 0 0 1 0\n"
            f"fix drum grains wall/gran/region {rough} region drum\n"
        )

    def results(self, states: list[State]) -> dict[str, Result]:
        angles = np.array([surface_angle(state, 0.6 * self.radius) for state in states])
        angle = blocks(np.degrees(angles))
        profile = velocity_profile(states, math.radians(angle[0]), self.radius)
        return {"angle (degrees)": angle} | {
            f"velocity at {depth:+.2f} R": value for depth, value in profile.items()
        }  # fmt: skip


class Silo(PlainScene):
    """Grains settle on the closed opening of a flat bottom; the gate goes, and they run out."""

    name, samples = "silo2d", 40
    wide, gap, gate = 20.0, 6.0, 30.0  # width, width of the opening, time at which it opens

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        super().__init__(grains, seed, short=short)
        if short:
            self.wide, self.gate = 12.0, 12.0
        self.begin, self.until = (self.gate + 2.0, self.gate + 6.0) if short else (self.gate + 10.0, self.gate + 50.0)
        self._build()

    def _build(self) -> None:
        half, gap = 0.5 * self.wide, 0.5 * self.gap
        height = 1.4 * self.grains / self.wide + 2.0
        self.plates = [(-half, -gap), (gap, half)]
        self.box = [(-half, half), (-3.0, height + 3.0), (-0.5, 0.5)]
        self.boundary = "f f p"
        self.words = {
            "dimension": 2, "gravity": [0, -1], "friction": MU,
            "grains": [
                {"count": self.grains, "radius": RADII, "density": 1.0, "region": [[-half, 0], [half, height]]}
            ],
            "plane": [
                {"name": "left", "point": [-half, 0], "normal": [1, 0]},
                {"name": "right", "point": [half, 0], "normal": [-1, 0]},
                *(
                    {"name": f"floor {i}", "point": [0.5 * (a + b), 0], "normal": [0, 1], "size": b - a}
                    for i, (a, b) in enumerate(self.plates)
                ),
                {"name": "gate", "point": [0, 0], "normal": [0, 1], "size": self.gap, "until": self.gate},
            ],
            "outlet": [{"name": "drain", "point": [0, -3], "normal": [0, 1]}],
            "run": {"until": self.until, "seed": self.seed},
        }  # fmt: skip
        self.dimension = 2

    def walls(self, law: str, rough: str, steps: int) -> str:
        half, gap = 0.5 * self.wide, 0.5 * self.gap
        lines = f"fix side grains wall/gran {law} xplane {-half} {half}\n"
        for name, (a, b) in zip(("left", "right", "gate"), [*self.plates, (-gap, gap)]):
            lines += f"region {name} block {a} {b} {self.plate_bounds()} side out\n"
            lines += f"fix {name} grains wall/gran/region {law} region {name}\n"
        return lines

    def plate_bounds(self) -> str:
        return f"{-THIN} 0 INF INF"

    def opening(self) -> tuple[float, str]:
        return self.gate, "unfix gate"

    def results(self, states: list[State]) -> dict[str, Result]:
        up = self.dimension - 1
        times = np.array([state.time for state in states])
        inside = np.array([(state.position[:, up] > 0.0).sum() for state in states])
        return {"rate (grains a unit of time)": blocks(-np.diff(inside) / np.diff(times))}


class Silo3D(Silo):
    """The same with spheres, and a slot from wall to wall."""

    name, size, few, wide, gap, gate, deep = "silo3d", 4000, 300, 14.0, 4.0, 25.0, 8.0

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        if short:
            self.deep = 5.0
        super().__init__(grains, seed, short=short)
        self.until = self.until if short else self.gate + 40.0
        self.words["run"]["until"] = self.until

    def _build(self) -> None:
        half, gap, deep = 0.5 * self.wide, 0.5 * self.gap, self.deep
        height = 2.2 * self.grains / (self.wide * deep) + 2.0
        self.plates = [(-half, -gap), (gap, half)]
        self.box = [(-half, half), (0.0, deep), (-3.0, height + 3.0)]
        flat = {"normal": [0, 0, 1], "along": [1, 0, 0]}
        self.words = {
            "dimension": 3, "gravity": [0, 0, -1], "friction": MU,
            "grains": [
                {"count": self.grains, "radius": RADII, "density": 1.0, "region": [[-half, 0, 0], [half, deep, height]]}
            ],
            "plane": [
                {"name": "left", "point": [-half, 0, 0], "normal": [1, 0, 0]},
                {"name": "right", "point": [half, 0, 0], "normal": [-1, 0, 0]},
                {"name": "front", "point": [0, 0, 0], "normal": [0, 1, 0]},
                {"name": "back", "point": [0, deep, 0], "normal": [0, -1, 0]},
                *(
                    {"name": f"floor {i}", "point": [0.5 * (a + b), 0.5 * deep, 0], "size": [b - a, deep], **flat}
                    for i, (a, b) in enumerate(self.plates)
                ),
                {"name": "gate", "point": [0, 0.5 * deep, 0], "size": [self.gap, deep], "until": self.gate, **flat},
            ],
            "outlet": [{"name": "drain", "point": [0, 0, -3], "normal": [0, 0, 1]}],
            "run": {"until": self.until, "seed": self.seed},
        }  # fmt: skip

    def walls(self, law: str, rough: str, steps: int) -> str:
        return super().walls(law, rough, steps) + f"fix back grains wall/gran {law} yplane 0 {self.deep}\n"

    def plate_bounds(self) -> str:
        return f"INF INF {-THIN} 0"


class Heap(PlainScene):
    """Equal spheres rain into a square tray with a low rim, more than it holds, and the heap comes to rest."""

    name, size, few, at_rest = "heap", 800, 40, True
    rate, fall, spout, rest = 10.0, 2.0, 4.0, 25.0  # grains per time, speed and width of the spout, time to rest

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        super().__init__(grains, seed, short=short)
        self.side = side = 14.0 * (grains / 800.0) ** (1.0 / 3.0)
        self.high = high = 4.0 + 0.5 * side
        self.until = grains / self.rate + (4.0 if short else self.rest)
        reach = 0.5 * side + 4.0
        self.box = [(-reach, reach), (-reach, reach), (-3.0, high + 3.0)]
        half, spout = 0.5 * side, 0.5 * self.spout
        rims = {"left": [-half, 0], "right": [half, 0], "front": [0, -half], "back": [0, half]}
        self.words = {
            "dimension": 3, "gravity": [0, 0, -1], "friction": MU,
            "inflow": [{
                "name": "spout", "region": [[-spout, -spout, high], [spout, spout, high + 2.0]], "radius": 0.5,
                "density": 1.0, "rate": self.rate, "total": grains, "velocity": [0, 0, -self.fall],
            }],
            "plane": [
                {"name": "tray", "point": [0, 0, 0], "normal": [0, 0, 1], "along": [1, 0, 0], "size": [side, side]},
                *(
                    {"name": name, "point": [x, y, 0.5], "normal": [-x / half, -y / half, 0], "along": [0, 0, 1],
                     "size": [1.0, side]}
                    for name, (x, y) in rims.items()
                ),
            ],
            "outlet": [{"name": "edge", "point": [0, 0, -3], "normal": [0, 0, 1]}],
            "run": {"until": self.until, "seed": seed},
        }  # fmt: skip

    @property
    def unit(self) -> float:
        return 1.0 / self.rate

    def start(self) -> Start:
        return Start(np.empty((0, 3)), np.empty(0))

    def stiffness(self, overlap: float) -> float:
        return 5.0 / overlap

    def walls(self, law: str, rough: str, steps: int) -> str:
        """steps : between two grains that enter."""
        half, spout = 0.5 * self.side, 0.5 * self.spout
        blocks = {
            "tray": f"{-half} {half} {-half} {half} {-THIN} 0",
            "left": f"{-half - THIN} {-half} {-half} {half} 0 1",
            "right": f"{half} {half + THIN} {-half} {half} 0 1",
            "front": f"{-half} {half} {-half - THIN} {-half} 0 1",
            "back": f"{-half} {half} {half} {half + THIN} 0 1",
        }
        lines = "".join(
            f"region {name} block {bounds} side out\nfix {name} grains wall/gran/region {law} region {name}\n"
            for name, bounds in blocks.items()
        )
        return lines + (
            f"region spout block {-spout} {spout} {-spout} {spout} {self.high} {self.high + 2.0}\n"
            f"fix pour grains deposit {self.grains} 1 {steps} {self.seed} region spout near 1.0 attempt 1000 "
            f"vz {-self.fall} {-self.fall}\n"
        )

    def results(self, states: list[State]) -> dict[str, Result]:
        end = states[-1]
        held = end.position[:, 2] > 0.0
        return {
            "angle (degrees)": heap_angle(end, 0.5 * self.side),
            "grains on the tray": (float(held.sum()), None),
            "top": (float(np.quantile(end.position[held, 2], 0.99)) if held.any() else 0.0, None),
        }


class Shear(PlainScene):
    """Spheres between a rough belt that moves and a rough lid that presses: shear at constant pressure, no gravity."""

    name, samples = "shear", 60
    belt, pressure, wide = 1.5, 1.0, 8.0

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        super().__init__(grains, seed, short=short)
        self.wide = 8.0 * (grains / 1000.0) ** (1.0 / 3.0)
        self.area = self.wide**2
        self.mass = 0.05 * grains * 0.55
        self.begin, self.until = (4.0, 6.0) if short else (40.0, 100.0)
        self.high = 1.4 * grains / self.area + 1.0
        self.box = [(0.0, self.wide), (0.0, self.wide), (-1.0, self.high + 10.0)]
        self.boundary = "p p f"
        self.words = {
            "dimension": 3, "friction": MU,
            "cell": {"lower": [0, 0, 0], "upper": [self.wide, self.wide, self.high + 10.0], "periodic": "xy"},
            "grains": [{
                "count": grains, "radius": RADII, "density": 1.0,
                "region": [[0, 0, 0], [self.wide, self.wide, self.high]],
            }],
            "plane": [
                {"name": "belt", "point": [0, 0, 0], "normal": [0, 0, 1], "velocity": [self.belt, 0, 0],
                 "friction": ROUGH},
            ],
            "piston": [
                {"name": "lid", "point": [0, 0, self.high], "normal": [0, 0, -1], "mass": self.mass,
                 "load": self.pressure * self.area, "friction": ROUGH},
            ],
            "run": {"until": self.until, "seed": seed},
        }  # fmt: skip

    @property
    def tracer(self) -> tuple[float, float, float, float]:
        """Position and mass of the body that stands for the lid in LAMMPS: fix wall/gran has no guided wall."""
        return (0.5 * self.wide, 0.5 * self.wide, self.high + 5.0, self.mass)

    def stiffness(self, overlap: float) -> float:
        return 2.0 * self.pressure / overlap

    def walls(self, law: str, rough: str, steps: int) -> str:
        x, y, z, _ = self.tracer
        last = self.grains + 1
        return (
            f"fix belt grains wall/gran {rough} zplane 0 NULL shear x {self.belt}\n"
            f"variable sunk equal z[{last}]-{z}\n"
            f"region lid plane {x} {y} {self.high} 0 0 -1 move NULL NULL v_sunk\n"
            f"fix lid grains wall/gran/region {rough} region lid contacts\n"
            "compute push grains reduce sum f_lid[2] f_lid[4]\n"
            f"variable load equal -{self.pressure * self.area}-c_push[2]\n"
            "fix guide tracer nve\nfix still tracer setforce 0 0 0\nfix press tracer addforce 0 0 v_load\n"
        )

    def overlaps(self, state: State) -> np.ndarray:
        return pair_overlaps(state, period=self.wide) / 0.5

    def results(self, states: list[State]) -> dict[str, Result]:
        volume = np.array([4.0 / 3.0 * math.pi * (state.radius**3).sum() for state in states])
        height = np.array([state.lid for state in states])
        rates = [self.rate(state) for state in states]
        push = np.array([state.push for state in states])  # of the grains on the lid, along x and z
        return {
            "mu*": blocks(np.abs(push[:, 0]) / np.abs(push[:, 1]).mean()),
            "phi": blocks(volume / (height * self.area)),
            "shear rate in the middle": blocks(rates),
        }

    def rate(self, state: State) -> float:
        z = state.position[:, 2]
        inner = (z > 0.25 * state.lid) & (z < 0.75 * state.lid)
        return float(-np.polyfit(z[inner], state.velocity[inner, 0], 1)[0])


SCENES: dict[str, type[PlainScene]] = {
    one.name: one for one in (SettlingColumn, Drum, Silo, Silo3D, Heap, Shear)
}  # fmt: skip
COLUMNS = (1000, 8000, 64_000)
