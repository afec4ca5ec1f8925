"""How much memory there is for tiles, and how large that lets one be."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.kernels.threads import thread_count

# A tile of more bytes is no faster: 64 MB are read in a twentieth of a second.
MOST_TILE, LEAST_TILE = 2**26, 2**20
# What a task holds, in tiles: as read, as a table, as numbers, and what it makes of them.
TILES_A_TASK = 5
# And beside them: lists of neighbours, buffers of searches.
A_TASK = 24 * 2**20
# What is imported and made on the way (Dask, pandas, pyarrow and their pools of memory).
# A new process took 265 MB after a fit of Parquet, 300 where landmarks were fitted; with 256 MiB,
# and nothing for a task beside its tiles, a limit of 350 MB was passed by 4 and by 43.
AT_REST = 288 * 2**20

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
          "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}  # fmt: skip


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
        return (self.limit - AT_REST - A_TASK) // TILES_A_TASK


def memory_bytes(given: Any) -> int:
    """A number of bytes, or a text as "2GB" (10⁹) and "2GiB" (2³⁰)."""
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(given).upper())
    if found is None or found[2] not in _UNITS or float(found[1]) == 0:
        raise InvalidInput(
            Argument("memory_limit", given),
            " is no amount of memory; write it as '2GB' or '512MiB'",
        )
    return int(float(found[1]) * _UNITS[found[2]])


def budget(memory_limit: Any = None) -> Budget:
    """The tiles that a limit allows; None is half of the machine's memory."""
    limit = half_of_memory() if memory_limit is None else memory_bytes(memory_limit)
    room, least = limit - AT_REST, A_TASK + TILES_A_TASK * LEAST_TILE
    if room < least:
        raise TooLarge(
            Argument("memory_limit", memory_limit),
            f" leaves no room for a tile: Python and its packages take {AT_REST // 10**6} MB. "
            f"Give {(AT_REST + least) // 10**6 + 1} MB or more",
        )
    threads = max(1, min(thread_count(), room // (A_TASK + TILES_A_TASK * 8 * LEAST_TILE)))
    tile = (room // threads - A_TASK) // TILES_A_TASK
    return Budget(limit, threads, min(MOST_TILE, tile))


def half_of_memory() -> int:
    """Half of the memory of this machine, 4 GB where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 10**9
