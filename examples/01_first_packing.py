"""How do I make a packing? Disks fall into a box, come to rest, and are drawn with their force network."""

import rigidgrains as rg

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
scene.add_grains(count=300, radius=(1e-3, 2e-3), region=((0, 0), (0.06, 0.09)))
scene.add_box(lower=(0, 0), upper=(0.06, 0.1), open=["top"])
sim = rg.Simulation(scene)
print(sim.run(until=0.3))
rg.draw_packing(sim, "packing.png")
