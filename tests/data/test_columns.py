"""Columns: their kinds, their limits, and how they are stated in files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dualfold.data import Reading, prepare
from tests.data.door import column_limits


def test_whole_numbers_of_pandas_own_kind_stay_whole():
    frame = pd.DataFrame({"n": pd.Series([1, None, 7], dtype="Int64"), "gone": None, "v": 0.5})
    found = prepare(frame.assign(v=[1.5, 2, 9]), Reading(missing="keep", label_columns="n"))
    np.testing.assert_array_equal(found.labels["n"], [1.0, np.nan, 7.0])
    assert any("'gone': empty, left out" in notice for notice in found.notices)


def test_the_ends_of_columns_pass_over_what_is_no_number():
    known = np.array([[1.0, np.nan], [np.inf, 3.0], [-2.0, 5.0]])
    low, high = column_limits(known)
    assert low.tolist() == [-2.0, 3.0]
    assert high.tolist() == [1.0, 5.0]
    low, high = column_limits(sp.csr_array([[0.0, 2.0], [0.0, -1.0]]))
    assert low.tolist() == [0.0, -1.0]
    assert high.tolist() == [0.0, 2.0]


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
