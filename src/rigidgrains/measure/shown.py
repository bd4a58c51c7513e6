"""Results of measurements show themselves in notebooks."""

from __future__ import annotations


class Shown:
    """A result with its fields as a table."""

    def _repr_html_(self) -> str:
        from ..view.notebook_more import result_html

        return result_html(self)
