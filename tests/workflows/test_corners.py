"""More corners that samples of mutants showed: limits, first rounds, errors that must be paid."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    Euclidean,
    Everywhere,
    Gauge,
    HalfSquare,
    Indicator,
    KullbackLeibler,
    L1Ball,
    LeastSquares,
    Quadratic,
    Simplex,
    accelerated_gradient,
    adagrad,
    adam,
    gradient_descent,
    minibatch,
    momentum,
    norm,
    rmsprop,
    stochastic_gradient,
)
from dualfold.games.convex import Move, Support
from dualfold.games.curves import Curve, cornered_problem, example_problem
from dualfold.games.lower import LowerBound
from dualfold.games.recipe import Rate
from dualfold.graph import joined, knn
from dualfold.methods import isomap, johnson_lindenstrauss_size, landmark_count
from dualfold.programs import LinearProgram, QuadraticProgram, certify_infeasible
from dualfold.programs.balance import balanced_problem as balanced_program
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.matrix_entries import asymmetry, symmetric
from dualfold.trace.proof import completeness
from dualfold.trace.proof.completeness import factor_with_room
from dualfold.trace.proof.dense_inertia import _negative_blocks
from dualfold.trace.proof.random_search import random_floor
from dualfold.trace.proof.trial_directions import trial
from dualfold.trace.solvers import Gradient, PaperGradient
from dualfold.trace.solvers.factored import gershgorin, shift_below
from dualfold.trace.solvers.gradient import _distances, _new_directions, _start
from dualfold.trace.sparse.factorisation import fill_reducing_ordering
from dualfold.trace.sparse.shifted_matrices import shifted_matrices
from dualfold.trace.units import _is_exact, _scaled_matrix, balanced_problem, rescaled_problem
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.spectral_floor import cholesky_floor

FREE = Indicator(Everywhere())

# ---- first rounds of plain methods


@pytest.mark.parametrize(
    "method", [gradient_descent, momentum, accelerated_gradient, adagrad, rmsprop, adam]
)
def test_steps_are_counted_from_one(method):
    """Every method takes step(1), then step(2); the first update goes against the gradient."""
    seen = []
    run = method(HalfSquare(), np.array([8.0, -2.0]), step=lambda t: seen.append(t) or 0.25).play(3)
    assert seen == [1, 2, 3]
    first = run.points[1] - run.points[0]
    if method in (gradient_descent, momentum, accelerated_gradient):
        np.testing.assert_allclose(first, [-2.0, 0.5])
    elif method is rmsprop:  # squares are a tenth of the slope's
        np.testing.assert_allclose(first, [-0.25 / np.sqrt(0.1), 0.25 / np.sqrt(0.1)], rtol=1e-6)
    else:
        np.testing.assert_allclose(first, [-0.25, 0.25], rtol=1e-6)
    second = run.points[2] - run.points[1]
    x, before = run.points[1], run.points[0]
    wanted = {
        gradient_descent: -0.25 * x,
        momentum: -0.25 * x + 0.9 * (x - before),
        accelerated_gradient: 0.9 * (x - before) - 0.25 * (x + 0.9 * (x - before)),
        adagrad: -0.25 * x / np.sqrt(before**2 + x**2),
        rmsprop: -0.25 * x / np.sqrt(0.09 * before**2 + 0.1 * x**2),
    }
    if method in wanted:
        np.testing.assert_allclose(second, wanted[method], rtol=1e-6)
    else:
        mean = (0.09 * before + 0.1 * x) / (1 - 0.81)
        root = np.sqrt((0.999 * 0.001 * before**2 + 0.001 * x**2) / (1 - 0.999**2))
        np.testing.assert_allclose(second, -0.25 * mean / root, rtol=1e-6)


def test_batches_of_all_rows_are_the_whole_gradient():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    f, start = LeastSquares(rows, np.ones(3)), np.array([3.0, -1.0])
    plain = gradient_descent(f, start, step=0.1)
    np.testing.assert_allclose(minibatch(plain, batch_size=3).play(2).points, plain.play(2).points)
    one = stochastic_gradient(f, start, step=0.1).play(1).points[1]
    each = [start - 0.3 * row * (row @ start - 1) for row in rows]
    assert any(np.allclose(one, point) for point in each)
    for wrong in (0, 4):
        with pytest.raises(InvalidInput, match="batch_size"):
            minibatch(plain, batch_size=wrong)


def test_slopes_of_curves_by_hand():
    T = np.arange(1, 101)
    power = Curve("p", Rate("1/T", -1.0), T, 5.0 / T, 6.0 / T)
    assert power.slope == pytest.approx(-1.0)
    assert power.as_steep_as_promised
    slow = Curve("s", Rate("1/T", -1.0), T, 5.0 / T**0.9, 6.0 / T)
    assert slow.slope == pytest.approx(-0.9)
    assert not slow.as_steep_as_promised
    linear = Curve("l", Rate("0.5^T", 0, 0.5), T, 3.0 * 0.5**T, 4.0 * 0.5**T)
    assert linear.slope == pytest.approx(0.5)
    assert linear.as_steep_as_promised
    late = np.where(T < 10, 1.0, 10.0 / T)  # only the last decade counts
    assert Curve("d", Rate("1/T", -1.0), T, late, late).slope == pytest.approx(-1.0)
    f, start, radius = cornered_problem(5)
    np.testing.assert_allclose(np.linalg.norm(f.rows, axis=1), 1.0)
    assert f.rows.shape == (10, 5)
    assert np.linalg.norm(start) == pytest.approx(radius)
    g, start, radius = example_problem(4)
    best = np.linalg.lstsq(g.rows, g.targets, rcond=None)[0]
    assert radius == pytest.approx(1.2 * np.linalg.norm(best))


def test_a_ball_that_does_not_bind_costs_nothing():
    """min ⟨s, x⟩ + ‖x‖₁ is 0, at 0, for a slope inside of the dual ball."""
    slope = np.array([0.5, -0.25, 0.75])
    f = Quadratic(np.zeros((3, 3)), slope)
    bound = LowerBound(f, norm(1), Ball(2.0, np.array([0.5, 0.0, 0.0])))
    bound.add(Move(slope, taken_at=np.zeros(3)), 1.0)
    assert -1e-12 <= bound.bound().in_ball <= 0


def test_diameters_of_boxes():
    assert Box(0.0, 1.0).diameter == np.inf
    assert Box(np.zeros(4), 1.0).diameter == pytest.approx(2.0)
    assert Box(0.0, np.array([3.0, 4.0])).diameter == pytest.approx(5.0)


# ---- methods and programs


def test_sizes_that_methods_choose():
    assert johnson_lindenstrauss_size(1, 0.5) == 1
    assert johnson_lindenstrauss_size(100, 0.5) == int(np.ceil(4 * np.log(100) / (1 / 8 - 1 / 24)))
    for n, eps in ((0, 0.5), (10, 0.0), (10, 1.0)):
        with pytest.raises(InvalidInput, match="eps"):
            johnson_lindenstrauss_size(n, eps)
    assert landmark_count(10_000) is None
    assert landmark_count(10_001) == 200
    assert landmark_count(90_000) == 600
    assert landmark_count(1_000_000) == 2**29 // 1_000_000
    graph = joined(knn(np.random.default_rng(0).normal(size=(30, 2)), 6))
    assert isomap(graph).A.dtype == np.float64
    assert isomap(graph, dtype=np.float32).A.dtype == np.float32


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_programs_in_their_own_units_are_the_same_programs(kind):
    A = np.array([[1e6, 2.0], [3e-5, 4e3]])
    program = QuadraticProgram(kind(np.diag([1e8, 1e-4])), [1.0, 2.0], kind(A), [5.0, 6.0])
    units = balanced_program(program)
    D, S = units.columns, units.rows
    inner = units.program
    dense = inner.A.toarray() if sp.issparse(inner.A) else inner.A
    np.testing.assert_array_equal(dense, S[:, None] * A * D)
    assert sp.issparse(inner.A) == (kind is sp.csr_array)
    np.testing.assert_array_equal(inner.c, D * [1.0, 2.0])
    np.testing.assert_array_equal(inner.b, S * [5.0, 6.0])
    point = np.array([0.5, -0.25])
    assert inner.value(point) == pytest.approx(program.value(units.point(point)), rel=1e-14)
    assert (np.log2(np.r_[D, S]) % 1 == 0).all()
    assert np.abs(dense).max() < 8
    lost = LinearProgram([1e-300, 1e300], [[1e-200, 1e200]], [1.0])
    np.testing.assert_array_equal(balanced_program(lost).columns * 0 + 1, [1.0, 1.0])


# ---- trace problems in other units, and what is lost on the way


def test_scaling_is_refused_where_an_entry_would_be_rounded():
    powers = np.array([0, -600, 300])
    M = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 4.0]]))
    scaled = _scaled_matrix(Gramian(M), powers)
    np.testing.assert_array_equal(scaled.factor.toarray(), np.ldexp(M.toarray(), powers[None, :]))
    assert _scaled_matrix(Gramian(M), np.array([0, -1100, 0])) is None
    for A in (np.diag([1.0, 2.0, 3.0]), sp.csr_array(np.diag([1.0, 2.0, 3.0]))):
        found = _scaled_matrix(A, powers // 2)
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_array_equal(np.diag(found), np.ldexp([1.0, 2.0, 3.0], powers))
        assert _scaled_matrix(A, np.array([0, -600, 0])) is None
        with np.errstate(over="ignore"):
            assert _scaled_matrix(A, np.array([0, 600, 0])) is None
    assert _is_exact(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert not _is_exact(np.array([1.0]), np.array([0.0]))
    assert not _is_exact(np.array([1.0]), np.array([np.inf]))


def test_far_units_come_near_and_others_stay():
    near = TraceProblem(np.diag([1.0, 2.0]), count=1)
    assert rescaled_problem(near) == (near, 0)
    for exponent in (-500, 450, 501):
        far = TraceProblem(np.ldexp(np.diag([1.0, 2.0]), exponent), count=1)
        problem, power = rescaled_problem(far)
        np.testing.assert_array_equal(np.ldexp(problem.A, power), far.A)
        assert 0.25 <= problem.A.max() < 4
    even = TraceProblem(np.eye(3), np.array([1.0, 2.0, 3.0]), 1)
    assert balanced_problem(even, np.eye(3)[:, :1])[0] is even
    uneven = TraceProblem(np.eye(3), np.array([1.0, 2.0**20, 2.0**-20]), 1)
    problem, V = balanced_problem(uneven, np.eye(3)[:, 1:2])
    np.testing.assert_array_equal(problem.metric.entries, np.ones(3))
    np.testing.assert_array_equal(np.diag(problem.A), [1.0, 2.0**-20, 2.0**20])
    np.testing.assert_array_equal(V[:, 0], [0.0, 2.0**10, 0.0])


def test_how_far_from_symmetric():
    A = np.array([[1.0, 2.0, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 3.0]])
    truth = np.linalg.norm(A - A.T, 2) / 2
    for given in (A, sp.csr_array(A)):
        assert truth <= asymmetry(given) <= 3 * truth
        assert asymmetry(given + given.T) == 0.0
        nearly = given * 1.0
        nearly[1, 0] = 2.0 + 1e-9
        mean = symmetric(nearly, "A")
        mean = mean.toarray() if sp.issparse(mean) else mean
        np.testing.assert_array_equal(mean, mean.T)
        assert mean[0, 1] == pytest.approx(2.0 + 5e-10, abs=1e-15)
        with pytest.raises(InvalidInput, match="not symmetric"):
            symmetric(given, "A")
    same = A + A.T
    assert symmetric(same, "A") is same


def test_room_for_rounding_is_twice_what_was_lost(monkeypatch):
    A = sp.csr_array(4 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    problem = TraceProblem(A, count=2)
    pencil = shifted_matrices(problem)
    matrix = pencil.at(1.0)
    factor = completeness.factorise(matrix, pencil.ordering)
    lost = np.array([0.01, 0.02, 0.0, 0.03, 0.01])
    monkeypatch.setattr(completeness, "_shift_rounding", lambda *_: lost)
    seen = []
    plain = completeness.factorise
    monkeypatch.setattr(
        completeness, "factorise", lambda m, o: seen.append(m.diagonal()) or plain(m, o)
    )
    assert factor_with_room(problem, factor, matrix, 1.0) is not None
    room = matrix.diagonal() - seen[-1]
    assert (room >= 2 * lost).all()
    assert (room <= 2 * lost + 1e-12).all()


def test_an_invariant_space_leaves_the_chance_of_what_it_did_not_see():
    """√n·(blur + 8u·scale)/MISS^¼ is taken off the height of few eigenvalues."""
    n = 600
    few = TraceProblem(sp.csr_array(sp.diags_array(np.r_[-3.0, -2.0, np.ones(n - 2)])), count=2)
    floor = random_floor(few, trial(few, np.eye(n)[:, :2]), 3.0, 1e-4, False)
    least = np.sqrt(n) * (64 * 2.0**-53 * 4 * 3) / 1e-3
    assert least <= 1 - floor.height <= 10 * least


@pytest.mark.parametrize("n", [9, 30])
def test_a_cholesky_floor_pays_what_higham_asks(n):
    """λ₂ ≥ σ − γ_(n+1) Σ a_ii/m_i (theorem 10.5), at least."""
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem, w = UnfoldingProblem(n, path, np.ones(n - 1)), np.full(n - 1, 64.0)
    height = 0.5 * 64 * (2 - 2 * np.cos(np.pi / n))
    diagonal = problem.laplacian(w).diagonal() - height + 2 * height / n
    paid = height - cholesky_floor(problem, w, height)
    assert paid >= (n + 1) * 2.0**-53 * diagonal.sum()
    assert paid <= 8 * (n + 1) * 2.0**-53 * diagonal.sum() + 1e-12


# ---- solvers by descent


def test_descents_on_the_sphere_find_the_largest_values():
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    values = np.r_[9.0, 7.0, 6.0, np.linspace(0, 3, 27)]
    problem = TraceProblem((Q * values) @ Q.T, count=2, sense="max")
    found = Gradient().attempt(problem)
    assert found.status == "converged"
    np.testing.assert_allclose(found.values, [9.0, 7.0], rtol=1e-9)
    off = found.vectors - Q[:, :2] @ (Q[:, :2].T @ found.vectors)
    assert np.linalg.norm(off) < 1e-6
    assert found.history[-1][0] == pytest.approx(-16.0)
    assert (np.diff(found.history[:, 0]) <= 1e-9).all()  # never worse
    assert found.products >= 6
    short = Gradient(most_steps=1).attempt(problem)
    assert short.status == "stopped"
    near = Gradient(start=Q[:, :2]).attempt(problem)
    assert near.products <= found.products
    whole = Gradient().attempt(TraceProblem(np.diag([3.0, 1.0]), count=2, sense="max"))
    np.testing.assert_allclose(whole.values, [3.0, 1.0])
    for wrong in (
        TraceProblem(np.eye(3), count=1),
        TraceProblem(np.eye(3), np.ones(3) * 2, 1, "max"),
    ):
        with pytest.raises(InvalidInput, match="maxima with B = I"):
            Gradient().attempt(wrong)
    paper = PaperGradient(rounds=4, start=Q[:, :2] / np.sqrt(2), step=0.0).attempt(problem)
    np.testing.assert_allclose(paper.values.sum(), 16.0, rtol=1e-9)
    assert paper.products == 2 * 5
    assert "length 12.5" in PaperGradient(rounds=4).attempt(problem).story[0]


def test_parts_of_the_descent():
    values, residuals = np.array([-9.0, -7.0, -6.0]), np.diag([3e-3, 4e-3, 0.1])
    sine, excess, settled = _distances(values, residuals, 2)
    assert sine == pytest.approx(5e-3 / 0.9)  # ‖(3, 4)‖ over −6 − 0.1 + 7
    assert excess == pytest.approx(25e-6 / 0.9 / 16)
    assert not settled
    assert _distances(values[:2], residuals[:, :2], 2)[:2] == (np.inf, np.inf)
    assert _distances(np.array([-9.0, -7.0, -7.0]), residuals, 2)[:2] == (np.inf, np.inf)
    assert _distances(values, 0 * residuals, 2) == (0.0, 0.0, True)
    known = np.eye(5)[:, :2]
    fresh = _new_directions(
        np.array([[1.0, 1, 0], [0, 2, 0], [3, 3, 0], [0, 4, 0], [0, 0, 0]]), known
    )
    assert fresh.shape == (5, 2)
    np.testing.assert_allclose(fresh.T @ fresh, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(known.T @ fresh, 0, atol=1e-12)
    assert _new_directions(np.zeros((5, 2)), known).shape == (5, 0)
    start = _start(np.ones((4, 1)), 4, 3, 0)
    np.testing.assert_array_equal(start[:, 0], 1.0)
    np.testing.assert_array_equal(start[:, 1:], _start(None, 4, 3, 0)[:, 1:])
    for wrong in (np.ones(4), np.ones((3, 1)), np.full((4, 1), np.nan)):
        with pytest.raises(InvalidInput, match="start must be"):
            _start(wrong, 4, 2, 0)


def test_shifts_lie_below_the_spectrum():
    n = 12
    L = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    L[0, 0] = L[-1, -1] = 1
    for B in (None, np.linspace(1, 3, n)):
        problem = TraceProblem(sp.csr_array(L), B, 2, "min", np.ones((n, 1)))
        low, size = gershgorin(problem)
        assert low == pytest.approx(0.0, abs=1e-12)
        assert size >= 2
        found = shift_below(problem)
        assert -1e-6 < found < 0
        least = TraceProblem(sp.csr_array(L + np.eye(n)), B, 2)
        root = np.ones(n) if B is None else 1 / np.sqrt(B)
        assert shift_below(least) < np.linalg.eigvalsh(root[:, None] * least.A.toarray() * root)[0]
    most = TraceProblem(sp.csr_array(L), None, 2, "max")
    assert shift_below(most) < -2 - 2 * np.cos(np.pi / n)
    dense = TraceProblem(sp.csr_array(L), sp.csr_array(L + np.eye(n)), 2)
    assert gershgorin(dense)[0] == -np.inf
    assert shift_below(dense) < 0


def test_a_ray_that_is_right_to_rounding_alone_proves_nothing():
    """x ≤ 1 and x ≥ 1: (1 − 1e-9, 1) has a fall, but the exact ray beside it has none."""
    touching = LinearProgram([0.0], [[1.0], [-1.0]], [1.0, -1.0])
    assert certify_infeasible(touching, [1.0 - 1e-9, 1.0]).level != "proved"
    assert certify_infeasible(touching, [1.0, 1.0]).level == "failed"


def test_dual_squares_by_the_set():
    slope = np.array([1.0, -3.0, 2.0])
    entropy = KullbackLeibler()
    assert entropy.dual_square(Indicator(Simplex(2.0)), slope) == 18.0
    assert entropy.dual_square(Indicator(L1Ball(0.5)), slope) == 4.5
    assert entropy.dual_square(Indicator(Box(0.0, 2.0)), slope) == 28.0
    assert entropy.dual_square(Indicator(Everywhere()), slope) == np.inf
    assert Euclidean().dual_square(FREE, slope) == 14.0
    assert Gauge(Ball(2.0)).dual_square(FREE, slope) == 56.0
    assert Gauge(Ball(2.0, np.ones(3))).dual_square(FREE, slope) == np.inf
    assert Gauge(Ball(2.0)).distance(np.array([3.0, 4.0]), np.zeros(2)) == pytest.approx(3.125)
    np.testing.assert_allclose(entropy.slope(np.array([2.0, 1.0]), np.array([1.0, 2.0])),
                               [np.log(2), -np.log(2)])  # fmt: skip


def test_supports_of_sets_that_are_not_symmetric_carry_their_own_side():
    """ψ(x) = max(−x, 3x) carries ⟨s, x⟩ as a whole where −s lies in [−1, 3]."""
    part = Support(Box(-1.0, 3.0))
    assert [part.value(np.array([x])) for x in (-2.0, 0.0, 0.5)] == [2.0, 0.0, 1.5]
    assert [part.surely(np.array([x])).low() for x in (-2.0, 0.5)] == pytest.approx([2.0, 1.5])
    assert part.subgradient(np.array([-2.0])) == [-1.0]
    assert part.conjugate(np.array([3.0])) == part.conjugate(np.array([-1.0])) == 0.0
    assert part.conjugate(np.array([-3.0])) == np.inf
    for slope, whole in ((-2.0, True), (2.0, False), (0.5, True), (-3.5, False)):
        share = part.share(np.array([slope]), 0.0, np.zeros(1))
        assert share.whole == whole
        for x in (-2.0, -0.1, 0.0, 0.3, 4.0):
            left = slope * x + max(-x, 3 * x)
            assert left >= share.bound + float(share.rest[0]) * x - share.slack * abs(x) - 1e-12


def test_flat_directions_of_a_quadratic_are_left_alone():
    for q in np.random.default_rng(7).normal(size=(20, 5)):
        f = Quadratic(np.outer(q, q))
        x = f.maximiser(f.subgradient(q))
        np.testing.assert_allclose(x, q, atol=1e-6 * np.linalg.norm(q))


def test_blocks_of_pivots_by_hand():
    """2×2: one of each sign where the determinant is negative, else two of the trace's."""
    for D, negative in (
        (np.diag([1.0, -2.0, 3.0]), 1),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), 1),
        (np.array([[-2.0, 1.0], [1.0, -2.0]]), 2),
        (np.array([[2.0, 1.0], [1.0, 2.0]]), 0),
        (np.diag([1.0, 0.0]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), None),
    ):
        assert _negative_blocks(D) == negative


def test_a_count_is_lowered_by_the_worst_row(monkeypatch):
    A = sp.csr_array(np.diag([1.0, 2.0, 3.0]) + 0.1)
    lost = np.array([1e-3, 5e-3, 2e-3])
    monkeypatch.setattr(completeness, "_shift_rounding", lambda *_: lost)
    for B, fall in ((None, 5e-3), (np.array([1.0, 10.0, 0.5]), 4e-3)):
        problem = TraceProblem(A, B, 1)
        pencil = shifted_matrices(problem)
        matrix = pencil.at(0.5)
        factor = completeness.factorise(matrix, pencil.ordering)
        found = completeness.counted_height(problem, factor, matrix, 0.5)
        assert 0.5 - fall * (1 + 1e-5) - 1e-13 <= found <= 0.5 - fall


def test_values_in_far_units_are_held_against_the_answer():
    A, V = np.diag([1.0, 2.0, 3.0]), np.eye(3)[:, :1]
    for power in (-500, 0, 500):
        problem = TraceProblem(np.ldexp(A, power), count=1)
        assert certify(problem, V, [np.ldexp(1.0, power)]).level == "proved"
        assert certify(problem, V, [np.ldexp(1.01, power)]).level == "failed"


def test_limits_of_measures():
    X = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    assert [quality.measured_distortion(X, X, n_pairs=p).exhaustive for p in (9, 10)] == [
        False,
        True,
    ]
    assert -1 <= quality.silhouette(X, [0, 1, 2, 3, 3]) <= 1
    assert -1 <= quality.silhouette(X[:3], [0, 1, 1]) <= 1
    for labels in ([0, 1, 2, 3, 4], [0, 0, 0, 0, 0]):
        with pytest.raises(InvalidInput, match="from 2 to n"):
            quality.silhouette(X, labels)
    spot = quality.shepard(np.zeros((3, 1)), X[:3])
    assert spot.counts.sum() == 6
    assert spot.counts.shape[0] == 1
    with pytest.raises(InvalidInput, match="square"):
        fill_reducing_ordering(sp.csr_array(np.ones((3, 4))))
