"""Ranks before and after, and the curves made of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality import neighborhood_curve
from tests.quality.door import Picture, co_ranking, drawn_rows, estimate_of_mean

X = np.random.default_rng(0).normal(size=(120, 4))


def test_a_sampled_curve_lies_within_its_limits():
    curve = neighborhood_curve(X, X[:, :2].copy(), 20, sample=40)
    whole = neighborhood_curve(X, X[:, :2].copy(), 20)
    assert (curve.low <= curve.q_nx).all()
    assert (curve.q_nx <= curve.high).all()
    assert (curve.low < curve.high).any()
    assert (curve.low >= 0).all()
    assert (curve.high <= 1).all()
    assert np.mean((curve.low <= whole.q_nx) & (whole.q_nx <= curve.high)) >= 0.7


LINE = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]  # every distance once
SWAPPED = np.array([0.0, 3.0, 1.0, 7.0, 15.0])[:, None]  # rows 1 and 2 changed places


def test_ranks_of_five_points():
    """Neighbours of LINE: 0: 1234, 1: 0234, 2: 1034, 3: 2104, 4: 3210. SWAPPED: 1 and 2 renamed."""
    table = co_ranking(LINE, SWAPPED, 4)
    before = [[1, 2, 3, 4], [0, 2, 3, 4], [1, 0, 3, 4], [2, 1, 0, 4], [3, 2, 1, 0]]
    after = [[2, 1, 3, 4], [2, 0, 3, 4], [0, 1, 3, 4], [1, 2, 0, 4], [3, 1, 2, 0]]
    counts = np.zeros((4, 4), dtype=int)
    for a, b in zip(before, after, strict=True):
        for rank, name in enumerate(a):
            counts[rank, b.index(name)] += 1
    np.testing.assert_array_equal(table.counts, counts)
    assert (table.n, table.sampled, table.max_rank) == (5, 5, 4)
    np.testing.assert_allclose(table.q_nx(), [1 / 5, 9 / 10, 1.0, 1.0])


def test_curves_of_five_points():
    q = np.array([1 / 5, 9 / 10, 1.0])
    sizes = np.array([1, 2, 3])
    r = (4 * q - sizes) / (4 - sizes)
    for most in (None, 3):
        curve = neighborhood_curve(LINE, SWAPPED, most)
        np.testing.assert_allclose(curve.q_nx, q)
        np.testing.assert_allclose(curve.r_nx, r)
        np.testing.assert_allclose(curve.lcmc, q - sizes / 4)
        assert curve.auc == pytest.approx((r / sizes).sum() / (1 + 1 / 2 + 1 / 3))
        assert (curve.best_size, curve.max_rank) == (2, 3)
        assert curve.q_local == pytest.approx(0.55)
        assert curve.q_global == pytest.approx(1.0)
        np.testing.assert_array_equal(curve.low, curve.q_nx)
        assert curve.auc_per_point.mean() == pytest.approx(curve.auc)
    short = neighborhood_curve(LINE, SWAPPED, 1)
    np.testing.assert_allclose(short.q_nx, [0.2])
    assert np.isnan(short.q_global)
    with pytest.raises(InvalidInput, match="three points"):
        neighborhood_curve(LINE[:2], LINE[:2])


@pytest.mark.parametrize("most", [2, 30])
def test_limits_of_a_sampled_curve_are_those_of_its_means(most):
    rng = np.random.default_rng(0)
    X, m, n = rng.normal(size=(40, 3)), 12, 40
    curve = neighborhood_curve(X, X[:, :2], most, sample=m, random_state=1)
    rows = drawn_rows(n, m, 1)
    each = np.zeros((m, curve.max_rank))
    for place, i in enumerate(rows):
        near = [np.argsort(np.linalg.norm(Z - Z[i], axis=1))[1:] for Z in (X, X[:, :2])]
        for k in range(curve.max_rank):
            each[place, k] = len({*near[0][: k + 1]} & {*near[1][: k + 1]}) / (k + 1)
    np.testing.assert_allclose(curve.q_nx, each.mean(axis=0))
    for size, values in enumerate(each.T):
        whole = estimate_of_mean(values, n, (0.0, 1.0))
        assert (curve.low[size], curve.high[size]) == pytest.approx((whole.low, whole.high))
    assert np.isnan(curve.auc_per_point).sum() == n - m


def test_limits_of_a_long_curve_are_interpolated_between_near_sizes():
    X = np.random.default_rng(0).normal(size=(700, 3))
    curve = neighborhood_curve(X, X[:, :2], sample=60)
    assert curve.max_rank == 698
    assert ((curve.low <= curve.q_nx) & (curve.q_nx <= curve.high)).all()
    few = neighborhood_curve(X, X[:, :2], 150, sample=60)  # each size on its own
    np.testing.assert_allclose(curve.low[:150], few.low, atol=2e-3)
    np.testing.assert_allclose(curve.high[:150], few.high, atol=2e-3)


def test_few_points_have_a_curve_and_a_chance():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    assert len(neighborhood_curve(X[:3], X[:3]).q_nx) == 1
    curve = neighborhood_curve(X, X, 3)
    assert curve.sizes.tolist() == [1, 2]  # all but one: beyond that everybody is kept
    assert (curve.q_nx == 1).all()
    assert Picture(0.5, 11, 5).chance == 0.5
    assert Picture(0.5, 11, 5).beyond_chance == 0.0


def brute_co_ranking(X, Y):
    def ranks(P):
        order = np.argsort(cdist(P, P) - 1e9 * np.eye(len(P)), axis=1, kind="stable")
        return np.argsort(order, axis=1)

    n = len(X)
    counts = np.zeros((n - 1, n - 1), dtype=int)
    off = ~np.eye(n, dtype=bool)
    np.add.at(counts, (ranks(X)[off] - 1, ranks(Y)[off] - 1), 1)
    return counts


def test_co_ranking_and_curves_by_brute_force(pair):
    X, Y = pair
    n, truth = len(X), brute_co_ranking(*pair)
    np.testing.assert_array_equal(co_ranking(X, Y, n - 1).counts, truth)
    np.testing.assert_array_equal(co_ranking(X, Y, 20).counts, truth[:20, :20])
    sizes = np.arange(1, n - 1)
    q = np.array([truth[:k, :k].sum() / (k * n) for k in sizes])
    r = ((n - 1) * q - sizes) / (n - 1 - sizes)
    for most in (None, 100, 20):
        curve = neighborhood_curve(X, Y, most)
        m = curve.max_rank
        assert m == (most or n - 2)
        np.testing.assert_allclose(curve.q_nx, q[:m], atol=1e-13)
        np.testing.assert_allclose(curve.r_nx, r[:m], atol=1e-12)
        np.testing.assert_allclose(curve.lcmc, q[:m] - sizes[:m] / (n - 1), atol=1e-13)
        area = np.sum(r[:m] / sizes[:m]) / np.sum(1 / sizes[:m])
        assert curve.auc == pytest.approx(area, abs=1e-13)
        assert np.mean(curve.auc_per_point) == pytest.approx(area, abs=1e-13)
        np.testing.assert_allclose(co_ranking(X, Y, m).q_nx(), q[:m], atol=1e-13)
    curve = neighborhood_curve(X, Y)
    assert curve.best_size == 1 + int(np.argmax(q - sizes / (n - 1)))
    assert curve.q_local == pytest.approx(q[: curve.best_size].mean())
    assert curve.q_global == pytest.approx(q[curve.best_size :].mean())


def test_curves_of_ties_agree_with_the_lists():
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 3, (90, 10)) * 1.0, rng.integers(0, 4, (90, 2)) * 1.0
    whole, lists = neighborhood_curve(X, Y), neighborhood_curve(X, Y, 20)
    np.testing.assert_allclose(whole.q_nx[:20], lists.q_nx, atol=1e-14)
    assert whole.q_nx[9] == pytest.approx(quality.t_similarity(X, Y, 10))


def test_co_ranking_is_that_of_pydrmetrics(pair):
    theirs = pytest.importorskip(
        "pyDRMetrics.pyDRMetrics", reason="pyDRMetrics is not installed (pip install pyDRMetrics)"
    ).DRMetrics(*pair)
    n = len(pair[0])
    np.testing.assert_array_equal(co_ranking(*pair, n - 1).counts, theirs.Q[1:, 1:])
    # Its Q_NX divides by n − 1 points where there are n.
    ours = neighborhood_curve(*pair).q_nx
    np.testing.assert_allclose(ours, theirs.QNN[: n - 2] * (n - 1) / n, atol=1e-12)
