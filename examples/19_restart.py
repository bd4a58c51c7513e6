"""Does a run that was interrupted and resumed give the same result?

The trajectory stores everything that a run needs to continue: the same bits come out with and without a break, and each
frame can be certified from its stored numbers.
"""

import numpy as np

import rigidgrains as rg
from rigidgrains import certificate


def begin():
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
    scene.add_grains(count=80, radius=(1e-3, 2e-3), region=((0, 0), (0.04, 0.04)), placement="dense")
    scene.add_box(lower=(0, 0), upper=(0.04, 0.06), open=["top"])
    return rg.Simulation(scene)


whole = begin()
whole.run(steps=150)

part = begin()
part.observe(rg.TrajectoryWriter("run.vtkhdf"), every=25)
part.run(steps=75)
del part  # as if the computer had been switched off

again = rg.resume("run.vtkhdf")
again.observe(rg.TrajectoryWriter("run.vtkhdf", resume=True), every=25)
again.run(steps=75)
assert np.array_equal(whole.bodies.position, again.bodies.position)
assert np.array_equal(whole.bodies.velocity, again.bodies.velocity)
print(f"after {again.steps} steps all bits are the same with and without a break")

with rg.Trajectory("run.vtkhdf") as trajectory:
    for frame in trajectory:
        found = certificate.check(frame)
        print(f"t = {frame.time:.3f} s: {found.verdict}")
        assert not found.violated
    rg.write_page(trajectory, "run.html")  # to turn and play
rg.draw_packing(again, "restart.png", forces=True)
