"""Count, mean and scatter of a table in tiles: of numbers, and of encoded categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.data.scales import Standard
from dualfold.errors import InvalidInput
from dualfold.methods.fitting.moments import Moments
from dualfold.methods.maps.profile_map import profiles, row_sums
from dualfold.scale.rows import plain_rows
from dualfold.scale.tiled_table import TiledTable
from dualfold.weights.encoding import (
    Encoding,
    Number,
    category,
    encoded_columns,
    sources_of,
    words_of,
)
from dualfold.weights.row_weights import RowWeights, present_rows, weights_of_all_rows

__all__ = ["Moments", "moments_of"]


def moments_of(rows: TiledTable, weights: Array | None = None) -> Moments:
    """The moments of a table in tiles, in one pass; their bits depend on the tiles alone.

    weights : validated weights of all rows
    """
    size = 8 * rows.width**2
    more = weights_of_tiles(rows, weights)
    total = rows.total("adding up tiles", _tile_moments, _sum_of_moments, *more, result_bytes=size)
    if total is None or (weights is None and total.count < 2):
        raise InvalidInput("the table has fewer than 2 rows in all of its tiles")
    moments: Moments = total
    return moments


def weights_of_tiles(rows: TiledTable, weights: Array | None) -> tuple[list[Array], ...]:
    """The weights as they count, cut as the tiles are; () for none."""
    return () if weights is None else (rows.parts_of(weights_of_all_rows(weights)),)


def _tile_moments(rows: Rows, *weights: Array) -> Moments | None:
    """In float64 whatever the rows are: what single precision loses would depend on the tile.

    None of a tile in which every row has the weight 0.
    """
    if not weights:
        return Moments.of(rows, precision=np.float64)
    (given,) = weights
    if not given.any():
        return None
    present = RowWeights(given[given > 0])
    return Moments.of(present_rows(rows, given), precision=np.float64, weights=present)


def _sum_of_moments(one: Moments | None, other: Moments | None) -> Moments | None:
    return one + other if one is not None and other is not None else one or other


class _Levels:
    """The levels of each column of categories in a tile; merged by their union."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def __call__(self, block: Any) -> dict[str, set[str]]:
        levels_of_names = {
            name: {word for word in words_of(block[name]) if word} for name in self.names
        }
        for name, levels in levels_of_names.items():
            category(name, (), sorted(levels))  # too many in one tile are too many
        return levels_of_names


def _union_of_levels(one: dict[str, set[str]], other: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name: one[name] | other[name] for name in one}


def encodings_of(rows: TiledTable) -> tuple[Encoding, ...]:
    """Encodings of the columns of a data frame in tiles; () where they are numbers."""
    numbers = {str(name) for name in rows.meta.select_dtypes("number").columns}
    names = [str(name) for name in rows.meta.columns]
    others = [name for name in names if name not in numbers]
    if not others:
        return ()
    levels = rows.total("looking for categories", _Levels(others), _union_of_levels, raw=True)
    if levels is None:
        raise InvalidInput("the table has no rows in any of its tiles")
    return tuple(
        category(name, (), sorted(levels[name])) if name in levels else Number(name)
        for name in names
    )


class _EncodedMoments:
    """The moments of a tile whose columns are encoded_columns; gaps are refused by name."""

    def __init__(self, encodings: tuple[Encoding, ...]) -> None:
        self.encodings = encodings

    def __call__(self, block: Any, *weights: Array) -> Moments | None:
        columns = {str(name): column for name, column in block.items()}
        rows = encoded_columns(self.encodings, columns)
        gaps = ~np.isfinite(rows).all(axis=0)
        if gaps.any():
            name = sources_of(self.encodings)[int(np.argmax(gaps))]
            raise InvalidInput(f"'{name}' contains NaN or has gaps; leave these rows out first")
        return _tile_moments(rows, *weights)


def encoded_moments(
    rows: TiledTable, encodings: tuple[Encoding, ...], weights: Array | None = None
) -> Moments:
    """The moments of the columns of 0, 1 and numbers; of the numbers as they are for ()."""
    if not encodings:
        return moments_of(rows, weights)
    width = sum(len(encoding.features) for encoding in encodings)
    total = rows.total(
        "adding up tiles",
        _EncodedMoments(encodings),
        _sum_of_moments,
        *weights_of_tiles(rows, weights),
        result_bytes=8 * width**2,
        raw=True,
    )
    moments: Moments = total
    return moments


def _tile_profile_moments(rows: Rows, *weights: Array) -> Moments | None:
    """None of a tile without counts.

    Profiles and sums of m numbers ≥ 0 are right to k = (m + 2)·eps, as a share, and profiles are
    no longer than 1: the scatter is off by 3k for each count, the mean by 2k; twice that is added.
    """
    (given,) = weights or (1.0,)
    counts = row_sums(rows) * given
    if not counts.any():
        return None
    present = RowWeights(counts[counts > 0])
    shares = present_rows(profiles(rows), counts)
    moments = Moments.of(shares, precision=np.float64, weights=present)
    off = 2 * (rows.shape[1] + 2) * float(np.finfo(np.float64).eps)
    error = moments.error + 3 * off * moments.count
    return replace(moments, error=error, mean_error=moments.mean_error + 2 * off)


def profile_moments(rows: TiledTable, weights: Array | None = None) -> Moments:
    """The moments of rows of counts divided by their sums, each row counting as its sum.

    weights : validated weights of all rows, which multiply the counts
    """
    more = weights_of_tiles(rows, weights)
    size = 8 * rows.width**2
    total = rows.total(
        "adding up tiles", _tile_profile_moments, _sum_of_moments, *more, result_bytes=size
    )
    if total is None:
        raise InvalidInput("the table holds zeros only, and so no counts to analyse")
    moments: Moments = total
    return moments


class _Standardize:
    """The task of `standardized`."""

    def __init__(self, standard: Standard) -> None:
        self.standard = standard

    def array(self, block: object) -> Array:
        return self.standard.apply(plain_rows(block))

    def frame(self, block: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(self.array(block), index=block.index, columns=block.columns)


def standardized(rows: TiledTable, weights: Array | None = None) -> tuple[TiledTable, Standard]:
    """Shift every column to mean 0 and scale it to standard deviation 1.

    One pass computes means and deviations (divisor n); the rows stay lazy. A column that does not
    vary becomes 0.

    Parameters
    ----------
    rows : TiledTable
        The table.
    weights : ndarray of shape (n_rows,) or None, default=None
        How often each row counts in means and deviations; None counts every row once.

    Returns
    -------
    rows : TiledTable
        The standardised table.
    standard : Standard
        What was subtracted, and what columns were divided by.

    See Also
    --------
    table : Opens a table in tiles.

    Examples
    --------
    >>> import dask.array as da
    >>> from dualfold.scale import standardized, table
    >>> rows, standard = standardized(table(da.from_array([[1.0], [3.0]], chunks=(1, 1))))
    >>> rows.collection.compute().ravel()
    array([-1.,  1.])
    """
    moments = moments_of(rows, weights)
    standard = Standard(moments.mean, moments.deviations_or(np.inf))
    task, X = _Standardize(standard), rows.collection
    if rows.is_frame:
        empty = rows.meta.astype(np.float64)
        lazy = X.map_partitions(task.frame, meta=empty)
    else:
        lazy = X.map_blocks(task.array, dtype=np.float64, meta=np.empty((0, 0)))
    return replace(rows, collection=lazy), standard
