"""Measures of maps on examples small enough to be worked out by hand, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.class_measures import (
    knn_accuracy,
    majority_class,
    neighborhood_hit,
    silhouette,
)
from dualfold.quality.coranking import co_ranking, common_ranks, neighborhood_curve
from dualfold.quality.distortion import distortion_of_pairs, drawn_pairs, measured_distortion
from dualfold.quality.estimate import (
    drawn_rows,
    estimate_of_mean,
    estimate_of_sums,
    sample_size,
    values_at_all_points,
)
from dualfold.quality.map_axes import close_axes, column_correlations
from dualfold.quality.map_comparison import _off_diagonal_mean, procrustes, repeated_maps, stability
from dualfold.quality.neighborhood_shape import (
    correlation_of_densities,
    density_correlation,
    local_distortion,
)
from dualfold.quality.pair_measures import nonmetric_stress, pool_violators
from dualfold.quality.shepard import shepard

LINE = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]  # every distance once
SWAPPED = np.array([0.0, 3.0, 1.0, 7.0, 15.0])[:, None]  # rows 1 and 2 changed places


# ---- ranks


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
    row, first, second = common_ranks(np.array([[4, 2]]), np.array([[2, 9]]))
    assert (row.tolist(), first.tolist(), second.tolist()) == ([0], [1], [0])


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
def test_limits_of_a_sampled_curve_are_normal_ones(most):
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
    half = 1.96 * each.std(axis=0, ddof=1) / np.sqrt(m) * np.sqrt(1 - m / n)
    np.testing.assert_allclose(curve.low, np.maximum(curve.q_nx - half, 0), atol=1e-12)
    np.testing.assert_allclose(curve.high, np.minimum(curve.q_nx + half, 1), atol=1e-12)
    assert np.isnan(curve.auc_per_point).sum() == n - m


# ---- intervals


def test_the_interval_of_a_mean_is_students():
    values = np.array([0.1, 0.4, 0.4, 0.9])
    found = estimate_of_mean(values, 10, (0.0, 1.0))
    se = values.std(ddof=1) / 2 * np.sqrt(1 - 4 / 10)
    low, high = scipy.stats.t.interval(0.95, 3, loc=0.45, scale=se)
    assert float(found) == pytest.approx(0.45)
    assert (found.low, found.high) == (pytest.approx(max(low, 0)), pytest.approx(min(high, 1)))
    assert (found.sampled, found.confidence) == (4, 0.95)
    assert estimate_of_mean(values, 4, (0.0, 1.0)) == pytest.approx(0.45)
    assert type(estimate_of_mean(values, 4, (0.0, 1.0))) is float
    wide = estimate_of_mean(np.array([0.0, 1.0]), 10, (0.0, 1.0))
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_the_interval_of_a_ratio_leaves_out_one_row_after_the_other():
    sums = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0], [1.0, 9.0]])

    def ratio(total):
        return total[..., 0] / total[..., 1]

    found = estimate_of_sums(sums, 9, ratio, (0.0, 1.0))
    without = np.array([ratio(np.delete(sums, i, axis=0).sum(axis=0)) for i in range(4)])
    variance = 3 / 4 * np.square(without - without.mean()).sum() * (1 - 4 / 9)
    half = scipy.stats.t.ppf(0.975, 3) * np.sqrt(variance)
    assert float(found) == pytest.approx(7 / 24)
    assert found.high == pytest.approx(7 / 24 + half)
    assert found.low == pytest.approx(max(0.0, 7 / 24 - half))
    assert estimate_of_sums(sums, 4, ratio, (0.0, 1.0)) == pytest.approx(7 / 24)


def test_which_rows_are_drawn():
    assert drawn_rows(5, None, 0) is None
    assert drawn_rows(5, 5, 0) is None
    rows = drawn_rows(100, 7, 3)
    assert (len(set(rows.tolist())), rows.min() >= 0, rows.max() < 100) == (7, True, True)
    assert (np.diff(rows) > 0).all()
    for wrong in (1, True, 2.5, "3"):
        with pytest.raises(InvalidInput, match="two or more"):
            drawn_rows(5, wrong, 0)
    assert [sample_size(n) for n in (5_000, 5_001)] == [None, 1_000]
    assert [sample_size(10, asked) for asked in (9, 10, 11)] == [9, None, None]
    np.testing.assert_array_equal(
        values_at_all_points(np.array([2.0, 3.0]), np.array([0, 2]), 3)[[0, 2]], [2, 3]
    )
    assert np.isnan(values_at_all_points(np.array([2.0, 3.0]), np.array([0, 2]), 3)[1])


# ---- distances


def test_distortion_of_five_points():
    """Squared distances of the image are 4 times as long, but for those of the last row."""
    image = 2 * LINE.copy()
    image[4] = 15.0 + 1.0
    X2, Y2 = (np.square(Z - Z.T)[np.triu_indices(5, 1)] for Z in (LINE, image))
    ratios = Y2 / X2
    found = measured_distortion(LINE, image, eps=0.5)
    inside = np.mean(np.abs(ratios - 1) <= 0.5)
    assert found.exhaustive
    assert (found.share, found.low, found.high, found.value) == (inside,) * 4
    assert found.gap == pytest.approx(1 - inside)
    assert (found.level, found.tolerance) == ("measured", 0.0)
    assert (found.n_pairs, found.duplicates, found.chance, found.bound) == (10, 0, 0.0, 1.0)
    assert found.mean == pytest.approx(ratios.mean())
    levels = np.array([level for level, _ in found.quantiles])
    np.testing.assert_allclose([v for _, v in found.quantiles], np.quantile(ratios, levels))
    sparse = measured_distortion(sp.csr_array(LINE), image, eps=0.5)
    assert sparse.mean == pytest.approx(found.mean)
    twice = measured_distortion(np.vstack([LINE, LINE[:1]]), np.vstack([image, image[:1]]), eps=0.5)
    assert (twice.n_pairs, twice.duplicates) == (14, 1)
    with pytest.raises(InvalidInput, match="all points are equal"):
        measured_distortion(np.ones((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("inside", [0, 3, 8])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(inside):
    X = np.arange(9.0)[:, None]
    Y = X.copy()
    Y[inside + 1 :] += 1000.0
    first, second = np.arange(8), np.arange(1, 9)
    far = np.full(8, 5.0)
    far[:inside] = 1.0
    Y = np.r_[0.0, np.cumsum(far)][:, None]
    found = distortion_of_pairs(X, Y, first, second, eps=0.1, confidence=0.9)
    wanted = scipy.stats.binomtest(inside, 8).proportion_ci(0.9, method="exact")
    assert (found.low, found.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert found.chance == pytest.approx(0.1)
    assert not found.exhaustive


def test_drawn_pairs_are_different_and_all_equally_likely():
    first, second = drawn_pairs(4, 24_000, 0)
    assert (first != second).all()
    counts = np.bincount(4 * first + second, minlength=16).reshape(4, 4)
    off = counts[~np.eye(4, dtype=bool)]
    assert (off > 1_700).all()  # 2,000 expected, standard deviation 43
    assert (off < 2_300).all()


def test_rising_curves_of_three_pairs():
    """Distances 1, 2, 3 became 5, 3, 10: the first two are pooled to 4."""
    starts, heights, weights = pool_violators(
        np.array([1.0, 2, 3]), np.array([5.0, 3, 10]), np.ones(3)
    )
    assert (starts.tolist(), heights.tolist(), weights.tolist()) == ([1, 3], [4, 10], [2, 1])
    X = np.array([[0.0], [1.0], [3.0]])  # distances 1 (0,1), 2 (1,2), 3 (0,2)
    Y = np.array([[0.0, 0], [5.0, 0], [7.0, np.sqrt(8.0)]])  # 5, √12, √57
    d = np.array([5.0, np.sqrt(12), np.sqrt(57)])
    fitted = np.array([d[:2].mean(), d[:2].mean(), d[2]])
    wanted = np.sqrt(np.square(d - fitted).sum() / np.square(d).sum())
    assert nonmetric_stress(X, Y) == pytest.approx(wanted)
    each = nonmetric_stress(X, Y, per_point=True)
    off = np.square(d - fitted)
    by_hand = np.sqrt([off[0] / (d[0] ** 2 + d[2] ** 2), off[:2].sum() / np.square(d[:2]).sum(),
                       off[1] / (d[1] ** 2 + d[2] ** 2)])  # fmt: skip
    np.testing.assert_allclose(each, by_hand)


def test_every_pair_is_in_its_cell():
    """Distances 1, 2, 3 of X and 2, 4, 6 of Y, from both ends."""
    X = np.array([[0.0], [1.0], [3.0]])
    diagram = shepard(X, 2 * X, bins=4)
    assert diagram.counts.sum() == 6
    width = diagram.before[1]
    for distance in (1.0, 2.0, 3.0):
        place = int(distance // width)
        assert diagram.counts[place].sum() == 2
        assert diagram.counts[place, int(2 * distance // diagram.after[1])] == 2
        assert diagram.typical()[place] == pytest.approx(2 * distance, abs=diagram.after[1])
    assert len(diagram.before) == diagram.counts.shape[0] + 1
    assert width <= 3 / 4
    # From the middle the range starts at 2 and doubles to 4 when 3 is met.
    turned = shepard(X[[1, 0, 2]], 2 * X[[1, 0, 2]], bins=4)
    assert turned.counts.sum() == 6
    assert turned.before[1] == pytest.approx(4 / 8, rel=1e-6)
    assert turned.counts[int(3.0 // turned.before[1])].sum() == 2


# ---- shapes and densities


def test_neighbourhoods_of_three_points_by_hand():
    """Of a triangle and its mirrored, scaled image nothing is lost; of one on a line something."""
    X = np.array([[0.0, 0], [1, 0], [0, 1]])
    assert local_distortion(X, 3 * X[:, ::-1] + 5, n_neighbors=2) == pytest.approx(0, abs=1e-12)
    flat = np.array([[0.0, 0], [1, 0], [0.5, 0]])
    centred, image = X - X.mean(axis=0), flat - flat.mean(axis=0)
    strengths = np.linalg.svd(image.T @ centred, compute_uv=False)
    left = 1 - strengths.sum() ** 2 / (np.square(centred).sum() * np.square(image).sum())
    assert local_distortion(X, flat, n_neighbors=2) == pytest.approx(left)
    assert local_distortion(X, np.zeros((3, 2)), n_neighbors=2) == 1.0
    assert local_distortion(np.zeros((3, 2)), X, n_neighbors=2) == 0.0
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    assert local_distortion(apart, flat, n_neighbors=2, metric="precomputed") == pytest.approx(left)


def test_densities_by_hand():
    before = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5], [2.0, 2.0], [0.0, 0.0]])
    after = np.array([[2.0, 2.0], [3.0, 3.0], [1.0, 2.0], [1.0, 1.0], [1.0, 1.0]])
    logs = [np.log(np.square(part[:4]).mean(axis=1)) for part in (before, after)]
    r = np.corrcoef(*logs)[0, 1]
    assert correlation_of_densities(before, after, 5) == pytest.approx(r)
    sampled = correlation_of_densities(before, after, 20)
    half = 1.96 * np.sqrt((1 - 5 / 20) / (4 - 3))
    assert sampled.low == pytest.approx(np.tanh(np.arctanh(r) - half))
    assert sampled.high == pytest.approx(np.tanh(np.arctanh(r) + half))
    assert sampled.sampled == 4
    assert correlation_of_densities(before, np.ones((5, 2)), 5) == 0.0
    assert correlation_of_densities(before[:1], after[:1], 1) == 0.0
    assert density_correlation(LINE, 2 * LINE, n_neighbors=2) == pytest.approx(1.0)


# ---- classes


def test_classes_of_five_points():
    labels = np.array(["a", "a", "b", "b", "b"])
    d = np.abs(LINE - LINE.T)
    by_hand = []
    for i, own in enumerate(labels):
        a = d[i, (labels == own) & (np.arange(5) != i)].mean()
        b = d[i, labels != own].mean()
        by_hand.append((b - a) / max(a, b))
    np.testing.assert_allclose(silhouette(LINE, labels, per_point=True), by_hand)
    alone = silhouette(LINE, np.array([0, 1, 1, 1, 1]), per_point=True)
    assert alone[0] == 0.0
    # The nearest two: 0: 12, 1: 02, 2: 10, 3: 21, 4: 32.
    np.testing.assert_allclose(
        neighborhood_hit(LINE, labels, n_neighbors=2, per_point=True), [0.5, 0.5, 0, 0.5, 1]
    )
    right = knn_accuracy(LINE, labels, n_neighbors=2, per_point=True)
    np.testing.assert_array_equal(right, [1, 1, 0, 0, 1])  # a tie goes to "a"
    assert majority_class(np.array([[0, 1, 2]]), np.array([2, 1, 2]), 3).tolist() == [2]
    assert silhouette(np.zeros((4, 1)), np.array([0, 0, 1, 1])) == 0.0
    for wrong in (np.zeros(5), np.arange(5), np.zeros(4)):
        with pytest.raises(InvalidInput, match="labels"):
            silhouette(LINE, wrong)


# ---- axes


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


# ---- maps against maps


def test_alignments_by_hand():
    square = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1]])
    turn = np.array([[0.0, 1], [-1, 0]])
    moved = 2 * square @ turn + [3, 4]
    fit = procrustes(square, moved)
    np.testing.assert_allclose(fit.points, square, atol=1e-12)
    assert fit.scale == pytest.approx(0.5)
    assert fit.disparity == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(fit.scale * (moved @ fit.rotation) + fit.shift, square, atol=1e-12)
    fixed = procrustes(square, moved, scale=1.0)
    # Twice as large in the same place: each corner is √2 too far out.
    np.testing.assert_allclose(fixed.residuals, np.sqrt(2.0), rtol=1e-12)
    assert fixed.disparity == pytest.approx(1.0)
    one = procrustes(np.array([[0.0], [2.0], [4.0]]), np.array([[0.0], [0.0], [3.0]]))
    assert one.disparity == pytest.approx(1 - (6.0**2) / (8 * 6))
    assert procrustes(np.zeros((3, 2)), square[:3]).disparity == 1.0
    assert procrustes(np.zeros((3, 2)), np.ones((3, 2))).disparity == 0.0
    assert procrustes(square, np.ones((4, 1))).disparity == pytest.approx(1.0)
    assert procrustes(square, np.ones((4, 1))).scale == 1.0
    with pytest.raises(InvalidInput, match="'best'"):
        procrustes(square, square, scale="worst")


def test_stability_by_hand():
    rng = np.random.default_rng(5)
    first = rng.normal(size=(12, 2))
    second, third = first[:, ::-1] * 3, first.copy()
    third[0] += 2.0
    found = stability([first, second, third], n_neighbors=3)
    assert found.disparities[0, 1] == pytest.approx(0, abs=1e-12)
    assert found.agreements[0, 1] == 1.0
    own = procrustes(first, third).disparity
    assert found.disparities[0, 2] == pytest.approx(own)
    assert found.disparities[1, 2] == pytest.approx(procrustes(second, third).disparity)
    assert found.disparity == pytest.approx(np.mean(found.disparities[np.triu_indices(3, 1)]))
    assert found.agreement == pytest.approx(np.mean(found.agreements[np.triu_indices(3, 1)]))
    each = quality.neighbor_agreement(first, third, n_neighbors=3, per_point=True)
    np.testing.assert_allclose(found.per_point, (1 + 2 * each) / 3)
    # Two of the three places coincide; the third is `away` from them: the mean square is 2/9.
    away = np.linalg.norm(procrustes(first, third).points - first, axis=1)
    radius = np.sqrt(np.square(first - first.mean(axis=0)).sum(axis=1).mean())
    np.testing.assert_allclose(found.spread, away * np.sqrt(2) / 3 / radius, atol=1e-9)
    assert _off_diagonal_mean(np.array([[5.0, 1, 2], [1, 5, 3], [2, 3, 5]])) == pytest.approx(2.0)
    parts = stability([first[:10], first[2:] * 2], [np.arange(10), np.arange(2, 12)], n_neighbors=3)
    assert np.isnan(parts.per_point[:2]).all()
    assert np.isnan(parts.spread[[0, 1, 10, 11]]).all()
    np.testing.assert_allclose(parts.spread[2:10], 0, atol=1e-9)
    with pytest.raises(InvalidInput, match="share 3 points"):
        stability([first[:5], first[2:]], [np.arange(5), np.arange(2, 12)], n_neighbors=3)


def test_repeated_maps_draw_their_rows():
    X = np.arange(20.0)[:, None]
    maps, rows = repeated_maps(lambda points, seed: points * 2, X, runs=3, share=0.25)
    assert [len(r) for r in rows] == [5, 5, 5]
    assert len({tuple(r) for r in rows}) > 1
    for made, own in zip(maps, rows, strict=True):
        np.testing.assert_array_equal(made, 2 * X[own])
        assert (np.diff(own) > 0).all()
    seeds = []
    _, rows = repeated_maps(lambda points, seed: seeds.append(seed) or points, X, runs=2)
    assert all((r == np.arange(20)).all() for r in rows)
    assert len(set(seeds)) == 2
    for wrong in ({"share": 0.0}, {"share": 1.5}, {"runs": 1}):
        with pytest.raises(InvalidInput, match="runs"):
            repeated_maps(lambda points, seed: points, X, **wrong)
