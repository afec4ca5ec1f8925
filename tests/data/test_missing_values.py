"""Missing values: filled as far as a table allows, or their rows left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare
from dualfold.data.missing_values import pca_imputed

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_gaps_are_filled_as_far_as_a_table_allows():
    """One column has its mean alone; without deviations the units of the columns count."""
    hole = X.copy()
    hole[2, 1] = np.nan
    filled, settled = pca_imputed(hole[:, 1:2])
    assert settled
    assert filled[2, 0] == pytest.approx(np.nanmean(hole[:, 1]))
    plane = np.outer(np.arange(12.0), [1, 2, 3]) + np.outer(np.ones(12), [1, 5, 2])
    plane += np.outer(np.arange(12.0) ** 2, [1, 0, 1])
    lacking = plane.copy()
    lacking[4, 0] = np.nan
    for standardize in (True, False):
        found, settled = pca_imputed(lacking, standardize=standardize)
        assert settled
        assert found[4, 0] == pytest.approx(plane[4, 0], rel=0.05)


def test_rows_left_out_are_left_out_of_the_numbers_as_read(here):
    frame = pd.DataFrame(X.copy(), columns=list("abc"))
    frame.loc[3, "b"] = np.nan
    prepared = prepare(frame, Reading(missing="drop"))
    names, numbers = prepared.numbers
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(numbers, np.delete(X, 3, axis=0))
