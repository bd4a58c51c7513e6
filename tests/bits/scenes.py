"""Scenes for what the gallery does not cover: small, and in contact from the first steps on."""

from __future__ import annotations

GRAINS = """
dimension = {dimension}
friction = 0.4

[[material]]
name = "stuff"
{law}

[[grains]]
count = 60
radius = [0.4, 0.6]
density = 1.0
material = "stuff"
{grains}

[run]
dt = {dt}
seed = 7
sort = {sort}

[solver]
{solver}
"""

WALLED = 'placement = "dense"\nregion = [[0, 0], [8, 8]]\nvelocity = [0.3, -1.0]\n'
WALLED += '[[box]]\nlower = [0, 0]\nupper = [8, 8]\nopen = ["top"]\n'
WALLED += '[[piston]]\nname = "lid"\npoint = [0, 8.2]\nnormal = [0, -1]\nmass = 20.0\nload = 100.0\n'
DEEP = 'placement = "dense"\nregion = [[0, 0, 0], [4.5, 4.5, 4.5]]\nvelocity = [0.3, 0.2, -1.0]\n'
DEEP += '[[box]]\nlower = [0, 0, 0]\nupper = [4.5, 4.5, 4.5]\nopen = ["top"]\n'
DEEP += '[[piston]]\nname = "lid"\npoint = [0, 0, 4.7]\nnormal = [0, 0, -1]\nmass = 20.0\nload = 100.0\n'
PERIODIC = 'placement = "dense"\n[cell]\nlower = [0, 0]\nupper = [8, 8]\n'
PERIODIC_3D = 'placement = "dense"\n[cell]\nlower = [0, 0, 0]\nupper = [4.2, 4.2, 4.2]\n'

LAWS = {
    "plain": "",
    "static friction": "static_friction = 0.6",
    "restitution": "restitution = 0.8",
    "elastic": "restitution = 1.0",
    "tangential restitution": "restitution = 0.5\ntangential_restitution = 0.4",
    "cohesion": "cohesion = 5.0",
    "liquid bridges": "cohesion = 5.0\nrange = 0.1\ndecay = 0.05",
    "rolling": "rolling = 0.05",
    "all laws": "static_friction = 0.6\nrestitution = 0.5\ncohesion = 5.0\nrolling = 0.05",
}
CRITERIA = {
    "local": "",
    "global": "",
    "fixed": "sweeps = 30",
    "rigid": "rigidity = 2.0",
    "residual": "",
    "momentum": "",
    "overlap": "",
}
ORDERS = ("random_sequential", "ordered", "random_blocks", "symmetric", "coloured")
SOLVERS = {
    "exact": 'accuracy = "exact"',
    "fast": 'accuracy = "fast"',
    "second order": 'method = "second-order"',
    "hold": "hold = true",
    "sleep": 'order = "coloured"\ncriterion = "local"\nsleep = true',
    "gap g": 'gap = "g"',
}
CELLS = {
    "rate": "rate = { xy = 0.5, yy = -0.3 }",
    "oscillating": 'rate = { xy = "cos(5*t)" }',
    "stress": "rate = { xy = 0.5 }\nstress = { yy = 50.0 }",
    "pressure": "pressure = 50.0",
    "free shape": 'pressure = 50.0\nshape = "free"',
}

STREAMS = """
dimension = 2
gravity = [0, -10]

[[grains]]
name = "bed"
count = 40
radius = 0.1
region = [[0, 0], [1.6, 2]]
placement = "dense"

[[inflow]]
name = "rain"
radius = [0.08, 0.1]
rate = 400
velocity = [0, -5]
region = [[0, 2.2], [1.6, 2.6]]

[[outlet]]
name = "drain"
point = [0, -0.3]
normal = [0, 1]

[[plane]]
name = "floor"
point = [0.3, 0]
normal = [0, 1]
size = 1.2

[run]
dt = 5e-3
"""

TABLE = """
dimension = 2
gravity = [0, -10]

[[grains]]
{grains}

[[plane]]
name = "floor"
point = [0, 0]
normal = [0, 1]

[run]
dt = 2e-2
sort = {sort}

[solver]
order = "coloured"
criterion = "fixed"
sweeps = 5
"""


def inline() -> dict[str, str]:
    """Scenes by name, as TOML."""
    found = {f"law: {name}": fill(law=law) for name, law in LAWS.items()}
    found |= {f"3D law: {name}": fill(DEEP, law=law, dimension=3) for name, law in LAWS.items()}
    found["3D law: twisting"] = fill(DEEP, law="rolling = 0.05\ntwisting = 0.05", dimension=3)
    for name, more in CRITERIA.items():
        found[f"random sweeps: {name}"] = fill(solver=f'method = "sweeps"\ncriterion = "{name}"\n{more}')
    found |= {f"order: {order}": fill(solver=f'order = "{order}"') for order in ORDERS}
    found |= {f"solver: {name}": fill(solver=text) for name, text in SOLVERS.items()}
    for name, text in CELLS.items():
        found[f"cell: {name}"] = fill(PERIODIC + text)
        found[f"3D cell: {name}"] = fill(PERIODIC_3D + text, dimension=3)
    found["cell: stress, all laws"] = fill(PERIODIC + CELLS["stress"], law=LAWS["all laws"])
    pulled = PERIODIC + "\n[[force]]\ngrains = 'grains[0]'\nindex = [3, 4, 5]\nforce = [20, 10]"
    found["cell: still"] = fill(pulled)
    found["cell: still, second order"] = fill(pulled, solver=SOLVERS["second order"])
    found["time step: auto"] = fill(dt='"auto"')
    found["3D time step: auto"] = fill(DEEP, dt='"auto"', dimension=3)
    found["inflow and outlet"] = STREAMS
    return found


def large() -> dict[str, str]:
    """Scenes that only large systems are of use for: numbering anew, and tiles of many grains."""
    columns, rows = 300, 110  # every number is as far from its neighbours as can be: 7919 shares no factor with 33,000
    spots = [divmod(k * 7919 % (columns * rows), columns) for k in range(columns * rows)]
    places = ", ".join(f"[{x}, {y + 0.5}]" for y, x in spots)
    touching = 'count = 155000\nradius = 0.5\nplacement = "lattice"\njitter = 0\nregion = [[0, 0], [800, 200]]'
    return {
        "large: sort": TABLE.format(grains=f"radius = 0.5\npositions = [{places}]", sort="true"),
        "large: tiles": TABLE.format(grains=touching, sort="false"),
    }


def fill(
    grains: str = WALLED, *, law: str = "", solver: str = "", dimension: int = 2, dt: str = "1e-2", sort: str = "false"
) -> str:
    """The scene of all of them."""
    return GRAINS.format(dimension=dimension, law=law, grains=grains, dt=dt, sort=sort, solver=solver)
