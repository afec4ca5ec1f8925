"""How much memory there is for tiles, and how large that lets one be."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.kernels.threads import thread_count

MAX_TILE_BYTES = 2**26  # larger tiles are not faster (docs/dev/notes/tables-in-tiles.md)
MIN_TILE_BYTES = 2**20
# What a task holds, in tiles: as read, as a table, as numbers, and what it makes of them.
TILES_A_TASK = 5
# Beside its tiles a task holds lists of neighbours and buffers of searches.
TASK_BYTES = 24 * 2**20
# Of a process before its first tile: Dask, pandas, pyarrow and their pools of memory.
# docs/dev/notes/tables-in-tiles.md has what new processes took.
IDLE_PROCESS_BYTES = 288 * 2**20

BYTE_UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}


@dataclass(frozen=True)
class Budget:
    """Bytes that all of this process may take, and how they are divided.

    limit : of the whole process; threads : tasks at a time; tile_bytes : of one tile
    """

    limit: int
    threads: int
    tile_bytes: int

    @property
    def most_tile(self) -> int:
        """The largest tile that a task could hold if it ran alone."""
        return (self.limit - IDLE_PROCESS_BYTES - TASK_BYTES) // TILES_A_TASK


def memory_bytes(given: object) -> int:
    """A number of bytes, or a text as "2GB" (10⁹) and "2GiB" (2³⁰)."""
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(given).upper())
    if match is None or match[2] not in BYTE_UNITS or float(match[1]) == 0:
        raise InvalidInput(
            Argument("memory_limit", given),
            " is no amount of memory; write it as '2GB' or '512MiB'",
        )
    return int(float(match[1]) * BYTE_UNITS[match[2]])


def budget(memory_limit: Any = None) -> Budget:
    """The tiles that a limit allows; None is half of the machine's memory."""
    limit = half_of_memory() if memory_limit is None else memory_bytes(memory_limit)
    room, least = limit - IDLE_PROCESS_BYTES, TASK_BYTES + TILES_A_TASK * MIN_TILE_BYTES
    if room < least:
        raise TooLarge(
            Argument("memory_limit", memory_limit),
            " leaves no room for a tile: Python and its packages take "
            f"{IDLE_PROCESS_BYTES // 10**6} MB. "
            f"Give {(IDLE_PROCESS_BYTES + least) // 10**6 + 1} MB or more",
        )
    threads = max(1, min(thread_count(), room // (TASK_BYTES + TILES_A_TASK * 8 * MIN_TILE_BYTES)))
    tile = (room // threads - TASK_BYTES) // TILES_A_TASK
    return Budget(limit, threads, min(MAX_TILE_BYTES, tile))


def half_of_memory() -> int:
    """Half of the memory of this machine; 4 GB where it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 10**9
