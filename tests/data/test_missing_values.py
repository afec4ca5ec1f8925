"""Missing values: filled as far as a table allows, or their rows left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dualfold.data import Reading, prepare, read_table
from dualfold.errors import InvalidInput
from tests.data.door import fitted_imputation, mean_imputation
from tests.data.files import said, table

X = np.random.default_rng(0).normal(size=(12, 3))


def imputation_of(table, counts=(1, 2, 3)):
    hole = ~np.isfinite(table)
    known = np.where(hole, np.nan, table)
    start = mean_imputation(np.nanmean(known, axis=0), np.nanstd(known, axis=0))
    return fitted_imputation(table, start, counts=counts)


def test_gaps_are_filled_as_far_as_a_table_allows():
    """One column has its mean alone; without deviations the units of the columns count."""
    hole = X[:, 1:2].copy()
    hole[2] = np.nan
    filled = prepare(hole, Reading(missing="mean")).table.X
    assert filled[2, 0] == pytest.approx(np.nanmean(hole))
    assert list(prepare(hole).rows) == [0, 1, *range(3, 12)]  # nothing is known of that row
    rng = np.random.default_rng(3)
    plane = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)) * [1, 1, 1, 2, 3]
    lacking = plane.copy()
    lacking[4, 0] = np.nan
    for standardize in (True, False):
        found = prepare(
            pd.DataFrame(lacking, columns=list("abcde")), Reading(standardize=standardize)
        )
        assert found.table.X[4, 0] == pytest.approx(plane[4, 0], abs=0.02)


def test_missing_values_are_what_a_normal_model_lets_expect():
    """Conditional means by the formula of the normal distribution, from the covariance matrix."""
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) * [1, 2, 5, 10, 100, 1]
    whole += 0.1 * whole.std(axis=0) * rng.normal(size=whole.shape)
    hole = rng.random(whole.shape) < 0.15
    table = np.where(hole, np.nan, whole)
    model = imputation_of(table)
    assert model.n_components == 2
    filled = model.imputed(table)
    np.testing.assert_array_equal(filled[~hole], table[~hole])
    covariance = model.components @ model.components.T + model.noise * np.eye(6)
    covariance *= np.outer(model.scale, model.scale)
    for row in np.flatnonzero(hole.any(axis=1)):
        there, gone = np.flatnonzero(~hole[row]), np.flatnonzero(hole[row])
        weights = np.linalg.solve(covariance[np.ix_(there, there)], covariance[np.ix_(there, gone)])
        expected = model.mean[gone] + (table[row] - model.mean)[there] @ weights
        np.testing.assert_allclose(filled[row, gone], expected, rtol=1e-6)
    off = np.abs(filled - whole)[hole] / np.broadcast_to(whole.std(axis=0), hole.shape)[hole]
    assert np.median(off) < 0.2  # the mean of a column is off by 0.6 or so


def test_the_model_is_the_likeliest_one():
    """No step away from it raises the likelihood of the known cells."""
    rng = np.random.default_rng(1)
    whole = rng.normal(size=(80, 1)) @ rng.normal(size=(1, 5)) + 0.5 * rng.normal(size=(80, 5))
    table = np.where(rng.random(whole.shape) < 0.3, np.nan, whole)
    model = imputation_of(table, counts=(1,))
    assert model.n_components == 1
    unit = (table - model.mean) / model.scale

    def likelihood(W, noise):
        total = -np.square(W).sum() / 2  # the prior of the components
        for row in unit:
            there = np.isfinite(row)
            covariance = W[there] @ W[there].T + noise * np.eye(there.sum())
            total -= np.linalg.slogdet(covariance)[1] / 2
            total -= row[there] @ np.linalg.solve(covariance, row[there]) / 2
        return total

    best = likelihood(model.components, model.noise)
    for _ in range(20):
        step = 0.02 * rng.normal(size=model.components.shape)
        assert likelihood(model.components + step, model.noise) < best + 1e-4
    assert max(likelihood(model.components, model.noise * f) for f in (0.98, 1.02)) < best + 1e-4


def test_rows_left_out_are_left_out_of_the_numbers_as_read(here):
    frame = pd.DataFrame(X.copy(), columns=list("abc"))
    frame.loc[3, "b"] = np.nan
    prepared = prepare(frame, Reading(missing="drop"))
    names, numbers = prepared.numbers
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(numbers, np.delete(X, 3, axis=0))


GAPS = "a,b,c,w\n1.0,2,3,p\n,2,inf,q\n4.0,NA,1,r\n7.0,5,8,s\n"


def test_gaps_are_refused_with_their_count_and_columns(tmp_path):
    with pytest.raises(InvalidInput, match="2 of 4 rows are not complete") as caught:
        table(tmp_path, GAPS)
    for words in ("'a' (1)", "'b' (1)", "infinite values in 'c' (1)", "missing='drop'"):
        assert words in str(caught.value)
    with pytest.raises(InvalidInput, match="must be 'raise'"):
        table(tmp_path, GAPS, missing="skip")


def test_gaps_dropped_or_filled(tmp_path):
    dropped = table(tmp_path, GAPS, missing="drop")
    np.testing.assert_array_equal(dropped.X, [[1, 2, 3], [7, 5, 8]])
    np.testing.assert_array_equal(dropped.rows, [0, 3])
    assert list(dropped.labels["w"]) == ["p", "s"]
    assert said(dropped, "left out", "2 of 4")
    filled = table(tmp_path, GAPS, missing="mean")
    np.testing.assert_allclose(filled.X, [[1, 2, 3], [4, 2, 4], [4, 3, 1], [7, 5, 8]])
    assert said(filled, "mean")
    with pytest.raises(InvalidInput, match="no row is left"):
        table(tmp_path, "a,b\n1.5,\n,2.5\n", missing="drop")


def test_the_column_that_costs_most_rows_is_blamed(tmp_path):
    lines = [f"{'' if row == 3 else row + 0.5},{row * 0.1 if row % 2 else ''}" for row in range(20)]
    dropped = table(tmp_path, "\n".join(["a,b", *lines]), missing="drop")
    assert said(dropped, "'b' alone costs 10 of these 11 rows; exclude=['b'] keeps them")
    even = table(tmp_path, GAPS, missing="drop")
    assert not said(even, "alone costs")


def test_further_words_may_mean_missing(tmp_path):
    text = "a,b\n1.5,-999\n2.5,oops\n3.5,4\n"
    found = table(tmp_path, text, gap_markers=["-999", "oops"], missing="drop")
    np.testing.assert_array_equal(found.X, [[3.5, 4.0]])


def test_gaps_of_a_sparse_matrix(tmp_path):
    matrix = scipy.sparse.csr_array(np.array([[1.0, 0], [0, np.nan], [2, 3]]))
    scipy.sparse.save_npz(tmp_path / "s.npz", matrix)
    with pytest.raises(InvalidInput, match=r"'column_2' \(1\)"):
        read_table(tmp_path / "s.npz")
    with pytest.raises(InvalidInput, match="no useful column mean"):
        read_table(tmp_path / "s.npz", Reading(missing="mean"))
    found = read_table(tmp_path / "s.npz", Reading(missing="drop"))
    np.testing.assert_array_equal(found.X.toarray(), [[1, 0], [2, 3]])
    np.testing.assert_array_equal(found.rows, [0, 2])
