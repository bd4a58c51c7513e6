"""Scenes: disks that fall into a box, as a file; a drum with every kind of wall; a hopper with inflow and outlet."""

from __future__ import annotations

import rigidgrains as rg

SCENE = """
dimension = 2
gravity = [0, -9.81]
[[grains]]
count = 30
radius = [0.9e-3, 1.1e-3]
region = [[0, 0], [0.02, 0.02]]
[[box]]
lower = [0, 0]
upper = [0.02, 0.03]
open = ["top"]
[run]
dt = 1e-4
steps = 50
"""


def drum(**options) -> rg.Simulation:
    """Spheres in a turning drum on a plate, with an oscillating wall: every kind of wall."""
    scene = rg.Scene(dimension=3, gravity=(0, 0, -9.81), friction=0.4)
    scene.add_grains(count=40, radius=(0.08, 0.12), region=((-0.6, -0.3, -0.6), (0.6, 0.3, 0.6)))
    scene.add_cylinder("drum", point=(0, 0, 0), axis=(0, 1, 0), radius=1.0, rotation=(0, 1.0, 0), friction=0.8)
    scene.add_plane("front", point=(0, -0.4, 0), normal=(0, 1, 0))
    scene.add_plane(
        "back", point=(0, 0.4, 0), normal=(0, -1, 0), oscillation={"amplitude": (0, 0.02, 0), "frequency": 3.0}
    )
    return rg.Simulation(scene, dt=2e-3, **options)


def hopper(rate=400.0, recycle=None, laws=False, **inflow):
    """Disks rain into a box with a hole in its floor; below the hole is an outlet."""
    scene = rg.Scene(dimension=2, gravity=[0, -9.81], friction=0.4, run={"dt": 5e-4, "seed": 5})
    if laws:
        scene.add_material("sticky", friction=0.4, static_friction=0.6, cohesion=1e-3, rolling=1e-4)
    material = {"material": "sticky"} if laws else {}
    scene.add_grains(name="bed", count=60, radius=[1.5e-3, 2.2e-3], region=[[0, 0.002], [0.05, 0.04]], **material)
    scene.add_plane("left", point=[0, 0], normal=[1, 0], **material)
    scene.add_plane("right", point=[0.05, 0], normal=[-1, 0], **material)
    scene.add_plane("floor left", point=[0.009, 0], normal=[0, 1], size=0.018, **material)
    scene.add_plane("floor right", point=[0.041, 0], normal=[0, 1], size=0.018, **material)
    own = {"radius": [1.5e-3, 2.2e-3], "rate": rate} if rate else {}
    scene.add_inflow("rain", region=[[0.002, 0.06], [0.048, 0.08]], velocity=[0, -0.5], **(own | inflow), **material)
    scene.add_outlet("drain", point=[0, -0.01], normal=[0, 1], recycle=recycle)
    return scene
