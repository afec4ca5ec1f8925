"""Columns: their kinds, their limits, and how they are stated in files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dualfold.data import Reading, delimited, prepare
from dualfold.data.columns import _column_kind, _plain_column
from dualfold.data.scales import column_limits
from dualfold.errors import DamagedFile
from dualfold.weights.encoding import Category, Number, from_json, to_json


def test_whole_numbers_of_pandas_own_kind_stay_whole():
    assert _plain_column(pd.Series([1, 2, 3], dtype="Int64")).dtype == np.int64
    gaps = _plain_column(pd.Series([1, None, 3], dtype="Int64"))
    np.testing.assert_array_equal(gaps, [1.0, np.nan, 3.0])
    assert (
        _column_kind(pd.Series([None, None], dtype=object), "a", keep=False, mixed=False) == "empty"
    )


@pytest.mark.parametrize(("most", "kind"), [(255, np.int16), (70_000, np.int32), (2**40, np.int64)])
def test_whole_numbers_are_kept_in_few_bytes(monkeypatch, most, kind):
    monkeypatch.setattr(delimited, "CHUNK_CELLS", 8)
    chunk = pd.DataFrame({"a": [0, 1, most], "b": [2, 3, 4]})
    for frame in (chunk, chunk.assign(c=0.5)):
        narrow = delimited._narrow(frame)
        assert narrow["a"].dtype == kind
        pd.testing.assert_frame_equal(narrow, frame, check_dtype=False)


def test_the_ends_of_columns_pass_over_what_is_no_number():
    known = np.array([[1.0, np.nan], [np.inf, 3.0], [-2.0, 5.0]])
    low, high = column_limits(known)
    assert low.tolist() == [-2.0, 3.0]
    assert high.tolist() == [1.0, 5.0]
    low, high = column_limits(sp.csr_array([[0.0, 2.0], [0.0, -1.0]]))
    assert low.tolist() == [0.0, -1.0]
    assert high.tolist() == [0.0, 2.0]


def test_columns_that_a_file_states_are_read_again_or_refused():
    stated = (Category("a", ("x", "y")), Number("b"))
    assert from_json(to_json(stated)) == stated
    for odd in ([{"name": "a", "kind": "spell", "levels": []}], [3], [{"name": "a"}]):
        with pytest.raises(DamagedFile, match="unknown form"):
            from_json(odd)


def test_decimal_numbers_and_durations_are_numbers():
    """Databases and Parquet give exact decimals; differences of dates are durations."""
    from decimal import Decimal

    frame = pd.DataFrame(
        {
            "price": [Decimal(n) / 4 for n in range(30)],
            "stay": pd.to_timedelta(np.arange(30) ** 2, unit="h"),
            "x": np.random.default_rng(0).standard_normal(30),
        }
    )
    frame.loc[3, "price"] = None
    data = prepare(frame, Reading(missing="drop"))
    assert data.names == ("price", "stay", "x")
    np.testing.assert_allclose(data.table.X[:3, :2], [[0, 0], [0.25, 1 / 24], [0.5, 4 / 24]])


def test_equal_columns_are_said_where_they_are_used():
    X = np.random.default_rng(0).standard_normal((50, 3))
    data = prepare(pd.DataFrame(X, columns=["x", "y", "z"]).assign(x_copy=X[:, 0]))
    assert data.names == ("x", "y", "z", "x_copy")
    said = " ".join(str(one) for one in data.notices)
    assert "'x_copy' (as 'x'): equal to another column in every row, used" in said
    assert "exclude=['x_copy'] leaves it out" in said
