"""What a run claims is true: past deceits, hostile input, and games judged exactly."""

from __future__ import annotations

import os
import warnings
from fractions import Fraction

import numpy as np
import pytest

from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import (
    AffineSet,
    Ball,
    Box,
    Convex,
    Ellipsoid,
    Everywhere,
    HalfSquare,
    Huber,
    Indicator,
    L1Ball,
    LargestAffine,
    LeastSquares,
    Logistic,
    LogSumExp,
    Product,
    Quadratic,
    Simplex,
    Spectrahedron,
    accelerated_proximal,
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    frank_wolfe,
    gradient_descent,
    nesterov,
    norm,
)
from tests.proofs.fuzz_games import fuzz
from tests.proofs.judge_games import Function, Place, best_point, false_claims

SEED = int(os.environ.get("DUALFOLD_FUZZ_SEED", "0"))


def test_a_heavy_penalty_is_not_proved_optimal_at_six_times_the_minimum():
    """The multiplier of the ball goes to 0 where ψ holds x at 0; nothing may cancel there."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 10))
    targets = rows[:, :3] @ random.normal(size=3) * 2 + 0.1 * random.normal(size=40)
    weight = 1.3 * float(np.abs(rows.T @ targets).max())
    start, least = 3 * random.normal(size=10), float(targets @ targets) / 2
    recipe = accelerated_proximal(LeastSquares(rows, targets), norm(1, weight), start, radius=20.0)
    for rounds in (3, 30, 300):
        run = recipe.play(rounds)
        assert run.lower.max() <= least
        assert run.gap[-1] >= run.upper[-1] - least
    assert run.level in ("proved", "within")
    huber = accelerated_proximal(Huber(0.25), norm(1, 0.5), np.array([-1.0]), radius=1.5).play(60)
    assert huber.lower.max() <= 0


def test_fuzzed_games_claim_nothing_false():
    found = fuzz(12, SEED)
    assert not found["false"], found["false"]
    assert not found["crashed"], found["crashed"]


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_two_thousand_fuzzed_games_claim_nothing_false():
    found = fuzz(2000, SEED)
    assert not found["false"], found["false"]
    assert not found["crashed"], found["crashed"]


def test_the_judge_sees_a_false_bound():
    """The fuzzer can fail: a radius that is too short makes `lower` false, and it is seen."""
    matrix, linear = np.diag([1.0, 2.0]), np.array([-3.0, 1.0])
    f, theirs = Quadratic(matrix, linear), Function("quadratic", (matrix, linear, 0.0))
    least, _ = best_point(theirs, Place("everywhere"), 2, [np.zeros(2)])
    assert abs(float(least) + 4.75) < 1e-15
    honest = averaged_descent(f, np.zeros(2), radius=4.0).play(50)
    assert not false_claims(theirs, Place("everywhere"), honest, least)
    short = averaged_descent(f, np.zeros(2), radius=1.0).play(50)
    assert false_claims(theirs, Place("everywhere"), short, least)


def test_only_the_symmetric_part_of_a_quadratic_counts():
    skew = np.array([[0.0, 5.0], [-5.0, 0.0]])
    linear = np.array([-1.0, 2.0])
    f = Quadratic(np.diag([1.0, 3.0]) + skew, linear)
    least = -Fraction(1, 2) - Fraction(2, 3)
    run = nesterov(f, np.zeros(2)).play(400)
    assert Fraction(float(run.lower.max())) <= least <= Fraction(float(run.upper[-1]))
    assert run.level == "proved"
    assert not run.certificate.reasons


def test_a_matrix_that_may_be_indefinite_has_no_bound_without_a_ball():
    """A singular matrix cannot be distinguished from one with an eigenvalue a little below 0."""
    v = np.array([1.0, 3.0, 0.1])
    f = Quadratic(np.outer(v, v), -v)
    assert f.strong_convexity == 0
    assert 0 < f.concavity < 1e-13
    assert nesterov(f, np.zeros(3)).play(20).level == "failed"
    run = nesterov(f, np.zeros(3), radius=1.0).play(2000)
    assert run.level == "proved"
    assert "stated ball of radius 1" in run.certificate.about
    # Below the tolerance of the check, and clearly below 0: the bound pays for it.
    bent = Quadratic(np.diag([1.0, -1e-11]))
    assert bent.concavity == 1e-11
    run = frank_wolfe(bent, np.zeros(2), over=Ball(1e4)).play(50)
    assert run.lower.max() <= -0.5e-11 * 1e8


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quadratic(np.array([[1.0, np.nan], [np.nan, 1.0]])),
        lambda: Quadratic(np.eye(2) * (1 + 1j)),
        lambda: Quadratic(np.ones((2, 3))),
        lambda: Quadratic(np.diag([1.0, -1.0])),
        lambda: Quadratic(np.eye(2), np.array([1.0, np.inf])),
        lambda: LeastSquares(np.array([[2**53 + 1]]), np.array([1])),
        lambda: LeastSquares(np.eye(2) * 1j, np.ones(2)),
        lambda: LeastSquares(np.eye(2), np.array([np.nan, 1.0])),
        lambda: LeastSquares(np.eye(2), np.ones(3)),
        lambda: Logistic(np.array([[np.nan]]), np.ones(1)),
        lambda: LargestAffine(np.eye(2), np.array([1, 2**60 + 1])),
        lambda: HalfSquare(0.0),
        lambda: HalfSquare(1.0, np.array([np.nan])),
        lambda: Huber(0.0),
        lambda: LogSumExp(-1.0),
        lambda: norm(1, np.nan),
        lambda: norm(2, -1.0),
        lambda: Ball(np.inf),
        lambda: Ball(-1.0),
        lambda: Box(1.0, 0.0),
        lambda: Simplex(np.nan),
        lambda: L1Ball(-1.0),
        lambda: Ellipsoid(np.array([1.0, 0.0])),
        lambda: nesterov(HalfSquare(), np.array([np.nan]), radius=1.0),
        lambda: nesterov(HalfSquare(), np.array([1j])),
        lambda: nesterov(HalfSquare(), np.zeros(1), radius=-1.0),
        lambda: nesterov(HalfSquare(), np.zeros(1), radius=np.nan),
        lambda: nesterov(HalfSquare(), np.zeros(1)).play(5, tolerance=np.nan),
        lambda: nesterov(HalfSquare(), np.zeros(1)).play(5, relative_tolerance=np.inf),
        lambda: nesterov(HalfSquare(), np.zeros(1)).play(0),
    ],
)
def test_what_is_no_finite_real_double_is_refused(make):
    with pytest.raises(InvalidInput):
        make()


@pytest.mark.filterwarnings("ignore:cumulative gradient descent. a gradient of length")
def test_nowhere_to_go_is_no_division_by_zero():
    f = LeastSquares(np.eye(2), np.array([1.0, 2.0]))
    point = Box(np.ones(2), np.ones(2))
    for recipe in (
        averaged_subgradient_descent(f, np.ones(2), rounds=5, over=point),
        cumulative_descent(f, np.ones(2), rounds=5, over=point),
        nesterov(f, np.ones(2), over=point),
        averaged_descent(f, np.array([1.0, 2.0]), radius=0.0),
        accelerated_proximal(f, norm(1, 0.1), np.zeros(2), radius=0.0),
        averaged_subgradient_descent(
            HalfSquare(), np.zeros(2), rounds=5, radius=0, gradient_bound=1
        ),
        cumulative_descent(f, np.zeros(2), rounds=5, radius=1.0, gradient_bound=0.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConditionFails)  # some of the balls are stated wrongly
            run = recipe.play(5)
        assert recipe.bound(5) >= 0
        assert np.isfinite(run.gap[-1]) or "stated ball" in run.contradiction
    with pytest.warns(ConditionFails, match="mean gradient came down to 0"):
        run = boundary_frank_wolfe(HalfSquare(), np.zeros(2), over=Ball(1.0)).play(5)
    assert run.gap[-1] >= 0
    with pytest.warns(ConditionFails):
        boundary_frank_wolfe(f, np.zeros(2), over=Ball(0.0)).play(5)


def test_the_verdict_speaks_of_the_minimum():
    f = LeastSquares(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))  # the minimum is 1
    run = nesterov(f, np.zeros(1)).play(200, relative_tolerance=1e-9)
    assert run.level == "proved"
    assert run.certificate.gap <= run.certificate.tolerance == 1e-9
    assert run.certificate.value - run.certificate.bound <= run.gap[-1]
    assert run.certificate.level == run.level
    assert run.certificate.absolute_gap == run.gap[-1]
    assert "exclude any value below" in str(run.certificate)
    few = nesterov(f, np.zeros(1)).play(2)
    assert few.level in ("within", "failed")
    assert "asked for 0.0001" in few.certificate.reasons[0]
    # A minimum of 0 has no relative gap: absolute, in words.
    zero = nesterov(LeastSquares(np.eye(2), np.ones(2)), np.zeros(2)).play(100)
    assert zero.level == "unresolved"
    assert "may be 0" in zero.certificate.reasons[0]
    assert "may be 0" in str(zero)
    exact = nesterov(Huber(), np.zeros(2)).play(3)
    assert exact.level == "proved"
    assert exact.gap[-1] == exact.certificate.gap == 0
    path = gradient_descent(f, np.zeros(1), step=0.5).play(3)
    assert path.level == "proved"
    assert "proved optimal" in str(path)


def test_the_ball_is_named_only_where_it_is_used():
    f = LeastSquares(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    bowl = nesterov(f, np.zeros(1), radius=1e3).play(100)
    assert "stated ball" not in bowl.certificate.about
    wide = Logistic(np.array([[1.0], [-1.0], [2.0]]), np.array([1.0, 1.0, 1.0]))
    stated = nesterov(wide, np.zeros(1), radius=9.0).play(100)
    assert "if a minimiser lies in the stated ball of radius 9" in stated.certificate.about
    assert "if a minimiser" in str(stated)
    over = nesterov(wide, np.zeros(1), over=Ball(9.0)).play(100)
    assert "minimiser lies" not in over.certificate.about


def test_a_function_of_your_own_is_never_called_proved():
    class Mine(Convex):
        strong_convexity = smoothness = 1.0

        def value(self, x):
            return 1 + float(x @ x) / 2

        def subgradient(self, x):
            return x

    run = nesterov(Mine(), np.ones(2)).play(200)
    assert run.level == "unresolved"
    assert "rounding of Mine is not bounded" in run.certificate.reasons[0]


SETS = {
    "ball": Ball(1.5, np.array([3.0, -1.0, 2.0])),
    "ellipsoid": Ellipsoid(np.array([1e-3, 2.0, 1e3])),
    "box": Box(np.array([-1.0, 0.1, 0.3]), np.array([-0.7, 0.1, np.inf])),
    "simplex": Simplex(0.7),
    "l1 ball": L1Ball(1e-5),
    "affine": AffineSet(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), np.array([0.1, 0.3])),
    "product": Product((Simplex(3.0), Box(-1.0, 1.0)), (2, 1)),
    "everywhere": Everywhere(),
}


@pytest.mark.parametrize("name", SETS)
def test_shares_hold_at_points_of_the_set(name):
    """⟨slope, x − o⟩ − slack‖x − o‖ ≥ bound + ⟨rest, x − o⟩ − left‖x − o‖, in 40 digits.

    Projections are in the set but for rounding, which the last term allows for.
    """
    import mpmath

    random, K = np.random.default_rng(3), SETS[name]
    mpmath.mp.dps = 40
    for _ in range(60):
        slope, origin = 10.0 ** random.uniform(-5, 5) * random.normal(size=(2, 3))
        slack = float(random.choice([0, 1e-3]))
        share = Indicator(K).share(slope, slack, origin)
        x = K.project(origin + random.normal(size=3) * 3)
        away = [mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(x, origin, strict=True)]
        far = mpmath.sqrt(sum(t * t for t in away))
        left = sum(float(s) * t for s, t in zip(slope, away, strict=True)) - slack * far
        right = share.bound + sum(float(s) * t for s, t in zip(share.rest, away, strict=True))
        right -= share.slack * far
        outside = K.outside_distance(x) if name != "affine" else 1e-14 * (1 + np.linalg.norm(x))
        assert left + outside * (2 * np.linalg.norm(slope) + slack) >= right


def test_the_least_of_a_spectrahedron_is_bounded_and_close():
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 50
    random = np.random.default_rng(0)
    K, slope = Spectrahedron(2.0), random.normal(size=(4, 4))
    least = K.minimum_interval(slope)
    exact = 2 * mpmath.eigsy(mpmath.matrix(((slope + slope.T) / 2).tolist()), eigvals_only=True)[0]
    assert least.low() <= exact + 1e-15 * abs(exact)
    assert least.high() >= exact - 1e-15 * abs(exact)
    assert K.outside_distance(K.project(slope)) < 1e-12
