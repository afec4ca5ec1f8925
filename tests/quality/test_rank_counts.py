"""Ranks are counted again where single precision cannot tell."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.graph.lower_bounds import frame_of
from dualfold.quality import rank_counts
from dualfold.quality.space import space_of


def test_ranks_are_counted_again_between_two_thresholds():
    limits, scale = np.array([[2.0], [3.0]]), 0.5
    near, far = rank_counts._thresholds(rank_counts._RisingLimits.of(limits, 0.0), scale, 1)
    squares = (limits[:, 0] * scale) ** 2
    spread, margin = rank_counts._SLACK_SHARE, rank_counts._ROUNDING_MARGIN
    below = (squares * (1 - margin) / (1 + spread)).astype(np.float32)
    beyond = (squares * (1 + margin) * (1 + spread)).astype(np.float32)
    assert near[:2, 0].tolist() == np.nextafter(below, np.float32(-np.inf)).tolist()
    assert far[:2, 1].tolist() == np.nextafter(beyond, np.float32(np.inf)).tolist()
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    frame = frame_of(X, None, None)
    panels, some = rank_counts._Panels(X, frame), frame.coordinates(X)
    square = np.sum(some.vectors.astype(float) ** 2, axis=1)
    error = 1.01 * (X.shape[1] + 16) * 2.0**-24 * square
    error = error + 2.02 * some.slack**2 * (1 + 1 / spread)
    np.testing.assert_allclose(panels.error[:20], error, rtol=1e-6)
    assert (panels.error[:20] >= error).all()


def test_close_calls_of_ranks_pay_for_storing_and_rounding():
    """e = (K + 16)u|f|² + 2δ²(1 + 1/s), of the module's docstring."""
    depth, rng = 20, np.random.default_rng(4)
    vectors = rng.normal(size=(70, depth)).astype(np.float32)
    for slack in (0.0, 1e-3):
        some = SimpleNamespace(vectors=vectors, slack=slack)
        frame = SimpleNamespace(coordinates=lambda X, some=some: some)
        found = rank_counts._Panels(vectors, frame).error[:70]
        squares = np.sum(vectors.astype(float) ** 2, axis=1)
        least = (depth + 16) * 2.0**-24 * squares + 2 * slack**2 * (
            1 + 1 / rank_counts._SLACK_SHARE
        )
        assert (found >= least).all()
        assert (found <= 1.05 * least).all()


def sorted_ranks(distances, columns, widths):
    """Ranks by plain sorting; rows of distances are infinite where a row meets itself."""
    apart = np.take_along_axis(distances, columns, axis=1)
    low, high = np.maximum(apart - widths, 0), apart + widths
    each = [np.sort(row) for row in distances]
    first = [1 + np.searchsorted(row, own, "left") for row, own in zip(each, low, strict=True)]
    last = [np.searchsorted(row, own, "right") for row, own in zip(each, high, strict=True)]
    return np.array(first), np.array(last)


def tables(kind, width):
    """Random rows, whole numbers with many ties, equal rows, and rows far from the others."""
    rng = np.random.default_rng(width)
    normal = rng.normal(size=(230, width))
    far = normal.copy()
    far[::40] *= 1e6
    answers = rng.integers(0, 3, size=(230, width))
    equal = np.ones((230, width))
    return [table.astype(kind) for table in (normal, far, answers, equal)]


@pytest.mark.parametrize("k", [1, 15, 16, 17, 32, 33, 48, 100, 229])
@pytest.mark.parametrize("width", [2, 20])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_ranks_are_those_of_sorted_distances(kind, width, k):
    """Limits fill blocks or not; repeated, in any order, with ties of any width."""
    rng = np.random.default_rng(k)
    for X in tables(kind, width):
        distances = space_of(X).true_rows(np.arange(len(X)))
        others = np.argsort(rng.random((len(X), len(X) - 1)), axis=1)[:, :k]
        columns = others + (others >= np.arange(len(X))[:, None])
        columns[::7] = columns[::7, :1]
        for tie in (0.0, 0.3):
            expected = sorted_ranks(distances, columns, tie)
            given = rank_counts.given_ranks(
                distances, columns, lambda apart, tie=tie: np.full(apart.shape, tie)
            )
            np.testing.assert_array_equal(given, expected)
            for rows in (None, np.arange(3, 200, 3)):
                some = slice(None) if rows is None else rows
                counted = [
                    rank_counts.euclidean_ranks(
                        X, rows, columns[some], threads, lambda apart, tie=tie: tie
                    )
                    for threads in (1, 4)
                ]
                for found in counted:
                    for part, known in zip(found, expected, strict=True):
                        np.testing.assert_array_equal(part, known[some])
