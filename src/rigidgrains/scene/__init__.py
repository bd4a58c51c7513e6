"""What the user describes: grains, walls, materials, forces, solver and output; TOML and Python say the same words."""

from .confinement import Box, Cylinder, Oscillation, Piston, Plane
from .errors import Problem, SceneError
from .grains import Grains
from .load import load_scene
from .scene import Scene
from .settings import Force, Material, Output, Pair, Run, Solver
from .shape import Shape
from .sizes import Discrete, Spread
from .streams import Inflow, Outlet

__all__ = [
    "Box",
    "Cylinder",
    "Discrete",
    "Force",
    "Grains",
    "Inflow",
    "Material",
    "Oscillation",
    "Outlet",
    "Output",
    "Pair",
    "Piston",
    "Plane",
    "Problem",
    "Run",
    "Scene",
    "SceneError",
    "Shape",
    "Solver",
    "Spread",
    "load_scene",
]
