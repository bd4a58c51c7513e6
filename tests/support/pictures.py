"""Pictures by their pixels."""

from __future__ import annotations

import numpy as np

from rigidgrains import Frame, Simulation


def still(bodies, dt=1e-3) -> Frame:
    """Bodies as they are, without a step."""
    return Frame.of(Simulation(bodies, dt=dt))


def pixels(figure) -> np.ndarray:
    """(height, width, 3) within 0 to 1, rows from the top."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[:, :, :3] / 255.0


def probe(figure):
    """A function from a point of the picture (m) to the colour of its pixel."""
    image = pixels(figure)

    def pixel_at(point) -> np.ndarray:
        column, row = figure.axes[0].transData.transform(point[:2])
        return image[len(image) - 1 - int(row), int(column)]

    return pixel_at
