"""Laws beyond plain friction at work on the contact rows of a step: before the solve, and after it."""

from __future__ import annotations

from ..laws.rows import Rows, check_rows
from ..model.law import Law, Ledger

OURS = f"{__name__.partition('.')[0]}.laws."  # where laws live of which it is known what they write
NO_ENERGY = Ledger()


class AppliedLaws:
    """The laws of a step and its rows, from `prepare` to `conclude`; without laws there are no rows, and all is well.

    ledger : energies that the laws have booked in the last step
    """

    def __init__(self) -> None:
        self.ledger = NO_ENERGY
        self._rows: Rows | None = None

    @property
    def _laws(self) -> list[Law]:
        return [] if self._rows is None else self._rows.bodies.laws

    def prepare(self, rows: Rows) -> None:
        """Let the laws change the rows."""
        self._rows = rows
        for law in rows.bodies.laws:
            law.prepare(rows)
            if not type(law).__module__.startswith(OURS):
                check_rows(rows, type(law).__name__)

    def accept(self) -> bool:
        """False when a law wants the step to be solved again, with other rows."""
        verdicts = [law.accepts(self._rows) for law in self._laws]  # all of them are asked
        return all(verdicts)

    def missed(self) -> float:
        """The largest share of an energy that a law says the step has lost by its length."""
        return max((law.missed(self._rows) for law in self._laws), default=0.0)

    def take_back(self) -> None:
        """Forget a step that is taken again, shorter."""
        for law in self._laws:
            law.take_back(self._rows)

    def conclude(self) -> None:
        """Remember what is needed of a step that was taken, and book its energies."""
        laws, rows = self._laws, self._rows
        for law in laws:
            law.conclude(rows)
        self.ledger = max((law.ledger for law in laws), default=NO_ENERGY)
        self._rows = None
