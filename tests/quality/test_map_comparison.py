"""Maps against maps: alignments, stability, repeated maps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality import procrustes, repeated_maps, stability


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


def test_points_that_some_maps_lack_are_compared_where_they_are():
    Y = np.random.default_rng(9).normal(size=(8, 2)) + 5.0
    held = [np.arange(8), np.arange(6), np.array([0, 1, 2, 3, 4, 6])]
    spread = stability([Y[rows] for rows in held], held, n_neighbors=2).spread
    np.testing.assert_allclose(spread[:7], 0.0, atol=1e-7)
    assert np.isnan(spread[7])  # on one map only


def test_disparities_are_scipys_and_need_the_same_points(pair):
    A, B = (table[:, :2] for table in pair)
    disparity = scipy_procrustes(A, B)[2]
    for first, second in ((A, B), (B, A), (A, np.pad(B, ((0, 0), (0, 1))))):
        assert procrustes(first, second).disparity == pytest.approx(disparity)
    with pytest.raises(InvalidInput, match="same points"):
        procrustes(A, B[:-1])


def test_points_that_move_are_unstable_and_a_projection_of_subsamples_is_not(pair):
    X, Y = pair
    shaken = Y.copy()
    shaken[:20] += 6 * np.random.default_rng(0).standard_normal((20, 2))
    found = stability([Y, shaken])
    assert found.per_point[:20].mean() < 0.3 < 0.7 < found.per_point[20:].mean()
    assert found.spread[:20].mean() > 3 * found.spread[20:].mean()
    assert json.dumps(found.to_dict())
    assert "2 maps share" in str(found)
    maps, rows = repeated_maps(lambda points, seed: points[:, :2], X, runs=3, share=0.6)
    same = stability(maps, rows)
    assert (same.agreement, same.disparity) == (1, pytest.approx(0, abs=1e-12))
    counts = np.bincount(np.concatenate(rows), minlength=160)
    np.testing.assert_array_equal(np.isfinite(same.per_point), counts[: len(same.per_point)] >= 2)
    with pytest.raises(InvalidInput, match="share 0 points"):
        stability([Y[:80], Y[80:]], [np.arange(80), np.arange(80, 160)])
