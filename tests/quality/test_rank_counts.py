"""Ranks are counted again where single precision cannot tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.graph.door import frame_of, principal_directions
from tests.quality.door import (
    SLACK_SHARE,
    PackedPoints,
    RisingLimits,
    euclidean_ranks,
    given_ranks,
    rank_thresholds,
    space_of,
)
from tests.tools.tables import digit_points


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
    copies = normal[rng.integers(0, 5, 230)]
    drawn = digit_points(230)[:, 20 : 20 + width]
    return [
        table.astype(kind) for table in (normal, far, answers, equal, copies, normal + 1e6, drawn)
    ]


@pytest.mark.parametrize("k", [1, 15, 16, 17, 33, 100, 229])
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
            given = given_ranks(
                distances, columns, lambda apart, tie=tie: np.full(apart.shape, tie)
            )
            np.testing.assert_array_equal(given, expected)
            for rows in (None, np.arange(3, 200, 3)):
                some = slice(None) if rows is None else rows
                counted = [
                    euclidean_ranks(X, rows, columns[some], threads, lambda apart, tie=tie: tie)
                    for threads in (1, 4)
                ]
                for found in counted:
                    for part, known in zip(found, expected, strict=True):
                        np.testing.assert_array_equal(part, known[some])


@pytest.mark.parametrize("inflated", [1.0, 1.001])  # a basis that is none moves points further
def test_close_calls_of_ranks_pay_for_storing_and_rounding(inflated):
    """e = (K + 16)u|f|² + 2δ²(1 + 1/s), of the module's docstring."""
    X = np.random.default_rng(1).normal(size=(70, 20)).astype(np.float32)
    frame = frame_of(X, None, inflated * principal_directions(X, 19))
    stored, found = frame.coordinates(X), PackedPoints(X, frame).error[:70]
    squares = np.sum(stored.vectors.astype(float) ** 2, axis=1)
    least = (20 + 16) * 2.0**-24 * squares + 2 * stored.slack**2 * (1 + 1 / SLACK_SHARE)
    assert (found >= least).all()
    assert (found <= 1.05 * least).all()


def test_thresholds_of_ranks_prove_in_exact_arithmetic():
    """Below T/(1 + s) a point is nearer, beyond T'(1 + s) farther."""
    scale, room = 0.37, 1 + Fraction(SLACK_SHARE)
    limits = RisingLimits.of(np.random.default_rng(2).uniform(0.1, 9, size=(40, 3)), 0.01)
    near, far = rank_thresholds(limits, scale, 1)
    for row in range(40):
        for column in range(3):
            low, high = limits.low[row, column], limits.high[row, column]
            squares = [(Fraction(float(limit)) * Fraction(scale)) ** 2 for limit in (low, high)]
            assert Fraction(float(near[row, column])) * room <= squares[0]
            assert Fraction(float(far[row, column + 1])) >= squares[1] * room
            assert near[row, column] >= 0.999999 * float(squares[0])
            assert far[row, column + 1] <= 1.000001 * float(squares[1])
