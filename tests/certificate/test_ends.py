"""Ends of edges side by side: where the engine places them, and what the certificate grants there."""

from __future__ import annotations

import math

import numpy as np
from support.shaped import shaped

from rigidgrains import Frame, Simulation
from rigidgrains.certificate import check
from rigidgrains.certificate.points import ASIDE
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Wall
from rigidgrains.shapes import build
from rigidgrains.shapes.solid_manifold import ALONG, SLOPE


def test_a_sharp_end_beside_a_rounded_edge():
    """A rounded box on the rim of a rod, an edge along the rim within 25 degrees and leaning by one."""
    rim = Wall("rod", Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.48057, False, 0.66028))
    turned = np.array([-0.4222545, -0.42082513, 0.56378732, 0.57162156])
    bodies = shaped(
        [[-0.43435773, -0.79210328, 0.97026346]], {"box": build.box([0.8, 0.5, 0.3], rounding=0.1)}, dimension=3,
        orientation=turned[None] / np.linalg.norm(turned), friction=0.3, walls=[rim],
    )  # fmt: skip
    simulation = Simulation(bodies, dt=1e-3)
    simulation.step()
    assert simulation.contacts.count > 1
    geometry = {part.name: part for part in check(Frame.of(simulation)).checks}["geometry"]
    assert geometry.passed, str(geometry)


def test_how_far_ends_are_from_the_surface():
    """The end of an edge, one radius from another edge that leans, as far along their middle: see `_ends`."""
    rng = np.random.default_rng(0)
    for _ in range(5000):
        angle, lean = rng.uniform(0.0, math.acos(ALONG)), math.asin(rng.uniform(-SLOPE, SLOPE))
        half = 0.5 + 0.5 * math.cos(angle)
        aside = rng.uniform(-1.0, 1.0) / math.sqrt(half)
        end = np.array([0.0, aside, math.sqrt(max(1.0 - half * aside**2, 0.0))])  # across the middle, x
        flat = np.array([math.cos(0.5 * angle), math.sin(0.5 * angle), 0.0])
        edge = math.cos(lean) * flat + np.array([0.0, 0.0, math.sin(lean)])
        distance = np.linalg.norm(np.cross(edge, end))
        assert 1.0 - 0.0072 <= distance <= 1.0 / math.cos(0.5 * angle) <= 1.0 + ASIDE
