"""What a certificate says: one entry for each law, the worst place by name, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 5e-3  # of the force: twice what a local criterion of 1e-3 was seen to leave at the worst contact
EXACT, SWEEPS = "exact", "sweeps"


@dataclass(frozen=True)
class Check:
    """One law and how far the frame is from it.

    kind      : "exact" for laws that hold to rounding whatever the sweeps, "sweeps" for those that sweeps approach
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
        parts = ["ok" if self.passed else f"VIOLATED{number}", measured]
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
        return not self.failed

    @property
    def violated(self) -> bool:
        """True when a law fails that holds whatever the sweeps; else a frame that fails is only not settled."""
        return any(check.kind == EXACT for check in self.failed)

    @property
    def accuracy(self) -> float:
        """What can be promised: the largest violation of the laws that sweeps approach, relative to the forces."""
        sweeps = (check.violation for check in self.checks if check.kind == SWEEPS and "force" in check.scale)
        return max(sweeps, default=0.0) + self.resolution

    @property
    def verdict(self) -> str:
        if broken := [check.name for check in self.failed if check.kind == EXACT]:
            return f"violated: {', '.join(broken)}"
        if loose := [f"{check.name} {check.violation:.1g}" for check in self.failed]:
            return f"not settled: {', '.join(loose)}"
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
        words = asdict(self) | {"passed": self.passed, "verdict": self.verdict, "accuracy": self.accuracy}
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
    failed = [certificate for certificate in certificates if not certificate.passed]
    if failed:
        violated = sum(any(check.kind == EXACT for check in certificate.failed) for certificate in failed)
        parts = [
            f"{number} {word}"
            for number, word in ((violated, "violated"), (len(failed) - violated, "not settled"))
            if number
        ]
        return (
            f"{' and '.join(parts)} of {_frames(len(certificates))}; the first: {failed[0].title}, {failed[0].verdict}"
        )
    settled = [certificate for certificate in certificates if certificate.verdict.startswith("certified")]
    if not settled:
        return f"{_frames(len(certificates))} in order; no contact forces to certify"
    accuracy = max(certificate.accuracy for certificate in settled)
    worst = ceiling(accuracy) if accuracy > 0.0 else "rounding"
    rest = len(certificates) - len(settled)
    return f"{_frames(len(settled))} certified to {worst}" + (f", {rest} in order without forces" if rest else "")


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
