"""How do I add a force of my own: sand that settles in water?

A function of velocities and radii: Stokes drag and buoyancy. A single grain settles with 2/9 (rho - rho_w) g r^2/eta.
An intruder on a prescribed path stirs the others.
"""

import numpy as np

import rigidgrains as rg

WATER, SAND, VISCOSITY, G, R = 1000.0, 2500.0, 1e-3, 9.81, 1e-4  # kg/m^3, kg/m^3, Pa s, m/s^2, m


@rg.force
def water(velocity, radius):
    """Drag 6 pi eta r v, and what the water carries."""
    lift = np.zeros_like(velocity)
    lift[:, 2] = WATER * 4 / 3 * np.pi * radius**3 * G
    return lift - 6 * np.pi * VISCOSITY * radius[:, None] * velocity


scene = rg.Scene(dimension=3, gravity=(0, 0, -G), friction=0.5)
scene.add_box(lower=(0, 0, 0), upper=(2e-3, 2e-3, 2e-3), open=["top"])
scene.add_grains(name="sand", count=30, radius=R, density=SAND, region=((0, 0, 1e-3), (2e-3, 2e-3, 2e-3)), seed=1)
scene.add_grains(name="far", positions=[(1e-3, 1e-3, 8e-3)], radius=R, density=SAND)
scene.add_grains(name="stirrer", positions=[(1e-3, 1e-3, 3e-4)], radius=3 * R)
scene.add_motion("stir", grains="stirrer", displacement=("5e-4*sin(40*t)", 0, 0))
scene.add_force(water, timescale=2 * SAND * R**2 / (9 * VISCOSITY))

history = rg.History()
sim = rg.Simulation(scene).observe(history)
sim.run(until=0.06)

speed = -sim.bodies.velocity[sim.bodies.groups["far"]][0, 2]
theory = 2 * (SAND - WATER) * G * R**2 / (9 * VISCOSITY)
print(f"settles with {speed:.5f} m/s, theory {theory:.5f} m/s")
print(f"the stirrer has supplied {history['stir.work'][-1]:.3g} J")
assert abs(speed / theory - 1) < 1e-3
assert history["stir.work"][-1] > 0
rg.draw_packing(sim, "force.png", colour="speed")
