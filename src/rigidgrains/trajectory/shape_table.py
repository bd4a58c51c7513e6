"""The shapes of grains in a file: one text, exact to the bit; grains have the number of theirs."""

from __future__ import annotations

import json
from typing import Any

from ..shapes.catalogue import Catalogue
from .errors import Mismatch


def describe(catalogue: Catalogue | None) -> str:
    """As JSON; empty where all grains are round."""
    return "" if catalogue is None else json.dumps(catalogue.words())


def rebuild(text: str) -> Catalogue | None:
    """The catalogue that `describe` told of."""
    return from_words(json.loads(text)) if text else None


def from_words(words: Any) -> Catalogue | None:
    """The same from words that were read already; None for none."""
    if not words:
        return None
    try:
        return Catalogue.from_words(words)
    except (KeyError, TypeError, ValueError) as problem:
        raise Mismatch(f"its shapes cannot be read ({problem})") from None
