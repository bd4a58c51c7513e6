"""The heart: the one-contact shock laws, as plain Python on scalars.

No decorator and no option here: one text compiles for every loop and every device. Both laws are completely inelastic
and serve collisions and old contacts alike. The gap they see is g or g_pos = max(g, 0), Eq. (gpos), as the contacts
were prepared.
"""

from math import sqrt


def shock_law(r_n, r_tt, mu):  # type: ignore[no-untyped-def]
    """Sphere form, Eq. (sphere-shock): from the force that would make the contact stick to the force it carries.

    r_n  : normal force of a sticking contact, -(m_n/dt) (g/dt + U_n), Eq. (noslipRnew)
    r_tt : squared tangential force of a sticking contact, |-(m_t/dt) U_t|^2
    mu   : friction coefficient
    Returns R_n and the factor by which the sticking R_t is shortened. R_n needs no second look when the contact
    slides, because normal and tangential parts are not coupled for spheres, Eq. (MinvR).
    """
    if r_n <= 0.0:  # Eq. (positivegap): the gap stays open without a force
        return 0.0, 0.0
    limit = mu * r_n
    if r_tt > limit * limit:  # sliding: |R_t| = mu R_n, against the motion
        return r_n, limit / sqrt(r_tt)
    return r_n, 1.0  # sticking


def general_shock_law(gap, u, w, mu, dt):  # type: ignore[no-untyped-def]
    """General form for a coupled effective mass: the three steps of the paper in the frame (n, t1, t2).

    u : free contact velocity (U_n, U_t1, U_t2)
    w : inverse effective mass M_c^-1 as (w_nn, w_n1, w_n2, w_11, w_12, w_22), symmetric positive definite
    Returns the contact force (R_n, R_1, R_2).
    """
    a = -(gap / dt + u[0]) / dt
    if a <= 0.0:  # Eq. (positivegap)
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return a / w[0], 0.0, 0.0
    b, c = -u[1] / dt, -u[2] / dt
    sticking = _slip(a, b, c, w, 0.0)  # Eq. (noslipRnew)
    if _excess(sticking, mu) <= 0.0:
        return sticking
    # Eq. (slipRnew): V_t = -(lam dt) R_t with lam > 0 and |R_t| = mu R_n. Infinite lam leaves a frictionless contact,
    # inside the cone; lam = 0 is the sticking force, outside. Bracket the root and halve the bracket.
    low, high = 0.0, w[3] + w[5]
    while _excess(_slip(a, b, c, w, high), mu) > 0.0:
        low, high = high, 2.0 * high
        if high > 1e30 * (w[3] + w[5]):  # mu is so small that friction is lost in rounding
            return a / w[0], 0.0, 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if _excess(_slip(a, b, c, w, middle), mu) > 0.0:
            low = middle
        else:
            high = middle
    return _slip(a, b, c, w, high)


def _slip(a, b, c, w, lam):  # type: ignore[no-untyped-def]
    """Solve (M_c^-1 + lam on the tangential diagonal) R = (a, b, c) by Cramer's rule."""
    nn, n1, n2, t11, t12, t22 = w
    t11, t22 = t11 + lam, t22 + lam
    minor = t11 * t22 - t12 * t12
    minor_1, minor_2 = n1 * t22 - t12 * n2, n1 * t12 - t11 * n2
    det = nn * minor - n1 * minor_1 + n2 * minor_2
    return (
        (a * minor - b * minor_1 + c * minor_2) / det,
        (-a * minor_1 + b * (nn * t22 - n2 * n2) - c * (nn * t12 - n1 * n2)) / det,
        (a * minor_2 - b * (nn * t12 - n1 * n2) + c * (nn * t11 - n1 * n1)) / det,
    )


def _excess(force, mu):  # type: ignore[no-untyped-def]
    """How far a force lies outside the Coulomb cone."""
    return sqrt(force[1] * force[1] + force[2] * force[2]) - mu * force[0]
