"""Rising curves and the stress that is left after them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality import pair_measures
from dualfold.quality.pair_measures import nonmetric_stress, pool_violators
from dualfold.quality.space import both_spaces

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_a_rising_curve_of_nothing_is_nothing():
    none = np.empty(0)
    assert [len(part) for part in pool_violators(none, none, none)] == [0, 0, 0]


@pytest.mark.parametrize("measure", [quality.stress, quality.nonmetric_stress])
def test_distances_need_two_points(measure):
    with pytest.raises(InvalidInput, match="at least two points"):
        measure(X[:1], X[:1])


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
