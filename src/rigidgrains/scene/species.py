"""What tells grains of one group apart: materials and densities with their shares, and scalars of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ..model.formula import NoValue
from ..model.place_function import PlaceFunction
from ..model.scalars import check_name
from ..model.sizes import whole_shares
from .errors import ABSENT, Problem, SceneError, unknown_key
from .section import Section
from .values import NUMBER_LIST, Array, Positives, Shares, number, numbers, positive, positives

if TYPE_CHECKING:
    from .grains import Grains

Scalar = float | PlaceFunction | Array
T = TypeVar("T")


class Densities(Section):
    """A few densities, each with a share of the number or of the mass of the grains."""

    values: Positives = Field(description="the densities (kg/m^3; kg/m^2 in 2D)")
    shares: Shares = Field(description="one relative amount per density")
    by: Literal["number", "mass"] = Field(default="number", description="what the shares count: grains or their mass")

    def model_post_init(self, context: Any) -> None:
        have, want = len(self.shares), len(self.values)
        if have != want:
            message = f"needs one share for each value, and there are {want} values and {have} shares"
            raise SceneError([self.wrong("shares", f"{message}; {'add' if have < want else 'remove'} some")])

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """(count,) densities; shares are met to within one grain. Sizes are drawn apart, so that they share them."""
        amount = self.shares / self.values if self.by == "mass" else self.shares
        return np.asarray(rng.permutation(np.repeat(self.values, whole_shares(amount, count))))


def read_density(value: Any) -> float | Array | Densities | None:
    """A density, one for each grain, or a few with shares."""
    if value is None or isinstance(value, Densities):
        return value
    if isinstance(value, dict):
        known = list(Densities.model_fields)
        if strange := [Problem(key, value[key], unknown_key(key, known)) for key in value if key not in known]:
            raise SceneError(strange)
        return Densities(**value)
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value):
        return positives(value)
    return positive(value)


def read_materials(value: Any) -> dict[str, float] | None:
    """Shares of the number of grains by the name of their material; of one material alone by its name."""
    if value is None:
        return None
    if isinstance(value, str) and value:
        return {value: 1.0}
    if not isinstance(value, dict) or not value or not all(isinstance(name, str) and name for name in value):
        raise ValueError("must be the name of a material, or a table of shares such as { glass = 0.7, steel = 0.3 }")
    return read_each(value, lambda name, share: positive(share))


def read_scalars(value: Any) -> dict[str, Scalar] | None:
    """Numbers, formulas of the place, or lists with one number per grain, by the name of a scalar."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("must be a table of numbers, formulas or lists by name, such as { dye = 1.0 }")
    return read_each(value, read_scalar)


def read_each(table: dict[str, Any], read: Callable[[str, Any], T]) -> dict[str, T]:
    """The values of a table by name; all that cannot be read are told together, each at its place."""
    done: dict[str, T] = {}
    problems: list[Problem] = []
    for name, one in table.items():
        try:
            done[name] = read(name, one)
        except ValueError as problem:
            problems.append(Problem(str(name), one, str(problem)))
    if problems:
        raise SceneError(problems)
    return done


def read_scalar(name: str, value: Any) -> Scalar:
    check_name(name)
    if isinstance(value, PlaceFunction):
        return value
    if isinstance(value, str):
        return PlaceFunction(value)
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value):
        given = np.asarray(value)
        array = numbers(given.astype(float) if given.dtype.kind == "b" else given)
        if array.ndim != 1:
            raise ValueError("must be a list with one number per grain")
        return array
    return number(value)


def plain_scalars(scalars: dict[str, Scalar] | None) -> Any:
    """As they are written."""

    def plain(value: Scalar) -> Any:
        if isinstance(value, PlaceFunction):
            return value.text
        return value.tolist() if isinstance(value, np.ndarray) else value

    return None if scalars is None else {name: plain(value) for name, value in scalars.items()}


KIND = [{"type": "number"}, {"type": "string"}]
MaterialNames = Annotated[
    Any,
    PlainValidator(read_materials),
    PlainSerializer(lambda shares: next(iter(shares)) if shares is not None and len(shares) == 1 else shares),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
            ]
        }
    ),
]
Density = Annotated[
    Any,
    PlainValidator(read_density),
    PlainSerializer(
        lambda density: (
            density.model_dump()
            if isinstance(density, Section)
            else density.tolist()
            if isinstance(density, np.ndarray)
            else density
        )
    ),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, NUMBER_LIST, Densities.model_json_schema()]}),
]
Scalars = Annotated[
    Any,
    PlainValidator(read_scalars),
    PlainSerializer(plain_scalars),
    WithJsonSchema({"type": "object", "additionalProperties": {"anyOf": [*KIND, NUMBER_LIST]}}),
]


def species_mistakes(grains: Grains) -> Iterator[Problem]:
    """Lists that have another length than the group."""
    n, several = grains.number, grains.material is not None and len(grains.material) > 1
    if isinstance(grains.density, np.ndarray) and n and len(grains.density) != n:
        yield Problem("density", len(grains.density), f"needs one value for each of the {n} grains, or one for all")
    if several and isinstance(grains.density, Densities):
        message = "materials with shares and densities with shares do not say which go together"
        yield grains.wrong("density", f"{message}; give each [[material]] its density, and none here")
    for name, value in (grains.scalars or {}).items():
        if isinstance(value, np.ndarray) and n and len(value) != n:
            yield Problem(f"scalars.{name}", len(value), f"needs one value for each of the {n} grains, or one for all")


def scalar_rows(
    names: list[str], scalars: dict[str, Scalar] | None, position: Array, radius: Array, order: np.ndarray
) -> Array:
    """(n, k) of a group in its final order; NaN of scalars that it does not have. Lists are in the order as given."""
    rows, problems = np.full((len(radius), len(names)), np.nan), []
    for name, value in (scalars or {}).items():
        if isinstance(value, PlaceFunction):
            try:
                rows[:, names.index(name)] = value.values(position, radius)
            except NoValue as problem:
                problems.append(Problem(f"scalars.{name}", ABSENT, f"{problem}; take another formula"))
        else:
            rows[:, names.index(name)] = value if np.ndim(value) == 0 else value[order]  # type: ignore[index]
    if problems:
        raise SceneError(problems)
    return rows
