"""Lit spheres, solids, tubes and translucent sheets without a graphics card: a parallel ray-caster with a depth buffer.

Everything is given in the camera's coordinates: x to the right, y upwards, z towards the eye.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.columns import X, Y, Z
from ..model.vectors import difference, vector
from ..runtime.compiled import kernel, law
from .shape_pieces import Pieces

Array = NDArray[Any]

LIGHT = np.array([-0.42, 0.60, 0.68]) / math.sqrt(0.42**2 + 0.60**2 + 0.68**2)
FINER = 2  # rays along each side of a pixel
TILE = 4  # pixels a side, over which the ambient shadow is looked for in different directions and then averaged
TURNS = TILE * TILE
ROWS, COLUMNS = range(2)  # of the steps from a pixel
HEM = 1e-6  # of a ray's width, by which flat faces reach over their rims: neighbours leave no gap
GLASS = (0.42, 0.50, 0.60)  # colour of sheets


@dataclass
class Solids:
    """What is to be seen. Colours are RGB within 0 to 1.

    centre (n, 3), radius (n,), colour (n, 3) of spheres
    start, end (m, 3), thickness (m,), tint (m, 3) of tubes with round ends; thickness is their radius
    sheets : convex polygons (k, 3), in any order
    shaped : grains of other shapes, see shape_pieces.py; None where all of them are spheres
    """

    centre: Array
    radius: Array
    colour: Array
    start: Array
    end: Array
    thickness: Array
    tint: Array
    sheets: list[Array]
    shaped: Pieces | None = None


def cast(solids: Solids, low: Array, step: float, width: int, height: int, *, grain: float, haze: float) -> Array:
    """(height, width, 3) image, rows from the top, white where there is nothing.

    low   : lower left corner of the view (2,); step : length of a pixel
    grain : size of a typical grain, the reach of the ambient shadows
    haze  : how pale the farthest things are, 0 to 1
    """
    step, shape = step / FINER, (height * FINER, width * FINER)
    image, depth = np.ones((*shape, 3), np.float32), np.full(shape, -np.inf, np.float32)
    low = np.asarray(low, float)
    tips, tip_radius = np.concatenate([solids.start, solids.end]), np.tile(solids.thickness, 2)
    tip_colour = np.concatenate([solids.tint, solids.tint])
    _spheres(*_front_first(solids.centre, solids.radius, solids.colour), low, step, LIGHT, image, depth)
    if solids.shaped is not None:
        _cast_shapes(solids.shaped, low, step, image, depth)
    _spheres(*_front_first(tips, tip_radius, tip_colour), low, step, LIGHT, image, depth)
    _tubes(_plain(solids.start), _plain(solids.end), _plain(solids.thickness), _plain(solids.tint), 0.5, low, step,
           LIGHT, image, depth)  # fmt: skip
    seen = np.isfinite(depth)
    if seen.any():
        near, far = float(depth[seen].max()), float(depth[seen].min())
        shade = np.ones(shape, np.float32)
        _ambient(depth, _spirals(min(max(grain / step, 2.0), 60.0)), grain, shade)
        _finish(image, depth, shade, 0.5 * grain, near, max(near - far, 1e-300), haze)
    for sheet in sorted(solids.sheets, key=lambda sheet: float(sheet[:, Z].mean())):
        _sheet(_plain(sheet), low, step, image, depth)
    pixels = np.empty((height, width, 3), np.float32)
    _average(image, pixels)
    return pixels[::-1]


def _cast_shapes(pieces: Pieces, low: Array, step: float, image: Array, depth: Array) -> None:
    _spheres(*_front_first(pieces.centre, pieces.radius, pieces.colour), low, step, LIGHT, image, depth)
    _tubes(_plain(pieces.start), _plain(pieces.end), _plain(pieces.thickness), _plain(pieces.tint), 1.0, low, step,
           LIGHT, image, depth)  # fmt: skip
    _faces(_plain(pieces.corners), pieces.first, _plain(pieces.normal), _plain(pieces.paint), low, step, LIGHT, image,
           depth)  # fmt: skip


def _plain(array: Array) -> Array:
    return np.ascontiguousarray(array, dtype=float)


def _front_first(centre: Array, radius: Array, colour: Array) -> tuple[Array, Array, Array]:
    order = np.argsort(-centre[:, Z], kind="stable")
    return _plain(centre[order]), _plain(radius[order]), _plain(colour[order])


def _spirals(reach: float, count: int = 12) -> Array:
    """(TURNS, count, 2) whole steps in rows and columns, spread evenly over a disk and turned from one to the next."""
    k, turn = np.arange(count), np.arange(TURNS)[:, None]
    distance, angle = reach * np.sqrt((k + 0.5) / count), 2.399963 * k + 2.0 * np.pi * turn / TURNS
    steps = np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=-1)
    return np.rint(steps).astype(np.int64)


@law
def _lit(a, b, c, light):
    """Brightness and highlight of a surface with unit normal (a, b, c)."""
    towards = a * light[0] + b * light[1] + c * light[2]
    diffuse = 0.5 + 0.5 * towards  # wraps around, so that no side is black
    half = math.sqrt(2.0 + 2.0 * light[2])
    shine = max(0.0, (a * light[0] + b * light[1] + c * (light[2] + 1.0)) / half)
    return 0.44 + 0.66 * diffuse * diffuse, 0.20 * shine**40


@kernel
def _spheres(centre, radius, colour, low, step, light, image, depth):
    """Fill the pixels of each sphere that nothing nearer hides."""
    height, width = depth.shape
    for i in range(radius.size):
        (x, y, z), r = vector(centre, i), radius[i]
        for row in range(max(0, int((y - r - low[Y]) / step)), min(height, int((y + r - low[Y]) / step) + 1)):
            b = (low[Y] + (row + 0.5) * step - y) / r
            for column in range(max(0, int((x - r - low[X]) / step)), min(width, int((x + r - low[X]) / step) + 1)):
                a = (low[X] + (column + 0.5) * step - x) / r
                c = 1.0 - a * a - b * b
                if c <= 0.0:
                    continue
                c = math.sqrt(c)
                if z + c * r <= depth[row, column]:
                    continue
                depth[row, column] = z + c * r
                tone, shine = _lit(a, b, c, light)
                for k in range(3):
                    image[row, column, k] = min(1.0, tone * colour[i, k] + shine)


@kernel
def _tubes(start, end, thickness, tint, gloss, low, step, light, image, depth):
    """Fill the pixels of the curved side of each tube; its ends are spheres."""
    height, width = depth.shape
    for i in range(thickness.size):
        r = thickness[i]
        x, y, z = vector(start, i)
        ux, uy, uz = difference(end, i, start, i)
        length = math.sqrt(ux * ux + uy * uy + uz * uz)
        if length == 0.0:
            continue
        ux, uy, uz = ux / length, uy / length, uz / length
        across = 1.0 - uz * uz
        if across < 1e-9:  # seen along its axis: its ends hide it
            continue
        bottom, top = min(y, end[i, Y]) - r, max(y, end[i, Y]) + r
        left, right = min(x, end[i, X]) - r, max(x, end[i, X]) + r
        for row in range(max(0, int((bottom - low[Y]) / step)), min(height, int((top - low[Y]) / step) + 1)):
            dy = low[Y] + (row + 0.5) * step - y
            for column in range(max(0, int((left - low[X]) / step)), min(width, int((right - low[X]) / step) + 1)):
                dx = low[X] + (column + 0.5) * step - x
                q = dx * ux + dy * uy
                inside = (uz * q) ** 2 - across * (dx * dx + dy * dy - q * q - r * r)
                if inside <= 0.0:
                    continue
                dz = (uz * q + math.sqrt(inside)) / across
                t = q + dz * uz
                if t < 0.0 or t > length or z + dz <= depth[row, column]:
                    continue
                depth[row, column] = z + dz
                tone, shine = _lit((dx - t * ux) / r, (dy - t * uy) / r, (dz - t * uz) / r, light)
                for k in range(3):
                    image[row, column, k] = min(1.0, tone * tint[i, k] + gloss * shine)


@kernel
def _faces(corners, first, normal, paint, low, step, light, image, depth):
    """Fill the pixels of each flat face that nothing nearer hides, row by row of pixels."""
    height, width = depth.shape
    for f in range(len(normal)):
        nx, ny, nz = vector(normal, f)
        tone, shine = _lit(nx, ny, nz, light)
        x0, y0, z0 = vector(corners, first[f])
        bottom, top = y0, y0
        for k in range(first[f] + 1, first[f + 1]):
            bottom, top = min(bottom, corners[k, Y]), max(top, corners[k, Y])
        lowest = max(0, math.ceil((bottom - low[Y]) / step - 0.5 - HEM))
        highest = min(height - 1, math.floor((top - low[Y]) / step - 0.5 + HEM))
        for row in range(lowest, highest + 1):
            y = min(max(low[Y] + (row + 0.5) * step, bottom), top)
            left, right = np.inf, -np.inf
            tail = first[f + 1] - 1
            for head in range(first[f], first[f + 1]):
                y_tail, y_head = corners[tail, Y], corners[head, Y]
                if min(y_tail, y_head) <= y <= max(y_tail, y_head):
                    x = corners[head, X]
                    if y_tail != y_head:
                        x += (y - y_head) / (y_tail - y_head) * (corners[tail, X] - x)
                    left, right = min(left, x), max(right, x)
                tail = head
            if left > right:
                continue
            start = max(0, math.ceil((left - low[X]) / step - 0.5 - HEM))
            end = min(width - 1, math.floor((right - low[X]) / step - 0.5 + HEM))
            for column in range(start, end + 1):
                z = z0 - (nx * (low[X] + (column + 0.5) * step - x0) + ny * (y - y0)) / nz
                if z <= depth[row, column]:
                    continue
                depth[row, column] = z
                for k in range(3):
                    image[row, column, k] = min(1.0, tone * paint[f, k] + shine)


@kernel
def _ambient(depth, spirals, unit, shade):
    """Darken pixels whose surroundings are nearer to the eye: crevices, and what lies below others."""
    height, width = depth.shape
    for row in range(height):
        for column in range(width):
            here = depth[row, column]
            if here == -np.inf:
                continue
            steps = spirals[(7 * (TILE * (row % TILE) + column % TILE)) % TURNS]
            hidden = 0.0
            for k in range(len(steps)):
                i = min(max(row + steps[k, ROWS], 0), height - 1)
                j = min(max(column + steps[k, COLUMNS], 0), width - 1)
                above = (depth[i, j] - here) / unit
                if above > 0.0:
                    hidden += min(above, 1.0)
            shade[row, column] = 1.0 - 0.62 * hidden / len(steps)


@kernel
def _finish(image, depth, shade, near_by, near, span, haze):
    """Apply the ambient shade, averaged over a tile of the same surface, then the haze."""
    height, width = depth.shape
    for row in range(height):
        for column in range(width):
            here = depth[row, column]
            if here == -np.inf:
                continue
            tone, count = 0.0, 0
            for i in range(max(0, row - TILE // 2), min(height, row + TILE // 2)):
                for j in range(max(0, column - TILE // 2), min(width, column + TILE // 2)):
                    if abs(depth[i, j] - here) < near_by:
                        tone += shade[i, j]
                        count += 1
            tone /= max(count, 1)
            pale = haze * (near - here) / span
            for k in range(3):
                image[row, column, k] = (1.0 - pale) * tone * image[row, column, k] + pale


@kernel
def _average(image, pixels):
    """The mean colour of the rays of each pixel."""
    height, width, _ = pixels.shape
    for row in range(height):
        for column in range(width):
            for k in range(3):
                total = 0.0
                for i in range(row * FINER, row * FINER + FINER):
                    for j in range(column * FINER, column * FINER + FINER):
                        total += image[i, j, k]
                pixels[row, column, k] = total / (FINER * FINER)


@kernel
def _sheet(corners, low, step, image, depth):
    """Lay a translucent convex polygon over what is behind it; glass looks denser from the side."""
    height, width = depth.shape
    count = len(corners)
    nx, ny, nz = 0.0, 0.0, 0.0  # Newell's normal
    for k in range(count):
        p, q = corners[k], corners[(k + 1) % count]
        nx += (p[1] - q[1]) * (p[2] + q[2])
        ny += (p[2] - q[2]) * (p[0] + q[0])
        nz += (p[0] - q[0]) * (p[1] + q[1])
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0 or abs(nz) < 1e-6 * size:
        return
    opaque = min(0.25, 0.055 / max(abs(nz) / size, 0.1))
    turn = 1.0 if nz > 0.0 else -1.0
    left, right, bottom, top = corners[0, X], corners[0, X], corners[0, Y], corners[0, Y]
    for k in range(1, count):
        left, right = min(left, corners[k, X]), max(right, corners[k, X])
        bottom, top = min(bottom, corners[k, Y]), max(top, corners[k, Y])
    x0, y0, z0 = vector(corners, 0)
    for row in range(max(0, int((bottom - low[Y]) / step)), min(height, int((top - low[Y]) / step) + 1)):
        y = low[Y] + (row + 0.5) * step
        for column in range(max(0, int((left - low[X]) / step)), min(width, int((right - low[X]) / step) + 1)):
            x = low[X] + (column + 0.5) * step
            inside = True
            for k in range(count):
                p, q = corners[k], corners[(k + 1) % count]
                if turn * ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) < 0.0:
                    inside = False
                    break
            if inside and z0 - (nx * (x - x0) + ny * (y - y0)) / nz > depth[row, column]:
                for k in range(3):
                    image[row, column, k] += opaque * (GLASS[k] - image[row, column, k])
