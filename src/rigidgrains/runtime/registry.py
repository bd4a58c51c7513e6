"""Names of classes in files, scenes and command lines: a class may be renamed or moved, and its name in files stays.

Each kind of thing that files name (methods, orders, criteria, contact laws, wall shapes, observers) has one registry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

OWN = "own."  # before the name of a class that is in no registry: it tells a reader what there was, and finds nothing


class UnknownName(ValueError):
    """A file, a scene or a command line has a name, or a version, that is not known here."""


class Registry(Mapping[str, type[T]]):
    """Classes of one kind by their names.

    kind    : what they are, for messages
    classes : by name, all of version 1
    """

    def __init__(self, kind: str, classes: Mapping[str, type[T]] | None = None) -> None:
        self.kind = kind
        self._classes: dict[str, type[T]] = {}
        self._versions: dict[str, int] = {}
        self._earlier: dict[str, str] = {}
        for name, known in (classes or {}).items():
            self.register(name, known)

    def register(self, name: str, known: type[T], *, version: int = 1, earlier: Iterable[str] = ()) -> None:
        """Give a class its name.

        version : of what files keep of it; raise it with a change that older programs would misread
        earlier : names that files of earlier versions have for it
        """
        if "/" in name or name.startswith(OWN):
            raise ValueError(
                f"{name!r} is no name of a {self.kind}; give one without '/', and without {OWN!r} before it"
            )
        if self._classes.get(name, known) is not known:
            raise ValueError(f"there is a {self.kind} {name!r} already, {self._classes[name]!r}; take another name")
        self._classes[name], self._versions[name] = known, version
        self._earlier |= dict.fromkeys(earlier, name)

    def __getitem__(self, name: str) -> type[T]:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def name_of(self, thing: Any) -> str | None:
        """Name of the class of a thing; None if that class itself is not here, be it a subclass of one that is."""
        return next((name for name, known in self._classes.items() if type(thing) is known), None)

    def version(self, name: str) -> int:
        """Version of what files keep of a class."""
        return self._versions[name]

    def word_of(self, thing: Any) -> str:
        """What a file says of a thing in one word: its name, NAME/VERSION after the first version, own.CLASS of a class
        that is not here."""
        name = self.name_of(thing)
        if name is None:
            return OWN + type(thing).__name__
        return name if self._versions[name] == 1 else f"{name}/{self._versions[name]}"

    def find(self, said: str, version: int | None = None) -> type[T]:
        """The class of which a file says this word; UnknownName if it, or its version, is not known here."""
        name, _, told = said.partition("/")
        name = self._earlier.get(name, name)
        if name not in self._classes:
            raise UnknownName(f"the {self.kind} {said!r} is unknown; there are {', '.join(self)}")
        version = version if version is not None else int(told) if told.isdigit() else 1
        if version > self._versions[name]:
            newest = self._versions[name]
            told = f"the {self.kind} {name!r} of version {version}, newer than {newest}, the last that is known here"
            raise UnknownName(f"{told}; update rigidgrains")
        return self._classes[name]

    def means(self, said: str, thing: Any) -> bool:
        """Whether a file says this word of a thing; UnknownName if it is one of a newer version."""
        name = said.partition("/")[0]
        if self._earlier.get(name, name) in self._classes:
            return self._classes[self._earlier.get(name, name)] is type(thing) and self.find(said) is type(thing)
        # Files of earlier versions have the bare name of a class that is in no registry.
        return self.name_of(thing) is None and name.removeprefix(OWN) == type(thing).__name__
