"""The objective of t-SNE and its gradient: exact, those of scikit-learn, within stated bounds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import _t_sne

from dualfold.methods.points.tsne import tsne_objective
from tests.methods.door import DoubleAttraction, PackedAttraction
from tests.methods.points.tsne.problems import brute_sums, problem_of


@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
def test_packed_edges_attract_as_the_edges_of_p(size):
    problem = problem_of()
    Y = np.random.default_rng(3).normal(size=(300, 2)) * size
    packed, given = PackedAttraction(problem.P), DoubleAttraction(problem.P)
    order = packed.order(Y)
    assert sorted(order) == list(range(300))
    for parts in (1, 7):
        for of in ("tasks", "costs"):
            out, wanted = np.zeros_like(Y), np.zeros_like(Y)
            if of == "costs":
                out, wanted = out[:, 0].copy(), wanted[:, 0].copy()
            for task in getattr(packed, of)(Y[order], out, parts):
                task()
            for task in getattr(given, of)(Y, wanted, parts):
                task()
            # Places are rounded once, and up to 70 terms of a row, to 2⁻²⁴ of the largest each; a
            # logarithm is that of 1 + t, rounded.
            room = (
                1e-5 * np.abs(wanted).max() + (of == "costs") * 2**-22 * problem.P.sum(axis=1).max()
            )
            np.testing.assert_allclose(out, wanted[order], rtol=0, atol=room)


@pytest.mark.parametrize(("count", "rho"), [(1, 1.0), (2, 1.0), (2, 4.0), (3, 0.5)])
def test_objective_and_gradient_are_exact(count, rho):
    problem = problem_of(attraction=rho, count=count)
    rng = np.random.default_rng(3)
    Y, move = rng.normal(size=(300, count)) * 5, rng.normal(size=(300, count))
    found = tsne_objective(problem, Y)
    P, phi = problem.P.toarray(), brute_sums(Y)[0]
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=-1)
    Q = 1 / (1 + squares) / phi.sum()
    some = P > 0
    kl = float((P[some] * np.log(P[some] / Q[some])).sum())
    assert found.kl == pytest.approx(kl, abs=1e-12)
    assert found.error < 1e-11
    extra = (rho - 1) * float((P * np.log1p(squares)).sum())
    assert found.value == pytest.approx(kl + extra, abs=1e-12)
    step = 1e-5
    up, down = (tsne_objective(problem, Y + s * step * move).value for s in (1, -1))
    assert (up - down) / (2 * step) == pytest.approx(float((found.gradient * move).sum()), rel=1e-5)


def test_kl_and_gradient_are_scikit_learns():
    problem, Y = problem_of(), np.random.default_rng(4).normal(size=(300, 2))
    P = problem.P.toarray()[np.triu_indices(300, 1)[::1]]
    kl, gradient = _t_sne._kl_divergence(Y.ravel(), np.maximum(P, 1e-16), 1, 300, 2)
    found = tsne_objective(problem, Y)
    assert found.kl == pytest.approx(2 * kl / 2, rel=1e-6)
    np.testing.assert_allclose(found.gradient.ravel(), gradient, atol=1e-7)


def test_large_maps_are_summed_within_a_stated_bound(set_limits):
    problem, Y = problem_of(), np.random.default_rng(5).normal(size=(300, 2)) * 8
    exact = tsne_objective(problem, Y)
    set_limits("methods.points.tsne.student_objective", MAX_ROWS_BY_PAIRS=10)
    found = tsne_objective(problem, Y)
    assert exact.exact
    assert not found.exact
    assert abs(found.value - exact.value) <= found.error
    assert abs(found.slope - exact.slope) <= found.gradient_error
