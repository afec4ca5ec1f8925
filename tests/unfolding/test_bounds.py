"""The numbers behind certificates of unfoldings against exact fractions and known spectra."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput, Unrealisable
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import UnfoldingProblem, certify_unfolding, contraction_of
from dualfold.unfolding import contraction as contraction_module
from dualfold.unfolding.bounds import (
    contradiction_share,
    dual_value,
    edge_fit,
    feasible_scale,
    geodesic_bounds,
    own_lengths_value,
    upper_bound,
)
from dualfold.unfolding.certificate import rounded_down_text, rounded_up_text
from dualfold.unfolding.connections import _angle, connections
from dualfold.unfolding.contraction import Contraction, _norms
from dualfold.unfolding.spectral_floor import (
    cholesky_floor,
    eigenvalues_below,
    lowest_pairs,
    precise_floor,
    proved_floor,
    second_eigenvalue,
)

SCALES = [2.0**-20, 1.0, 2.0**20]
EDGES = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 4], [3, 4]])


def small(scale=1.0, masses=None, constraints="at_most"):
    squared = scale * np.array([1.0, 2.0, 0.7, 1.3, 0.9, 2.2])
    return UnfoldingProblem(5, EDGES, squared, constraints, masses)


def points(scale=1.0, far=0.0):
    return np.sqrt(scale) * (np.random.default_rng(4).normal(size=(5, 3)) + far)


def fractions(array):
    return [Fraction(float(number)) for number in np.ravel(array)]


def exact_fit(problem, Y):
    """(least, largest) of ‖y_i − y_j‖²/d², and the variance, as fractions."""
    rows = [fractions(row) for row in Y]
    ratios = []
    for (i, j), d in zip(problem.edges, fractions(problem.squared), strict=True):
        ratios.append(sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)) / d)
    mass = fractions(problem.mass)
    mean = [
        sum(m * row[k] for m, row in zip(mass, rows, strict=True)) / sum(mass) for k in range(3)
    ]
    variance = sum(
        m * sum((a - c) ** 2 for a, c in zip(row, mean, strict=True))
        for m, row in zip(mass, rows, strict=True)
    )
    return min(ratios), max(ratios), variance


@pytest.mark.parametrize(
    "masses", [None, np.array([1.0, 4.0, 2.0, 1.0, 7.0])], ids=["ones", "masses"]
)
@pytest.mark.parametrize("far", [0.0, 1000.0])
@pytest.mark.parametrize("scale", SCALES)
def test_where_points_stand_is_said_from_the_safe_side(scale, far, masses):
    problem, Y = small(scale, masses), points(scale, far)
    low, high, variance = exact_fit(problem, Y)
    found = edge_fit(problem, Y)
    assert Fraction(found.low) <= low <= Fraction(found.low) * (1 + Fraction(1, 10**13))
    assert Fraction(found.high) * (1 - Fraction(1, 10**13)) <= high <= Fraction(found.high)
    assert Fraction(found.variance) <= variance
    assert variance <= Fraction(found.variance) * (1 + Fraction(1, 10**12))
    assert (
        Fraction(found.value)
        <= variance / high
        <= Fraction(found.value) * (1 + Fraction(1, 10**11))
    )
    s, value = feasible_scale(problem, Y)
    assert Fraction(s) * high <= 1
    assert s == pytest.approx(float(1 / high), rel=1e-12)
    assert value == found.value
    assert feasible_scale(problem, np.zeros((5, 2)))[1] == 0.0


@pytest.mark.parametrize("relaxation", [0.0, 0.125])
@pytest.mark.parametrize("scale", SCALES)
def test_values_of_weights_are_not_below_the_truth(scale, relaxation):
    problem = small(scale, constraints="equal")
    for weights in np.random.default_rng(2).normal(size=(5, 6)):
        parts = [w * d for w, d in zip(fractions(weights), fractions(problem.squared), strict=True)]
        truth = sum(parts) + Fraction(relaxation) * sum(map(abs, parts))
        size = sum(map(abs, parts))
        found = Fraction(dual_value(problem, weights, relaxation))
        assert truth <= found <= truth + size / 10**13
        Y, by = points(), 0.75 / scale
        own = Fraction(own_lengths_value(problem, weights, Y, by))
        rows = [fractions(row) for row in Y]
        lengths = [
            sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)) * Fraction(by)
            for i, j in EDGES
        ]
        truth = sum(w * q for w, q in zip(fractions(weights), lengths, strict=True))
        assert truth <= own <= truth + abs(truth) / 10**14 + Fraction(scale**-1) / 10**20
        least = -sum(parts) / size
        wrong = contradiction_share(problem, weights)
        assert wrong <= max(0, least)
        assert wrong >= float(least) - 1e-13
    assert contradiction_share(problem, np.zeros(6)) == 0.0


def test_quotients_are_rounded_up():
    assert upper_bound(1.0, 0.0) == np.inf
    assert upper_bound(1.0, -1.0) == np.inf
    assert upper_bound(1.0, np.nan) == np.inf
    assert (
        Fraction(1, 3)
        < Fraction(upper_bound(1.0, 3.0))
        < Fraction(1, 3) * (1 + Fraction(1, 10**14))
    )
    assert (
        -Fraction(1, 3)
        < Fraction(upper_bound(-1.0, 3.0))
        < -Fraction(1, 3) * (1 - Fraction(1, 10**14))
    )
    assert (rounded_up_text(1.000000001), rounded_down_text(1.999999999)) == (
        "1.0000001",
        "1.9999999",
    )
    assert (rounded_up_text(-1.999999999), rounded_down_text(-1.000000001)) == (
        "-1.9999999",
        "-1.0000001",
    )
    assert rounded_up_text(np.inf) == "inf"


@pytest.mark.parametrize("scale", SCALES)
def test_paths_bound_the_variance_by_their_lengths(scale):
    n = 7
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    place = np.arange(n)
    for masses in (None, np.array([1.0, 2, 1, 5, 1, 1, 3])):
        problem = UnfoldingProblem(n, path, np.full(n - 1, scale), "at_most", masses)
        mass = problem.mass
        sums = [float(mass @ (place - c) ** 2) for c in place]
        bound = geodesic_bounds(problem)
        isomap = scale * float(mass @ sums) / (2 * mass.sum())
        assert isomap <= bound.isomap <= isomap * (1 + 1e-12)
        assert scale * min(sums) <= bound.centre <= scale * min(sums) * (1 + 1e-12)
        few = geodesic_bounds(problem, all_pairs=6)
        assert few.isomap is None
        assert few.centre == pytest.approx(bound.centre, rel=1e-12)
        near = geodesic_bounds(problem, all_pairs=6, near=place[:, None].astype(float))
        assert near.centre == pytest.approx(bound.centre, rel=1e-12)


def test_a_long_path_has_its_middle_among_the_centres():
    n = 41
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    truth = sum((i - 20) ** 2 for i in range(n))
    assert geodesic_bounds(problem, all_pairs=0).centre == pytest.approx(truth, rel=1e-12)


# ---- λ₂ from below


def cycle(n):
    edges = [[i, i + 1] for i in range(n - 1)] + [[0, n - 1]]
    return UnfoldingProblem(n, np.array(sorted(edges)), np.ones(n)), 2 - 2 * np.cos(2 * np.pi / n)


def chain(n):
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return UnfoldingProblem(n, path, np.ones(n - 1)), 2 - 2 * np.cos(np.pi / n)


def heavy(n, mass=4.0):
    problem, value = chain(n)
    return UnfoldingProblem(
        n, problem.edges, problem.squared, "at_most", np.full(n, mass)
    ), value / mass


@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("floor", [proved_floor, cholesky_floor, precise_floor])
@pytest.mark.parametrize("make", [cycle, chain, heavy], ids=["cycle", "chain", "masses"])
def test_floors_are_below_and_close(make, floor, scale):
    problem, second = make(9)
    weights = np.full(problem.m, scale)
    second = second * scale
    for drop in (1e-9, 1e-6, 1e-3, 0.5):
        height = second * (1 - drop)
        found = floor(problem, weights, height)
        assert found <= height
        # Rounding of nine rows of numbers up to 4; pivots of LDLᵀ grow towards an eigenvalue.
        room = {proved_floor: 1e-13 / drop, cholesky_floor: 1e-12, precise_floor: 1e-24}[floor]
        assert found >= height * (1 - 1e-15) - room * scale
    assert floor(problem, weights, second * (1 + 1e-9)) == 0.0


def test_floors_of_uneven_weights_hold():
    rng = np.random.default_rng(3)
    for _ in range(10):
        masses = 2.0 ** rng.integers(-3, 4, size=5)
        problem, w = small(1.0, masses), 2.0 ** rng.integers(-6, 7, size=6)
        L = problem.laplacian(w).toarray()
        root = 1 / np.sqrt(masses)
        values = np.linalg.eigvalsh(root[:, None] * L * root)
        for floor in (proved_floor, cholesky_floor, precise_floor):
            assert floor(problem, w, 0.999 * values[1]) >= 0.998 * values[1]
            assert floor(problem, w, 0.999 * values[1]) <= 0.999 * values[1]
            assert floor(problem, w, 1.001 * values[1]) == 0.0
        for height in (0.5 * values[1], (values[1] + values[2]) / 2, (values[3] + values[4]) / 2):
            count, error = eigenvalues_below(problem, w, height)
            assert count == np.sum(values < height)
            assert 0 < error < 1e-10 * values[-1]


@pytest.mark.parametrize("make", [cycle, chain, heavy], ids=["cycle", "chain", "masses"])
def test_lowest_pairs_are_eigenpairs(make):
    problem, second = make(12)
    start = np.random.default_rng(1).normal(size=(12, 2))
    weights = np.ones(problem.m)
    values, vectors = lowest_pairs(problem, weights, start)
    assert values[0] == pytest.approx(second, rel=1e-12)
    L = problem.laplacian(weights)
    v = vectors[:, 0]
    off = L @ v - second * problem.mass * v
    assert np.linalg.norm(off) < 1e-6 * np.linalg.norm(v)
    assert abs(problem.mass @ v) < 1e-10 * np.linalg.norm(v) * problem.mass.sum()
    found = second_eigenvalue(problem, weights, start)
    assert found.factorised
    assert second * (1 - 1e-8) <= found.proved <= second * (1 + 1e-14)
    assert second * (1 - 1e-14) <= found.ritz <= second * (1 + 1e-12)
    large = second_eigenvalue(problem, weights, vectors, most_flops=1.0)
    assert (large.proved, large.factorised) == (0.0, False)
    assert large.ritz == pytest.approx(second, rel=1e-9)
    none = second_eigenvalue(problem, np.zeros(problem.m), start)
    assert none.proved == 0.0
    constant = second_eigenvalue(problem, weights, np.ones((12, 1)), most_flops=1.0)
    assert np.isnan(constant.ritz)


def test_angles_between_spaces():
    turn = np.radians(25.0)
    U = np.eye(3)[:, :1]
    V = np.array([[np.cos(turn)], [np.sin(turn)], [0.0]])
    assert _angle(U, V) == pytest.approx(25.0, rel=1e-9)
    assert _angle(U, np.hstack([V, np.eye(3)[:, 1:2]])) == pytest.approx(0.0, abs=1e-6)
    assert _angle(3.0 * U, np.eye(3)[:, 2:]) == pytest.approx(90.0, rel=1e-9)


# ---- a chain, whose optimum is known


def unfolded_chain(n=8, scale=1.0, bend=0.0):
    """Points on a line with the weights of L(w)y = y: w_i·(y_i+1 − y_i) = −(y_0 + … + y_i)."""
    problem = UnfoldingProblem(n, chain(n)[0].edges, np.full(n - 1, scale))
    y = np.arange(n) - (n - 1) / 2
    Y = np.sqrt(scale) * np.column_stack([y, bend * np.cos(np.arange(n))])
    return problem, Y, -np.cumsum(y)[:-1]


@pytest.mark.parametrize("scale", SCALES)
def test_the_certificate_of_a_straight_chain(scale):
    problem, Y, w = unfolded_chain(scale=scale)
    optimum = scale * 8 * (8**2 - 1) / 12
    for factor in (1.0, 2.0**-8):  # points and weights in any units prove the same
        found = certify_unfolding(problem, factor * Y, w / factor)
        assert found.level == "proved"
        assert found.value <= optimum <= found.bound
        assert found.gap <= 1e-9
        assert found.value == pytest.approx(optimum, rel=1e-9)
        assert found.second_eigenvalue == pytest.approx(1 / factor, rel=1e-8)
        assert found.isomap == pytest.approx(optimum, rel=1e-9)  # geodesics of a chain are straight
        assert found.centre == pytest.approx(scale * sum((i - 3) ** 2 for i in range(8)), rel=1e-9)
        assert found.stationarity < 1e-8
        assert found.slackness < 1e-8
        assert (found.rank, found.multiplicity, found.clipped) == (1, 1, 0)
        assert found.feasibility == pytest.approx(max(0.0, factor**2 - 1), abs=1e-12)
    negative = certify_unfolding(problem, Y, np.where(np.arange(7) == 0, -1.0, w))
    assert (negative.clipped, negative.least_weight) == (1, -1.0)
    assert negative.level != "proved" or negative.bound_by != "weights"
    long = certify_unfolding(problem, 2 * Y, w)
    assert long.feasibility == pytest.approx(3.0, rel=1e-12)
    nothing = certify_unfolding(problem, np.full_like(Y, np.nan), w)
    assert (nothing.level, nothing.value, nothing.bound) == ("failed", 0.0, np.inf)


def test_connections_of_a_straight_chain():
    problem, Y, w = unfolded_chain(bend=0.0)
    contraction = Contraction(problem, np.arange(8), problem.edges)
    for factor in (1.0, 0.5):
        solution = SimpleNamespace(factor=Y, weights=factor * w)
        certificate = certify_unfolding(problem, Y, factor * w)
        unfolding = SimpleNamespace(
            problem=problem, solution=solution, certificate=certificate, contraction=contraction
        )
        found = connections(unfolding, n_components=1)
        assert found.value == pytest.approx(42.0, rel=1e-9)
        assert found.local_linearity < 1e-9
        assert found.eigenmaps_angle < 1e-4
        assert 0.1 < found.normalised_angle < 60
        assert found.second_eigenvalue == pytest.approx(factor, rel=1e-9)
        assert found.budget == pytest.approx(42.0 * factor)
        assert found.scaling_law == pytest.approx(1.0, rel=1e-8)
        assert (found.rank, found.kept_components) == (1, 1)
        assert found.variance_outside == pytest.approx(0.0, abs=1e-12)
        assert found.shortened < 1e-9
        assert found.longest < 1e-9
        assert "times that" in str(found)


def test_connections_of_what_one_coordinate_leaves_out():
    problem, Y, w = unfolded_chain(bend=0.3)
    solution = SimpleNamespace(factor=Y, weights=w)
    certificate = certify_unfolding(problem, Y, w)
    found = connections(
        SimpleNamespace(problem=problem, solution=solution, certificate=certificate), n_components=1
    )
    centred = Y - Y.mean(axis=0)
    lengths = np.linalg.svd(centred, compute_uv=False)
    assert found.variance_outside == pytest.approx(lengths[1] ** 2 / (lengths**2).sum(), rel=1e-9)
    axis = np.linalg.svd(centred)[2][0]
    kept, whole = np.diff(centred @ axis) ** 2, np.square(np.diff(centred, axis=0)).sum(axis=1)
    assert found.shortened == pytest.approx(np.sqrt(np.mean((whole - kept) ** 2)), rel=1e-9)
    assert found.longest == pytest.approx((whole - kept).max(), rel=1e-9)
    L = problem.laplacian(w).toarray()
    away = np.linalg.norm(L @ centred - centred)
    left = np.linalg.norm((np.diag(L) - 1)[:, None] * centred)
    assert found.local_linearity == pytest.approx(away / left, rel=1e-6)
    two = connections(
        SimpleNamespace(problem=problem, solution=solution, certificate=certificate), n_components=2
    )
    assert two.variance_outside == pytest.approx(0.0, abs=1e-12)
    assert two.longest < 1e-9


# ---- from a graph to the problem


def graph_of(edges, lengths, n):
    i, j = np.array(edges).T
    both = (np.r_[i, j], np.r_[j, i])
    return from_lengths(sp.csr_array(sp.coo_array((np.tile(lengths, 2), both), shape=(n, n))))


def test_points_at_distance_0_are_one_of_their_mass():
    graph = graph_of([[0, 1], [1, 2], [0, 3], [2, 3]], [2.0, 1.0, 3.0, 5.0], 4)
    plain = contraction_of(graph)
    assert plain.problem.n == 4
    np.testing.assert_array_equal(plain.problem.squared, [4.0, 9.0, 1.0, 25.0])
    joined_up = contraction_of(graph_of([[0, 1], [1, 2], [0, 3], [2, 3]], [2.0, 0.0, 3.0, 5.0], 4))
    assert joined_up.problem.n == 3
    np.testing.assert_array_equal(np.sort(joined_up.problem.mass), [1, 1, 2])
    assert joined_up.place[1] == joined_up.place[2]
    points = joined_up.points(np.arange(3.0)[:, None])
    assert points[1] == points[2]
    weights = joined_up.weights(np.array([1.0, 2.0, 4.0])).toarray()
    np.testing.assert_array_equal(weights, weights.T)
    assert weights.sum() == 14.0
    # Of two edges between the same points the shorter one binds.
    twice = contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [2.0, 0.0, 3.0], 3))
    np.testing.assert_array_equal(twice.problem.squared, [4.0])
    with pytest.raises(Unrealisable, match="duplicates have different distances"):
        contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [2.0, 0.0, 3.0], 3), constraints="equal")
    with pytest.raises(Unrealisable, match="path of edges"):
        contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.5], 3), constraints="equal")
    triangle = graph_of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.0], 3)
    assert contraction_of(triangle, constraints="equal").problem.constraints == "equal"


def test_paths_longer_than_a_block_of_sources(monkeypatch):
    """Each block of rows looks at its own edges; the last edge of all is the wrong one."""
    monkeypatch.setattr(contraction_module, "SOURCE_CHUNK_ROWS", 3)
    n = 8
    edges = [[i, i + 1] for i in range(n - 1)] + [[n - 3, n - 1]]
    good = graph_of(edges, np.r_[np.ones(n - 1), 2.0], n)
    assert contraction_of(good, constraints="equal").problem.m == n
    bad = graph_of(edges, np.r_[np.ones(n - 1), 2.001], n)
    with pytest.raises(Unrealisable, match=rf"points {n - 3} and {n - 1} are 2.001 apart"):
        contraction_of(bad, constraints="equal")
    first = graph_of([*edges[:-1], [0, 2]], np.r_[np.ones(n - 1), 2.5], n)
    with pytest.raises(Unrealisable, match=r"points 0 and 2 are 2\.5 apart"):
        contraction_of(first, constraints="equal")


def test_lengths_of_rows_do_not_underflow():
    rows = np.array([[3e-200, 4e-200], [3e200, -4e200], [0.0, 0.0], [5.0, 12.0]])
    np.testing.assert_allclose(_norms(rows), [5e-200, 5e200, 0.0, 13.0], rtol=1e-15)
    assert _norms(np.zeros((2, 0))).tolist() == [0.0, 0.0]


def test_angles_tie_the_neighbours_of_a_point():
    points = np.array([[0.0, 0], [1, 0], [1, 1], [5, 5]])
    graph = join_pieces(knn(points, 1))
    plain, tied = contraction_of(graph), contraction_of(graph, angles=True)
    pairs = {tuple(edge) for edge in tied.problem.edges}
    assert {tuple(edge) for edge in plain.problem.edges} < pairs
    for (i, j), d in zip(tied.problem.edges, tied.problem.squared, strict=True):
        assert d == pytest.approx(np.square(points[i] - points[j]).sum(), rel=1e-12)
    near = {
        i: {b if a == i else a for a, b in plain.problem.edges.tolist() if i in (a, b)}
        for i in range(4)
    }
    wanted = {tuple(sorted((a, b))) for i in range(4) for a in near[i] for b in near[i] if a != b}
    assert pairs == wanted | {tuple(edge) for edge in plain.problem.edges.tolist()}
    with pytest.raises(InvalidInput, match="without points"):
        contraction_of(graph_of([[0, 1], [1, 2]], [1.0, 1.0], 3), angles=True)
