"""A run to export, and what it is asked for."""

from __future__ import annotations

import rigidgrains as rg
from rigidgrains.scene import Scene

FORMATS = ("gsd", "lammps", "extxyz", "csv", "vtu")
SETTINGS = {"double": {}, "single": {"precision": "single"}, "grains": {"contacts": False}}
STATE = ("position", "radius", "velocity", "spin", "mass")
CSV = "x [m],y [m],radius [m]\n0.5,0.25,0.1\n0.25,0.75,0.2\n"


def simulate(path, dimension, **settings):
    """Two dozen grains of two materials fall into a box."""
    scene = Scene(dimension=dimension, gravity=(0,) * (dimension - 1) + (-9.81,), run={"dt": 2e-4})
    scene.add_material("glass", friction=0.3)
    spin = 3.0 if dimension == 2 else (1, 2, 3)
    region = ((0,) * dimension, (0.012,) * dimension)
    scene.add_grains(count=24, radius=(0.9e-3, 1.1e-3), region=region, velocity=(-0.2,) * dimension, spin=spin)
    last = (0.006,) * (dimension - 1) + (0.02,)
    scene.add_grains(positions=[last], radius=1.5e-3, material="glass", density=5000)
    scene.add_box(lower=(0,) * dimension, upper=(0.012,) * (dimension - 1) + (0.03,), open=["top"])
    simulation, history = rg.Simulation(scene), rg.History()
    simulation.observe(history, every=10)
    simulation.observe(rg.TrajectoryWriter(path, history=history, **settings), every=40)
    simulation.run(steps=100)
    return path
