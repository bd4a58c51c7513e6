"""A disk on a floor, to which tests add stages."""

from __future__ import annotations

import rigidgrains as rg

G, DT = 10.0, 1e-2


def resting(mu: float = 0.5, **words) -> rg.Scene:
    """A disk on a floor."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), friction=mu, run={"dt": DT})
    scene.add_grains(positions=[(0.0, 0.5)], radius=0.5, density=1.0, **words)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    return scene
