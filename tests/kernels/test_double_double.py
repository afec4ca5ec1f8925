"""Double-doubles against fractions: sums, products, factors, solves."""

from fractions import Fraction

import numpy as np
import pytest

from tests.kernels.door import DoubleDouble, backward, cholesky, forward, inverse, products

TINY = Fraction(1, 2**98)  # some u² of numbers of about 1, and their sums


def exact(A):
    return [[Fraction(h) + Fraction(e) for h, e in zip(*row, strict=True)] for row in _rows(A)]


def _rows(A):
    return zip(A.high.tolist(), A.low.tolist(), strict=True)


def random_pairs(rng, n, m):
    high = rng.standard_normal((n, m))
    return DoubleDouble(high, high * 2.0**-55 * rng.standard_normal((n, m)))


def times(A, B):
    columns = list(zip(*B, strict=True))
    return [[sum(a * b for a, b in zip(r, c, strict=True)) for c in columns] for r in A]


def near(found, wanted, within=TINY):
    pairs = zip(exact(found), wanted, strict=True)
    return all(abs(f - w) <= within for a, b in pairs for f, w in zip(a, b, strict=True))


def test_sums_and_products_of_entries():
    rng = np.random.default_rng(0)
    A, B = random_pairs(rng, 4, 5), random_pairs(rng, 4, 5)
    a, b = exact(A), exact(B)
    both = [list(zip(x, y, strict=True)) for x, y in zip(a, b, strict=True)]
    assert near(A + B, [[x + y for x, y in row] for row in both])
    assert near(A - B, [[x - y for x, y in row] for row in both])
    assert near(A * B, [[x * y for x, y in row] for row in both])
    assert near(A / 3.0, [[x / 3 for x in row] for row in a])
    assert near(A.row_sums()[:, None], [[sum(row)] for row in a])
    assert abs(Fraction(A.total()) - sum(sum(row) for row in a)) <= Fraction(1, 2**50)
    assert not near(DoubleDouble((A + B).high), [[x + y for x, y in row] for row in both])


@pytest.mark.parametrize("size", [7, 30])
def test_products_and_factors_of_matrices(size):
    """Sizes beside and beyond the lanes of the compiled sums."""
    rng = np.random.default_rng(size)
    A, B = random_pairs(rng, 5, size), random_pairs(rng, 6, size)
    transposed = [list(column) for column in zip(*exact(B), strict=True)]
    assert near(products(A, B), times(exact(A), transposed), 64 * TINY)
    G = products(*[random_pairs(rng, size, size)] * 2) + DoubleDouble(np.eye(size))
    L = cholesky(G)
    assert L is not None
    lower = exact(L)
    assert near(G, times(lower, [list(c) for c in zip(*lower, strict=True)]), 4096 * TINY)
    x = forward(L, A)
    assert near(A, times(exact(x), [list(c) for c in zip(*lower, strict=True)]), 4096 * TINY)
    y = backward(L, A)
    assert near(A, times(exact(y), lower), 2**16 * TINY)
    one = times(exact(inverse(L)), exact(G))
    assert near(DoubleDouble(np.eye(size)), one, 2**24 * TINY)


def test_what_is_not_definite_has_no_factor():
    A = np.diag([1.0, 2.0, -1e-20])
    assert cholesky(DoubleDouble(A)) is None
    assert cholesky(DoubleDouble(np.abs(A))) is not None
    # 1 − 2⁻¹⁰⁰ beside 1: doubles see a singular matrix, pairs a negative pivot.
    B = DoubleDouble(np.ones((2, 2)), np.array([[0.0, 0.0], [0.0, -(2.0**-100)]]))
    assert cholesky(B) is None
    assert cholesky(DoubleDouble(B.high, -B.low)) is not None


def test_blocks_give_the_same_factor_as_one_row_after_another():
    """More rows than a block: an independent factor of a known matrix."""
    n = 150
    L = np.tril(np.random.default_rng(1).integers(-3, 4, (n, n)).astype(float), -1) + 4 * np.eye(n)
    found = cholesky(DoubleDouble(L @ L.T))  # whole numbers: exact
    assert found is not None
    assert np.array_equal(found.high, L)
    assert np.abs(found.low).max() == 0.0
