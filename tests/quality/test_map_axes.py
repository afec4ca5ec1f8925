"""Axes of maps: correlations with columns, axes too close to tell apart, rows far out."""

from __future__ import annotations

import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.stats

from dualfold import PCA
from dualfold.quality import column_correlations
from tests.quality.door import close_axes, far_rows


def test_correlations_with_axes_that_are_not_centred():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(30, 3)) + 5, rng.normal(size=(30, 2)) - 7
    X[:, 2] = 4.0
    Y[:, 1] += X[:, 0]
    wanted = np.corrcoef(np.hstack([X[:, :2], Y]).T)[:2, 2:]
    for table in (X, sp.csr_array(X)):
        found = column_correlations(table, Y)
        np.testing.assert_allclose(found[:2], wanted, atol=1e-12)
    np.testing.assert_array_equal(column_correlations(X, Y)[2], 0.0)
    # n(δ/2λ)² against χ² = 5.99: of variances 1 and 1 + δ the border is at δ = 2λ√(5.99/n).
    n, chi = 100, scipy.stats.chi2.ppf(0.95, 2)
    border = 2 * np.sqrt(chi / n)
    for factor, close in ((0.99, True), (1.01, False)):
        delta = factor * border / (1 - factor * border / 2)  # λ is the mean of both
        assert close_axes([1 + delta, 1.0], n) == ([(1, 2)] if close else [])
    assert close_axes([9.0, 4.0, 3.999, 1.0], n) == [(2, 3)]


def test_one_row_of_thirty_may_be_far():
    for n, found in ((29, []), (30, [(0, (3,))])):
        Y = np.linspace(-1, 1, n)[:, None]
        Y[3] = 90.0
        assert [(one.axis, one.rows) for one in far_rows(Y)] == found


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200, 3)) @ rng.standard_normal((3, 5)) + rng.uniform(size=(200, 5))


def test_correlations_are_numpys(table):
    points = table[:, :2] ** 2
    expected = np.corrcoef(table.T, points.T)[:5, 5:]
    np.testing.assert_allclose(column_correlations(table, points), expected, atol=1e-12)
    scattered = np.where(np.abs(table) > 1, table, 0.0)
    expected = np.corrcoef(scattered.T, points.T)[:5, 5:]
    found = column_correlations(sp.csr_array(scattered), points)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    still = np.column_stack([table[:, 0], np.full(200, 3.0)])
    assert (column_correlations(still, points)[1] == 0).all()


def test_loadings_are_covariances_and_give_the_table_back(table):
    model = PCA().fit(table)
    points = model.transform(table) / np.sqrt(model.explained_variance_)
    expected = np.cov(table.T, points.T)[:5, 5:]
    np.testing.assert_allclose(model.loadings_, expected, atol=1e-10)
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, np.cov(table.T), atol=1e-10)
    even = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    model = PCA(n_components=2).fit(pd.DataFrame(even, columns=[*"abcde"]))
    frame = model.loadings_frame()
    expected = column_correlations(even, model.transform(pd.DataFrame(even, columns=[*"abcde"])))
    np.testing.assert_allclose(frame.to_numpy(), expected, atol=1e-10)
    assert (list(frame.index), list(frame.columns)) == ([*"abcde"], ["pca0", "pca1"])


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_axes_called_close_turn_in_another_sample(ratio):
    """Simulated: how far the first axis of 200 rows turns from sample to sample."""
    n, rng = 200, np.random.default_rng(1)
    angles, close = [], 0
    for _ in range(200):
        X = rng.standard_normal((n, 3)) * np.sqrt([ratio, 1.0, 0.1])
        values, vectors = np.linalg.eigh(np.cov(X.T))
        close += (1, 2) in close_axes(values[::-1], n)
        angles.append(np.degrees(np.arccos(min(1.0, abs(vectors[0, -1])))))
    turned = np.quantile(angles, 0.75)
    # Uniform angles have their third quartile at 67.5°, axes that are far apart below 15°.
    if ratio == 2.0:
        assert turned < 15
        assert close <= 20  # δ is 4 standard errors beyond the limit
    else:
        assert turned > 45
        # 95 % by Anderson's law; 200 draws deviate from it by 1.5 % a standard deviation.
        assert 0.88 <= close / 200 <= 0.995


def by_hand(column):
    """Far rows by their definition: distances from the median, all but the farthest hundredth."""
    out = [abs(value - statistics.median(column)) for value in column]
    order = sorted(range(len(out)), key=lambda row: -out[row])
    reach = out[order[max(1, len(out) // 100)]]
    return tuple(row for row in order[: max(1, len(out) // 100)] if out[row] > 4 * reach)


@pytest.mark.parametrize("seed", range(5))
def test_far_rows_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_t(1.5, size=(rng.integers(30, 700), 3))
    expected = {axis: by_hand(column.tolist()) for axis, column in enumerate(Y.T)}
    found = far_rows(Y)
    assert {one.axis: one.rows for one in found} == {a: r for a, r in expected.items() if r}
    for one in found:  # units and places do not matter
        assert [x.rows for x in far_rows(2.0**600 * Y)] == [x.rows for x in found]
        assert one.times > 4


def test_ordinary_maps_have_no_far_rows():
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=(20_000, 2)), rng.exponential(size=(20_000, 2)), np.zeros((50, 2))):
        assert far_rows(Y) == []
    few = np.zeros((29, 1))
    few[3] = 1e9
    assert far_rows(few) == []
    spot = np.zeros((200, 1))
    spot[7] = 1.0
    assert [(one.times, one.rows) for one in far_rows(spot)] == [(np.inf, (7,))]
