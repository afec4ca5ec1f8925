"""Faults put into the bounds and refusals of games that no quick test noticed (`mutants.py`)."""

from __future__ import annotations

import inspect
import warnings
from fractions import Fraction

import numpy as np
import pytest

from dualfold import games
from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import (
    AffineSet,
    Ball,
    Ellipsoid,
    HalfSquare,
    Indicator,
    LeastSquares,
    Quadratic,
    Spectrahedron,
    composites,
    structured_sets,
)
from dualfold.games import textbook_methods as descent
from dualfold.games.convex_functions import Convex
from dualfold.games.intervals import Interval, dot, least_eigenvalue, norm_interval
from dualfold.games.minimum_search import least_point
from dualfold.games.plane_bound import LowerBound
from dualfold.games.planes import Plane
from dualfold.games.refutation import refute
from dualfold.games.unfolding_dual import EasiestBend, unfolding_game
from tests.proofs.coarse import patched


def test_one_uncertain_entry_is_enough():
    a, b = np.array([2.0, 3.0]), Interval(np.array([1.0, 1.0]), np.array([0.0, 0.5]))
    for found in (dot(a, b), dot(b, a)):
        assert found.off >= 1.5
    both = dot(Interval(a, np.array([0.25, 0.0])), b)
    assert both.off >= 0.25 + 1.5


def test_numbers_next_to_0_keep_what_they_hold():
    tiny = 5e-324
    for quotient, truth in (
        (Interval(tiny) / Interval(0.5), Fraction(tiny) * 2),
        (Interval(tiny) / Interval(3.0), Fraction(tiny) / 3),
        (Interval(1e-310) / Interval(2.0**-40), Fraction(1e-310) * 2**40),
    ):
        assert Fraction(quotient.low()) <= truth <= Fraction(quotient.high())
    for x in (np.array([tiny]), np.array([3 * tiny, 4 * tiny]), np.array([3e-308, 4e-308])):
        found, square = norm_interval(x), sum(Fraction(one) ** 2 for one in x)
        assert max(Fraction(found.low()), 0) ** 2 <= square <= Fraction(found.high()) ** 2


def test_the_convexity_of_a_mixture_is_rounded_down(monkeypatch):
    parts = ((0.5, HalfSquare(3.0)), (0.25, HalfSquare(2.0)))
    patched(monkeypatch, composites, EPS=2.0**-6)
    for count in (1, 2):
        mixed = composites.Mixture(parts[:count])
        truth = sum(share * f.weight for share, f in parts[:count])
        least = count * 2.0**-7  # a product and a sum for each part, in units of half an EPS
        assert truth * (1 - 8 * least) <= mixed.strong_convexity <= truth * (1 - least)


def test_the_least_of_a_spectrahedron_takes_whatever_vector_is_given(monkeypatch):
    slope = np.array([[2.0, 1.0], [1.0, -1.0]])
    least = np.linalg.eigvalsh(slope)[0]
    plain = np.linalg.eigh

    def longer(M):
        values, vectors = plain(M)
        return values, 3.0 * vectors

    monkeypatch.setattr(structured_sets.np.linalg, "eigh", longer)
    found = Spectrahedron(1.0).minimum_interval(slope)
    assert found.low() <= least <= found.high()
    assert found.off <= 1e-12


@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
def test_the_rank_of_equations_does_not_depend_on_their_units(scale):
    rows = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1e-15]])
    found = AffineSet(scale * rows, scale * np.array([1.0, 2.0]))
    assert len(found._directions[0]) == 1
    x = found.project(np.array([5.0, -1.0, 7.0]))
    np.testing.assert_allclose(rows @ x, [1.0, 2.0], rtol=1e-12)


def test_ellipsoids_of_any_size():
    small = Ellipsoid(np.array([0.25, 0.5]))
    inside = np.array([0.1, 0.2])
    assert small.project(inside) is inside
    lost = np.array([np.nan, 1.0])
    assert small.project(lost) is lost
    found = small.project(np.array([3.0, 4.0]))
    assert np.sum((found / small.axes) ** 2) == pytest.approx(1.0)
    for axes in ([0.0, 1.0], [-1.0, 1.0]):
        with pytest.raises(InvalidInput, match="positive"):
            Ellipsoid(np.array(axes))


def test_slopes_of_a_matrix_that_is_symmetric_to_rounding():
    Q = np.array([[2.0, 1 / 3], [1 / 3 + 2.0**-53, 1.0]])
    f, x = Quadratic(Q, np.zeros(2)), np.array([1.0, 3.0])
    found = f.slope_interval(x)
    for i in range(2):
        exact = sum((Fraction(Q[i, j]) + Fraction(Q[j, i])) / 2 * Fraction(x[j]) for j in range(2))
        assert abs(Fraction(float(found.mid[i])) - exact) <= Fraction(float(found.off[i]))
    f.__dict__["_symmetric"] = Interval(
        f._symmetric.mid, np.full((2, 2), 0.125)
    )  # known to so much
    assert (f.slope_interval(x).off >= 0.5).all()


def test_steps_and_tolerances_at_their_ends():
    f = LeastSquares(np.eye(2), np.ones(2))
    for recipe in (games.nesterov, games.extragradient, games.heavy_ball):
        if "step" in inspect.signature(recipe).parameters:
            for step in (0.0, -1.0):
                with pytest.raises(InvalidInput):
                    recipe(f, np.zeros(2), step=step)
    assert games.nesterov(f, np.zeros(2)).play(3, tolerance=0.0).rounds == 3
    with pytest.raises(InvalidInput, match="tolerance"):
        games.nesterov(f, np.zeros(2)).play(3, tolerance=-1.0)


def test_the_answer_of_a_descent_is_its_last_point(monkeypatch):
    seen, plain = [], descent.terms_of
    monkeypatch.setattr(descent, "terms_of", lambda *given: seen.append(given[2]) or plain(*given))
    path = descent.gradient_descent(
        HalfSquare(center=np.array([3.0, 1.0])), np.zeros(2), step=0.03, over=Ball(1.0)
    ).play(5)
    np.testing.assert_array_equal(seen[0], path.points[-1])
    assert not np.array_equal(path.points[-1], path.points[-2])


class Walled(Convex):
    """Infinite beyond 1, with a slope all the same."""

    def value(self, x):
        return float(np.sum(x)) if np.max(x) < 1 else np.inf

    def subgradient(self, x):
        return np.where(np.max(x) < 1, 1.0, -1.0) * np.ones_like(x)


def test_a_loss_that_is_infinite_where_its_player_may_go_is_refused():
    with pytest.raises(InvalidInput, match="infinite"):
        least_point(Walled(), Indicator(Ball(4.0)), np.array([2.0, 2.0]))


def test_the_stretch_of_an_unfolding_is_bounded_by_its_shortest_edge():
    edges, squared = np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.25, 1.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConditionFails)
        run = unfolding_game(4, edges, squared, rounds=30).play()
    assert run.gap[-1] <= unfolding_game(4, edges, squared, rounds=30).bound(30)
    bend = EasiestBend(4, edges, squared)
    G = min(2 / 0.25, -4 * float(bend.subgradient(np.full(3, 1 / 3)).min()))
    step = np.sqrt(2 * np.log(3) / 30) / G
    bound = np.log(3) / (step * 30) + step * G**2 / 2
    assert unfolding_game(4, edges, squared, rounds=30).bound(30) == pytest.approx(bound)


def test_rates_have_the_exponents_of_their_names():
    exponents = {"1/T": -1.0, "1/√T": -0.5, "1/T²": -2.0, "log T/T": -1.0}
    f, start, ball = LeastSquares(np.eye(2), np.ones(2)), np.zeros(2), Ball(4.0)
    for recipe in (
        games.nesterov(f, start),
        games.extragradient(f, start, radius=2.0),
        games.averaged_descent(f, start, radius=2.0),
        games.frank_wolfe(f, start, over=ball),
        games.boundary_frank_wolfe(f, start, over=Ball(0.5), least_gradient=0.1),
        games.accelerated_proximal(f, games.norm(1, 0.1), start, radius=2.0),
        games.averaged_subgradient_descent(f, start, rounds=5, over=ball),
        unfolding_game(3, np.array([[0, 1], [1, 2]]), np.ones(2), rounds=5),
    ):
        assert recipe.rate.exponent == exponents[recipe.rate.words], recipe.name


def test_the_bound_of_boundary_frank_wolfe_is_that_of_its_paper():
    f, ball = HalfSquare(center=np.array([3.0, 0.0])), Ball(0.5)
    recipe = games.boundary_frank_wolfe(f, np.array([0.0, 0.5]), over=ball, least_gradient=2.5)
    G = np.hypot(3.0, 0.5) + 1.0  # at the start, and L times the way across the disc
    for T in (1, 10, 100):
        assert recipe.bound(T) == pytest.approx(0.5 * G**2 / 2.5 * (2 + np.log(T)) / T)


def test_adaptive_steps_are_divided_by_slope_and_floor():
    f, start = HalfSquare(2.0), np.array([1.0, -0.25])
    g = f.subgradient(start)
    for method in (descent.adagrad, descent.adam):
        points = method(f, start, step=0.5, floor=1.0).play(1).points
        np.testing.assert_allclose(points[1], start - 0.5 * g / (np.abs(g) + 1.0), rtol=1e-12)


class Tilted(Convex):
    """A plane that is known to a slack only, taken at one point."""

    concavity, strong_convexity = 0.0, 0.0

    def maximiser(self, y):
        return np.array([2.0, 0.0])

    def plane(self, z):
        return Plane(1.0, np.array([0.5, 0.0]), 0.25)


def test_planes_with_a_slack_carry_less():
    """f(x) ≥ h + ⟨y, x − z⟩ − s‖x − z‖, seen from the origin: s‖z‖ less at the least."""
    found = Tilted().share(np.array([-0.5, 0.0]), 0.0, np.zeros(2))
    assert 1.0 - 0.5 * 2 - 0.25 * 2 - 1e-12 <= found.bound <= 1.0 - 0.5 * 2 - 0.25 * 2
    assert found.slack >= 0.25


def test_what_may_be_concave_costs_its_square():
    bound = LowerBound(HalfSquare(), HalfSquare(), None)
    bound.furthest = 3.0
    for concavity in (0.0, 0.5, 1.0):
        bound.concavity = concavity
        assert bound._concavity_loss(2.0) == pytest.approx(concavity * (4 + 9))


def test_one_uncertain_entry_of_a_matrix_is_charged():
    M, off = np.diag([1.0, 2.0]) + 0.25, np.zeros((2, 2))
    off[0, 0] = 0.125
    plain, less = least_eigenvalue(Interval(M)), least_eigenvalue(Interval(M, off))
    assert plain - less >= 0.125 * (1 - 1e-12)


def test_nothing_speaks_against_a_convex_function_with_negative_values():
    found = refute(lambda x: float(x @ x) / 7 - 1e9, np.ones(3), tries=200)
    assert "no counterexample" in str(found)
