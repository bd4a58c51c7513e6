"""What is the friction coefficient of a flow?

In simple shear at constant pressure shear stress/pressure = mu(I), with the inertial number I = rate sqrt(m/P). Soft
disks of mu = 0.4: mu(I) = 0.25 + 1.1 I, phi(I) = 0.81 - 0.3 I (da Cruz et al., Phys. Rev. E 72 (2005) 021309).
"""

import numpy as np

import rigidgrains as rg
from rigidgrains import measure

RATE, PRESSURE = 1.0, 100.0

scene = rg.Scene(dimension=2, friction=0.4)
scene.set_cell(lower=(0, 0), upper=(10, 10), rate={"xy": RATE}, stress={"yy": PRESSURE})
scene.add_grains(count=90, radius=(0.4, 0.6), density=1.2732, placement="dense")

sim = rg.Simulation(scene)
sim.run(until=1.5)  # a strain of 1.5, to forget the start
flow = measure.Measure(measure.stress, phi=measure.packing_fraction)
sim.observe(flow, interval=0.02)
sim.run(until=5.0)

inertial = RATE * np.sqrt(sim.bodies.mass.mean() / PRESSURE)
stress = flow["stress.total"].mean(axis=0)
mu, phi = -stress[0, 1] / stress[1, 1], np.mean(flow["phi"])
fit = 0.25 + 1.1 * inertial, 0.81 - 0.3 * inertial
print(f"I = {inertial:.2f}: mu = {mu:.2f}, fit {fit[0]:.2f}; phi = {phi:.3f}, fit {fit[1]:.3f}")
assert abs(mu / fit[0] - 1) < 0.3  # 90 disks, a strain of 3.5
assert abs(phi / fit[1] - 1) < 0.03
rg.draw_packing(sim, "shear.png", colour="speed", forces=True)
