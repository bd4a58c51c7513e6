"""Interior point: Newton's method towards a solution through forces inside the cone, with De Saxce's correction.

In x = (mu r_n, r_t) and u = (u_n/mu, u_t) both cones become the circular one, |x_t| <= x_n, and the conditions read

    u = W x + q,   y = u + |u_t| n,   x and y in the cone,   x o y = 0  (x . y = 0 and x_n y_t + y_n x_t = 0).

The right-hand side 0 is replaced by a falling tau. y stays inside the cone as long as u_n > 0. The derivative of
|u_t| is kept, so that friction converges as fast as a convex problem would. Contacts without friction and plane
contacts have the scale 0 on tangents that carry no force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIRROR = np.array([1.0, -1.0, -1.0])
TINY = 1e-300
SHORT, LONG = 0.1, 0.5  # parts of a full step
LIGHT = 1e-4


class System(Protocol):
    """W as the second-order solvers need it."""

    def times(self, r: Array) -> Array:
        """(c, 3) W r."""
        ...

    def factorise(self, left: Array, right: Array, scale: Array) -> Factors:
        """For solving (left + right D W D) x = b; left, right (c, 3, 3), D = diag(scale) (c, 3)."""
        ...


class Factors(Protocol):
    def solve(self, b: Array) -> Array: ...


@dataclass
class Interior:
    """A point inside the cones.

    x, u  : (c, 3), see above
    q     : (c, 3)
    scale : (c, 3) D: r = D x
    hold  : weight with which r is held near where it is, in units of W
    """

    system: System
    q: Array
    scale: Array
    x: Array
    u: Array
    hold: float = 0.0

    @classmethod
    def around(cls, system: System, q: Array, mu: Array, dimension: int, r: Array, depth: float) -> Interior:
        """Impulses r (c, 3) and their velocities, moved into the cones by a depth."""
        scale = np.ones_like(q)
        scale[:, 0] = 1.0 / np.where(mu > 0.0, mu, 1.0)
        scale[mu == 0.0, 1:] = 0.0
        scale[:, dimension:] = 0.0
        x = np.divide(r, scale, out=np.zeros_like(r), where=scale > 0.0)
        x[:, 0] = depth + np.maximum(x[:, 0], np.linalg.norm(x[:, 1:], axis=1))
        u = scale * (system.times(r) + q)
        u[:, 0] = depth + np.maximum(u[:, 0], 0.0)
        return cls(system, scale * q, scale, x, u)

    def r(self) -> Array:
        return self.scale * self.x

    def step(self) -> float:
        """One step with a predictor that chooses tau (Mehrotra); returns the part of the full step that it took.

        Short steps are a sign of a nearly singular matrix, which friction can cause: forces are then held near where
        they are, the more the longer it lasts.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what is not finite ends the steps
            return self._step()

    def _step(self) -> float:
        x, u = self.x, self.u
        y = velocity_in_cone(u)
        tau = (x * y).sum() / len(x)
        missing = self.scale * self.system.times(self.scale * x) + self.q - u
        F, back = scaling(x, y, u)
        middle = apply(F, y)
        slip = u[:, 1:] / np.maximum(np.linalg.norm(u[:, 1:], axis=1), TINY)[:, None]
        straight = np.tile(np.eye(3), (len(x), 1, 1))
        straight[:, 0, 1:] = -slip  # from dy to du
        left = straight @ back @ back
        held = left + self.hold * (self.scale**2)[:, :, None] * np.eye(3)
        factors = self.system.factorise(held, np.tile(np.eye(3), (len(x), 1, 1)), self.scale)

        def direction(target: Array) -> tuple[Array, Array]:
            """dx and du for F^-1 dx + F dy = middle^-1 o target and du = W dx + missing."""
            wanted = apply(straight @ back, divide(target, middle))
            dx = factors.solve(wanted - missing)
            return dx, wanted - apply(left, dx)

        square = np.concatenate([(middle**2).sum(1, keepdims=True), 2.0 * middle[:, :1] * middle[:, 1:]], axis=1)
        dx, du = direction(-square)
        reach = min(1.0, largest_step(x, u, dx, du))
        ahead = max(0.0, ((x + reach * dx) * velocity_in_cone(u + reach * du)).sum() / len(x))
        target = -square
        target[:, 0] += max(1e-6, min(1.0, ahead / tau) ** 3) * tau
        dx, du = direction(target)
        reach = min(1.0, 0.995 * largest_step(x, u, dx, du))
        self.x, self.u = x + reach * dx, u + reach * du
        if reach < SHORT:
            self.hold = max(LIGHT, 5.0 * self.hold)
        elif reach > LONG:
            self.hold = 0.2 * self.hold if self.hold > 0.01 * LIGHT else 0.0
        return reach


def velocity_in_cone(u: Array) -> Array:
    """y = u + |u_t| n."""
    y = u.copy()
    y[:, 0] += np.linalg.norm(u[:, 1:], axis=1)
    return y


def scaling(x: Array, y: Array, u: Array) -> tuple[Array, Array]:
    """Nesterov and Todd's F with F y = F^-1 x, and F^-1, (c, 3, 3)."""
    x_t, u_t = np.linalg.norm(x[:, 1:], axis=1), np.linalg.norm(u[:, 1:], axis=1)
    det_x = np.maximum((x[:, 0] - x_t) * (x[:, 0] + x_t), TINY)
    det_y = u[:, 0] * (u[:, 0] + 2.0 * u_t)
    x, y = x / np.sqrt(det_x)[:, None], y / np.sqrt(det_y)[:, None]
    w = (x + MIRROR * y) / np.sqrt(2.0 + 2.0 * np.maximum((x * y).sum(1), 1.0))[:, None]
    F = np.empty((len(x), 3, 3))
    F[:, 0, 0], F[:, 0, 1:], F[:, 1:, 0] = w[:, 0], w[:, 1:], w[:, 1:]
    F[:, 1:, 1:] = np.eye(2) + w[:, 1:, None] * w[:, None, 1:] / (1.0 + w[:, 0])[:, None, None]
    size = (det_x / det_y)[:, None, None] ** 0.25
    return F * size, F * (MIRROR[:, None] * MIRROR) / size


def divide(target: Array, middle: Array) -> Array:
    """z with middle o z = target."""
    n, t = middle[:, 0], middle[:, 1:]
    along = np.linalg.norm(t, axis=1)
    z = np.empty_like(target)
    z[:, 0] = (n * target[:, 0] - (t * target[:, 1:]).sum(1)) / np.maximum((n - along) * (n + along), TINY)
    z[:, 1:] = (target[:, 1:] - z[:, :1] * t) / n[:, None]
    return z


def largest_step(x: Array, u: Array, dx: Array, du: Array) -> float:
    """How far one may go until the first x or u_n leaves its cone."""
    a = dx[:, 0] ** 2 - (dx[:, 1:] ** 2).sum(1)
    b = x[:, 0] * dx[:, 0] - (x[:, 1:] * dx[:, 1:]).sum(1)
    x_t = np.linalg.norm(x[:, 1:], axis=1)
    c = (x[:, 0] - x_t) * (x[:, 0] + x_t)
    root = b * b - a * c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -(b + np.copysign(np.sqrt(np.maximum(root, 0.0)), b))
        ends = np.stack([q / a, c / q, -x[:, 0] / dx[:, 0], -u[:, 0] / du[:, 0]])
        ends[:2, root < 0.0] = np.inf
        ends[~(ends > 0.0)] = np.inf
    return float(ends.min())


def apply(blocks: Array, vectors: Array) -> Array:
    return np.einsum("cij,cj->ci", blocks, vectors)
