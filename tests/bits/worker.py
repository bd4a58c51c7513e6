"""One scene in one process: `python worker.py SCENE.toml RESULT.npz STEPS THREADS`, with a copy's src on the path.

Only public names are used, so that it runs whatever the modules of a revision are called: `load_scene`, `Simulation`,
`Frame`, `set_threads`. What a revision does not have is left out.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

LONGEST = 20  # times the steps asked for, if grains have to fall first

STATE = (
    "time", "dt", "id", "position", "orientation", "velocity", "spin",
    "wall_velocity", "wall_force", "cell", "cell_rate",
)  # fmt: skip
CONTACTS = ("pair", "image", "gap", "normal", "force", "status")
SOLVE = ("sweeps", "updates")
Kept = dict[str, Any]


def main() -> None:
    scene, result, steps, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("ignore")
    import rigidgrains as rg

    rg.set_threads(threads)
    kept: Kept = {}
    try:
        simulation = rg.Simulation(rg.load_scene(scene))
    except Exception as error:
        kept["refused"] = f"{type(error).__name__}: {error}"
    else:
        follow(rg, simulation, steps, kept)
    with open(result, "wb") as file:
        np.savez(file, **kept)


def follow(rg: Any, simulation: Any, steps: int, kept: Kept) -> None:
    """Take so many steps with forces between bodies, and keep the state after each; the class of an error ends it."""
    taken = touched = 0
    while touched < steps and taken < LONGEST * steps:
        taken += 1
        try:
            simulation.step()
        except Exception as error:
            kept[f"{taken:06d}/error"] = type(error).__name__
            return
        frame = rg.Frame.of(simulation)
        for whole, names in ((frame, STATE), (simulation.last_solve, SOLVE), (frame.contacts, CONTACTS)):
            for name in names:
                value = getattr(whole, name, None)
                if value is not None:
                    kept[f"{taken:06d}/{name}"] = np.asarray(value)
        touched += bool(frame.contacts.force.any())


if __name__ == "__main__":
    main()
