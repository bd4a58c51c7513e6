"""A parameter study: a ball slides on an incline of 30 degrees; from which friction on does it stop sliding?"""

import rigidgrains as rg

block = {
    "gravity": [4.905, -8.495],  # 9.81 m/s^2, seen from a plane that leans by 30 degrees
    "material": [{"name": "rough", "friction": 0.5, "rolling": 1.0}],  # it cannot roll
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
print(study.run("incline-study", workers=2))
print(study.table()["speed_mean"].to_series())  # g (sin 30 - mu cos 30) t, and 0 from mu = tan 30 = 0.58 on
