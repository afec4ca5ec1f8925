"""Some rows of a table in tiles, gathered here."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.scale.engine import compute
from dualfold.scale.rows import dense_rows, plain_rows, refuse_gaps
from dualfold.scale.table import TiledTable


def drawn_row_numbers(n: int, count: int, seed: int) -> Array:
    """`count` of n row numbers in ascending order, whatever the tiles and workers are."""
    if count >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False, shuffle=False))


def gather_rows(
    rows: TiledTable, numbers: Array, *, raw: bool = False, finite: bool = False
) -> Any:
    """The rows of these ascending numbers, as one array (`raw`: as a data frame if they are).

    finite : refuse NaN and infinity, by the names of the tile and the row
    """
    bounds = np.concatenate([[0], np.cumsum(rows.lengths)])
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < bounds[-1]:
        raise InvalidInput(f"there are {bounds[-1]} rows, and one beyond them was asked for")
    cuts = np.searchsorted(numbers, bounds)
    asked = [
        numbers[first:last] - start
        for first, last, start in zip(cuts[:-1], cuts[1:], bounds[:-1], strict=True)
    ]
    wanted = [place for place, some in enumerate(asked) if len(some)]
    work = _frame_rows if raw else _finite_rows if finite else _array_rows
    tasks = rows.each(work, asked, raw=True)
    found = compute(
        "gathering rows", *[tasks[place] for place in wanted], threads=rows.budget.threads
    )
    if raw and rows.is_frame:
        import pandas as pd

        return pd.concat(found)
    return np.concatenate([np.empty((0, rows.width), rows.dtype), *found])


def _frame_rows(block: Any, places: Array) -> Any:
    return block.iloc[places] if hasattr(block, "iloc") else block[places]


def _array_rows(block: Any, places: Array) -> Array:
    return np.ascontiguousarray(dense_rows(plain_rows(_frame_rows(block, places))))


def _finite_rows(block: Any, places: Array) -> Array:
    found = _array_rows(block, places)
    refuse_gaps(found, places)
    return found
