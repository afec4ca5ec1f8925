"""Certificates of unfoldings: the same numbers by dense code, and no trust in broken answers."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from dualfold.data import swiss_roll
from dualfold.graph import join_pieces, knn
from dualfold.unfolding import (
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    geodesic_bounds,
    interior_point,
    second_eigenvalue,
)
from tests.proofs.unfoldings import chain, complete, dense_bounds, dense_laplacian, random_problem
from tests.unfolding.door import cholesky_floor, eigenvalues_below, proved_floor


@pytest.fixture(scope="module")
def roll():
    problem = contraction_of(join_pieces(knn(swiss_roll(120, random_state=0).points, 6))).problem
    found = interior_point(problem, tol=1e-8)
    return problem, found.factor, found.weights


@pytest.mark.parametrize("constraints", ["at_most", "equal"])
def test_weights_of_zero_prove_nothing_and_warn_of_nothing(constraints):
    problem = random_problem(20, seed=4, constraints=constraints)
    factor = np.random.default_rng(4).standard_normal((20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certificate = certify_unfolding(problem, factor, np.zeros(problem.m))
    assert certificate.second_eigenvalue == certificate.ritz == 0.0
    assert certificate.bound_by != "weights"


def test_dense_code_gets_the_same_numbers(roll):
    problem, factor, weights = roll
    certificate = certify_unfolding(problem, factor, weights)
    lower, upper = dense_bounds(problem, factor, weights)
    assert certificate.level == "proved"
    assert certificate.gap < 1e-7
    assert certificate.lower == pytest.approx(lower, rel=1e-12)
    assert certificate.lower <= lower * (1 + 1e-11)  # K_ii + K_jj − 2K_ij cancels digits
    assert certificate.upper == pytest.approx(upper, rel=2e-9)
    assert certificate.upper >= upper * (1 - 1e-13)
    L = dense_laplacian(problem, weights)
    values = np.linalg.eigvalsh(L)
    assert certificate.second_eigenvalue <= values[1] * (1 + 1e-13)
    K = factor @ factor.T
    off = np.linalg.norm(L / values[1] @ K - K) / np.linalg.norm(K)
    assert certificate.stationarity == pytest.approx(off, rel=1e-2, abs=1e-10)
    assert certificate.rank <= certificate.multiplicity
    near = values[1] * (1 + certificate.cluster)
    assert certificate.multiplicity == np.sum(values < near) - 1
    spectrum = np.linalg.eigvalsh(K)
    assert certificate.rank == np.sum(spectrum > certificate.cluster * spectrum.sum())


@pytest.mark.parametrize("seed", range(4))
def test_any_answer_gets_honest_bounds(seed):
    """Bad points and bad weights: the bounds are far apart, and the optimum between them."""
    problem = random_problem(20, seed, masses=seed % 2 == 1)
    found = interior_point(problem, tol=1e-9)
    optimum = problem.value(found.factor)
    rng = np.random.default_rng(seed)
    certificate = certify_unfolding(
        problem, rng.standard_normal((20, 2)), rng.uniform(0.1, 1, problem.m)
    )
    assert certificate.level == "failed"
    assert certificate.lower < optimum * (1 + 1e-8)
    assert certificate.upper > optimum * (1 - 1e-8)


def broken(problem, factor, weights, how):
    rng = np.random.default_rng(0)
    Y, w = factor.copy(), weights.copy()
    if how == "perturbed weights":
        w = w * rng.uniform(0.8, 1.2, len(w))
    elif how == "a negative weight":
        w[np.argmax(w)] *= -1
    elif how == "weights dropped":
        w[np.argsort(w)[-5:]] = 0
    elif how == "a stretched edge":
        Y[3] *= 1.2
    elif how == "a lost column":
        Y = Y[:, 1:]
    elif how == "noise":
        Y = Y + 0.01 * np.abs(Y).max() * rng.standard_normal(Y.shape)
    elif how == "nothing":
        Y = 0 * Y
    elif how == "not a number":
        Y[0, 0] = np.nan
    return certify_unfolding(problem, Y, w)


@pytest.mark.parametrize(
    ("how", "level"),
    [
        ("perturbed weights", "within"),
        ("a negative weight", "within"),
        ("weights dropped", "within"),
        ("a stretched edge", "failed"),
        ("a lost column", "failed"),
        ("noise", "failed"),
        ("nothing", "failed"),
        ("not a number", "failed"),
    ],
)
def test_broken_answers_are_not_proved(roll, how, level):
    """Half of an answer may still bound the other half: then the certificate says how far."""
    certificate = broken(*roll, how)
    assert certificate.level == level
    assert certificate.complete is (True if level == "within" else None)
    assert str(certificate).startswith(level)
    assert certificate.gap > 1e-4
    assert any("bound" in reason or "NaN" in reason for reason in certificate.reasons)
    problem, factor, _ = roll
    optimum = problem.value(factor)
    assert certificate.lower <= optimum * (1 + 1e-8)
    assert certificate.upper >= optimum
    if how == "a negative weight":
        assert certificate.clipped == 1
        assert certificate.least_weight < 0
        assert any("negative" in reason for reason in certificate.reasons)


def test_scale_is_no_fault(roll):
    """Weights are homogeneous and points are scaled into the edges: both may come in any unit."""
    problem, factor, weights = roll
    certificate = certify_unfolding(problem, 3 * factor, 7 * weights)
    assert certificate.level == "proved"
    assert certificate.feasibility == pytest.approx(8, rel=1e-6)


def test_a_ritz_value_is_not_believed(roll):
    problem, _, weights = roll
    true = np.linalg.eigvalsh(dense_laplacian(problem, weights))[1]
    assert proved_floor(problem, weights, true * (1 + 1e-7)) == 0
    assert proved_floor(problem, weights, true * (1 - 1e-7)) > 0.9 * true
    found = second_eigenvalue(problem, weights, np.random.default_rng(0).standard_normal((120, 1)))
    assert found.proved <= true * (1 + 1e-13)
    assert found.proved == pytest.approx(true, rel=1e-8)


@pytest.mark.parametrize("height", [0.5, 1.5, 10.0])
def test_inertia_counts_what_lapack_counts(roll, height):
    problem, _, weights = roll
    count, error = eigenvalues_below(problem, weights, height)
    values = np.linalg.eigvalsh(dense_laplacian(problem, weights))
    assert error < 1e-8
    assert count == np.sum(values < height)


def test_a_repeated_second_eigenvalue_is_proved_to_its_last_digits():
    """A unit cycle: λ₂ comes in pairs, tr K = n/(4 sin²(π/n)) is a regular polygon's."""
    n = 40
    edges = sorted({tuple(sorted((i, (i + 1) % n))) for i in range(n)})
    problem = UnfoldingProblem(n, edges, np.ones(n))
    found = interior_point(problem)
    certificate = certify_unfolding(problem, found.factor, found.weights)
    assert certificate.gap < 1e-8
    assert certificate.lower == pytest.approx(n / (4 * np.sin(np.pi / n) ** 2), rel=1e-9)
    assert certificate.rank == certificate.multiplicity == 2
    true = np.linalg.eigvalsh(dense_laplacian(problem, found.weights))[1]
    for floor in (cholesky_floor, proved_floor):
        assert floor(problem, found.weights, true * (1 + 1e-6)) == 0
        assert 0.99 < floor(problem, found.weights, true * (1 - 1e-6)) / true < 1


def test_geodesics_bound_the_variance(roll):
    problem, factor, _ = roll
    bounds = geodesic_bounds(problem)
    assert bounds.isomap >= problem.value(factor)
    assert bounds.centre >= problem.value(factor)
    straight = geodesic_bounds(chain(11))
    assert straight.isomap == pytest.approx(11 * 120 / 12)
    assert straight.centre == pytest.approx(2 * (1 + 4 + 9 + 16 + 25))


def test_equal_lengths_say_what_they_are_about():
    X = np.random.default_rng(2).standard_normal((12, 2))
    problem = complete(X, "equal")
    found = interior_point(problem, tol=1e-7, relaxation=1e-3)
    certificate = certify_unfolding(problem, found.factor, found.weights, most_relaxed=1e-3)
    exact = np.sum((X - X.mean(axis=0)) ** 2)
    assert certificate.level == "proved"
    assert certificate.relaxation <= certificate.most_relaxed == 1e-3
    assert certificate.upper_exact >= exact * (1 - 1e-9)
    assert certificate.lower >= exact  # of the relaxed problem, which is larger
    assert certificate.lower <= certificate.upper
    assert "ε = 1.0e-03" in str(certificate)
    off = certify_unfolding(
        problem, found.factor * [[1.1] + [1] * (found.factor.shape[1] - 1)], found.weights
    )
    assert off.level == "failed"
    assert any("lengths" in reason for reason in off.reasons)


def test_weights_of_any_sign_bound_the_equal_form():
    """(0, 1) of a triangle pushed apart by a negative weight: allowed for =, nothing for ≤."""
    X = np.array([[0.0, 0], [1, 0], [0.5, 0.1]])
    problem = complete(X, "equal")
    weights = np.array([-0.05, 1.0, 1.0])
    certificate = certify_unfolding(problem, X, weights, tolerance=1.0)
    upper = weights @ problem.squared / np.linalg.eigvalsh(dense_laplacian(problem, weights))[1]
    assert certificate.clipped == 0
    assert certificate.upper_exact == pytest.approx(min(upper, certificate.isomap), rel=1e-8)
    assert certificate.second_eigenvalue == pytest.approx(0.9, rel=1e-8)
    assert upper >= np.sum((X - X.mean(axis=0)) ** 2)


def test_certificates_are_json(roll):
    problem, factor, weights = roll
    plain = certify_unfolding(problem, factor, weights).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert {"level", "gap", "lower", "upper", "feasibility", "residuals", "complete"} <= set(plain)
    failed = certify_unfolding(problem, factor * np.nan, weights).to_dict()
    assert json.loads(json.dumps(failed))["upper"] is None


def test_weights_of_0_are_not_counted_as_negative():
    problem = random_problem(5, 3, extra=1.4)
    w = np.resize([0.0, -1.0, 1.0, 0.0, 2.0, 1.0, 1.0], problem.m)
    Y = np.random.default_rng(3).normal(size=(5, 2))
    found = certify_unfolding(problem, Y, w)
    assert found.clipped == 1
    assert any(reason.startswith("1 weights are negative") for reason in found.reasons)


@pytest.mark.parametrize(
    ("folded", "level"),
    [([0, 1, 2, 3, 2, 3, 2, 1], "unresolved"), ([0, 1, 2, 1, 2, 3, 2, 1], "failed")],
)
def test_a_bound_of_twice_the_value_is_worth_nothing(folded, level):
    """A regular octagon's edges folded flat: of its variance 1/1.8 or 1/2.3 is left."""
    edges = np.array([[0, 1], [0, 7], *([i, i + 1] for i in range(1, 7))])
    octagon = UnfoldingProblem(8, edges, np.ones(8), "equal")
    best = 2 / np.sin(np.pi / 8) ** 2
    weights = np.ones(8) / (2 - np.sqrt(2))
    c = certify_unfolding(octagon, np.array(folded, dtype=float)[:, None], weights)
    assert c.upper == pytest.approx(best, rel=1e-9)
    assert (c.level, c.lower, c.reached_by) == (level, 0.0, "nothing")
    assert ("exactly the lengths asked" in c.reasons[0]) is (level == "unresolved")


@pytest.mark.parametrize(("stretch", "level"), [(0.45e-3, "unresolved"), (0.55e-3, "failed")])
def test_points_are_near_the_lengths_asked_up_to_a_thousandth(stretch, level):
    """A triangle with one corner moved out: its squared lengths are off by twice that."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8]])
    moved = X * [[1.0], [1.0], [1 + stretch]]
    certificate = certify_unfolding(complete(X, "equal"), moved, np.ones(3))
    assert certificate.feasibility == pytest.approx(2 * stretch, rel=1e-2)
    assert certificate.level == level


def test_grounds_name_the_source_of_the_bound(roll):
    problem, factor, weights = roll
    proved = certify_unfolding(problem, factor, weights)
    assert proved.bound_by == "weights"
    assert "λ₂ was proved" in str(proved)
    by_paths = certify_unfolding(problem, factor, weights, most_flops=1.0)
    assert f"bound by {by_paths.bound_by}" in str(by_paths)
    assert "λ₂ was proved" not in str(by_paths)


def test_reasons_name_what_was_not_proved_and_nothing_else():
    n = 6
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    Y = np.random.default_rng(0).normal(size=(n, 2))
    words = "could not be proved positive"
    nothing = certify_unfolding(problem, Y, np.array([1.0, 0.0, 1.0, 1.0, 1.0]))  # two pieces
    assert any(words in reason for reason in nothing.reasons)
    rough = certify_unfolding(problem, Y, np.ones(n - 1))
    assert rough.level != "proved"
    assert rough.second_eigenvalue > 0
    assert not any(words in reason for reason in rough.reasons)


def test_a_failed_unfolding_claims_nothing_and_says_what_it_is_about():
    problem = UnfoldingProblem(3, np.array([[0, 1], [1, 2]]), np.ones(2))
    Y, w = np.array([[-1.0], [0.0], [1.0]]), np.ones(2)
    broken = certify_unfolding(problem, np.full((3, 1), np.nan), w)
    assert (broken.level, broken.value, broken.bound) == ("failed", 0.0, np.inf)
    assert (broken.second_eigenvalue, broken.upper_exact) == (0.0, np.inf)
    assert (broken.relaxation, broken.clipped, broken.rank) == (0.0, 0, 0)
    assert certify_unfolding(problem, Y, w, about="three points").about == "three points"
    given = certify_unfolding(problem, Y, w).about
    assert given.endswith("the squared edge lengths as stored in double precision")
    equal = UnfoldingProblem(3, problem.edges, np.ones(2), "equal")
    assert "exactly the lengths of these" in certify_unfolding(equal, Y, w).about
    assert certify_unfolding(equal, Y * [[1.0], [1.0], [1.001]], w).about == given
    of_rows = UnfoldingProblem(3, problem.edges, np.ones(2), "equal", None, Y)
    about = certify_unfolding(of_rows, Y, w).about
    assert about.endswith("exactly the edge lengths of the rows")
