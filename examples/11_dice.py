"""How do dice come to rest?

On a face, so that every centre is half an edge above the table; each of the six faces is up with the same probability.
"""

import numpy as np

import rigidgrains as rg

EDGE = 0.016

scene = rg.Scene(dimension=3, gravity=(0, 0, -9.81), friction=0.4)
scene.add_shape("die", box=[EDGE, EDGE, EDGE])
scene.add_grains(
    count=24,
    shape="die",
    size="as drawn",
    density=1200,
    region=((-0.1, -0.1, 0.02), (0.1, 0.1, 0.06)),
    velocity=(0.3, 0, 0),
    spin=(20, 30, 10),
)
scene.add_plane("table", point=(0, 0, 0), normal=(0, 0, 1))
sim = rg.Simulation(scene)
sim.observe(rg.StopWhenStatic(speed=1e-4), every=5)
sim.run(until=1.0)

w, x, y, z = sim.bodies.orientation.T
up = np.column_stack([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z])  # in axes of the die
axis = np.abs(up).argmax(axis=1)
number = np.where(np.take_along_axis(up, axis[:, None], 1)[:, 0] > 0, axis + 1, 6 - axis)
print("thrown:", *number)
height = sim.bodies.position[:, 2]
print(f"all centres are {1e3 * height.min():.3f} to {1e3 * height.max():.3f} mm above the table, half an edge is 8 mm")
assert np.allclose(height, EDGE / 2, atol=1e-2 * EDGE)
assert np.abs(up).max(axis=1).min() > 0.999  # level
rg.draw_packing(sim, "dice.png", colour="radius")
