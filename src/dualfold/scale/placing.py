"""A fitted model on every tile: lazily where the table is lazy, as the kind that was given."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from dualfold.errors import DataUnavailable
from dualfold.kernels.threads import ForkedLock
from dualfold.scale.engine import OneTask, own_threads, require_module, translate_failures
from dualfold.scale.rows import plain_rows
from dualfold.scale.tiled_table import TiledTable

# Entries that are placed at a time, within limits of rows: a search needs memory for each row.
PLACING_CHUNK_NUMBERS = 2**19
MIN_CHUNK_ROWS = 2**10
MAX_CHUNK_ROWS = 2**13
# Models of more bytes than this go to workers by a file that they open. In the graph of tasks
# they would be sent again and again; scattered ones are lost with the worker that holds them.
MAX_MODEL_BYTES_IN_GRAPH = 2**20
_FOLDER_LOCK = ForkedLock()  # two threads would make two folders, and one would be deleted


class OpenedModel:
    """A model in a file, opened once by each process that uses it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def model(self) -> Any:
        """The model itself."""
        return _load_model(self.path)


class InGraph:
    """A small model, which travels with its tasks."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def model(self) -> Any:
        """The model itself."""
        return self.kept


@lru_cache(maxsize=4)
def _load_model(path: str) -> Any:
    try:
        return pickle.loads(Path(path).read_bytes())
    except OSError as error:
        raise DataUnavailable(
            f"the model {path} cannot be opened here ({error}): all workers must see the folder "
            "that dask.config's temporary-directory names"
        ) from error


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where models lie as long as this process lives, because lazy results need them late."""
    base = require_module("dask").config.get("temporary-directory", None)
    return tempfile.TemporaryDirectory(prefix="dualfold-models-", dir=base)


def model_for_tasks(model: Any) -> OpenedModel | InGraph:
    """The model as tasks get it: itself if it is small, else by the name of a file."""
    slim = copy.copy(model)
    for name in getattr(model, "_unused_for_new_rows", ()):
        if name in vars(slim):
            setattr(slim, name, None)
    content = pickle.dumps(slim, protocol=5)
    if len(content) <= MAX_MODEL_BYTES_IN_GRAPH:
        return InGraph(slim)
    with _FOLDER_LOCK:
        file = Path(_folder().name) / f"{uuid4().hex}.model"
    file.write_bytes(content)
    return OpenedModel(str(file))


class OnTile:
    """`method` of a model on one tile: the task of `on_every_tile`."""

    def __init__(
        self, model: OpenedModel | InGraph, method: str, columns: Sequence[str], dtype: Any
    ) -> None:
        self.model, self.method, self.columns, self.dtype = model, method, tuple(columns), dtype

    def array(self, block: Any) -> Any:
        """The result as an array."""
        if not block.shape[0]:
            return np.empty((0, len(self.columns)), self.dtype)
        points = OneTask(self.points)("a tile of these rows", block)
        return np.asarray(points).astype(self.dtype, copy=False)

    def frame(self, block: Any) -> Any:
        """The result as a data frame with the index of the block."""
        import pandas as pd

        return pd.DataFrame(self.array(block), index=block.index, columns=list(self.columns))

    def points(self, block: Any) -> Any:
        """Some rows at a time: what searches need beside the rows stays small."""
        call = getattr(self.model.model(), self.method)
        height = min(
            MAX_CHUNK_ROWS, max(MIN_CHUNK_ROWS, PLACING_CHUNK_NUMBERS // max(1, block.shape[1]))
        )
        rows = block.iloc if hasattr(block, "iloc") else block
        pieces = [call(rows[at : at + height]) for at in range(0, block.shape[0], height)]
        return np.concatenate([np.asarray(piece) for piece in pieces])


def on_every_tile(
    rows: TiledTable, model: Any, method: str, columns: Sequence[str], dtype: Any
) -> Any:
    """model.method(tile) for each tile, as the kind of table that was given.

    columns : names of the columns of the result; dtype : its numbers
    """
    task = OnTile(model_for_tasks(model), method, columns, dtype)
    if rows.is_frame:
        import pandas as pd

        empty = pd.DataFrame({name: np.empty(0, dtype) for name in columns})
        return rows.collection.map_partitions(task.frame, meta=empty)
    X = rows.collection
    lazy = X.map_blocks(
        task.array,
        dtype=dtype,
        chunks=(X.chunks[0], (len(columns),)),
        meta=np.empty((0, 0), dtype),
    )
    return _store_in_nameless_file(lazy, rows) if rows.kind == "memmap" else lazy


class _RowsOfFile:
    """Rows written to a file that is mapped a tile at a time: memory does not grow with it."""

    def __init__(self, file: Any, dtype: Any, shape: tuple[int, int]) -> None:
        self.file, self.dtype, self.shape = file, np.dtype(dtype), shape

    def __setitem__(self, target: tuple[slice, slice], rows: Any) -> None:
        first, last, width = target[0].start, target[0].stop, self.shape[1]
        if last > first:
            begin = first * width * self.dtype.itemsize
            np.memmap(self.file, self.dtype, "r+", begin, (last - first, width))[:] = rows


def _store_in_nameless_file(lazy: Any, rows: TiledTable) -> Any:
    """The numbers in a file without a name: it is gone when the last view of it is."""
    with tempfile.TemporaryFile(
        dir=require_module("dask").config.get("temporary-directory", None)
    ) as file:
        np.memmap(file, lazy.dtype, "w+", shape=lazy.shape)
        with translate_failures():
            target = _RowsOfFile(file, lazy.dtype, lazy.shape)
            threads = rows.budget.threads
            lazy.store(target, lock=False, scheduler=own_threads(), num_workers=threads)
        return np.memmap(file, lazy.dtype, "r+", shape=lazy.shape)


def as_memory_map(rows: TiledTable) -> Any:
    """The rows side by side in a file without a name, as a memory map of numbers."""
    store = rows.collection
    if rows.is_frame:
        store = store.map_partitions(plain_rows, meta=np.empty((0, rows.width), rows.dtype))
        store._chunks = (rows.lengths, (rows.width,))
    elif rows.known_lengths is None:
        store = store.copy()
        store._chunks = (rows.lengths, (rows.width,))
    return _store_in_nameless_file(store.astype(rows.dtype), rows)
