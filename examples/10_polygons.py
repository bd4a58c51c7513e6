"""What is different in a packing of polygons?

Sides lie on sides and transmit torques. These contacts are the minority, and carry the strongest forces (pentagons
under shear: Azema et al., Phys. Rev. E 76 (2007) 011301).
"""

import numpy as np

import rigidgrains as rg
from rigidgrains import measure

scene = rg.Scene(dimension=2, friction=0.4)
scene.add_shape("pentagon", polygon=5)
scene.add_grains(count=100, shape="pentagon", radius=(4e-3, 6e-3), density=2500, region=((0, 0), (0.1, 0.14)))
scene.add_box(lower=(0, 0), upper=(0.1, 0.14), open=["top"])
scene.add_piston("lid", point=(0, 0.14), normal=(0, -1), mass=2, load=500)
sim = rg.Simulation(scene)
sim.observe(rg.StopWhenStatic(speed=1e-3), every=5)
sim.run(until=0.6)

contacts = measure.of(sim).contacts
carrying = (contacts.pair < sim.bodies.count).all(axis=1) & (contacts.normal_force > 0)
_, which, points = np.unique(contacts.pair[carrying], axis=0, return_inverse=True, return_counts=True)
force = np.bincount(which, weights=contacts.normal_force[carrying])
sides, corners = force[points == 2], force[points == 1]
ratio = sides.mean() / corners.mean()
print(f"{len(sides)} of {len(force)} contacts are sides on sides; their mean force is {ratio:.1f} times that of others")
assert len(sides) < 0.5 * len(force)
assert ratio > 1.2
rg.draw_packing(sim, "polygons.png", forces=True)
