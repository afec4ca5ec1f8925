"""Measures of maps: slices and thresholds by their formulas, words and refusals at their limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.graph import knn
from dualfold.graph.lower_bounds import frame_of
from dualfold.methods import tsne
from dualfold.methods._pca import MAX_DENSE_ROWS, MOST_SPARSE_ROWS, pca_matrix
from dualfold.quality import pair_measures, rank_counts
from dualfold.quality.conformal import conformal_p_values
from dualfold.quality.distortion import measured_distortion
from dualfold.quality.map_axes import far_rows
from dualfold.quality.ranks import both_spaces


@pytest.mark.parametrize("drawn", [None, 25])
def test_pairs_are_cut_into_slices_of_a_stated_size(monkeypatch, drawn):
    """All pairs, or those of 25 rows with all others, once each: 50 in a slice, but for ties."""
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 50)
    X = np.random.default_rng(0).normal(size=(40, 3))
    x, y = both_spaces(X, X[:, :2], "euclidean", 1)
    rows = None if drawn is None else np.arange(drawn, dtype=np.int32)
    edges = pair_measures._slice_edges(x, rows)
    between = itertools.pairwise(edges)
    sizes = [len(pair_measures._pairs_between(x, y, rows, low, high)[0]) for low, high in between]
    total = 40 * 39 // 2 if drawn is None else drawn * 39
    assert sum(sizes) == total
    assert max(sizes[1:]) <= 50 + 8
    assert min(sizes[1:-1]) >= 50 - 8


def test_ranks_are_counted_again_between_two_thresholds():
    limits, scale = np.array([[2.0], [3.0]]), 0.5
    near, far = rank_counts._thresholds(limits, scale, 1)
    squares = (limits[:, 0] * scale) ** 2
    spread, margin = rank_counts._SLACK_SHARE, rank_counts._ROUNDING_MARGIN
    below = (squares * (1 - margin) / (1 + spread)).astype(np.float32)
    beyond = (squares * (1 + margin) * (1 + spread)).astype(np.float32)
    assert near[0, 0, :2].tolist() == np.nextafter(below, np.float32(-np.inf)).tolist()
    assert far[0, 0, :2].tolist() == np.nextafter(beyond, np.float32(np.inf)).tolist()
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    frame = frame_of(X, None, None)
    panels, some = rank_counts._Panels(X, frame), frame.coordinates(X)
    square = np.sum(some.vectors.astype(float) ** 2, axis=1)
    error = 1.01 * (X.shape[1] + 16) * 2.0**-24 * square
    error = error + 2.02 * some.slack**2 * (1 + 1 / spread)
    np.testing.assert_allclose(panels.error[:20], error, rtol=1e-6)
    assert (panels.error[:20] >= error).all()


def test_neighbours_are_fewer_than_the_old_rows():
    old = np.random.default_rng(0).normal(size=(6, 2))
    assert conformal_p_values(old, old[:1], n_neighbors=5).shape == (1,)
    for wrong in (0, 6):
        with pytest.raises(InvalidInput, match="must be from 1 to 5, fewer than the 6 old rows"):
            conformal_p_values(old, old[:1], n_neighbors=wrong)


def test_the_least_and_the_largest_ratio_are_said():
    X = np.arange(12.0)[:, None]
    Y = X * np.linspace(1, 2, 12)[:, None]
    found = measured_distortion(X, Y)
    apart = np.subtract.outer(Y[:, 0], Y[:, 0])[np.triu_indices(12, 1)]
    before = np.subtract.outer(X[:, 0], X[:, 0])[np.triu_indices(12, 1)]
    ratios = (apart / before) ** 2
    assert f"ratios from {ratios.min():.3g} to {ratios.max():.3g}" in str(found)


def test_the_smaller_matrix_is_taken_up_to_and_with_its_largest_size():
    dense, sparse = MAX_DENSE_ROWS, MOST_SPARSE_ROWS
    assert dense != sparse
    assert pca_matrix((dense, dense)) == "covariance"
    assert pca_matrix((dense, dense + 1)) == "gram"
    assert pca_matrix((dense + 1, dense + 1)) == "products"
    assert pca_matrix((sparse, sparse), sparse=True) == "covariance"
    assert pca_matrix((sparse + 1, sparse + 1), sparse=True) == "products"


def test_affinities_of_all_neighbours_are_joint():
    X = np.random.default_rng(0).normal(size=(12, 2))
    P = tsne(knn(X, 4), perplexity=2.0).P
    assert P.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((P - P.T).toarray(), 0.0, atol=1e-15)
    assert P.shape == (12, 12)


def test_one_row_of_thirty_may_be_far():
    for n, found in ((29, []), (30, [(0, (3,))])):
        Y = np.linspace(-1, 1, n)[:, None]
        Y[3] = 90.0
        assert [(one.axis, one.rows) for one in far_rows(Y)] == found
