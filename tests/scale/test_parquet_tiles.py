"""Tiles of Parquet files are row groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dualfold.scale.engine import TileFailed
from dualfold.scale.files import ReadParquet, parquet_parts

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tiles_of_parquet_are_row_groups_and_are_counted_again(here):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask")
    pd.DataFrame(X, columns=list("abc")).to_parquet("g.parquet", row_group_size=3)
    parts, empty = parquet_parts(here / "g.parquet", None, tile_bytes=1, most=10**9)
    assert [part.rows for part in parts] == [3, 3, 3, 3]
    read = ReadParquet(tuple(empty.columns))
    np.testing.assert_array_equal(read(parts[1]).to_numpy(), X[3:6])
    with pytest.raises(TileFailed, match="has changed while it was read"):
        read(replace(parts[1], rows=2))
