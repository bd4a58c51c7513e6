"""How thin can a masonry arch be?

A semicircular arch of blocks without mortar stands if its thickness is at least 0.1075 of its mean radius (Milankovitch
1907, for many blocks).
"""

import numpy as np

import rigidgrains as rg

BLOCKS = 27
half = np.pi / BLOCKS / 2  # half the angle of a block
angles = half * (2 * np.arange(BLOCKS) + 1)


def moves(thickness):
    """How far a block moves in half a second (m), of an arch with a mean radius of 1 m."""
    inner, outer = 1 - thickness / 2, 1 + thickness / 2
    c, s = np.cos(half), np.sin(half)
    middle = 2 / 3 * c * (inner**2 + inner * outer + outer**2) / (inner + outer)  # radius of the centre of mass
    block = [(inner * c, -inner * s), (outer * c, -outer * s), (outer * c, outer * s), (inner * c, inner * s)]
    at = middle * np.column_stack([np.cos(angles), np.sin(angles)])
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.6)
    scene.add_shape("block", vertices=block)
    scene.add_grains(shape="block", size="as drawn", density=2400, positions=at, angles=angles)
    scene.add_plane("ground", point=(0, 0), normal=(0, 1))
    sim = rg.Simulation(scene)
    start = sim.bodies.position.copy()
    sim.run(until=0.5)
    rg.draw_packing(sim, "arch.png", forces=True)
    return np.abs(sim.bodies.position - start).max()


thin, thick = moves(0.10), moves(0.115)
print(f"thickness 0.100: blocks move by {thin:.4f} m, it falls")
print(f"thickness 0.115: blocks move by {thick:.4f} m, it stands")
assert thin > 0.1
assert thick < 1e-3
