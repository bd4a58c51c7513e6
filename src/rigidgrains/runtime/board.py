"""The board: where loops are posted for threads that wait inside compiled code.

A loop is posted as a set of shares, a bit for each. A thread takes its own share, which lies where it was the last
time, then what nobody has taken. The thread that has posted it does so too, and waits until all are done. Who has
waited for long dismisses all; they go back to Python, and are called again when there is work, see team.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .barrier import fetch_add, give_way, look, share
from .compiled import kernel
from .handing import ROOM, call, exchange, move, pack, pause, replace, take_bits

LARGEST = 48  # threads in a team: shares are bits of a number
DISMISSED = 1 << 62  # no bit of any share: who has seen a share before takes nothing of a team that has gone since
OPEN, DONE, RUNNER, PARTS, SHARES, FAILED = 0, 16, 32, 33, 34, 48  # places of a board, in cache lines of their own
POLITE = 40  # looks at what others have not taken before a thread takes it
SPINS = 2000  # looks at the board before a thread lets others run, some 0.1 ms
PATIENCE = 4000  # times that it lets others run before it dismisses the team, some ms


def new_board() -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where loops are posted: a board, and room for their arguments."""
    board = np.zeros(64, np.int64)
    board[OPEN] = DISMISSED
    return board, np.zeros(ROOM, np.uint8)


@kernel
def serve(board, room, me):
    """Take shares of what is posted, until somebody dismisses all."""
    waited = 0
    while True:
        now = look(board, OPEN)
        if now == DISMISSED:
            return
        if now == 0:
            waited += 1
            if waited > SPINS:
                give_way()
                if waited > SPINS + PATIENCE and replace(board, OPEN, 0, DISMISSED):
                    return
            else:
                pause()
            continue
        own, polite = now >> me & 1, 0
        while own == 0 and polite < POLITE:
            pause()
            polite += 1
        take_some(board, room, me)
        waited = 0


@kernel
def take_some(board, room, me):
    """Run one share of those that are left, one's own if it is; returns whether there was any."""
    left = look(board, OPEN)
    if left == 0 or left == DISMISSED:
        return False
    mine = me if left >> me & 1 else lowest(left)
    if take_bits(board, OPEN, ~(np.int64(1) << mine)) >> mine & 1 == 0:
        return True  # another was faster
    first, last = share(0, look(board, PARTS), mine, look(board, SHARES))
    failed, runner = 0, look(board, RUNNER)
    for part in range(first, last):
        failed |= call(runner, room, part)
    if failed:
        fetch_add(board, FAILED, 1)
    fetch_add(board, DONE, 1)
    return True


@kernel
def dismiss(board):
    """Let all go who wait."""
    replace(board, OPEN, 0, DISMISSED)


@kernel
def lowest(bits):
    """The lowest bit that is set."""
    k = 0
    while bits >> k & 1 == 0:
        k += 1
    return k


@kernel
def post(board, runner, parts, shares, taken):
    """Post a loop in so many shares, of which the first ones are taken; returns whether there is a team to see it."""
    exchange(board, RUNNER, runner)
    exchange(board, PARTS, parts)
    exchange(board, SHARES, shares)
    exchange(board, FAILED, 0)
    exchange(board, DONE, taken)
    return exchange(board, OPEN, (np.int64(1) << shares) - (np.int64(1) << taken)) != DISMISSED


@kernel
def finish(board):
    """Wait until all shares are done; returns how many have failed."""
    spins, shares = 0, look(board, SHARES)
    while look(board, DONE) < shares:
        spins += 1
        if spins > SPINS:
            give_way()
        else:
            pause()
    return look(board, FAILED)


@kernel
def run_parts(board, room, shares, address, like, rows, part, results, args):
    """A loop over parts of rows, on this thread and the team; returns how many shares have failed."""
    runner = pack(room, address, like, rows, part, results, args)
    seen = post(board, runner, len(results), shares, 0)
    while take_some(board, room, 0):
        pass
    failed = finish(board)
    if not seen:
        dismiss(board)
    return failed


@kernel
def begin_together(board, room, threads, address, like, args):
    """A loop that others begin at once, as threads 1 and up; returns whether there is a team to see it."""
    return post(board, pack(room, address, like, threads, 1, None, args), threads, threads, 1)


@kernel
def copy(first, last, numbers, to):
    """Copy some numbers, as the system copies memory: it does not read what it writes over."""
    move(to, numbers, first, last)
