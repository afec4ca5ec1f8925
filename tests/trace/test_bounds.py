"""Every bound that a certificate of a trace problem is made of: true, close, in its units.

*Units.* With A·2ᵃ, B·4ᵇ and V·2⁻ᵇ each number is multiplied by a known power of 2, whatever its
formula: a product that should be a quotient shows at once. *Truth.* What a trial claims of its
directions is compared with exact fractions. *Value.* Temple's loss is compared with spectra.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from flint import fmpq, fmpq_mat

from dualfold.kernels.arithmetic import UNIT_ROUNDOFF, gamma
from dualfold.trace import Gramian, TraceProblem
from tests.trace.door import (
    Bracket,
    SpectralFloor,
    Trial,
    _below_the_last,
    _negative_blocks,
    bracket,
    cholesky_floor,
    column_norms,
    dense_inertia,
    dense_singular_floor,
    dual_lengths,
    excluded_trial,
    factor_norm,
    form_bound,
    inertia_floor,
    inner,
    inner_depth,
    metric_errors,
    norm_bound,
    null_error,
    pivot_floor,
    product_errors,
    product_rounding,
    residual_lengths,
    ritz_directions,
    row_errors,
    singular_bracket,
    singular_floor,
    singular_heights,
    span_error,
    squares_in_metric,
    temple_loss,
    trial,
    trial_heights,
    underflow,
)
from tests.trace.problems import (
    plain_trial,
)

N_ROWS = 7
KINDS = ["dense", "sparse", "gramian"]
METRICS = ["identity", "diagonal", "sparse", "dense"]
SHIFTS = [(0, 0), (12, 0), (0, 7), (-10, -6)]  # even, as square roots are taken


def path_laplacian(n):
    L = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    L[0, 0] = L[-1, -1] = 1
    return L


def parts(kind, metric, excluded):
    """A (or M), B and N of a problem whose constant vector is a null vector if it is excluded."""
    rng = np.random.default_rng(17)
    n = N_ROWS
    weights = rng.uniform(0.5, 2, n - 1)
    steps = np.eye(n - 1, n, k=1) - np.eye(n - 1, n)
    M = np.sqrt(weights)[:, None] * steps
    if not excluded:
        M = np.vstack([M, 0.3 * np.eye(n)[:1]])
    B = {
        "identity": None,
        "diagonal": rng.uniform(0.6, 3, n),
        "sparse": sp.csr_array(3 * np.eye(n) + 0.7 * np.eye(n, k=1) + 0.7 * np.eye(n, k=-1)),
        "dense": 2 * np.eye(n) + 0.5 * path_laplacian(n),
    }[metric]
    if kind == "gramian":
        return sp.csr_array(M), B
    A = M.T @ M
    A = (A + A.T) / 2
    return (A if kind == "dense" else sp.csr_array(A)), B


def stated(kind, metric, excluded, a=0, b=0, sense="min"):
    """The problem in units of 2^a for A (M for a Gramian) and 4^b for B."""
    A, B = parts(kind, metric, excluded)
    A = 2.0**a * A
    B = B if B is None else 4.0**b * B
    N = np.ones((N_ROWS, 1)) if excluded else None
    return TraceProblem(Gramian(A) if kind == "gramian" else A, B, 2, sense, N)


def answer_of(problem, noise=0.0, count=3):
    """Eigenvectors of the problem, B-orthonormal, and noise of a size relative to them."""
    A = problem.A.factor.T @ problem.A.factor if isinstance(problem.A, Gramian) else problem.A
    A = A.toarray() if sp.issparse(A) else np.asarray(A)
    B = problem.metric.sparse().toarray()
    L = np.linalg.cholesky(B)
    inside = np.linalg.solve(L, np.linalg.solve(L, problem.sign * A).T)
    _, U = np.linalg.eigh((inside + inside.T) / 2)
    first = problem.excluded_basis.shape[1] if problem.sense == "min" else 0
    V = np.linalg.solve(L.T, U[:, first : first + count])
    size = np.abs(V).max()
    return V + noise * size * np.random.default_rng(1).normal(size=V.shape)


# ---- units


def told(problem, V, height):
    """(number, power of λ, what else) of all that the bounds say."""
    lift = 8 * height * (problem.excluded_basis.shape[1] > 0)
    some = trial(problem, V[:, :2], lift)
    yield from [(some.h, 1, 0), (some.squares, 2, 0), (some.rounded, 1, 0), (some.skew, 0, 0)]
    yield from [(some.leak, 1, 0), (some.blur, 1, 0), (some.total_blur, 1, 0)]
    yield from zip(residual_lengths(problem, V[:, :2]), (1, 1), (0, 0), strict=True)
    yield span_error(problem, V[:, :2], 1.001 * V[:, :2] + 1e-4 * V[:, 1:3]), 0, 0
    excluded = excluded_trial(problem)
    floors = [pivot_floor(problem, some, 2, height, lift)]
    floors.append(cholesky_floor(problem, some, 2, height, lift))
    if not isinstance(problem.A, np.ndarray):
        floors.append(inertia_floor(problem, 2, height, excluded))
        floors.append(floors[-1].sharper() or floors[-1])
    for floor in floors:
        assert floor.seen == 2
        yield from [(floor.height, 1, 0), (floor.error, 1, "pivots")]
        yield from numbers(bracket(some, None, floor))
        wide = trial(problem, V, lift)
        yield from numbers(
            bracket(some, wide, SpectralFloor(3, 2 * height, "inertia", seen=3, error=0.1 * height))
        )
        yield from numbers(
            bracket(some, None, SpectralFloor(1, height / 2, "inertia", seen=1, error=0.1 * height))
        )
    yield from numbers(_below_the_last(some, height / 2))
    yield [one.at for one in trial_heights(some, lambda: None, 2 * height, height, 1e-4)], 1, 0
    if isinstance(problem.A, Gramian):
        yield from told_in_singular_values(problem, V, height)


def told_in_singular_values(problem, V, height):
    own, s = ritz_directions(problem, V[:, :2])
    yield from [(s, 0.5, 0), (factor_norm(problem), 0.5, 0)]
    if problem.excluded_basis.shape[1]:
        yield null_error(problem), 0.5, 0
    yield [one.at for one in singular_heights(s, 2, 1.0 * s[-1], 1e-4)], 1, 0
    for prove in (singular_floor, dense_singular_floor):
        floor = prove(problem, 2, height)
        assert floor.seen == 2
        yield floor.error, 1, "pivots"
        yield from numbers(singular_bracket(problem, own, 1e-6, own, floor))
    low = SpectralFloor(1, height / 2, "inertia", seen=1, error=0.1 * height)
    yield from numbers(singular_bracket(problem, own, 1e-6, own, low))


def numbers(found):
    yield from [(found.lower, 1, 0), (found.apart, 1, 0), (found.blurred, 1, "pivots")]
    yield from [(found.value, 1, 0), (found.value_blur, 1, 0), (found.gap, 0, 0)]


@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_numbers_keep_their_units(kind, metric, excluded):
    first = None
    plain = stated(kind, metric, excluded)
    values = trial(plain, answer_of(plain)).h
    for a, b in SHIFTS:
        if kind == "gramian":  # B far from 1 beside M rounds more, and not by its units
            b = int(np.sign(b))
        b = 0 if metric == "identity" else b
        problem = stated(kind, metric, excluded, a, b)
        unit = 2.0 ** ((2 * a if kind == "gramian" else a) - 2 * b)
        V = answer_of(plain, 1e-3) * 2.0**-b
        height = float(values[1] + values[2]) / 2 * unit
        found = list(told(problem, V, height))
        found += [(product_errors(problem, V), 1, "A"), (metric_errors(problem, V), 0, "B")]
        found += [(squares_in_metric(problem, V), 0, 0)]
        errors = product_errors(problem, V)
        found += [(dual_lengths(problem, problem.descent(V), 1e6 * errors), 1, 0)]
        found += [(norm_bound(problem), 1, "norm"), (product_rounding(problem), 1, "norm")]
        sizes = []
        for number, power, kept in found:
            extra = {"A": b, "B": b, "norm": 2 * b}.get(kept, 0)
            sizes.append((np.asarray(number) / unit**power / 2.0**extra, kept == "pivots"))
        first = first or sizes
        for (mine, loose), (its, _) in zip(sizes, first, strict=True):
            # Pivots of another order round differently, by a small factor; units are far more.
            if loose:
                assert its / 8 <= mine <= 8 * its
            else:
                np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-300)


# ---- truth


def exact(matrix):
    rows = matrix.toarray() if sp.issparse(matrix) else np.atleast_2d(np.asarray(matrix))
    return fmpq_mat([[fmpq(*float(x).as_integer_ratio()) for x in row] for row in rows.tolist()])


def frobenius(matrix):
    total = sum((entry * entry for row in matrix.tolist() for entry in row), fmpq(0))
    return float(Fraction(int(total.p), int(total.q))) ** 0.5


def identity(n):
    return fmpq_mat([[fmpq(int(i == j)) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3, 0.1])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lift", [0.0, 3.0])
def test_what_a_trial_says_of_its_directions_is_true_and_close(kind, metric, noise, lift):
    problem = stated(kind, metric, lift > 0)
    some = trial(problem, answer_of(problem, noise)[:, :2], lift)
    A, B = parts(kind, metric, lift > 0)
    A = exact(A).transpose() * exact(A) if kind == "gramian" else exact(A)
    B = exact(problem.metric.sparse())
    V, h = exact(some.V), exact(np.diag(some.h))
    if lift:
        BN = B * exact(problem.excluded_basis)
        A = A + fmpq(3) * BN * BN.transpose()
    R = A * V - B * V * h
    gram = V.transpose() * B * V - identity(2)
    room = 400 * UNIT_ROUNDOFF * (4 + 2 * lift)
    assert frobenius(gram) <= some.skew <= frobenius(gram) * 1.001 + room
    leak = frobenius(V.transpose() * R)
    assert leak <= some.leak <= leak * 1.001 + room
    squares = R.transpose() * B.solve(R)
    for i in range(2):
        square = float(Fraction(int(squares[i, i].p), int(squares[i, i].q)))
        length = square**0.5
        assert square <= some.squares[i]
        low = float(np.linalg.eigvalsh(problem.metric.sparse().toarray())[0])
        loose = 1.001 + 1e-3 / low  # λ_min(B) is known to a factor only
        assert np.sqrt(some.squares[i]) <= length * loose + room * 4
        assert some.rounded[i] <= 4 * room
    assert (np.diff(some.h) >= 0).all()
    values = np.linalg.eigvalsh(np.diag(some.h) + 0)
    np.testing.assert_allclose(some.total, values.sum(), rtol=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_lengths_in_the_dual_norm_hold_for_every_error(metric):
    problem = stated("dense", metric, False)
    B = problem.metric.sparse().toarray()
    values, vectors = np.linalg.eigh(B)
    R = np.random.default_rng(3).normal(size=(N_ROWS, 2))
    for error in (0.0, 1e-6, 0.5, 20.0):
        found = dual_lengths(problem, R, np.full(2, error))
        for column in range(2):
            r = R[:, column]
            plain = np.sqrt(r @ np.linalg.solve(B, r))
            worst = r + error * vectors[:, 0] * np.sign(r @ vectors[:, 0] or 1)
            assert found[column] >= np.sqrt(worst @ np.linalg.solve(B, worst)) * (1 - 1e-12)
            loose = 2.2 if metric == "sparse" else 1.2  # λ_min(B) is proved to a factor only
            assert found[column] <= plain * (1 + 1e-5) + loose * error / np.sqrt(values[0])
    singular = TraceProblem(np.eye(2), np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), 1)
    assert np.isinf(dual_lengths(singular, np.ones((2, 1)), np.zeros(1))).all()


def test_sums_in_blocks_are_products_and_as_deep_as_said():
    for n in (1, 63, 64, 65, 200, 5000):
        X = np.arange(1.0, n + 1)[:, None] * np.array([1.0, -1.0])
        total = n * (n + 1) * (2 * n + 1) / 6
        np.testing.assert_array_equal(inner(X, X), total * np.array([[1, -1], [-1, 1]]))
        assert inner_depth(n) >= 2 * np.sqrt(n)
        assert inner_depth(n) <= max(70, 2 * np.sqrt(n) + 6)
    for n, depth in ((10, 64 + 1 + 2), (129, 64 + 3 + 2), (10_000, 100 + 100 + 2)):
        assert inner_depth(n) == depth
    assert gamma(8) == pytest.approx(8 * 2.0**-53, rel=1e-14)
    assert gamma(2**52) == 1.0
    np.testing.assert_allclose(column_norms(np.array([[3.0, 0], [4, 2]])), [5, 2], rtol=2e-6)
    assert (column_norms(np.array([[3.0, 0], [4, 2]])) > [5, 2]).all()


def test_only_products_that_are_0_by_their_zeros_do_not_underflow():
    A = np.diag([1.0, 0.0, 2.0])
    V = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1e-300]])
    for size in (A, sp.csr_array(A)):
        assert (underflow(size, V) > 0).tolist() == [True, False, True]
        assert (underflow(size, np.ones((3, 2))) > 0).all()
    assert not underflow(np.zeros((3, 3)), np.ones((3, 2))).any()
    assert not underflow(sp.csr_array((3, 3)), np.ones((3, 2))).any()


# ---- signs of pivots


def test_signs_of_pivots_are_those_of_the_eigenvalues():
    rng = np.random.default_rng(8)
    for n in (1, 2, 5, 9):
        Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
        for negative in range(n + 1):
            values = np.r_[-np.arange(1.0, negative + 1), np.arange(1.0, n - negative + 1)]
            S = Q * values @ Q.T
            found, off = dense_inertia((S + S.T) / 2)
            assert found == negative
            assert (off >= 0).all()
            assert off.max() <= 200 * n * UNIT_ROUNDOFF * n
    assert dense_inertia(np.array([[-1.0, 3.0, 0], [3.0, -1.0, 0], [0, 0, -2]]))[0] == 2
    for singular in (np.diag([1.0, 0.0]), np.array([[1.0, np.nan], [np.nan, 1.0]])):
        assert dense_inertia(singular) is None
    assert dense_inertia(np.full((2, 2), np.nan)) is None


def test_blocks_of_pivots_by_hand():
    """2×2: one of each sign where the determinant is negative, else two of the trace's."""
    for D, negative in (
        (np.diag([1.0, -2.0, 3.0]), 1),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), 1),
        (np.array([[-2.0, 1.0], [1.0, -2.0]]), 2),
        (np.array([[2.0, 1.0], [1.0, 2.0]]), 0),
        (np.diag([1.0, 0.0]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), None),
    ):
        assert _negative_blocks(D) == negative


@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
def test_errors_of_rows_bound_the_form(scale):
    rng = np.random.default_rng(9)
    off = scale * np.abs(rng.normal(size=(4, 4)))
    off = off + off.T
    sizes = 4.0 ** np.array([-3, 0, 2, 5])
    e = row_errors(off, sizes)
    worst = np.diag(e) - off  # |xᵀEx| ≤ Σ e x² for every |E| ≤ off: the worst has one sign
    assert np.linalg.eigvalsh(worst)[0] >= -1e-9 * scale * np.abs(e).max() / scale
    t = 1 / np.sqrt(sizes)
    np.testing.assert_allclose(e, (off * t).sum(axis=1) / t, rtol=2e-6)
    T = scale * (np.diag(sizes) + 0.1)
    assert form_bound(T, 0.5 * scale * sizes)
    assert form_bound(T, 0.9 * scale * sizes)
    assert not form_bound(T, 1.2 * scale * sizes)
    assert not form_bound(T, np.full(4, 1e-30 * scale))  # below the rounding of the proof itself
    assert not form_bound(-T, 0.5 * scale * sizes)


# ---- what a floor proves


def lehmann(A, V, height):
    """The sum of Lehmann's bounds of the c lowest eigenvalues, and the value of the space."""
    shifted = A - height * np.eye(len(A))
    G, S = V.T @ shifted @ V, V.T @ shifted @ shifted @ V
    return len(G) * height + np.trace(np.linalg.solve(G, S)), np.trace(
        np.linalg.solve(V.T @ V, V.T @ A @ V)
    )


@pytest.mark.parametrize("noise", [1e-4, 1e-3, 0.02])
@pytest.mark.parametrize("c", [1, 2, 3])
def test_temples_loss_bounds_lehmanns(c, noise):
    """For any V and any h, orthonormal or not: nothing but the definitions of skew and leak."""
    rng = np.random.default_rng(4)
    spectrum = np.r_[1.0, 1.3, 1.9, 4.0, 5.0, 7.0]
    for scale in (1 / 64, 1.0, 64.0):
        A = np.diag(scale * spectrum)
        height = scale * 3.5 if c == 3 else scale * (spectrum[c - 1] + spectrum[c]) / 2
        for _ in range(8):
            V = np.eye(6)[:, :c] + noise * rng.normal(size=(6, c))
            h = np.diagonal(V.T @ A @ V) + scale * noise * rng.normal(size=c) * 0.1
            order = np.argsort(h)
            V, h = V[:, order], h[order]
            R = A @ V - V * h
            skew = np.linalg.norm(V.T @ V - np.eye(c), 2)
            leak = np.linalg.norm(V.T @ R, 2)
            squares = np.square(R).sum(axis=0)
            some = Trial(V, h, squares, np.sqrt(squares) / 10, skew, leak)
            loss, rounded = temple_loss(some, height)
            bound, value = lehmann(A, V, height)
            plain = (squares / (height - h)).sum()
            assert loss >= value - bound - 1e-13 * scale
            assert bound <= scale * spectrum[:c].sum() + 1e-12 * scale
            if np.isfinite(loss):
                second = (skew * leak + leak * (skew + leak / (height - h[-1]))) * 8
                assert plain <= loss <= 1.5 * plain + second
                assert rounded <= loss
    assert temple_loss(some, float(h[-1])) == (np.inf, np.inf)
    assert temple_loss(some.first(0), height) == (0.0, 0.0)


def test_brackets_of_exact_answers():
    spectrum = [1.0, 2.0, 2.5, 4.0]
    answer = plain_trial(spectrum[:2], n=4)
    blur = answer.total_blur
    assert 0 < blur <= 8 * UNIT_ROUNDOFF
    whole = bracket(answer, None, SpectralFloor(2, 2.25, "inertia", seen=2))
    assert whole.lower == pytest.approx(3.0, abs=1e-15)
    assert whole.apart == 0
    assert whole.value == 3.0
    # One is known to lie below 1.9: the other is at least 1.9.
    part = bracket(answer, None, SpectralFloor(1, 1.9, "inertia", seen=1, error=0.01))
    assert part.lower == pytest.approx(2.9, abs=1e-14)
    assert part.apart == pytest.approx(0.1, abs=1e-14)
    assert part.blurred == pytest.approx(0.01, abs=1e-14)
    assert part.gap == pytest.approx(0.1 / 2.9, rel=1e-5)
    none = bracket(answer, None, SpectralFloor(0, 0.5, "inertia", seen=0))
    assert none.lower == pytest.approx(1.0, abs=1e-14)
    further = bracket(
        answer, plain_trial(spectrum[:3], n=4), SpectralFloor(3, 3.0, "inertia", seen=3)
    )
    assert further.lower == pytest.approx(3.0, abs=1e-14)
    assert further.apart == pytest.approx(0.0, abs=1e-14)
    for floor in (
        SpectralFloor(2, 2.25, "inertia", seen=3),  # more were counted than there may be
        SpectralFloor(2, 2.25, "inertia", seen=None),
        SpectralFloor(
            3, 3.0, "inertia", seen=3
        ),  # more than the answer has, and no others are given
        SpectralFloor(2, 2.0, "inertia", seen=2),  # not above the last value
    ):
        assert bracket(answer, None, floor).lower == -np.inf
    # Of the complement alone: the last value may be above.
    low = bracket(answer, None, SpectralFloor(2, 1.5, "norm", seen=2))
    assert low.lower == pytest.approx(2.5, abs=1e-14)
    assert low.apart == pytest.approx(0.5, abs=1e-14)


def test_the_complement_moves_by_the_length_of_the_residuals():
    rng = np.random.default_rng(5)
    for _ in range(20):
        A = np.diag([1.0, 1.2, 1.1, 5.0, 6.0]) + 0.02 * rng.normal(size=(5, 5))
        A = (A + A.T) / 2
        problem = TraceProblem(A, count=2)
        some = trial(problem, np.eye(5)[:, :2])
        height = np.linalg.eigvalsh(A[2:, 2:])[0]
        found = _below_the_last(some, height)
        least = np.linalg.eigvalsh(A)[:2].sum()
        assert found.lower <= least
        moved = 2 * np.sqrt(some.squares.sum())
        assert found.lower >= np.minimum(some.h, height).sum() - moved * 1.001
        assert found.value + found.value_blur - found.lower == pytest.approx(found.apart)
    assert _below_the_last(some, -np.inf).lower == -np.inf


@pytest.mark.parametrize(
    ("lower", "apart", "value", "gap"),
    [
        (2.0, 0.5, 2.5, 0.25),
        (-3.0, 0.5, -2.5, 0.2),  # of the smallest size that the optimum can have
        (-1.0, 2.0, 1.0, np.inf),
        (-1.0, -0.1, 1.0, np.inf),  # rounding made the distance negative: nothing is known
        (0.0, 1.0, 1.0, np.inf),
        (0.0, 0.0, 0.0, 0.0),
        (-np.inf, np.inf, 1.0, np.inf),
        (2.0, -0.1, 2.0, 0.0),
    ],
)
def test_gaps_are_relative_to_the_optimum(lower, apart, value, gap):
    found = Bracket(lower, apart, 0.0, value, 0.0).gap
    assert found >= gap
    assert found == pytest.approx(gap, rel=1e-5, abs=2e-15)
    if np.isfinite(gap) and lower < 0:
        assert Bracket(lower, apart, 0.0, value, 0.5).gap > found


def test_heights_lie_where_they_can_prove_something():
    answer = plain_trial([1.0, 2.0, 2.0, 4.0, 9.0][:3], n=5)
    tried = list(trial_heights(answer, lambda: None, 4.0, 9.0, 1e-4))
    assert tried[0].below == 3
    assert 2 < tried[0].at < 4
    under = [one for one in tried if one.under is not None]
    assert under[0].below == 1  # twins are left out together
    for one in under:
        assert one.at == pytest.approx(answer.h[one.below] - one.under, rel=1e-15)
    assert all(b.under > a.under for a, b in pairwise(under))
    wide = plain_trial([1.0, 2.0, 2.0, 4.0, 9.0][:5], n=5)
    between = list(trial_heights(answer, lambda: wide, None, 9.0, 1e-4))
    assert (between[0].below, between[0].at) == (4, 6.5)  # the widest gap first
    assert all(np.isfinite(one.at) for one in between)
