"""The paper, reproduced: one module per figure or claim."""

from __future__ import annotations

from .base import Target

TARGETS = {
    target.name: target
    for target in (
        Target("graphs", "Signorini and Coulomb graphs traced by the shock law", "graphs", ("onecontact",)),
        Target("collision", "two-step shock, energy pumping, inelastic collapse", "collision"),
        Target("diffusion", "the diffusion constant q of every order, and of packings", "diffusion", ("packings",)),
        Target(
            "oscillation", "the chain that rings: 50 disks against a wall", "oscillation", ("chain", "oscill-start")
        ),
        Target("dispersion", "frequency and damping of several modes", "dispersion"),
        Target("front", "a front and its time of flight, with fixed and with fluctuating sweeps", "front"),
        Target("packing-waves", "sound in a packing of disks", "packing_waves", ("geometry2D",)),
        Target("thought-experiment", "how deep a sudden load reaches", "thought_experiment"),
        Target("iterations", "sweeps and cost against system size", "iterations"),
        Target("springs", "the spring and dashpot counterpart", "springs", ("status",)),
        Target("order-bias", "the bias of ordered sweeps in a heap", "order_bias"),
        Target("criteria", "overlap against sweeps for each criterion", "criteria"),
    )
}
