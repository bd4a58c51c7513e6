"""How strong is a packing?

A biaxial test in two stages: compress without friction under the same stress from three sides until all is at rest,
then move the top down at constant lateral stress. sin phi = (s1 - s3)/(s1 + s3) gives the friction angle phi. It is 6
degrees without friction between grains (spheres: Peyneau and Roux, Phys. Rev. E 78 (2008) 011307), and more with it.
"""

import numpy as np

import rigidgrains as rg

WIDTH, HEIGHT, STRESS = 8, 10, 100  # in units of a mean diameter

scene = rg.Scene(dimension=2, friction=0.0)
scene.add_grains(count=60, radius=(0.4, 0.6), density=1.27, region=((0, 0), (WIDTH, HEIGHT)), placement="dense")
scene.add_plane("bottom", point=(0, 0), normal=(0, 1), friction=0)
press = {"mass": 30, "stress": STRESS, "friction": 0}
scene.add_piston("left", point=(0, 0), normal=(1, 0), between=("bottom", "top"), **press)
scene.add_piston("right", point=(WIDTH, 0), normal=(-1, 0), between=("bottom", "top"), **press)
scene.add_piston("top", point=(0, HEIGHT), normal=(0, -1), between=("left", "right"), **press)

scene.add_stage("compress", rest=True, limit=20)
scene.add_stage("strain", until=3, friction=0.5, piston={"top": {"velocity": "0.4*min(1, stage_time/0.2)"}})

history = rg.History()
sim = rg.Simulation(scene).observe(history, every=5)
report = sim.run()
print(report)

width = WIDTH - history["left.displacement"] - history["right.displacement"]
height = HEIGHT - history["top.displacement"]
axial, lateral = history["top.force"] / width, history["right.force"] / height
for number, name in ((1, "compress"), (2, "strain")):
    last = np.flatnonzero(history["stage"] == number)[-1]
    print(f"at the end of {name}: axial stress {axial[last]:.1f}, lateral stress {lateral[last]:.1f}")
    if name == "compress":
        assert abs(axial[last] / STRESS - 1) < 0.02
        assert abs(lateral[last] / STRESS - 1) < 0.02
half = history["time"] > report.time - 1.5
sine = np.mean(axial[half] - lateral[half]) / np.mean(axial[half] + lateral[half])
print(f"sin phi = {sine:.2f}, a friction angle of {np.degrees(np.arcsin(sine)):.0f} degrees")
assert np.sin(np.radians(6)) < sine < 0.5
rg.draw_packing(sim, "biaxial.png", forces=True)
