"""What bodies know of a contact law: its coefficients, how far it reaches, and when it is asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from .tables import as_table


class Ledger(NamedTuple):
    """Energies of a step (J), for laws that keep books.

    lost    : beyond the law, by the length of the step
    taken   : by contacts, all in all
    kinetic : at its beginning
    """

    lost: float = 0.0
    taken: float = 0.0
    kinetic: float = 0.0


@dataclass
class Law:
    """Base: a law changes the contact rows before the solve, and may remember something of each contact after it.

    The rows it is given are those of a step, `rigidgrains.Rows`.

    Fields that are arrays are tables (k, k) over materials; a number stands for all of them.
    memory   : columns of memory that it needs; at : the first of them, set by whoever holds the laws
    storable : False for a law that a file cannot hold, for instance a function
    extended : True if it needs the extra columns of model/columns.py
    attracts : True if it pulls bodies together; reach : m, up to which gap it does
    ledger   : energies of the last step, if it keeps books
    """

    memory = 0
    at = 0
    storable = True
    extended = False
    attracts = False
    reach = 0.0
    ledger = Ledger()

    def __post_init__(self) -> None:
        for name, table in self.tables().items():
            setattr(self, name, as_table(f"{name} of {type(self).__name__}", table))
        self.check()

    def tables(self) -> dict[str, Any]:
        """Its coefficients by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self) -> None:
        """Raise ValueError for coefficients out of range."""

    def prepare(self, rows: Any) -> None:
        """Change the rows before the solve."""

    def accepts(self, rows: Any) -> bool:
        """False when the forces found are not to be, and the step is to be solved again; memory tells why."""
        return True

    def missed(self, rows: Any) -> float:
        """Share of an energy that this step has lost, and that a shorter one would keep; see AutoStep."""
        return 0.0

    def take_back(self, rows: Any) -> None:
        """Forget what was learnt of a step that is taken again, shorter."""

    def conclude(self, rows: Any) -> None:
        """Write the memory for the next step after the solve."""


def check_laws(laws: list[Law]) -> None:
    """Raise for what cannot be a law."""
    for law in laws:
        if not isinstance(law, Law):
            given = f"{law.__name__}, a class," if isinstance(law, type) else repr(law)
            raise TypeError(f"laws: {given} is no contact law; give one that is made, of a subclass of rigidgrains.Law")
