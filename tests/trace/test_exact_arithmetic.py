"""Exact arithmetic of small trace problems: counts, values and proofs."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem, certify
from tests.kernels.door import IntegerMatrix, positive_solution
from tests.trace.door import IntegerPencil, _ritz_values, exact_proof
from tests.trace.door import exact_arithmetic as exact

SEEDS = range(5)


def pencil(A, B=None, N=None):
    n = len(A)
    B = np.eye(n) if B is None else B
    return IntegerPencil(
        IntegerMatrix.of(A),
        IntegerMatrix.of(B),
        IntegerMatrix.of(np.zeros((n, 0)) if N is None else N),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_doubles_become_integers_and_back(seed):
    rng = np.random.default_rng(seed)
    given = rng.standard_normal((3, 4)) * 10.0 ** rng.integers(-300, 300, (3, 4))
    given[0, 0], given[1, 1] = 0.0, 5e-324
    whole = IntegerMatrix.of(given)
    for place in np.ndindex(given.shape):
        assert whole.fraction(*place) == Fraction(float(given[place]))


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_are_those_of_the_spectrum(seed):
    """Diagonal matrices turned by exact (Householder, whole-number) reflections."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(-20, 20, 6)).astype(float)
    x = rng.integers(1, 4, 6).astype(float)
    # H = xᵀx·I − 2xxᵀ has H² = (xᵀx)²·I: the spectrum of HDH is (xᵀx)² times that of D.
    H = (x @ x) * np.eye(6) - 2 * np.outer(x, x)
    whole = pencil(H @ np.diag(values) @ H)
    for height in rng.uniform(-22, 22, 10):
        assert whole.below(height * (x @ x) ** 2) == int((values < height).sum())


def test_excluded_directions_are_not_counted():
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    N = np.array([[0.0], [1.0], [0.0], [0.0]])
    assert pencil(A, N=N).below(3.5) == 2
    assert pencil(A).below(3.5) == 3
    heavy = pencil(A, B=np.diag([1.0, 1.0, 100.0, 1.0]))
    assert heavy.below(0.5) == 1  # 3/100
    assert pencil(A).below(1.0) is None  # at the first eigenvalue a minor of 0 is no sign


def graded(seed):
    """Features of very different size: M = QD, with singular values that only M's form shows."""
    rng = np.random.default_rng(seed)
    Q = rng.standard_normal((14, 7))
    weights = 10.0 ** rng.uniform(-12, 12, 7)
    problem = TraceProblem(Gramian(sp.csr_array(Q)), weights, count=2)
    return problem, Q, weights


def best_directions(Q, weights):
    import mpmath

    with mpmath.workdps(80):
        W = mpmath.diag([1 / mpmath.sqrt(w) for w in weights])
        M = mpmath.matrix(Q.tolist()) * W
        values, vectors = mpmath.eigsy(M.T * M)
        V = W * vectors
        best = np.array([[float(V[i, j]) for j in range(3)] for i in range(len(weights))])
        return best, [Fraction(str(mpmath.nstr(v, 40))) for v in values]


@pytest.mark.parametrize("seed", SEEDS)
def test_graded_features_are_proved(seed):
    """Weights 24 orders apart: double precision resolves nothing of the optimum."""
    problem, Q, weights = graded(seed)
    V, values = best_directions(Q, weights)
    found = certify(problem, V[:, :2])
    assert found.level == "proved"
    assert abs(found.value - float(values[0] + values[1])) <= 1e-12 * found.value
    assert found.bound <= float(values[0] + values[1]) * (1 + 1e-14)
    wrong = certify(problem, V[:, [0, 2]])
    assert wrong.level not in ("proved", "measured")


def test_what_is_not_optimal_is_not_proved():
    problem, Q, weights = graded(0)
    V, _ = best_directions(Q, weights)
    assert exact_proof(problem, V[:, :2], 1e-4) is not None
    assert exact_proof(problem, V[:, 1:3], 1e-4) is None
    assert exact_proof(problem, V[:, [0, 2]], 1e-4) is None


def test_exact_answers_are_taken_off_the_excluded_directions():
    """B-orthogonally, in whole numbers: Bᵀ-products with N vanish, and the span is kept."""
    rng = np.random.default_rng(0)
    B = np.array([1.0, 2.0, 4.0, 0.5])
    N = np.array([[1.0], [1.0], [2.0], [-1.0]])
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), B, count=2, excluded=N)
    pencil = exact._pencil(problem)
    V = np.round(rng.normal(size=(4, 2)) * 8) / 8
    W = exact._on_constraint(pencil, exact.IntegerMatrix.of(V))
    rows = [[W.fraction(i, j) for j in range(2)] for i in range(4)]
    n, b = [Fraction(x) for x in N[:, 0]], [Fraction(x) for x in B]
    for j in range(2):
        assert sum(n[i] * b[i] * rows[i][j] for i in range(4)) == 0
    found = np.array([[float(one) for one in row] for row in rows])
    both = np.hstack([N, V, found])
    assert np.linalg.matrix_rank(both) == 3


def test_multiples_too_large_for_doubles_have_values():
    large = [IntegerMatrix(np.array([[v]], dtype=object), 1400) for v in (6, 2)]
    assert exact._ritz_values(*large) == pytest.approx([3.0])


def test_values_of_a_cluster_share_one_height():
    asked = []
    pencil = SimpleNamespace(below=lambda height: asked.append(height) or 0)
    total, first = exact._heights_under(pencil, np.array([4.0, 4.25, 6.0]), 0.5)
    assert asked == [3.75, 5.75]
    assert (total, first) == (Fraction(15, 2) + Fraction(23, 4), 3.75)
    asked.clear()
    unsure = SimpleNamespace(below=lambda height: asked.append(height))
    assert exact._heights_under(unsure, np.array([4.0]), 0.5) is None
    np.testing.assert_allclose(asked, 3.75 - 0.25 * np.array([0, 0.31, 0.57, 0.83]), rtol=1e-15)


def test_what_is_not_positive_definite_is_not_solved_for():
    one, negative = (IntegerMatrix.of(np.array([[value]])) for value in (2.0, -2.0))
    assert positive_solution(one, one).tolist() == [[Fraction(1)]]
    assert positive_solution(negative, one) is None
    assert _ritz_values(one, IntegerMatrix.of(np.zeros((1, 1)))) is None


def problem(A, count=1, **more):
    return TraceProblem(np.asarray(A, dtype=float), None, count, "min", **more)


def test_exact_proofs_are_about_problems_as_they_were_given():
    """Vectors along what is excluded, and a value of 0, leave nothing to prove."""
    A, V = np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4)
    bracket, floor = exact_proof(problem(A), V[:, :1], 1e-9)
    assert bracket.gap <= 1e-9
    assert floor.proof == "exact"
    assert exact_proof(problem(A, excluded=V[:, :1]), V[:, :1], 1e-9) is None
    assert exact_proof(problem(np.diag([0.0, 1.0])), np.eye(2)[:, :1], 1e-9) is None
    assert exact_proof(problem(A), V[:, 3:], 1e-9) is None  # three are below it
    assert exact_proof(problem(A, 2), np.ones((4, 2)), 1e-4) is None  # one direction, twice
    assert exact_proof(problem(np.zeros((3, 3)), 2), np.eye(3)[:, :2], 1e-4) is None


@pytest.mark.parametrize("limit", ["MAX_EXACT_ROWS", "MAX_DIRECTIONS", "MAX_BITS"])
def test_large_problems_are_left_to_other_proofs(set_limits, limit):
    large = problem(np.diag([1.0, 2.0, 3.0, 4.0]), 2)
    own = {"MAX_EXACT_ROWS": 4, "MAX_DIRECTIONS": 2, "MAX_BITS": 428}[limit]
    set_limits("trace.proof.exact_arithmetic", **{limit: own})
    assert exact_proof(large, np.eye(4)[:, :2], 1e-4) is not None
    set_limits("trace.proof.exact_arithmetic", **{limit: own - 1})
    assert exact_proof(large, np.eye(4)[:, :2], 1e-4) is None


def exactly(kind, weights, excluded, sense):
    H = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    values = np.array([1.0, 4.0, 9.0, 25.0])
    root = np.sqrt(weights)[:, None]
    M = (np.sqrt(values)[:, None] * H.T) * root.T  # MᵀM = W^½ H Λ Hᵀ W^½, exact in doubles
    A = Gramian(sp.csr_array(M)) if kind == "gramian" else M.T @ M
    vectors = H / root  # A v = λ B v with B = diag(weights), weights powers of 4
    N = vectors[:, :1] if excluded else None
    B = None if (weights == 1).all() else weights
    return TraceProblem(A, B, 2, sense, N), values, vectors


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("weights", [np.ones(4), np.array([1.0, 4.0, 0.25, 16.0])], ids=["I", "D"])
@pytest.mark.parametrize("kind", ["dense", "gramian"])
def test_exact_proofs_are_about_this_problem(kind, weights, excluded, sense):
    problem, values, vectors = exactly(kind, weights, excluded, sense)
    left = np.arange(1, 4) if excluded else np.arange(4)
    best = left[:2] if sense == "min" else left[::-1][:2]
    found = exact_proof(problem, vectors[:, best], 1e-4)
    assert found is not None
    bracket, floor = found
    sign = 1 if sense == "min" else -1
    optimum = sign * values[best].sum()
    assert bracket.value == optimum
    assert bracket.lower <= optimum
    assert bracket.lower == pytest.approx(optimum, rel=1e-4)
    assert bracket.apart >= optimum - bracket.lower - 1e-12
    assert bracket.gap <= 1e-4
    assert floor.height <= sign * values[best[0]]
    # Another pair of directions is no optimum, whatever the tolerance makes of it.
    other = left[-2:] if sense == "min" else left[:2]
    if set(other) != set(best):
        assert exact_proof(problem, vectors[:, other], 1e-4) is None
    turned = vectors[:, best] @ np.array([[0.6, -0.8], [0.8, 0.6]])
    again = exact_proof(problem, turned, 1e-4)
    assert again is not None
    assert again[0].value == pytest.approx(optimum, rel=1e-12)
