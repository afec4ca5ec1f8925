"""Bounds of norms and of the rounding of products with A."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from dualfold.trace import TraceProblem
from dualfold.trace.proof import rounding
from dualfold.trace.proof.rounding import norm_bound, product_errors


def test_the_guess_of_an_operators_norm_is_above_it():
    A = np.diag(np.r_[-7.0, np.linspace(-1, 5, 19)])
    for scale in (2.0**-20, 1.0, 2.0**20):
        wide = scale * A
        operator = LinearOperator(A.shape, matmat=wide.dot, matvec=wide.dot, dtype=float)
        found = norm_bound(TraceProblem(operator, count=1))
        assert 7 * scale <= found <= 1.5 * 7 * scale * (1 + 1e-12)
        V = np.eye(20)[:, :2]
        errors = product_errors(TraceProblem(operator, count=1), V)
        assert (errors >= 1e-13 * 7 * scale).all()
        assert (errors <= 1e-12 * 7 * scale).all()


def test_a_large_dense_matrix_pays_by_its_norm(monkeypatch):
    A = np.diag([3.0, 1.0, 2.0, 0.5]) + 0.25
    problem, V = TraceProblem(A, count=2), np.eye(4)[:, :2]
    exact = product_errors(problem, V)
    monkeypatch.setattr(rounding, "MAX_ABSOLUTE_ROWS", 3)
    by_norm = product_errors(problem, V)
    least = 4 * 2.0**-53 * np.linalg.norm(A)
    assert (by_norm >= least).all()
    assert (by_norm <= 3 * least).all()
    assert (by_norm >= exact * 0.99).all()
