"""A picture of the column race: CPU seconds against the number of grains."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INKS = {
    "rigidgrains": "#1b4f8a",
    "lammps": "#b5482a",
    "liggghts": "#c79a2b",
    "yade": "#5f6b73",
    "pybullet": "#4c8c5a",
    "mujoco": "#7a5b9b",
}


def draw(records: list[dict], path: str) -> None:
    """Seconds over grains; full lines below 1e-3 radii of overlap, dashed below 6e-3."""
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, ink in INKS.items():
        for bound, line in ((1e-3, "-"), (6e-3, "--")):
            some = [r for r in records if r["bound"] == bound and "seconds" in r.get(name, {})]
            if some:
                label = name if bound == 1e-3 else None
                axes.loglog(
                    [r["grains"] for r in some], [r[name]["seconds"] for r in some], "o" + line, color=ink, label=label
                )
    axes.set(xlabel="grains", ylabel="CPU seconds, one core", title="Settling column, mean overlap below 1e-3 (6e-3) r")
    axes.legend(frameon=False)
    figure.savefig(Path(path), dpi=150)
