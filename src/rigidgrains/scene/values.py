"""The kinds of values a scene is written in: numbers, vectors, lists of them; each says plainly what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, PlainSerializer, PlainValidator, StringConstraints, WithJsonSchema

from ..model.time_functions import Constant, TimeFunction, read_time_function

Array = NDArray[np.float64]
FARTHEST = 1e100


def number(value: Any) -> float:
    """A finite real number; truth values and texts are not numbers."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError("must be a number")
    if not -FARTHEST <= value <= FARTHEST:
        raise ValueError("must be a finite number")
    return float(value)


def positive(value: Any) -> float:
    if (x := number(value)) <= 0.0:
        raise ValueError("must be greater than zero")
    return x


def time_step(value: Any) -> float | str:
    """A number of seconds, or the word auto."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError("must be a number of seconds, or 'auto'")
        return value
    return positive(value)


def travel(value: Any) -> float:
    if not 0.0 < (x := number(value)) <= 1.0:
        raise ValueError("must be greater than zero and at most 1")
    return x


def gap_policy(value: Any) -> float | str:
    """The name of a gap policy, or the part of an overlap that a step removes."""
    if isinstance(value, str):
        if value not in ("g_pos", "g"):
            raise ValueError("must be 'g_pos', 'g' or a number between 0 and 1")
        return value
    return fraction(value)


def not_negative(value: Any) -> float:
    if (x := number(value)) < 0.0:
        raise ValueError("must not be negative")
    return x


def moment(value: Any) -> float | str:
    """A time (s), or the name of the stage that begins then."""
    if isinstance(value, str):
        if not value:
            raise ValueError("must be a time in seconds, or the name of a stage")
        return value
    return not_negative(value)


def coefficient(value: Any) -> float:
    """A number that is not negative; infinity is allowed."""
    return math.inf if isinstance(value, (float, np.floating)) and value == math.inf else not_negative(value)


def fraction(value: Any) -> float:
    if not 0.0 <= (x := number(value)) <= 1.0:
        raise ValueError("must lie between 0 and 1")
    return x


def signed_fraction(value: Any) -> float:
    if not -1.0 <= (x := number(value)) <= 1.0:
        raise ValueError("must lie between -1 and 1")
    return x


def whole(least: int, most: int) -> Callable[[Any], int]:
    """Validator of whole numbers from `least` to `most`."""

    def check(value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise ValueError("must be a whole number")
        if value < least:
            raise ValueError(f"must be at least {least}")
        if value > most:
            raise ValueError(f"must be at most {most}")
        return int(value)

    return check


def dimension(value: Any) -> int:
    """2 or 3; not 2.0, which counts nothing."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value not in (2, 3):
        raise ValueError("must be 2 or 3, a whole number")
    return int(value)


def numbers(value: Any) -> Array:
    """Numbers or lists of numbers of equal length, as an array."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("must be a list of vectors of equal length") from None
    if array.dtype.kind not in "iuf" or array.size == 0:
        raise ValueError("must be made of numbers")
    array = array.astype(float)
    bad = ~(np.abs(array) <= FARTHEST)
    if bad.any():
        raise ValueError(f"must be finite; entry {int(np.argwhere(bad)[0][0]) if array.ndim else 0} is not")
    array.setflags(write=False)
    return array


def vectors(value: Any) -> Array:
    """A list of vectors of equal length, as an array (n, components)."""
    array = numbers(value)
    if array.ndim != 2:
        raise ValueError("must be a list of vectors, such as [[0.0, 0.0], [1.0, 1.0]]")
    return array


def vector(value: Any) -> tuple[float, ...]:
    """A vector of two or three components; the scene checks that they are as many as its dimension."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) not in (2, 3):
        raise ValueError("must be a vector: a list of as many numbers as the scene has dimensions")
    return tuple(number(component) for component in value)


def direction(value: Any) -> tuple[float, ...]:
    """A vector of some length; stored with length one."""
    x = vector(value)
    length = math.hypot(*x)
    if length == 0.0:
        raise ValueError("has no length; give a direction such as [0, 1] or [0, 0, 1]")
    return tuple(component / length for component in x)


def time_function(value: Any) -> float | TimeFunction:
    """A number, or a function of time: a formula, a table, in Python also a function."""
    read = read_time_function(value)
    return read.number if isinstance(read, Constant) else read


def moving_vector(value: Any) -> tuple[float | TimeFunction, ...]:
    """A vector whose components may be functions of time."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) not in (2, 3):
        raise ValueError("must be a vector: a list of as many numbers or formulas as the scene has dimensions")
    return tuple(time_function(component) for component in value)


def turning(value: Any) -> Any:
    """A number or function about z in 2D, a vector of them in 3D."""
    return moving_vector(value) if isinstance(value, (list, tuple, np.ndarray)) else time_function(value)


def moves(value: Any) -> bool:
    """True when a number, or a component of a vector, depends on time."""
    return any(not isinstance(part, float) for part in (value if isinstance(value, tuple) else (value,)))


def positives(value: Any) -> Array:
    """A list of numbers greater than zero."""
    array = numbers(value)
    if array.ndim != 1 or not (array > 0.0).all():
        raise ValueError("must be a list of numbers greater than zero")
    return array


def plate_size(value: Any) -> float | tuple[float, ...]:
    """One length, or a list of them."""
    return tuple(map(positive, value)) if isinstance(value, (list, tuple, np.ndarray)) else positive(value)


def shares(value: Any) -> Array:
    """A list of relative amounts."""
    array = numbers(value)
    if array.ndim != 1 or (array < 0.0).any() or not array.sum() > 0.0:
        raise ValueError("must be a list of numbers, none negative and not all zero")
    return array


def one_line(name: str) -> str:
    """A name that can stand in a line of a report."""
    if not name.isprintable():
        raise ValueError("must be of letters, digits and signs in one line")
    return name


def file_name(value: Any) -> str:
    """The path of a file."""
    if not isinstance(value, (str, Path)) or not str(value):
        raise ValueError("must be the path of a file, in quotes")
    return str(value)


def schema(kind: str, **more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": kind, **more})


def plain_words(value: Any) -> Any:
    """Functions of time as they are written."""
    if isinstance(value, tuple):
        return [plain_words(part) for part in value]
    return value.words() if value is not None and not isinstance(value, float) else value


KINDS = [{"type": "number"}, {"type": "string"}, {"type": "object"}]
TIME_FUNCTION = {"anyOf": KINDS}
NUMBER_LIST = {"type": "array", "items": {"type": "number"}}
as_list = PlainSerializer(lambda array: array.tolist())

Number = Annotated[float, PlainValidator(number), schema("number")]
Positive = Annotated[float, PlainValidator(positive), schema("number", exclusiveMinimum=0)]
TimeStep = Annotated[
    Any,
    PlainValidator(time_step),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"const": "auto"}]}),
]
GapPolicy = Annotated[
    Any,
    PlainValidator(gap_policy),
    WithJsonSchema({"anyOf": [{"enum": ["g_pos", "g"]}, {"type": "number", "minimum": 0, "maximum": 1}]}),
]
TravelFraction = Annotated[float, PlainValidator(travel), schema("number", exclusiveMinimum=0, maximum=1)]
NotNegative = Annotated[float, PlainValidator(not_negative), schema("number", minimum=0)]
Moment = Annotated[
    Any,
    PlainValidator(moment),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}),
]
Coefficient = Annotated[float, PlainValidator(coefficient), schema("number", minimum=0)]
Fraction = Annotated[float, PlainValidator(fraction), schema("number", minimum=0, maximum=1)]
SignedFraction = Annotated[float, PlainValidator(signed_fraction), schema("number", minimum=-1, maximum=1)]
Vector = Annotated[
    tuple[float, ...],
    PlainValidator(vector),
    PlainSerializer(list),
    schema("array", items={"type": "number"}, minItems=2),
]
Direction = Annotated[
    tuple[float, ...],
    PlainValidator(direction),
    PlainSerializer(list),
    schema("array", items={"type": "number"}, minItems=2),
]
written = PlainSerializer(plain_words)
Timed = Annotated[Any, PlainValidator(time_function), written, WithJsonSchema(TIME_FUNCTION)]
TimedVector = Annotated[Any, PlainValidator(moving_vector), written, schema("array", items=TIME_FUNCTION, minItems=2)]
Turning = Annotated[
    Any,
    PlainValidator(turning),
    written,
    WithJsonSchema({"anyOf": [*KINDS, {"type": "array", "items": TIME_FUNCTION}]}),
]
Positives = Annotated[Array, PlainValidator(positives), as_list, schema("array", items={"type": "number"})]
Shares = Annotated[Array, PlainValidator(shares), as_list, schema("array", items={"type": "number"})]
Vectors = Annotated[Array, PlainValidator(vectors), as_list, schema("array", items=NUMBER_LIST)]
Numbers = Annotated[
    Array,
    PlainValidator(numbers),
    as_list,
    WithJsonSchema({"anyOf": [{"type": "number"}, NUMBER_LIST, {"type": "array", "items": NUMBER_LIST}]}),
]
PlateSize = Annotated[Any, PlainValidator(plate_size), WithJsonSchema({"anyOf": [{"type": "number"}, NUMBER_LIST]})]
MOST = 2**31 - 1
Count = Annotated[int, PlainValidator(whole(1, 2**63 - 1)), schema("integer", minimum=1)]
Seed = Annotated[int, PlainValidator(whole(0, 2**63 - 1)), schema("integer", minimum=0)]
Whole = Seed
Dimension = Annotated[int, PlainValidator(dimension), WithJsonSchema({"enum": [2, 3], "type": "integer"})]
FileName = Annotated[str, PlainValidator(file_name), schema("string")]
Name = Annotated[str, StringConstraints(strict=True, min_length=1), AfterValidator(one_line)]


def in_space(x: Any) -> Array:
    """Vectors (..., 2) or (..., 3) with three components; z = 0 in 2D."""
    x = np.asarray(x, dtype=float)
    out = np.zeros((*x.shape[:-1], 3))
    out[..., : x.shape[-1]] = x
    return out
