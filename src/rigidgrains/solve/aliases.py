"""Earlier names that scenes, programs, command lines and files may still use: one table, and one line of notice.

Who writes one gets what it means, and a notice of the present name. Files are read without a notice: nobody rewrites
them. A new alias is one entry here.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

METHODS = {"referee": "second-order"}  # of methods, and of solvers of matrices
TRIALS = {**METHODS, "holding": "associated"}  # of solvers in the laboratory
SETTINGS = {"hold": "associated", "referee": "fallback"}  # of accelerated sweeps, keys of [solver]
CLASSES = {"Springs": "SoftDEM"}  # of the front door
GONE = {"relaxed": "over-relaxed sweeps are no method any more; take 'accelerated', which needs fewer sweeps"}
FIGURES = {"referee": "fallback", "refereed": "fallbacks", "refereed_steps": "fallback_steps"}  # of steps and runs


class Renamed(FutureWarning):
    """An earlier name was used. It still works."""


def current(name: str, names: Mapping[str, str] = METHODS) -> str:
    """The present name of what may be called by an earlier one; that gets a notice. Raises for what is gone."""
    if name in GONE:
        raise ValueError(f"{name!r} is gone: {GONE[name]}")
    if name in names:
        _notice(name, names[name])
    return names.get(name, name)


def rename(words: Mapping[str, Any], names: Mapping[str, str], *, notice: bool = True) -> dict[str, Any]:
    """Settings by their present names; raises ValueError where one has both of its names."""
    for earlier in names.keys() & words.keys():
        if names[earlier] in words:
            raise ValueError(f"{earlier} is an earlier name of {names[earlier]}, which is given too; remove {earlier}")
        if notice:
            _notice(earlier, names[earlier])
    return {names.get(name, name): value for name, value in words.items()}


def with_earlier_names(names: Mapping[str, str]) -> Callable[[type[T]], type[T]]:
    """Let a class take these names too, as keywords and as attributes; they are no fields of it."""

    def adapt(known: Any) -> Any:
        make = known.__init__

        @functools.wraps(make)
        def begin(self: Any, *values: Any, **settings: Any) -> None:
            make(self, *values, **(rename(settings, names) if names.keys() & settings.keys() else settings))

        known.__init__ = begin
        for earlier, name in names.items():
            if name in known.__dataclass_fields__:
                setattr(known, earlier, _attribute(earlier, name))
        return known

    return adapt


def _attribute(earlier: str, name: str) -> property:
    """The attribute of the present name, by an earlier one."""

    def read(self: Any) -> Any:
        _notice(earlier, name)
        return getattr(self, name)

    def write(self: Any, value: Any) -> None:
        _notice(earlier, name)
        setattr(self, name, value)

    return property(read, write, doc=f"Earlier name of `{name}`.")


def _notice(earlier: str, name: str) -> None:
    warnings.warn(f"{earlier!r} is now called {name!r}; please write {name!r}", Renamed, stacklevel=4)
