"""Light and heavy disks in one box: how well they are mixed, and what each kind carries."""

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

print(f"Lacey's index {record['lacey.index'][0]:.2f} at the start, {record['lacey.index'][-1]:.2f} at rest")
for kind in ("light", "heavy"):
    print(f"{kind} disks carry a pressure of {record[f'share.{kind}.pressure'][-1]:.1f} N/m")
rg.draw_packing(sim, "materials.png", colour="material")
rg.draw_packing(sim, "layers.png", colour="layer", forces=False)
