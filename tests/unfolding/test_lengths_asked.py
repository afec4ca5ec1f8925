"""Equal lengths: value, bound and gap are about the lengths asked, not about nearby ones."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import MaximumVarianceUnfolding
from dualfold.errors import CertificateFailed
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.kernels.arithmetic.exact import integers
from dualfold.unfolding import (
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    interior_point,
    unfold,
)
from dualfold.unfolding.congruence import (
    congruent_parts,
    deciding_pairs,
    exact_dependencies,
)
from dualfold.unfolding.feasible import feasible_value
from dualfold.unfolding.problem import in_units
from dualfold.unfolding.solvers import unfolder
from dualfold.unfolding.solvers.precise_path import precise_solution
from tests.tools.tables import roll_points


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
    from dualfold.unfolding import Unfolder

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
    d = np.linalg.norm(X[:, None] - X, axis=2)
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


@pytest.mark.parametrize(("shape", "k"), [((5, 6), 5), ((4, 4), 4), ((3, 3, 3), 7)])
def test_grids_whose_rigid_parts_share_dependencies(shape, k):
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
def test_points_of_nearby_lengths_are_kept_where_only_the_data_is_proved(monkeypatch):
    """A roll of 300 points: all that is proved of exactly its lengths is the roll as it is.

    The answer is the unrolled points, whose lengths are off by 1e-10; the certificate says both.
    """
    monkeypatch.setattr(unfolder, "MAX_PRECISE_EDGES", 0)
    X = roll_points(300, random_state=2)
    with pytest.warns(CertificateFailed):
        found = MaximumVarianceUnfolding(n_neighbors=6, constraints="equal").fit(X)
    certificate = found.certificate_
    points = found.factor_
    assert np.sum((points - points.mean(axis=0)) ** 2) > 0.999 * certificate.bound
    assert certificate.level == "unresolved"
    assert certificate.reached_by == "the data"
    assert "among points with exactly the lengths of these" in certificate.about
