"""Files as rows that are read when a task asks for them: memory maps, Zarr, Parquet.

What goes to a worker is the name of a file and which rows of it: never the rows, and never an
open file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.scale.engine import TileFailed, require_module

PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class MappedRows:
    """A `numpy.memmap` by its file, which every task opens again.

    path, dtype, shape, offset : as in numpy.memmap
    strides : of the rows and columns in the file
    """

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    offset: int
    strides: tuple[int, int]
    ndim: int = 2

    def __getitem__(self, index: Any) -> Array:
        """Some rows, read into memory."""
        try:
            opened = np.memmap(self.path, np.uint8, "r", self.offset)
            rows: Array = np.ndarray(self.shape, self.dtype, opened, 0, self.strides)
            return np.array(rows[index])
        except (OSError, ValueError, TypeError) as error:
            raise TileFailed(f"{self.path} cannot be read: {error}") from error


def mapped_rows(X: Any) -> MappedRows | None:
    """Where a memory map's rows lie; None for one without a file, or a view turned around."""
    name = getattr(X, "filename", None)
    if name is None or X.ndim != 2 or any(step < 0 for step in X.strides):
        return None
    whole = X
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    begin = X.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return MappedRows(os.fspath(name), X.dtype, X.shape, whole.offset + begin, X.strides)


@dataclass(frozen=True)
class ParquetRows:
    """Row groups of one Parquet file.

    first, last : groups from `first` up to before `last`
    rows : how many rows they hold
    """

    path: str
    first: int
    last: int
    rows: int

    @property
    def name(self) -> str:
        """File and row groups, for errors."""
        groups = f"{self.first}" if self.last == self.first + 1 else f"{self.first}-{self.last - 1}"
        return f"{self.path}, row group {groups}"


@dataclass(frozen=True)
class ReadParquet:
    """Reads `ParquetRows` as a data frame of these columns."""

    columns: tuple[str, ...]

    def __call__(self, part: ParquetRows) -> Any:
        """The rows as a data frame; a file that cannot be read is named."""
        parquet = require_module("pyarrow.parquet")
        try:
            # Damage inside a page shows only by its checksum, where the writer made one.
            with parquet.ParquetFile(part.path, page_checksum_verification=True) as file:
                groups = list(range(part.first, part.last))
                read = file.read_row_groups(groups, columns=list(self.columns), use_threads=False)
            frame = read.to_pandas(split_blocks=True, self_destruct=True, ignore_metadata=True)
        except Exception as error:  # pyarrow raises its own kinds, OSError and ValueError
            raise TileFailed(f"{part.name}, cannot be read: {error}") from error
        if len(frame) != part.rows:
            raise TileFailed(f"{part.path} has changed while it was read; start again")
        return frame


def parquet_parts(
    path: Path, columns: Sequence[str] | None, tile_bytes: int, most: int
) -> tuple[list[ParquetRows], Any]:
    """A Parquet file or a folder of them as parts of about `tile_bytes`, and their empty frame.

    columns : those to read, None for all; most : bytes of a row group, which is read whole
    """
    parquet = require_module("pyarrow.parquet")
    names = _parquet_files(path)
    parts: list[ParquetRows] = []
    schema: Any = None
    for name in names:
        try:
            with parquet.ParquetFile(name) as file:
                metadata, arrow_schema = file.metadata, file.schema_arrow
        except Exception as error:
            raise TileFailed(
                f"{name} is no Parquet file that can be read ({error}); tables in tiles are "
                "Parquet files, Zarr arrays and .npy files"
            ) from error
        schema = arrow_schema if schema is None else schema
        if arrow_schema.names != schema.names:
            raise InvalidInput(
                f"{name} has other columns than {names[0]}; the files of one table have the same"
            )
        parts += _parts_of_file(name, metadata, tile_bytes, most)
    chosen = schema.names if columns is None else list(columns)
    missing = [column for column in chosen if column not in schema.names]
    if missing:
        raise InvalidInput(Argument("columns"), f" names {missing[0]!r}, which is not in {path}")
    empty = schema.empty_table().select(chosen).to_pandas(ignore_metadata=True)
    return parts, empty


def _parquet_files(path: Path) -> list[str]:
    if path.is_file():
        return [str(path)]
    files = sorted(
        str(file)
        for file in path.rglob("*")
        if file.suffix in PARQUET_ENDINGS and not file.name.startswith(("_", "."))
    )
    if not files:
        raise InvalidInput(
            f"{path} is a folder, and there are no Parquet files in it; name the file itself"
        )
    return files


def _parts_of_file(name: str, metadata: Any, tile_bytes: int, most: int) -> list[ParquetRows]:
    """Row groups of a file, together as many as a tile may hold; none without rows."""
    parts: list[ParquetRows] = []
    first, rows, size = 0, 0, 0
    for group in range(metadata.num_row_groups):
        one = metadata.row_group(group)
        if one.total_byte_size > most:
            raise TooLarge(
                f"row group {group} of {name} holds {one.total_byte_size / 1e9:.2g} GB, and a row "
                "group is read whole: write the file in smaller ones (row_group_size=100_000 in "
                "pyarrow and pandas), or give more ",
                Argument("memory_limit"),
            )
        if rows and size + one.total_byte_size > tile_bytes:
            parts.append(ParquetRows(name, first, group, rows))
            first, rows, size = group, 0, 0
        rows += one.num_rows
        size += one.total_byte_size
    if rows:
        parts.append(ParquetRows(name, first, metadata.num_row_groups, rows))
    return parts


def zarr_array(path: Path) -> Any:
    """The two-dimensional array in a Zarr store."""
    zarr = require_module("zarr")
    try:
        stored = zarr.open(str(path), mode="r")
    except Exception as error:
        raise TileFailed(f"{path} is no Zarr store that can be read: {error}") from error
    if not hasattr(stored, "shape"):
        arrays = [name for name, _ in stored.arrays()]
        raise InvalidInput(
            f"{path} is a group of arrays ({', '.join(arrays) or 'none'}); give one of them, "
            "as store.zarr/name"
        )
    return stored
