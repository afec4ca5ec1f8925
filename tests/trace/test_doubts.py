"""Doubts about stored answers: points and rows that cannot be what the problem puts there."""

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import TraceProblem
from tests.trace.door import point_doubts, row_doubts

X = np.random.default_rng(0).normal(size=(30, 3))


def test_points_that_cannot_be_compared_are_infinitely_far():
    assert point_doubts(X, X) == (0.0, [])
    assert point_doubts(X, X[:3]) == (np.inf, ["3 points are stored, the data has 30"])
    far, said = point_doubts(X * np.inf, X)
    assert far == np.inf
    assert "overflow" in said[0]


def test_rows_are_not_doubted_where_a_matrix_is_known_by_its_products():
    plain = TraceProblem(np.diag(np.arange(1.0, 6.0)), None, 1, "min")
    by_products = TraceProblem(aslinearoperator(plain.A), None, 1, "min")
    wrong = np.ones((5, 1)) / np.sqrt(5)
    assert row_doubts(plain, wrong, np.array([1.0]))
    assert row_doubts(by_products, wrong, np.array([1.0])) == []
