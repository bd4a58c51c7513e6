"""Contact updates per second of Siconos' nonsmooth Gauss-Seidel sweeps (NSGS) on one core, on a given packing.

    python3 benchmarks/peers/siconos_worker.py PACKING.npz

Needs a Python with Siconos (Debian: python3-siconos) and numpy. The packing gives for nc contacts and nb bodies:
pairs (nc, 2), normal (nc, 3) from body 0 to body 1, gap_over_dt (nc,), mu (nc,), inverse_mass (nb,), inverse_spin (nb,)
= r^2/I, both 0 for fixed walls, velocity (nb, 3), surface_spin (nb, 3) = r omega, sweeps. JSON goes to stdout.

Siconos runs at its fastest: matrix W in 3x3 blocks, no residual between sweeps, a given number of sweeps from zero
forces. Only the sweeps are timed, neither the assembly of W nor what a local solver prepares before its first sweep.
"""

import json
import os
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # read when numpy and Siconos load their BLAS

try:
    import numpy as np
    import siconos
    from siconos import numerics
except ImportError as reason:
    print(json.dumps({"peer": "siconos", "absent": str(reason)}))
    sys.exit(0)

# Solvers of one contact that satisfy its Coulomb law exactly; the one with diagonalization does so for spheres only.
EXACT = ("NSN", "NSN_GP", "QUARTIC_NU", "ProjectionOnConeWithDiagonalization", "ProjectionOnConeWithLocalIteration")
# One projection with step 1/W_nn: cheaper, but W_tt = 3.5 W_nn for solid spheres makes it overshoot and not converge.
INEXACT = ("ProjectionOnCone",)
REPEATS = 5


def main(path: str) -> dict:
    """Measure every local solver on the packing and return the record."""
    packing = dict(np.load(path))
    contacts, sweeps = len(packing["pairs"]), int(packing["sweeps"])
    problem = friction_problem(packing)
    seconds, residual = {}, {}
    for name in EXACT + INEXACT:
        seconds[name], residual[name] = measure(problem, name, sweeps)
    rates = {name: contacts * sweeps / seconds[name] for name in seconds}
    return {
        "peer": "siconos",
        "version": siconos.version,
        "contacts": contacts,
        "sweeps": sweeps,
        "updates_per_second": rates,
        "best": max(rates[name] for name in EXACT),
        "seconds": seconds,
        "residual": residual,
    }


def friction_problem(packing: dict):
    """Siconos' problem: contact velocity W reaction + q in the frames (n, t1, t2), Coulomb's law with mu.

    W and q are scaled to order one because the tolerances of the local solvers are absolute. The problem goes through
    a file in Siconos' format: SBM_from_csparse, the other way from Python to blocks, allocates nc^2 integers.
    """
    frames = contact_frames(packing["normal"])
    row, column, blocks = delassus_blocks(packing, frames)
    q = free_contact_velocity(packing, frames)
    blocks /= np.mean(blocks[row == column, 0, 0])
    q /= np.sqrt(np.mean(q**2))
    contacts, ends = len(frames), 3 * np.arange(1, len(frames) + 1)
    row_start = np.searchsorted(row, np.arange(contacts + 1))
    column_major = blocks.transpose(0, 2, 1).reshape(-1, 9)
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as file:
        head = (3, contacts, numerics.NM_SPARSE_BLOCK, 3 * contacts, 3 * contacts, len(blocks), contacts, contacts)
        for integers in (head, ends, ends, (contacts + 1, len(blocks)), row_start, column):
            np.savetxt(file, integers, fmt="%d")
        np.savetxt(file, np.column_stack([np.arange(len(blocks)), column_major]), fmt=["%d"] + 9 * ["%.17e"])
        for reals in (q.ravel(), packing["mu"]):
            np.savetxt(file, reals, fmt="%.17e")
        file.flush()
        return numerics.frictionContact_new_from_filename(file.name)


def contact_frames(normal):
    """Frames (nc, 3, 3) with the rows n, t1 and t2 = n x t1."""
    t1 = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
    t1 /= np.linalg.norm(t1, axis=1)[:, None]
    return np.stack([normal, t1, np.cross(normal, t1)], axis=1)


def delassus_blocks(packing: dict, frames):
    """Non-zero blocks of W sorted by row, then column: row (k,), column (k,), blocks (k, 3, 3).

    Contacts c and d of one body share sign_c sign_d / m F_c F_d^T + r^2/I S_c S_d^T: F_c takes a velocity and
    S_c = F_c [n x] a surface spin to the frame of c; the sign is + where the body is body 1.
    """
    contacts = len(frames)
    spin_frames = np.stack([np.zeros_like(frames[:, 0]), -frames[:, 2], frames[:, 1]], axis=1)
    contact, body = np.tile(np.arange(contacts), 2), packing["pairs"].T.ravel()
    sign = np.repeat([-1.0, 1.0], contacts)

    # a guided piston has r^2/I = -1/M: its sum is zero, and yet it moves
    mobile = np.flatnonzero((packing["inverse_mass"][body] != 0.0) | (packing["inverse_spin"][body] != 0.0))
    order = mobile[np.argsort(body[mobile], kind="stable")]
    contact, body, sign = contact[order], body[order], sign[order]
    first, last = np.searchsorted(body, body, "left"), np.searchsorted(body, body, "right")
    shared = last - first
    i = np.repeat(np.arange(len(body)), shared)
    j = np.arange(len(i)) - np.repeat(np.cumsum(shared) - last, shared)

    c, d = contact[i], contact[j]
    by_mass = packing["inverse_mass"][body[i]] * sign[i] * sign[j]
    by_spin = packing["inverse_spin"][body[i]]
    shares = by_mass[:, None, None] * (frames[c] @ frames[d].transpose(0, 2, 1))
    shares += by_spin[:, None, None] * (spin_frames[c] @ spin_frames[d].transpose(0, 2, 1))
    place, index = np.unique(c * contacts + d, return_inverse=True)
    blocks = np.zeros((len(place), 3, 3))
    np.add.at(blocks, index, shares)
    return place // contacts, place % contacts, blocks


def free_contact_velocity(packing: dict, frames):
    """q (nc, 3): V = v1 - v0 - (s0 + s1) x n without contact forces, plus gap/dt along n."""
    body0, body1 = packing["pairs"].T
    velocity, spin = packing["velocity"], packing["surface_spin"]
    relative = velocity[body1] - velocity[body0] - np.cross(spin[body0] + spin[body1], packing["normal"])
    q = np.einsum("cij,cj->ci", frames, relative)
    q[:, 0] += packing["gap_over_dt"]
    return q


def measure(problem, name: str, sweeps: int) -> tuple[float, float]:
    """Best time of the sweeps in seconds, and Siconos' relative residual after them."""
    options = numerics.SolverOptions(numerics.SICONOS_FRICTION_3D_NSGS)
    light = numerics.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT
    options.iparam[numerics.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = light
    options.dparam[numerics.SICONOS_DPARAM_TOL] = 0.0  # out of reach: every run makes all its sweeps
    numerics.solver_options_update_internal(options, 0, getattr(numerics, f"SICONOS_FRICTION_3D_ONECONTACT_{name}"))
    if name.startswith("NSN"):  # measured 16-48 % faster than the default, same forces
        spectral = numerics.SICONOS_FRICTION_3D_NSN_FORMULATION_RHO_STRATEGY_SPECTRAL_NORM
        local = numerics.solver_options_get_internal_solver(options, 0)
        local.iparam[numerics.SICONOS_FRICTION_3D_NSN_RHO_STRATEGY] = spectral

    preparation, _ = best_run(problem, options, 0)
    total, reaction = best_run(problem, options, sweeps)
    norm_q = float(np.linalg.norm(problem.q))
    _, residual = numerics.fc3d_compute_error(problem, reaction, np.zeros_like(reaction), 0.0, options, norm_q)
    return total - preparation, residual


def best_run(problem, options, sweeps: int):
    """Shortest of several runs from zero forces, in seconds, and the reactions (3 nc,) it ends with."""
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = sweeps
    best = np.inf
    for _ in range(REPEATS):
        reaction, velocity = np.zeros(3 * problem.numberOfContacts), np.zeros(3 * problem.numberOfContacts)
        start = time.process_time()
        numerics.fc3d_nsgs(problem, reaction, velocity, options)
        best = min(best, time.process_time() - start)
    return best, reaction


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
