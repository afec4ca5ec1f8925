"""Solvers of unfolding problems: known optima, each other, a modelling layer, dense code."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import join_pieces, knn
from dualfold.unfolding import (
    Unfolder,
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    interior_point,
)
from tests.proofs.unfoldings import chain, complete, dense_bounds, dense_laplacian, random_problem
from tests.tools.tables import roll_points
from tests.unfolding.door import BestSides


def unit_problem(n, edges):
    return UnfoldingProblem(n, np.array(sorted(edges)), np.ones(len(edges)))


def roll(n, seed=0):
    return contraction_of(join_pieces(knn(roll_points(n, random_state=seed), 6))).problem


def cloud(n, columns, seed=0):
    """Neighbours in many dimensions, which no few points separate."""
    X = np.random.default_rng(seed).standard_normal((n, columns))
    return contraction_of(join_pieces(knn(X, 6))).problem


def solve(problem, solver, tol=1e-6, **settings):
    return Unfolder(solver=solver, tol=tol, random_state=0, **settings).solve(problem)


# A chain is pulled straight: n(n² − 1)/12. Regular polygon: n/(4 sin²(π/n)). A star's ends pull its
# centre into their mean: n − 1. All pairs tied: a regular simplex, (n − 1)/2.
KNOWN = [
    *((chain(n), n * (n**2 - 1) / 12) for n in (2, 3, 4, 10, 60, 300)),
    (unit_problem(40, [*itertools.pairwise(range(40)), (0, 39)]), 10 / np.sin(np.pi / 40) ** 2),
    (unit_problem(200, [(0, i) for i in range(1, 200)]), 199.0),
    (unit_problem(30, list(itertools.combinations(range(30), 2))), 14.5),
]


@pytest.mark.parametrize("solver", ["interior_point", "low_rank"])
@pytest.mark.parametrize(
    ("problem", "exact"),
    KNOWN,
    ids=[*(f"chain of {n}" for n in (2, 3, 4, 10, 60, 300)), "cycle", "star", "simplex"],
)
def test_known_optima_lie_between_both_sides(problem, exact, solver):
    """Repeated eigenvalues (all but the chains) cost the certificate nothing, either."""
    found = solve(problem, solver)
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    assert found.status == "converged"
    assert lower <= exact * (1 + 1e-12)
    assert upper >= exact * (1 - 1e-9)
    certificate = certify_unfolding(problem, found.factor, found.weights)
    assert certificate.level == "proved"
    assert certificate.gap <= 1e-5
    assert certificate.lower <= exact * (1 + 1e-12)
    assert certificate.upper >= exact * (1 - 1e-12)


@pytest.mark.parametrize("solver", ["interior_point", "low_rank"])
@pytest.mark.parametrize("n", [3, 10, 60, 300])
def test_weights_of_a_chain_are_those_that_its_bound_says(n, solver):
    """A bound says where the weights behind it are, whatever solver and processor made them.

    Scale w so that λ₂(L(w)) = 1 and Σ w = upper. Let S = L(w) − (I − J/n) ⪰ 0 and y the straight
    chain, the optimum: yᵀSy = upper − exact = ε. With 1_k the first k points, 1_kᵀSy is
    ±(w_k − k(n − k)/2), and by Cauchy and Schwarz its square is at most 1_kᵀS1_k·ε ≤ w_k·ε.
    (1e-9: LAPACK's λ₂ in `upper`.)
    """
    found = solve(chain(n), solver, tol=1e-8)
    _, upper = dense_bounds(chain(n), found.factor, found.weights)
    exact, k = n * (n**2 - 1) / 12, np.arange(1, n)
    w = found.weights * upper / found.weights.sum()
    assert np.all((w - k * (n - k) / 2) ** 2 <= w * (upper - exact + 1e-9 * exact))


def test_of_weights_with_the_same_bound_up_to_rounding_the_later_stay():
    """Which of two levels' weights came back used to depend on the processor's rounding."""
    progress = BestSides(chain(4), 1e-8)
    weights = np.array([1.5, 2.0, 1.5])
    progress.offer_weights(weights, 1.0)
    later = weights + np.array([1e-7, -2e-7, 1e-7])
    progress.offer_weights(later, 1 - 1e-13)
    assert np.array_equal(progress.weights, later / (1 - 1e-13))
    assert progress.upper == 5.0
    for worse, floor in ((2 * weights, 1.0), (weights, 0.0)):  # no tie; no floor, no bound
        progress.offer_weights(worse, floor)
        assert np.array_equal(progress.weights, later / (1 - 1e-13))


@pytest.mark.parametrize("solver", ["interior_point", "low_rank"])
def test_the_complete_graph_is_classical_scaling(solver):
    X = np.random.default_rng(1).standard_normal((25, 4))
    problem = complete(X)
    X = X - X.mean(axis=0)
    found = solve(problem, solver, tol=1e-7)
    K = found.factor @ found.factor.T
    assert np.abs(K - X @ X.T).max() < 1e-3 * np.abs(K).max()
    uniform = np.full(problem.m, 1 / 25)  # the optimal weights that theory gives
    certificate = certify_unfolding(problem, X, uniform)
    assert certificate.level == "proved"
    assert certificate.gap < 1e-9
    assert certificate.lower == pytest.approx(np.sum(X**2), rel=1e-9)


@pytest.mark.parametrize(
    ("problem", "tol"),
    [
        *((random_problem(40, seed, extra=3, masses=seed % 2 == 1), 1e-6) for seed in range(4)),
        (roll(200, seed=1), 1e-6),
        (cloud(300, 12), 1e-5),
    ],
    ids=["random", "masses", "random 2", "masses 2", "roll", "cloud"],
)
def test_low_rank_agrees_with_the_interior_point_and_its_bounds_are_true(problem, tol):
    found = solve(problem, "low_rank", tol)
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    assert found.status == "converged"
    assert (upper - lower) / upper <= tol
    last = found.history[-1]
    assert lower * (1 - 2 * tol) <= last.lower <= lower * (1 + 1e-9)
    assert last.upper >= upper * (1 - 1e-9)  # its own is proved, so never below the dense one
    best = problem.value(interior_point(problem, tol=tol / 100).factor)
    assert lower <= best * (1 + 1e-7)
    assert best == pytest.approx(lower, rel=2 * tol)
    assert np.all(found.weights >= 0)


def test_landmarks_enclose_the_optimum_of_a_roll():
    problem = roll(600, seed=3)
    found = solve(problem, "landmark")
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    exact = solve(problem, "low_rank", tol=1e-5)
    best = problem.value(exact.factor)
    assert lower <= best * (1 + 1e-5)
    assert upper >= best
    assert (upper - lower) / upper < 0.25
    assert found.history[-1].upper >= upper * (1 - 1e-9)
    assert np.all(problem.squared_lengths(found.factor) <= problem.squared * (1 + 1e-12))


def test_a_roll_of_1000_points_in_seconds():
    problem = roll(1000)
    found = solve(problem, "low_rank", tol=1e-4)
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    assert found.status == "converged"
    assert (upper - lower) / upper <= 1e-4
    gaps = [record.gap for record in found.history]
    assert all(a >= b for a, b in itertools.pairwise(gaps))
    assert found.history[-1].seconds < 60


@pytest.mark.parametrize("problem", [roll(150, seed=2), cloud(300, 12, seed=1)])
def test_the_same_seed_gives_the_same_bits(problem):
    first, second = (solve(problem, "low_rank", tol=1e-2) for _ in range(2))
    assert np.array_equal(first.factor, second.factor)
    assert np.array_equal(first.weights, second.weights)


@pytest.mark.parametrize("solver", ["interior_point", "low_rank", "auto"])
def test_a_callback_sees_the_gap_fall_and_stops_with_valid_points(solver):
    seen = []

    def enough(record):
        seen.append(record)
        return len(seen) == 5

    problem = roll(200)
    found = solve(problem, solver, tol=1e-9, callback=enough)
    assert found.status == "stopped"
    assert found.history == tuple(seen)
    assert len(seen) == 5
    assert seen[-1].gap <= seen[0].gap
    best = problem.value(interior_point(problem).factor)
    assert all(record.lower <= best * (1 + 1e-6) <= record.upper * (1 + 2e-6) for record in seen)
    if solver == "low_rank":
        assert np.all(problem.squared_lengths(found.factor) <= problem.squared)


@pytest.mark.parametrize("constraints", ["at_most", "equal"])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_modelling_layer(constraints, seed):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is a test-only dependency: pip install .[dev]")
    problem = random_problem(12, seed, constraints=constraints)
    relaxation = 1e-3
    K = cp.Variable((12, 12), PSD=True)
    i, j = problem.edges.T
    lengths = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    limits = [lengths <= problem.squared]
    if constraints == "equal":
        limits = [
            lengths <= (1 + relaxation) * problem.squared,
            lengths >= (1 - relaxation) * problem.squared,
        ]
    peer = cp.Problem(cp.Maximize(cp.trace(K)), [cp.sum(K, axis=1) == 0, *limits])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it doubts its last digits; five are compared
        peer.solve(solver=cp.CLARABEL)
    found = interior_point(problem, tol=1e-8, relaxation=relaxation)
    assert problem.value(found.factor) == pytest.approx(peer.value, rel=1e-5)


def test_masses_are_repeated_points():
    problem = random_problem(14, 3, masses=True)
    found = interior_point(problem, tol=1e-9)
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    assert lower == pytest.approx(upper, rel=1e-7)
    # Points that really are repeated, tied closely to one another.
    copies = np.repeat(np.arange(14), problem.masses.astype(int))
    first = np.searchsorted(copies, np.arange(14))
    near = np.array([(first[c], k) for k, c in enumerate(copies) if first[c] != k])
    edges = np.vstack([np.sort(first[problem.edges], axis=1), near])
    squared = np.concatenate([problem.squared, np.full(len(near), 1e-8)])
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    repeated = UnfoldingProblem(len(copies), edges[order], squared[order])
    assert repeated.value(interior_point(repeated).factor) == pytest.approx(lower, rel=1e-3)


def test_laplacian_and_lengths_are_those_of_the_definition():
    problem = random_problem(15, 6)
    w = np.random.default_rng(0).standard_normal(problem.m)
    expected = problem.incidence.T @ np.diag(w) @ problem.incidence
    np.testing.assert_allclose(problem.laplacian(w).toarray(), expected, atol=1e-13)
    np.testing.assert_allclose(dense_laplacian(problem, w), expected, atol=1e-13)
    Y = np.random.default_rng(1).standard_normal((15, 2))
    i, j = problem.edges.T
    np.testing.assert_allclose(problem.squared_lengths(Y), cdist(Y, Y, "sqeuclidean")[i, j])


# ---- which solver "auto" takes


def test_few_edges_go_to_the_interior_point_and_sheets_to_low_rank():
    assert solve(roll(100), "auto").solver == "interior point"
    problem = roll(600)
    found = solve(problem, "auto")
    assert found.solver == "low_rank"
    assert certify_unfolding(problem, found.factor, found.weights).gap < 2e-6


def test_what_low_rank_cannot_do_is_done_by_another_and_noted():
    # Every point tied to every other, in 49 dimensions: columns without end.
    full = unit_problem(50, list(itertools.combinations(range(50), 2)))
    found = solve(full, "auto")
    assert found.solver == "interior point"
    assert "low_rank reached a gap" in found.story[0]
    assert "too costly" in found.story[0]
    assert full.value(found.factor) == pytest.approx(24.5, rel=1e-5)


def test_a_low_rank_that_is_too_costly_does_not_raise(set_limits):
    set_limits("unfolding.solvers.unfolder", MAX_INTERIOR_SECOND_EDGES=1_000, MAX_FLOPS=10.0)
    found = solve(roll(400), "auto", tol=1e-3)
    assert found.solver == "landmark"
    assert found.story[0].startswith("low_rank: ")


def test_the_better_answer_stays_and_a_callback_has_the_last_word(set_limits):
    problem = roll(400)
    set_limits(
        "unfolding.solvers.unfolder", MAX_INTERIOR_SECOND_EDGES=1_000, BETTER_THAN_LANDMARKS_GAP=0.0
    )
    early = solve(problem, "auto", tol=1e-9, max_iter=40)
    assert early.solver == "low_rank"
    assert "landmark was tried" in early.story[0]
    stopped = solve(problem, "auto", callback=lambda record: record.iteration == 2)
    assert stopped.solver == "low_rank"
    assert len(stopped.history) == 2


@pytest.mark.parametrize("solver", ["low_rank", "landmark"])
def test_solvers_of_shrinking_lengths_refuse_equal_ones(solver):
    with pytest.raises(InvalidInput, match="at_most"):
        solve(chain(5, "equal"), solver)
