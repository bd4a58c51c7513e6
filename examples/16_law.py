"""How do I try a contact law of my own?

A class of a few lines that sets friction, rebound or attraction of each contact. Here walls are magnets that pull a
grain with F/(1 + g/l)^2 at a gap g: disks whose weight is below F hang under the ceiling, heavier ones fall.
"""

from dataclasses import dataclass

import numpy as np

import rigidgrains as rg


@dataclass
class Magnet(rg.Law):
    """force : N, at contact; length : m"""

    force: float
    length: float
    attracts = True

    def check(self):
        self.reach = 10 * float(self.length.max())

    def prepare(self, rows):
        wall = rows.body >= rows.bodies.count
        pull = rows.of_pair(self.force) / (1 + np.maximum(rows.gap, 0) / rows.of_pair(self.length)) ** 2
        rows.attract(np.where(wall & (rows.gap <= self.reach), pull, 0))


scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
scene.add_plane("ceiling", point=(0, 0), normal=(0, -1))
radii = np.linspace(0.006, 0.012, 7)
for k, radius in enumerate(radii):
    scene.add_grains(name=f"disk {k}", positions=[(0.03 * k, -radius)], radius=radius, density=1000)

sim = rg.Simulation(scene)
sim.bodies.laws.append(Magnet(force=2.5, length=1e-3))
sim.run(until=0.05)

weight = 9.81 * sim.bodies.mass
hangs = np.abs(sim.bodies.velocity[:, 1]) < 1e-6
for w, held in zip(weight, hangs):
    print(f"a disk of {w:.2f} N {'hangs' if held else 'falls'}")
assert (hangs == (weight < 2.5)).all()
rg.draw_packing(sim, "law.png", colour="speed")
