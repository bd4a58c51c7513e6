"""Stages: what a run does one after the other, each until a time, until grains rest, or until a value is reached.

A stage begins as a step does, with what it changes (change.py). Whether it has ended is asked after each step, see
simulation/stage_end.py.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from ..model.bodies import Bodies
from ..model.control import WallControl
from .change import Change


@dataclass
class Stage:
    """One stage; it ends by the first that is given of `until`, `rest` and `column`, and at `limit` anyway.

    until  : s, time of the stage; limit : s, likewise
    rest   : inertial number below which grains are at rest, None if that is not asked
    column : of the history, whose value is to cross `bound`; rising : from below, else from above
    during : s, that it has to stay beyond
    """

    name: str
    until: float = math.inf
    rest: float | None = None
    column: str = ""
    bound: float = math.nan
    rising: bool = True
    during: float = 0.0
    limit: float = math.inf
    change: Change = field(default_factory=Change)

    @property
    def latest(self) -> float:
        """s, of the stage, at which it ends at the latest; infinite for a last stage without an end."""
        return min(self.until, self.limit)

    @property
    def end_in_words(self) -> str:
        """When it ends, for people."""
        limit = f", {self.limit:g} s at most" if math.isfinite(self.limit) else ""
        if math.isfinite(self.until):
            return f"for {self.until:g} s"
        if self.rest is not None:
            return f"until at rest, inertial number below {self.rest:g}{limit}"
        if self.column:
            stays = f" for {self.during:g} s" if self.during else ""
            return f"until {self.column} {'rises' if self.rising else 'falls'} to {self.bound:g}{stays}{limit}"
        return "to the end of the run"

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        own = {name: value for name, value in vars(self).items() if name != "change"}
        return own | {"change": self.change.words()}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Stage:
        return cls(**words | {"change": Change.from_words(words["change"])})


@dataclass
class Past:
    """How a stage went.

    begun, ended : s; steps : taken in it; how : it ended, in words; reached : False at its time limit
    """

    name: str
    begun: float
    ended: float
    steps: int
    how: str
    reached: bool = True


@dataclass
class Stages:
    """The stages of a run, and how far it is.

    number : of the stage that is under way, from 0; -1 before the first is entered
    begun  : s, when it began; since : number of the step after which it did
    ended  : True after the last step of a stage, until the next one begins
    quiet  : s, since when nothing moves, or the value is beyond its bound; not a number while that is not so
    armed  : True once the column has been on the near side of the bound
    past   : the stages that have ended
    """

    stages: list[Stage]
    number: int = -1
    begun: float = 0.0
    since: int = 0
    ended: bool = False
    quiet: float = math.nan
    armed: bool = False
    past: list[Past] = field(default_factory=list)

    @property
    def now(self) -> Stage:
        """The stage that is under way; the last when all are over."""
        return self.stages[max(self.number, 0)]

    @property
    def over(self) -> bool:
        """True when the last stage has ended."""
        return len(self.past) == len(self.stages)

    @property
    def latest(self) -> float:
        """s, when the stage under way ends at the latest."""
        return math.inf if self.over else self.begun + self.now.latest

    def left(self, time: float, dt: float) -> float:
        """s, that the stage under way and those after it take at most, each up to a step (s) longer than it is said."""
        passed = 0.0 if self.ended or self.number < 0 else time - self.begun
        return sum(stage.latest + dt for stage in self.stages[len(self.past) :]) - passed

    @property
    def where(self) -> str:
        """Which stage is under way, for people."""
        return f"stage {max(self.number, 0) + 1} of {len(self.stages)}, {self.now.name}"

    def to_come(self) -> list[tuple[str, str]]:
        """Names of the stage under way and of those after it, and when they end, in words."""
        told = [(stage.name, f"to come, {stage.end_in_words}") for stage in self.stages[len(self.past) :]]
        if told and self.number >= 0 and not self.ended:
            told[0] = self.now.name, f"under way since t = {self.begun:g} s, {self.now.end_in_words}"
        return told

    @property
    def have_walls(self) -> bool:
        """Whether some walls come or go with a stage."""
        return any(kind == "wall" for stage in self.stages for kind, _, _ in stage.change.times)

    def moved_walls(self) -> dict[str, list[WallControl]]:
        """What moves walls in some stage, by their names."""
        moved: dict[str, list[WallControl]] = {}
        for stage in self.stages:
            for name, control in stage.change.walls.items():
                moved.setdefault(name, []).append(control)
        return moved

    @property
    def due(self) -> Stage | None:
        """The stage that begins with the step to come; None if one is under way, or all are over."""
        waits = self.over or (self.number >= 0 and not self.ended)
        return None if waits else self.stages[self.number + 1]

    def enter(self, bodies: Bodies, streams: list[Any], time: float) -> Change | None:
        """Begin the next stage, as a step begins that comes after the end of one; what it has changed."""
        if self.due is None:
            return None
        self.number, self.begun, self.ended = self.number + 1, time, False
        self.quiet, self.armed = math.nan, False
        self.now.change.apply(bodies, streams, time)
        return self.now.change

    def end(self, time: float, step: int, how: str, *, reached: bool = True) -> None:
        """The stage under way ends with this step."""
        self.past.append(Past(self.now.name, self.begun, time, step - self.since, how, reached))
        self.ended, self.since = True, step

    def pack(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        own = {name: value for name, value in vars(self).items() if name not in ("stages", "past")}
        return own | {"stages": [stage.words() for stage in self.stages], "past": [asdict(one) for one in self.past]}

    @classmethod
    def unpack(cls, words: dict[str, Any]) -> Stages:
        stages, past = [Stage.from_words(one) for one in words["stages"]], [Past(**one) for one in words["past"]]
        return cls(**words | {"stages": stages, "past": past})
