"""Equal lengths, exactly: closed forms, rolls, forgeries; all numbers about the lengths asked."""

import itertools
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import MaximumVarianceUnfolding
from dualfold.errors import CertificateFailed, Unrealisable
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import (
    Unfolder,
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    interior_point,
    unfold,
)
from tests.kernels.door import integers
from tests.tools.tables import roll_points
from tests.unfolding.door import (
    congruent_parts,
    deciding_pairs,
    exact_dependencies,
    feasible_value,
    in_units,
    precise_floor,
    precise_solution,
)


@pytest.fixture
def many_edges(set_limits):
    """The way of more than 2,000 edges for any problem: points moved onto the lengths."""

    def change():
        set_limits("unfolding.solvers.unfolder", MAX_PRECISE_EDGES=0)

    return change


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
def test_closed_forms(case, precise, many_edges):
    """In double-doubles, and in doubles with points moved onto the lengths (for more edges)."""
    if not precise:
        many_edges()
    problem, best = case()
    found = Unfolder().solve(problem)
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
def test_points_moved_onto_the_lengths_reach_what_double_doubles_reach(many_edges):
    """The way of more than 2,000 edges on a roll that is also solved to 1e-7."""
    X = roll_points(100, random_state=1)
    graph = join_pieces(knn(X, 6))
    best = unfold(graph, constraints="equal", tolerance=1e-5).certificate
    many_edges()
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
def test_double_doubles_alone_reach_what_doubles_do(seed, many_edges, set_limits):
    many_edges()
    X = roll_points(40, random_state=seed)
    graph = join_pieces(knn(X, 6))
    quick = unfold(graph, constraints="equal", tolerance=1e-2).certificate
    set_limits("unfolding.solvers.face_path", UNRESOLVED_SHARE=0.0, RESOLVED_TOLERANCE=0.0)
    found = unfold(graph, constraints="equal", tolerance=1e-2)
    keeps_its_lengths(found, X)
    assert found.certificate.value == pytest.approx(quick.value, rel=1e-3)
    assert found.solution.status == "converged"


def problem_of_roll(n, seed=0):
    X = roll_points(n, random_state=seed)
    return contraction_of(join_pieces(knn(X, 6)), constraints="equal").problem


def test_a_callback_and_a_number_of_steps_stop_the_weights_and_the_points(many_edges):
    many_edges()
    problem = problem_of_roll(40)
    steps = len(Unfolder().solve(problem).history)
    for most in (4, steps - 20):
        seen = []

        def enough(record, seen=seen, most=most):
            seen.append(record)
            return len(seen) == most

        found = Unfolder(callback=enough).solve(problem)
        assert len(found.history) == most
        assert found.status == "stopped"
        assert any("callback" in words for words in found.story)
        assert found.factor.shape[0] == problem.n
        assert len(Unfolder(max_iter=most).solve(problem).history) == most


@pytest.mark.parametrize(
    ("n", "seed"), [(50, 0), (50, 1), pytest.param(80, 2, marks=pytest.mark.full)]
)
def test_weights_of_the_face_bound_every_point(n, seed, many_edges):
    """λ₂ is over all vectors; points with exactly these lengths nearly reach the bound."""
    problem = problem_of_roll(n, seed)
    best = Unfolder().solve(problem)
    reached = certify_unfolding(problem, best.factor, best.weights).lower
    many_edges()
    found = Unfolder().solve(problem)
    c = certify_unfolding(problem, found.factor, found.weights)
    assert c.bound_by == "weights"
    # The eigenvalues of LAPACK are right to some u·‖L‖.
    L = problem.laplacian(found.weights).toarray()
    assert np.linalg.eigvalsh(L)[1] > c.second_eigenvalue - 1e-14 * np.abs(L).max()
    assert reached <= c.upper <= reached * (1 + 1e-4)
    assert c.own_gap < 1e-4


@pytest.mark.full
def test_a_roll_of_500_points_to_a_hundredth(many_edges, set_limits):
    """1,773 edges, by the way of more than 2,000."""
    many_edges()
    set_limits("unfolding.solvers.separate_sides", COSTLY_STEP_EDGES=0)
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
    w = Unfolder().solve(problem).weights
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
    found = Unfolder().solve(problem)
    for w in (found.weights, found.weights * (1 + 1e-3 * rng.standard_normal(problem.m))):
        for Y in (X, found.factor):
            c = certify_unfolding(problem, Y, w)
            assert c.upper_exact >= variance(X) * (1 - 1e-9)
            assert c.upper >= c.value


def clique_lengths(X):
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("precise", [True, False])
def test_lengths_that_no_points_have_are_refused_with_their_proof(precise, many_edges):
    """Three points 2 apart and a fourth at distance 1 of each: every triangle closes."""
    if not precise:
        many_edges()
    d = np.full((4, 4), 2.0)
    d[3, :] = d[:, 3] = 1.0
    np.fill_diagonal(d, 0.0)
    graph = from_lengths(sp.csr_array(d))
    with pytest.raises(Unrealisable, match="negative"):
        unfold(graph, constraints="equal")
    assert unfold(graph).certificate.level == "proved"


@pytest.mark.parametrize("precise", [True, False])
def test_lengths_off_by_little_are_not_proved(precise, many_edges):
    """A clique of the plane whose distances are rounded to seven digits."""
    if not precise:
        many_edges()
    d = clique_lengths(np.random.default_rng(5).standard_normal((7, 2)))
    d = d * (1 + 1e-7 * np.triu(np.random.default_rng(6).standard_normal((7, 7)), 1))
    d = np.triu(d, 1) + np.triu(d, 1).T
    with pytest.warns(CertificateFailed, match="relaxation"):
        found = unfold(from_lengths(sp.csr_array(d)), constraints="equal", random_state=0)
    assert found.certificate.level == "unresolved"


# ---- value, bound and gap are about the lengths asked, not about nearby ones


def ring(n, seed):
    turn = np.sort(np.random.default_rng(seed).uniform(0, 2 * np.pi, n))
    return np.c_[np.cos(turn), np.sin(turn)]


def noisy_sheet(n, seed):
    rng = np.random.default_rng(seed)
    return np.c_[rng.uniform(0, 4, (n, 2)), 0.1 * rng.standard_normal(n)]


def bodies_on_a_hinge(shared, seed, n=6):
    """Two cliques of space that share 2 or 3 points, and the largest variance in closed form.

    What is orthogonal to the shared points may be turned freely in more dimensions: the variance
    is largest where the two sums of it point away from each other.
    """
    X = np.random.default_rng(seed).standard_normal((2 * n - shared, 3))
    X = X - X[0]
    axis = np.linalg.qr(X[1:shared].T)[0]
    away = X - X @ axis @ axis.T
    one, two = np.linalg.norm(away[:n].sum(axis=0)), np.linalg.norm(away[n:].sum(axis=0))
    along = np.linalg.norm((X @ axis).sum(axis=0))
    best = np.sum(X**2) - (along**2 + (one - two) ** 2) / len(X)
    parts = [range(n), [*range(shared), *range(n, 2 * n - shared)]]
    pairs = {pair for part in parts for pair in itertools.combinations(part, 2)}
    edges = np.array(sorted(pairs))
    squared = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
    return UnfoldingProblem(len(X), edges, squared, "equal", None, X), float(best)


@pytest.mark.parametrize(("shared", "seed"), [(2, 11), (2, 12), (3, 15)])
def test_bodies_on_a_hinge_reach_their_closed_form(shared, seed):
    problem, best = bodies_on_a_hinge(shared, seed)
    found = Unfolder().solve(problem)
    c = certify_unfolding(problem, found.factor, found.weights, tolerance=1e-5)
    assert c.level == "proved", str(c)
    assert c.lower <= best * (1 + 1e-12) <= c.upper * (1 + 2e-12)
    assert c.lower >= best * (1 - 1e-5)
    assert c.reached_by == "points near these"


def exact_bound(X, problem, weights, floor):
    """Σ w d² over a floor of λ₂, both in fractions; None where λ₂ is below the floor."""
    judge = pytest.importorskip("tests.proofs.judge_unfoldings")
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    squared = [
        sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True))
        for i, j in problem.edges.tolist()
    ]
    net = judge.Net.of(len(X), problem.edges, problem.squared)
    net = judge.Net(
        net.n,
        net.edges,
        tuple(judge.exact(0) + judge.fmpq(q.numerator, q.denominator) for q in squared),
        net.masses,
    )
    if not judge.reaches(net, weights, floor):
        return None
    return judge.dual_bound(net, weights, floor)


@pytest.mark.parametrize(
    "X",
    [
        roll_points(18, random_state=7),
        pytest.param(roll_points(40, random_state=8), marks=pytest.mark.full),
        ring(14, 1),
        noisy_sheet(15, 2),
        pytest.param(noisy_sheet(40, 3), marks=pytest.mark.full),
    ],
    ids=["roll", "roll of 40", "ring", "sheet", "sheet of 40"],
)
def test_no_weights_bound_the_value_away_in_exact_arithmetic(X):
    """The weights bound every K with the lengths of X; the value must not lie above that."""
    found = unfold(join_pieces(knn(X, 5)), constraints="equal")
    c, w = found.certificate, found.solution.weights
    assert c.level in ("proved", "within"), str(c)
    bound = exact_bound(X, found.problem, w.tolist(), c.second_eigenvalue)
    assert bound is not None
    assert c.value <= float(bound) * (1 + 1e-15)
    assert c.bound_by != "weights" or c.upper >= float(bound) * (1 - 1e-15)
    assert c.lower >= ((X - X.mean(axis=0)) ** 2).sum() * (1 - 1e-6)


@pytest.mark.full
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("k", [4, 5, 6, 8])
@pytest.mark.parametrize("seed", range(20, 26))
@pytest.mark.parametrize("table", [roll_points, ring, noisy_sheet])
def test_levels_of_many_tables(table, seed, k):
    X = roll_points(60, random_state=seed) if table is roll_points else table(60, seed)
    c = unfold(join_pieces(knn(X, k)), constraints="equal").certificate
    assert c.level in ("proved", "within", "unresolved"), str(c)
    assert ((X - X.mean(axis=0)) ** 2).sum() * (1 - 1e-6) <= c.lower <= c.upper


def test_lengths_that_are_only_numbers_are_not_proved_where_they_depend_on_each_other():
    """Rounded lengths of a clique contradict each other, or not: no points can be shown."""
    X = np.random.default_rng(4).standard_normal((7, 2))
    d = clique_lengths(X)
    with pytest.warns(CertificateFailed):
        c = unfold(from_lengths(sp.csr_array(d)), constraints="equal").certificate
    assert c.level == "unresolved"
    assert (c.lower, c.reached_by) == (0.0, "nothing")
    assert not c.holds
    assert c.own_gap < 1e-6
    assert "exactly the lengths of these" in c.about
    rows = unfold(join_pieces(knn(X, 6)), constraints="equal").certificate
    assert rows.level == "proved"
    assert rows.value == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-9)


def test_a_relaxed_problem_is_judged_with_the_share_asked():
    """Points that keep lengths better than asked do not make the bound smaller."""
    X = np.random.default_rng(5).standard_normal((9, 2))
    problem = contraction_of(join_pieces(knn(X, 4)), constraints="equal").problem
    soft = interior_point(problem, tol=1e-7, relaxation=2e-2)
    reached = certify_unfolding(problem, soft.factor, soft.weights, most_relaxed=2e-2)
    assert reached.level == "proved", str(reached)
    hard = interior_point(problem, tol=1e-7, relaxation=1e-4)
    for weights in (hard.weights, soft.weights):
        c = certify_unfolding(problem, hard.factor, weights, most_relaxed=2e-2)
        assert c.upper >= reached.lower
        assert c.lower <= reached.upper
    worse = certify_unfolding(problem, soft.factor, soft.weights, most_relaxed=1e-3)
    assert worse.level in ("failed", "unresolved")
    assert worse.lower == 0.0


def test_the_data_stand_in_for_points_only_up_to_their_variance():
    """A rigid table: the best points are the rows; folded or shrunk ones are not called best."""
    X = np.random.default_rng(6).standard_normal((12, 2))
    problem = contraction_of(join_pieces(knn(X, 8)), constraints="equal").problem
    found = unfold(join_pieces(knn(X, 8)), constraints="equal")
    w = found.solution.weights
    best = certify_unfolding(problem, X, w)
    assert best.level == "proved"
    for forged in (0.5 * X, X[:, :1], np.zeros_like(X), X + 1e-6 * np.eye(12, 2)):
        c = certify_unfolding(problem, forged, w)
        assert c.level in ("failed", "unresolved")
        assert not c.holds


def test_dependencies_are_exact_and_pairs_decide_all_distances():
    """In fractions; and another metric of the part changes one of the deciding pairs."""
    X = np.random.default_rng(9).standard_normal((9, 3)) * [1.0, 1.0, 1e-3] + 1e3
    rows = integers(X)[0]
    found = exact_dependencies(rows, X, tuple(range(9)))
    assert len(found) == 9 - 4
    for one in found:
        assert sum(one.shares) == 1
        for column in range(3):
            mixed = sum(
                share * Fraction(float(X[b, column]))
                for share, b in zip(one.shares, one.base, strict=True)
            )
            assert mixed == Fraction(float(X[one.point, column]))
    pairs = deciding_pairs(X, [(tuple(range(9)), 3)], np.array([[0, 1]]))
    assert len(pairs) == 6
    z = X[pairs[:, 0]] - X[pairs[:, 1]]
    assert np.linalg.matrix_rank((z[:, :, None] * z[:, None]).reshape(6, 9)) == 6
    flat = X.copy()
    flat[:, 2] = 1e3
    assert len(exact_dependencies(integers(flat)[0], flat, tuple(range(9)))) == 9 - 3
    nearly = X * [1.0, 1.0, 1e-9]
    assert deciding_pairs(nearly, [(tuple(range(9)), 3)], np.array([[0, 1]])) is None


def test_parts_that_lie_as_in_the_data_are_found_and_merged():
    X = np.random.default_rng(10).standard_normal((9, 3))
    Y = np.hstack([X, np.zeros((9, 1))])
    Y[8, 3] = 5.0
    edges = np.array([(i, i + 1) for i in range(8)])
    parts = congruent_parts(X, Y, edges, 1e-9)
    assert tuple(range(8)) in parts
    assert (7, 8) in parts


def test_a_value_needs_points_that_have_room():
    """A straight chain has one column: nothing is proved of it alone, of all columns it is."""
    edges = np.array([(i, i + 1) for i in range(5)])
    chain, _ = in_units(UnfoldingProblem(6, edges, np.ones(5), "equal"))
    straight = np.arange(6.0)[:, None] * np.sqrt(chain.squared[0])
    assert feasible_value(chain, straight) == 0.0
    bent = np.hstack([straight, 1e-3 * np.random.default_rng(0).standard_normal((6, 5))])
    bent *= np.sqrt(chain.squared[0] / np.mean(chain.squared_lengths(bent)))
    value = feasible_value(chain, bent)
    assert 0.9 * chain.value(straight) < value <= chain.value(straight) * (1 + 1e-12)


@pytest.mark.parametrize(("shape", "k"), [((5, 6), 5), ((4, 4), 4), ((3, 3, 3), 7), ((12, 12), 8)])
def test_grids_whose_rigid_parts_share_dependencies(shape, k):
    """Joining pair by pair, cliques on the way were too many to list in a grid of 12×12."""
    X = np.argwhere(np.ones(shape)).astype(float)
    found = MaximumVarianceUnfolding(constraints="equal", n_neighbors=k).fit(X).certificate_
    assert found.level == "proved"
    assert found.value == pytest.approx(np.sum((X - X.mean(axis=0)) ** 2))


def test_points_of_nearby_lengths_prove_no_more_than_the_bound():
    """Springs that leave lengths off by 1e-9 reach more than the lengths asked allow."""
    X = roll_points(30, random_state=501)
    found = unfold(join_pieces(knn(X, 6)), constraints="equal")
    unit, power = in_units(found.problem)
    upper = np.ldexp(found.certificate.upper, -power)
    springs = precise_solution(replace(unit, positions=None), wanted=9e-10)
    Y = np.ldexp(found.solution.factor, -power // 2)
    rng = np.random.default_rng(0)
    spoiled = [Y * (1 + size * rng.standard_normal(Y.shape)) for size in (1e-14, 1e-10, 1e-7)]
    proved = [feasible_value(unit, points) for points in (springs.factor, *spoiled, Y[:, :5])]
    assert max(proved) <= upper
    assert max(proved[1:3]) > 0.999 * upper
    assert certify_unfolding(unit, springs.factor, springs.weights).lower <= upper


@pytest.mark.full
def test_points_of_nearby_lengths_are_kept_where_only_the_data_is_proved(many_edges):
    """A roll of 300 points: all that is proved of exactly its lengths is the roll as it is.

    The answer is the unrolled points, whose lengths are off by 1e-10; the certificate says both.
    """
    many_edges()
    X = roll_points(300, random_state=2)
    with pytest.warns(CertificateFailed):
        found = MaximumVarianceUnfolding(n_neighbors=6, constraints="equal").fit(X)
    certificate = found.certificate_
    points = found.factor_
    assert np.sum((points - points.mean(axis=0)) ** 2) > 0.999 * certificate.bound
    assert certificate.level == "unresolved"
    assert certificate.reached_by == "the data"
    assert "among points with exactly the lengths of these" in certificate.about
