"""Can a packing of another program be at rest, and which forces carry it?

Only positions and radii are known. The associated law finds forces that obey Signorini and Coulomb and carry all
weights, if there are any; the certificate recomputes both without the code of the solver.
"""

import numpy as np

import rigidgrains as rg
from rigidgrains import certificate, measure

BOX = {"lower": (0, 0), "upper": (0.03, 0.05), "open": ["top"]}

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)  # in place of the other program
scene.add_grains(count=100, radius=(1e-3, 1.4e-3), region=((0, 0), (0.03, 0.03)), placement="dense")
scene.add_box(**BOX)
other = rg.Simulation(scene)
other.observe(rg.StopWhenStatic(speed=1e-5), every=5)
other.run(until=0.5)
table = np.column_stack([other.bodies.position[:, :2], other.bodies.radius])
np.savetxt("other.csv", table, delimiter=",", header="x,y,radius", comments="", fmt="%.9f")

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
scene.solver = {"accuracy": "exact", "associated": True}
scene.add_grains(file="other.csv", density=2500, overlap=0.01)
scene.add_box(**BOX)
sim = rg.Simulation(scene, dt=1e-3)
report = sim.run(steps=1)

weight = 9.81 * sim.bodies.mass.sum()
carried = -sum(force[1] for force in report.wall_force.values())
found = certificate.check(measure.of(sim))
print(f"walls carry {carried:.3f} N of {weight:.3f} N after one step; it is {found.verdict}")
assert abs(carried / weight - 1) < 0.02
assert not found.violated
rg.draw_packing(sim, "check.png", forces=True)
