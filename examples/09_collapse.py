"""How far does a column run out when its gate opens?

The run-out of low columns grows as their height H: 2.5 H for disks (Staron and Hinch, J. Fluid Mech. 545 (2005) 1).
Rolling friction, here a tenth of the radius, stops the front earlier.
"""

import numpy as np

import rigidgrains as rg

WIDTH, RADIUS = 0.08, 5e-3

scene = rg.Scene(dimension=2, gravity=(0, -9.81))
scene.add_material("gravel", friction=0.5, rolling=0.1 * RADIUS)
scene.add_grains(
    count=90,
    radius=(0.9 * RADIUS, 1.1 * RADIUS),
    density=1000,
    region=((0, 0), (WIDTH, 0.124)),
    placement="dense",
    material="gravel",
)
scene.add_plane("floor", point=(0, 0), normal=(0, 1), material="gravel")
scene.add_plane("wall", point=(0, 0), normal=(1, 0), friction=0)
scene.add_plane("gate", point=(WIDTH, 0), normal=(-1, 0), friction=0, until="collapse")
scene.add_stage("settle", rest=True, limit=2.0)
scene.add_stage("collapse", rest=True, limit=2.0)

heights = []
sim = rg.Simulation(scene)
sim.observe(lambda sim: heights.append((sim.stages.now.name, sim.bodies.position[:, 1].max() + RADIUS)))
sim.run()

height = [h for stage, h in heights if stage == "settle"][-1]
front = np.sort(sim.bodies.position[:, 0])[-3] + RADIUS  # single disks roll further
print(f"a column of {height / WIDTH:.1f} widths runs out by {(front - WIDTH) / height:.1f} of its height")
assert 0.5 < (front - WIDTH) / height < 2.5
rg.draw_packing(sim, "collapse.png", forces=True)
