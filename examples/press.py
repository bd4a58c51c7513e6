"""The scene of the design in full: a piston presses polydisperse disks between smooth side walls.

At the end the floor carries grains, piston and load, since smooth walls take nothing of them.
"""

import rigidgrains as rg

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
scene.add_grains(count=200, radius=(0.8e-3, 1.6e-3), density=2500, region=((0, 0), (0.03, 0.06)), seed=1)
scene.add_plane("floor", point=(0, 0), normal=(0, 1))
scene.add_plane("left", point=(0, 0), normal=(1, 0), friction=0)
scene.add_plane("right", point=(0.03, 0), normal=(-1, 0), friction=0)
scene.add_piston("lid", point=(0, 0.06), normal=(0, -1), mass=1.0, load=20.0)

history = rg.History()
sim = rg.Simulation(scene, dt=1e-4, solver=rg.Sweeps(order="random", criterion=rg.LocalCriterion(1e-3)))
sim.observe(rg.Progress(), every=100)
sim.observe(history, every=10)
sim.observe(rg.StopWhenStatic(speed=1e-4), every=10)
report = sim.run(until=0.5)
print(report)

weight = 9.81 * (sim.bodies.mass.sum() + 1.0) + 20.0
print(f"floor carries {-report.wall_force['floor'][1]:.3f} N of {weight:.3f} N")
rg.draw_packing(sim, "press.png", colour="rotation")
rg.draw_history(history, "press-history.png")
