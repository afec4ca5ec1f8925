"""Quality of neighbourhoods: brute force, peers, hand-made cases, invariances."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.graph import geodesic_distances, knn
from tests.quality.brute_force import measures_agree
from tests.quality.door import neighbor_ranks


def test_measures_of_ties_and_duplicates_by_brute_force():
    rng = np.random.default_rng(1)
    # Sums of small integer squares are exact everywhere, so ties are ties for all.
    X = rng.integers(0, 3, (130, 10)).astype(float)
    Y = rng.integers(0, 4, (130, 2)).astype(float)
    measures_agree(X, Y, cdist(X, X), 7)
    measures_agree(Y, X, cdist(Y, Y), 20)


def test_measures_of_any_kind_of_data(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((90, 12)) * (rng.random((90, 12)) < 0.5)
    Y = X[:, :2] + 0.3 * rng.standard_normal((90, 2))
    D = cdist(X, X)
    measures_agree(sp.csr_array(X), Y, D, 6)
    measures_agree(D, Y, D, 6, metric="precomputed")
    narrow = X.astype(np.float32)
    measures_agree(narrow, Y, cdist(narrow.astype(float), narrow.astype(float)), 6)
    held = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    held[:] = X
    measures_agree(held, Y, D, 6)
    for metric in ("manhattan", "chebyshev", "cosine", "seuclidean", "mahalanobis"):
        known = {"manhattan": "cityblock"}.get(metric, metric)
        measures_agree(X, Y, cdist(X, X, known), 6, metric=metric)
    measures_agree(X, Y, cdist(X, X, "cityblock"), 6, metric=lambda a, b: np.abs(a - b).sum())
    graph = knn(X, 12)
    measures_agree(graph, Y, geodesic_distances(graph, np.arange(90)).astype(float), 6)


def test_trustworthiness_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((700, 30))
    Y = X[:, :2] + 0.5 * rng.standard_normal((700, 2))
    for k in (1, 5, 40, 349):
        theirs = sklearn.manifold.trustworthiness(X, Y, n_neighbors=k)
        assert quality.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(theirs, abs=1e-13)
    theirs = sklearn.manifold.trustworthiness(X, Y, metric="cosine")
    assert quality.trustworthiness(X, Y, metric="cosine") == pytest.approx(theirs, abs=1e-13)
    assert quality.trustworthiness(X, Y) == quality.trustworthiness(X, Y, n_jobs=1)


def test_neighbourhoods_are_those_of_zadu():
    pytest.importorskip("zadu", reason="zadu is not installed (pip install zadu)")
    from zadu.measures import local_continuity_meta_criteria as local
    from zadu.measures import mean_relative_rank_error, trustworthiness_continuity

    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 8))
    Y = X[:, :2] + 0.5 * rng.standard_normal((300, 2))
    theirs = trustworthiness_continuity.measure(X, Y, k=12)
    ranks = neighbor_ranks(X, Y, 12)
    assert ranks.trustworthiness() == pytest.approx(theirs["trustworthiness"], abs=1e-12)
    assert ranks.continuity() == pytest.approx(theirs["continuity"], abs=1e-12)
    theirs = mean_relative_rank_error.measure(X, Y, k=12)
    errors = (1 - theirs["mrre_false"], 1 - theirs["mrre_missing"])
    assert ranks.mean_relative_rank_errors() == pytest.approx(errors, abs=1e-12)
    theirs = local.measure(X, Y, k=12)
    assert ranks.lcmc() == pytest.approx(theirs["lcmc"], abs=1e-12)


def reversed_map(n, rng):
    """Distances D and points whose distances fall where D rises.

    √(c − D²) for a large c is nearly the same for all pairs, a simplex with small changes,
    and small changes of a simplex can be embedded.
    """
    X = rng.standard_normal((n, 4))
    squares = cdist(X, X) ** 2
    other = 100 * squares.max() - squares
    np.fill_diagonal(other, 0)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ other @ centre)
    assert values.min() > -1e-9 * values.max()
    return X, vectors * np.sqrt(np.maximum(values, 0))


def test_reversed_neighbours_score_nothing():
    n, k = 31, 6
    X, Y = reversed_map(n, np.random.default_rng(0))
    assert quality.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(0, abs=1e-12)
    assert quality.continuity(X, Y, n_neighbors=k) == pytest.approx(0, abs=1e-12)
    assert quality.t_similarity(X, Y, k) == 0
    assert quality.lcmc(X, Y, n_neighbors=k) == pytest.approx(-k / (n - 1))
    error = sum((n - 2 * m) / m for m in range(1, k + 1))
    error /= sum((n - 2 * m + 1) / m for m in range(1, k + 1))
    errors = quality.mean_relative_rank_errors(X, Y, n_neighbors=k)
    assert errors == pytest.approx((error, error))
    assert quality.neighborhood_curve(X, Y).q_nx[: n // 2 - 1].max() == 0


def test_two_swapped_points_by_hand():
    X = np.array([0.0, 1, 3, 7, 15, 31])[:, None]
    Y = X[[0, 1, 2, 3, 5, 4]]
    # Around the swapped two: the false neighbours have ranks 5 and 2, the lost ones 2 and 5.
    ranks = neighbor_ranks(X, Y, 1)
    assert ranks.t_similarity() == pytest.approx(4 / 6)
    assert ranks.trustworthiness() == pytest.approx(1 - 5 / 24)
    assert ranks.continuity() == pytest.approx(1 - 5 / 24)
    np.testing.assert_allclose(
        ranks.trustworthiness(per_point=True), [1, 1, 1, 1, 1 - 4 / 4, 1 - 1 / 4]
    )
    np.testing.assert_allclose(ranks.continuity(per_point=True), [1, 1, 1, 1, 1 - 1 / 4, 1 - 4 / 4])


def test_a_permuted_map():
    rng = np.random.default_rng(5)
    angle = 2 * np.pi * np.arange(40) / 40
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    # A ring turned or mirrored onto itself is a permutation that keeps every neighbour.
    for order in (np.roll(np.arange(40), 7), np.arange(40)[::-1]):
        ranks = neighbor_ranks(ring, ring[order], 4)
        assert ranks.trustworthiness() == ranks.continuity() == ranks.t_similarity() == 1
    X = rng.standard_normal((60, 5))
    Y = X[rng.permutation(60)]
    measures_agree(X, Y, cdist(X, X), 5)
    assert quality.t_similarity(X, Y, 5) < 0.25


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(12, 60), st.integers(1, 10), st.integers(1, 5))
def test_bounds_symmetry_and_invariance(seed, n, width, k):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, width)), rng.standard_normal((n, 2))
    trust = quality.trustworthiness(X, Y, n_neighbors=k, per_point=True)
    assert (trust >= -1e-12).all()
    assert (trust <= 1).all()
    np.testing.assert_array_equal(trust, quality.continuity(Y, X, n_neighbors=k, per_point=True))
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0]
    moved = 7 * (X @ turn) + 3
    ranks, again = neighbor_ranks(X, Y, k), neighbor_ranks(moved, -Y, k)
    order = rng.permutation(n)
    mixed = neighbor_ranks(X[order], Y[order], k)
    assert all(0 <= error <= 1 for error in ranks.mean_relative_rank_errors())
    for name in ("trustworthiness", "continuity", "t_similarity", "lcmc"):
        value = getattr(ranks, name)(per_point=True)
        np.testing.assert_allclose(getattr(again, name)(per_point=True), value, atol=1e-12)
        np.testing.assert_allclose(getattr(mixed, name)(per_point=True), value[order], atol=1e-12)


def test_fewer_neighbours_of_the_same_ranks():
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((100, 6)), rng.standard_normal((100, 2))
    ranks = neighbor_ranks(X, Y, 12)
    for k in (1, 5, 12):
        assert ranks.trustworthiness(k) == quality.trustworthiness(X, Y, n_neighbors=k)
        assert ranks.continuity(k) == quality.continuity(X, Y, n_neighbors=k)
        assert ranks.t_similarity(k) == quality.t_similarity(X, Y, k)
    with pytest.raises(InvalidInput, match="of 12 neighbours"):
        ranks.trustworthiness(13)


def test_memory_stays_far_below_all_distances():
    rng = np.random.default_rng(7)
    n = 4000
    X, Y = rng.standard_normal((n, 40)).astype(np.float32), rng.standard_normal((n, 2))
    tracemalloc.start()
    neighbor_ranks(X, Y, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 5  # scikit-learn holds three such matrices
