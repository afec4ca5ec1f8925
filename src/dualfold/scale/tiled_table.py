"""A table as tiles of rows: what estimators take where the rows do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dualfold.arrays import Array, Rows, Seed
from dualfold.data.array_files import npy_array
from dualfold.errors import Argument, InvalidInput
from dualfold.scale.budget import Budget, budget, half_of_memory
from dualfold.scale.engine import OneTask, compute, in_order, require_module
from dualfold.scale.files import MappedRows, ReadParquet, mapped_rows, parquet_parts, zarr_array
from dualfold.scale.rows import dense_rows, dtype_of, plain_rows, refuse_gaps

Kind = Literal["array", "frame", "memmap"]
# Rows that graph methods are fitted on by default: eigenmaps of them take seconds.
DEFAULT_LANDMARKS = 10_000


@dataclass(frozen=True, eq=False)
class TiledTable:
    """Rows in tiles, each read by the task that uses it; `table` makes one.

    Attributes
    ----------
    collection : dask.array.Array or dask.dataframe.DataFrame
        The rows, one block for each tile.
    kind : {"array", "frame", "memmap"}
        What `transform` returns: a lazy array, a lazy data frame, or a memory map in a file without
        a name.
    budget : Budget
        Memory and threads of this process, if no other scheduler is set.
    tiles : tuple of str
        Names of the tiles, for errors.
    known_lengths : tuple of int or None
        Numbers of rows of the tiles, if they are known.
    landmarks : int
        Number of rows that graph methods are fitted on.

    See Also
    --------
    table : The function that returns it.

    Examples
    --------
    >>> import dask.array as da
    >>> from dualfold.scale import table
    >>> rows = table(da.ones((5, 2), chunks=(3, 2)))
    >>> rows.n_rows, rows.width, rows.lengths
    (5, 2, (3, 2))
    """

    collection: Any
    kind: Kind
    budget: Budget
    tiles: tuple[str, ...]
    known_lengths: tuple[int, ...] | None = None
    landmarks: int = DEFAULT_LANDMARKS

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.collection.shape[1])

    @property
    def meta(self) -> Any:
        """A table without rows that is otherwise like this one."""
        if self.is_frame:
            return self.collection._meta
        return np.empty((0, self.width), self.collection.dtype)

    @property
    def is_frame(self) -> bool:
        """Whether the tiles are data frames."""
        return hasattr(self.collection, "columns")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type float32 if all columns have it, else float64."""
        return dtype_of(self.meta)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Number of rows of each tile; counted in a pass of its own if they are not known."""
        if self.known_lengths is not None:
            return self.known_lengths
        delayed = require_module("dask").delayed
        counts = compute("counting rows", *[delayed(len)(block) for block in self.blocks])
        return tuple(int(count) for count in counts)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    def parts_of(self, numbers: Array) -> list[Array]:
        """Cut an array with an entry for each row as the tiles are cut.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows,)
            The entries.

        Returns
        -------
        list of ndarray
            Those of each tile.
        """
        return np.split(numbers, np.cumsum(self.lengths)[:-1])

    @cached_property
    def blocks(self) -> list[Any]:
        """The tiles as delayed objects."""
        return list(np.ravel(self.collection.to_delayed()))

    def each(self, work: Callable[..., Any], *more: Sequence[Any], raw: bool = False) -> list[Any]:
        """Make one delayed task for each tile.

        Parameters
        ----------
        work : callable
            Function of the rows of a tile.
        *more : sequence
            Further arguments, one for each tile.
        raw : bool, default=False
            Whether data frames are passed as they are, and not as arrays of numbers.

        Returns
        -------
        list
            The delayed results.
        """
        task = require_module("dask").delayed(
            OneTask(work if raw else _OnNumbers(work)), pure=False
        )
        rows = zip(self.tiles, self.blocks, *more, strict=True)
        return [task(*each) for each in rows]

    def total(
        self,
        what: str,
        work: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *more: Sequence[Any],
        result_bytes: int = 2**10,
        raw: bool = False,
    ) -> Any:
        """Run a function on every tile and add the results in the order of the tiles.

        Parameters
        ----------
        what : str
            Name of the progress bar.
        work : callable
            Function of the rows of a tile.
        merge : callable
            Function that adds two results.
        *more : sequence
            Further arguments of `work`, one for each tile.
        result_bytes : int, default=1024
            Size of a result, which decides how many wait together.
        raw : bool, default=False
            Whether data frames are passed as they are, and not as arrays of numbers.

        Returns
        -------
        object
            The sum; None for a table without rows.
        """
        whole = in_order(self.each(work, *more, raw=raw), merge, result_bytes)
        return compute(what, whole, threads=self.budget.threads)[0]


class _OnNumbers:
    """`work` on the rows of a tile as an array of numbers."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work = work

    def __call__(self, block: Any, *more: Any) -> Any:
        return self.work(plain_rows(block), *more)


def is_tiled(X: Rows) -> bool:
    """Whether X is a table that estimators read in tiles; imports nothing."""
    if isinstance(X, TiledTable | str | Path):
        return True
    if isinstance(X, np.memmap):
        large = X.ndim == 2 and 8 * X.size > half_of_memory()
        return large and mapped_rows(X) is not None and find_spec("dask") is not None
    return type(X).__module__.partition(".")[0] in ("dask", "zarr")


def table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    memory_limit: int | str | None = None,
    landmarks: int = DEFAULT_LANDMARKS,
) -> TiledTable:
    """Open a table in tiles, which every estimator takes in place of X.

    Parameters
    ----------
    source : Dask collection, memmap, Zarr array, str or PathLike
        A Dask array or data frame, a `numpy.memmap`, a Zarr array, or the path of a Parquet file,
        of a folder of such files, or of a Zarr store.
    columns : sequence of str or None, default=None
        Columns of a data frame or of Parquet to use; None takes all.
    memory_limit : int, str or None, default=None
        Bytes that this process may take, as a number or as "2GB"; None is half of the memory. Tiles
        of files are as small as it asks for; chunks of Dask collections stay as they are.
    landmarks : int, default=10000
        Number of rows that graph methods are fitted on; the others are placed as new rows are.

    Returns
    -------
    TiledTable
        The table; nothing is read yet.

    Raises
    ------
    InvalidInput
        If the source is of no known kind, or has columns that are no numbers.
    MissingDependency
        If Dask or the reader of the format is not installed.

    See Also
    --------
    write : Writes a lazy table.

    Examples
    --------
    >>> import dask.array as da
    >>> from dualfold import PCA
    >>> from dualfold.scale import table
    >>> rows = table(da.random.default_rng(0).normal(size=(50, 3), chunks=(25, 3)))
    >>> PCA(n_components=2).fit(rows).components_.shape
    (2, 3)
    """
    if isinstance(source, TiledTable):
        return source
    allowed = budget(memory_limit)
    if isinstance(source, str | PathLike):
        return _of_path(Path(source), columns, allowed, landmarks)
    if isinstance(source, np.memmap):
        rows = mapped_rows(_two_dimensional(source))
        if rows is None:
            raise InvalidInput(
                "this memory map has no file that could be opened again, or is turned around; "
                "give a copy, numpy.array(X)"
            )
        return _of_rows(rows, "memmap", source.filename, allowed, landmarks)
    module = type(source).__module__.partition(".")[0]
    if module == "zarr":
        return _of_rows(_two_dimensional(source), "array", source.store_path, allowed, landmarks)
    if module == "dask":
        return _of_collection(source, columns, allowed, landmarks)
    raise InvalidInput(
        Argument("source"),
        f" is of type {type(source).__name__}; it is a Dask array or data frame, a numpy.memmap, "
        "a Zarr array, or the path of a Parquet file, a folder of them, or a Zarr store",
    )


def _of_path(
    path: Path, columns: Sequence[str] | None, allowed: Budget, landmarks: int
) -> TiledTable:
    if not path.exists():
        raise InvalidInput(f"there is no file {path}")
    inside = [parent.suffix for parent in (path, *path.parents)]
    if ".zarr" in inside:
        return _of_rows(_two_dimensional(zarr_array(path)), "array", path, allowed, landmarks)
    if path.suffix == ".npy":
        mapped = npy_array(path, str(path), mapped=True)
        return table(mapped, memory_limit=allowed.limit, landmarks=landmarks)
    parts, empty = parquet_parts(path, columns, allowed.tile_bytes, allowed.most_tile)
    if not parts:
        raise InvalidInput(f"{path} has no rows")
    read = require_module("dask.dataframe").from_map(
        ReadParquet(tuple(empty.columns)), parts, meta=empty, enforce_metadata=False
    )
    names = tuple(part.name for part in parts)
    return TiledTable(read, "frame", allowed, names, tuple(part.rows for part in parts), landmarks)


def _of_rows(rows: Rows, kind: Kind, name: Any, allowed: Budget, landmarks: int) -> TiledTable:
    """Rows that are read by slices, some at a time, and all columns of them."""
    n, width = rows.shape
    if n == 0 or width == 0:
        raise InvalidInput(f"{name} has no rows or no columns; its shape is {rows.shape}")
    height = max(1, allowed.tile_bytes // (width * max(8, rows.dtype.itemsize)))
    chunks = getattr(rows, "chunks", None)  # Zarr's: whole ones are read in one piece
    if chunks is not None and height > chunks[0]:
        height -= height % chunks[0]
    label = None if isinstance(rows, MappedRows) else False
    collection = require_module("dask.array").from_array(
        rows, chunks=(min(n, height), width), name=label, asarray=True
    )
    starts = range(0, n, min(n, height))
    names = tuple(f"{name}, rows {at} to {min(n, at + height) - 1}" for at in starts)
    return TiledTable(collection, kind, allowed, names, collection.chunks[0], landmarks)


def _of_collection(
    X: Any, columns: Sequence[str] | None, allowed: Budget, landmarks: int
) -> TiledTable:
    """Dask's own: all columns of a row in one block."""
    if hasattr(X, "columns"):
        chosen = X if columns is None else X[list(columns)]
        count = chosen.npartitions
        names = tuple(f"partition {at} of {count}" for at in range(count))
        return TiledTable(chosen, "frame", allowed, names, None, landmarks)
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2 or np.isnan(X.shape[1]):
        raise InvalidInput(
            Argument("X"),
            " must be a Dask array of two dimensions with a known number of columns, or a Dask "
            f"data frame; it is {X!r}. Of a data frame, frame.to_dask_array(lengths=True) has both",
        )
    whole = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    heights = whole.chunks[0]
    lengths = None if np.isnan(heights).any() else tuple(int(height) for height in heights)
    names = tuple(f"block {at} of {len(heights)}" for at in range(len(heights)))
    return TiledTable(whole, "array", allowed, names, lengths, landmarks)


def _two_dimensional(rows: Rows) -> Any:
    if getattr(rows, "ndim", 0) != 2:
        raise InvalidInput(
            f"the array has the shape {getattr(rows, 'shape', '?')}; a table has rows and columns"
        )
    return rows


def drawn_row_numbers(n: int, count: int, seed: Seed) -> Array:
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
    wanted = [tile for tile, numbers_asked in enumerate(asked) if len(numbers_asked)]
    work = _frame_rows if raw else _finite_rows if finite else _array_rows
    tasks = rows.each(work, asked, raw=True)
    blocks = compute(
        "gathering rows", *[tasks[tile] for tile in wanted], threads=rows.budget.threads
    )
    if raw and rows.is_frame:
        import pandas as pd

        return pd.concat(blocks)
    return np.concatenate([np.empty((0, rows.width), rows.dtype), *blocks])


def _frame_rows(block: Any, places: Array) -> Any:
    return block.iloc[places] if hasattr(block, "iloc") else block[places]


def _array_rows(block: object, places: Array) -> Array:
    return np.ascontiguousarray(dense_rows(plain_rows(_frame_rows(block, places))))


def _finite_rows(block: object, places: Array) -> Array:
    rows = _array_rows(block, places)
    refuse_gaps(rows, places)
    return rows
