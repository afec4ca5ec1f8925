"""Equal lengths, exactly: closed forms, rolls against their own points, forgeries, no answer."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import CertificateFailed, Unrealisable
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import UnfoldingProblem, certify_unfolding, contraction_of, unfold
from dualfold.unfolding.problem import in_units
from dualfold.unfolding.solution import STOPPED_BY_CALLBACK
from dualfold.unfolding.solvers import face_path, separate_sides
from dualfold.unfolding.solvers import unfolder as solver
from dualfold.unfolding.solvers.rigid import clique_dependencies
from dualfold.unfolding.solvers.stresses import Stresses
from dualfold.unfolding.solvers.unfolder import elastic
from dualfold.unfolding.spectral_floor import precise_floor
from tests.tools.tables import roll_points


def problem_of(X, edges):
    edges = np.array(sorted(tuple(sorted(e)) for e in edges))
    apart = X[edges[:, 0]] - X[edges[:, 1]]
    return UnfoldingProblem(len(X), edges, (apart**2).sum(axis=1), "equal", None, X)


def variance(X):
    return float(((X - X.mean(axis=0)) ** 2).sum())


def complete(points):
    return [(i, j) for i in points for j in points if i < j]


def chain():
    X = np.arange(9.0)[:, None]
    return problem_of(X, [(i, i + 1) for i in range(8)]), 9 * (81 - 1) / 12


def star():  # any leaves that sum to 0, all at distance 1 of the middle
    return UnfoldingProblem(7, [[0, i] for i in range(1, 7)], np.ones(6), "equal"), 6.0


def cycle():  # the regular heptagon
    turn = 2 * np.pi * np.arange(7) / 7
    X = np.c_[np.cos(turn), np.sin(turn)]
    return problem_of(X, [(i, (i + 1) % 7) for i in range(7)]), variance(X)


def clique():
    X = np.random.default_rng(0).standard_normal((9, 3))
    return problem_of(X, complete(range(9))), variance(X)


def rigid():  # cliques of the plane that share three points: no freedom in any dimension
    X = np.random.default_rng(1).standard_normal((9, 2))
    return problem_of(X, {*complete(range(5)), *complete(range(2, 7)), *complete(range(4, 9))}), (
        variance(X)
    )


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("case", [chain, star, cycle, clique, rigid])
def test_closed_forms(case, precise, monkeypatch):
    """In double-doubles, and in doubles with points moved onto the lengths (for more edges)."""
    if not precise:
        monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    problem, best = case()
    found = elastic(problem)
    c = certify_unfolding(problem, found.factor, found.weights, tolerance=1e-6)
    assert c.level == "proved", str(c)
    assert c.relaxation <= 1e-9
    assert c.value == pytest.approx(best, rel=1e-6)
    assert c.value <= best * (1 + 1e-12)
    assert c.upper >= c.value
    assert c.upper_exact >= best * (1 - 1e-9)


def test_a_roll_keeps_its_lengths_and_says_which_problem_it_solved():
    """Independent: lengths, variance and Σ w d² by hand; λ₂ by dense eigenvalues."""
    X = roll_points(40, random_state=1)
    graph = join_pieces(knn(X, 6))
    found = unfold(graph, constraints="equal", tolerance=1e-5, random_state=0)
    c, p, w = found.certificate, found.problem, found.solution.weights
    assert c.level == "proved", str(c)
    apart = found.factor[p.edges[:, 0]] - found.factor[p.edges[:, 1]]
    own = (apart**2).sum(axis=1)
    assert np.abs(own / p.squared - 1).max() <= 1e-9
    assert c.value == pytest.approx(variance(found.factor), rel=1e-8)
    second = np.linalg.eigvalsh(p.laplacian(w).toarray())[1]
    # The eigenvalues of LAPACK are right to some u·‖L‖, which large weights make 1e-7.
    assert c.upper >= float(w @ p.squared) / second * (1 - 1e-4)
    assert variance(X) <= c.upper_exact * (1 + 1e-9)  # the points of the data are feasible
    assert c.value < 0.995 * unfold(graph).certificate.lower  # ≤ lets edges shrink
    assert "keep the lengths asked to δ" in str(c)
    assert "exactly the edge lengths of the rows" in c.about


def keeps_its_lengths(found, X):
    """Lengths and variance by hand; the points of the data are feasible."""
    c, p = found.certificate, found.problem
    apart = found.factor[p.edges[:, 0]] - found.factor[p.edges[:, 1]]
    assert np.abs((apart**2).sum(axis=1) / p.squared - 1).max() <= 1e-9
    assert c.lower == c.value > 0
    assert (1 - 1e-5) * variance(found.factor) <= c.value <= (1 + 1e-9) * variance(found.factor)
    assert variance(X) <= c.upper_exact


@pytest.mark.full
def test_points_moved_onto_the_lengths_reach_what_double_doubles_reach(monkeypatch):
    """The way of more than 2,000 edges on a roll that is also solved to 1e-7."""
    X = roll_points(100, random_state=1)
    graph = join_pieces(knn(X, 6))
    best = unfold(graph, constraints="equal", tolerance=1e-5).certificate
    monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    seen = []
    found = unfold(graph, constraints="equal", tolerance=1e-3, callback=seen.append)
    c = found.certificate
    assert c.level == "proved", str(c)
    keeps_its_lengths(found, X)
    assert c.upper >= best.value * (1 - 1e-4)  # other lengths within 1e-9, another optimum
    assert c.value <= best.upper * (1 + 1e-3)
    assert found.solution.status == "converged"
    assert len(seen) == len(found.solution.history)
    gaps = [record.gap for record in seen]
    assert gaps[0] > 0.1
    assert gaps[-1] < 1e-3


@pytest.mark.parametrize("seed", range(2))
def test_double_doubles_alone_reach_what_doubles_do(seed, monkeypatch):
    monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    X = roll_points(40, random_state=seed)
    graph = join_pieces(knn(X, 6))
    quick = unfold(graph, constraints="equal", tolerance=1e-2).certificate
    for name in ("UNRESOLVED_SHARE", "RESOLVED_TOLERANCE"):
        monkeypatch.setattr(face_path, name, 0.0)
    found = unfold(graph, constraints="equal", tolerance=1e-2)
    keeps_its_lengths(found, X)
    assert found.certificate.value == pytest.approx(quick.value, rel=1e-3)
    assert found.solution.status == "converged"


def test_a_callback_stops_the_weights_and_the_points(monkeypatch):
    monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    problem = contracted_roll(40)
    steps = len(elastic(problem).history)
    for most in (4, steps - 20):
        told = []

        def enough(record, told=told, most=most):
            told.append(record)
            return len(told) == most

        found = elastic(problem, callback=enough)
        assert len(found.history) == most
        assert found.status == "stopped"
        assert STOPPED_BY_CALLBACK in found.story
        assert found.factor.shape[0] == problem.n
        assert len(elastic(problem, max_iter=most).history) == most


def contracted_roll(n):
    X = roll_points(n, random_state=0)
    return contraction_of(join_pieces(knn(X, 6)), constraints="equal").problem


def sides_of_a_roll(n, seed):
    """The bound of the weights of more than 2,000 edges, and the variance of their points."""
    problem, _ = in_units(
        contraction_of(
            join_pieces(knn(roll_points(n, random_state=seed), 6)), constraints="equal"
        ).problem
    )
    found = separate_sides.weights_on_face(problem)
    c = certify_unfolding(problem, found.factor, found.weights)
    assert c.bound_by == "weights"
    return problem, found, c


@pytest.mark.parametrize(
    ("n", "seed"), [(50, 0), (50, 1), pytest.param(80, 2, marks=pytest.mark.full)]
)
def test_weights_of_the_face_bound_every_point(n, seed):
    """λ₂ is over all vectors; points with exactly these lengths nearly reach the bound."""
    problem, found, c = sides_of_a_roll(n, seed)
    # The eigenvalues of LAPACK are right to some u·‖L‖.
    L = problem.laplacian(found.weights).toarray()
    assert np.linalg.eigvalsh(L)[1] > 1 - 1e-14 * np.abs(L).max() - 1e-4
    best = elastic(problem)
    reached = certify_unfolding(problem, best.factor, best.weights).lower
    assert reached <= c.upper
    assert c.upper <= reached * (1 + 1e-4)
    assert c.own_gap < 1e-4


@pytest.mark.full
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("n", "seed"), [(300, 0), (300, 3), (500, 0), (1_000, 0), (1_000, 1)])
def test_the_bound_of_large_rolls_is_the_variance_of_their_points(n, seed):
    _, _, c = sides_of_a_roll(n, seed)
    assert c.relaxation < 2e-9
    assert c.own_gap < 1e-4


@pytest.mark.parametrize("margin", [1e-3, 1e-5])
def test_stresses_of_cliques_change_no_value_and_nothing_on_the_face(margin):
    """Against dense matrices: Σ w d², S on the face, and S beside it."""
    problem, _ = in_units(contracted_roll(40))
    rows = clique_dependencies(problem)
    assert np.abs(rows @ problem.positions).max() < 1e-9
    face = face_path.face_of(problem, rows)
    path = face_path.FacePath(face, problem.squared[face.edges])
    here = path.first
    while here.gap > 1e-2:
        here = path.step(here, 0.0)
    weights = np.zeros(problem.m)
    weights[face.edges] = here.weights
    found = Stresses(problem, rows, face.basis).balanced_weights(weights, margin)
    value = (1 + margin) * weights @ problem.squared
    assert found @ problem.squared == pytest.approx(value, rel=1e-9)
    before, after = (problem.laplacian(w).toarray() for w in ((1 + margin) * weights, found))
    U = face.basis
    assert np.allclose(U.T @ after @ U, U.T @ before @ U, atol=1e-9 * np.abs(after).max())
    assert np.linalg.eigvalsh(before)[1] < 1 < np.linalg.eigvalsh(after)[1]


@pytest.mark.full
def test_a_roll_of_500_points_to_a_hundredth(monkeypatch):
    """1,773 edges, by the way of more than 2,000."""
    monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    monkeypatch.setattr(separate_sides, "COSTLY_STEP_EDGES", 0)
    X = roll_points(500, random_state=0)
    found = unfold(knn(X, 6), constraints="equal", tolerance=1e-2)
    assert found.certificate.level == "proved", str(found.certificate)
    keeps_its_lengths(found, X)


@pytest.mark.full
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("n", [1_000, 2_000])
def test_large_rolls_to_a_hundredth(n, capsys):
    """3,554 and 7,107 edges: minutes, most of them in double-doubles."""
    X = roll_points(n, random_state=0)
    begin = time.process_time()
    found = unfold(knn(X, 6), constraints="equal", tolerance=1e-2)
    c = found.certificate
    with capsys.disabled():
        seconds = time.process_time() - begin
        print(f"{n} points: gap {c.gap:.1e}, δ {c.relaxation:.1e}, {seconds:.0f} s of a core")
    assert c.level == "proved", str(c)
    keeps_its_lengths(found, X)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_rolls_of_300_points_for_exactly_their_lengths(seed):
    """Weights of 10⁹; the points of the data are feasible, so no bound may be below them."""
    X = roll_points(300, random_state=seed)
    found = unfold(knn(X, 6), constraints="equal")
    c = found.certificate
    assert c.level in ("proved", "within"), str(c)
    assert c.gap < 5e-3
    assert c.relaxation <= 1e-9
    assert variance(X) <= c.upper_exact
    assert c.upper_exact <= c.upper


def test_a_floor_in_double_doubles_holds_in_exact_arithmetic():
    """L(w) − σM + τ11ᵀ with weights from 10⁻³ to 10⁹, its pivots by fractions."""
    flint = pytest.importorskip("flint")
    rng = np.random.default_rng(8)
    problem = problem_of(rng.standard_normal((9, 3)), complete(range(9)))
    w = 10.0 ** rng.uniform(-3, 9, problem.m)
    second = float(np.linalg.eigvalsh(problem.laplacian(w).toarray())[1])
    floor = precise_floor(problem, w, second * (1 - 1e-6))
    assert 0 < floor < second

    def definite(height):
        A = [[flint.fmpq(0)] * 9 for _ in range(9)]
        for (i, j), x in zip(problem.edges, w, strict=True):
            weight = flint.fmpq(*float(x).as_integer_ratio())
            A[i][j] -= weight
            A[j][i] -= weight
            A[i][i] += weight
            A[j][j] += weight
        shift = flint.fmpq(*float(height).as_integer_ratio())
        for i in range(9):
            A[i][i] -= shift
            A[i] = [x + shift for x in A[i]]
        return all(flint.fmpq_mat([row[:k] for row in A[:k]]).det() > 0 for k in range(1, 10))

    assert definite(floor)
    above = float(second) * (1 + 1e-3)
    assert not definite(above)
    assert precise_floor(problem, w, above) == 0.0


def test_forged_points_and_weights_prove_nothing_false():
    """Points that are feasible but not the best, and weights of every kind."""
    problem, best = cycle()
    w = elastic(problem).weights
    rng = np.random.default_rng(3)
    flat = np.zeros((7, 2))  # the heptagon folded: unit edges along a path that turns back
    side = float(np.sqrt(problem.squared[0]))
    flat[:, 0] = side * np.array([0.5, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]) - 0.5 * side
    flat[0] = [0.0, side * np.sqrt(0.75)]
    flat[1:, 0] = side * np.array([-0.5, 0.5, -0.5, 0.5, -0.5, 0.5])
    assert np.allclose(problem.squared_lengths(flat), problem.squared)
    worse = problem.value(flat)
    assert worse < 0.9 * best
    for weights in (w, -w, 10 * w, w * rng.standard_normal(7), rng.standard_normal(7)):
        c = certify_unfolding(problem, flat, weights, tolerance=1e-3)
        assert c.level != "proved"
        assert c.upper >= best * (1 - 1e-9)
        assert c.upper_exact >= best * (1 - 1e-9)
    scaled = certify_unfolding(problem, 1.001 * flat, w)
    assert scaled.level in ("unresolved", "failed")
    assert "off by" in scaled.reasons[0]


@pytest.mark.parametrize("seed", range(6))
def test_weights_never_bound_given_points_away(seed):
    """X has its own lengths, so no weights may give a bound below its variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    edges = {(i, i + 1) for i in range(11)} | {
        tuple(sorted(pair)) for pair in rng.integers(0, 12, (25, 2)) if pair[0] != pair[1]
    }
    problem = problem_of(X, edges)
    found = elastic(problem)
    for w in (found.weights, found.weights * (1 + 1e-3 * rng.standard_normal(problem.m))):
        for Y in (X, found.factor):
            c = certify_unfolding(problem, Y, w)
            assert c.upper_exact >= variance(X) * (1 - 1e-9)
            assert c.upper >= c.value


def _graph(d):
    return from_lengths(sp.csr_array(d))


@pytest.mark.parametrize("precise", [True, False])
def test_lengths_that_no_points_have_are_refused_with_their_proof(precise, monkeypatch):
    """Three points 2 apart and a fourth at distance 1 of each: every triangle closes."""
    if not precise:
        monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    d = np.full((4, 4), 2.0)
    d[3, :] = d[:, 3] = 1.0
    np.fill_diagonal(d, 0.0)
    with pytest.raises(Unrealisable, match="negative"):
        unfold(_graph(d), constraints="equal")


@pytest.mark.parametrize("precise", [True, False])
def test_lengths_off_by_little_are_not_proved(precise, monkeypatch):
    """A clique of the plane whose distances are rounded to seven digits."""
    if not precise:
        monkeypatch.setattr(solver, "MAX_PRECISE_EDGES", 0)
    X = np.random.default_rng(5).standard_normal((7, 2))
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    d = d * (1 + 1e-7 * np.triu(np.random.default_rng(6).standard_normal((7, 7)), 1))
    d = np.triu(d, 1) + np.triu(d, 1).T
    with pytest.warns(CertificateFailed, match="relaxation"):
        found = unfold(_graph(d), constraints="equal", random_state=0)
    assert found.certificate.level == "unresolved"
