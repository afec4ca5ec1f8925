"""Faults that were put into the code on purpose and no quick test noticed (`mutants.py`)."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.games import EasiestBend, HalfSquare

X = np.random.default_rng(0).normal(size=(120, 4))


@pytest.mark.parametrize("weight", [0.3, 1.0, 7.0])
def test_a_half_square_surely_is_its_value(weight):
    function = HalfSquare(weight, center=np.arange(4.0))
    for x in X[:5]:
        bounds = function.surely(x)
        exact = weight / 2 * sum((a - b) ** 2 for a, b in zip(x, range(4), strict=True))
        assert bounds.low() <= exact * (1 + 1e-15)
        assert bounds.high() >= exact * (1 - 1e-15)
        assert bounds.high() - bounds.low() <= 1e-12 * exact
        slope = function.sure_slope(x)
        np.testing.assert_allclose(slope.mid, weight * (x - np.arange(4.0)), rtol=1e-14)


@pytest.mark.parametrize(
    "edges",
    [[[0, 1], [2, 2]], [[0, 1], [1, 3]], [[0, 1], [-1, 2]], [[0.0, 1.0], [1.0, 2.0]]],
    ids=["a loop", "beyond the last", "below 0", "no whole numbers"],
)
def test_the_dual_of_unfolding_takes_edges_between_different_rows(edges):
    with pytest.raises(InvalidInput, match="two different row numbers from 0 to 2"):
        EasiestBend(3, np.array(edges), np.ones(2))
    assert EasiestBend(3, np.array([[0, 1], [1, 2]]), np.ones(2)).n == 3


def test_a_sampled_curve_lies_within_its_limits():
    curve = quality.neighborhood_curve(X, X[:, :2].copy(), 20, sample=40)
    whole = quality.neighborhood_curve(X, X[:, :2].copy(), 20)
    assert (curve.low <= curve.q_nx).all()
    assert (curve.q_nx <= curve.high).all()
    assert (curve.low < curve.high).any()
    assert (curve.low >= 0).all()
    assert (curve.high <= 1).all()
    assert np.mean((curve.low <= whole.q_nx) & (whole.q_nx <= curve.high)) >= 0.7
