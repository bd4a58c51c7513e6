"""How fast does a silo discharge?

Grains fall freely from an arch over the opening D, whatever the filling height: mass rate = phi rho (pi/4) D sqrt(g D)
in 2D, with a packing fraction phi at the opening of 0.5 to 0.8. Grains that leave come back at the top.
"""

import numpy as np

import rigidgrains as rg

WIDTH, D, RHO, G = 0.16, 0.06, 1000.0, 9.81
plate = (WIDTH - D) / 2

scene = rg.Scene(dimension=2, gravity=(0, -G), friction=0.5)
scene.add_grains(count=160, radius=(4.5e-3, 5.5e-3), density=RHO, region=((0, 0), (WIDTH, 0.12)), placement="dense")
scene.add_plane("left", point=(0, 0), normal=(1, 0))
scene.add_plane("right", point=(WIDTH, 0), normal=(-1, 0))
scene.add_plane("left floor", point=(plate / 2, 0), normal=(0, 1), size=plate)
scene.add_plane("right floor", point=(WIDTH - plate / 2, 0), normal=(0, 1), size=plate)
scene.add_inflow("top", region=((0, 0.13), (WIDTH, 0.16)))
scene.add_outlet("drain", point=(0, -0.03), normal=(0, 1), recycle="top")

sim = rg.Simulation(scene)
sim.run(until=0.2)  # until the flow is steady
before = sim.report().outlets["drain"]["mass"]
sim.run(until=0.8)
rate = (sim.report().outlets["drain"]["mass"] - before) / 0.6

fall = RHO * np.pi / 4 * D * np.sqrt(G * D)
print(f"{rate:.1f} kg/s per metre of depth: a packing fraction of {rate / fall:.2f} at the opening")
assert 0.5 < rate / fall < 0.8
rg.draw_packing(sim, "silo.png", colour="speed")
