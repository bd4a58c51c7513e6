"""Lists of pairs: who is near whom, in rows, and what each pair remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..runtime.memory import Workspace
from ..runtime.threads import in_parts, spread
from .colours import MANY
from .paint import paint

Index = NDArray[np.int32]

TILE = 4096  # grains in a tile: with both tables of velocities they fit into the cache of a core
PART = 1024  # grains in a part of the loops that pick and number candidates, a quarter of a tile


def rows_in_tile(grains: int, tables: int) -> int:
    """Grains in a tile, see colours.py; all, if they are few. tables : of forces and velocities in each sweep."""
    return TILE if grains * tables > MANY else max(grains, 1)


@dataclass
class PairList:
    """Pairs in rows: grain i meets partner[start[i]:start[i + 1]].

    last  : for each pair the row of its contact in the present step, or in the previous one before there are rows;
            -1 for none
    image : code of the image of the partner that is meant, see cell.py; 0 for the partner itself
    tested : pairs whose distance was looked at in the search
    colour : of each pair, see `painted`; -1 - colour for those that are no candidates in this step
    tile : grains in a tile, within which pairs have colours of their own; 0 without colours, None before they have any
    """

    start: Index
    partner: Index
    last: Index
    image: NDArray[np.int8]
    tested: int = 0
    colour: NDArray[np.int8] | None = None
    tile: int | None = None

    def painted(self, tile: int, name: NDArray[np.int64], work: Workspace) -> NDArray[np.int8]:
        """Colours such that pairs of one colour share no grain, see paint.py; all 0 where tile is 0."""
        if self.colour is None or self.tile != tile:
            if self.colour is None:
                self.colour = np.empty(len(self.partner), np.int8)
            self.tile = tile
            self.colour.fill(0)
            if tile:
                paint(self.start, self.partner, self.image, name, tile, work, self.colour)
        return self.colour

    def set_aside(self, work: Workspace) -> PairList:
        """A copy of the rows in memory that is borrowed: new lists take the place of these, and look at them."""
        start, partner = _moved(self.start, "start", work), _moved(self.partner, "partner", work)
        return PairList(start, partner, _moved(self.last, "last", work), _moved(self.image, "image", work))

    @classmethod
    def empty(cls, grains: int) -> PairList:
        none = np.empty(0, np.int32)
        return cls(np.zeros(grains + 1, np.int32), none, none.copy(), np.empty(0, np.int8))

    @classmethod
    def new(cls, start: Index, work: Workspace, of: str = "") -> PairList:
        """Pairs with grains themselves, without partners and last rows yet; `of` as in `near_pairs`."""
        count = int(start[-1])
        partner, last = (work.take(f"{name}{of}", count, kind=np.int32) for name in ("partner", "last"))
        image, colour = work.take(f"image{of}", count, kind=np.int8), work.take("colour", count, kind=np.int8)
        image.fill(0)
        return cls(start, partner, last, image, colour=colour)


def _moved(rows: NDArray[Any], name: str, work: Workspace) -> NDArray[Any]:
    to = work.borrow(f"old {name}", len(rows), kind=rows.dtype)
    in_parts(lambda first, last: np.copyto(to[first:last], rows[first:last]), len(rows))
    return to


def inherit(new: PairList, old: PairList) -> None:
    """Hand each pair of a new list the contact row it had in the old one: pairs keep their identity."""
    lists = new.start, new.partner, new.image, new.last, old.start, old.partner, old.image, old.last
    spread(_inherit, len(new.start) - 1, *lists, weight=4)


@kernel
def _inherit(begin, end, start, partner, image, last, old_start, old_partner, old_image, old_last):
    """The pairs of some grains."""
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            for m in range(old_start[i], old_start[i + 1]):
                if old_partner[m] == partner[k] and old_image[m] == image[k]:
                    last[k] = old_last[m]
                    break
