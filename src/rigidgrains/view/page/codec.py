"""Whole numbers to few bytes: the best of several predictions, then byte planes; deflate does the rest.

A packet is the length of its head (4 bytes), its head (JSON) and its channels one after another. The head names the
channels: [name, mode, planes, count]. With planes = 0 a channel is plain 32-bit floats.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Whole = NDArray[np.int32]

# As they are; by the number before; by the last frame; by the last two frames. From GUESS on: by guesses that the
# reader can make too.
RAW, ALONG, HOLD, GLIDE, GUESS = range(5)
SAMPLE = 4096  # numbers by which predictions are compared


class Packet:
    """Collects the head and the channels of a frame."""

    def __init__(self, head: dict[str, Any]) -> None:
        self.head = head
        self._channels: list[tuple[str, int, int, int]] = []
        self._bytes: list[bytes] = []

    def add(self, name: str, whole: Whole, before: Sequence[Whole] = (), guesses: Sequence[Whole] = ()) -> None:
        """Whole numbers; `before` are the same of the last frames, the newest first."""
        mode, difference = _predict(whole, before, guesses)
        folded = ((difference << 1) ^ (difference >> 31)).astype(np.uint32)
        planes = max(1, (int(folded.max(initial=0)).bit_length() + 7) // 8)
        for k in range(planes):
            self._bytes.append(((folded >> (8 * k)) & 255).astype(np.uint8).tobytes())
        self._channels.append((name, mode, planes, len(whole)))

    def add_floats(self, name: str, value: Array) -> None:
        self._bytes.append(np.ascontiguousarray(value, dtype="<f4").tobytes())
        self._channels.append((name, RAW, 0, value.size))

    def pack(self) -> bytes:
        head = json.dumps(self.head | {"channels": self._channels}, separators=(",", ":")).encode()
        return b"".join([len(head).to_bytes(4, "little"), head, *self._bytes])


def _predict(whole: Whole, before: Sequence[Whole], guesses: Sequence[Whole]) -> tuple[int, Whole]:
    """The mode that leaves least, and what it leaves."""
    choices = [(RAW, whole), (ALONG, np.diff(whole, prepend=np.int32(0)))]
    if before:
        choices.append((HOLD, whole - before[0]))
    if len(before) > 1:
        choices.append((GLIDE, whole - 2 * before[0] + before[1]))
    choices += [(GUESS + k, whole - guess) for k, guess in enumerate(guesses)]
    return min(choices, key=lambda choice: _cost(choice[1]))


def _cost(difference: Whole) -> float:
    every = max(1, difference.size // SAMPLE)
    return float(np.log2(1.0 + np.abs(difference[::every])).sum())
