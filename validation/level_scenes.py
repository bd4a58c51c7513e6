"""The scenes of levels.py: a packing that is prepared once for each seed, and what is measured on the way from there.

Mean diameter 1; mean mass 1 and pressure 1 without gravity, density 1 and g = 1 with it. Radii uniform in [0.4, 0.6]
but for `slow`, which is the slow shear of solver_histories.py. Contacts that carry less than a thousandth of the mean
normal force do not count, nor do grains with a single one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from solver_histories import PRESSURE, Bed, force_on, pressing, wall_of

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.model.columns import MU, R_N, R_T
from rigidgrains.model.walls import Drive

Figures = dict[str, float]

RADII, FRICTION, ROUGH = (0.4, 0.6), 0.5, 1.0  # friction of grains, and of what drives them
DENSITY = 4.0 / math.pi / 1.0133  # of disks of mean mass 1, <d^2> = 1 + 0.4^2/12
PHYSICS, CONTACTS = {"phi": 3.0, "mu*": 3.0, "rate": 3.0, "run-out": 3.0, "angle": 3.0}, {"z": 1.5, "sliding": 3.0}


@dataclass(frozen=True)
class Trial:
    """A scene.

    dt      : the same for all levels, about the mean of what `balanced` takes where nobody gives one
    prepare : (seed, quick) -> a packing, made by `balanced`: `exact` takes minutes for a start that falls
    follow  : (simulation, quick) -> what it did afterwards, by its solver
    bars    : figures that are judged, and by how much they may differ (%)
    """

    dt: float
    prepare: Callable[[int, bool], rg.Simulation]
    follow: Callable[[rg.Simulation, bool], Figures]
    bars: dict[str, float]


def begin(scene: rg.Scene, dt: float, seed: int, until: float) -> rg.Simulation:
    """Run a scene by `balanced` up to a time."""
    simulation = rg.Simulation(scene, dt=dt, seed=seed, accuracy="balanced")
    simulation.run(until=until)
    return simulation


def sampled(simulation: rg.Simulation, look: Callable[[rg.Simulation], Figures], until: float, every: int) -> Figures:
    """Means over time of what is seen every so many steps."""
    rows: list[Figures] = []
    end = simulation.steps + round((until - simulation.time) / simulation.dt)
    while simulation.steps < end:
        simulation.step()
        if simulation.steps % every == 0:
            rows.append(look(simulation))
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def contacts_of(simulation: rg.Simulation) -> Figures:
    """Contacts of a grain that has more than one, walls counted, and the share of those between grains that slide."""
    contacts, n = simulation.contacts, simulation.bodies.count
    normal = contacts.forces[:, R_N]
    carry = normal > 1e-3 * normal[normal > 0.0].mean()
    inside = carry & (contacts.pairs[:, 1] < n)
    degree = np.bincount(contacts.pairs[carry, 0], minlength=n) + np.bincount(contacts.pairs[inside, 1], minlength=n)
    held = np.linalg.norm(contacts.forces[inside][:, R_T], axis=1)
    slides = held > 0.99 * contacts.geometry[inside, MU] * normal[inside]
    return {"z": float(degree[degree > 1].mean()), "sliding": float(slides.mean())}


# Simple shear of disks at constant pressure, I = 0.05, in a periodic cell

SHEAR_RATE = 0.05


def prepare_shear(seed: int, quick: bool) -> rg.Simulation:
    grains = 60 if quick else 300
    side = math.sqrt(grains * math.pi / 4.0 * 1.0133 / 0.75)
    scene = rg.Scene(dimension=2, friction=FRICTION)
    scene.set_cell(lower=(0, 0), upper=(side, side), rate={"xy": SHEAR_RATE}, stress={"yy": 1.0})
    scene.add_grains(count=grains, radius=RADII, density=DENSITY)
    return begin(scene, SCENES["shear"].dt, seed, (0.1 if quick else 1.0) / SHEAR_RATE)


def follow_shear(simulation: rg.Simulation, quick: bool) -> Figures:
    def look(simulation: rg.Simulation) -> Figures:
        frame = measure.of(simulation)
        total = measure.stress(frame).total
        strength = {"mu*": float(-total[0, 1]), "pressure": float(total[1, 1]), "phi": measure.packing_fraction(frame)}
        return strength | contacts_of(simulation)

    found = sampled(simulation, look, simulation.time + (0.1 if quick else 20.0) / SHEAR_RATE, 5)
    return found | {"mu*": found["mu*"] / found["pressure"]}


# A silo of disks runs out through an opening of 8 d; what has left comes back at the top

WIDE, OPENING, GATE = 20.0, 8.0, 10.0  # width, opening, time at which it opens


def prepare_silo(seed: int, quick: bool) -> rg.Simulation:
    grains, half, edge = 100 if quick else 450, 0.5 * WIDE, 0.5 * OPENING
    height = 1.1 * grains / WIDE
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=FRICTION)
    region = ((-half, 0), (half, height))
    scene.add_grains(count=grains, radius=RADII, density=1.0, region=region, placement="dense")
    scene.add_plane("left", point=(-half, 0), normal=(1, 0))
    scene.add_plane("right", point=(half, 0), normal=(-1, 0))
    for name, side in (("left floor", -0.5), ("right floor", 0.5)):
        scene.add_plane(name, point=(side * (half + edge), 0), normal=(0, 1), size=half - edge)
    gate = 1.0 if quick else GATE
    scene.add_plane("gate", point=(0, 0), normal=(0, 1), size=OPENING, until=gate)
    scene.add_inflow("top", region=((-half, height), (half, height + 4)))
    scene.add_outlet("drain", point=(0, -2), normal=(0, 1), recycle="top")
    return begin(scene, SCENES["silo"].dt, seed, gate)


def follow_silo(simulation: rg.Simulation, quick: bool) -> Figures:
    steady, lasts = (1.0, 1.0) if quick else (10.0, 80.0)
    simulation.run(until=simulation.time + steady)
    before = simulation.report().outlets["drain"]["mass"]
    simulation.run(until=simulation.time + lasts)
    return {"rate": (simulation.report().outlets["drain"]["mass"] - before) / lasts}


# A column of disks, twice as high as wide, falls over a flat floor

COLUMN = 16.0


def prepare_collapse(seed: int, quick: bool) -> rg.Simulation:
    grains, gate = (100, 1.0) if quick else (550, 10.0)
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=FRICTION)
    region = ((0, 0), (COLUMN, 1.1 * grains / COLUMN))
    scene.add_grains(count=grains, radius=RADII, density=1.0, region=region, placement="dense")
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_plane("wall", point=(0, 0), normal=(1, 0))
    scene.add_plane("gate", point=(COLUMN, 0), normal=(-1, 0), until=gate)
    return begin(scene, SCENES["collapse"].dt, seed, gate)


def follow_collapse(simulation: rg.Simulation, quick: bool) -> Figures:
    """Run-out: the distance from the wall within which nine tenths of the grains lie, when the flow has ended."""
    simulation.run(until=simulation.time + (2.0 if quick else 25.0))
    x = simulation.bodies.position[:, 0]
    return {"run-out": float(np.quantile(x, 0.9)), "centre": float(x.mean())}


# A drum of disks, half full, its rough shell turning at a Froude number of 0.03

DRUM, TURNING = 12.0, 0.05


def prepare_drum(seed: int, quick: bool) -> rg.Simulation:
    grains = 60 if quick else 250
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=FRICTION)
    scene.add_grains(count=grains, radius=RADII, density=1.0, region=((-DRUM, -DRUM), (DRUM, 0.5 * DRUM)))
    scene.add_cylinder("drum", point=(0, 0), radius=DRUM, rotation=TURNING, friction=ROUGH)
    return begin(scene, SCENES["drum"].dt, seed, 2.0 if quick else 30.0)


def follow_drum(simulation: rg.Simulation, quick: bool) -> Figures:
    """Angle: of the line from the drum's axis to the centre of mass, against the vertical (degrees)."""

    def look(simulation: rg.Simulation) -> Figures:
        bodies = simulation.bodies
        x, y, _ = bodies.mass @ bodies.position
        return {"angle": math.degrees(math.atan2(abs(x), -y))}

    return sampled(simulation, look, simulation.time + (1.0 if quick else 200.0), 5)


# Slow shear of spheres between a rough base that moves and a rough lid that presses


def prepare_slow(seed: int, quick: bool) -> rg.Simulation:
    bed = Bed(3, 120 if quick else 400)
    return begin(pressing(bed, seed), SCENES["slow"].dt, seed, 10.0 if quick else 200.0)


def follow_slow(simulation: rg.Simulation, quick: bool) -> Figures:
    bed = Bed(3, simulation.bodies.count)
    base, lid = wall_of(simulation, "base"), simulation.bodies.walls[-1]
    solid = 4.0 / 3.0 * math.pi * float((simulation.bodies.radius**3).sum())
    simulation.bodies.walls[base].drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))

    def look(simulation: rg.Simulation) -> Figures:
        dense = {"phi": solid / (bed.width**2 * float(lid.shape.point[2]))}
        return contacts_of(simulation) | dense | {"mu*": abs(float(force_on(simulation, base)[0])) / load}

    load = PRESSURE * bed.width**2
    simulation.run(until=simulation.time + (5.0 if quick else 300.0))
    return sampled(simulation, look, simulation.time + (5.0 if quick else 3000.0), 5)


# Biaxial compression of disks: constant stress at smooth sides, the top comes down slowly

TALL, SPEED = 1.7, 0.02  # height over width at the start, speed of the top


def prepare_biaxial(seed: int, quick: bool) -> rg.Simulation:
    """Up to a strain of 0.05: a loose start has become dense."""
    grains = 100 if quick else 200
    width = math.sqrt(grains * math.pi / 4.0 * 1.0133 / 0.75 / TALL)
    scene = rg.Scene(dimension=2, friction=FRICTION)
    region = ((0, 0), (width, TALL * width))
    scene.add_grains(count=grains, radius=RADII, density=DENSITY, region=region, placement="dense")
    scene.add_plane("bottom", point=(0, 0), normal=(0, 1), friction=0.0)
    side = {"friction": 0.0, "mass": 0.25 * grains, "stress": 1.0, "between": ["bottom", "top"]}
    scene.add_piston("left", point=(0, 0), normal=(1, 0), **side)
    scene.add_piston("right", point=(width, 0), normal=(-1, 0), **side)
    scene.add_piston("top", point=(0, TALL * width), normal=(0, -1), friction=0.0, velocity=SPEED)
    return begin(scene, SCENES["biaxial"].dt, seed, (0.002 if quick else 0.05) * TALL * width / SPEED)


def follow_biaxial(simulation: rg.Simulation, quick: bool) -> Figures:
    """Means over strains of 0.07 to 0.2."""
    solid = math.pi * float((simulation.bodies.radius**2).sum())
    left, right, top = (simulation.bodies.walls[wall_of(simulation, name)].shape for name in ("left", "right", "top"))
    height = float(top.point[1])

    def look(simulation: rg.Simulation) -> Figures:
        area = (right.point[0] - left.point[0]) * top.point[1]
        return contacts_of(simulation) | {"phi": solid / float(area)}

    whole = height / 0.95 / SPEED
    simulation.run(until=simulation.time + (0.001 if quick else 0.02) * whole)
    return sampled(simulation, look, simulation.time + (0.005 if quick else 0.13) * whole, 5)


def bars(*names: str) -> dict[str, float]:
    return {name: (PHYSICS | CONTACTS)[name] for name in names}


SCENES: dict[str, Trial] = {
    "shear": Trial(0.14, prepare_shear, follow_shear, bars("mu*", "phi", "z", "sliding")),
    "silo": Trial(0.02, prepare_silo, follow_silo, bars("rate")),
    "collapse": Trial(0.02, prepare_collapse, follow_collapse, bars("run-out")),
    "drum": Trial(0.04, prepare_drum, follow_drum, bars("angle")),
    "slow": Trial(0.5, prepare_slow, follow_slow, bars("z", "sliding", "phi", "mu*")),
    "biaxial": Trial(0.18, prepare_biaxial, follow_biaxial, bars("z", "sliding", "phi")),
}
