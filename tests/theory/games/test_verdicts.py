"""What runs of games may claim, and the dual of unfolding on graphs with known eigenvalues."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.theory.games import EasiestBend, unfolding_bracket, unfolding_game
from dualfold.theory.games.certificate import Bracket, Terms, _relative


def judged(upper, lower, **terms):
    return Bracket(upper=np.array(upper), lower=np.array(lower), terms=Terms(**terms))


def test_gaps_keep_the_best_bound_so_far():
    run = judged([9.0, 5.0, 6.0], [1.0, 4.0, 2.0])
    np.testing.assert_allclose(run.gap, [8.0, 1.0, 2.0])
    assert (run.gap >= [8.0, 1.0, 2.0]).all()
    assert run.certificate.bound == 4.0
    assert run.certificate.value == 6.0
    assert run.certificate.gap == pytest.approx(0.5)
    assert run.certificate.absolute_gap == pytest.approx(2.0)
    none = judged([1.0, np.inf], [-np.inf, -np.inf], why_infinite="state a ball")
    assert np.isinf(none.gap).all()
    assert none.level == "failed"
    assert none.certificate.reasons == ("the gap is infinite: state a ball",)
    assert "state a ball" in none.sentence()
    above = judged([1.0], [1.0 + 1e-12])
    assert above.gap[0] == 0.0
    assert above.certificate.gap == 0.0


@pytest.mark.parametrize(
    ("value", "bound", "tolerance", "level"),
    [
        (1.00001, 1.0, 1e-4, "proved"),
        (1.00001, 1.0, 1e-6, "within"),
        (-1.0, -1.00001, 1e-4, "proved"),
        (3.0, 1.0, 1e-4, "failed"),
        (1e-9, -1e-9, 1e-4, "unresolved"),
        (1e-9, 0.0, 1e-4, "unresolved"),
    ],
)
def test_levels_by_the_gap(value, bound, tolerance, level):
    run = judged([value], [bound], tolerance=tolerance)
    assert run.level == level
    assert (run.certificate.reasons == ()) == (level == "proved")
    free = judged([value], [bound], tolerance=tolerance, unbounded="f is your own")
    assert free.level == "unresolved"
    assert free.certificate.reasons == ("f is your own",)
    assert "but for rounding: f is your own" in free.sentence()


def test_relative_gaps_are_of_the_smallest_optimum_that_is_possible():
    assert _relative(0.0, 1.0, 1.0) == 0.0
    assert _relative(1.0, 3.0, 2.0) == pytest.approx(0.5)
    assert _relative(1.0, 3.0, 2.0) >= 0.5
    assert _relative(1.0, -2.0, -3.0) == pytest.approx(0.5)
    assert _relative(1.0, 0.5, -0.5) == np.inf
    assert _relative(1.0, 1.0, 0.0) == np.inf
    assert _relative(np.inf, 1.0, 0.5) == np.inf


def test_what_terms_are_about():
    assert Terms().about == "f + ψ at the answer against its minimum"
    assert Terms(assumed="in a ball").about.endswith(", in a ball")
    assert "at most 0.2 outside" in Terms(outside=0.2).about
    assert "not known" in Terms(outside=np.inf).about
    run = judged([1.0], [1.0 - 1e-9], assumed="in a ball")
    assert run.sentence().endswith("in a ball")
    assert "of the minimum" in run.sentence()
    assert "may be 0" in judged([1e-9], [-1e-9]).sentence()


# ---- −λ₂ of a graph


def path(n):
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


@pytest.mark.parametrize("scale", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("n", [3, 8])
def test_bends_of_a_path(n, scale):
    f = EasiestBend(n, path(n), np.full(n - 1, scale))
    second = (2 - 2 * np.cos(np.pi / n)) / scale / (n - 1)
    shares = np.full(n - 1, 1 / (n - 1))
    assert f.value(shares) == pytest.approx(-second, rel=1e-9)
    sure = f.value_interval(shares)
    assert sure.low() <= -second * (1 - 1e-14)
    assert sure.high() >= -second * (1 + 1e-14)
    assert sure.high() - sure.low() <= 1e-11 / scale
    slope = f.subgradient(shares)
    assert slope @ shares == pytest.approx(-second, rel=1e-9)
    plane = f.plane(shares)
    assert plane.height == pytest.approx(-second, rel=1e-9)
    np.testing.assert_allclose(plane.slope, slope, rtol=1e-6, atol=1e-12 / scale)
    random = np.random.default_rng(0)
    for _ in range(20):
        other = random.dirichlet(np.ones(n - 1))
        L = np.zeros((n, n))
        for (i, j), w in zip(path(n), other / scale, strict=True):
            L[[i, j], [i, j]] += w
            L[[i, j], [j, i]] -= w
        exact = -np.linalg.eigvalsh(L)[1]
        assert f.value(other) == pytest.approx(exact, rel=1e-8)
        far = np.linalg.norm(other - shares)
        assert exact >= plane.height + plane.slope @ (other - shares) - plane.slack * far - 1e-13
        held = f.value_interval(other)
        assert held.low() - 1e-14 / scale <= exact <= held.high() + 1e-14 / scale


def test_parallel_edges_add_up():
    twice = EasiestBend(3, np.array([[0, 1], [1, 0], [1, 2]]), np.array([1.0, 1.0, 1.0]))
    once = EasiestBend(3, path(3), np.ones(2))
    assert twice.value(np.array([0.25, 0.25, 0.5])) == pytest.approx(once.value(np.full(2, 0.5)))
    assert twice._parallel == 2
    assert once._parallel == 1
    negative = once.value_interval(np.array([-0.5, 1.5]))
    assert negative.high() == np.inf
    wrong = [(np.zeros((2, 3), int), np.ones(2)), (path(3), np.array([1.0, 0.0])),
             (path(3), np.ones(3)), (np.zeros((0, 2), int), np.ones(0))]  # fmt: skip
    for edges, lengths in wrong:
        with pytest.raises(InvalidInput, match="positive squared lengths"):
            EasiestBend(3, edges, lengths)


def test_brackets_of_a_path_hold_its_variance():
    for scale in (0.25, 1.0, 16.0):
        run = unfolding_game(4, path(4), np.full(3, scale), rounds=150).play()
        low, high = unfolding_bracket(run)
        truth = scale * 4 * 15 / 12
        assert Fraction(low) <= truth <= Fraction(high)
        assert high <= 1.3 * truth
        assert low >= 0.7 * truth
    alone = unfolding_game(2, path(2), np.array([4.0]), rounds=3).play()
    low, high = unfolding_bracket(alone)
    assert low <= 2.0 <= high
    assert high - low < 1e-9
    with pytest.raises(DisconnectedGraph):
        unfolding_game(4, np.array([[0, 1], [2, 3]]), np.ones(2), rounds=5)


def test_the_step_of_the_unfolding_game_is_that_of_its_bound():
    """log m/(step·T) + step·G²/2 is least at step = √(2 log m/T)/G, where it is G√(2 log m/T)."""
    game = unfolding_game(5, path(5), np.ones(4), rounds=50, largest_stretch=3.0)
    best = 3.0 * np.sqrt(2 * np.log(4) / 50)
    assert game.bound(50) == pytest.approx(best)
    assert game.bound(10) > best
    assert game.horizon == 50
    usual = unfolding_game(5, path(5), np.ones(4), rounds=50)
    f = EasiestBend(5, path(5), np.ones(4))
    stretch = min(2.0, -4 * f.subgradient(np.full(4, 0.25)).min())
    assert usual.bound(50) == pytest.approx(stretch * np.sqrt(2 * np.log(4) / 50))
