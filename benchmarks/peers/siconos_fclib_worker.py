"""Time of Siconos' nonsmooth Gauss-Seidel sweeps (NSGS) to a given FCLIB residual, on one core, on a given problem.

    python3 benchmarks/peers/siconos_fclib_worker.py PROBLEM.npz

Needs a Python with Siconos (Debian: python3-siconos) and numpy. The problem gives W in rows of 3x3 blocks, start
(nc + 1,), column (k,), block (k, 9), q (nc, 3), mu (nc,), then tolerances (t,), seconds (t,) after which to give up,
and local, the name of a one-contact solver. The residual is the natural map over |q|; Siconos divides by the largest of
|q|, |r| and |u|, so its tolerance is tightened by that ratio. Only the solver is timed. JSON goes to stdout.
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


def main(path: str) -> dict:
    """Sweeps, seconds and residual for each tolerance."""
    given = dict(np.load(path))
    problem = friction_problem(given)
    local = str(given["local"])
    rate = run(problem, local, 1e-12, 200)["seconds"] / 200
    reached = {}
    for tolerance, seconds in zip(given["tolerances"], given["seconds"]):
        outcome = solve(problem, local, float(tolerance), int(seconds / rate))
        reached[f"{tolerance:g}"] = outcome
        if not outcome["residual"] < 1.0:  # it diverges
            break
    return {"peer": "siconos", "version": siconos.version, "local": local, "reached": reached}


def friction_problem(given: dict):
    """Siconos' problem, through a file in its format: SBM_from_csparse, the other way, allocates nc^2 integers."""
    contacts, blocks = len(given["mu"]), len(given["block"])
    ends = 3 * np.arange(1, contacts + 1)
    column_major = given["block"].reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9)
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as file:
        head = (3, contacts, numerics.NM_SPARSE_BLOCK, 3 * contacts, 3 * contacts, blocks, contacts, contacts)
        for integers in (head, ends, ends, (contacts + 1, blocks), given["start"], given["column"]):
            np.savetxt(file, integers, fmt="%d")
        np.savetxt(file, np.column_stack([np.arange(blocks), column_major]), fmt=["%d"] + 9 * ["%.17e"])
        for reals in (given["q"].ravel(), given["mu"]):
            np.savetxt(file, reals, fmt="%.17e")
        file.flush()
        return numerics.frictionContact_new_from_filename(file.name)


def solve(problem, local: str, tolerance: float, most: int) -> dict:
    """Tighten Siconos' own tolerance until the residual over |q| is small enough; the last run counts."""
    own = tolerance
    for _ in range(3):
        outcome = run(problem, local, own, most)
        if outcome["residual"] <= tolerance or outcome["sweeps"] >= most:
            break
        own *= 0.9 * tolerance / outcome["residual"]
    outcome["converged"] = outcome["residual"] <= tolerance
    return outcome


def run(problem, local: str, tolerance: float, most: int) -> dict:
    """Sweep from zero forces until Siconos' own residual is within the tolerance."""
    options = numerics.SolverOptions(numerics.SICONOS_FRICTION_3D_NSGS)
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = most
    numerics.solver_options_update_internal(options, 0, getattr(numerics, f"SICONOS_FRICTION_3D_ONECONTACT_{local}"))
    if local.startswith("NSN"):  # measured 16-48 % faster than the default, same forces
        spectral = numerics.SICONOS_FRICTION_3D_NSN_FORMULATION_RHO_STRATEGY_SPECTRAL_NORM
        inner = numerics.solver_options_get_internal_solver(options, 0)
        inner.iparam[numerics.SICONOS_FRICTION_3D_NSN_RHO_STRATEGY] = spectral
    reaction, velocity = np.zeros(3 * problem.numberOfContacts), np.zeros(3 * problem.numberOfContacts)
    start = time.process_time()
    numerics.fc3d_nsgs(problem, reaction, velocity, options)
    seconds = time.process_time() - start
    norm_q = float(np.linalg.norm(problem.q))
    _, relative = numerics.fc3d_compute_error(problem, reaction, velocity, 0.0, options, norm_q)
    largest = max(norm_q, float(np.linalg.norm(reaction)), float(np.linalg.norm(velocity)))
    sweeps = int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE])
    return {"seconds": seconds, "sweeps": sweeps, "residual": relative * largest / norm_q}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
