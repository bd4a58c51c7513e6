"""What docs/limits.md says cannot be done is refused, and the README says the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support import ROOT

import rigidgrains as rg
from rigidgrains.scene.grains import Grains

LIMITS = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


def refused(told: str, **words) -> None:
    with pytest.raises(rg.SceneError, match=told):
        rg.Scene(**words)


@pytest.mark.parametrize("key", ["aspect", "superquadric", "fixed", "frozen", "glued"])
def test_grains_are_no_ellipsoids_and_are_held_by_a_motion_alone(key):
    assert key not in Grains.model_fields
    refused(f"unknown key '{key}'", grains=[{"positions": [[0, 0]], "radius": 1.0, key: 1}])


def test_walls_are_planes_boxes_cylinders_cones_and_pistons():
    """A scene has no other kind, and a piston has no angle."""
    kinds = {"plane", "box", "cylinder", "cone", "piston"}
    others = {"shape", "grains", "inflow", "outlet", "force", "spring", "motion", "material", "pair", "stage"}
    lists = {name for name, field in rg.Scene.model_fields.items() if "list" in str(field.annotation)}
    assert lists == kinds | others
    refused("unknown key 'mesh'", mesh=[{"file": "funnel.stl"}])
    for key in ("rotation", "angle", "inertia"):
        refused(f"unknown key '{key}'", piston=[{"name": "lid", "point": [0, 1], "normal": [0, -1], key: 1.0}])


def test_forces_and_torques_of_a_scene_are_constant():
    grains = [{"name": "one", "positions": [[0, 0]], "radius": 1.0}]
    refused("force", grains=grains, force=[{"grains": "one", "force": ["t", 0]}])
    refused("torque", grains=grains, force=[{"grains": "one", "torque": "t"}])
    for key in ("drag", "fluid", "field"):
        refused(f"unknown key '{key}'", **{key: 1.0})


@pytest.mark.parametrize(
    "other", [{"plane": [{"name": "floor", "point": [0, 0], "normal": [0, 1]}]}, {"gravity": [0, -9.81]}]
)
def test_cells_that_deform_have_neither_walls_nor_gravity(other):
    cell = {"lower": [0, 0], "upper": [10, 10], "rate": {"xy": 0.1}}
    with pytest.raises(rg.SceneError, match="deform"):
        rg.Scene(cell=cell, grains=[{"positions": [[5, 5]], "radius": 1.0}], **other).build()


def test_neither_gpu_nor_mpi_and_double_precision():
    """No module asks for one, and all that is computed with is float64."""
    for path in (ROOT / "src").rglob("*.py"):
        found = re.search(
            r"^\s*(?:from|import) +(?:numba\.cuda|cupy|mpi4py|jax|torch)\b", path.read_text("utf-8"), re.M
        )
        assert found is None, path
    scene = rg.Scene(grains=[{"positions": [[5, 5]], "radius": 1.0}])
    simulation = rg.Simulation(scene, dt=1e-3)
    simulation.run(steps=1)
    bodies = simulation.bodies
    for array in (
        bodies.position,
        bodies.motion,
        bodies.mass,
        simulation.contacts.forces,
        simulation.contacts.geometry,
    ):
        assert array.dtype == np.float64


def test_the_readme_says_so_too():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## What it cannot do\n")[2].partition("\n## ")[0]
    for word in ("ellipsoids", "meshes", "GPU", "MPI", "First order", "docs/limits.md"):
        assert word in section
    for word in ("ellipsoids", "meshes", "GPU", "MPI", "First order"):
        assert word in LIMITS


def test_links_of_the_new_pages_lead_somewhere():
    """Pages, and headings within them."""
    for name in ("limits", "observers", "criteria", "own_laws"):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for page, anchor in re.findall(r"\]\(([\w./]+\.md)(?:#([\w-]+))?\)", text):
            target = ROOT / "docs" / page
            assert target.is_file(), (name, page)
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert not anchor or anchor in anchors, (name, page, anchor)
