"""Seven faults that an audit planted by hand and that the tests of their time did not notice; replayed by name.

Each is a pattern that must occur exactly once in its file. If a file is rewritten, the pattern has to follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """pattern : a regular expression; fault : its replacement; tests : patterns of files that should notice"""

    name: str
    file: str
    pattern: str
    fault: str
    tests: tuple[str, ...]

    def apply(self, source: str) -> str:
        text, number = re.subn(self.pattern, self.fault, source)
        if number != 1:
            raise ValueError(
                f"planted fault {self.name!r}: {self.pattern!r} occurs {number} times in {self.file}, not once; "
                "the file has changed, so look for the place and mend the pattern in tests/mutation/planted.py"
            )
        return text


FAULTS = (
    Planted("missing contacts allowed up to 1e-3 r", "certificate/overlap.py", r"(?m)^UNSEEN = 1e-6\b", "UNSEEN = 1e-3",
            ("certificate/test_*.py",)),
    Planted("cone 0.1 % too wide", "certificate/laws.py", r'("coulomb cone", np\.maximum\(r_t - )limit\b',
            r"\g<1>1.001 * limit", ("certificate/test_*.py",)),
    Planted("seal not remembered", "trajectory/atomic.py", r"self\._sealed = True", "self._sealed = False",
            ("trajectory/test_*.py", "simulation/test_failures.py")),
    Planted("driven wall not charged ahead", "detect/neighbours.py",
            r"listed\.travel \+= 0\.0 if wall\.guided else step", "listed.travel += 0.0",
            ("detect/test_*.py", "model/test_driven_walls.py", "whole/test_robust.py")),
    Planted("overlap raises the pull", "laws/cohesion.py", r"np\.exp\(-np\.maximum\(gap, 0\.0\) / decay\)",
            "np.exp(-gap / decay)", ("laws/test_cohesion.py",)),
    Planted("inertia of a cell over 6", "model/cell.py", r"/ 12\.0\b", "/ 6.0",
            ("model/test_servo_walls.py", "model/test_deforming*.py")),
    Planted("free velocity ignored by restitution", "laws/restitution.py", r"np\.minimum\(before, free\)", "before",
            ("laws/test_restitution.py", "laws/test_blows.py", "certificate/test_check.py")),
)  # fmt: skip
