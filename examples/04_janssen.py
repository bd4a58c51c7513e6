"""Why does the floor of a silo feel only part of the grains?

Walls carry the rest by friction (Janssen 1895): a fill of depth H weighs on the floor like one of depth
l (1 - exp(-H/l)), with l = W/(2 mu K) in a silo of width W. K, horizontal over vertical stress, lies between that of
active failure, (1 - sin phi)/(1 + sin phi), here with tan phi = mu, and about 1. The floor sinks slowly, so that grains
slide down along the walls.
"""

import numpy as np

import rigidgrains as rg

WIDTH, MU = 0.024, 0.5

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=MU)
scene.add_grains(count=240, radius=(1.2e-3, 1.6e-3), region=((0, 0), (WIDTH, 0.09)), placement="dense")
scene.add_plane("floor", point=(0, 0), normal=(0, 1), velocity=(0, -5e-3))
scene.add_plane("left", point=(0, 0), normal=(1, 0))
scene.add_plane("right", point=(WIDTH, 0), normal=(-1, 0))

history = rg.History()
sim = rg.Simulation(scene)
sim.run(until=0.6)  # until friction is mobilised
sim.observe(history, interval=0.01)
sim.run(until=1.0)

weight = 9.81 * sim.bodies.mass.sum()
depth = sim.bodies.position[:, 1].max() - sim.bodies.position[:, 1].min()
share = np.mean(history["floor.force"]) / weight
active = (1 - np.sin(np.arctan(MU))) / (1 + np.sin(np.arctan(MU)))


def janssen(k):
    length = WIDTH / (2 * MU * k)
    return length / depth * (1 - np.exp(-depth / length))


print(f"depth {depth / WIDTH:.1f} widths: the floor carries {100 * share:.0f} % of {weight:.1f} N")
print(f"Janssen: {100 * janssen(active):.0f} % with K = {active:.2f}, {100 * janssen(1):.0f} % with K = 1")
assert janssen(1) < share < janssen(active)
rg.draw_packing(sim, "janssen.png", forces=True)
