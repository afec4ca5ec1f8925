"""Columns of a table in tiles given the same weight, lazily."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.scales import Standard
from dualfold.scale.moments import moments_of
from dualfold.scale.rows import plain_rows
from dualfold.scale.table import TiledTable


class _Standardize:
    """The task of `standardized`."""

    def __init__(self, standard: Standard) -> None:
        self.standard = standard

    def array(self, block: Any) -> Array:
        return self.standard.apply(plain_rows(block))

    def frame(self, block: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(self.array(block), index=block.index, columns=block.columns)


def standardized(rows: TiledTable) -> tuple[TiledTable, Standard]:
    """Every column shifted to mean 0 and scaled to standard deviation 1, and by what.

    One pass finds means and deviations (divisor n); the rows themselves stay lazy. A column that
    does not vary becomes 0.
    """
    moments = moments_of(rows)
    deviations = np.sqrt(np.maximum(np.diagonal(moments.scatter), 0.0) / moments.count)
    flat = deviations <= 10 * np.finfo(float).eps * np.abs(moments.mean)
    standard = Standard(moments.mean, np.where(flat, np.inf, deviations))
    task, X = _Standardize(standard), rows.collection
    if rows.is_frame:
        empty = rows.meta.astype(np.float64)
        lazy = X.map_partitions(task.frame, meta=empty)
    else:
        lazy = X.map_blocks(task.array, dtype=np.float64, meta=np.empty((0, 0)))
    return replace(rows, collection=lazy), standard
