"""Gallery scenes in stages: what is at rest at the end of one, and what comes of the next."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.gallery import run_gallery_scene

from rigidgrains import measure
from rigidgrains.trajectory.reader import Trajectory

G = 9.81


@pytest.fixture
def run(tmp_path):
    return run_gallery_scene(tmp_path)


@pytest.mark.slow
def test_the_collapse(run, tmp_path):
    """At rest between smooth walls the floor carries the weight. Run-out over the width grows as a = H/L for so low a
    column (Staron and Hinch 2005), by a factor of order one.
    """
    report, state, bodies = run("collapse")
    with Trajectory(tmp_path / "out" / "collapse.vtkhdf") as trajectory:
        settled = report.stages[0]
        before = next(frame for frame in trajectory if frame.time >= settled["ended"] - 1e-12)
        assert [wall.name for wall in before.walls] == ["floor", "wall", "gate"]
        height = float(np.quantile(before.position[:, 1] + before.radius, 0.97))
        assert -before.wall_force[0, 1] == pytest.approx(bodies.mass.sum() * G, rel=5e-3)
    assert settled["reached"]
    width = 0.1
    assert [wall.name for wall in state.walls] == ["floor", "wall"]
    front = float(np.quantile(state.position[:, 0] + state.radius, 0.98))
    assert 1.0 < (front - width) / width / (height / width) < 2.5


@pytest.mark.slow
def test_the_biaxial(run, tmp_path):
    """The sides carry their stress, the top what friction among the disks allows: sin phi of 0.2 to 0.4 at mu = 0.5.

    In slow shear disks with mu = 0.4 have an effective friction of 0.25 (da Cruz et al. 2005).
    """
    report, _, _ = run("biaxial")
    assert report.stages[0]["reached"]
    with Trajectory(tmp_path / "out" / "biaxial.vtkhdf") as trajectory:
        stress = {1: [], 2: []}
        for frame in trajectory:
            at = {wall.name: (w, wall.shape.point) for w, wall in enumerate(frame.walls)}
            width, height = at["right"][1][0] - at["left"][1][0], at["top"][1][1]
            force = frame.wall_force
            pair = force[at["top"][0], 1] / width, force[at["right"][0], 0] / height
            stress[int(frame.figures["stage"])].append(pair)
    assert stress[1][-1] == pytest.approx((100.0, 100.0), rel=0.02)
    axial, lateral = np.mean(stress[2][len(stress[2]) // 2 :], axis=0)
    assert lateral == pytest.approx(100.0, rel=0.03)
    assert 0.2 < (axial - lateral) / (axial + lateral) < 0.4


def rows_at_ends(path):
    """Columns of the history, and its rows at the end of both stages."""
    with Trajectory(path) as trajectory:
        history = trajectory.history
    return history, [int(np.flatnonzero(history["stage"] == number)[-1]) for number in (1, 2)]


@pytest.mark.slow
def test_the_triaxial(run, tmp_path):
    """Compressed to the pressure; in the end an angle of friction as of glass beads, 21 degrees and more."""
    run("triaxial")
    history, (rest, end) = rows_at_ends(tmp_path / "out" / "triaxial.vtkhdf")
    assert history["pressure"][rest] == pytest.approx(100.0, rel=0.01)
    assert history["strain_zz"][end] - history["strain_zz"][rest] == pytest.approx(0.1 * (4.0 - 0.1), rel=1e-6)
    late = slice(rest + (end - rest) // 2, end)
    across = 0.5 * (history["stress_xx"] + history["stress_yy"])[late].mean()
    along = history["stress_zz"][late].mean()
    assert across == pytest.approx(100.0, rel=0.05)
    assert 18.0 < math.degrees(math.asin((along - across) / (along + across))) < 27.0


@pytest.mark.slow
def test_the_frictionless(run, tmp_path):
    """Shear of spheres without friction: tan 5.76 degrees in the quasi-static limit, more at a finite rate, and the
    packing fraction of random close packing all the time (Peyneau and Roux 2008).

    It stays below half of that of glass beads, tan 20.9 degrees (Jop, Forterre and Pouliquen 2006). Their packing
    fraction is 0.639 +- 0.004 (Agnolin and Roux 2007) in large cells, and a little less in small ones.
    """
    report, _, _ = run("frictionless")
    assert report.stages[0]["reached"]
    history, (rest, end) = rows_at_ends(tmp_path / "out" / "frictionless.vtkhdf")
    assert history["pressure"][rest] == pytest.approx(100.0, rel=1e-3)
    late = slice(rest + (end - rest) // 4, end)
    assert history["stress_yy"][late].mean() == pytest.approx(100.0, rel=0.01)
    ratio = measure.blocking(-history["shear_stress"][late] / 100.0)
    assert ratio.error < 0.015
    limit = math.tan(math.radians(5.76))
    assert limit - 2.0 * ratio.error < ratio.mean < 0.5 * math.tan(math.radians(20.9))
    fraction = history["packing_fraction"]
    assert fraction[rest] == pytest.approx(0.639, abs=0.009)
    assert fraction[late].mean() == pytest.approx(fraction[rest], abs=0.005)
