"""FCLIB: files, exported steps, and solutions by sweeps."""

from __future__ import annotations

import json
from functools import partial

import h5py
import numpy as np
import pytest
from scipy import sparse
from support import ROOT
from support.builders import chain, cloud, column, prepare, settle, triangular
from support.commands import called
from support.kernels import apply_forces

from rigidgrains.fclib import (
    SOLVERS,
    GlobalProblem,
    Info,
    LocalProblem,
    ProblemFileError,
    forces,
    global_problem,
    impulses,
    local_problem,
    read_impulses,
    read_problem,
    save_problem,
    solve_problem,
    write_problem,
    write_solution,
)

SHARED = ROOT.parent / "shared" / "fclib"
FILES = sorted(SHARED.glob("*.hdf5"))
needs_files = pytest.mark.skipif(not FILES, reason="the FCLIB files are not beside the project")


def residual(problem: LocalProblem, r) -> float:
    """FCLIB's natural map over |q|, written here once more."""
    r = np.asarray(r).reshape(problem.count, -1)
    u = (problem.W @ r.ravel() + problem.q).reshape(r.shape)
    mu = problem.mu
    x = r - u
    x[:, 0] -= mu * np.linalg.norm(u[:, 1:], axis=1)
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    slide = (n + mu * t) / (1.0 + mu**2)
    projected = np.column_stack([slide, (mu * slide / np.where(t > 0.0, t, 1.0))[:, None] * x[:, 1:]])
    projected[t <= mu * n] = x[t <= mu * n]
    projected[mu * t <= -n] = 0.0
    return float(np.linalg.norm(r - projected) / np.linalg.norm(problem.q))


# Files


@pytest.fixture
def pile():
    return prepare(triangular(4, 5, mu=0.4, g=1.0), 1e-2)


def same(a, b):
    assert type(a) is type(b)
    for name, value in vars(a).items():
        other = getattr(b, name)
        if sparse.issparse(value):
            assert (value != other).nnz == 0
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
        else:
            assert value == other


@pytest.mark.parametrize("form", [local_problem, global_problem])
def test_what_is_written_is_read(tmp_path, pile, form):
    problem = form(pile)
    problem.info = Info("title", "two\nlines", "none")
    write_problem(problem, tmp_path / "p.hdf5")
    same(read_problem(tmp_path / "p.hdf5"), problem)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("kind", ["triplets", "columns"])
def test_every_sparse_form_is_read(tmp_path, pile, kind, swap):
    """Triplets as CSparse has them, or with rows and columns exchanged as the header says, where that shows."""
    problem = global_problem(pile)
    write_problem(problem, tmp_path / "p.hdf5")
    with h5py.File(tmp_path / "p.hdf5", "a") as file:
        group = file["fclib_global/H"]
        matrix = problem.H.tocoo() if kind == "triplets" else problem.H.tocsc()
        p, i = (matrix.col, matrix.row) if kind == "triplets" else (matrix.indptr, matrix.indices)
        if swap and kind == "triplets":
            p, i = i, p
        for name, value in (("p", p), ("i", i), ("x", matrix.data), ("nz", [matrix.nnz if kind == "triplets" else -1])):
            del group[name]
            group[name] = value
    same(read_problem(tmp_path / "p.hdf5"), problem)


def test_solutions_are_written_with_the_problem(tmp_path, pile):
    """u = W r + q and M v = H r + f hold in the file."""
    problem = global_problem(pile)
    found = solve_problem(problem)
    write_solution(problem, found.r, tmp_path / "s.hdf5")
    np.testing.assert_array_equal(read_impulses(tmp_path / "s.hdf5"), found.r)
    assert read_impulses(tmp_path / "s.hdf5", "guesses/1") is None
    with h5py.File(tmp_path / "s.hdf5") as file:
        v, u = file["solution/v"][()], file["solution/u"][()]
    np.testing.assert_allclose(problem.M @ v, problem.H @ found.r + problem.f, atol=1e-12)
    np.testing.assert_allclose(u, found.u, atol=1e-12)


def spoil(path, name, value):
    with h5py.File(path, "a") as file:
        del file[name]
        if value is not None:
            file[name] = value


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("fclib_local", None, "neither 'fclib_local'"),
        ("fclib_local/W", None, "lacks 'W'"),
        ("fclib_local/vectors/mu", None, "lacks 'mu'"),
        ("fclib_local/vectors/mu", [-0.1, 0.1], "mu holds -0.1"),
        ("fclib_local/vectors/mu", [0.1] * 7, "make them agree"),
        ("fclib_local/vectors/q", [0.0, np.nan, 0.0, 0.0], "q holds nan"),
        ("fclib_local/vectors/q", [1.0] * 5, "q has the shape 5"),
        ("fclib_local/spacedim", [4], "make them agree"),
        ("fclib_local/spacedim", [2, 3], "one whole number"),
        ("fclib_local/spacedim", [2.5], "one whole number"),
        ("fclib_local/spacedim", [np.inf], "p.hdf5"),
        ("fclib_local/W/nz", [-7], "nz = -7"),
        ("fclib_local/W/p", [0, 3], "pointers"),
        ("fclib_local/W/m", [3], "make them agree"),
        ("fclib_local/W/m", [2**31 - 1], "make them agree"),
        ("fclib_local/W/i", [0, 1, 2, 9], "entry at 9"),
        ("fclib_local/W/x", ["a", "b"], "fclib_local|p.hdf5"),
    ],
)
def test_broken_files_are_refused(tmp_path, name, value, words):
    """Two contacts in the plane, with one thing wrong."""
    problem = LocalProblem(W=sparse.eye_array(4), q=-np.ones(4), mu=np.ones(2), dimension=2)
    write_problem(problem, tmp_path / "p.hdf5")
    spoil(tmp_path / "p.hdf5", name, value)
    with pytest.raises(ProblemFileError, match=words):
        read_problem(tmp_path / "p.hdf5")


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "text.hdf5").write_text("no problem")
    for name, words in (("none.hdf5", "does not exist"), (".", "folder"), ("text.hdf5", "not an HDF5 file")):
        with pytest.raises(ProblemFileError, match=words):
            read_problem(tmp_path / name)


def test_equality_constraints_are_refused(tmp_path, pile):
    save_problem(pile, tmp_path / "p.hdf5", form="global")
    with h5py.File(tmp_path / "p.hdf5", "a") as file:
        file["fclib_global/G/m"] = [1]
    with pytest.raises(ProblemFileError, match="equality constraints"):
        read_problem(tmp_path / "p.hdf5")


# Steps of the engine

WORLDS = {
    "pressed disks": lambda mu: triangular(5, 6, mu=mu, g=1.0),
    "colliding disks": lambda mu: cloud(40, mu=mu, dimension=2, speed=30.0),
    "colliding spheres": lambda mu: cloud(40, mu=mu, speed=30.0),
    "column": lambda mu: column(6, friction=mu),
}
everywhere = pytest.mark.parametrize("world", WORLDS)
frictions = pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])


@everywhere
@frictions
def test_a_solved_problem_is_a_solved_step(world, mu):
    """Forces found for the exported problem, given back to the engine, leave velocities that obey the contact laws."""
    problem = prepare(WORLDS[world](mu), 1e-2)
    stated = global_problem(problem)
    assert stated.dimension == (3 if "spheres" in world else 2)  # the column stands in the plane
    found = solve_problem(stated, tolerance=1e-11)
    assert found.converged
    assert residual(stated.local(), found.r) == pytest.approx(found.residual, abs=1e-13)
    problem.forces[:] = forces(problem, found.r, stated.dimension)
    np.testing.assert_allclose(impulses(problem, stated.dimension).ravel(), found.r, atol=1e-14)
    apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt)
    again = global_problem(problem, dimension=stated.dimension, solved=True)  # takes the forces out again
    np.testing.assert_allclose(again.f, stated.f, atol=1e-9)
    np.testing.assert_allclose(again.w, stated.w, atol=1e-9)
    i, j = problem.pairs.T
    n, v, s = problem.geometry[:, :3], problem.motion[:, :3], problem.motion[:, 3:6]
    V = v[j] - v[i] - np.cross(s[i] + s[j], n)  # Eq. (contact-veloc)
    gap = problem.geometry[:, 3] + problem.dt * (V * n).sum(1)  # Eq. (gap-change)
    size = np.linalg.norm(stated.local().q) * problem.dt
    assert gap.min() >= -1e-8 * size
    assert np.abs(gap * problem.forces[:, 0]).max() <= 1e-8 * size * np.abs(problem.forces).max()
    assert (np.linalg.norm(problem.forces[:, 1:], axis=1) <= mu * problem.forces[:, 0] * (1 + 1e-9) + 1e-12).all()


def test_column_and_chain_carry_their_load():
    """The k-th contact from the top of a column carries k m g; every contact of a pressed chain the same force."""
    problem = prepare(column(8, g=10.0), 1e-2)
    r = solve_problem(local_problem(problem, dimension=3), tolerance=1e-12).r.reshape(-1, 3)[:, 0] / problem.dt
    np.testing.assert_allclose(np.sort(r), 10.0 * np.arange(1, 9), rtol=1e-9)
    problem = prepare(chain(30, force=3.0), 1e-2)
    r = solve_problem(local_problem(problem), tolerance=1e-12).r.reshape(-1, 2)[:, 0] / problem.dt
    np.testing.assert_allclose(r, 3.0, rtol=1e-9)


def test_a_step_of_a_run_can_be_saved(tmp_path):
    """The forces of a step that was solved to rounding, saved as a guess, solve the saved problem."""
    simulation = settle(triangular(4, 5, mu=0.4, g=1.0), steps=3)
    for form in ("local", "global"):
        save_problem(simulation, tmp_path / "p.hdf5", form=form, force=True)
        problem, guess = read_problem(tmp_path / "p.hdf5"), read_impulses(tmp_path / "p.hdf5", "guesses/1")
        assert "dt = 0.01" in problem.info.description
        assert residual(problem.local(), guess) < 1e-9
    with pytest.raises(ValueError, match="form 'loc' is unknown"):
        save_problem(simulation, tmp_path / "p.hdf5", form="loc")


# Solvers


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_solves(solver, pile):
    found = solve_problem(global_problem(pile), solver=solver, tolerance=1e-9)
    assert found.converged
    assert found.reason == ""
    assert residual(local_problem(pile), found.r) <= 1e-9
    assert found.history[-1][1] <= 1e-9


def test_giving_up_is_said_and_the_best_point_kept(pile):
    """Fewer sweeps than needed: not converged, why, and the residual that was reached."""
    found = solve_problem(local_problem(pile), solver="sweeps", tolerance=1e-12, max_iterations=4)
    assert not found.converged
    assert "4 sweeps" in found.reason
    assert found.residual == pytest.approx(residual(local_problem(pile), found.r), rel=1e-9)
    assert max(found.residual, found.scaled_residual) <= min(value for _, value in found.history) * (1 + 1e-12)


def test_nothing_to_do():
    """No contacts, or contacts that open by themselves."""
    none = LocalProblem(W=sparse.csr_array((0, 0)), q=np.zeros(0), mu=np.zeros(0), dimension=3)
    assert solve_problem(none).converged
    opening = LocalProblem(W=sparse.eye_array(3), q=np.array([1.0, 2.0, 3.0]), mu=np.array([0.5]), dimension=3)
    for solver in SOLVERS:
        assert not solve_problem(opening, solver=solver).r.any()


def test_wrong_wishes_are_refused(pile):
    problem = local_problem(pile)
    for wish, words in (
        ({"solver": "magic"}, "magic"),
        ({"tolerance": 0.0}, "positive"),
        ({"max_iterations": 0}, "at least 1"),
    ):
        with pytest.raises(ValueError, match=words):
            solve_problem(problem, **wish)
    with pytest.raises(ValueError, match="no mobility"):
        solve_problem(LocalProblem(W=sparse.csr_array((3, 3)), q=-np.ones(3), mu=np.ones(1), dimension=3))


def test_a_full_mass_matrix_is_divided():
    """Two coupled unknowns: M v = H r + f with a dense M."""
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    problem = GlobalProblem(M=M, H=np.eye(2), f=np.array([-1.0, 0.3]), w=np.zeros(2), mu=np.array([10.0]), dimension=2)
    np.testing.assert_allclose(problem.local().W.toarray(), np.linalg.inv(M), rtol=1e-12)
    found = solve_problem(problem, tolerance=1e-12)
    np.testing.assert_allclose(found.r, [1.0, -0.3], rtol=1e-9)  # it sticks: v = 0, r = -f


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_public_problems_are_solved(path, tolerance):
    problem = read_problem(path)
    found = solve_problem(problem, tolerance=tolerance)
    assert found.converged
    assert residual(problem.local(), found.r) <= tolerance


# The command


@pytest.fixture
def cli(tmp_path):
    return partial(called, tmp_path, "solve")


def test_command_solves_and_writes(cli, tmp_path, pile):
    save_problem(pile, tmp_path / "p.hdf5")
    report = json.loads(cli("p.hdf5", "--json", "--output", "s.hdf5", "--tolerance", "1e-9").stdout)
    assert report["converged"]
    assert report["contacts"] == pile.count
    r = read_impulses(tmp_path / "s.hdf5")
    assert report["residual"] == pytest.approx(residual(read_problem(tmp_path / "p.hdf5"), r), rel=1e-6)
    assert "not converged" in cli("p.hdf5", "--solver", "sweeps", "--max-iterations", 2, check=1).stdout


def test_command_refuses_in_one_line(cli, tmp_path, pile):
    save_problem(pile, tmp_path / "p.hdf5")
    spoil(tmp_path / "p.hdf5", "fclib_local/vectors/q", [np.nan] * (2 * pile.count))
    for words in (("none.hdf5",), ("p.hdf5",)):
        assert len(cli(*words, check=2).stderr.strip().splitlines()) == 1
