"""Metrics and bases: B is positive definite or refused, its least eigenvalue is bounded from below,
and excluded directions keep their span.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem, certify
from tests.trace.door import DenseMetric, SparseMetric, metric, rounding


def test_a_constant_stays_constant_in_any_weights():
    basis, off = metric.orthonormal_span(
        np.ones((4, 1)), metric.Diagonal(np.array([1.0, 2, 64, 3]))
    )
    assert np.ptp(basis) == 0 == off
    pair = np.array([[1.0, 1], [1, 1], [1, -1], [1, -1]])
    basis, off = metric.orthonormal_span(pair, metric.Identity(4))
    np.testing.assert_array_equal(basis, pair / 2)  # mixed only: every step is exact
    one = np.array([[1.0], [0.0]])
    _, off = metric.orthonormal_span(one, metric.Identity(2))
    assert off == pytest.approx(7 * 2 * rounding.UNIT_ROUNDOFF * (1 + 1e-8), rel=1e-9, abs=0.0)


def test_two_excluded_directions_in_a_metric_of_very_uneven_rows():
    """In its own units: the light rows would drown in the heavy ones."""
    rng = np.random.default_rng(3)
    B = 10.0 ** rng.uniform(-14, 14, size=12)
    N = np.column_stack([np.ones(12), np.arange(12.0)])
    problem = TraceProblem(np.diag(B), B, count=2, excluded=N)
    root = np.sqrt(B)[:, None]
    basis = root * problem.excluded_basis
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-14)
    inside = np.linalg.qr(root * N)[0]
    off = np.linalg.norm(basis - inside @ (inside.T @ basis))
    assert off <= 1e-14
    assert problem.excluded_error <= 1e-13
    # Equal but for the light rows: not dependent, though the heavy one hides it.
    one = np.r_[1.0, np.arange(2.0, 13.0)]
    heavy = np.r_[1e20, np.ones(11)]
    hidden = TraceProblem(np.eye(12), heavy, count=2, excluded=np.column_stack([np.ones(12), one]))
    assert hidden.excluded_error <= 1e-4


def test_a_metric_with_a_0_on_its_diagonal_is_no_metric():
    for last in (0.0, -1.0):
        found = certify(TraceProblem(np.eye(2), np.diag([4.0, last]), count=1), [[0.5], [0.0]])
        assert found.level == "failed"
        assert "positive definite" in found.reasons[0]


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_the_least_eigenvalue_of_a_metric_is_bounded_from_below(kind):
    for least in (1.0, 1e-6, 1e-17):
        Q = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
        B = Q @ np.diag([least, 1, 1, 2, 3, 4]) @ Q.T
        B = (B + B.T) / 2 if kind == "dense" else np.diag([least, 1.0, 1.0, 2.0, 3.0, 4.0])
        metric = DenseMetric(B) if kind == "dense" else SparseMetric(sp.csr_array(B))
        # Rounded entries may leave B an eigenvalue below 0; 0 says that nothing is known of it.
        assert 0 <= metric.lowest <= max(0.0, np.linalg.eigvalsh(B)[0]) + 1e-15
    assert metric.lowest <= 1e-17 + (kind == "dense") * 1e-15


def test_metrics_that_are_not_positive_are_refused():
    indefinite = SparseMetric(sp.csr_array(np.diag([1.0, -1.0])))
    with pytest.raises(InvalidInput, match="positive definite"):
        indefinite.solve(np.ones((2, 1)))
