"""Axes of maps: correlations with columns, axes too close to tell apart, rows far out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.stats

from dualfold.quality.map_axes import close_axes, column_correlations, far_rows


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
