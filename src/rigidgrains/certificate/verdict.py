"""What a certificate says: one entry for each law, the worst place by name, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 5e-3  # of the force: twice what a local criterion of 1e-3 was seen to leave at the worst contact
EXACT, SWEEPS, ASKED = "exact", "sweeps", "asked"


@dataclass(frozen=True)
class Check:
    """One law and how far the frame is from it.

    kind      : "exact" for laws that hold to rounding whatever the sweeps, "sweeps" for those that sweeps approach,
                "asked" for what the step was asked in place of those
    violation : the largest, relative to `scale`; tolerance : up to which it is accepted
    failures  : how many contacts, grains or numbers are beyond it
    worst     : where the largest is, and the values there
    """

    name: str
    kind: str
    violation: float
    tolerance: float
    scale: str
    failures: int = 0
    worst: str = ""

    @property
    def passed(self) -> bool:
        return self.violation <= self.tolerance

    def __str__(self) -> str:
        measured = f"{self.violation:.2g} of {self.scale}, accepted {self.tolerance:.2g}" if self.scale else ""
        number = f" in {self.failures:,} places" if self.failures > 1 else ""
        missed = f"{'beyond it' if self.kind == SWEEPS else 'VIOLATED'}{number}"
        parts = ["ok" if self.passed else missed, measured]
        if not self.passed or self.kind == SWEEPS:  # how well the sweeps did, and where worst
            parts.append(self.worst)
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Certificate:
    """The verdict on one frame.

    checks    : one for each law that could be checked
    unchecked : what could not be checked, and why
    energy    : J, the terms of the balance over the step
    resolution : what rounding of the stored numbers may hide, relative to the forces
    """

    frame: int
    step: int
    time: float
    grains: int
    contacts: int
    tolerance: float
    checks: tuple[Check, ...]
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    energy: dict[str, float] = field(default_factory=dict)
    resolution: float = 0.0

    def __getitem__(self, name: str) -> Check:
        """The check of one law, certificate["momentum"] for instance."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"no law is called {name!r} here; there are {', '.join(check.name for check in self.checks)}")

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether every law holds to its tolerance: the frame is certified."""
        return not self.failed

    @property
    def violated(self) -> bool:
        """Whether a law fails that holds whatever the sweeps, or the step has not met what it was asked."""
        return any(check.kind != SWEEPS for check in self.failed)

    @property
    def within(self) -> bool:
        """Whether laws that sweeps approach are met no better than the step was asked to."""
        return bool(self.failed) and not self.violated

    @property
    def accuracy(self) -> float:
        """What can be promised: the largest violation of the laws that sweeps approach, relative to the forces."""
        sweeps = (check.violation for check in self.checks if check.kind == SWEEPS and "force" in check.scale)
        return max(sweeps, default=0.0) + self.resolution

    @property
    def verdict(self) -> str:
        if broken := [check.name for check in self.failed if check.kind == EXACT]:
            return f"violated: {', '.join(broken)}"
        loose = ", ".join(f"{check.name} {check.violation:.1g}" for check in self.failed if check.kind == SWEEPS)
        if self.violated:
            return f"violated: {loose}, and what was asked is not met"
        if loose:
            return f"within what was asked: {loose}"
        if "signorini" not in {check.name for check in self.checks}:
            return "in order; no contact forces to certify"
        return f"certified to {ceiling(self.accuracy) if self.accuracy > 0.0 else 'rounding'}"

    @property
    def title(self) -> str:
        return f"frame {self.frame} (step {self.step}, t = {self.time:.6g} s)"

    def rows(self) -> list[tuple[str, str]]:
        """All of it as (word, text), for tables."""
        return [
            ("frame", f"{self.title}: {self.grains:,} grains, {self.contacts:,} contacts".removeprefix("frame ")),
            *((check.name, str(check)) for check in self.checks),
            *(
                [("energies", ", ".join(f"{name} {joule:.6g} J" for name, joule in self.energy.items()))]
                if self.energy
                else []
            ),
            *(("unchecked", reason) for reason in self.unchecked),
            *(("note", note) for note in self.notes),
            ("verdict", self.verdict),
        ]

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain words and numbers, ready for JSON; a number that is not finite becomes None."""
        words = asdict(self) | {"passed": self.passed, "within": self.within, "violated": self.violated}
        words |= {"verdict": self.verdict, "accuracy": self.accuracy}
        words["checks"] = [asdict(check) | {"passed": check.passed} for check in self.checks]
        return dict(_plain(words))


def worst_of(
    name: str,
    violation: NDArray[np.float64],
    tolerance: float,
    scale: str,
    place: Callable[[int], str],
    kind: str = EXACT,
) -> Check:
    """A check from the violations (m,) of all places; what is no number is worse than any."""
    if not violation.size:
        return Check(name, kind, 0.0, tolerance, scale)
    violation = np.where(np.isnan(violation), np.inf, violation)
    at = int(np.argmax(violation))
    failures = int(np.count_nonzero(violation > tolerance))
    return Check(name, kind, float(violation[at]), tolerance, scale, failures, place(at) if violation[at] > 0.0 else "")


def counted(name: str, faults: list[str]) -> Check:
    """A check that counts faults, each told in words."""
    return Check(name, EXACT, float(len(faults)), 0.0, "", len(faults), faults[0] if faults else "")


def summary(certificates: list[Certificate]) -> str:
    """One line about all frames."""
    certified = [certificate for certificate in certificates if certificate.verdict.startswith("certified")]
    within = [certificate for certificate in certificates if certificate.within]
    violated = [certificate for certificate in certificates if certificate.violated]
    rest = len(certificates) - len(certified) - len(within) - len(violated)
    accuracy = max((certificate.accuracy for certificate in certified), default=0.0)
    counts = (
        (len(violated), "violated"),
        (len(certified), f"certified to {ceiling(accuracy) if accuracy > 0.0 else 'rounding'}"),
        (len(within), "within what was asked"),
        (rest, "in order without forces" if certified or within else "in order; no contact forces to certify"),
    )
    told = [f"{number} {word}" for number, word in counts if number]
    first = f"; the first: {violated[0].title}, {violated[0].verdict}" if violated else ""
    return f"{_frames(len(certificates))}: {', '.join(told)}{first}"


def ceiling(number: float) -> str:
    """One digit, rounded up: what can be promised."""
    if not 0.0 < number < math.inf:
        return f"{number:g}"
    power = math.floor(math.log10(number))
    digit = math.ceil(number / 10.0**power - 1e-9)
    return f"{digit * 10.0**power:.0e}"


def _frames(number: int) -> str:
    return f"{number} frame" if number == 1 else f"{number} frames"


def _plain(words: Any) -> Any:
    if isinstance(words, dict):
        return {name: _plain(value) for name, value in words.items()}
    if isinstance(words, (list, tuple)):
        return [_plain(value) for value in words]
    if isinstance(words, float) and not math.isfinite(words):
        return None
    return words
