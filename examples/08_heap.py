"""How steep is a heap?

Gravel is poured on a table; what rolls over an edge is removed. Glass beads in narrow cells form heaps of 18 degrees
(wide cells) to 34 degrees (one diameter; Zhou et al., Powder Technol. 125 (2002) 45).
"""

import rigidgrains as rg
from rigidgrains import measure

scene = rg.Scene(dimension=2, gravity=(0, -9.81))
scene.add_material("gravel", friction=0.5, rolling=5e-4)  # rolling friction: a tenth of the radius
scene.add_plane("table", point=(0, 0), normal=(0, 1), size=0.2, material="gravel")
scene.add_inflow(
    "spout",
    region=((-0.012, 0.08), (0.012, 0.10)),
    radius=(4.5e-3, 5.5e-3),
    density=1000,
    velocity=(0, -0.4),
    rate=140,
    total=110,
    material="gravel",
)
scene.add_outlet("edge", point=(0, -0.03), normal=(0, 1))
scene.add_stage("pour", until=0.8)
scene.add_stage("rest", rest=True, limit=2.0)

sim = rg.Simulation(scene)
sim.run()

heap = measure.repose(sim)
print(f"{sim.bodies.count} disks at {heap.angle:.0f} degrees: {heap.left:.0f} left, {heap.right:.0f} right")
assert 18 < heap.angle < 36
rg.draw_packing(sim, "heap.png", forces=True)
