"""Spaces: distances between some points, however the points are given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import knn
from tests.quality.door import euclidean_ranks, space_of, subspace


def counted_metric() -> tuple[list[int], Callable[[Any, Any], float]]:
    calls = [0]

    def metric(a, b):
        calls[0] += 1
        return float(np.abs(a - b).sum())

    return calls, metric


@pytest.mark.parametrize("kind", ["euclidean", "cosine", "cityblock", "precomputed", "graph"])
def test_distances_between_some_points_are_those_of_whole_rows(kind):
    X = np.random.default_rng(5).normal(size=(60, 4))
    given = {"precomputed": cdist(X, X), "graph": knn(X, 8)}.get(kind, X)
    space = space_of(given, "euclidean" if kind == "graph" else kind)
    rows, columns = np.array([7, 3, 50]), np.array([1, 3, 59, 7, 20])
    found = space.between(rows, columns)
    np.testing.assert_allclose(found, space.true_rows(rows)[:, columns], rtol=1e-12, atol=1e-15)
    assert np.isinf(found[0, 3])
    assert np.isinf(found[1, 1])
    part = subspace(space, columns)
    np.testing.assert_allclose(
        part.true_rows(np.arange(5)), space.true_rows(columns)[:, columns], rtol=1e-12, atol=1e-15
    )


def test_a_subspace_computes_distances_within_it_alone():
    calls, metric = counted_metric()
    part = subspace(space_of(np.random.default_rng(6).normal(size=(300, 3)), metric), np.arange(9))
    before = calls[0]
    part.true_rows(np.arange(9))
    assert calls[0] - before <= 9 * 9


def test_distances_by_cosine_are_those_of_scipy():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 5)) * np.exp(5 * rng.normal(size=(80, 1)))
    for rows in (X, X.astype(np.float32)):
        found = space_of(rows, "cosine").true_rows(np.arange(80))
        wanted = cdist(rows.astype(float), rows.astype(float), "cosine")
        np.fill_diagonal(wanted, np.inf)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 9, 70])
def test_rows_of_distances_are_those_of_all_pairs(width):
    """Also of close pairs far from the origin, by products, which lose half of their digits."""
    rng = np.random.default_rng(0)
    far = 1e3 * rng.standard_normal((60, width))
    far[30:] = far[:30] + 1e-6 * rng.standard_normal((30, width))
    for X, loss in ((rng.standard_normal((60, width)), 1e-10), (far, 1e-9)):
        space, names = space_of(X), np.arange(60, dtype=np.int32)
        exact, fast = space.true_rows(names), space.rows(names)
        assert np.isinf(exact.diagonal()).all()
        for found in (exact, fast):
            np.fill_diagonal(found, 0)
            np.testing.assert_allclose(found, cdist(X, X), rtol=loss)


def test_no_columns_have_no_ranks_and_a_column_is_no_table():
    X = np.random.default_rng(0).normal(size=(40, 3))
    none = np.empty((40, 0), np.int32)
    assert [part.shape for part in euclidean_ranks(X, None, none, 1)] == [(40, 0)] * 2
    with pytest.raises(InvalidInput, match="one row for each point"):
        space_of(X[:, 0])


@pytest.mark.parametrize("row", range(3))
def test_negative_distances_are_refused_in_every_row(row):
    D = np.ones((3, 3))
    D[row, 2 - row] = -0.5
    with pytest.raises(InvalidInput, match="must not be negative"):
        space_of(D, "precomputed")
