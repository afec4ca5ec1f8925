"""One table in the forms in which tiles come: chunks, frames, zarr, memory maps, Parquet files."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import zarr

from dualfold.scale import table

N, WIDTH = 3_001, 12
NAMES = [f"c{place}" for place in range(WIDTH)]


def points(dtype=float):
    rng = np.random.default_rng(7)
    mixed = rng.standard_normal((N, WIDTH)) @ rng.standard_normal((WIDTH, WIDTH))
    return (mixed + 40 * np.arange(WIDTH)).astype(dtype)


def frame(dtype=float):
    return pd.DataFrame(points(dtype), columns=NAMES)


def uneven(X):
    """Chunks of odd sizes, one of a single row, columns in several blocks."""
    return da.from_array(X, chunks=((1, 700, 13, 1_500, len(X) - 2_214), (5, 4, 3)))


def with_empty_partitions(X):
    parts = [X.iloc[:0], X.iloc[:900], X.iloc[900:900], X.iloc[900:], X.iloc[:0]]
    return dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in parts])


def unknown_lengths(X):
    lazy = dd.from_pandas(X, npartitions=4).to_dask_array()
    assert np.isnan(lazy.shape[0])
    return lazy


def in_zarr(X, folder):
    store = zarr.create_array(
        store=str(folder / "x.zarr"), shape=X.shape, chunks=(250, 5), dtype=X.dtype
    )
    store[:] = X
    return store


def in_memmap(X, folder):
    mapped = np.memmap(folder / "x.bin", X.dtype, "w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return table(mapped, memory_limit="1GB")


def in_parquet(X, folder):
    """Three files of several row groups each, one of them without rows."""
    (folder / "x.parquet").mkdir()
    for number, part in enumerate((X.iloc[:1_000], X.iloc[:0], X.iloc[1_000:])):
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False),
            folder / "x.parquet" / f"part-{number}.parquet",
            row_group_size=300,
            write_page_checksum=True,
        )
    return folder / "x.parquet"
