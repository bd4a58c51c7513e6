"""The coefficients of contact laws as scenes and files have them, declared once.

From an entry follow the key of [[material]] and [[pair]] with its check, the table (k, k) that the law gets and a file
keeps, and where the certificate looks for it. A law is made for scenes that give one of its keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Range = Literal["any", "not negative", "positive", "fraction", "signed fraction"]


@dataclass(frozen=True)
class Coefficient:
    """One number of each pair of materials, the same from both sides.

    key       : in scenes
    law       : name of the law that has it, see laws/__init__.py; "" for that of plain friction
    table     : name of the law's field
    range     : "any" is 0 to inf, inf included; fractions are 0 to 1, signed ones -1 to 1; others are finite
    about     : what it is, with its unit
    otherwise : of pairs that give none; None for their coefficient of friction, which it must not be less than
    needs     : key without which it has no meaning; a law is made where a key that needs no other is given
    attracts  : True if it holds grains together
    """

    key: str
    law: str
    table: str
    range: Range
    about: str
    otherwise: float | None = 0.0
    needs: str = ""
    attracts: bool = False

    @property
    def stored(self) -> str:
        """Its name in frames."""
        return f"{self.law}_{self.table}"


COEFFICIENTS = [
    Coefficient("friction", "", "friction", "any", "friction coefficient, sliding; inf never slides"),
    Coefficient(
        "static_friction", "StaticFriction", "static", "any",
        "friction coefficient of contacts that do not slide; friction if absent", otherwise=None,
    ),
    Coefficient("restitution", "Restitution", "normal", "fraction", "rebound over approach speed, 0 to 1"),
    Coefficient(
        "tangential_restitution", "Restitution", "tangential", "signed fraction",
        "the same for the tangential velocity of a contact that sticks, -1 to 1", needs="restitution",
    ),
    Coefficient("cohesion", "Cohesion", "force", "not negative", "attraction at contact (N)", attracts=True),
    Coefficient(
        "range", "Cohesion", "range", "not negative", "gap at which the attraction ends (m); 0 for contact",
        needs="cohesion",
    ),
    Coefficient(
        "decay", "Cohesion", "decay", "positive",
        "length over which it falls (m), as that of a liquid bridge; constant if absent", otherwise=math.inf,
        needs="cohesion",
    ),
    Coefficient("rolling", "Rolling", "rolling", "any", "rolling friction (m); inf never rolls"),
    Coefficient("twisting", "Rolling", "twisting", "any", "twisting friction (m), in 3D; inf never twists"),
    Coefficient(
        "threshold", "Restitution", "threshold", "not negative",
        "approach speed up to which nothing rebounds (m/s)", needs="restitution",
    ),
]  # fmt: skip


def coefficients_of(law: str) -> list[Coefficient]:
    """Those of one law."""
    return [one for one in COEFFICIENTS if one.law == law]
