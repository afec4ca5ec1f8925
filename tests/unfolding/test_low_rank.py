"""Unfolding at low rank and from landmarks, against exact answers and dense recomputation."""

from __future__ import annotations

import itertools
from importlib import import_module

import numpy as np
import pytest
import scipy.linalg

from dualfold.errors import InvalidInput, TooLarge
from dualfold.graph import farthest_points, geodesic_distances, join_pieces, knn
from dualfold.unfolding import Unfolder, UnfoldingProblem, certify_unfolding, interior_point
from dualfold.unfolding.problem import graph_of
from dualfold.unfolding.solution import BestSides
from dualfold.unfolding.solvers.barrier import BarrierPoint, Net, newton_step
from dualfold.unfolding.solvers.connectivity import orthonormal_columns
from dualfold.unfolding.solvers.landmark import landmark, path_weights
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.span import Span
from tests.tools.tables import roll_points


def chain(n):
    return UnfoldingProblem(n, np.c_[np.arange(n - 1), np.arange(1, n)], np.ones(n - 1))


def complete(n, dimensions, seed=3):
    X = np.random.default_rng(seed).standard_normal((n, dimensions))
    edges = np.argwhere(np.triu(np.ones((n, n)), 1))
    squared = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
    return UnfoldingProblem(n, edges, squared), X


def random_graph(n, share, seed, *, masses=None):
    rng = np.random.default_rng(seed)
    linked = np.triu(rng.random((n, n)) < share, 1)
    linked[np.arange(n - 1), np.arange(1, n)] = True
    edges = np.argwhere(linked)
    return UnfoldingProblem(n, edges, rng.uniform(0.2, 3, len(edges)), masses=masses)


def roll(n, seed=0):
    graph = join_pieces(knn(roll_points(n, random_state=seed), 6))
    rows = np.repeat(np.arange(n), np.diff(graph.lengths.indptr))
    upper = rows < graph.lengths.indices
    edges = np.c_[rows, graph.lengths.indices][upper]
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return UnfoldingProblem(n, edges[order], graph.lengths.data[upper][order] ** 2)


def dense_bounds(problem, solution):
    """Both sides by dense code that shares nothing with the solvers."""
    i, j = problem.edges.T
    mass = np.ones(problem.n) if problem.masses is None else problem.masses
    Y = solution.factor - mass @ solution.factor / mass.sum()
    s2 = np.min(problem.squared / np.sum((Y[i] - Y[j]) ** 2, axis=1))
    lower = min(1.0, s2) * np.sum(mass[:, None] * Y**2)
    L = np.zeros((problem.n, problem.n))
    for a, b, w in zip(i, j, solution.weights, strict=True):
        L[a, a] += w
        L[b, b] += w
        L[a, b] -= w
        L[b, a] -= w
    root = np.sqrt(mass)
    second = scipy.linalg.eigvalsh(L / np.outer(root, root), subset_by_index=[1, 1])[0]
    assert np.all(solution.weights >= 0)
    return lower, float(solution.weights @ problem.squared) / second


def assert_weights_of_a_chain(weights, upper):
    """What a bound says about the weights behind it, whatever solver and processor made them.

    Scale w so that λ₂(L(w)) = 1 and Σ w = upper. Let S = L(w) − (I − J/n) ⪰ 0 and y the straight
    chain, the optimum: yᵀSy = upper − exact = ε. With 1_k the first k points, 1_kᵀSy is
    ±(w_k − k(n − k)/2), and by Cauchy and Schwarz its square is at most 1_kᵀS1_k·ε ≤ w_k·ε.
    (1e-9: LAPACK's λ₂ in `upper`.)
    """
    n = len(weights) + 1
    exact = n * (n**2 - 1) / 12
    k = np.arange(1, n)
    w = weights * upper / weights.sum()
    assert np.all((w - k * (n - k) / 2) ** 2 <= w * (upper - exact + 1e-9 * exact))


@pytest.mark.parametrize("n", [2, 3, 4, 10, 60, 300])
def test_the_unit_chain_has_its_known_value_and_weights(n):
    solution = low_rank(chain(n), n_components=1, tol=1e-8, random_state=0)
    exact = n * (n**2 - 1) / 12
    lower, upper = dense_bounds(chain(n), solution)
    assert solution.status == "converged"
    assert lower <= exact * (1 + 1e-12)
    assert upper >= exact * (1 - 1e-9)
    assert (upper - lower) / upper < 2e-8
    assert_weights_of_a_chain(solution.weights, upper)


def test_of_weights_with_the_same_bound_up_to_rounding_the_later_stay():
    """Which of two levels' weights came back used to depend on the processor's rounding."""
    problem = chain(4)
    progress = BestSides(problem, 1e-8)
    weights = np.array([1.5, 2.0, 1.5])
    progress.offer_weights(weights, 1.0)
    later = weights + np.array([1e-7, -2e-7, 1e-7])
    progress.offer_weights(later, 1 - 1e-13)
    assert np.array_equal(progress.weights, later / (1 - 1e-13))
    assert progress.upper == 5.0
    progress.offer_weights(2 * weights, 1.0)  # a worse bound is no tie
    assert np.array_equal(progress.weights, later / (1 - 1e-13))


def test_the_complete_graph_is_classical_scaling():
    problem, X = complete(30, 3)
    solution = low_rank(problem, n_components=3, tol=1e-7, random_state=0)
    centred = X - X.mean(axis=0)
    assert problem.value(solution.factor) == pytest.approx(np.sum(centred**2), rel=2e-7)
    K = solution.factor @ solution.factor.T
    assert np.abs(K - centred @ centred.T).max() < 1e-3 * np.abs(K).max()


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_agree_with_the_interior_point(seed):
    masses = np.random.default_rng(seed).integers(1, 5, 40).astype(float) if seed % 2 else None
    problem = random_graph(40, 0.15, seed, masses=masses)
    solution = low_rank(problem, tol=1e-6, random_state=seed)
    exact = interior_point(problem, tol=1e-8)
    lower, upper = dense_bounds(problem, solution)
    assert solution.status == "converged"
    assert (upper - lower) / upper <= 1e-6
    assert lower <= problem.value(exact.factor) * (1 + 1e-7)
    assert problem.value(exact.factor) == pytest.approx(lower, rel=2e-6)


def test_a_roll_agrees_with_the_interior_point_and_its_bounds_are_true():
    problem = roll(200, seed=1)
    solution = low_rank(problem, tol=1e-6, random_state=0)
    lower, upper = dense_bounds(problem, solution)
    last = solution.history[-1]
    assert last.lower == pytest.approx(lower, rel=1e-9)
    assert last.upper >= upper * (1 - 1e-9)  # its own is proved, so never below the dense one
    assert (upper - lower) / upper <= 1e-6
    exact = interior_point(problem, tol=1e-8)
    assert problem.value(exact.factor) == pytest.approx(lower, rel=2e-6)


def test_a_roll_of_1000_points_in_seconds():
    problem = roll(1000)
    solution = low_rank(problem, tol=1e-4, random_state=0)
    lower, upper = dense_bounds(problem, solution)
    assert solution.status == "converged"
    assert (upper - lower) / upper <= 1e-4
    gaps = [line.gap for line in solution.history]
    assert all(a >= b for a, b in itertools.pairwise(gaps))
    assert solution.history[-1].seconds < 60


def test_the_same_seed_gives_the_same_bits():
    problem = roll(150, seed=2)
    one, two = (low_rank(problem, tol=1e-4, random_state=5) for _ in range(2))
    assert np.array_equal(one.factor, two.factor)
    assert np.array_equal(one.weights, two.weights)


def test_a_callback_stops_with_valid_points():
    problem = roll(200)
    solution = low_rank(problem, tol=1e-9, callback=lambda line: line.iteration == 4)
    assert solution.status == "stopped"
    assert len(solution.history) == 4
    assert "callback" in solution.story[-1]
    assert np.all(problem.squared_lengths(solution.factor) <= problem.squared)


def test_the_equal_form_is_refused():
    problem = chain(5)
    equal = UnfoldingProblem(5, problem.edges, problem.squared, constraints="equal")
    for solver in (low_rank, landmark):
        with pytest.raises(InvalidInput, match="at_most"):
            solver(equal)


def test_the_newton_matrix_is_the_second_derivative():
    problem = random_graph(12, 0.3, 1)
    rng = np.random.default_rng(0)
    Y = problem.centred_points(0.1 * rng.standard_normal((12, 3)))
    mu = 0.7

    def energy(y):
        Z = y.reshape(12, 3)
        s = problem.squared - problem.squared_lengths(Z)
        return -0.5 * np.sum(Z**2) - 0.5 * mu * np.sum(np.log(s))

    i, j = problem.edges.T
    s = problem.squared - problem.squared_lengths(Y)
    H = Net.of(problem).stiffness(mu / s, 2 * mu / s**2, Y[i] - Y[j], 0.0).toarray()
    eps, numeric = 1e-4, np.zeros((36, 36))
    E = np.eye(36) * eps
    y = Y.ravel()
    for a in range(36):
        for b in range(36):
            numeric[a, b] = (
                energy(y + E[a] + E[b])
                - energy(y + E[a] - E[b])
                - energy(y - E[a] + E[b])
                + energy(y - E[a] - E[b])
            ) / (4 * eps**2)
    assert np.abs(H - numeric).max() < 1e-5 * np.abs(H).max()


def test_newton_steps_reach_a_centre_where_the_gap_is_m_mu():
    problem, _ = complete(8, 2)
    net = Net.of(problem)
    start = BarrierPoint.at(problem, 0.01 * np.random.default_rng(0).standard_normal((8, 7)), 0.05)
    here = start
    for _ in range(60):
        here = newton_step(net, here)
    balance = problem.laplacian(here.weights) @ here.points - here.points
    assert np.abs(balance).max() < 1e-8
    value = problem.value(here.points)
    assert here.weights @ problem.squared == pytest.approx(value + problem.m * 0.05, rel=1e-8)
    assert np.linalg.eigvalsh(problem.laplacian(here.weights).toarray())[1] > 1 - 1e-6


def test_the_whole_space_as_a_span_is_the_whole_problem():
    problem = random_graph(9, 0.4, 5)
    span = Span.of(problem, np.eye(9))
    inner = span.point_at_gap(span.start(), 1e-6)
    exact = interior_point(problem, tol=1e-9)
    best = problem.value(exact.factor)
    assert best * (1 - 1e-5) < np.trace(inner.Q) < best


def test_path_weights_of_one_landmark_give_the_geodesic_bound():
    masses = np.random.default_rng(3).integers(1, 5, 30).astype(float)
    problem = random_graph(30, 0.1, 2, masses=masses)
    graph = graph_of(problem)
    chosen = farthest_points(graph, 1, start=4, dtype=np.float64)
    weights = path_weights(problem, chosen)
    g = geodesic_distances(graph, [4], dtype=np.float64)[0]
    assert weights @ problem.squared == pytest.approx(masses @ g**2, rel=1e-12)
    L = problem.laplacian(weights).toarray()
    star = np.diag(masses.copy())
    star[4, :] -= masses
    star[:, 4] -= masses
    star[4, 4] += masses.sum()
    assert np.linalg.eigvalsh(L - star)[0] > -1e-9 * np.abs(L).max()
    assert scipy.linalg.eigvalsh(L, np.diag(masses))[1] >= 1 - 1e-9


def test_landmarks_enclose_the_optimum_of_a_roll():
    problem = roll(600, seed=3)
    solution = landmark(problem, random_state=0)
    lower, upper = dense_bounds(problem, solution)
    exact = low_rank(problem, tol=1e-5, random_state=0)
    best = problem.value(exact.factor)
    assert lower <= best * (1 + 1e-5)
    assert upper >= best
    assert (upper - lower) / upper < 0.25
    assert solution.history[-1].upper >= upper * (1 - 1e-9)
    assert np.all(problem.squared_lengths(solution.factor) <= problem.squared * (1 + 1e-12))


def _unit(n, edges):
    return UnfoldingProblem(n, np.array(sorted(edges)), np.ones(len(edges)))


# Regular polygon: n/(4 sin²(π/n)). A star's ends pull its centre into their mean: n − 1. All
# pairs tied: a regular simplex, (n − 1)/2.
@pytest.mark.parametrize(
    ("problem", "exact"),
    [
        (chain(3), 2.0),
        (_unit(40, [(i, i + 1) for i in range(39)] + [(0, 39)]), 10 / np.sin(np.pi / 40) ** 2),
        (_unit(200, [(0, i) for i in range(1, 200)]), 199.0),
        (_unit(30, list(itertools.combinations(range(30), 2))), 14.5),
    ],
    ids=["chain", "cycle", "star", "complete"],
)
def test_repeated_eigenvalues_cost_the_certificate_nothing(problem, exact):
    solution = low_rank(problem, random_state=0)
    assert solution.status == "converged"
    certificate = certify_unfolding(problem, solution.factor, solution.weights)
    assert certificate.level == "proved"
    assert certificate.gap <= 1e-5
    assert certificate.lower <= exact * (1 + 1e-12)
    assert certificate.upper >= exact * (1 - 1e-12)


def test_columns_that_hold_nothing_new_are_left_out_of_a_basis():
    star = _unit(200, [(0, i) for i in range(1, 200)])
    rng = np.random.default_rng(0)
    first = orthonormal_columns(star, rng.standard_normal((200, 4)))
    mixed = first @ rng.standard_normal((4, 3)) + 7.0  # the span again, and the constant
    assert orthonormal_columns(star, mixed, [first]).shape == (200, 0)
    new = rng.standard_normal((200, 1))
    more = orthonormal_columns(star, np.hstack([mixed, new]), [first])
    assert more.shape == (200, 1)
    basis = np.hstack([first, more])
    assert np.allclose(basis.T @ basis, np.eye(5), atol=1e-13)
    assert np.allclose(basis.sum(axis=0), 0, atol=1e-12)


# ---- which solver "auto" takes

# The module; as an attribute of the package this name is the function.
CHOICE = import_module("dualfold.unfolding.solvers.unfolder")


def test_few_edges_go_to_the_interior_point_and_sheets_to_low_rank():
    assert Unfolder().solve(roll(100)).solver == "interior point"
    problem = roll(600)
    found = Unfolder(random_state=0).solve(problem)
    assert found.solver == "low_rank"
    certificate = certify_unfolding(problem, found.factor, found.weights)
    assert certificate.gap < 2e-6


def test_what_low_rank_cannot_do_is_done_by_another_and_noted():
    # Every point tied to every other, in 49 dimensions: columns without end.
    full = _unit(50, list(itertools.combinations(range(50), 2)))
    with pytest.raises(TooLarge):
        low_rank(full, most_flops=100.0)
    found = Unfolder(random_state=0).solve(full)
    assert found.solver == "interior point"
    assert "low_rank reached a gap" in found.story[0]
    assert "too costly" in found.story[0]
    assert full.value(found.factor) == pytest.approx(24.5, rel=1e-5)


@pytest.mark.parametrize("failure", [TooLarge("no separators"), np.linalg.LinAlgError("broken")])
def test_a_failed_low_rank_does_not_raise(monkeypatch, failure):
    def failing(*_, **__):
        raise failure

    monkeypatch.setattr(CHOICE, "low_rank", failing)
    monkeypatch.setattr(CHOICE, "MAX_INTERIOR_SECOND_EDGES", 1_000)
    found = Unfolder(tol=1e-3, random_state=0).solve(roll(400))
    assert found.solver == "landmark"
    assert str(failure) in found.story[0]


def test_the_better_answer_stays_and_a_callback_has_the_last_word(monkeypatch):
    problem = roll(400)
    monkeypatch.setattr(CHOICE, "MAX_INTERIOR_SECOND_EDGES", 1_000)
    monkeypatch.setattr(CHOICE, "BETTER_THAN_LANDMARKS_GAP", 0.0)
    early = Unfolder(tol=1e-9, max_iter=40, random_state=0).solve(problem)
    assert early.solver == "low_rank"
    assert "landmark was tried" in early.story[0]
    asked = Unfolder(callback=lambda record: record.iteration == 2, random_state=0).solve(problem)
    assert asked.solver == "low_rank"
    assert len(asked.history) == 2
