"""Forces of one's own: sand settles in water, with Stokes drag and buoyancy, stirred by an intruder on a path."""

import numpy as np

import rigidgrains as rg

WATER, VISCOSITY, G = 1000.0, 1e-3, 9.81  # kg/m^3, Pa s, m/s^2


@rg.force
def water(velocity, radius):
    """Drag 6 pi eta r v, and what the water carries."""
    lift = np.zeros_like(velocity)
    lift[:, 2] = WATER * 4 / 3 * np.pi * radius**3 * G
    return lift - 6 * np.pi * VISCOSITY * radius[:, None] * velocity


scene = rg.Scene(dimension=3, gravity=(0, 0, -G), friction=0.5)
scene.add_box(lower=(0, 0, 0), upper=(2e-3, 2e-3, 2e-3), open=["top"])
scene.add_grains(name="sand", count=30, radius=1e-4, density=2500, region=((0, 0, 1e-3), (2e-3, 2e-3, 2e-3)), seed=1)
scene.add_grains(name="far", positions=[(1e-2, 1e-2, 1.0)], radius=1e-4, density=2500)
scene.add_grains(name="stirrer", positions=[(1e-3, 1e-3, 3e-4)], radius=3e-4)
scene.add_motion("stir", grains="stirrer", displacement=("5e-4*sin(40*t)", 0, 0))
scene.add_force(water, timescale=2 * 2500 * 1e-8 / (9 * VISCOSITY))

history = rg.History()
sim = rg.Simulation(scene, dt="auto").observe(history)
sim.run(until=0.06)

speed = -sim.bodies.velocity[sim.bodies.groups["far"]][0, 2]
print(f"settles with {speed:.5f} m/s, theory {2 * (2500 - WATER) * G * 1e-8 / (9 * VISCOSITY):.5f} m/s")
print(f"the stirrer has given {history['stir.work'][-1]:.3g} J")
