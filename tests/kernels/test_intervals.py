"""Numbers with a bound of their error, against exact fractions: the truth is inside, and not far.

Each operation is tried at all corners of what its operands hold. Its bound may be wider than the
corners by the rounding that the docstring of `kernels/arithmetic/intervals.py` allows, and not by
more: a bound that grew with the wrong power of a number would be wider at one of the scales.
"""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.kernels.door import (
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    interval,
    intervals,
    largest_eigenvalue,
    least_eigenvalue,
    length,
    norm_interval,
    upper_product,
    upper_sum,
)
from tests.proofs.coarse import patched

UNIT = Fraction(1, 2**53)
SCALES = [2.0**-30, 1.0, 2.0**30]


def corners(number):
    """The exact ends of what a scalar holds."""
    mid, off = Fraction(float(number.mid)), Fraction(float(number.off))
    return {mid - off, mid + off}


def holds(found, exact, rounding):
    """The exact numbers are inside, and the bound is wider than they are by `rounding` at most."""
    mid, off = Fraction(float(found.mid)), Fraction(float(found.off))
    assert all(mid - off <= one <= mid + off for one in exact)
    half = (max(exact) - min(exact)) / 2
    assert off <= half * (1 + 2 * UNIT * 2**6) + rounding + Fraction(2) ** -1040
    assert Fraction(found.low()) <= min(exact)
    assert Fraction(found.high()) >= max(exact)
    assert Fraction(found.high()) - Fraction(found.low()) <= 2 * off * (1 + 4 * UNIT) + 8 * (
        UNIT * abs(mid)
    )


def pairs():
    rng = np.random.default_rng(3)
    for a, b in itertools.product(SCALES, SCALES):
        for offs in ((0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3), (2e-9, 3e-7)):
            x, y = rng.normal(size=2)
            yield Interval(a * x, a * offs[0]), Interval(b * y, b * offs[1])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_arithmetic_holds_every_corner(name):
    operation = getattr(operator, name)
    for a, b in pairs():
        exact = [operation(x, y) for x in corners(a) for y in corners(b)]
        # Products and quotients of two widths have a second order: their bound is not symmetric.
        second = Fraction(0)
        if name == "mul":
            second = 2 * Fraction(a.off) * Fraction(b.off)
        if name == "truediv":
            second = 3 * (max(exact) - min(exact)) * Fraction(b.off) / abs(Fraction(b.mid))
        holds(operation(a, b), exact, second + 4 * UNIT * max(map(abs, exact)))


def test_arithmetic_with_plain_numbers_from_both_sides():
    a = Interval(3.0, 0.5)
    assert (1.0 - a).low() <= -2.5 <= (1.0 - a).mid + (1.0 - a).off
    assert (1.0 - a).mid == -2.0
    assert (a - 1.0).mid == 2.0
    assert (2.0 * a).mid == (a * 2.0).mid == 6.0
    assert (2.0 + a).mid == (a + 2.0).mid == 5.0
    assert (-a).mid == -3.0
    assert (-a).off == 0.5
    assert interval(a) is a
    assert (interval(2.0).mid, interval(2.0).off) == (2.0, 0.0)


def test_an_exact_zero_stays_exact_and_a_divisor_around_zero_says_nothing():
    for product in (Interval(0.0) * Interval(5.0, 1.0), Interval(5.0, 1.0) * Interval(0.0)):
        assert product.low() == product.high() == 0.0
    assert (Interval(0.0, 1e-9) * Interval(5.0)).high() >= 5e-9
    assert (Interval(5.0) * Interval(0.0, 1e-9)).high() >= 5e-9
    for divisor in (
        Interval(0.0),
        Interval(1.0, 1.0),
        Interval(-1.0, 2.0),
        Interval(1.0, math.nan),
    ):
        quotient = Interval(1.0) / divisor
        assert (quotient.low(), quotient.high()) == (-math.inf, math.inf)
    assert (Interval(1.0) / Interval(1.0, 0.5)).high() < 3
    assert Interval(math.inf, math.inf).low() == -math.inf
    assert Interval(-math.inf, math.inf).high() == math.inf
    assert Interval(0.1).low() == Interval(0.1).high() == 0.1


def exact_array(array):
    return [Fraction(float(number)) for number in np.ravel(array)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("wide", [(0.0, 0.0), (1e-6, 0.0), (0.0, 1e-6), (1e-9, 1e-7)])
def test_sums_and_products_of_vectors_hold_the_truth(scale, wide):
    rng = np.random.default_rng(5)
    for n in (1, 2, 7, 40):
        a = Interval(scale * rng.normal(size=n), scale * wide[0] * rng.uniform(size=n))
        b = Interval(rng.normal(size=n) / scale**2, wide[1] / scale**2 * rng.uniform(size=n))
        x, y, dx, dy = map(exact_array, (a.mid, b.mid, a.off, b.off))
        # The largest and the least sum, and the largest of the bilinear form at the corners.
        total, spread = sum(x), sum(dx)
        size = sum(map(abs, x))
        holds(a.sum(), [total - spread, total + spread], (4 * n + 8) * UNIT * (size + spread))
        middle = sum(p * q for p, q in zip(x, y, strict=True))
        half = sum(
            abs(p) * dq + dp * (abs(q) + dq) for p, q, dp, dq in zip(x, y, dx, dy, strict=True)
        )
        size = sum(abs(p * q) for p, q in zip(x, y, strict=True)) + half
        holds(dot(a, b), [middle - half, middle + half], (4 * n + 16) * UNIT * size)


@pytest.mark.parametrize("wide", [0.0, 1e-7])
@pytest.mark.parametrize("scale", SCALES)
def test_matrices_times_vectors_hold_the_truth(scale, wide):
    rng = np.random.default_rng(7)
    M, x = scale * rng.normal(size=(4, 6)), rng.normal(size=6)
    off = scale * wide * rng.uniform(size=M.shape)
    vector = Interval(x, 1e-9 * rng.uniform(size=6))
    fixed, free = SizedMatrix(M) @ vector, Interval(M, off) @ vector
    turned = SizedMatrix(np.ascontiguousarray(M.T)).transpose @ vector
    for row in range(4):
        for found, around in ((fixed, 0 * off), (free, off), (turned, 0 * off)):
            m, v, dm, dv = map(exact_array, (M[row], x, around[row], vector.off))
            parts = list(zip(m, v, dm, dv, strict=True))
            middle = sum(p * q for p, q, _, _ in parts)
            half = sum(abs(p) * dq + dp * (abs(q) + dq) for p, q, dp, dq in parts)
            size = sum(abs(p * q) for p, q, _, _ in parts) + half
            one = Interval(float(found.mid[row]), float(found.off[row]))
            holds(one, [middle - half, middle + half], 60 * UNIT * size)


def test_a_number_beside_a_vector_stands_for_a_vector_of_it():
    a = Interval(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.0, 0.1]))
    assert dot(a, 2.0).mid == 12.0
    assert 0.4 <= dot(a, 2.0).off <= 0.4 * (1 + 1e-12)
    assert dot(Interval(2.0), Interval(3.0)).mid == 6.0
    zero = dot(np.zeros(3), np.ones(3))
    assert (zero.mid, zero.off) == (0.0, 0.0)
    assert dot(Interval(np.zeros(3), np.full(3, 0.5)), np.ones(3)).high() >= 1.5
    assert dot(np.array([2.0**-600, 1.0]), np.array([2.0**-600, 0.0])).off > 0  # underflow


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**-400, 1.0, 2.0**400, 2.0**700])
def test_lengths_are_not_below_the_truth_and_close(scale):
    a = scale * np.array([3.0, -4.0, 12.0])
    assert 13 * scale <= length(a) <= 13 * scale * (1 + 1e-13)
    wide = length(Interval(scale * np.array([3.0, -4.0]), scale * np.array([0.0, 8.0])))
    assert math.sqrt(153) * scale * (1 - 1e-15) <= wide <= math.sqrt(153) * scale * (1 + 1e-13)
    both = norm_interval(a)
    assert both.low() <= 13 * scale <= both.high()
    assert both.high() - both.low() <= 13 * scale * 1e-12


def test_lengths_of_nothing_and_of_too_much():
    assert length(np.zeros(3)) == 0.0
    assert length(np.array([])) == 0.0
    assert length(np.array([1.0, math.inf])) == math.inf
    assert norm_interval(np.zeros(2)).high() == 0.0
    assert length(np.array([5e-324])) >= 5e-324


def test_sums_and_products_that_are_not_below():
    assert upper_sum(0.1) == 0.1
    assert upper_sum() == 0.0
    assert upper_sum(0.0, 0.0) == 0.0
    assert upper_sum(1.0, math.inf) == math.inf
    assert upper_sum(1e308, 1e308) == math.inf
    tiny = upper_sum(1.0, 2.0**-80)
    assert 1 < tiny <= 1 + 2.0**-51
    assert upper_product(0.0, math.inf) == upper_product(math.inf, 0.0) == 0.0
    assert upper_product(2.0, math.inf) == math.inf
    third = upper_product(1 / 3, 3.0)
    assert Fraction(1 / 3) * 3 < Fraction(third) <= 1 + Fraction(2) ** -51


# ---- eigenvalues


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [2, 5, 12])
def test_least_eigenvalues_of_known_matrices(n, scale):
    path = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    for low, matrix in [
        (2 - 2 * math.cos(math.pi / (n + 1)), path),
        (-1.0, np.ones((n, n)) - np.eye(n)),
        (0.0, np.ones((n, n))),
        (-3.0, np.diag(np.arange(n) - 3.0)),
    ]:
        found = least_eigenvalue(Interval(scale * matrix))
        room = 60 * n * n * 2.0**-52
        assert scale * (low - room) <= found <= scale * (low + 4e-16), (low, found / scale)
        guessed = least_eigenvalue(Interval(scale * matrix), estimate=scale * low)
        assert scale * (low - room) <= guessed <= scale * (low + 4e-16)
        poor = least_eigenvalue(Interval(scale * matrix), estimate=scale * (low + 1))
        assert poor <= scale * (low + 4e-16)
        assert poor >= scale * -3 * n
        mirrored = largest_eigenvalue(Interval(-scale * matrix))
        assert mirrored == -found
        wide = least_eigenvalue(Interval(scale * matrix, scale * np.full((n, n), 1e-3)))
        # The least eigenvalue of M − 0.001·11ᵀ is not above that of M by n/1000 at most.
        assert (
            found - scale * n * 1e-3 * (1 + 1e-9) <= wide <= found - scale * n * 1e-3 * (1 - 1e-9)
        )


def test_least_eigenvalues_of_what_is_not_finite():
    assert least_eigenvalue(Interval(np.array([[1.0, math.inf], [math.inf, 1.0]]))) == -math.inf
    assert least_eigenvalue(Interval(np.eye(2), np.full((2, 2), math.inf))) == -math.inf
    assert least_eigenvalue(Interval(np.diag([3.0, 2.0]))) == 2.0
    assert least_eigenvalue(Interval(np.zeros((2, 2)))) == 0.0


def test_squares_of_rows_hold_the_truth():
    rng = np.random.default_rng(2)
    for scale in SCALES:
        rows = scale * rng.normal(size=(9, 3))
        found = gram_interval(rows)
        for i, j in itertools.product(range(3), range(3)):
            a, b = exact_array(rows[:, i]), exact_array(rows[:, j])
            exact = sum(p * q for p, q in zip(a, b, strict=True))
            size = sum(abs(p * q) for p, q in zip(a, b, strict=True))
            holds(Interval(found.mid[i, j], found.off[i, j]), [exact], 60 * UNIT * size)


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


def test_one_uncertain_entry_of_a_matrix_is_charged():
    M, off = np.diag([1.0, 2.0]) + 0.25, np.zeros((2, 2))
    off[0, 0] = 0.125
    plain, less = least_eigenvalue(Interval(M)), least_eigenvalue(Interval(M, off))
    assert plain - less >= 0.125 * (1 - 1e-12)


# ---- margins, with a unit so large that none of them hides behind another

COARSE = 2.0**-8  # twice the unit of this arithmetic


def gamma(k, unit=COARSE / 2):
    return k * unit / (1 - k * unit)


def wide(n, seed):
    rng = np.random.default_rng(seed)
    return Interval(rng.normal(size=n), rng.uniform(4.0, 8.0, size=n))  # wider than they are long


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_sums_of_coarse_numbers_hold_their_rounding(monkeypatch, n):
    patched(monkeypatch, intervals, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    a, b, M = wide(n, 1), wide(n, 2), np.random.default_rng(3).normal(size=(2, n))
    x, y = np.abs(a.mid), np.abs(b.mid)
    # The bound is a computed sum itself: it may have come out smaller by γ of it.
    least = (a.off.sum() + gamma(n - 1) * x.sum()) / (1 - gamma(n))
    assert a.sum().off >= least
    assert a.sum().off <= 2 * least + 6 * COARSE * x.sum()
    held = x @ b.off + a.off @ (y + b.off)
    assert dot(a, b).off >= (held + gamma(n) * (x @ y)) / (1 - gamma(n))
    assert dot(Interval(a.mid), Interval(b.mid)).off >= gamma(n) * (x @ y) / (1 - gamma(n))
    for matrix in (SizedMatrix(M), Interval(M), Interval(M, 200.0 + 0.0 * M)):
        spread = matrix.off if isinstance(matrix, Interval) and np.ndim(matrix.off) else 0.0 * M
        least = np.abs(M) @ a.off + spread @ (x + a.off) + gamma(n) * (np.abs(M) @ x)
        found = (matrix @ a).off
        assert (found >= least / (1 - gamma(n))).all()
        assert (found <= 2 * least + 8 * COARSE * (np.abs(M) @ (x + a.off))).all()
    over = np.linalg.norm(x + a.off)
    assert over / (1 - gamma(n)) <= length(a) <= over * (1 + (n + 9) * COARSE)


def test_each_operation_grows_by_the_factor_that_covers_its_own_rounding(monkeypatch):
    grown = 1.25
    patched(monkeypatch, intervals, EPS=0.0, BOUND_GROWTH=grown, OPERATIONS_UNDERFLOW=0.0)
    a, b = Interval(3.0, 0.25), Interval(-2.0, 0.5)
    n, v, w = 3, wide(3, 4), wide(3, 5)
    x, y = np.abs(v.mid), np.abs(w.mid)
    for found, least in (
        (a + b, 0.75),
        (a - b, 0.75),
        (a * b, 0.5 * 3 + 0.25 * 2.5),
        (a / b, grown * (0.25 + 1.5 * 0.5) / 1.5),  # the room in the denominator shrinks as well
        (v.sum(), v.off.sum()),
        (dot(v, w), x @ w.off + v.off @ (y + w.off)),
        (SizedMatrix(np.ones((1, n))) @ v, v.off.sum()),
        (
            Interval(np.ones((1, n)), 0.5 * np.ones((1, n))) @ v,
            v.off.sum() + 0.5 * (x + v.off).sum(),
        ),
    ):
        assert grown * least * (1 - 1e-12) <= found.off <= grown**2 * least * (1 + 1e-12)
    assert length(v) == pytest.approx(grown * np.linalg.norm(x + v.off))


def test_products_and_quotients_of_coarse_numbers_hold_their_rounding(monkeypatch):
    patched(monkeypatch, intervals, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    a, b = Interval(3.0), Interval(-2.0)
    for found, size in ((a + b, 1.0), (a - b, 5.0), (a * b, 6.0), (a / b, 1.5)):
        assert COARSE / 2 * size <= found.off <= COARSE * size * (1 + 1e-12)


def test_least_eigenvalues_pay_for_their_factorisation(monkeypatch):
    patched(monkeypatch, intervals, EPS=COARSE, OPERATIONS_UNDERFLOW=0.0)
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.5]]) / 4
    n, least = 3, float(np.linalg.eigvalsh(M)[0])
    # Cholesky's factorisation of M − sI is right to γ_{n+1}·trace (Higham 10.3), its shift to u|s|.
    unit = COARSE / 2
    for estimate in (None, least - 0.125):
        found = least_eigenvalue(Interval(M), estimate)
        slack = gamma(n + 1) * np.trace(M - least * np.eye(n)) + unit * least
        below = 0.0 if estimate is None else 0.125
        assert least - below - 60 * slack <= found <= least - below - slack
    off = np.full((n, n), 0.01)  # any symmetric matrix within it
    assert least_eigenvalue(Interval(M)) - least_eigenvalue(Interval(M, off)) >= 0.03
    assert least_eigenvalue(Interval(np.diag([2.0, -1.0, 5.0]))) == -1.0
    rows = np.random.default_rng(1).normal(size=(40, 3))
    found = gram_interval(rows).off
    size = np.abs(rows).T @ np.abs(rows)
    assert (found >= gamma(40) * size).all()
    assert (found <= 12 * gamma(40) * size).all()


def test_a_matrix_that_is_not_factorised_has_its_circles():
    """Gershgorin, where an estimate was so wrong that nothing could be factorised."""
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.5]])
    for scale in (2.0**-40, 1.0, 2.0**40):
        found = least_eigenvalue(Interval(scale * M), 100.0 * scale)
        assert scale * (1 - 100 * 2.0**-52) <= found <= scale * (1 - 3 * 2.0**-53)


def test_sums_and_lengths_hold_the_exact_ones():
    random = np.random.default_rng(1)
    for scale in (1e-170, 1.0, 1e170):
        for n in (1, 3, 200):
            a, b = scale * random.normal(size=n), random.normal(size=n)
            exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))
            inside = dot(a, b)
            assert Fraction(inside.low()) <= exact <= Fraction(inside.high())
            square = sum(Fraction(x) ** 2 for x in a)
            assert Fraction(length(a)) ** 2 >= square
            assert Fraction(norm_interval(a).low()) ** 2 <= square
            third = Interval(a) / 3.0 * Interval(b) - Interval(b)
            for k in range(n):
                true = Fraction(a[k]) / 3 * Fraction(b[k]) - Fraction(b[k])
                assert abs(Fraction(float(third.mid[k])) - true) <= Fraction(float(third.off[k]))


def test_proved_eigenvalues_are_bounds_and_close():
    random = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        for scale in (1e-300, 1e-9, 1.0, 1e150):
            A = random.normal(size=(n, max(1, n - 1)))
            M = (A @ A.T) * scale
            M = (M + M.T) / 2
            with mpmath.mp.workdps(50):
                values = mpmath.eigsy(mpmath.matrix(M.tolist()), eigvals_only=True)
            low, high = least_eigenvalue(Interval(M)), largest_eigenvalue(Interval(M))
            top = float(values[n - 1])
            assert low <= values[0] <= low + 1e-12 * top
            assert high >= values[n - 1] >= high - 1e-12 * top
