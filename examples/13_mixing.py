"""How well are two kinds of grains mixed, and what does each of them carry?

Lacey's index of mixing is 0 for separate layers and 1 for a random mixture. Here light and heavy disks are drawn at
random; at rest the index is still 1 within the scatter of its 20 cells.
"""

import rigidgrains as rg
from rigidgrains import measure

scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
scene.add_material("light", density=500)
scene.add_material("heavy", density=3000)
scene.add_grains(
    count=240,
    radius=(1.4e-3, 1.8e-3),
    region=((0, 0), (0.05, 0.06)),
    material={"light": 0.5, "heavy": 0.5},
    scalars={"layer": "floor(y / 0.01)"},
)
scene.add_box(lower=(0, 0), upper=(0.05, 0.08), open=["top"])
sim = rg.Simulation(scene)

by_kind = measure.each(measure.stress, "material", volume=0.05 * 0.06)
record = measure.Measure(lacey=lambda frame: measure.lacey(frame, "material", size=0.0125), share=by_kind)
sim.observe(record, every=50)
sim.run(until=0.3)

first, last = record["lacey.index"][[0, -1]]
print(f"Lacey's index {first:.2f} at the start, {last:.2f} at rest")
for kind in ("light", "heavy"):
    print(f"{kind} disks carry a pressure of {record[f'share.{kind}.pressure'][-1]:.1f} N/m")
assert abs(first - 1) < 0.15
assert abs(last - 1) < 0.15

rg.draw_packing(sim, "mixing.png", colour="material")
rg.draw_packing(sim, "layers.png", colour="layer", forces=False)
