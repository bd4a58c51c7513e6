"""How much of a piston's load does the floor feel, and what is the stress in between?

Smooth side walls take no vertical force. The floor carries grains, piston and load; the mean vertical stress is the
load and weight of the piston plus half the weight of the grains, over the width.
"""

import rigidgrains as rg
from rigidgrains import measure

WIDTH, LOAD, MASS, G = 0.03, 20.0, 1.0, 9.81

scene = rg.Scene(dimension=2, gravity=(0, -G), friction=0.5)
scene.add_grains(count=150, radius=(0.8e-3, 1.6e-3), density=2500, region=((0, 0), (WIDTH, 0.04)), placement="dense")
scene.add_plane("floor", point=(0, 0), normal=(0, 1))
scene.add_plane("left", point=(0, 0), normal=(1, 0), friction=0)
scene.add_plane("right", point=(WIDTH, 0), normal=(-1, 0), friction=0)
scene.add_piston("lid", point=(0, 0.04), normal=(0, -1), mass=MASS, load=LOAD)

history = rg.History()
sim = rg.Simulation(scene)
sim.observe(rg.Progress(), every=100)
sim.observe(history, every=5)
sim.observe(rg.StopWhenStatic(speed=1e-4), every=5)
report = sim.run(until=0.5)
print(report)

grains, pressed = G * sim.bodies.mass.sum(), LOAD + G * MASS
carried = -report.wall_force["floor"][1]
print(f"floor carries {carried:.3f} N of {pressed + grains:.3f} N")
assert abs(carried / (pressed + grains) - 1) < 2e-3

stress = measure.stress(sim).total
expected = (pressed + grains / 2) / WIDTH
print(f"vertical stress {stress[1, 1]:.1f} N/m of {expected:.1f} N/m, horizontal stress {stress[0, 0]:.1f} N/m")
assert abs(stress[1, 1] / expected - 1) < 1e-2

rg.draw_packing(sim, "press.png", forces=True)
rg.draw_history(history, "press-history.png")
