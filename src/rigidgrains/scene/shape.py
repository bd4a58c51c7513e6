"""[[shape]]: a shape of grains as the user draws it; it is made, and checked, by the builders of `shapes/`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, PrivateAttr, WithJsonSchema

from .errors import ABSENT, Problem, SceneError
from .section import Section
from .values import NUMBER_LIST, Array, FileName, Name, Positives, Vectors, number, positive, positives, schema, whole

if TYPE_CHECKING:
    from ..shapes.core import Part as MadePart
    from ..shapes.core import Shape as MadeShape

ROUND = {2: "disk", 3: "sphere"}  # names of grains that need no [[shape]]
KINDS = ("polygon", "vertices", "box", "capsule", "solid", "file", "centres", "parts")
OWN_RADII = ("capsule", "centres")  # what needs no rounding


def read_rounding(value: Any) -> float:
    """A radius of corners as a share of the grain's radius."""
    if not 0.0 <= (x := number(value)) < 1.0:
        raise ValueError("must be at least 0 (sharp) and less than 1, a share of the grain's radius")
    return x


def read_ratio(value: Any) -> float:
    """Length over width."""
    if (x := number(value)) < 1.0:
        raise ValueError("must be a length over width, 1 (round) or more")
    return x


def read_radii(value: Any) -> Array:
    """One radius, or a list of them."""
    return positives(value) if isinstance(value, (list, tuple, np.ndarray)) else np.array(positive(value))


Rounding = Annotated[float, PlainValidator(read_rounding), schema("number", minimum=0, exclusiveMaximum=1)]
Ratio = Annotated[float, PlainValidator(read_ratio), schema("number", minimum=1)]
Sides = Annotated[int, PlainValidator(whole(3, 1000)), schema("integer", minimum=3, maximum=1000)]
Radii = Annotated[
    Array,
    PlainValidator(read_radii),
    PlainSerializer(lambda array: array.tolist()),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, NUMBER_LIST]}),
]


class Part(Section):
    """A convex part of a shape: one vertex is a disk or sphere, two are a capsule, more a polygon or a hull."""

    vertices: Vectors = Field(description="corners, [[x, y], ...] counterclockwise, or [[x, y, z], ...] for their hull")
    rounding: Rounding | None = Field(
        default=None, description="radius of its rounded corners over the grain's radius; that of the shape if absent"
    )


def read_parts(value: Any) -> list[Part]:
    """A list of tables; all that is wrong in them is told."""
    if not isinstance(value, (list, tuple)) or not len(value):
        raise ValueError("must be a list of tables such as { vertices = [[0, 0], [1, 0]], rounding = 0.2 }")
    parts, problems = [], []
    for index, one in enumerate(value):
        try:
            if not isinstance(one, (dict, Part)):
                raise SceneError([Problem("", one, "must be a table such as { vertices = [[0, 0], [1, 0]] }")])
            parts.append(Part(**one) if isinstance(one, dict) else one)
        except SceneError as error:
            problems += [problem.inside(f"[{index}]") for problem in error.problems]
    if problems:
        raise SceneError(problems)
    return parts


Parts = Annotated[
    Any,
    PlainValidator(read_parts),
    PlainSerializer(lambda parts: [part.model_dump(exclude_none=True) for part in parts]),
    schema("array", items=Part.model_json_schema()),
]


class Shape(Section):
    """A shape of grains: exactly one of `polygon`, `vertices`, `box`, `capsule`, `solid`, `file`, `centres`, `parts`.

    Lengths are those of a drawing: a grain has the shape, turned, and as large as its radius says.
    """

    name: Name = Field(description="name of the shape, for [[grains]]")
    polygon: Sides | None = Field(default=None, description="sides of a regular polygon, in 2D; a corner is on y")
    vertices: Vectors | None = Field(
        default=None,
        description="corners of a convex polygon, [[x, y], ...] counterclockwise; in 3D points, which get a hull",
    )
    box: Positives | None = Field(default=None, description="lengths of a rectangle, [a, b], or cuboid, [a, b, c]")
    capsule: Ratio | None = Field(default=None, description="length over width of a rod with round ends along x")
    solid: Literal["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"] | None = Field(
        default=None, description="name of a Platonic solid, in 3D"
    )
    file: FileName | None = Field(
        default=None, description="STL or OBJ file, of which the hull is taken, in 3D; relative to the scene file"
    )
    centres: Vectors | None = Field(
        default=None, description="centres of disks or spheres that move as one, [[x, y], ...]; with radii"
    )
    radii: Radii | None = Field(default=None, description="their radii, one for all or one for each, as drawn")
    parts: Parts | None = Field(
        default=None, description="convex parts that move as one, each { vertices, rounding }; they touch or overlap"
    )
    rounding: Rounding = Field(
        default=0.0,
        description="radius of rounded edges and corners, outside of the vertices, over the radius of the disk or"
        " sphere of equal volume; 0 is sharp",
    )
    mass: Literal["union", "parts"] = Field(
        default="union", description="centres and parts: space in common counts once, or as often as it occurs"
    )
    _made: dict[int, Any] = PrivateAttr(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        """The keys that say what it is; one, where there is no mistake."""
        return [key for key in KINDS if getattr(self, key) is not None]

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        kinds = self.kinds
        if self.name in ROUND.values():
            yield self.wrong("name", "is known already, for round grains; choose another")
        if not kinds:
            yield Problem(KINDS[0], ABSENT, f"missing; give one of {', '.join(KINDS)}")
        for key in kinds[1:]:
            yield self.wrong(key, f"given together with {kinds[0]}; keep one of them")
        own = list(self.key_mistakes(kinds)) if len(kinds) == 1 else []
        own += self.dimension_mistakes(dimension, kinds[0]) if len(kinds) == 1 else []
        yield from own
        if len(kinds) == 1 and not own:
            try:
                self.make(dimension)
            except SceneError as error:
                yield from error.problems

    def key_mistakes(self, kinds: list[str]) -> Iterator[Problem]:
        """Keys that do not belong to this kind of shape."""
        kind = kinds[0]
        if self.centres is not None and self.radii is None:
            yield Problem("radii", ABSENT, "missing; give the radius of all, or one for each centre")
        elif self.centres is not None and self.radii is not None and self.radii.size not in (1, len(self.centres)):
            message = f"needs one radius for each of the {len(self.centres)} centres, or one for all"
            yield Problem("radii", self.radii.size, message)
        elif kind != "centres" and self.given("radii"):
            yield self.wrong("radii", f"belongs to centres; remove radii or {kind}")
        if kind in OWN_RADII and self.given("rounding"):
            yield self.wrong("rounding", f"has no meaning with {kind}, which has radii of its own; remove it")
        if kind not in ("centres", "parts") and self.given("mass"):
            yield self.wrong("mass", f"belongs to centres or parts; remove mass or {kind}")

    def dimension_mistakes(self, dimension: int, kind: str) -> Iterator[Problem]:
        """A polygon in 3D, a solid in 2D, points with too few or too many components."""
        if kind == "polygon" and dimension == 3:
            yield self.wrong(kind, "has no volume in 3D; give solid, box, or vertices of a hull, or set dimension = 2")
        elif kind in ("solid", "file") and dimension == 2:
            yield self.wrong(kind, "is no shape in 2D; give polygon, box or vertices, or set dimension = 3")
        elif self.box is not None and len(self.box) != dimension:
            yield self.wrong(kind, f"must have {dimension} lengths, because dimension = {dimension}")
        given = {kind: getattr(self, kind)} if kind in ("vertices", "centres") else {}
        given |= {f"parts[{k}].vertices": part.vertices for k, part in enumerate(self.parts or ())}
        for place, points in given.items():
            if points.shape[1] != dimension:
                message = f"must be points of {dimension} numbers each, because dimension = {dimension}"
                yield Problem(place, points, message)

    @property
    def centre(self) -> Array:
        """(2,) or (3,) m, its centre of mass in the drawing: what a grain at the origin has there."""
        size = self.box if self.box is not None else self.vertices if self.vertices is not None else self.centres
        flat = self.polygon is not None or self.capsule is not None
        dimension = 2 if flat else 3 if size is None else np.shape(size)[-1]
        if self.parts is not None:
            dimension = self.parts[0].vertices.shape[1]
        return self.make(dimension).origin[:dimension]

    def make(self, dimension: int) -> MadeShape:
        """The shape with the volume of the round grain of radius 1; raises SceneError where it has none."""
        if dimension not in self._made:
            self._made[dimension] = self._make(dimension)
        return self._made[dimension]  # type: ignore[no-any-return]

    def _make(self, dimension: int) -> MadeShape:
        from ..shapes import build
        from .rounding import rounded

        kind = self.kinds[0]
        parts = [] if kind in OWN_RADII else self.cores(dimension)
        try:
            if kind == "capsule":
                return build.capsule(self.capsule or 1.0, dimension=dimension)
            if kind == "centres":
                return build.clump(self.centres, self.radii, mass=self.mass)
            return build.make_shape(rounded(parts, dimension, self.mass), dimension=dimension, mass=self.mass)
        except ValueError as error:
            value = [part.vertices.tolist() for part in self.parts] if self.parts else getattr(self, kind)
            raise SceneError([Problem(kind, value, str(error))]) from None

    def cores(self, dimension: int) -> list[MadePart]:
        """Its parts as drawn, each with its rounding as a share of the grain's radius; all mistakes are told."""
        from ..shapes.hull import make_part

        made: list[MadePart] = []
        problems: list[Problem] = []
        for place, points, rounding, near in self.drawings():
            try:
                made.append(make_part(points(), dimension=dimension, rounding=rounding, **near))
            except ValueError as error:
                value = self.parts[len(made) + len(problems)].vertices if self.parts else getattr(self, place)
                problems.append(Problem(place, value, str(error)))
        if problems:
            raise SceneError(problems)
        return made

    def drawings(self) -> Iterator[tuple[str, Callable[[], Any], float, dict[str, float]]]:
        """Place, vertices, rounding and how flat faces are, of each part."""
        from ..shapes import build
        from ..shapes.mesh_file import read_vertices
        from ..shapes.solids import platonic

        if self.parts is not None:
            for k, part in enumerate(self.parts):
                own = self.rounding if part.rounding is None else part.rounding
                yield f"parts[{k}].vertices", partial(np.asarray, part.vertices), own, {}
        elif self.polygon is not None:
            yield "polygon", partial(build.polygon_corners, self.polygon), self.rounding, {}
        elif self.box is not None:
            yield "box", partial(build.box_corners, self.box), self.rounding, {}
        elif self.solid is not None:
            yield "solid", partial(platonic, self.solid), self.rounding, {}
        elif self.file is not None:
            yield "file", partial(read_vertices, self.file), self.rounding, {"coplanar": build.SINGLE}
        elif self.vertices is not None:
            yield "vertices", partial(np.asarray, self.vertices), self.rounding, {}
