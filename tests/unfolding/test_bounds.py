"""The numbers behind certificates of unfoldings against exact fractions and known spectra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dualfold.unfolding import UnfoldingProblem, certify_unfolding, geodesic_bounds
from tests.proofs.unfoldings import unfolded_chain
from tests.unfolding.door import (
    EdgeFit,
    contradiction_share,
    dual_value,
    edge_fit,
    feasible_scale,
    own_lengths_value,
    rounded_down_text,
    rounded_up_text,
    upper_bound,
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
    assert EdgeFit(0.0, 0.0, 1.0).value == 0.0
    assert EdgeFit(0.0, np.inf, 1.0).value == 0.0


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
    for floor in (0.0, -1.0, np.nan):
        assert upper_bound(1.0, floor) == np.inf
    for value in (1, -1):
        exact = Fraction(value, 3)
        off = Fraction(upper_bound(float(value), 3.0)) - exact
        assert 0 < off < Fraction(1, 10**14)
    for number, up, down in (
        (1.000000001, "1.0000001", "1"),
        (1.999999999, "2", "1.9999999"),
        (-1.000000001, "-1", "-1.0000001"),
        (np.inf, "inf", "inf"),
    ):
        assert (rounded_up_text(number), rounded_down_text(number)) == (up, down)


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


# ---- a chain, whose optimum is known


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
