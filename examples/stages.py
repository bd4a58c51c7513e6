"""A biaxial test in one scene: compress without friction until all is at rest, then strain at constant lateral stress.

The stress ratio in the end is the strength of the packing, sin phi = (s1 - s3)/(s1 + s3).
"""

import numpy as np

import rigidgrains as rg

scene = rg.Scene(dimension=2, friction=0.0)
scene.add_grains(count=60, radius=(0.4, 0.6), density=1.27, region=((0, 0), (8, 10)), placement="dense", seed=1)
scene.add_plane("bottom", point=(0, 0), normal=(0, 1), friction=0)
press = {"mass": 30, "stress": 100, "friction": 0}
scene.add_piston("left", point=(0, 0), normal=(1, 0), between=("bottom", "top"), **press)
scene.add_piston("right", point=(8, 0), normal=(-1, 0), between=("bottom", "top"), **press)
scene.add_piston("top", point=(0, 10), normal=(0, -1), between=("left", "right"), **press)

scene.add_stage("compress", rest=True, limit=20)
scene.add_stage("strain", until=3, friction=0.5, piston={"top": {"velocity": "0.4*min(1, stage_time/0.2)"}})

history = rg.History()
sim = rg.Simulation(scene).observe(history, every=5)
report = sim.run()
print(report)

width = 8 - history["left.displacement"] - history["right.displacement"]
height = 10 - history["top.displacement"]
axial, lateral = history["top.force"] / width, history["right.force"] / height
for number, name in ((1, "compress"), (2, "strain")):
    last = np.flatnonzero(history["stage"] == number)[-1]
    print(f"at the end of {name}: axial stress {axial[last]:.1f}, lateral stress {lateral[last]:.1f}")
half = history["time"] > report.time - 1.5
strength = np.mean(axial[half] - lateral[half]) / np.mean(axial[half] + lateral[half])
print(f"sin phi = {strength:.2f}")
