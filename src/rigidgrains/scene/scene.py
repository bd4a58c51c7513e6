"""Scene: all that a user describes, from Python or from a file, checked as soon as it is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError

from .cell import Cell, conflicts, tensions
from .confinement import WALLS, Box, Cone, Cylinder, Piston, Plane, Surface
from .errors import Origin, Problem, SceneError, plain_problems
from .grains import Grains
from .motion import Motion
from .references import ANY, Tables, repeated_names, unknown_colour, unknown_names
from .section import Section, tables_with, vector_length
from .settings import Force, Material, Output, Pair, Run, Solver, Spring
from .shape import Shape
from .shape_conflicts import shape_conflicts
from .stage import Stage
from .stage_mistakes import stage_mistakes, stage_mistakes_of_part
from .streams import Inflow, Outlet
from .values import Coefficient, Dimension, TimedVector
from .values import dimension as read_dimension

if TYPE_CHECKING:
    from ..model.bodies import Bodies
    from ..solve.sweeps import Sweeps

S = TypeVar("S", bound=Section)

LISTS: dict[str, type[Section]] = {
    "shape": Shape,
    "grains": Grains,
    **WALLS,
    "inflow": Inflow,
    "outlet": Outlet,
    "force": Force,
    "spring": Spring,
    "motion": Motion,
    "material": Material,
    "pair": Pair,
    "stage": Stage,
}
SINGLES: dict[str, type[Section]] = {"cell": Cell, "run": Run, "solver": Solver, "output": Output}


class Scene(Section):
    """Grains, walls, materials and forces, and how to run them; `build` makes the bodies."""

    model_config = ConfigDict(frozen=False, validate_assignment=True, title="rigidgrains scene")
    _origin: Origin | None = PrivateAttr(default=None)
    _forces: list[Any] = PrivateAttr(default_factory=list)  # functions of the user's own

    title: str | None = Field(default=None, strict=True, description="a line about the scene")
    dimension: Dimension = Field(default=2, description="2 for disks, 3 for spheres")
    gravity: TimedVector | None = Field(
        default=None, description="acceleration of gravity (m/s^2), each component a number, formula or table"
    )
    friction: Coefficient = Field(default=0.5, description="friction coefficient wherever no other is given")
    shape: list[Shape] = Field(default_factory=list, description="shapes of grains that are not round")
    grains: list[Grains] = Field(default_factory=list, description="groups of grains")
    plane: list[Plane] = Field(default_factory=list, description="planes and finite plates")
    box: list[Box] = Field(default_factory=list, description="boxes of fixed planes")
    cylinder: list[Cylinder] = Field(default_factory=list, description="drums, tubes and rods")
    cone: list[Cone] = Field(default_factory=list, description="funnels, in 3D")
    piston: list[Piston] = Field(default_factory=list, description="planes guided along their normal")
    inflow: list[Inflow] = Field(default_factory=list, description="where grains enter during the run")
    outlet: list[Outlet] = Field(default_factory=list, description="where grains leave during the run")
    force: list[Force] = Field(default_factory=list, description="constant forces on groups of grains")
    spring: list[Spring] = Field(default_factory=list, description="springs that pull grains")
    motion: list[Motion] = Field(default_factory=list, description="grains that move as prescribed")
    material: list[Material] = Field(default_factory=list, description="materials")
    pair: list[Pair] = Field(default_factory=list, description="coefficients between two materials")
    stage: list[Stage] = Field(default_factory=list, description="what the run does one after the other")
    cell: Cell | None = Field(default=None, description="periodic cell; none if absent")
    run: Run = Field(default_factory=Run, description="time step and duration")
    solver: Solver = Field(default_factory=Solver, description="how contact forces are found")
    output: Output = Field(default_factory=Output, description="what is recorded and drawn")

    def __init__(self, /, **words: Any) -> None:
        problems: list[Problem] = []
        lists = {key: read_list(key, words.pop(key), problems) for key in LISTS if key in words}
        singles = {key: read_single(key, words.pop(key), problems) for key in SINGLES if key in words}
        dimension = known_dimension(words.get("dimension", 2))
        if "cell" in singles:
            cell = singles["cell"]
            sound = cell is not None and not any(cell.mistakes(dimension or 2))
            rows = lists.get("grains", [])
            lists["grains"] = [(item, within(cell if sound else None, table)) for item, table in rows]
        before = len(problems)
        try:
            super().__init__(**words)
        except SceneError as error:
            problems += error.problems
        own_words_read = len(problems) == before
        if dimension is not None:
            tables = {key: [table for _, table in rows] for key, rows in lists.items()}
            settings = {key: table for key, table in singles.items() if table is not None}
            problems += table_mistakes(tables, settings, dimension)
            problems += repeated_names(tables, dimension)
            partly = {key: [readable_part(key, *row) for row in rows] for key, rows in lists.items()}
            lost = {key: unreadable_names(rows) for key, rows in lists.items()}
            if any(problem.place == "stage" for problem in problems):
                lost["stage"] = {ANY}
            problems += unknown_names(partly, lost)
            problems += wrong_gravity(words.get("gravity"), dimension)
            problems += conflicts(singles.get("cell"), partly, words.get("gravity"), dimension)
            problems += tensions(singles.get("cell"), partly)
            problems += shape_conflicts(singles.get("cell"), partly, dimension)
            problems += unknown_colour(partly, singles.get("output"))
        readable = not any(table is None for rows in lists.values() for _, table in rows)
        readable &= own_words_read and all(table is not None for table in singles.values())
        if readable and dimension is not None:
            for key, rows in lists.items():
                getattr(self, key).extend(table for _, table in rows)
            for key, table in singles.items():
                setattr(self, key, table)
            problems += stage_mistakes(self)
        elif dimension is not None and lists.get("stage"):
            own: dict[str, Any] = {"dimension": dimension} | ({"gravity": self.gravity} if own_words_read else {})
            settings = {key: table for key, table in singles.items() if table is not None}
            problems += stage_mistakes_of_part(Scene.model_construct(**own, **settings), partly, lost)
        if problems:
            raise SceneError(problems)

    def __setattr__(self, key: str, value: Any) -> None:
        try:
            super().__setattr__(key, value)
        except ValidationError as error:
            raise SceneError(plain_problems(error, type(self), tables_with)) from None

    def _repr_html_(self) -> str:
        from ..view.notebook_more import scene_html

        return scene_html(self)

    def add_grains(self, **words: Any) -> Grains:
        """Add a group of grains: count and region, or positions; radius or radii; see `Grains`."""
        return self._add(Grains, "grains", words)

    def add_shape(self, name: str, **words: Any) -> Shape:
        """Add a shape of grains: polygon, vertices, box, capsule, solid, file, centres or parts; see `Shape`."""
        return self._add(Shape, "shape", {"name": name, **words})

    def set_cell(self, **words: Any) -> Cell:
        """Make the scene periodic: lower and upper corner of the cell, and how it deforms; see `Cell`."""
        problems: list[Problem] = []
        cell = read_table(Cell, "cell", words, problems)
        if cell is not None:
            problems += table_mistakes({}, {"cell": cell}, self.dimension)
            problems += conflicts(cell, self.tables(), self.gravity, self.dimension)
        if problems:
            raise SceneError(problems)
        self.cell = cell
        return cell

    def add_plane(self, name: str, **words: Any) -> Plane:
        """Add a plane by point and normal, or with size a finite plate; see `Plane`."""
        return self._add(Plane, "plane", {"name": name, **words})

    def add_box(self, **words: Any) -> Box:
        """Add the fixed planes around a box by its lower and upper corner; see `Box`."""
        return self._add(Box, "box", words)

    def add_cylinder(self, name: str, **words: Any) -> Cylinder:
        """Add a drum, tube or rod by point, axis and radius; see `Cylinder`."""
        return self._add(Cylinder, "cylinder", {"name": name, **words})

    def add_cone(self, name: str, **words: Any) -> Cone:
        """Add a funnel by point, axis, the radii of its ends and length; see `Cone`."""
        return self._add(Cone, "cone", {"name": name, **words})

    def add_piston(self, name: str, **words: Any) -> Piston:
        """Add a guided plane by point, normal and either mass and load or velocity; see `Piston`."""
        return self._add(Piston, "piston", {"name": name, **words})

    def add_inflow(self, name: str, **words: Any) -> Inflow:
        """Add a region in which grains enter at a rate; see `Inflow`."""
        return self._add(Inflow, "inflow", {"name": name, **words})

    def add_outlet(self, name: str, **words: Any) -> Outlet:
        """Add a box or half-space in which grains leave; see `Outlet`."""
        return self._add(Outlet, "outlet", {"name": name, **words})

    def add_force(self, function: Any = None, /, **words: Any) -> Any:
        """Add a constant force or torque on the grains of a group, see `Force`; or a function of one's own.

        A function takes the words of `Simulation.add_force`: name, grains, timescale.
        """
        if function is None:
            return self._add(Force, "force", words)
        from ..model.user_force import UserForce, function_name

        name = words.pop("name", None)
        given = {"name": function_name(function) if name is None else name, "group": words.pop("grains", None)}
        one = UserForce(function=function, timescale=words.pop("timescale", None), **given)
        if words:
            raise TypeError(f"add_force: a function knows name, grains and timescale, not {', '.join(words)}")
        self._forces.append(one)
        return one

    def add_motion(self, name: str, **words: Any) -> Motion:
        """Let grains move as prescribed, by a velocity or a displacement; see `Motion`."""
        return self._add(Motion, "motion", {"name": name, **words})

    def add_spring(self, name: str, **words: Any) -> Spring:
        """Add a spring between some grains and an end that moves; see `Spring`."""
        return self._add(Spring, "spring", {"name": name, **words})

    def add_material(self, name: str, **words: Any) -> Material:
        """Add a material; see `Material`."""
        return self._add(Material, "material", {"name": name, **words})

    def add_pair(self, **words: Any) -> Pair:
        """Add the coefficients between two materials; see `Pair`."""
        return self._add(Pair, "pair", words)

    def add_stage(self, name: str, **words: Any) -> Stage:
        """Add a stage: when it ends, and what changes as it begins; see `Stage`."""
        return self._add(Stage, "stage", {"name": name, **words})

    def _add(self, model: type[S], key: str, words: dict[str, Any]) -> S:
        rows: list[S] = getattr(self, key)
        place = f"{key}[{len(rows)}]"
        try:
            table = model(**words)
        except SceneError as error:
            raise SceneError(problem.inside(place) for problem in error.problems) from None
        if self.cell is not None and isinstance(table, Grains):
            table = within(self.cell, table)
        problems = [problem.inside(place) for problem in table.mistakes(self.dimension)]
        problems += repeated_names({**self.tables(), key: [*rows, table]}, self.dimension)
        if problems:
            raise SceneError(problems)
        rows.append(table)
        return table

    def tables(self) -> dict[str, list[Any]]:
        """The lists of tables by key."""
        return {key: getattr(self, key) for key in LISTS}

    def surfaces(self) -> Iterator[Surface]:
        """All walls, one by one: a box is those of its sides."""
        for key in WALLS:
            for table in getattr(self, key):
                yield from table.surfaces()

    def problems(self) -> list[Problem]:
        """All mistakes that can be found without placing a grain."""
        settings = {key: table for key in SINGLES if (table := getattr(self, key)) is not None}
        tables = self.tables()
        return [
            *wrong_gravity(self.gravity, self.dimension),
            *table_mistakes(tables, settings, self.dimension),
            *repeated_names(tables, self.dimension),
            *unknown_names(tables, {}),
            *conflicts(self.cell, tables, self.gravity, self.dimension),
            *tensions(self.cell, tables),
            *shape_conflicts(self.cell, tables, self.dimension),
            *stage_mistakes(self),
            *unknown_colour(tables, self.output),
        ]

    def build(self, seed: int | None = None) -> Bodies:
        """Place the grains and make the bodies; `seed` wins over the seed of [run], a group's own seed over both."""
        from .build import build

        run = self.run if seed is None else Run(seed=seed)
        try:
            if problems := self.problems():
                raise SceneError(problems)
            return build(self, run.seed)
        except SceneError as error:
            raise self._origin.locate(error) if self._origin else error from None

    def make_solver(self) -> Sweeps:
        """The solver that [solver] asks for."""
        from .make_solver import make_solver

        return make_solver(self.solver)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema of a scene file, for editors."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema()}


def known_dimension(given: Any) -> int | None:
    """The dimension that other tables are held against; None if it cannot be read, which is told by itself."""
    try:
        return read_dimension(given)
    except ValueError:
        return None


def within(cell: Cell | None, grains: Any) -> Any:
    """A group of grains, with the cell as its region if it has none of its own; None if that cell is not sound."""
    if grains is None or grains.count is None or grains.region is not None or grains.positions is not None:
        return grains
    return None if cell is None else grains.model_copy(update={"region": cell.corners()})


def read_list(key: str, given: Any, problems: list[Problem]) -> list[tuple[Any, Any]]:
    """Each table as written and as read (None where it cannot be read)."""
    if not isinstance(given, (list, tuple)):
        problems.append(Problem(key, given, f"must be a list of tables; write [[{key}]] with double brackets"))
        return []
    return [(item, read_table(LISTS[key], f"{key}[{i}]", item, problems)) for i, item in enumerate(given)]


def read_single(key: str, given: Any, problems: list[Problem]) -> Any:
    """The table as read, None where it cannot be."""
    if isinstance(given, list):
        problems.append(Problem(key, given, f"must be one table; write [{key}] with single brackets"))
        return None
    return read_table(SINGLES[key], key, given, problems)


def read_table(model: type[Section], place: str, given: Any, problems: list[Problem]) -> Any:
    if isinstance(given, model):
        return given
    if not isinstance(given, dict):
        problems.append(Problem(place, given, "must be a table with keys and values"))
        return None
    try:
        return model(**given)
    except SceneError as error:
        problems += [problem.inside(place) for problem in error.problems]
        return None


def table_mistakes(tables: Tables, settings: dict[str, Section], dimension: int) -> Iterator[Problem]:
    """Mistakes within each readable table."""
    places = {f"{key}[{i}]": table for key, rows in tables.items() for i, table in enumerate(rows) if table is not None}
    for place, table in {**places, **settings}.items():
        yield from (problem.inside(place) for problem in table.mistakes(dimension))


def readable_part(key: str, item: Any, table: Any) -> Any:
    """A table without the fields that cannot be read, for the names it refers to; None if too little is left."""
    if table is not None or not isinstance(item, dict):
        return table
    try:
        LISTS[key](**item)
    except SceneError as error:
        wrong = {re.split(r"[.\[]", problem.place)[0] for problem in error.problems}
        try:
            return LISTS[key](**{word: value for word, value in item.items() if word not in wrong})
        except SceneError:
            return None
    return None


def unreadable_names(rows: list[tuple[Any, Any]]) -> set[str]:
    """Names of the tables that could not be read."""
    names = [item.get("name") for item, table in rows if table is None and isinstance(item, dict)]
    return {name for name in names if isinstance(name, str)}


def wrong_gravity(gravity: Any, dimension: int) -> Iterator[Problem]:
    if isinstance(gravity, (list, tuple)) and len(gravity) in (2, 3) and len(gravity) != dimension:
        yield Problem("gravity", gravity, vector_length(dimension))
