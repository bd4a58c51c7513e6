"""A figure that shows itself in a notebook."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

SHOWN = 0.5  # pixels of the page for each of the figure: sharp on fine screens


class Picture(Figure):
    """A Matplotlib figure that is shown as the value of a cell, also without `%matplotlib inline`."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=self.dpi)
        width, height = (int(SHOWN * self.dpi * side) for side in self.get_size_inches())
        return image.getvalue(), {"width": width, "height": height}
