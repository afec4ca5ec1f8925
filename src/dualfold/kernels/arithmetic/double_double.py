"""Arrays of double-doubles: numbers of about 32 digits, each the sum of two doubles.

For the few matrices that doubles cannot resolve: weights of 10⁸ beside eigenvalues of 10⁻⁸.
Sums and products of entries are NumPy's, in error-free parts (Knuth, Dekker); products of
matrices, Cholesky factors and triangular solves are compiled (`double_double.c`). One
operation is right to a few u², u = 2⁻⁵³, of the sizes that it adds up. A factorisation takes
about forty times as long as in doubles (docs/dev/notes/kernels.md).
"""

from __future__ import annotations

from math import fsum

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_products, _cholesky, _solve = (
    kernel("pair_products"),
    kernel("pair_cholesky"),
    kernel("pair_solve"),
)
Index = int | slice | Array | None | tuple[int | slice | Array | None, ...]  # as NumPy takes it
VELTKAMP_FACTOR = 2.0**27 + 1
FACTOR_COLUMNS = 64  # columns of the factor that are finished together
CHUNK_ROWS = 32  # rows that a thread takes at a time


class DoubleDouble:
    """An array high + low; |low| is at most half a unit in the last place of high.

    >>> one, small = DoubleDouble(np.ones(1)), DoubleDouble(np.full(1, 1e-25))
    >>> float(((one + small) - one).high[0])
    1e-25
    """

    __slots__ = ("high", "low")

    def __init__(self, high: Array, low: Array | None = None) -> None:
        self.high = np.ascontiguousarray(high, dtype=float)
        self.low = np.zeros_like(self.high) if low is None else np.ascontiguousarray(low)

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        high, rest = _sum(self.high, other.high)
        return DoubleDouble(*_sum(high, rest + (self.low + other.low)))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + (-other)

    def __mul__(self, other: DoubleDouble | Array | float) -> DoubleDouble:
        if not isinstance(other, DoubleDouble):
            high, rest = _product(self.high, np.asarray(other, dtype=float))
            return DoubleDouble(*_sum(high, rest + self.low * other))
        high, rest = _product(self.high, other.high)
        return DoubleDouble(*_sum(high, rest + (self.high * other.low + self.low * other.high)))

    def __truediv__(self, divisor: Array | float) -> DoubleDouble:
        """Each number divided by a double."""
        first = self.high / divisor
        return DoubleDouble(*_sum(first, (self - DoubleDouble(first) * divisor).high / divisor))

    def __getitem__(self, key: Index) -> DoubleDouble:
        return DoubleDouble(self.high[key], self.low[key])

    def put(self, key: Index, values: DoubleDouble) -> None:
        """Entries replaced, in place."""
        self.high[key], self.low[key] = values.high, values.low

    @property
    def transpose(self) -> DoubleDouble:
        """Aᵀ."""
        return DoubleDouble(self.high.T, self.low.T)

    def copy(self) -> DoubleDouble:
        """Arrays of its own."""
        return DoubleDouble(self.high.copy(), self.low.copy())

    def symmetric(self) -> DoubleDouble:
        """(A + Aᵀ)/2."""
        return (self + self.transpose) * 0.5

    def total(self) -> float:
        """The sum of all entries; `high` and `low` are each added without rounding."""
        return fsum([fsum(self.high.ravel()), fsum(self.low.ravel())])

    def row_sums(self) -> DoubleDouble:
        """The sum of each row, by halves; 0 where rows have no entries."""
        left = self if self.high.shape[1] else DoubleDouble(np.zeros((len(self.high), 1)))
        while left.high.shape[1] > 1:
            if left.high.shape[1] % 2:
                nothing = np.zeros((len(left.high), 1))
                left = DoubleDouble(np.hstack([left.high, nothing]), np.hstack([left.low, nothing]))
            left = left[:, 0::2] + left[:, 1::2]
        return left[:, 0]


def products(A: DoubleDouble, B: DoubleDouble) -> DoubleDouble:
    """ABᵀ."""
    n, size, m = len(A.high), A.high.shape[1], len(B.high)
    out = DoubleDouble(np.empty((n, m)), np.empty((n, m)))

    def work(rows: slice) -> None:
        _products(size, m, rows.start, rows.stop, A.high, A.low, B.high, B.low, out.high, out.low)

    in_threads(work, row_slices(n, CHUNK_ROWS), thread_count())
    return out


def cholesky(A: DoubleDouble) -> DoubleDouble | None:
    """L with LLᵀ = A (its lower triangle is read), or None where A is not positive definite.

    The rows of LLᵀ − A are at most 16(n + 16)²u²√(a_ii a_jj) each: sums of products are
    kept as in Ogita, Rump and Oishi's Dot2, to γ_n² of the sum of the sizes.
    """
    n, L = len(A.high), A.copy()
    threads = thread_count() if n > 4 * FACTOR_COLUMNS else 1
    for first in range(0, n, FACTOR_COLUMNS):
        last = min(n, first + FACTOR_COLUMNS)
        if _cholesky(n, first, last, first, last, L.high, L.low):
            return None

        def below(rows: slice, first: int = first, last: int = last) -> None:
            begin, end = last + rows.start, last + rows.stop
            _cholesky(n, first, last, begin, end, L.high, L.low)

        in_threads(below, row_slices(n - last, CHUNK_ROWS), threads)
    return DoubleDouble(np.tril(L.high), np.tril(L.low))


def forward(L: DoubleDouble, B: DoubleDouble) -> DoubleDouble:
    """L⁻¹b for each row b of B."""
    return _triangular_solve(L, B, 0)


def backward(L: DoubleDouble, B: DoubleDouble) -> DoubleDouble:
    """L⁻ᵀb for each row b of B."""
    return _triangular_solve(L, B, 1)


def inverse(L: DoubleDouble) -> DoubleDouble:
    """(LLᵀ)⁻¹ for a lower triangle L."""
    columns = forward(L, DoubleDouble(np.eye(len(L.high))))
    return products(columns, columns)


def _triangular_solve(L: DoubleDouble, B: DoubleDouble, back: int) -> DoubleDouble:
    X = B.copy()

    def work(rows: slice) -> None:
        _solve(len(L.high), rows.start, rows.stop, back, L.high, L.low, X.high, X.low)

    in_threads(work, row_slices(len(X.high), CHUNK_ROWS), thread_count())
    return X


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    high = a + b
    other = high - a
    return high, (a - (high - other)) + (b - other)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    high, c, d = a * b, VELTKAMP_FACTOR * a, VELTKAMP_FACTOR * b
    top_a, top_b = c - (c - a), d - (d - b)
    end_a, end_b = a - top_a, b - top_b
    return high, ((top_a * top_b - high) + top_a * end_b + end_a * top_b) + end_a * end_b
