"""How much power does a rotating drum need?

Its grains lean to one side: with their centre of mass at a distance x from the axis, gravity turns the drum back by the
torque M g x. The motor supplies M g x times the angular velocity, and friction and collisions dissipate it.
"""

import numpy as np

import rigidgrains as rg
from rigidgrains import measure

OMEGA, G = np.pi, 9.81  # half a revolution per second

scene = rg.Scene(dimension=2, gravity=(0, -G), friction=0.5)
scene.add_grains(count=150, radius=(1.2e-3, 1.8e-3), density=2500, region=((-0.025, -0.025), (0.025, 0.005)))
scene.add_cylinder("drum", point=(0, 0), radius=0.03, rotation=OMEGA)

history = rg.History()
record = measure.Measure(
    angle=lambda frame: measure.repose(frame, kind="slope").angle,
    lever=lambda frame: np.average(frame.position[:, 0], weights=frame.mass),
)
sim = rg.Simulation(scene)
sim.run(until=0.4)  # a fifth of a revolution, to begin to flow
sim.observe(history)
sim.observe(record)
sim.run(until=1.0)

time = history["time"]
power = np.average(history["drum.power"][1:], weights=np.diff(time))
expected = OMEGA * sim.bodies.mass.sum() * G * np.average(record["lever"][1:], weights=np.diff(time))
print(f"power {power:.3f} W per metre of depth, by the centre of mass {expected:.3f} W")
print(f"the surface has an angle of {np.mean(record['angle']):.0f} degrees")
assert abs(power / expected - 1) < 0.05
rg.draw_packing(sim, "drum.png", colour="speed")
