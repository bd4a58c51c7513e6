"""A picture of the column race: CPU seconds against the number of grains."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INKS = {
    "rigidgrains": "#1b4f8a",
    "liggghts": "#c79a2b",
    "yade": "#5f6b73",
    "pybullet": "#4c8c5a",
    "mujoco": "#7a5b9b",
}


def draw(records: list[dict], path: str) -> None:
    """Seconds over grains."""
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, ink in INKS.items():
        some = [r for r in records if "seconds" in r.get(name, {})]
        if some:
            grains, seconds = [r["grains"] for r in some], [r[name]["seconds"] for r in some]
            axes.loglog(grains, seconds, "o-", color=ink, label=name)
    axes.set(xlabel="grains", ylabel="CPU seconds, one core", title="Settling column")
    axes.legend(frameon=False)
    figure.savefig(Path(path), dpi=150)
