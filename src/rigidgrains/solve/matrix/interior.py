"""Interior point: Newton's method towards a solution through forces inside the cone, with De Saxce's correction.

In x = sqrt(w) (r_n, r_t/mu) and u = (u_n, mu u_t)/sqrt(w) both cones become the circular one, |x_t| <= x_n, w = w_nn is
1 for all contacts, whatever the masses, and the conditions read

    u = W x + q,   y = u + |u_t| n,   x and y in the cone,   x o y = 0  (x . y = 0 and x_n y_t + y_n x_t = 0).

The right-hand side 0 is replaced by a falling tau. y stays inside the cone as long as u_n > 0. The derivative of
|u_t| is kept, so that friction converges as fast as a convex problem would. Tangents that carry no force, those of
contacts without friction and of plane contacts across the plane, have the scale 0.
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
LIGHT, GROWS = 1e-3, 5.0  # least weight that holds forces, in units of w sqrt(tau), and the factor by which it changes
INSIDE = 0.9  # of the way to the first cone that is met
LEAST, MOST = 1e-6, 0.5  # of tau that a step aims at; the most after a full step
LAG = 0.03  # tau may fall that far ahead of what u = W x + q misses, both over their first values


class System(Protocol):
    """W as the second-order solvers need it."""

    def times(self, r: Array) -> Array:
        """(c, 3) W r."""
        ...

    def factorise(self, left: Array, right: Array, scale: Array) -> Factors:
        """For solving (left + right D W D) x = b; left, right (c, 3, 3), D = diag(scale) (c, 3)."""
        ...


class Factors(Protocol):
    @property
    def sign(self) -> int:
        """Of the determinant."""
        ...

    def solve(self, b: Array) -> Array: ...


@dataclass
class Interior:
    """A point inside the cones.

    x, u  : (c, 3), see above, in units of the root mean square of q
    q     : (c, 3)
    scale : (c, 3) D: r = D x times this unit
    hold  : weight with which x is held near where it is
    tau   : x . y, the mean of all contacts
    pace  : tau over |W x + q - u| at the beginning
    """

    system: System
    q: Array
    scale: Array
    unit: float
    x: Array
    u: Array
    hold: float = 0.0
    tau: float = np.inf
    pace: float = np.nan
    full: bool = True

    @classmethod
    def of(cls, system: System, q: Array, mu: Array, dimension: int, mobility: Array) -> Interior:
        """Without forces, which is not yet inside.

        q : (c, 3); mobility : (c,) w_nn
        """
        scale = np.ones_like(q)
        scale[:, 1:] = mu[:, None]
        scale[:, dimension:] = 0.0
        scale /= np.sqrt(mobility)[:, None]
        unit = float(np.sqrt(np.mean((scale * q) ** 2))) or 1.0
        return cls(system, scale * q / unit, scale, unit, np.zeros_like(q), scale * q / unit)

    def begin(self, softness: float) -> None:
        """From no forces: as deep inside the cones as contacts would press that stick and give way by softness times w.

        The softer, the less of the mass behind a contact it feels.
        """
        self._enter(np.zeros_like(self.x), self._pressing(softness), 1.0)

    def begin_at(self, r: Array, depth: float) -> None:
        """From impulses r (c, 3), moved into the cones by the depth, in units of their mean and of q."""
        x = np.divide(r / self.unit, self.scale, out=np.zeros_like(r), where=self.scale > 0.0)
        self._enter(x, depth * float(np.abs(x[:, 0]).mean()) or depth, depth)

    def _enter(self, x: Array, depth: float, opening: float) -> None:
        self.u = self._velocity(x)
        self.x, self.hold, self.tau, self.pace, self.full = x.copy(), 0.0, np.inf, np.nan, True
        self.x[:, 0] = depth + np.maximum(x[:, 0], np.linalg.norm(x[:, 1:], axis=1))
        self.u[:, 0] = opening + np.maximum(self.u[:, 0], 0.0)

    def _pressing(self, softness: float) -> float:
        """The largest component of x if contacts stick and give way by softness times w."""
        soft, ones = softness * _ones(len(self.x)), _ones(len(self.x))
        return float(np.abs(self.system.factorise(soft, ones, self.scale).solve(-self.q)).max()) or 1.0

    def _velocity(self, x: Array) -> Array:
        return self.scale * self.system.times(self.scale * x) + self.q

    def r(self) -> Array:
        return self.unit * self.scale * self.x

    def step(self) -> float:
        """One step of Mehrotra's predictor and corrector; returns the part of the full step that it took.

        Short steps are a sign of a nearly singular matrix, which friction can cause: forces are then held near where
        they are, the more the longer it lasts. Without friction the problem is convex, and needs no hold.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what is not finite ends the steps
            return self._step()

    def _step(self) -> float:
        x, u = self.x, self.u
        at = Linear.at(x, u)
        y, F, back, middle = at.y, at.F, at.back, at.middle
        self.tau = tau = float((x * y).sum()) / len(x)
        missing = self._velocity(x) - u
        lacks = float(np.linalg.norm(missing))
        if np.isnan(self.pace):
            self.pace = tau / max(lacks, TINY)
        held = at.left + self.hold * min(1.0, np.sqrt(tau)) * np.eye(3)
        factors = self.system.factorise(held, _ones(len(x)), self.scale)

        square = product(middle, middle)
        dx, du = at.direction(factors, -square, missing)
        reach = min(1.0, largest_step(x, u, dx, du))
        dx, ahead = reach * dx, velocity_in_cone(u + reach * du)
        falls = min(1.0, max(0.0, float(((x + dx) * ahead).sum()) / len(x)) / tau) ** 3
        target = -square - product(apply(back, dx), apply(F, ahead - y))
        aim = max(LEAST, min(falls, MOST) if self.full else falls) * tau
        target[:, 0] += max(aim, min(tau, LAG * self.pace * lacks))
        dx, du = at.direction(factors, target, missing)
        reach = min(1.0, INSIDE * largest_step(x, u, dx, du))
        self.x, self.u, self.full = x + reach * dx, u + reach * du, reach > INSIDE
        if reach < SHORT and self.scale[:, 1:].any():
            self.hold = max(LIGHT, GROWS * self.hold)
        elif reach > LONG:
            self.hold = self.hold / GROWS if self.hold > 0.01 * LIGHT else 0.0
        return reach


@dataclass
class Linear:
    """x o y at a point, linearised: F^-1 dx + F dy with Nesterov and Todd's F, and du = straight dy.

    middle : F y = F^-1 x
    left   : (c, 3, 3) what multiplies -dx in du
    """

    y: Array
    F: Array
    back: Array
    middle: Array
    slip: Array
    straight: Array
    left: Array

    @classmethod
    def at(cls, x: Array, u: Array) -> Linear:
        y = velocity_in_cone(u)
        F, back = scaling(x, y, u)
        slip = u[:, 1:] / np.maximum(np.linalg.norm(u[:, 1:], axis=1), TINY)[:, None]
        straight = _ones(len(x))
        straight[:, 0, 1:] = -slip
        return cls(y, F, back, apply(F, y), slip, straight, straight @ back @ back)

    def direction(self, factors: Factors, target: Array, missing: Array) -> tuple[Array, Array]:
        """dx and du for F^-1 dx + F dy = middle^-1 o target and du = W dx + missing."""
        wanted = apply(self.straight @ self.back, divide(target, self.middle))
        dx = factors.solve(wanted - missing)
        return dx, wanted - apply(self.left, dx)


def _ones(contacts: int) -> Array:
    """(c, 3, 3) blocks that change nothing."""
    return np.tile(np.eye(3), (contacts, 1, 1))


def product(x: Array, y: Array) -> Array:
    """x o y."""
    return np.concatenate([(x * y).sum(1, keepdims=True), x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]], axis=1)


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
