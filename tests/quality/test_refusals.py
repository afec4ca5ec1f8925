"""What measures refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(12, 3))
REFUSALS = {
    "two maps or more; 1 given": lambda: quality.stability([X]),
    "one index for each point": lambda: quality.stability([X, X], rows=[[1], [2]]),
    "its shape is (3,)": lambda: quality.stability([X[0], X[0]]),
    "a number or 'best'": lambda: quality.stress(X, X, scale="worst"),
    "a whole number from 1 to 4096; it is 0": lambda: quality.shepard(X, X, bins=0),
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
