"""All that a simulation needs to go on as if it had never stopped: arrays, and a text for the rest.

Kept are the bodies and walls, the neighbour lists with the contact row of each pair, the forces to carry over, the
random generator, clocks, counts, the solver's settings and what observers remember.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import removed_part
from ..detect.co_moving import Frames
from ..detect.neighbours import Neighbours, WallList
from ..detect.pairs import PairList
from ..events.events import Events
from ..model.arrays import PER_CONTACT, grain_arrays
from ..model.bodies import Bodies
from ..model.given import GivenForces
from ..model.guide import Guide
from ..model.recall import recall
from ..model.spring import Spring, pulls
from ..model.time_functions import rebuild_time_function, rebuild_time_functions, words_of
from ..model.user_force import UserForce
from ..runtime.version import __version__
from ..simulation.report import Tally
from ..simulation.timestep import AutoStep, Clock
from ..solve.aliases import FIGURES, rename
from ..solve.names import from_words
from ..solve.names import words_of as solver_words
from ..solve.sweeps import SolveReport
from . import cell_table, law_table, shape_table, species_table, wall_table
from .errors import TrajectoryError
from .indices import check_indices

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Arrays = dict[str, NDArray[Any]]

CONTACT = "contact_"  # before the names of arrays of contacts
ALL_BODIES = ("gravity", "friction")  # arrays of Bodies that are not of single grains


def pack(simulation: Simulation) -> tuple[Arrays, str]:
    """The state of a simulation between two steps: arrays, and JSON text."""
    bodies, near, contacts = simulation.bodies, simulation.neighbours, simulation.contacts
    arrays: Arrays = {name: getattr(bodies, name) for name in ALL_BODIES}
    arrays |= {
        column.name: getattr(bodies, column.name)
        for column in grain_arrays()
        if column.checkpoint and column.where(bodies)
    }
    arrays |= wall_table.placement(bodies.all_walls)
    arrays |= {
        "skin": near.skin,
        "reference": near.reference,
        "block": near.frames.block,
        "block_shape": near.frames.shape,
        "block_side": np.array([near.frames.side, near.frames.bridge]),
        "pair_start": near.pairs.start,
        "pair_partner": near.pairs.partner,
        "pair_last": near.pairs.last,
        "pair_image": near.pairs.image,
        "wall_start": np.cumsum([0, *(len(wall.grains) for wall in near.walls)]),
        "wall_grains": np.concatenate([np.zeros(0, np.int32), *(wall.grains for wall in near.walls)]),
        "wall_last": np.concatenate([np.zeros(0, np.int32), *(wall.last for wall in near.walls)]),
        "wall_skin": np.array([wall.skin for wall in near.walls]),
        "wall_travel": np.array([wall.travel for wall in near.walls]),
        "wall_clear": near.clear,
        "wall_seen_at": np.array([wall.point for wall in near.walls]).reshape(-1, 3),
        "contact_wall_rows": np.array([(rows.start, rows.stop) for rows in contacts.wall_rows]).reshape(-1, 2),
        "motion_before": simulation.motion_before,
    }
    if simulation.auto is not None:
        arrays["step_sizes"] = simulation.step_sizes
    arrays |= law_table.tables(bodies.laws) | cell_table.tables(bodies) | cell_table.control(bodies)
    if bodies.cell is not None:
        arrays["list_vectors"] = near.vectors
    if bodies.given is not None:
        arrays |= bodies.given.arrays()
    for column in PER_CONTACT.values():
        rows = getattr(contacts, column.place)
        if column.checkpoint and rows is not None:
            arrays[CONTACT + column.name] = rows[: contacts.count]
    text = {
        "dimension": bodies.dimension,
        "shapes": None if bodies.catalogue is None else bodies.catalogue.words(),
        "walls": json.loads(wall_table.describe(bodies.all_walls)),
        "stage": None if bodies.events is None else bodies.events.pack(bodies),
        "given": None if bodies.given is None else list(bodies.given.walls),
        "gravity": None if bodies.gravity_function is None else words_of(bodies.gravity_function),
        "springs": [spring.words() for spring in bodies.springs],
        "motions": [guide.words() for guide in bodies.guides],
        "forces": [one.words() for one in bodies.user_forces],
        "cell": {} if bodies.cell is None else {name: one.words() for name, one in bodies.cell.functions.items()},
        "laws": law_table.describe(bodies.laws),
        "scalar_names": bodies.scalar_names,
        "material_names": bodies.material_names,
        "groups": {name: [part.start, part.stop] for name, part in bodies.groups.items()},
        "builds": near.builds,
        "clock": asdict(simulation.clock),
        "auto": None if simulation.auto is None else asdict(simulation.auto),
        "seed": simulation.seed,
        "sort": simulation.sort,
        "whole": simulation.whole,
        "random": simulation.rng.bit_generator.state,
        "solver": solver_words(simulation.solver),
        "last_solve": asdict(simulation.last_solve),
        "tally": asdict(simulation.tally),
        "observers": simulation.observer_states(),
    }
    return arrays, json.dumps(text)


def unpack(
    arrays: Arrays, text: str, *, solver: Any = None, laws: Any = None, functions: dict[str, Any] | None = None
) -> Simulation:
    """The simulation that was packed; `solver` and `laws` replace those it had, `functions` those that were lost."""
    from ..simulation.simulation import Simulation

    words = json.loads(text)
    at = {name: arrays[name] for name in wall_table.PLACEMENT if name in arrays}
    walls = wall_table.rebuild(json.dumps(words["walls"]), at)
    groups = {name: slice(*ends) for name, ends in words["groups"].items()}
    kept_laws = words.get("laws", [])
    laws = law_table.rebuild(kept_laws, arrays) if laws is None else laws
    kept = (*ALL_BODIES, *(column.name for column in grain_arrays() if column.checkpoint))
    own = {name: arrays[name] for name in kept if name in arrays}
    rest: dict[str, Any] = {"walls": walls, "groups": groups, "laws": laws, "cell": cell_table.rebuild(arrays)}
    rest |= {key: species_table.names(words, key) for key in ("scalar_names", "material_names")}
    rest["catalogue"] = shape_table.from_words(words.get("shapes"))
    bodies = Bodies.restore(words["dimension"], own, **rest)
    bodies.gravity_function = rebuild_time_functions(words.get("gravity"))
    bodies.springs = [Spring.from_words(spring) for spring in words.get("springs", [])]
    bodies.guides = [Guide.from_words(guide) for guide in words.get("motions", [])]
    bodies.user_forces = [UserForce.from_words(one) for one in words.get("forces", [])]
    if bodies.cell is not None:
        bodies.cell.functions = {name: rebuild_time_function(one) for name, one in words.get("cell", {}).items()}
    bodies.pull = pulls(bodies)
    bodies.given = GivenForces.restore(arrays, words.get("given"))
    if words.get("stage") is not None:
        bodies.events = Events.unpack(bodies, words["stage"])
    if missing := recall(bodies, functions or {}):
        wanted = ", ".join(f"{place!r}: ..." for place in missing)
        raise TrajectoryError(
            f"this run used functions of its own; pass them to resume() again: functions={{{wanted}}}"
        )
    if solver is None and (solver := decode(words["solver"])) is None:
        raise TrajectoryError("this run used a solver of its own; pass it to resume() again: solver=...")
    clock = _clock(words["clock"])
    simulation = Simulation(bodies, dt=clock.dt, solver=solver, seed=words["seed"], sort=words.get("sort", False))
    auto = None if words.get("auto") is None else AutoStep(**words["auto"])
    simulation.set_clock(clock, auto, arrays.get("step_sizes"))
    simulation.rng.bit_generator.state = words["random"]
    simulation.neighbours = _neighbours(arrays, words["builds"])
    touching = {name: arrays[CONTACT + name] for name in PER_CONTACT if CONTACT + name in arrays}
    if law_table.describe(laws) != kept_laws:
        touching.pop("memory", None)  # it is of those laws
    wall_rows = [slice(int(start), int(stop)) for start, stop in arrays["contact_wall_rows"]]
    simulation.contacts = type(simulation.contacts).restore(touching, wall_rows)
    last = {"removed": removed_part(simulation.solver.gap), "slack": simulation.solver.slack} | words["last_solve"]
    simulation.last_solve = SolveReport(**_known(SolveReport, rename(last, FIGURES, notice=False)))
    simulation.tally = Tally(**_known(Tally, rename(words["tally"], FIGURES, notice=False)))
    simulation.restore_step(words["whole"], arrays["motion_before"], words["observers"])
    check_indices(simulation)
    return simulation


def decode(words: Any) -> Any:
    """The solver that the words are of."""
    if isinstance(words, dict) and any(words.get(part, "") is None for part in ("order", "criterion")):
        raise TrajectoryError("this run used an order or criterion of its own; pass the solver to resume() again")
    try:
        return from_words(words)
    except ValueError as said:
        raise TrajectoryError(
            f"this run used {said}, which version {__version__} does not know; update rigidgrains, or pass a "
            "solver to resume()"
        ) from None


def _clock(words: Any) -> Clock:
    """Earlier files have a list of dt, steps, the time at which dt was last changed, and the step."""
    return Clock(*words) if isinstance(words, list) else Clock(**words)


def _neighbours(arrays: Arrays, builds: int) -> Neighbours:
    ends = arrays["wall_start"]
    frames = Frames.still(len(arrays["skin"]))  # as in earlier files
    clear = arrays.get("wall_clear", np.zeros((len(ends) - 1, 1)))
    if "block" in arrays:
        side, bridge = arrays["block_side"].tolist()
        frames = Frames(arrays["block"], arrays["block_shape"], side, bridge)
    walls = [
        WallList(
            arrays["wall_grains"][ends[w] : ends[w + 1]].copy(),
            arrays["wall_last"][ends[w] : ends[w + 1]].copy(),
            float(arrays["wall_skin"][w]),
            float(arrays["wall_travel"][w]),
            arrays["wall_seen_at"][w].copy(),
        )
        for w in range(len(ends) - 1)
    ]
    image = arrays.get("pair_image", np.zeros(len(arrays["pair_partner"]), np.int8))
    start = arrays["pair_start"].astype(np.int32, copy=False)  # wider in earlier files
    pairs = PairList(start, arrays["pair_partner"], arrays["pair_last"], image)
    vectors = arrays.get("list_vectors", np.eye(3))
    return Neighbours(pairs, walls, arrays["skin"], arrays["reference"], builds, vectors, frames, clear)


def _known(kind: Any, words: dict[str, Any]) -> dict[str, Any]:
    """Only the fields that a class has, each a number unless it is a text."""
    known = [field for field in fields(kind) if field.name in words]
    for field in known:
        value = words[field.name]
        if not (value is None or isinstance(value, str if field.type == "str" else (int, float))):
            raise TypeError(f"{field.name} is {value!r}, and should be {field.type}")
    return {field.name: words[field.name] for field in known}
