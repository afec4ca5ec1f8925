"""What proofs ask of functions, against 50 digits: it holds, and it is close to the truth.

`value_interval`, `slope_interval`, `plane` and `share`. Everything is tried at three scales, so
that a bound with the wrong power of a number is too small at one of them or too large at another.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from dualfold.games import (
    Entropy,
    HalfSquare,
    Huber,
    LargestAffine,
    LeastSquares,
    Linear,
    Logistic,
    LogSumExp,
    Quadratic,
    Sum,
    norm,
)
from tests.kernels.door import Interval
from tests.theory.games.door import Flattened, Mixture, bowl_minimum, difference, lower_sum

D = 4
HALF, WIDTH = mpf(0.5), mpf(0.75)
SCALES = [2.0**-9, 1.0, 2.0**9]
rng = np.random.default_rng(41)
Q = np.diag([3.0, 1.0, 0.5, 2.0]) + 0.25
A = rng.normal(size=(5, D))
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
CENTER = rng.normal(size=D)


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(50):
        yield


def exact(x):
    return [mpf(float(number)) for number in np.ravel(x)]


def rows_times(rows, x):
    return [mpmath.fdot(exact(row), x) for row in rows]


def total(numbers):
    return mpmath.fsum(numbers)


# ---- functions: (function, its value in many digits, its slope in many digits)


def quadratic(x, matrix=Q, linear=CENTER, constant=0.75):
    image = rows_times(matrix, x)
    return mpmath.fdot(x, image) / 2 + mpmath.fdot(exact(linear), x) + mpf(constant)


def quadratic_slope(x):
    return [a + b for a, b in zip(rows_times(Q, x), exact(CENTER), strict=True)]


def half_square(x):
    return mpf(2.5) / 2 * total((a - b) ** 2 for a, b in zip(x, exact(CENTER), strict=True))


def half_square_slope(x):
    return [mpf(2.5) * (a - b) for a, b in zip(x, exact(CENTER), strict=True)]


def left_over(x):
    return [a - b for a, b in zip(rows_times(A, x), exact(LABELS), strict=True)]


def margins(x):
    return [mpf(float(label)) * m for label, m in zip(LABELS, rows_times(A, x), strict=True)]


def logistic_slope(x):
    p = [1 / (1 + mpmath.exp(m)) for m in margins(x)]
    return [
        -total(mpf(float(LABELS[i])) * mpf(float(A[i, j])) * p[i] for i in range(5))
        for j in range(D)
    ]


def soft(x, width=HALF):
    return [mpmath.exp(a / width) for a in x]


def huber(x, width=WIDTH):
    return total(a * a / 2 if abs(a) <= width else width * abs(a) - width**2 / 2 for a in x)


def clipped(x, width=WIDTH):
    return [max(-width, min(width, a)) for a in x]


FUNCTIONS = {
    "quadratic": (Quadratic(Q, CENTER, 0.75), quadratic, quadratic_slope),
    "half square": (HalfSquare(2.5, CENTER), half_square, half_square_slope),
    "least squares": (
        LeastSquares(A, LABELS),
        lambda x: total(r * r for r in left_over(x)) / 2,
        lambda x: rows_times(A.T, left_over(x)),
    ),
    "logistic": (
        Logistic(A, LABELS),
        lambda x: total(mpmath.log1p(mpmath.exp(-m)) for m in margins(x)),
        logistic_slope,
    ),
    "largest plane": (
        LargestAffine(A, LABELS),
        lambda x: max(a + b for a, b in zip(rows_times(A, x), exact(LABELS), strict=True)),
        None,
    ),
    "log sum exp": (
        LogSumExp(0.5),
        lambda x: mpf(0.5) * mpmath.log(total(soft(x))),
        lambda x: [a / total(soft(x)) for a in soft(x)],
    ),
    "huber": (Huber(0.75), huber, clipped),
    "l1": (norm(1, 0.75), lambda x: mpf(0.75) * total(map(abs, x)), None),
    "l2": (norm(2, 0.75), lambda x: mpf(0.75) * mpmath.sqrt(total(a * a for a in x)), None),
    "linf": (norm("inf", 0.75), lambda x: mpf(0.75) * max(map(abs, x)), None),
    "sum": (
        Sum(HalfSquare(2.5, CENTER), norm(1, 0.75)),
        lambda x: half_square(x) + mpf(0.75) * total(map(abs, x)),
        None,
    ),
    "flattened": (
        Flattened(HalfSquare(2.5, CENTER), 1.25),
        lambda x: half_square(x) - mpf(1.25) / 2 * total(a * a for a in x),
        lambda x: [s - mpf(1.25) * a for s, a in zip(half_square_slope(x), x, strict=True)],
    ),
    "mixture": (
        Mixture(((0.25, Huber(0.75)), (2.0, HalfSquare(2.5, CENTER)), (0.5, Linear(CENTER)))),
        lambda x: huber(x) / 4 + 2 * half_square(x) + mpmath.fdot(exact(CENTER), x) / 2,
        None,
    ),
}
SMOOTH = [name for name, (_, _, slope) in FUNCTIONS.items() if slope]


def points(scale, count=6):
    drawn = np.random.default_rng(7).normal(size=(count, D)) * scale
    return [*drawn, np.zeros(D), scale * np.eye(D)[0]]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_held_from_both_sides(name, scale):
    f, value, _ = FUNCTIONS[name]
    assert f.rounding_bounded
    for x in points(scale):
        truth, found = value(exact(x)), f.value_interval(x)
        size = 12 * (1 + scale) * (1 + scale) if truth > 100 else 40 * (1 + scale)
        assert mpf(found.low()) <= truth <= mpf(found.high())
        assert found.high() - found.low() <= 2e-13 * size
        assert f.value(x) == pytest.approx(float(truth), rel=1e-12, abs=1e-13 * size)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_are_held_from_both_sides(name, scale):
    f, _, slope = FUNCTIONS[name]
    for x in points(scale):
        truth, found = slope(exact(x)), f.slope_interval(x)
        off = np.broadcast_to(found.off, found.mid.shape)
        for one, mid, room in zip(truth, found.mid, off, strict=True):
            assert abs(mpf(float(mid)) - one) <= mpf(float(room))
            assert room <= 1e-12 * (1 + scale)
        np.testing.assert_allclose(f.subgradient(x), [float(t) for t in truth], 1e-11, 1e-12)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_planes_lie_under_and_touch(name, scale):
    f, value, _ = FUNCTIONS[name]
    for z in points(scale, 3):
        plane = f.plane(z)
        top = value(exact(z))
        room = mpf(1e-11) * (1 + mpf(scale)) ** 2
        assert mpf(plane.height) <= top
        assert top - mpf(plane.height) <= room
        assert 0 <= plane.slack <= 1e-11 * (1 + scale)
        for x in [*points(scale, 4), *(z + 1e-6 * scale * e for e in np.eye(D))]:
            away = [a - b for a, b in zip(exact(x), exact(z), strict=True)]
            far = mpmath.sqrt(total(a * a for a in away))
            below = mpf(plane.height) + mpmath.fdot(exact(plane.slope), away)
            assert value(exact(x)) >= below - mpf(plane.slack) * far


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("slack", [0.0, 1e-3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_shares_of_a_tilt_are_carried(name, slack, scale):
    f, value, _ = FUNCTIONS[name]
    for slope in scale * np.random.default_rng(9).normal(size=(3, D)):
        for origin in (np.zeros(D), scale * np.ones(D)):
            with np.errstate(invalid="ignore"):  # log sum exp has no point with such a slope
                share = f.share(slope, slack, origin)
            if share.bound == -np.inf:
                assert name == "log sum exp"
                continue
            for x in points(scale, 5):
                away = [a - b for a, b in zip(exact(x), exact(origin), strict=True)]
                far = mpmath.sqrt(total(a * a for a in away))
                left = mpmath.fdot(exact(slope), away) - mpf(slack) * far + value(exact(x))
                right = mpf(share.bound) + mpmath.fdot(exact(share.rest), away)
                assert left >= right - mpf(share.slack) * far


def test_what_a_bowl_carries_is_its_least_value():
    """min ⟨s, x − o⟩ + (w/2)‖x − c‖² = ⟨s, c − o⟩ − ‖s‖²/2w."""
    f = HalfSquare(2.5, CENTER)
    for scale in SCALES:
        slope, origin = scale * np.array([1.0, -2.0, 0.5, 3.0]), np.full(D, 0.5)
        least = slope @ (CENTER - origin) - slope @ slope / 5
        share = f.share(slope, 0.0, origin)
        assert share.is_whole
        assert share.bound <= least + 1e-13 * (1 + scale**2)
        assert share.bound == pytest.approx(least, rel=1e-12, abs=1e-12)
        both = Sum(f, norm(1, 0.75)).share(slope, 0.0, origin)
        best = Sum(f, norm(1, 0.75)).maximiser(-slope)
        least = slope @ (best - origin) + f.value(best) + 0.75 * np.abs(best).sum()
        assert both.is_whole
        assert both.bound == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert both.bound <= least + 1e-12 * (1 + scale**2)
    # A slope inside of the dual ball is carried as a whole, one outside in part.
    inside = norm(1, 0.75).share(np.array([0.5, -0.7, 0.0, 0.1]), 0.01, np.ones(D))
    assert inside.is_whole
    assert inside.bound == pytest.approx(0.1 - 0.01 * 2.0, rel=1e-9)
    beyond = norm(1, 0.75).share(np.array([1.0, -0.7, 0.0, 0.1]), 0.0, np.zeros(D))
    assert not beyond.is_whole
    np.testing.assert_allclose(beyond.rest, [0.25, 0, 0, 0], atol=1e-15)


def test_parts_of_proofs():
    assert bowl_minimum(0.0, 2.0) == 0.0
    assert bowl_minimum(3.0, 2.0) == pytest.approx(-9 / 4, rel=1e-14)
    assert bowl_minimum(3.0, 2.0) < -9 / 4
    assert lower_sum(1.0, -np.inf) == -np.inf
    assert lower_sum(1e308, 1e308) == -np.inf
    assert lower_sum(0.0, 0.0) == 0.0
    assert lower_sum(1.0, -1.0) == 0.0
    assert 3 - 1e-14 < lower_sum(1.0, 2.0) < 3
    gone, off = difference(np.array([3.0, 1.0]), np.array([0.0, -3.0]))
    np.testing.assert_array_equal(gone, [3.0, 4.0])
    assert 5 * 2.0**-53 <= off <= 5 * 2.0**-50


def test_entropy_is_held_on_the_simplex_and_says_nothing_outside():
    x = np.array([0.5, 0.25, 0.25, 0.0])
    found = Entropy().value_interval(x)
    truth = total(a * mpmath.log(a) for a in exact(x) if a)
    assert found.low() <= truth <= found.high()
    assert found.high() - found.low() < 1e-13
    assert Entropy().value_interval(np.array([0.5, 0.25, 0.5, -0.25])).high() == np.inf
    assert Entropy().value_interval(np.array([0.5, 0.25, 0.5, 0.25])).high() == np.inf
    p = np.array([0.1, 0.2, 0.3, 0.4])
    slope = Entropy().slope_interval(p)
    for one, mid, off in zip(exact(p), slope.mid, slope.off, strict=True):
        assert abs(mpmath.log(one) + 1 - mpf(float(mid))) <= mpf(float(off))
        assert off < 1e-13
    assert 1 - 1e-6 <= Entropy().strong_convexity < 1


def test_numbers_that_guarantees_rest_on():
    values = np.linalg.eigvalsh(Q)
    f = FUNCTIONS["quadratic"][0]
    assert values[-1] * (1 - 1e-15) <= f.smoothness <= values[-1] * (1 + 1e-12)
    assert values[0] * (1 - 1e-12) <= f.strong_convexity <= values[0] * (1 + 1e-15)
    assert f.concavity == 0.0
    squares = np.linalg.eigvalsh(A.T @ A)
    g = FUNCTIONS["least squares"][0]
    assert g.smoothness == pytest.approx(squares[-1], rel=1e-11)
    assert g.strong_convexity == pytest.approx(squares[0], rel=1e-9)
    assert FUNCTIONS["logistic"][0].smoothness == pytest.approx(squares[-1] / 4, rel=1e-11)
    wide = Logistic(A.T, np.array([1.0, -1.0, 1.0, -1.0]))
    assert wide.smoothness == pytest.approx(squares[-1] / 4, rel=1e-11)
    lengths = np.linalg.norm(A, axis=1)
    assert FUNCTIONS["logistic"][0].gradient_bound == pytest.approx(lengths.sum())
    assert FUNCTIONS["largest plane"][0].gradient_bound == pytest.approx(lengths.max())
    assert FUNCTIONS["log sum exp"][0].smoothness == pytest.approx(2.0, rel=1e-14)
    assert Linear(np.array([3.0, 4.0])).gradient_bound == pytest.approx(5.0, rel=1e-12)
    flat = FUNCTIONS["flattened"][0]
    assert flat.smoothness == 1.25
    assert 1.25 * (1 - 1e-14) <= flat.strong_convexity < 1.25
    both = Sum(HalfSquare(2.0), HalfSquare(3.0))
    assert both.smoothness == 5.0
    assert 5 * (1 - 1e-14) <= both.strong_convexity < 5
    assert Sum(HalfSquare(2.0), norm(1)).strong_convexity == 2.0
    mixture = FUNCTIONS["mixture"][0]
    assert mixture.smoothness == 0.25 + 5.0
    assert 5 * (1 - 1e-14) <= mixture.strong_convexity < 5
    # A matrix whose least eigenvalue cannot be told from 0 may be concave by rounding only.
    thin = Quadratic(np.outer(A[0], A[0]))
    assert thin.strong_convexity == 0.0 or thin.concavity == 0.0
    assert 0 <= thin.concavity <= 1e-12
    bent = Mixture(((2.0, thin), (1.0, HalfSquare(1.0))))
    if thin.concavity:
        assert bent.concavity >= 2 * thin.concavity
        assert bent.strong_convexity == 0.0


def test_samples_of_rows_are_right_on_average():
    x = np.array([0.3, -1.0, 2.0, 0.1])
    for f in (FUNCTIONS["least squares"][0], FUNCTIONS["logistic"][0]):
        each = [f.sample(x, np.array([i])) for i in range(5)]
        np.testing.assert_allclose(np.mean(each, axis=0), f.subgradient(x), rtol=1e-12)
        pair = f.sample(x, np.array([1, 3]))
        np.testing.assert_allclose(pair, (each[1] + each[3]) / 2, rtol=1e-12)


def test_mixtures_are_vectors():
    f, g = Huber(0.75), HalfSquare(2.0)
    one = Mixture(((1.0, f), (2.0, g)))
    two = 3.0 * one - Mixture(((1.0, f),))
    assert {id(h): share for share, h in two.parts} == {id(f): 2.0, id(g): 6.0}
    x = np.array([1.0, -0.5, 0.0, 2.0])
    assert two.value(x) == pytest.approx(2 * f.value(x) + 6 * g.value(x))
    alone = Mixture(((1.0, g),))
    assert alone.plane(x).height == g.plane(x).height
    assert Mixture(((0.5, g),)).plane(x).height == pytest.approx(g.value(x) / 2, rel=1e-12)


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
