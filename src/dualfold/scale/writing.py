"""Lazy tables out: partitioned Parquet or Zarr, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.data.atomic_files import atomic_folder, folder_writers
from dualfold.errors import InvalidInput
from dualfold.scale.engine import compute, require_module
from dualfold.scale.tiled_table import TiledTable, table

WRITABLE_ENDINGS = (".parquet", ".zarr")
# In a Parquet folder; readers ignore names that begin with an underscore.
METADATA_NAME = "_dualfold.json"


def write(
    rows: Any,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    metadata: Mapping[str, Any] | None = None,
    memory_limit: int | str | None = None,
) -> int:
    """Compute a lazy table and write it tile by tile.

    The folder gets its name when it is complete; an error or Ctrl-C removes it.

    Parameters
    ----------
    rows : TiledTable or Dask collection
        The table.
    path : str or PathLike
        Path that ends with .parquet (a folder with one file for each tile) or .zarr.
    overwrite : bool, default=False
        Whether to replace what has that name already.
    metadata : dict or None, default=None
        Facts that JSON can hold: the file _dualfold.json in the folder, or an attribute of the Zarr
        array.
    memory_limit : int, str or None, default=None
        Bytes that this process may take, as a number or as "2GB"; None is half of the memory.

    Returns
    -------
    int
        Number of rows.

    See Also
    --------
    table : Opens the result.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import dask.array as da
    >>> from dualfold.scale import write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(da.ones((5, 2), chunks=(3, 2)), Path(folder, "ones.zarr"))
    5
    """
    target, source = Path(path), table(rows, memory_limit=memory_limit)
    refuse_ending(target)
    threads = source.budget.threads
    with atomic_folder(target, overwrite=overwrite) as folder:
        if target.suffix == ".zarr":
            with folder_writers:
                _zarr_target(source, folder, metadata)
            starts = np.concatenate([[0], np.cumsum(source.lengths)])[:-1].tolist()
            tasks = source.each(_WriteZarr(str(folder)), starts)
        else:
            numbers = list(range(len(source.tiles)))
            tasks = source.each(_WriteParquet(str(folder)), numbers, raw=True)
            text = None if metadata is None else json.dumps(metadata, ensure_ascii=False)
            if text is not None:
                with folder_writers:
                    (folder / METADATA_NAME).write_text(text, encoding="utf-8")
        counts = compute("writing", *tasks, threads=threads)
    return sum(count or 0 for count in counts)


def refuse_ending(path: Path) -> None:
    """Refuse what a table in tiles cannot be written to."""
    if path.suffix not in WRITABLE_ENDINGS:
        raise InvalidInput(
            f"{path} must end with {' or '.join(WRITABLE_ENDINGS)}: tables in tiles are written in "
            "parts"
        )


class _WriteParquet:
    """Writes a tile as one file of the folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, block: Any, number: int) -> int:
        pyarrow, parquet = require_module("pyarrow"), require_module("pyarrow.parquet")
        if hasattr(block, "columns"):
            content = pyarrow.Table.from_pandas(block, preserve_index=False)
        else:
            columns = {f"x{place}": column for place, column in enumerate(np.asarray(block).T)}
            content = pyarrow.table(columns)
        name = Path(self.folder) / f"part-{number:06d}.parquet"
        with folder_writers:
            parquet.write_table(content, name, write_page_checksum=True)
        return len(block)


class _WriteZarr:
    """Writes a tile into its rows of the array; tiles are whole chunks of it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, rows: Any, start: int) -> int:
        with folder_writers:
            target = require_module("zarr").open_array(self.path, mode="r+")
            target[start : start + len(rows)] = rows
        return len(rows)


def _zarr_target(source: TiledTable, folder: Path, metadata: Mapping[str, Any] | None) -> None:
    """Make an empty array whose chunks no two tiles share: two tasks must not write to one."""
    lengths = [length for length in source.lengths if length]
    height = int(np.gcd.reduce(lengths[:-1])) if len(lengths) > 1 else lengths[0]
    if height < min(1_000, lengths[0]):
        raise InvalidInput(
            "the tiles have lengths that no chunks of a Zarr array share; rechunk the table "
            "evenly (X.rechunk), or write .parquet"
        )
    target = require_module("zarr").create_array(
        store=str(folder),
        shape=(source.n_rows, source.width),
        dtype=source.dtype,
        chunks=(height, source.width),
        overwrite=True,
    )
    if metadata is not None:
        target.attrs["dualfold"] = json.loads(json.dumps(metadata))
