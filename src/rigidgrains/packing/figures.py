"""Figures of a packing after an operation: loads, contact numbers, energies, the residual, from the arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..certificate import figures as of_frame
from ..certificate.balance import scatter
from ..certificate.laws import NaturalMap
from ..certificate.levers import LeverLinks
from ..certificate.links import Links
from ..certificate.state import State
from ..trajectory.record import OPEN
from .sample import KEPT, Sample


class Recomputed(of_frame.Comparison):
    """Takes what a certificate computes anew, by the names of the figures."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.found: dict[str, float] = {}

    def add(self, name: str, stored: float, found: float, magnitude: float) -> None:
        self.found[name.split(" (")[0]] = found


def links_of(sample: Sample) -> Links:
    """The contacts of a sample with everything that laws speak of."""
    state = State(sample.frame())
    return Links(state) if state.shapes is None else LeverLinks(state)


def with_figures(sample: Sample, *, loads: bool = False) -> Sample:
    """All figures that follow from the arrays of a sample; others are not known any more.

    loads : also loads and contact numbers of grains, where some contacts are not what they were
    """
    n, grains = len(sample), dict(sample.grains)
    kept = {name: number for name, number in sample.figures.items() if name in KEPT}
    unknown = dict.fromkeys(sample.figures, np.nan) | {"grains": float(n)}
    unknown |= dict.fromkeys(("entered", "left", "mass_left", "contacts", "mean_force"), 0.0)
    with np.errstate(all="ignore"):
        state = State(replace(sample, figures=unknown | kept).frame())
        compare = Recomputed(state)
        of_frame.of_state(compare)
        if sample.whole:
            links = Links(state) if state.shapes is None else LeverLinks(state)
            if loads:
                carries = state.frame.contacts.status != OPEN if links.attraction.any() else links.size > 0.0
                rows = np.stack([links.r_n, carries], axis=1)
                load, number = scatter(links, rows, rows)[:n].T
                grains |= {"load": load, "contact_number": np.rint(number).astype(np.int32)}
            of_frame.of_contacts(compare, links, NaturalMap.of(links))
    found = {name: number for name, number in compare.found.items() if name in sample.figures}
    return replace(sample, grains=grains, figures=unknown | kept | found)


def without_forces(sample: Sample) -> Sample:
    """The same grains at the same places; which forces they bear is left to the first step of a run."""
    n = len(sample)
    grains = sample.grains | {
        "velocity_before": sample.grains["velocity"], "spin_before": sample.grains["spin"], "load": np.zeros(n),
        "contact_number": np.zeros(n, np.int32),
    }  # fmt: skip
    for name in ("peculiar_velocity", "orientation"):
        if name in grains and f"{name}_before" in grains:
            grains[f"{name}_before"] = grains[name]
    tables = dict(sample.tables)
    if "cell_rate_before" in tables:
        tables["cell_rate_before"] = tables["cell_rate"]
    contacts = {name: array[:0] for name, array in sample.contacts.items()}
    return replace(
        sample, grains=grains, contacts=contacts, tables=tables, wall_before=sample.wall_velocity,
        figures=sample.figures | {"whole": 0.0},
    )  # fmt: skip
