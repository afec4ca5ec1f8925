"""Neighbours by cosine: the lists of comparing every pair, in the house's own searches."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold.graph import knn, nearest, neighbors_within
from tests.graph.door import attach, grown_graph


def every_pair(X: np.ndarray, Q: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The lists by half the squared distance of rows at length 1, all pairs in float64."""
    u, v = (t.astype(float) for t in (X, X if Q is None else Q))
    u, v = (t / np.sqrt(np.einsum("ij,ij->i", t, t))[:, None] for t in (u, v))
    D = np.array([np.einsum("ij,ij->i", row - u, row - u) / 2 for row in v])
    if Q is None:
        np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def table(n: int, width: int, offset: float, dtype: type) -> np.ndarray:
    """Rows with copies, multiples and copies up to rounding, more of them than neighbours."""
    rng = np.random.default_rng(width)
    X = (rng.standard_normal((n, width)) + offset).astype(dtype)
    X[100:160], X[200:230] = X[0], 3 * X[1]
    X[300:330] = X[2] + (1e-7 * rng.standard_normal((30, width))).astype(dtype)
    return X


# Beyond 1,024 rows whose lists float32 leaves open, float64 decides: offset 1e6.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "offset"), [(500, 0.0), (500, 1e4), (1200, 1e6)])
@pytest.mark.parametrize("width", [3, 40])
def test_lists_are_those_of_every_pair(n, width, offset, dtype) -> None:
    X = table(n, width, offset, dtype)
    kept = X.copy()
    found = nearest(X, 7, metric="cosine")
    assert np.array_equal(X, kept)
    indices, distances = every_pair(X, None, 7)
    assert np.array_equal(found.indices, indices)
    assert np.array_equal(found.distances, distances)
    theirs = np.sort(cdist(X, X, "cosine"), axis=1)[:, 1:8]
    np.testing.assert_allclose(found.distances, theirs, atol=1e-14)
    Q = np.concatenate([X[90:110], X[:5] + X[5:10]])
    asked = nearest(X, 7, queries=Q, metric="cosine")
    indices, distances = every_pair(X, Q, 7)
    assert np.array_equal(asked.indices, indices)
    assert np.array_equal(asked.distances, distances)


def test_rows_of_zeros_are_at_distance_1_from_all_others() -> None:
    X = table(400, 5, 0.0, np.float32)
    X[7] = 0
    found = nearest(X, 4, metric="cosine")
    assert found.distances[7].tolist() == [1.0] * 4
    assert found.indices[7].tolist() == [0, 1, 2, 3]
    zero = nearest(X[8:], 2, queries=X[6:8], metric="cosine")
    assert zero.distances[1].tolist() == [1.0, 1.0]


def test_neighbours_within_a_distance_are_those_of_every_pair() -> None:
    X = table(400, 5, 0.0, np.float32)
    indptr, indices, distances = neighbors_within(X, 0.05, metric="cosine")
    order, true = every_pair(X, None, 399)
    for row in range(400):
        near = true[row] <= 0.05
        part = slice(indptr[row], indptr[row + 1])
        assert indices[part].tolist() == order[row][near].tolist()
        assert distances[part].tolist() == true[row][near].tolist()


def test_old_rows_have_the_rows_that_they_have_in_the_graph() -> None:
    X = np.random.default_rng(4).standard_normal((300, 12)).astype(np.float32)
    graph = knn(X, 6, metric="cosine")
    rows = attach(graph, X[:40]).lengths
    assert np.array_equal(rows.toarray(), graph.lengths[:40].toarray())


def test_a_grown_graph_is_that_of_all_rows() -> None:
    X = np.random.default_rng(5).standard_normal((300, 12)).astype(np.float32)
    grown = grown_graph(knn(X[:250], 6, metric="cosine"), X[250:])
    whole = knn(X, 6, metric="cosine")
    assert np.array_equal(grown.lists.indices, whole.lists.indices)
    assert np.array_equal(grown.lists.distances, whole.lists.distances)
