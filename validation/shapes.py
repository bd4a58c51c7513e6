"""Grains of other shapes against exact solutions: slopes, tipping, rocking, towers, arches; and overlaps in a fall.

Accuracy "exact" with a residual of 1e-8, on the slope in 3D 1e-10; blocks are sharp. The critical thickness and
friction of the arch are found by bisection: whether it has moved by a fiftieth of its radius after so many seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from report import Result, settings

from rigidgrains import AcceleratedSweeps, Scene, Simulation
from rigidgrains.solve.criteria import ResidualCriterion

G = 9.81


def blocks(lengths, position, *, turn=None, normal=None, friction=0.5, residual=1e-8, dt=1e-3, **motion) -> Simulation:
    """Equal boxes on a plane through the origin."""
    dimension = len(lengths)
    up = np.eye(dimension)[-1] if normal is None else normal
    scene = Scene(dimension=dimension, gravity=tuple(-G * np.eye(dimension)[-1]), friction=friction)
    scene.add_shape("block", box=list(lengths))
    scene.add_plane("floor", point=[0.0] * dimension, normal=list(up))
    words = {} if turn is None else {"angles" if dimension == 2 else "quaternions": turn}
    scene.add_grains(shape="block", size="as drawn", positions=np.asarray(position).tolist(), **words, **motion)
    return Simulation(scene, dt=dt, solver=solver(residual))


def solver(residual: float) -> AcceleratedSweeps:
    return AcceleratedSweeps(accuracy="exact", criterion=ResidualCriterion(residual))


def slope(dimension: int, factor: float, time: float) -> float:
    """How far a cube slides on a slope tan a = 0.5 factor, over g t (t + dt) |sin a - mu cos a|/2."""
    mu, dt = 0.5, 1e-3
    a = math.atan(mu * factor)
    c, s = math.cos(a), math.sin(a)
    up = np.array([-s, c]) if dimension == 2 else np.array([-s, 0.0, c])
    turn = [a] if dimension == 2 else [[math.cos(0.5 * a), 0.0, -math.sin(0.5 * a), 0.0]]
    residual = 1e-8 if dimension == 2 else 1e-10
    sim = blocks([1.0] * dimension, [0.5 * up], turn=turn, normal=up, friction=mu, residual=residual, dt=dt)
    before = sim.bodies.position[0].copy()
    sim.run(until=time)
    down = np.array([-c, -s, 0.0]) if dimension == 2 else np.array([-c, 0.0, -s])
    return float((sim.bodies.position[0] - before) @ down) / abs(0.5 * G * time * (time + dt) * (s - mu * c))


def tips(factor: float) -> bool:
    """Whether a block of 0.5 x 1 on a slope of tan a = 0.5 factor tips over within a second."""
    a = math.atan(0.5 * factor)
    up = np.array([-math.sin(a), math.cos(a)])
    sim = blocks([0.5, 1.0], [0.5 * up], turn=[a], normal=up, friction=1.0)
    sim.run(until=1.0)
    return bool(abs(sim.bodies.orientation[0] - a) > 1e-4)


def rocking(dt: float) -> float:
    """Spin after over before the impact of a rocking block of 0.3 x 1, carried on to the impact from both sides."""
    width, height, lean, spin = 0.3, 1.0, -0.01, 0.3
    c, s = math.cos(lean), math.sin(lean)
    lever = np.array([-0.5 * c * width - 0.5 * s * height, -0.5 * s * width + 0.5 * c * height])
    motion = {"velocity": [-spin * lever[1], spin * lever[0]], "spin": spin}
    sim = blocks(
        [width, height],
        [lever + 0.5 * width * np.eye(2)[0]],
        turn=[lean],
        friction=5.0,
        residual=1e-12,
        dt=dt,
        **motion,
    )
    history = []
    while sim.time < 0.04:
        sim.step()
        history.append(sim.bodies.spin[0, 2])
    hit = int(np.argmin(np.diff(history)))
    fall = history[hit - 2] - history[hit - 3], history[hit + 5] - history[hit + 4]  # a step before and after
    return float((history[hit + 4] - 4.0 * fall[1]) / (history[hit - 2] + 2.0 * fall[0]))


def tower(dimension: int, steps: int) -> tuple[float, float, bool]:
    """Drift of ten cubes (m), sweeps a step, and whether all corners were there in the last step."""
    position = np.zeros((10, dimension))
    position[:, -1] = 0.5 + np.arange(10)
    sim = blocks([1.0] * dimension, position)
    before = sim.bodies.position.copy()
    sim.run(steps=steps)
    moved = float(np.abs(sim.bodies.position - before).max())
    return moved, sim.tally.sweeps / sim.steps, sim.contacts.count == (20 if dimension == 2 else 40)


def arch_stands(thickness: float, friction: float, number: int, time: float) -> bool:
    """A semicircular arch of mean radius 1 with radial joints."""
    angle = math.pi / number
    inner, outer, c, s = 1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness, math.cos(0.5 * angle), math.sin(0.5 * angle)
    scene = Scene(dimension=2, gravity=(0.0, -G), friction=friction)
    voussoir = scene.add_shape(
        "voussoir",
        vertices=[[inner * c, -inner * s], [outer * c, -outer * s], [outer * c, outer * s], [inner * c, inner * s]],
    )
    turn = angle * (np.arange(number) + 0.5)
    centre = float(voussoir.centre[0])
    scene.add_plane("ground", point=(0.0, 0.0), normal=(0.0, 1.0))
    scene.add_grains(
        shape="voussoir", size="as drawn", angles=turn.tolist(),
        positions=np.stack([centre * np.cos(turn), centre * np.sin(turn)], axis=1).tolist(),
    )  # fmt: skip
    sim = Simulation(scene, dt=1e-3, solver=solver(1e-8))
    before = sim.bodies.position.copy()
    while sim.time < time:
        sim.step()
        if np.abs(sim.bodies.position - before).max() > 0.02:
            return False
    return True


def bisect(stands: Callable[[float], bool], low: float, high: float, width: float) -> tuple[float, float]:
    """Where an arch begins to stand, between low (falls) and high (stands), and half the width that is left."""
    while high - low > width:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(middle) else (middle, high)
    return 0.5 * (low + high), 0.5 * (high - low)


def fall(dimension: int, count: int, seed: int) -> float:
    """The deepest overlap of pentagons or cubes that fall into a box, over their diameter.

    dt is chosen so that the fastest grain moves by about a tenth of its diameter in a step.
    """
    radius, wide = 5e-3, 0.12 if dimension == 2 else 0.06
    content = math.pi * radius**2 * 2.5 if dimension == 2 else 4.0 / 3.0 * math.pi * radius**3 * 4.5
    high = 0.03 + count * content / wide ** (dimension - 1)
    scene = Scene(dimension=dimension, gravity=tuple(-G * np.eye(dimension)[-1]), friction=0.4)
    scene.add_shape("grain", **({"polygon": 5} if dimension == 2 else {"solid": "cube"}))
    low, walls = [0.0] * dimension, [wide] * (dimension - 1)
    scene.add_grains(
        count=count, shape="grain", radius=radius, seed=seed, region=([*low[1:], 0.03], [*walls, high])
    )  # fmt: skip
    scene.add_box(lower=low, upper=[*walls, 1.0], open=["top"])
    reach = high + 0.03
    dt = 0.2 * radius / (0.79 * math.sqrt(1.2 * G * reach))
    sim = Simulation(scene, dt=dt, solver=AcceleratedSweeps(accuracy="exact"), seed=seed)
    deepest = 0.0
    while sim.time < 1.1 * math.sqrt(2.0 * reach / G):
        sim.step()
        deepest = max(deepest, sim.contacts.deepest)
    return deepest / (2.0 * radius)


def main() -> None:
    options = settings(__doc__)
    quick = options.quick
    results = []
    for dimension in (2,) if quick else (2, 3):
        where = f"{dimension}D"
        results += [
            Result(f"slope mu (1 - 1e-6), {where}: way over it", slope(dimension, 1.0 - 1e-6, 0.5), 0.0, 0.0, 0.01),
            Result(f"slope mu (1 + 1e-6), {where}: way over theory", slope(dimension, 1.0 + 1e-6, 0.5), 0.0, 1.0, 0.01),
        ]  # fmt: skip
        moved, sweeps, whole = tower(dimension, 500 if quick else 10_000)
        results += [
            Result(f"tower of ten, {where}: drift (m)", moved, 0.0, 0.0, 1e-6),
            Result(f"tower of ten, {where}: sweeps a step", sweeps, 0.0, 0.0, 20.0),
            Result(f"tower of ten, {where}: all corners and no other", float(whole), 0.0, 1.0, 0.0),
        ]
    results.append(
        Result("tips at w/h (1 -+ 1e-4): no, yes", float(tips(1.0 + 1e-4)) - float(tips(1.0 - 1e-4)), 0.0, 1.0, 0.0)
    )
    housner = 1.0 - 1.5 * math.sin(math.atan(0.3)) ** 2
    results.append(
        Result(
            "rocking, spin after over before", rocking(1e-4 if quick else 3e-6), 0.0, housner, 1e-3 if quick else 1e-4
        )
    )
    number, time = (27, 0.5) if quick else (55, 2.0)
    thick, half = bisect(lambda t: arch_stands(t, 0.6, number, time), 0.100, 0.115, 1e-3 if quick else 1e-4)
    results.append(
        Result(
            f"arch of {number}: critical thickness over radius, friction 0.6",
            thick,
            half,
            0.1075,
            1e-3 if quick else 3e-4,
        )
    )
    rough, half = bisect(lambda mu: arch_stands(0.25, mu, number, time), 0.300, 0.320, 2e-3 if quick else 2e-4)
    results.append(
        Result(f"arch of {number}: critical friction, thickness 0.25", rough, half, 0.309215, 1e-2 if quick else 5e-4)
    )
    for dimension, count in ((2, 100),) if quick else ((2, 300), (3, 200)):
        deepest = max(fall(dimension, count, seed) for seed in ((1,) if quick else range(11, 17)))
        results.append(
            Result(f"fall by 0.1 diameters a step, {dimension}D: deepest overlap/diameter", deepest, 0.0, 0.0, 1e-3)
        )
    options.finish(results)


if __name__ == "__main__":
    main()
