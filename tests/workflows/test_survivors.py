"""Faults that were put into the code on purpose and no quick test noticed (`mutants.py`)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.games import Ball, EasiestBend, Ellipsoid, HalfSquare, Logistic, Quadratic
from dualfold.programs import LinearProgram, certify_infeasible
from dualfold.quality.verdict import MEANINGS
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof import rounding
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.rounding import norm_bound, product_errors
from dualfold.trace.proof.singular_values import singular_bracket
from dualfold.trace.solution import with_signs
from dualfold.unfolding import UnfoldingProblem, spectral_floor

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


# ---- rays, conjugates, gauges, signs: corners that the samples of mutants showed


def test_a_ray_may_be_a_little_wrong_in_its_own_size():
    torn = LinearProgram([0.0], [[1.0], [-1.0], [1.0]], [0.0, -1.0, 7.0])
    for size in (2.0**-30, 1.0, 2.0**30):
        ray = size * np.array([1.0, 1.0, -1e-10])
        assert certify_infeasible(torn, ray).level == "proved"
        assert certify_infeasible(torn, size * np.array([1.0, 1.0, -1e-3])).level == "failed"


def test_the_conjugate_of_a_logistic_loss_by_its_shares():
    rows, labels = np.eye(3), np.array([1.0, -1.0, 1.0])
    f = Logistic(rows, labels)
    for p, finite in (
        ([0.5, 0.25, 1.0], True),
        ([1.5, 0.5, 0.5], False),
        ([-0.1, 0.5, 0.5], False),
    ):
        found = f.conjugate(-np.array(p) * labels)
        terms = [q * np.log(q) for one in p for q in (one, 1 - one) if q > 0]
        assert found == (pytest.approx(sum(terms)) if finite else np.inf)


def test_flat_quadratics_have_their_maximum_along_their_range():
    q = np.array([3.0, 4.0, 0.0])
    f = Quadratic(np.outer(q, q), np.array([0.0, 0.0, 1.0]), 2.0)
    y = 50 * q + [0.0, 0.0, 1.0]
    np.testing.assert_allclose(f.maximiser(y), 2 * q, rtol=1e-12)
    assert f.conjugate(y) == pytest.approx(50**2 / 2 - 2.0)
    assert f.conjugate(y + 1e-3 * np.eye(3)[2]) == np.inf


def test_gauges_of_balls():
    assert [Ball(r).gauge_convexity for r in (0.0, 1.0, 2.0)] == [0.0, 1.0, 0.25]
    assert Ball(1.0, np.array([1.0, 0.0])).gauge_convexity == 0.0
    assert Ball(2.0).gauge(np.array([3.0, 4.0])) == 2.5
    assert Ball(0.0).gauge(np.zeros(2)) == 0.0
    assert Ball(0.0).gauge(np.ones(2)) == np.inf
    assert Ellipsoid(np.array([2.0, 4.0])).gauge_convexity == 1 / 16
    assert Ellipsoid(np.array([2.0, 4.0])).curvature_radius == 8.0


def test_signs_are_set_by_the_largest_entry_and_the_first_of_equals():
    V = np.array([[1.0, -1.0, 0.5], [-3.0, 1.0, -2.0], [2.0, 1.0, 2.0 * (1 - 1e-9)]])
    np.testing.assert_array_equal(with_signs(V), V * [-1, -1, -1])
    np.testing.assert_array_equal(with_signs(-V), V * [-1, -1, -1])
    assert with_signs(np.zeros((3, 0))).shape == (3, 0)
    np.testing.assert_array_equal(with_signs(np.zeros((2, 1))), np.zeros((2, 1)))


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


def test_sparse_proofs_alone_reach_the_second_eigenvalue(monkeypatch):
    monkeypatch.setattr(spectral_floor, "MOST_FILLED_ROWS", 0)
    monkeypatch.setattr(spectral_floor, "MOST_PRECISE_ROWS", 0)
    n = 9
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    second = 2 - 2 * np.cos(np.pi / n)
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-5) <= found.proved <= second
    dense = []
    monkeypatch.setattr(spectral_floor, "MOST_FILLED_ROWS", 20)
    monkeypatch.setattr(spectral_floor, "proved_floor", lambda *_: 0.0)
    plain = spectral_floor.cholesky_floor
    monkeypatch.setattr(
        spectral_floor, "cholesky_floor", lambda *given: dense.append(given[2]) or plain(*given)
    )
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-9) <= found.proved <= second
    assert dense == sorted(dense, reverse=True)  # further and further below


def test_what_measures_mean():
    """Best and worst of each measure are what the identity and a reversed map have."""
    table = X[:40]
    same = quality.report(table, table.copy(), n_neighbors=5).measures
    for name, value in same.items():
        best, worst, _ = MEANINGS[name]
        assert {best, worst} <= {-1, 0, 1}
        assert best != worst
        if name != "lcmc":  # its best is 1 less chance
            assert value == pytest.approx(best, abs=1e-6), name


def test_fewer_rows_than_directions_prove_nothing_but_that_values_are_not_negative():
    M = sp.csr_array(np.array([[1.0, 2.0, 0.0, 0.0]]))
    problem, V = TraceProblem(Gramian(M), count=2), np.eye(4)[:, :2]
    found = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 9.0, "inertia", seen=2))
    assert (found.lower, found.value) == (0.0, 5.0)
    assert found.apart >= 5.0
    assert found.value_blur < 1e-12
    low = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 0.0, "inertia", seen=2))
    assert low.lower == -np.inf
    few = singular_bracket(problem, V, 0.0, V[:, :1], SpectralFloor(2, 9.0, "inertia", seen=2))
    assert few.lower == -np.inf
