"""The heart: the one-contact shock laws, as plain Python on scalars.

No decorator and no option here: one text compiles for every loop and every device. Both laws are completely inelastic
and serve collisions and old contacts alike. The gap they see is g or g_pos = max(g, 0), Eq. (gpos), as the contacts
were prepared.
"""

from math import sqrt

from ..runtime.simd import choose


def shock_law(r_n, r_tt, mu):
    """Sphere form, Eq. (sphere-shock): from the force that would make the contact stick to the force it carries.

    r_n  : normal force of a sticking contact, -(m_n/dt) (g/dt + U_n), Eq. (noslipRnew)
    r_tt : squared tangential force of a sticking contact, |-(m_t/dt) U_t|^2
    mu   : friction coefficient
    Returns R_n and the factor by which the sticking R_t is shortened. R_n needs no second look when the contact
    slides, because normal and tangential parts are not coupled for spheres, Eq. (MinvR).
    """
    limit = mu * r_n
    sliding = r_tt > limit * limit  # |R_t| = mu R_n, against the motion; else sticking
    factor = choose(sliding, limit, 1.0) / sqrt(choose(sliding, r_tt, 1.0))
    apart = r_n <= 0.0  # Eq. (positivegap): the gap stays open without a force
    return choose(apart, 0.0, r_n), choose(apart, 0.0, factor)


def associated_law(r_n, r_tt, mu, ratio):
    """Normal force of a contact that opens as it slides, V_n = mu |V_t|, from the force that would make it stick.

    ratio : m_n/m_t
    The whole force is the one within the cone that is nearest to the sticking force, by |dR|^2/m. This is no friction
    of Coulomb's, whose contacts slide without opening; the two agree on every contact that does not slide.
    """
    length = sqrt(r_tt)
    pushed = (r_n + mu * ratio * length) / (1.0 + mu * mu * ratio)
    return choose(length > mu * r_n, pushed, r_n)


def general_shock_law(gap, u, w, mu, dt):
    """General form for a coupled effective mass: the three steps of the paper in the frame (n, t1, t2).

    u : free contact velocity (U_n, U_t1, U_t2)
    w : inverse effective mass M_c^-1 as (w_nn, w_n1, w_n2, w_11, w_12, w_22), symmetric positive definite
    Returns the contact force (R_n, R_1, R_2).

    A closing contact always has a solution. Eq. (slipRnew) with V_t = -(lam dt) R_t gives a force that leaves the cone
    at lam = 0, where it is the sticking force, and lies inside for large lam, where friction is lost: in between it
    crosses. With a strong coupling it may cross more than once; then any crossing satisfies all three conditions.
    """
    w_nn, w_n1, w_n2, w_11, w_12, w_22 = w
    a = -(gap / dt + u[0]) / dt
    if a <= 0.0:  # Eq. (positivegap)
        return 0.0, 0.0, 0.0
    r_0 = a / w_nn
    if mu == 0.0:
        return r_0, 0.0, 0.0
    # Eq. (gapcloses) makes R_n = r_0 - (c_1 R_1 + c_2 R_2). What is left for R_t has the matrix S, turned to its axes.
    c_1, c_2 = w_n1 / w_nn, w_n2 / w_nn
    s_11, s_12, s_22 = w_11 - c_1 * w_n1, w_12 - c_1 * w_n2, w_22 - c_2 * w_n2
    b_1, b_2 = -u[1] / dt - w_n1 * r_0, -u[2] / dt - w_n2 * r_0
    tan = 0.0
    if s_12 != 0.0:
        h = (s_22 - s_11) / (2.0 * s_12)
        tan = 0.5 / h if abs(h) > 1e8 else (1.0 if h >= 0.0 else -1.0) / (abs(h) + sqrt(1.0 + h * h))
    cos = 1.0 / sqrt(1.0 + tan * tan)
    sin = tan * cos
    least = 1e-15 * (w_11 + w_22)  # S may be singular to rounding
    d_1, d_2 = max(s_11 - tan * s_12, least), max(s_22 + tan * s_12, least)
    b_1, b_2 = cos * b_1 - sin * b_2, sin * b_1 + cos * b_2
    c_1, c_2 = cos * c_1 - sin * c_2, sin * c_1 + cos * c_2
    # Eq. (noslipRnew)
    x_1, x_2 = b_1 / d_1, b_2 / d_2
    r_n, r_t = r_0 - c_1 * x_1 - c_2 * x_2, sqrt(x_1 * x_1 + x_2 * x_2)
    if r_t <= mu * r_n:
        return r_n, cos * x_1 + sin * x_2, cos * x_2 - sin * x_1
    # Eq. (slipRnew): Newton's method for mu R_n/|R_t| = 1, nearly linear in lam, kept inside a bracket.
    push = sqrt(b_1 * b_1 + b_2 * b_2)
    low, high = 0.0, push * (1.0 + mu * sqrt(c_1 * c_1 + c_2 * c_2)) / (mu * r_0)
    if high > 1e200:  # friction is lost in rounding
        return r_0, 0.0, 0.0
    lam = min(max(push / (mu * r_0) - min(d_1, d_2), 0.0), high)
    for _ in range(100):
        l_1, l_2 = d_1 + lam, d_2 + lam
        x_1, x_2 = b_1 / l_1, b_2 / l_2
        r_n, r_t = r_0 - c_1 * x_1 - c_2 * x_2, sqrt(x_1 * x_1 + x_2 * x_2)
        inside = mu * r_n - r_t
        if inside > 0.0:
            high = lam
        else:
            low = lam
        slope = mu * (c_1 * x_1 / l_1 + c_2 * x_2 / l_2) + mu * r_n * (x_1 * x_1 / l_1 + x_2 * x_2 / l_2) / (r_t * r_t)
        last = lam
        lam = lam - inside / slope if slope > 0.0 else high
        if not low < lam < high:
            lam = 0.5 * (low + high) if high < 4.0 * low or low == 0.0 else sqrt(low * high)
        if abs(lam - last) <= 4e-16 * lam:
            break
    x_1, x_2 = x_1 / r_t, x_2 / r_t
    share = 1.0 + mu * (c_1 * x_1 + c_2 * x_2)
    r_n = r_0 / share if share > 0.0 else r_t / mu  # so that the gap closes to rounding
    r_t = mu * r_n
    return r_n, r_t * (cos * x_1 + sin * x_2), r_t * (cos * x_2 - sin * x_1)
