"""How do I vary a parameter: above which friction does a block stay on an incline?

A study runs a scene for each value and collects the results in one table (needs `pip install 'rigidgrains[study]'`). On
an incline of 30 degrees a block slides with g (sin 30 - mu cos 30) t, and stays from mu = tan 30 = 0.577 on.
"""

import matplotlib.pyplot as plt
import numpy as np

import rigidgrains as rg

block = {
    "gravity": [4.905, -8.495],  # 9.81 m/s^2, seen from a plane that leans by 30 degrees
    "material": [{"name": "rough", "friction": 0.5, "rolling": np.inf}],  # it cannot roll
    "grains": [{"positions": [[0, 0.01]], "radius": 0.01, "material": "rough"}],
    "plane": [{"name": "incline", "point": [0, 0], "normal": [0, 1], "material": "rough"}],
    "run": {"dt": 1e-3, "until": 0.1},
    "output": {"frame_every": 1000},
}
study = rg.Study(
    title="a block on an incline",
    scene=block,
    vary={"material.rough.friction": {"from": 0.3, "to": 0.8, "steps": 6}},
    measure={"speed": lambda frame: frame.velocity[0, 0]},
)
print(study.run("incline-study", workers=0))  # in this process; without it one process for each core
speed = study.table()["speed_mean"].to_series()
print(speed)

friction = speed.index.to_numpy()
expected = np.maximum(0, (4.905 - friction * 8.495) * 0.1)
assert np.allclose(speed, expected, atol=1e-4)

plt.figure(figsize=(5, 3), layout="constrained")
plt.plot(friction, expected, friction, speed, "o")
plt.xlabel("friction coefficient")
plt.ylabel("speed after 0.1 s (m/s)")
plt.savefig("study.png", dpi=150)
