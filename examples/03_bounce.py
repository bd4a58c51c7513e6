"""How high does a ball bounce?

It leaves the plate with e times the speed of its impact, and so rises to e^2 of the height, then to e^4, e^6, ...
"""

import matplotlib.pyplot as plt
import numpy as np

import rigidgrains as rg

HEIGHT, RADIUS, E = 0.5, 0.02, 0.8

scene = rg.Scene(dimension=3, gravity=(0, 0, -9.81))
scene.add_material("steel", restitution=E)
scene.add_plane("plate", point=(0, 0, 0), normal=(0, 0, 1), material="steel")
scene.add_grains(positions=[(0, 0, HEIGHT + RADIUS)], radius=RADIUS, density=7800, material="steel")

track = []
sim = rg.Simulation(scene, dt=1e-3)
sim.observe(lambda sim: track.append((sim.time, sim.bodies.position[0, 2] - RADIUS)))
sim.run(until=1.7)

t, z = np.array(track).T
tops = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])][:3]
expected = HEIGHT * E ** np.array([2, 4, 6])
for n in range(3):
    print(f"bounce {n + 1}: {tops[n]:.3f} m, expected {expected[n]:.3f} m")
assert np.allclose(tops, expected, rtol=0.02)

plt.figure(figsize=(5, 3), layout="constrained")
plt.plot(t, z)
for height in expected:
    plt.axhline(height, color="grey", linestyle=":")
plt.xlabel("time (s)")
plt.ylabel("height (m)")
plt.savefig("bounce.png", dpi=150)
