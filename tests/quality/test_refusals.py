"""What measures refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.map_axes import far_rows

X = np.random.default_rng(0).normal(size=(12, 3))
REFUSALS = {
    "two maps or more; 1 given": lambda: quality.stability([X]),
    "one index for each point": lambda: quality.stability([X, X], rows=[[1], [2]]),
    "its shape is (3,)": lambda: quality.stability([X[0], X[0]]),
    "scale=inf must be a finite number": lambda: quality.stress(X, X, scale=np.inf),
    "a number or 'best'": lambda: quality.stress(X, X, scale="worst"),
    "a whole number from 1 to 4096; it is 0": lambda: quality.shepard(X, X, bins=0),
    "from 1 to 4096; it is 1000000": lambda: quality.shepard(X, X, bins=10**6),
    "rows of different lengths": lambda: quality.trustworthiness(X, [[1, 2], [3]]),
    "needs two rows or more for its variances": lambda: quality.stress(
        X[:1], X[:1], metric="seuclidean"
    ),
    "X has 11 rows and Y has 12": lambda: quality.column_correlations(X[:11], X),
    "holds NaN, infinity or": lambda: quality.column_correlations(np.where(X > 0, 1e308, X), X),
    "they must be tables": lambda: quality.measured_distortion(True, X),
    "n_pairs=-1 must be 1 or more": lambda: quality.measured_distortion(X, X, n_pairs=-1),
    "its shape is (36,)": lambda: far_rows(X.ravel()),
    "a whole number from 0 on": lambda: quality.stress(X, X, sample=5, random_state=-1),
    "could not be computed": lambda: quality.stress(np.ones((12, 2)), X, metric="mahalanobis"),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_negative_distances_are_refused():
    D = np.ones((6, 6)) - np.eye(6)
    D[1, 2] = D[2, 1] = -0.5
    with pytest.raises(InvalidInput, match="negative"):
        quality.distance_correlation(
            D, np.random.default_rng(0).normal(size=(6, 2)), metric="precomputed"
        )


def test_bins_are_whole_numbers_from_1():
    X = np.random.default_rng(7).normal(size=(8, 2))
    for bins in (0, -3, 2.5, "ten"):
        with pytest.raises(InvalidInput, match="bins"):
            quality.shepard(X, X, bins=bins)
    assert quality.shepard(X, X, bins=1) is not None


def test_lists_of_distances_are_distances():
    D = np.abs(np.arange(5.0)[:, None] - np.arange(5.0))
    Y = np.arange(5.0)[:, None]
    given = quality.distance_correlation(D.tolist(), Y, metric="precomputed")
    assert given == pytest.approx(1.0)


def test_tables_of_every_kind_have_the_measures_of_the_array():
    Y = X[:, :2] + 0.1
    for kind in (sp.csr_array, sp.coo_array, list, lambda table: table.astype(object)):
        assert quality.procrustes(kind(X), kind(Y)).disparity == pytest.approx(
            quality.procrustes(X, Y).disparity, rel=1e-12
        )
        assert quality.trustworthiness(kind(X), Y, metric="mahalanobis") == pytest.approx(
            quality.trustworthiness(X, Y, metric="mahalanobis")
        )
        p_values = quality.conformal_p_values(kind(X), kind(X[:3]))
        np.testing.assert_array_equal(p_values, quality.conformal_p_values(X, X[:3]))
    one = X[:, :1]
    same = quality.t_similarity(one, one, 3)
    assert quality.t_similarity(one, one, 3, metric="mahalanobis") == same


def test_the_stress_of_equal_rows_is_infinite_for_a_sample_too():
    assert quality.stress(np.ones((12, 2)), X, scale=2.0, sample=5) == np.inf
