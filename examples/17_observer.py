"""How do I record a quantity of my own, and stop a run by it?

An observer is any function of the simulation; a text that it returns ends the run. Here bricks slide on the floor until
the last one has stopped, after v/(mu g); their distances are v^2/(2 mu g).
"""

import matplotlib.pyplot as plt
import numpy as np

import rigidgrains as rg

MU, G = 0.4, 9.81
SPEEDS = np.array([0.3, 0.6, 0.9, 1.2])

scene = rg.Scene(dimension=2, gravity=(0, -G), friction=MU)
scene.add_plane("floor", point=(0, 0), normal=(0, 1))
scene.add_shape("brick", box=[0.02, 0.01])
for k, speed in enumerate(SPEEDS):
    place = {"positions": [(0.5 * k, 0.005)], "velocity": (speed, 0)}
    scene.add_grains(name=f"brick {k}", shape="brick", size="as drawn", **place)

track = []


def watch(sim):
    track.append((sim.time, *sim.bodies.velocity[:, 0]))
    if np.abs(sim.bodies.velocity).max() < 1e-6:
        return "all bricks have stopped"


sim = rg.Simulation(scene, dt=1e-3)
start = sim.bodies.position[:, 0].copy()
sim.observe(watch)
report = sim.run(until=1.0)

longest = SPEEDS.max() / (MU * G)
print(f"{report.stopped} after {report.time:.3f} s, expected {longest:.3f} s")
distance, expected = sim.bodies.position[:, 0] - start, SPEEDS**2 / (2 * MU * G)
for k in range(4):
    print(f"{SPEEDS[k]} m/s: {distance[k]:.4f} m, expected {expected[k]:.4f} m")
assert abs(report.time / longest - 1) < 0.01
assert np.allclose(distance, expected, rtol=0.02)

time, *speeds = np.array(track).T
plt.figure(figsize=(5, 3), layout="constrained")
plt.plot(time, np.transpose(speeds))
plt.xlabel("time (s)")
plt.ylabel("speed (m/s)")
plt.savefig("observer.png", dpi=150)
